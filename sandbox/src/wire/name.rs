//! Names are bytes in a sandbox and text in JSON. A name in valid UTF-8 is its own text. In any other name, each
//! byte above ASCII is written `\xNN`, and a backslash that would look like the start of such a code is `\x5c`.
//! So no two names have the same text. `adapters/git/names.ts` does the same.

use bstr::{BStr, BString, ByteSlice};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path or ref of the sandbox, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(pub(crate) BString);

/// The byte that stands at the start of `text` as a code: `\x80` to `\xff`, or `\x5c`.
fn code(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\x")?.get(..2)?;
    let high = matches!(digits, [b'8'..=b'9' | b'a'..=b'f', b'0'..=b'9' | b'a'..=b'f']);
    if !high && digits != b"5c" {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The text of a name.
pub(crate) fn to_text(name: &BStr) -> String {
    let odd = name.to_str().is_err();
    let mut text = Vec::with_capacity(name.len());
    for (at, &byte) in name.iter().enumerate() {
        if byte == b'\\' && code(&name[at..]).is_some() {
            text.extend_from_slice(b"\\x5c");
        } else if odd && byte >= 0x80 {
            text.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        } else {
            text.push(byte);
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The name that has this text.
pub(crate) fn from_text(text: &str) -> BString {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        match code(rest) {
            Some(byte) => {
                name.push(byte);
                rest = &rest[4..];
            }
            None => {
                name.push(first);
                rest = after;
            }
        }
    }
    BString::from(name)
}

/// Bytes for a person to read.
pub(crate) fn shown(bytes: &[u8]) -> String {
    bytes.to_str_lossy().into_owned()
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_text(self.0.as_bstr()))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Name(from_text(&String::deserialize(deserializer)?)))
    }
}

impl From<&BStr> for Name {
    fn from(name: &BStr) -> Self {
        Name(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_ordinary_name_is_its_own_text() {
        assert_eq!(to_text(b"a \\ \xc3\xa9\n".as_bstr()), "a \\ é\n");
    }

    #[test]
    fn other_bytes_and_what_looks_like_a_code_are_escaped() {
        assert_eq!(
            to_text(b"\xff\\xff\\x5c\\x41".as_bstr()),
            "\\xff\\x5cxff\\x5cx5c\\x41"
        );
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(from_text(&to_text(name.as_bstr())), BString::from(name));
        }

        #[test]
        fn names_full_of_codes_come_back(name in "[\\\\x5cf8\u{e9}]{0,20}") {
            prop_assert_eq!(from_text(&to_text(name.as_bytes().as_bstr())), BString::from(name));
        }
    }
}

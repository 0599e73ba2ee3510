//! How objects are named: by SHA-1 or SHA-256 of what they are.

use sha2::Digest as _;
use std::fmt;

/// How objects of a repository are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    #[default]
    Sha1,
    Sha256,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Sha1 => "sha1",
            Format::Sha256 => "sha256",
        }
    }

    /// The id of a tree without entries.
    pub(crate) fn empty_tree(self) -> &'static str {
        match self {
            Format::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Format::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    /// Bytes of an id.
    pub(crate) fn width(self) -> usize {
        match self {
            Format::Sha1 => 20,
            Format::Sha256 => 32,
        }
    }
}

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    /// The first `width` bytes count; the rest is zero.
    bytes: [u8; 32],
    width: u8,
}

impl Id {
    /// An id of its bytes, of which there are 20 or 32.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != 20 && bytes.len() != 32 {
            return None;
        }
        let mut id = [0; 32];
        id[..bytes.len()].copy_from_slice(bytes);
        Some(Id {
            bytes: id,
            width: bytes.len() as u8,
        })
    }

    pub(crate) fn from_hex(text: &[u8]) -> Option<Self> {
        let digit = |letter: u8| match letter {
            b'0'..=b'9' => Some(letter - b'0'),
            b'a'..=b'f' => Some(letter - b'a' + 10),
            _ => None,
        };
        let pairs = text.chunks(2).map(|pair| match *pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        });
        Self::from_bytes(&pairs.collect::<Option<Vec<u8>>>()?)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.width)]
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(self.as_bytes()) {
            *pair = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        }
        let text = &text[..2 * self.as_bytes().len()];
        out.write_str(std::str::from_utf8(text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Blob,
    Tree,
    Commit,
}

impl ObjectKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ObjectKind::Blob => "blob",
            ObjectKind::Tree => "tree",
            ObjectKind::Commit => "commit",
        }
    }
}

/// What stands before the content of an object, both in its file and in its hash.
pub(crate) fn header(kind: ObjectKind, size: u64) -> Vec<u8> {
    format!("{} {size}\0", kind.name()).into_bytes()
}

/// Two different contents were made to have the same SHA-1. Git refuses them as well.
#[derive(Debug, thiserror::Error)]
#[error("its content is part of an attack on SHA-1")]
pub(crate) struct Collision;

/// Computes an id from the bytes of an object.
pub(crate) enum Hasher {
    Sha1(Box<sha1_checked::Sha1>),
    Sha256(sha2::Sha256),
}

impl Hasher {
    /// Begins with the header of an object.
    pub(crate) fn of(format: Format, kind: ObjectKind, size: u64) -> Self {
        let mut hasher = match format {
            Format::Sha1 => Hasher::Sha1(Box::default()),
            Format::Sha256 => Hasher::Sha256(sha2::Sha256::new()),
        };
        hasher.update(&header(kind, size));
        hasher
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Sha1(hasher) => sha2::Digest::update(&mut **hasher, bytes),
            Hasher::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Result<Id, Collision> {
        let mut bytes = [0; 32];
        let width = match self {
            Hasher::Sha1(hasher) => {
                let found = hasher.try_finalize();
                if found.has_collision() {
                    return Err(Collision);
                }
                bytes[..20].copy_from_slice(found.hash());
                20
            }
            Hasher::Sha256(hasher) => {
                bytes.copy_from_slice(&hasher.finalize());
                32
            }
        };
        Ok(Id { bytes, width })
    }
}

/// The sum of a file of ours, as git computes it. Nobody else says what is in it, so no attack is looked for.
pub(crate) enum Sum {
    Sha1(Box<sha1_checked::Sha1>),
    Sha256(sha2::Sha256),
}

impl Sum {
    pub(crate) fn new(format: Format) -> Self {
        match format {
            Format::Sha1 => Sum::Sha1(Box::new(
                sha1_checked::Builder::default().detect_collision(false).build(),
            )),
            Format::Sha256 => Sum::Sha256(sha2::Sha256::new()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Sum::Sha1(sum) => sha2::Digest::update(&mut **sum, bytes),
            Sum::Sha256(sum) => sum.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Id {
        let mut bytes = [0; 32];
        let width = match self {
            Sum::Sha1(sum) => {
                bytes[..20].copy_from_slice(sum.try_finalize().hash());
                20
            }
            Sum::Sha256(sum) => {
                bytes.copy_from_slice(&sum.finalize());
                32
            }
        };
        Id { bytes, width }
    }
}

/// The id of an object whose content is in memory.
pub(crate) fn id_of(format: Format, kind: ObjectKind, content: &[u8]) -> Result<Id, Collision> {
    let mut hasher = Hasher::of(format, kind, content.len() as u64);
    hasher.update(content);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn git_gives_the_same_names() {
        for (format, blob, tree) in [
            (
                Format::Sha1,
                "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
                "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            ),
            (
                Format::Sha256,
                "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
                "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
            ),
        ] {
            let id = |kind| {
                id_of(format, kind, b"")
                    .expect("nothing is no attack")
                    .to_string()
            };
            assert_eq!(id(ObjectKind::Blob), blob);
            assert_eq!(id(ObjectKind::Tree), tree);
        }
    }

    proptest! {
        #[test]
        fn an_id_comes_back_from_its_digits(bytes in proptest::collection::vec(any::<u8>(), 32), short in any::<bool>()) {
            let bytes = if short { &bytes[..20] } else { &bytes[..] };
            let id = Id::from_bytes(bytes).expect("a length that ids have");
            prop_assert_eq!(Id::from_hex(id.to_string().as_bytes()), Some(id));
            prop_assert_eq!(id.as_bytes(), bytes);
        }
    }
}

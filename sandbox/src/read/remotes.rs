//! Addresses of remotes, as they may be shown.

use bstr::{BStr, BString, ByteSlice};

/// An address without its credentials: what stands between `://` and an `@` before the next `/`.
pub(crate) fn without_credentials(address: &BStr) -> BString {
    let Some(at) = address.find(b"://") else {
        return address.to_owned();
    };
    let (scheme, rest) = address.split_at(at + 3);
    let end = rest.find_byte(b'/').unwrap_or(rest.len());
    match rest[..end].find_byte(b'@') {
        Some(at) => [scheme, &rest[at + 1..]].concat().into(),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_and_the_rest_stays() {
        let shown = |text: &str| without_credentials(text.as_bytes().as_bstr()).to_string();
        assert_eq!(shown("https://user:secret@host/a@b"), "https://host/a@b");
        assert_eq!(shown("git@host:a/b"), "git@host:a/b");
        assert_eq!(shown("https://host/a@b"), "https://host/a@b");
    }
}

//! Patterns of git for single paths.

use bstr::{BStr, BString};

/// A line of rules that matches exactly this path, anchored at the top of the repository.
pub(crate) fn pattern_for(path: &BStr) -> BString {
    let mut pattern = BString::from("/");
    for &byte in path.iter() {
        match byte {
            b'\\' | b'*' | b'?' | b'[' | b']' | b' ' | b'!' | b'#' => {
                pattern.extend_from_slice(&[b'\\', byte])
            }
            // A line of rules cannot hold these, so the pattern lists every other byte instead.
            b'\n' => pattern.extend_from_slice(b"[!\x01-\x09\x0b-\xff]"),
            b'\r' => pattern.extend_from_slice(b"[!\x01-\x0c\x0e-\xff]"),
            other => pattern.push(other),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use bstr::ByteSlice;

    #[test]
    fn what_means_something_in_a_pattern_is_escaped() {
        assert_eq!(
            pattern_for(b"a b*/[c]\\!#?".as_bstr()),
            "/a\\ b\\*/\\[c\\]\\\\\\!\\#\\?"
        );
        assert_eq!(
            pattern_for(b"a\n".as_bstr()),
            BString::from(&b"/a[!\x01-\x09\x0b-\xff]"[..])
        );
    }
}

//! What is mounted below a directory.

use bstr::{BString, ByteSlice};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The places, by their paths in the directory. None when the system does not say.
pub(crate) fn below(directory: &Path) -> Vec<BString> {
    let text = fs::read("/proc/self/mountinfo").unwrap_or_default();
    match fs::canonicalize(directory) {
        Ok(directory) => listed(&text, directory.as_os_str().as_bytes()),
        Err(_) => Vec::new(),
    }
}

fn listed(text: &[u8], directory: &[u8]) -> Vec<BString> {
    let below = [directory, b"/"].concat();
    let places = text.lines().filter_map(|line| line.split_str(" ").nth(4));
    places
        .filter_map(|place| Some(BString::from(unescaped(place).strip_prefix(&below[..])?)))
        .collect()
}

/// Blanks and line ends in it are octal numbers behind a backslash.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 4).and_then(|digits| digits.to_str().ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if text[at] == b'\\' => {
                plain.push(byte);
                at += 4;
            }
            Some(_) | None => {
                plain.push(text[at]);
                at += 1;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_is_listed() {
        let text = b"22 1 0:21 / /w rw - tmpfs tmpfs rw\n23 22 0:22 / /w/a\\040b/c rw shared:1 - tmpfs t rw\n24 1 0:23 / /www rw - tmpfs t rw\n";
        assert_eq!(listed(text, b"/w"), ["a b/c"]);
    }
}

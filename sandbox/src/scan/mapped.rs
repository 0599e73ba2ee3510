//! Files that a process may be writing through memory. A page that was dirtied through a shared mapping gives its file
//! a new change time only when it is written back, so such a file is always read.

use bstr::ByteSlice;
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The inode numbers of files that some process has mapped writable and shared. Device numbers are left out: some file
/// systems have others in this list than in what they say of a file.
pub(crate) fn written_through_memory() -> HashSet<u64> {
    mapped(|_| true)
}

/// Those of files below a directory: another file system may have a file of the same number.
pub(crate) fn written_through_memory_below(directory: &Path) -> HashSet<u64> {
    let top = [&b" "[..], directory.as_os_str().as_bytes(), b"/"].concat();
    // As the list writes it.
    let top = top.replace("\n", "\\012");
    mapped(|line| line.contains_str(&top))
}

fn mapped(is_meant: impl Fn(&[u8]) -> bool) -> HashSet<u64> {
    let mut found = HashSet::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        if name.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            // A process of another user, or one that has ended.
            let maps = fs::read(process.path().join("maps")).unwrap_or_default();
            found.extend(
                maps.lines()
                    .filter(|line| is_meant(line))
                    .filter_map(writable_inode),
            );
        }
    }
    found
}

/// `ADDRESSES rw-s OFFSET DEVICE INODE PATH`
fn writable_inode(line: &[u8]) -> Option<u64> {
    let mut words = line.split(|byte| *byte == b' ');
    let rights = words.nth(1)?;
    let inode = words.nth(2)?;
    if rights.get(1) != Some(&b'w') || rights.get(3) != Some(&b's') {
        return None;
    }
    inode.to_str().ok()?.parse().ok().filter(|inode| *inode != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_shared_and_writable_counts() {
        let inode = |line: &str| writable_inode(line.as_bytes());
        assert_eq!(
            inode("7f00-7f10 rw-s 00000000 08:01 1234   /data/file"),
            Some(1234)
        );
        assert_eq!(inode("7f00-7f10 r--s 00000000 08:01 1234   /data/file"), None);
        assert_eq!(inode("7f00-7f10 rw-p 00000000 08:01 1234   /data/file"), None);
        assert_eq!(inode("7f00-7f10 rw-s 00000000 00:01 0      /dev/zero"), None);
        assert_eq!(inode(""), None);
    }
}

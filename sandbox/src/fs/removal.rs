//! Sums up and removes a tree by descriptors: no link is followed, whatever somebody puts there meanwhile.

use crate::fs::directory::entries;
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use bstr::{BStr, ByteSlice};
use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;

/// What a tree holds beside directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) files: u64,
    /// That it takes of the disk.
    pub(crate) bytes: u64,
}

/// Adds up what a name in a directory holds. What cannot be read counts as nothing.
pub(crate) fn size(directory: &Arc<Handle>, name: &BStr) -> Size {
    let mut total = Size::default();
    let Ok(open) = directory.open() else { return total };
    let Ok(found) = statat(&open, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) else {
        return total;
    };
    drop(open);
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return Size {
            files: 1,
            bytes: u64::try_from(found.st_blocks).unwrap_or(0) * 512,
        };
    }
    let Ok(inside) = directory.enter(name) else {
        return total;
    };
    for entry in names(&inside).unwrap_or_default() {
        let one = size(&inside, entry.name.as_bstr());
        total.files += one.files;
        total.bytes += one.bytes;
    }
    total
}

/// Removes a name from a directory, with all that is below it.
pub(crate) fn remove(directory: &Arc<Handle>, name: &BStr) -> Result<(), Errno> {
    let kind = crate::fs::directory::kind_in(directory.open()?, name)?;
    if kind != Some(Kind::Directory) {
        return unlinkat(directory.open()?, name.as_bytes(), AtFlags::empty());
    }
    let inside = directory.enter(name)?;
    let mut first = Ok(());
    for entry in names(&inside)? {
        let done = remove(&inside, entry.name.as_bstr());
        first = first.and(done);
    }
    first?;
    unlinkat(directory.open()?, name.as_bytes(), AtFlags::REMOVEDIR)
}

fn names(directory: &Arc<Handle>) -> Result<Vec<crate::fs::directory::Entry>, Errno> {
    entries(directory.open()?.as_fd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_tree_goes_and_what_its_links_lead_to_stays() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let at = |path: &str| top.path().join(path);
        fs::create_dir_all(at("tree/a/b")).expect("directories");
        fs::create_dir(at("kept")).expect("a directory");
        fs::write(at("kept/file"), "x").expect("a file");
        fs::write(at("tree/a/b/file"), vec![b'x'; 9000]).expect("a file");
        symlink(at("kept"), at("tree/a/link")).expect("a link");
        let handle = Handle::top(top.path()).expect("it can be opened");
        let found = size(&handle, BStr::new("tree"));
        assert_eq!(found.files, 2);
        remove(&handle, BStr::new("tree")).expect("it can be removed");
        assert!(!at("tree").exists());
        assert_eq!(fs::read(at("kept/file")).expect("it is there"), b"x");
        assert_eq!(remove(&handle, BStr::new("tree")), Err(Errno::NOENT));
    }
}

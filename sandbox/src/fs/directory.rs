//! Directories by descriptor. A path is opened one name at a time and no link is followed, so nobody can lead a walk
//! out of the place where it began, and paths may be longer than the system's limit.

use crate::fs::kind::Kind;
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, openat, seek, statat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a directory in another one.
pub(crate) fn open_in(parent: BorrowedFd<'_>, name: &BStr) -> Result<OwnedFd, Errno> {
    openat(parent, name.as_bytes(), OPEN, Mode::empty())
}

/// One name in a directory, and what it is as far as the file system says so without a look.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: BString,
    pub(crate) kind: Option<Kind>,
}

pub(crate) fn kind_of(file_type: FileType) -> Option<Kind> {
    match file_type {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Link),
        FileType::Socket => Some(Kind::Socket),
        FileType::Fifo | FileType::CharacterDevice | FileType::BlockDevice => Some(Kind::Waits),
        FileType::Unknown => None,
    }
}

fn is_self_or_parent(name: &CStr) -> bool {
    name == c"." || name == c".."
}

/// The names in an open directory, in no order.
pub(crate) fn entries(directory: BorrowedFd<'_>) -> Result<Vec<Entry>, Errno> {
    // It may have been read before.
    seek(directory, SeekFrom::Start(0))?;
    let mut found = Vec::new();
    let mut room = [const { MaybeUninit::<u8>::uninit() }; 32 * 1024];
    let mut listing = RawDir::new(directory, &mut room);
    while let Some(entry) = listing.next() {
        let entry = entry?;
        if !is_self_or_parent(entry.file_name()) {
            found.push(Entry {
                name: BString::from(entry.file_name().to_bytes()),
                kind: kind_of(entry.file_type()),
            });
        }
    }
    Ok(found)
}

/// Whether nothing is in it.
pub(crate) fn is_empty(directory: BorrowedFd<'_>) -> Result<bool, Errno> {
    let mut room = [const { MaybeUninit::<u8>::uninit() }; 2048];
    let mut listing = RawDir::new(directory, &mut room);
    while let Some(entry) = listing.next() {
        if !is_self_or_parent(entry?.file_name()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a name in a directory is. A link is not followed.
pub(crate) fn kind_in(parent: impl AsFd, name: &BStr) -> Result<Option<Kind>, Errno> {
    let stat = statat(parent, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(kind_of(FileType::from_raw_mode(stat.st_mode)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_read_again_through_the_same_descriptor() {
        let top = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(top.path().join("a"), "").expect("a file");
        let open = rustix::fs::open(top.path(), OPEN, Mode::empty()).expect("it can be opened");
        for _ in 0..2 {
            assert_eq!(entries(open.as_fd()).expect("it can be read").len(), 1);
        }
    }
}

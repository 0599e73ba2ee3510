//! What stands at a path, without following a link.

use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The kind of what stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Socket,
    /// A named pipe or a device. Whoever opens it may wait for ever.
    Waits,
}

impl Kind {
    pub(crate) fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Kind::File
        } else if file_type.is_dir() {
            Kind::Directory
        } else if file_type.is_symlink() {
            Kind::Link
        } else if file_type.is_socket() {
            Kind::Socket
        } else {
            Kind::Waits
        }
    }
}

/// What stands at this path itself; nothing when it cannot be looked at.
pub(crate) fn kind(path: &Path) -> Option<Kind> {
    fs::symlink_metadata(path)
        .ok()
        .map(|found| Kind::of(found.file_type()))
}

/// What a link there leads to, or what stands there.
pub(crate) fn kind_behind(path: &Path) -> Option<Kind> {
    fs::metadata(path).ok().map(|found| Kind::of(found.file_type()))
}

/// Whether a process that opens this path, or what it leads to, may wait for ever. `/dev/null` never does.
pub(crate) fn waits(path: &Path) -> bool {
    if kind_behind(path) != Some(Kind::Waits) {
        return false;
    }
    use std::os::unix::fs::MetadataExt;
    let null = fs::metadata("/dev/null").map(|found| found.rdev()).unwrap_or(0);
    fs::metadata(path).map(|found| found.rdev()).unwrap_or(0) != null || null == 0
}

//! Removing what may be gone already.

use std::fs;
use std::io;
use std::path::Path;

fn or_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(crate) fn file(path: &Path) -> io::Result<()> {
    or_gone(fs::remove_file(path))
}

/// A directory with everything in it.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    or_gone(fs::remove_dir_all(path))
}

//! Whether there is room on a disk.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Bytes that a file must be able to hold.
const PROBE: usize = 64 * 1024;

/// Whether something more can be written into this directory. Only a full disk or quota says no.
pub(crate) fn has_room(directory: &Path) -> bool {
    let probe = directory.join("room.probe");
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&probe)?;
        file.write_all(&[b' '; PROBE])?;
        file.sync_all()
    };
    let written = write();
    // A probe that stays is one of a process that was killed.
    let _ = fs::remove_file(&probe);
    !written.is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    })
}

/// Bytes that this user may still write on the disk of a directory.
pub(crate) fn free_bytes(directory: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(directory)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

//! A private directory of this call, outside of the projects root. It goes when the call ends.

use crate::wire::error::{Failure, Outcome};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Those that this call has now.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Outcome<Self> {
        let mut random = [0_u8; 8];
        let drawn = getrandom(&mut random, GetRandomFlags::empty()).map_err(std::io::Error::from);
        let path = std::env::temp_dir().join(format!("walkback-{:016x}", u64::from_ne_bytes(random)));
        drawn.and_then(|_| fs::DirBuilder::new().mode(0o700).create(&path)).map_err(|cause| {
            Failure::unavailable(format!(
                "Cannot write to the temporary directory of the sandbox ({cause}). Free some disk space, then call again."
            ))
        })?;
        if let Ok(mut made) = MADE.lock() {
            made.push(path.clone());
        }
        Ok(Scratch(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is left to whoever cleans the temporary directory.
        let _ = fs::remove_dir_all(&self.0);
        if let Ok(mut made) = MADE.lock() {
            made.retain(|path| *path != self.0);
        }
    }
}

/// Removes all of them. The call ends before its work does.
pub(crate) fn remove_all() {
    for path in MADE.lock().iter().flat_map(|made| made.iter()) {
        // As above.
        let _ = fs::remove_dir_all(path);
    }
}

//! Places in a working tree, by the directory that they lie in. No link on the way is followed.

use crate::fs::handle::{Handle, is_name};
use crate::plan::above;
use crate::plan::sidecar::{Listed, Sidecar};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Mode, fchmod, mkdirat};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The last directory that was opened: files of one directory mostly follow each other.
type Last = Option<(BString, Arc<Handle>)>;

pub(crate) struct Beneath {
    top: Arc<Handle>,
    last: Mutex<Last>,
}

/// `INVAL`: it is no path of something below.
fn split(path: &BStr) -> Result<(&BStr, &BStr), Errno> {
    let (directory, name) = match path.rfind_byte(b'/') {
        Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
        None => (BStr::new(""), path),
    };
    if is_name(name) {
        Ok((directory, name))
    } else {
        Err(Errno::INVAL)
    }
}

/// Permissions that a directory keeps while things are moved into it.
const OPEN: u32 = 0o700;

impl Beneath {
    pub(crate) fn new(top: &Path) -> Result<Self, Errno> {
        Ok(Beneath {
            top: Handle::top(top)?,
            last: Mutex::default(),
        })
    }

    /// The directory that a path lies in, and its name there. `NOTDIR`, `LOOP`: a file or a link stands above it.
    pub(crate) fn parent<'path>(&self, path: &'path BStr) -> Result<(Arc<Handle>, &'path BStr), Errno> {
        let (directory, name) = split(path)?;
        Ok((self.reach(directory, |at| self.top.descend(at.as_bstr()))?, name))
    }

    /// The same, after the directories above it were made that are missing. They have the modes of this sidecar, and stay
    /// open to their owner.
    pub(crate) fn parent_made<'path>(
        &self,
        path: &'path BStr,
        modes: &Sidecar,
    ) -> Result<(Arc<Handle>, &'path BStr), Errno> {
        let (directory, name) = split(path)?;
        Ok((self.reach(directory, |at| self.made(at, modes))?, name))
    }

    /// Makes this directory, and those above it.
    pub(crate) fn make(&self, directory: &BStr, modes: &Sidecar) -> Result<(), Errno> {
        self.reach(directory, |at| self.made(at, modes)).map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(
        &self,
        directory: &BStr,
        open: impl FnOnce(&BStr) -> Result<Arc<Handle>, Errno>,
    ) -> Result<Arc<Handle>, Errno> {
        if let Some((last, handle)) = &*self.lock()
            && last == directory
        {
            return Ok(Arc::clone(handle));
        }
        let handle = open(directory)?;
        *self.lock() = Some((directory.to_owned(), Arc::clone(&handle)));
        Ok(handle)
    }

    fn made(&self, directory: &BStr, modes: &Sidecar) -> Result<Arc<Handle>, Errno> {
        let mut at = Arc::clone(&self.top);
        let ends = directory.find_iter("/").chain([directory.len()]);
        let mut start = 0;
        for end in ends.filter(|end| *end > 0) {
            let name = directory[start..end].as_bstr();
            at = match at.enter(name) {
                Err(Errno::NOENT) => {
                    let path = directory[..end].as_bstr();
                    let mode = match modes.modes.get(path) {
                        Some(Listed::Directory(mode)) => *mode,
                        Some(Listed::File(_)) | None => modes.usual_directory(),
                    };
                    make_in(&at, name, mode | OPEN)?;
                    at.enter(name)?
                }
                other => other?,
            };
            start = end + 1;
        }
        Ok(at)
    }

    /// What stood at this path is gone, or elsewhere.
    pub(crate) fn forget(&self, path: &BStr) {
        let mut last = self.lock();
        let is_gone = last.as_ref().is_some_and(|(directory, _)| {
            directory == path || above(directory.as_bstr()).any(|up| up == path)
        });
        if is_gone {
            *last = None;
        }
    }
}

/// The mode is set by itself: the system takes the umask away from it, and adds the bit of a directory that passes on its
/// group.
fn make_in(parent: &Handle, name: &BStr, mode: u32) -> Result<(), Errno> {
    let open = parent.open()?;
    match mkdirat(open.as_fd(), name.as_bytes(), Mode::from_bits_retain(OPEN)) {
        Err(Errno::EXIST) => return Ok(()),
        other => other?,
    }
    let made = crate::fs::directory::open_in(open.as_fd(), name)?;
    fchmod(&made, Mode::from_bits_retain(mode))
}

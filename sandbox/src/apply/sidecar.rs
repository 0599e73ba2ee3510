//! Brings modes and empty directories from one state to another.

use crate::apply::beneath::Beneath;
use crate::apply::place::remove_directory;
use crate::fs::kind::Kind;
use crate::fs::stat::Stat;
use crate::fs::words::words;
use crate::plan::above;
use crate::plan::sidecar::{Change, Listed, Sidecar};
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, ByteSlice};
use rustix::fs::{Mode, OFlags, chmod, fstat, openat};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// What stands at a path, held so that nobody can put something else there.
struct There {
    descriptor: OwnedFd,
    stat: Stat,
    owner: u32,
}

/// Nothing when nothing is there, or when it is a link, or behind one.
fn there(tree: &Beneath, path: &BStr) -> Result<Option<There>, Errno> {
    let (directory, name) = match tree.parent(path) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        other => other?,
    };
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(directory.open()?.as_fd(), name.as_bytes(), flags, Mode::empty());
    let descriptor = match opened {
        Err(Errno::NOENT) => return Ok(None),
        other => other?,
    };
    let found = fstat(&descriptor)?;
    Ok(Some(There {
        stat: Stat::of(&found),
        owner: found.st_uid,
        descriptor,
    }))
}

impl There {
    /// A path with the right mode is left alone: it may belong to another user.
    fn set(&self, mode: u32) -> Result<(), Errno> {
        if self.stat.permissions() == mode {
            return Ok(());
        }
        // A descriptor of this kind has no call of its own for this.
        let path = format!("/proc/self/fd/{}", self.descriptor.as_raw_fd());
        chmod(path, Mode::from_bits_retain(mode))
    }
}

/// Lets their owner write in directories that were captured without that permission. Directories of another user cannot be
/// changed.
pub(crate) fn open_closed(tree: &Beneath, from: &Sidecar) -> Outcome<()> {
    let user = rustix::process::geteuid().as_raw();
    for path in from.closed() {
        let open = || {
            if let Some(found) = there(tree, path.as_bstr())?
                && found.stat.kind() == Kind::Directory
                && found.owner == user
            {
                found.set(found.stat.permissions() | 0o700)?;
            }
            Ok(())
        };
        open().map_err(|why| not_changed(path.as_bstr(), why))?;
    }
    Ok(())
}

fn not_changed(path: &BStr, why: Errno) -> Failure {
    Failure::Fault(format!("{path} cannot be changed: {}", words(why)))
}

/// Takes these steps. `to` is the state to come to.
pub(crate) fn act(tree: &Beneath, changes: &[Change], to: &Sidecar) -> Outcome<()> {
    for change in changes {
        let (path, done) = match change {
            Change::RemoveEmpty(path) => (path, remove_empty(tree, path.as_bstr(), to)),
            Change::MakeDirectory(path) => (path, tree.make(path.as_bstr(), to)),
            Change::SetMode(path, listed) => (path, set_listed(tree, path.as_bstr(), *listed)),
            Change::SetUsual(path) => (path, set_usual(tree, path.as_bstr(), to)),
        };
        done.map_err(|why| not_changed(path.as_bstr(), why))?;
    }
    Ok(())
}

fn remove_empty(tree: &Beneath, path: &BStr, to: &Sidecar) -> Result<(), Errno> {
    for directory in std::iter::once(path).chain(above(path)) {
        if to.empty.contains(directory.as_bytes().as_bstr()) || !remove_directory(tree, directory)? {
            break;
        }
    }
    Ok(())
}

fn set_listed(tree: &Beneath, path: &BStr, listed: Listed) -> Result<(), Errno> {
    let Some(found) = there(tree, path)? else {
        return Ok(());
    };
    match (listed, found.stat.kind()) {
        (Listed::File(mode), Kind::File) | (Listed::Directory(mode), Kind::Directory) => found.set(mode),
        // Something else stands there.
        (Listed::File(_) | Listed::Directory(_), _) => Ok(()),
    }
}

fn set_usual(tree: &Beneath, path: &BStr, to: &Sidecar) -> Result<(), Errno> {
    let Some(found) = there(tree, path)? else {
        return Ok(());
    };
    match found.stat.kind() {
        Kind::Directory => found.set(to.usual_directory()),
        Kind::File => found.set(to.usual_file(found.stat.is_executable())),
        Kind::Link | Kind::Socket | Kind::Waits => Ok(()),
    }
}

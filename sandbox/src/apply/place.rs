//! Gives new files their places, and puts aside what goes or is replaced.

use crate::apply::aside::Aside;
use crate::apply::beneath::Beneath;
use crate::apply::stage::{self, Stage};
use crate::fs::directory::{entries, kind_in, open_in};
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::rename::{Named, exchange, rename_to_free};
use crate::fs::words::words;
use crate::plan::files::Change;
use crate::plan::sidecar::Sidecar;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, Gid, chownat, fstat, unlinkat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

/// The bit of a directory that passes on its group.
const PASSES_ON: u32 = 0o2000;

pub(crate) struct Placing<'place> {
    pub(crate) tree: &'place Beneath,
    pub(crate) stage: &'place Stage,
    pub(crate) aside: &'place Aside,
    /// Those of the state to come to.
    pub(crate) modes: &'place Sidecar,
}

fn failed(doing: &str, path: &BStr, why: Errno) -> Failure {
    let why = match why {
        Errno::LOOP | Errno::NOTDIR => String::from("a link or a file stands above it"),
        other => words(other),
    };
    Failure::Fault(format!("{path} cannot be {doing}: {why}"))
}

impl Placing<'_> {
    /// Takes these steps. The files that they write are in the stage, in their order.
    pub(crate) fn act(&self, changes: &[Change]) -> Outcome<()> {
        let mut number = 0;
        for change in changes {
            match change {
                Change::PutAside(path) => self
                    .put_aside(path.as_bstr())
                    .map_err(|why| failed("put aside", path.as_bstr(), why))?,
                Change::Replace(path, _) => {
                    self.replace(path.as_bstr(), number)
                        .map_err(|why| failed("replaced", path.as_bstr(), why))?;
                    number += 1;
                }
                Change::Write(path, _) => {
                    self.write(path.as_bstr(), number)?;
                    number += 1;
                }
                Change::RemoveDirectory(path) => {
                    remove_directory(self.tree, path.as_bstr())
                        .map_err(|why| failed("removed", path.as_bstr(), why))?;
                }
            }
        }
        Ok(())
    }

    fn put_aside(&self, path: &BStr) -> Result<(), Errno> {
        let (directory, name) = match self.tree.parent(path) {
            // Another process removed it.
            Err(Errno::NOENT) => return Ok(()),
            other => other?,
        };
        self.aside.take(path, (directory.open()?.as_fd(), name))?;
        self.tree.forget(path);
        Ok(())
    }

    /// The time in which nothing has this name is as short as two renames. If another process makes the file again in that
    /// time, both change their names at once.
    fn replace(&self, path: &BStr, number: usize) -> Result<(), Errno> {
        let (directory, name) = self.tree.parent_made(path, self.modes)?;
        let (open, staged) = (directory.open()?, self.stage.directory.open()?);
        let number = stage::name(number);
        let (there, new) = ((open.as_fd(), name), (staged.as_fd(), number.as_bstr()));
        self.aside.take(path, there)?;
        self.tree.forget(path);
        match rename_to_free(new, there) {
            Err(Errno::EXIST) => {
                exchange(new, there)?;
                self.aside.take(path, new)?;
            }
            other => other?,
        }
        pass_on_group(there)
    }

    fn write(&self, path: &BStr, number: usize) -> Outcome<()> {
        let written = |why| failed("written", path, why);
        let (directory, name) = self.tree.parent_made(path, self.modes).map_err(written)?;
        let placed = || {
            let (open, staged) = (directory.open()?, self.stage.directory.open()?);
            let number = stage::name(number);
            let (there, new) = ((open.as_fd(), name), (staged.as_fd(), number.as_bstr()));
            match rename_to_free(new, there) {
                Err(Errno::EXIST) if kind_in(there.0, there.1)? == Some(Kind::Directory) => {
                    remove_empty(there.0, there.1)?;
                    self.tree.forget(path);
                    rename_to_free(new, there)?;
                }
                other => other?,
            }
            pass_on_group(there)
        };
        placed().map_err(|why| match why {
            Errno::EXIST | Errno::NOTEMPTY => Failure::Fault(format!(
                "{path} cannot be written: something appeared there meanwhile"
            )),
            other => written(other),
        })
    }
}

/// A file that comes from elsewhere gets the group that it would have got if it had been made there.
fn pass_on_group(there: Named<'_>) -> Result<(), Errno> {
    let directory = fstat(there.0)?;
    if directory.st_mode & PASSES_ON == 0 {
        return Ok(());
    }
    let group = Gid::from_raw(directory.st_gid);
    chownat(
        there.0,
        there.1.as_bytes(),
        None,
        Some(group),
        AtFlags::SYMLINK_NOFOLLOW,
    )
}

/// Removes a directory, and the directories in it, when no file is in them.
fn remove_empty(parent: BorrowedFd<'_>, name: &BStr) -> Result<(), Errno> {
    let directory = open_in(parent, name)?;
    for entry in entries(directory.as_fd())? {
        if entry.kind != Some(Kind::Directory) {
            return Err(Errno::NOTEMPTY);
        }
        remove_empty(directory.as_fd(), entry.name.as_bstr())?;
    }
    unlinkat(parent, name.as_bytes(), AtFlags::REMOVEDIR)
}

/// Removes a directory unless something is in it, or something else stands there. Whether it went.
pub(crate) fn remove_directory(tree: &Beneath, path: &BStr) -> Result<bool, Errno> {
    let (directory, name): (std::sync::Arc<Handle>, &BStr) = match tree.parent(path) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(false),
        other => other?,
    };
    let removed = unlinkat(directory.open()?.as_fd(), name.as_bytes(), AtFlags::REMOVEDIR);
    match removed {
        Ok(()) => {
            tree.forget(path);
            Ok(true)
        }
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The names of what would be lost if a directory went: nothing, when only directories are in it.
pub(crate) fn files_in(tree: &Beneath, path: &BStr) -> Result<Vec<BString>, Errno> {
    let (directory, name) = tree.parent(path)?;
    let mut found = Vec::new();
    let opened = open_in(directory.open()?.as_fd(), name)?;
    collect(opened.as_fd(), path.to_owned(), &mut found)?;
    Ok(found)
}

fn collect(directory: BorrowedFd<'_>, path: BString, found: &mut Vec<BString>) -> Result<(), Errno> {
    for entry in entries(directory)? {
        let inner = BString::from([&path[..], b"/", &entry.name[..]].concat());
        if entry.kind == Some(Kind::Directory) {
            collect(open_in(directory, entry.name.as_bstr())?.as_fd(), inner, found)?;
        } else {
            found.push(inner);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;

//! Gives new files their places, and puts aside what goes or is replaced.

use crate::apply::aside::Aside;
use crate::apply::beneath::Beneath;
use crate::apply::stage::Stage;
use crate::capture::begun::{Begun, Step};
use crate::fs::copy::place_leaf;
use crate::fs::directory::{entries, is_empty, kind_in, open_in};
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::rename::{Named, rename_to_free};
use crate::fs::words::words;
use crate::host::place::path_of;
use crate::plan::files::Change;
use crate::plan::sidecar::Sidecar;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, Gid, chownat, fstat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The bit of a directory that passes on its group.
const PASSES_ON: u32 = 0o2000;
/// How often a file is put aside that another process makes again and again.
const TAKEN_MOST: usize = 20;

pub(crate) struct Placing<'place> {
    /// The working tree.
    pub(crate) top: &'place Path,
    pub(crate) tree: &'place Beneath,
    pub(crate) stage: &'place Stage,
    pub(crate) aside: &'place Aside,
    /// Those of the state to come to.
    pub(crate) modes: &'place Sidecar,
    pub(crate) begun: &'place Begun,
}

fn failed(doing: &str, path: &BStr, why: Errno) -> Failure {
    let why = match why {
        Errno::LOOP | Errno::NOTDIR => String::from("a link or a file stands above it"),
        other => words(other),
    };
    Failure::Fault(format!("{path} cannot be {doing}: {why}"))
}

impl Placing<'_> {
    /// Takes these steps. The stage has the files that they write, in their order. The answer is what a person is told.
    pub(crate) fn act(&self, changes: &[Change]) -> Outcome<Option<BString>> {
        let mut number = 0;
        let mut copied = Vec::new();
        for change in changes {
            match change {
                Change::PutAside(path) => self
                    .put_aside(path.as_bstr())
                    .map_err(|why| failed("put aside", path.as_bstr(), why))?,
                Change::Replace(path, _) => {
                    let given = self.replace(path.as_bstr(), number);
                    if given.map_err(|why| failed("replaced", path.as_bstr(), why))? == Given::Copied {
                        copied.push(path);
                    }
                    number += 1;
                }
                Change::Write(path, _) => {
                    if self.write(path.as_bstr(), number)? == Given::Copied {
                        copied.push(path);
                    }
                    number += 1;
                }
                Change::RemoveDirectory(path) => {
                    remove_directory(self.tree, path.as_bstr())
                        .map_err(|why| failed("removed", path.as_bstr(), why))?;
                }
            }
        }
        Ok(copied.first().map(|first| {
            let said = format!(
                ": it lies in another file system than the shadow, so {} files were copied there; what another process wrote into one at that instant may be lost",
                copied.len()
            );
            [first.as_slice(), said.as_bytes()].concat().into()
        }))
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
    fn replace(&self, path: &BStr, number: usize) -> Result<Given, Errno> {
        let (directory, name) = self.tree.parent_made(path, self.modes)?;
        let (beside, staged) = self.stage.new_file(number, path)?;
        let (open, beside) = (directory.open()?, beside.open()?);
        let (there, new) = ((open.as_fd(), name), (beside.as_fd(), staged.as_bstr()));
        self.aside.take(path, there)?;
        self.tree.forget(path);
        let given = match self.give(path, new, there) {
            Err(Errno::EXIST) => self.take_place(path, new, there)?,
            other => other?,
        };
        pass_on_group(there)?;
        Ok(given)
    }

    /// Another process may make the file again each time, where both cannot change their names at once.
    fn take_place(&self, path: &BStr, new: Named<'_>, there: Named<'_>) -> Result<Given, Errno> {
        for _ in 0..TAKEN_MOST {
            match self.aside.exchange(path, new, there) {
                Ok(Some(())) => return Ok(Given::Renamed),
                Ok(None) => self.aside.take(path, there)?,
                // The other process removed it.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
            match self.give(path, new, there) {
                Err(Errno::EXIST) => {}
                other => return other,
            }
        }
        Err(Errno::EXIST)
    }

    fn give(&self, path: &BStr, new: Named<'_>, there: Named<'_>) -> Result<Given, Errno> {
        let begins = |name: &BStr| {
            let place = self.top.join(path_of(path.to_owned()));
            let as_name = place.with_file_name(OsStr::from_bytes(name));
            let noted = self.begun.note(Step::File, &as_name, None);
            noted.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        };
        match rename_to_free(new, there) {
            Err(Errno::XDEV) => place_leaf(new, there, begins).map(|()| Given::Copied),
            other => other.map(|()| Given::Renamed),
        }
    }

    fn write(&self, path: &BStr, number: usize) -> Outcome<Given> {
        let written = |why| failed("written", path, why);
        let (directory, name) = self.tree.parent_made(path, self.modes).map_err(written)?;
        let placed = || {
            let (beside, staged) = self.stage.new_file(number, path)?;
            let (open, beside) = (directory.open()?, beside.open()?);
            let (there, new) = ((open.as_fd(), name), (beside.as_fd(), staged.as_bstr()));
            let give = |new, there| self.give(path, new, there);
            let given = match give(new, there) {
                Err(Errno::EXIST) if kind_in(there.0, there.1)? == Some(Kind::Directory) => {
                    remove_empty(there.0, there.1)?;
                    self.tree.forget(path);
                    give(new, there)?
                }
                other => other?,
            };
            pass_on_group(there)?;
            Ok(given)
        };
        placed().map_err(|why| match why {
            Errno::EXIST | Errno::NOTEMPTY => Failure::Fault(format!(
                "{path} cannot be written: something appeared there meanwhile"
            )),
            other => written(other),
        })
    }
}

/// How a new file got its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Renamed,
    /// Its place lies in another file system. The one that was copied goes with the stage, or stays aside.
    Copied,
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
pub(super) fn remove_empty(parent: BorrowedFd<'_>, name: &BStr) -> Result<(), Errno> {
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
        // Of a place where something is mounted, the system does not say that something is in it.
        Err(Errno::BUSY) if !is_empty(directory.enter(name)?.open()?.as_fd())? => Ok(false),
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

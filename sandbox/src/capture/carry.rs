//! Moves parts of a repository into a place where it is parked, and out of it. They are renamed. What cannot be renamed lies in
//! another file system, or in a lower layer of an overlay: it is copied, and then the original goes (`capture/carried.rs`).

use crate::capture::carried::{Notes, Part, remove_all};
use crate::fs::copy;
use crate::fs::handle::Handle;
use crate::fs::rename::rename_new;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A way between the path of a part and its place.
pub(crate) struct Carry {
    pub(crate) projects: PathBuf,
    pub(crate) session: String,
    pub(crate) place: PathBuf,
    pub(crate) part: Part,
}

fn named(path: &Path) -> io::Result<(Arc<Handle>, &BStr)> {
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => Ok((Handle::top(above)?, BStr::new(name.as_bytes()))),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// A whole copy, on the disk.
fn copy_as(from: &Path, part: &Path) -> io::Result<()> {
    if let Some(above) = part.parent() {
        fs::create_dir_all(above)?;
    }
    remove_all(part)?;
    let (from, to) = (named(from)?, named(part)?);
    Ok(copy::tree((&from.0, from.1), (&to.0, to.1))?)
}

/// Its name is on the disk, too.
fn rename_synced(part: &Path, to: &Path) -> io::Result<()> {
    rename_new(part, to)?;
    match to.parent() {
        Some(above) => File::open(above)?.sync_all(),
        None => Ok(()),
    }
}

impl Carry {
    fn notes(&self) -> Notes<'_> {
        Notes {
            projects: &self.projects,
            session: &self.session,
            place: &self.place,
            part: self.part,
        }
    }

    /// The answer says that part of the original could not be deleted.
    pub(crate) fn park(&self, from: &Path) -> Outcome<Option<BString>> {
        let notes = self.notes();
        match rename_new(from, &notes.parked()) {
            Err(Errno::XDEV) => {}
            other => {
                other.context("it cannot be renamed to where it is put", from)?;
                return Ok(None);
            }
        }
        let part = notes.part_parked();
        let copied = notes
            .note_leaving(from)
            .and_then(|()| copy_as(from, &part))
            .and_then(|()| rename_synced(&part, &notes.parked()));
        if copied.is_err() {
            // The next call removes what is left of it.
            let _ = notes.give_up(&part);
        }
        copied.context("it cannot be copied to where it is put", from)?;
        let Err(why) = notes.finish_leaving(from) else {
            return Ok(None);
        };
        if self.part.is_whole(from) {
            // The original stays where it is, so the copy goes.
            let _ = notes.give_up(&notes.parked());
            return Err(why).context("it cannot be removed from where it was", from);
        }
        // What may not be deleted stays, and is no repository any more.
        let what = match self.part {
            Part::Git => ".git",
            Part::Shadow => "shadow",
            Part::Worktree => "notes about the worktree",
        };
        let said = format!("not all of the {what} that was put aside could be deleted: ");
        Ok(Some(
            [said.as_bytes(), from.as_os_str().as_bytes()].concat().into(),
        ))
    }

    pub(crate) fn bring(&self, to: &Path) -> Outcome<()> {
        let notes = self.notes();
        let parked = notes.parked();
        match rename_new(&parked, to) {
            Err(Errno::XDEV) => {}
            other => return other.context("it cannot be renamed back", &parked),
        }
        let part = self.part.part_beside(to, &self.session);
        let copied = notes
            .note_returning(to, Path::new(""))
            .and_then(|()| copy_as(&parked, &part))
            .and_then(|()| notes.note_returning(to, &part))
            .and_then(|()| rename_synced(&part, to));
        if copied.is_err() {
            // As above.
            let _ = notes.give_up(&part);
        }
        copied.context("it cannot be copied back", &parked)?;
        // By its note, the next call removes what is left in the place.
        let _ = notes.finish_returning();
        Ok(())
    }
}

/// Gives a new `.git` its place, where nothing is.
pub(crate) fn name_git(from: &Path, to: &Path, session: &str) -> Outcome<()> {
    match rename_new(from, to) {
        Err(Errno::XDEV) => {}
        other => return other.context("it cannot be renamed to where it is put", from),
    }
    let part = Part::Git.part_beside(to, session);
    let copied = copy_as(from, &part)
        .and_then(|()| rename_synced(&part, to))
        .and_then(|()| remove_all(from));
    if copied.is_err() {
        // The next copy removes what is left of it.
        let _ = remove_all(&part);
    }
    copied.context("it cannot be copied to where it is put", from)
}

/// Takes it away again.
pub(crate) fn unname_git(from: &Path, to: &Path) -> Outcome<()> {
    match rename_new(to, from) {
        Err(Errno::XDEV) => Part::Git.remove(to).context("it cannot be removed", to),
        other => other.context("it cannot be renamed back", to),
    }
}

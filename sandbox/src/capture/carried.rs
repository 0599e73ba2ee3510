//! Notes of what moves by being copied, because it cannot be renamed: parts of a repository on their way into a place where it
//! is parked, or out of it. By them the next call finishes what a process left that was killed.
//!
//! 1. A copy has another name (`part`) until it is whole and on the disk.
//! 2. `NAME.leaving` says what is copied into the place, and how its `witness` looked. The original goes when `NAME` is there,
//!    the witness first: without it, nothing takes what is left for a repository.
//! 3. `NAME.returning` says where the copy goes, and which one it is. When that one is there, `NAME` goes.

use crate::fs::handle::Handle;
use crate::fs::kind::{Kind, kind};
use crate::fs::removal;
use crate::fs::remove;
use crate::fs::text::slurp;
use crate::host::place::path_of;
use crate::scan::discover::parents;
use bstr::{BStr, BString, ByteSlice};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A part of a repository that is parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Git,
    Shadow,
    /// What the repository of a linked worktree notes about it.
    Worktree,
}

pub(crate) const PARTS: [Part; 3] = [Part::Git, Part::Shadow, Part::Worktree];

impl Part {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Git => "git",
            Part::Shadow => "shadow",
            Part::Worktree => "worktree",
        }
    }

    /// The file without which nothing takes it for what it is.
    fn witness(self, path: &Path) -> PathBuf {
        if kind(path) != Some(Kind::Directory) {
            return path.to_owned();
        }
        path.join(match self {
            Part::Git | Part::Worktree => "HEAD",
            Part::Shadow => "format",
        })
    }

    /// Where a copy is until it is whole that goes to this path. It is no file of a working tree.
    pub(crate) fn part_beside(self, to: &Path, session: &str) -> PathBuf {
        let above = to.parent().unwrap_or(to);
        match self {
            Part::Git => above.join(".agent-shadow").join(format!("carried-{session}")),
            Part::Shadow => above.join(format!("carried-{session}")),
            Part::Worktree => above
                .parent()
                .unwrap_or(above)
                .join(format!("walkback-carried-{session}")),
        }
    }

    /// Whether it is still whole at this path.
    pub(crate) fn is_whole(self, path: &Path) -> bool {
        kind(&self.witness(path)).is_some()
    }

    /// Whether this part of a repository may be at a path in the projects root.
    fn may_be_at(self, path: &BStr) -> bool {
        match self {
            Part::Git => path == ".git" || path.ends_with(b"/.git"),
            Part::Shadow => path.contains_str(".agent-shadow/session-"),
            Part::Worktree => path.contains_str("/worktrees/"),
        }
    }

    /// Removes it, the witness first. What cannot be removed is no repository any more.
    pub(crate) fn remove(self, path: &Path) -> io::Result<()> {
        remove::file(&self.witness(path))?;
        remove_all(path)
    }
}

/// Removes a path with all that is below it. No link is followed.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if kind(path).is_none() {
        return Ok(());
    }
    let directory = Handle::top(above)?;
    Ok(removal::remove(&directory, BStr::new(name.as_bytes()))?)
}

/// What tells one file from all others. With `changed`, also from itself when it was written since.
fn key(path: &Path, changed: bool) -> String {
    match fs::symlink_metadata(path) {
        Ok(found) if changed => format!(
            "{} {} {} {}",
            found.dev(),
            found.ino(),
            found.ctime(),
            found.ctime_nsec()
        ),
        Ok(found) => format!("{} {}", found.dev(), found.ino()),
        Err(_) => String::new(),
    }
}

/// Notes about one part in one place.
pub(crate) struct Notes<'notes> {
    pub(crate) projects: &'notes Path,
    pub(crate) session: &'notes str,
    pub(crate) place: &'notes Path,
    pub(crate) part: Part,
}

impl Notes<'_> {
    pub(crate) fn parked(&self) -> PathBuf {
        self.place.join(self.part.name())
    }

    pub(crate) fn part_parked(&self) -> PathBuf {
        self.place.join(format!("{}.part", self.part.name()))
    }

    fn leaving(&self) -> PathBuf {
        self.place.join(format!("{}.leaving", self.part.name()))
    }

    fn returning(&self) -> PathBuf {
        self.place.join(format!("{}.returning", self.part.name()))
    }

    fn write(&self, file: &Path, path: &Path, key: &str) -> io::Result<()> {
        let projects = fs::canonicalize(self.projects);
        let below = path.strip_prefix(self.projects).ok();
        let below = below.or_else(|| path.strip_prefix(projects.as_ref().ok()?).ok());
        let path = below.unwrap_or(path).as_os_str().as_bytes();
        let new = self.place.join("note");
        let mut open = File::create(&new)?;
        open.write_all(&[path, b"\0", key.as_bytes()].concat())?;
        open.sync_all()?;
        fs::rename(&new, file)?;
        File::open(self.place)?.sync_all()
    }

    /// It is copied into the place from here.
    pub(crate) fn note_leaving(&self, from: &Path) -> io::Result<()> {
        let witness = key(&self.part.witness(from), true);
        self.write(&self.leaving(), from, &witness)
    }

    /// The copy `copied` goes to this path from the place. It need not be there yet.
    pub(crate) fn note_returning(&self, to: &Path, copied: &Path) -> io::Result<()> {
        self.write(&self.returning(), to, &key(copied, false))
    }

    /// Removes the original of what is in the place by now. What cannot be removed is tried again by the next call.
    pub(crate) fn finish_leaving(&self, from: &Path) -> io::Result<()> {
        self.part.remove(from)?;
        remove::file(&self.leaving())
    }

    /// Removes from the place what came back from it.
    pub(crate) fn finish_returning(&self) -> io::Result<()> {
        self.part.remove(&self.parked())?;
        remove::file(&self.returning())
    }

    /// The copy will not come to be.
    pub(crate) fn give_up(&self, part: &Path) -> io::Result<()> {
        remove_all(part)?;
        remove::file(&self.leaving())?;
        remove::file(&self.returning())
    }

    /// Finishes or takes back what a process left that was killed.
    pub(super) fn finish(&self) -> io::Result<()> {
        let (leaving, returning) = (self.leaving(), self.returning());
        if kind(&leaving) == Some(Kind::File) {
            let (path, key_then) = self.read(&leaving);
            let is_copied = kind(&self.parked()).is_some();
            match path.filter(|_| is_copied) {
                Some(from) => {
                    let witness = self.part.witness(&from);
                    let is_ours = kind(&witness).is_none() || key(&witness, true) == key_then;
                    if is_ours && self.part.remove(&from).is_err() {
                        // Part of it is mounted, or may not be deleted. It does no harm.
                        return Ok(());
                    }
                }
                None => remove_all(&self.part_parked())?,
            }
            remove::file(&leaving)?;
        }
        if kind(&returning) == Some(Kind::File) {
            let (path, key_then) = self.read(&returning);
            if let Some(to) = path {
                if !key_then.is_empty() && key(&to, false) == key_then {
                    self.part.remove(&self.parked())?;
                } else {
                    remove_all(&self.part.part_beside(&to, self.session))?;
                }
            }
            remove::file(&returning)?;
        }
        Ok(())
    }

    /// The path, where this part may be there and no link leads to it; and the key.
    fn read(&self, file: &Path) -> (Option<PathBuf>, String) {
        let text = slurp(file);
        let (path, key) = text.split_once_str("\0").unwrap_or((&text[..], b""));
        let path = path.as_bstr();
        let is_below = !path.is_empty()
            && !path.starts_with(b"/")
            && path
                .split_str("/")
                .all(|name| !matches!(name, b"" | b"." | b".."))
            && self.part.may_be_at(path);
        let at = |path: &BStr| self.projects.join(path_of(BString::from(path)));
        let is_plain = is_below && parents(path).all(|above| kind(&at(above)) == Some(Kind::Directory));
        let whole = self.projects.join(OsStr::from_bytes(path));
        (is_plain.then_some(whole), key.to_str_lossy().into_owned())
    }
}

#[cfg(test)]
#[path = "carried_tests.rs"]
mod tests;

//! Notes of what a restore begins among the files of the user. By them the next call takes back what a process left that was
//! killed, as far as it belongs to neither end of the restore.
//!
//! `.agent-shadow/begun-SESSION` has an entry for each step, which is on the disk before the step is taken. It goes when the
//! restore is at one of its ends.

use crate::capture::carried::{Part, remove_all};
use crate::capture::carry::Carry;
use crate::capture::index_lock;
use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::fs::text::slurp;
use crate::host::place::path_of;
use crate::scan::discover::parents;
use bstr::{BStr, BString, ByteSlice};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const RULES: &str = ".gitignore";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A directory is made.
    Directory,
    /// A shadow is made in a directory that has no `.git` yet.
    Shadow,
    /// A new file is written under this name until it gets its own.
    File,
    /// A part of a repository comes back from a place, before its `.git`.
    Part(Part),
    /// A `.git` that git cannot use goes to a place.
    Unusable,
    /// A lock of ours is made.
    Lock,
}

const STEPS: [(Step, &[u8]); 7] = [
    (Step::Directory, b"directory"),
    (Step::Shadow, b"new-shadow"),
    (Step::File, b"file"),
    (Step::Part(Part::Shadow), b"shadow"),
    (Step::Part(Part::Worktree), b"worktree"),
    (Step::Unusable, b"unusable"),
    (Step::Lock, b"lock"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    step: Step,
    path: PathBuf,
    /// Empty for a step that has none.
    place: PathBuf,
}

/// The notes of one session.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    projects: PathBuf,
    session: String,
}

impl Begun {
    pub(crate) fn of(projects: &Path, session: &str) -> Self {
        Begun {
            projects: projects.to_owned(),
            session: session.to_owned(),
        }
    }

    fn file(&self) -> PathBuf {
        let name = format!("begun-{}", self.session);
        self.projects.join(".agent-shadow").join(name)
    }

    /// Notes a step that is about to be taken. Outside of the projects root, only locks are noted.
    pub(crate) fn note(&self, step: Step, path: &Path, place: Option<&Path>) -> io::Result<()> {
        let outside = (step == Step::Lock).then(|| path.as_os_str().as_bytes().as_bstr());
        let (Some(path), Some(place)) = (
            self.relative(path).or(outside),
            place.map_or(Some(BStr::new("")), |place| self.relative(place)),
        ) else {
            return Ok(());
        };
        let Some((_, word)) = STEPS.iter().find(|(one, _)| *one == step) else {
            return Ok(());
        };
        self.append(&[word, &b"\0"[..], path, b"\0", place, b"\0"].concat())
    }

    fn relative<'path>(&self, path: &'path Path) -> Option<&'path BStr> {
        let whole = fs::canonicalize(&self.projects);
        let below = path.strip_prefix(&self.projects).ok();
        let below = below.or_else(|| path.strip_prefix(whole.as_ref().ok()?).ok())?;
        Some(below.as_os_str().as_bytes().as_bstr())
    }

    fn append(&self, entry: &[u8]) -> io::Result<()> {
        let file = self.file();
        let is_new = kind(&file).is_none();
        let mut open = OpenOptions::new().create(true).append(true).open(&file)?;
        open.write_all(entry)?;
        open.sync_all()?;
        match file.parent() {
            Some(above) if is_new => File::open(above)?.sync_all(),
            Some(_) | None => Ok(()),
        }
    }

    /// The restore is at one of its ends. A lock that is left goes first.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.give_locks()?;
        remove::file(&self.file())
    }

    /// Removes the locks that are left.
    pub(crate) fn give_locks(&self) -> io::Result<()> {
        let entries = self.entries().into_iter();
        let mut locks = entries.filter(|entry| entry.step == Step::Lock);
        locks.try_for_each(|lock| index_lock::give(&lock.path, &self.session))
    }

    /// Takes back what a restore left that was killed, the last step first.
    pub(super) fn finish(&self) -> io::Result<()> {
        if kind(&self.file()).is_none() {
            return Ok(());
        }
        let all = self.entries();
        let mut kept = Vec::new();
        for entry in all.iter().rev() {
            // What cannot be taken back stays, and is in the way of nothing.
            if self.take_back(entry).unwrap_or(false) {
                kept.push(entry);
            }
        }
        remove::file(&self.file())?;
        for entry in kept.into_iter().rev() {
            self.note(entry.step, &entry.path, Some(&entry.place))?;
        }
        Ok(())
    }

    /// Where a `.git` is that had to leave this path because git could not use it, before the restore that goes on.
    pub(crate) fn unusable(&self, path: &Path) -> Option<PathBuf> {
        let entries = self.entries().into_iter();
        let found = entries.filter(|one| one.step == Step::Unusable && one.path == path);
        found.map(|one| one.place).find(|place| holds_git(place))
    }

    fn entries(&self) -> Vec<Entry> {
        let text = slurp(&self.file());
        let mut fields: Vec<&[u8]> = text.split(|byte| *byte == 0).collect();
        // What was cut off at the end is no step that was taken, and behind the last end is nothing.
        fields.pop();
        fields
            .chunks_exact(3)
            .filter_map(|fields| self.entry(fields))
            .collect()
    }

    fn entry(&self, fields: &[&[u8]]) -> Option<Entry> {
        let [word, path, place] = fields else { return None };
        let (step, _) = STEPS.iter().find(|(_, one)| one == word)?;
        let path = match step {
            // A lock says itself whose it is.
            Step::Lock => self.projects.join(path_of(BString::from(*path))),
            _ => self.plain(path.as_bstr())?,
        };
        Some(Entry {
            step: *step,
            path,
            place: if place.is_empty() {
                PathBuf::new()
            } else {
                self.plain(place.as_bstr())?
            },
        })
    }

    /// A path in the projects root to which no link leads.
    fn plain(&self, path: &BStr) -> Option<PathBuf> {
        let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
        let at = |path: &BStr| self.projects.join(path_of(BString::from(path)));
        let is_plain = path.split_str("/").all(is_name)
            && parents(path).all(|above| matches!(kind(&at(above)), Some(Kind::Directory) | None));
        is_plain.then(|| at(path))
    }

    /// Whether the note is still needed.
    fn take_back(&self, Entry { step, path, place }: &Entry) -> io::Result<bool> {
        let carry = |part| Carry {
            projects: self.projects.clone(),
            session: self.session.clone(),
            place: place.clone(),
            part,
        };
        match step {
            Step::Directory => self.remove_made(path)?,
            Step::Shadow if !has_git(path) => remove_all(path)?,
            Step::File if kind(path) == Some(Kind::File) => fs::remove_file(path)?,
            Step::Part(Part::Shadow) if has_git(path) => {}
            Step::Part(part) if holds_git(place) && kind(path).is_some() => {
                if kind(&place.join(part.name())).is_none() {
                    carry(*part).park(path).map_err(io::Error::other)?;
                } else {
                    // This was cut off when it was copied back to the place.
                    part.remove(path)?;
                }
            }
            Step::Unusable if holds_git(place) => {
                if kind(path).is_some() {
                    return Ok(true);
                }
                carry(Part::Git).bring(path).map_err(io::Error::other)?;
            }
            Step::Lock => return Ok(index_lock::give(path, &self.session).is_err()),
            Step::Shadow | Step::File | Step::Part(_) | Step::Unusable => {}
        }
        Ok(false)
    }

    /// A directory in which there is anything of the user's stays.
    fn remove_made(&self, path: &Path) -> io::Result<()> {
        if kind(path) != Some(Kind::Directory) {
            return Ok(());
        }
        if path.file_name().is_some_and(|name| name == ".agent-shadow") && !has_git(path) {
            remove_all(&path.join(format!("carried-{}", self.session)))?;
            let mut names = fs::read_dir(path)?;
            if names.all(|entry| entry.is_ok_and(|entry| entry.file_name() == RULES)) {
                remove::file(&path.join(RULES))?;
            }
        }
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            other => other,
        }
    }
}

fn holds_git(place: &Path) -> bool {
    kind(&place.join(Part::Git.name())).is_some()
}

/// Whether the working tree has a `.git` in which this is, or lies in, the folder of ours.
fn has_git(ours: &Path) -> bool {
    let folder = ours.ancestors().find(|one| one.ends_with(".agent-shadow"));
    let top = folder.and_then(Path::parent);
    top.is_some_and(|top| kind(&top.join(".git")).is_some())
}

#[cfg(test)]
#[path = "begun_tests.rs"]
mod tests;

//! Puts a repository away whole, and brings it back: its git directory and its shadow are renamed, so nothing is lost.
//!
//! A place is `.agent-shadow/parked-SESSION/PATH-HASH/NUMBER`, as the scripts make it: `metas`, the host states in which the
//! repository was captured, the latest first; `git`; `shadow`; and of a linked worktree `worktree`, what its repository notes
//! about it, from the directory `worktree-of`.

use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::fs::rename::rename_new;
use crate::fs::text::slurp;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, ByteSlice};
use sha2::{Digest, Sha256};
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug)]
enum Step {
    Renamed(PathBuf, PathBuf),
    Made(PathBuf),
    Removed(PathBuf, Permissions),
    /// Something of ours that was not there.
    Ours(PathBuf),
}

/// What was renamed, made and removed, so that it can be taken back.
#[derive(Debug, Default)]
pub(crate) struct Parking {
    steps: Vec<Step>,
}

impl Parking {
    /// Nothing may be at the new name.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> Outcome<()> {
        rename_new(from, to).context("it cannot be renamed to where it is put", from)?;
        self.steps.push(Step::Renamed(from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Makes a directory, and those above it.
    pub(crate) fn make(&mut self, directory: &Path) -> Outcome<()> {
        let missing: Vec<&Path> = directory
            .ancestors()
            .take_while(|path| kind(path).is_none())
            .collect();
        for path in missing.into_iter().rev() {
            fs::create_dir(path).context("it cannot be made", path)?;
            self.steps.push(Step::Made(path.to_owned()));
        }
        Ok(())
    }

    /// Remembers that a directory of ours comes now, unless it is there.
    pub(crate) fn expect(&mut self, directory: &Path) {
        if kind(directory).is_none() {
            self.steps.push(Step::Ours(directory.to_owned()));
        }
    }

    /// Removes a directory unless something is in it. Whether it went.
    pub(crate) fn remove_empty(&mut self, directory: &Path) -> Outcome<bool> {
        let found = match fs::symlink_metadata(directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            other => other.context("it cannot be looked at", directory)?,
        };
        match fs::remove_dir(directory) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            other => {
                other.context("it cannot be removed", directory)?;
                self.steps
                    .push(Step::Removed(directory.to_owned(), found.permissions()));
                Ok(true)
            }
        }
    }

    /// Takes everything back, the last step first. A directory that holds something by now stays.
    pub(crate) fn take_back(&mut self) -> Outcome<()> {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Renamed(from, to) => {
                    rename_new(&to, &from).context("it cannot be renamed back", &to)?
                }
                Step::Made(path) => {
                    // What is in it appeared meanwhile, or is a file of ours.
                    let _ = fs::remove_dir(path);
                }
                Step::Ours(path) => remove::directory(&path).context("it cannot be removed", path)?,
                Step::Removed(path, permissions) => {
                    fs::create_dir_all(&path).context("it cannot be made again", &path)?;
                    fs::set_permissions(&path, permissions).context("its mode cannot be set", &path)?;
                }
            }
        }
        Ok(())
    }
}

/// Where repositories of this path are parked.
fn home_of(projects: &Path, session: &str, path: &BStr) -> PathBuf {
    let name = format!("{:x}", Sha256::digest(path));
    projects
        .join(".agent-shadow")
        .join(format!("parked-{session}"))
        .join(&name[..16])
}

fn numbers(home: &Path) -> Vec<u64> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let mut all: Vec<u64> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    all.sort_unstable();
    all
}

/// A place for a repository that was captured in these host states, the latest first.
pub(crate) fn make_place(projects: &Path, session: &str, path: &BStr, metas: &[String]) -> Outcome<PathBuf> {
    let home = home_of(projects, session, path);
    let number = numbers(&home).last().copied().unwrap_or_default() + 1;
    let place = home.join(number.to_string());
    let made = || {
        fs::create_dir_all(&place)?;
        fs::write(place.join("metas"), metas.join("\n") + "\n")
    };
    made().context("the repository cannot be parked", &place)?;
    Ok(place)
}

/// The place of the repository that was captured in this host state. One that was parked in it is preferred, and the first of
/// these; then the newest.
pub(crate) fn find_place(projects: &Path, session: &str, path: &BStr, meta: &str) -> Option<PathBuf> {
    let home = home_of(projects, session, path);
    let mut found = None;
    for number in numbers(&home) {
        let place = home.join(number.to_string());
        // After a crash there may be a place from which everything has come back.
        let holds_any =
            kind(&place.join("git")).is_some() || kind(&place.join("shadow")) == Some(Kind::Directory);
        let metas = slurp(&place.join("metas"));
        let mut metas = metas.lines();
        if !holds_any {
            continue;
        }
        if metas.next() == Some(meta.as_bytes()) {
            return Some(place);
        }
        if metas.any(|line| line == meta.as_bytes()) {
            found = Some(place);
        }
    }
    found
}

/// Removes a place after its content came back. If this is cut off, the mark says that nothing in it is needed.
pub(crate) fn leave_place(place: &Path) -> Outcome<()> {
    fs::write(place.join("back"), b"").context("it cannot be written", place)?;
    fs::remove_dir_all(place).context("it cannot be removed", place)
}

#[cfg(test)]
#[path = "parking_tests.rs"]
mod tests;

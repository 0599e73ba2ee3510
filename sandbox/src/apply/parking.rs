//! Puts a repository away whole, and brings it back: its git directory and its shadow are renamed, so nothing is lost.
//! What cannot be renamed is copied (`carry.rs`).
//!
//! A place is `.agent-shadow/parked-SESSION/PATH-HASH/NUMBER`: `metas`, the host states in which the
//! repository was captured, the latest first; `git`; `shadow`; and of a linked worktree `worktree`, what its repository notes
//! about it, from the directory `worktree-of`.

use crate::capture::begun::{self, Begun};
use crate::capture::carried::Part;
use crate::capture::carry::{Carry, name_git, unname_git};
use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::fs::text::slurp;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use sha2::{Digest, Sha256};
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug)]
enum Step {
    /// A new `.git`, from a folder of ours.
    Named(PathBuf, PathBuf),
    /// From a path to a place.
    Parked(Part, PathBuf, PathBuf),
    /// From a place to a path.
    Brought(Part, PathBuf, PathBuf),
    Made(PathBuf),
    Removed(PathBuf, Permissions),
    /// Something of ours that was not there.
    Ours(PathBuf),
}

/// What was renamed, made and removed, so that it can be taken back.
#[derive(Debug)]
pub(crate) struct Parking {
    projects: PathBuf,
    session: String,
    begun: Begun,
    steps: Vec<Step>,
    /// What a person is told of it.
    pub(crate) warnings: Vec<BString>,
}

impl Parking {
    pub(crate) fn new(projects: &Path, session: &str) -> Self {
        Parking {
            projects: projects.to_owned(),
            session: session.to_owned(),
            begun: Begun::of(projects, session),
            steps: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn carry(&self, part: Part, place: &Path) -> Carry {
        Carry {
            projects: self.projects.clone(),
            session: self.session.clone(),
            place: place.to_owned(),
            part,
        }
    }

    /// Puts a part of a repository into a place. The place has none of these.
    pub(crate) fn park(&mut self, part: Part, from: &Path, place: &Path) -> Outcome<()> {
        let left = self.carry(part, place).park(from)?;
        self.steps
            .push(Step::Parked(part, from.to_owned(), place.to_owned()));
        self.warnings.extend(left);
        Ok(())
    }

    /// Brings it back from there. Nothing may be at the path.
    pub(crate) fn bring(&mut self, part: Part, place: &Path, to: &Path) -> Outcome<()> {
        if part != Part::Git {
            self.note(begun::Step::Part(part), to, Some(place))?;
        }
        self.carry(part, place).bring(to)?;
        self.steps
            .push(Step::Brought(part, place.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Puts a `.git` into a place that git cannot use.
    pub(crate) fn park_unusable(&mut self, from: &Path, place: &Path) -> Outcome<()> {
        self.note(begun::Step::Unusable, from, Some(place))?;
        self.park(Part::Git, from, place)
    }

    /// Remembers that these directories go, the outermost first, if nothing is in them, and these parts of a repository.
    pub(crate) fn expect_gone(
        &self,
        directories: &[PathBuf],
        (shadow, worktree): (&Path, Option<&Path>),
        place: &Path,
    ) -> Outcome<()> {
        for path in directories {
            self.note(begun::Step::Directory, path, None)?;
        }
        if let Some(worktree) = worktree {
            self.note(begun::Step::Part(Part::Worktree), worktree, Some(place))?;
        }
        self.note(begun::Step::Part(Part::Shadow), shadow, Some(place))
    }

    fn note(&self, step: begun::Step, path: &Path, place: Option<&Path>) -> Outcome<()> {
        let noted = self.begun.note(step, path, place);
        noted.context("what is done cannot be noted", path)
    }

    /// Gives a new `.git` its place. Nothing may be there.
    pub(crate) fn name_git(&mut self, from: &Path, to: &Path) -> Outcome<()> {
        name_git(from, to, &self.session)?;
        self.steps.push(Step::Named(from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Makes a directory, and those above it.
    pub(crate) fn make(&mut self, directory: &Path) -> Outcome<()> {
        let missing: Vec<&Path> = directory
            .ancestors()
            .take_while(|path| kind(path).is_none())
            .collect();
        for path in missing.into_iter().rev() {
            self.note(begun::Step::Directory, path, None)?;
            fs::create_dir(path).context("it cannot be made", path)?;
            self.steps.push(Step::Made(path.to_owned()));
        }
        Ok(())
    }

    /// Remembers that a directory of ours comes now, unless it is there.
    pub(crate) fn expect(&mut self, directory: &Path) -> Outcome<()> {
        if kind(directory).is_none() {
            self.note(begun::Step::Shadow, directory, None)?;
            self.steps.push(Step::Ours(directory.to_owned()));
        }
        Ok(())
    }

    /// Removes a directory unless something is in it. Whether it is gone: another repository that leaves may have removed it
    /// just now.
    pub(crate) fn remove_empty(&mut self, directory: &Path) -> Outcome<bool> {
        let found = match fs::symlink_metadata(directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
            other => other.context("it cannot be looked at", directory)?,
        };
        match fs::remove_dir(directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            // Of a place where something is mounted, the system does not say that something is in it.
            Err(error) if error.kind() == ErrorKind::ResourceBusy && holds_any(directory) => Ok(false),
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

    fn make_again(&self, directory: &Path) -> Outcome<()> {
        let above = directory.ancestors().take_while(|path| kind(path).is_none());
        for path in above.collect::<Vec<_>>().into_iter().rev() {
            self.note(begun::Step::Directory, path, None)?;
        }
        fs::create_dir_all(directory).context("it cannot be made again", directory)
    }

    pub(crate) fn is_untouched(&self) -> bool {
        self.steps.is_empty()
    }

    /// Takes everything back, the last step first. A directory that holds something by now stays.
    pub(crate) fn take_back(&mut self) -> Outcome<()> {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Named(from, to) => {
                    // The folder of this call may be gone, which makes room for the way back.
                    if let Some(above) = from.parent() {
                        fs::create_dir_all(above).context("it cannot be made again", above)?;
                    }
                    unname_git(&from, &to)?;
                }
                Step::Parked(part, from, place) => {
                    if let Some(above) = from.parent() {
                        self.make_again(above)?;
                    }
                    if part != Part::Git {
                        self.note(begun::Step::Part(part), &from, Some(&place))?;
                    }
                    self.carry(part, &place).bring(&from)?;
                }
                Step::Brought(part, place, to) => {
                    let left = self.carry(part, &place).park(&to)?;
                    self.warnings.extend(left);
                }
                Step::Made(path) => {
                    // What is in it appeared meanwhile, or is a file of ours.
                    let _ = fs::remove_dir(path);
                }
                Step::Ours(path) => remove::directory(&path).context("it cannot be removed", path)?,
                Step::Removed(path, permissions) => {
                    self.make_again(&path)?;
                    fs::set_permissions(&path, permissions).context("its mode cannot be set", &path)?;
                }
            }
        }
        Ok(())
    }
}

fn holds_any(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
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

/// The host states in which repositories of this path were parked that came back, or were on their way.
pub(crate) fn emptied(projects: &Path, session: &str, path: &BStr) -> Vec<String> {
    let home = home_of(projects, session, path);
    let places = numbers(&home)
        .into_iter()
        .map(|number| home.join(number.to_string()));
    let empty = places.filter(|place| kind(&place.join("git")).is_none());
    let firsts = empty.filter_map(|place| {
        Some(
            slurp(&place.join("metas"))
                .lines()
                .next()?
                .to_str()
                .ok()?
                .to_owned(),
        )
    });
    firsts.filter(|meta| !meta.is_empty()).collect()
}

/// Removes a place after its content came back. If this is cut off, the mark says that nothing in it is needed.
pub(crate) fn leave_place(place: &Path) -> Outcome<()> {
    fs::write(place.join("back"), b"").context("it cannot be written", place)?;
    fs::remove_dir_all(place).context("it cannot be removed", place)
}

#[cfg(test)]
#[path = "parking_tests.rs"]
mod tests;

//! Changes of names, modes, owners and times, in their order, and how each is undone.

use crate::calls::Call;
use crate::random::Random;
use crate::spec::{Keeps, Kind};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) enum Undo {
    RemoveFile(PathBuf),
    RemoveDirectory(PathBuf),
    /// A file that was removed or replaced has another name in the stash.
    Return {
        stash: PathBuf,
        to: PathBuf,
    },
    MakeDirectory(PathBuf, Metadata),
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Exchange(PathBuf, PathBuf),
    Attributes(PathBuf, Metadata),
}

pub(crate) struct Names {
    stash: PathBuf,
    stashed: u64,
    /// By call: a call is undone whole, or not at all.
    log: Vec<Vec<Undo>>,
    pub(crate) trouble: Vec<String>,
}

impl Names {
    pub(crate) fn new(stash: PathBuf) -> Self {
        Names {
            stash,
            stashed: 0,
            log: Vec::new(),
            trouble: Vec::new(),
        }
    }

    /// What undoes a call: the last of it is undone first.
    pub(crate) fn undo_of(
        &mut self,
        call: &Call,
        found: &[Option<Metadata>],
        is_exchange: bool,
    ) -> io::Result<Vec<Undo>> {
        let Some(path) = call.paths.last().cloned() else {
            return Ok(Vec::new());
        };
        let there = found.last().cloned().flatten();
        Ok(match call.kind {
            Kind::Creates | Kind::Links if there.is_none() => vec![Undo::RemoveFile(path)],
            Kind::Directories if there.is_none() => vec![Undo::RemoveDirectory(path)],
            Kind::Removals => self.returning(path, there)?,
            Kind::Renames => {
                let Some(from) = call.paths.first().cloned() else {
                    return Ok(Vec::new());
                };
                if is_exchange {
                    return Ok(vec![Undo::Exchange(from, path)]);
                }
                let mut undo = self.returning(path.clone(), there)?;
                undo.push(Undo::Rename { from: path, to: from });
                undo
            }
            Kind::Modes => there
                .map(|there| Undo::Attributes(path, there))
                .into_iter()
                .collect(),
            Kind::Creates | Kind::Links | Kind::Directories | Kind::Writes | Kind::Syncs => Vec::new(),
        })
    }

    /// A file gets one more name for as long as the program runs. The program asks for the number of names only of what it
    /// has put aside, and removes none of those then.
    fn returning(&mut self, to: PathBuf, there: Option<Metadata>) -> io::Result<Vec<Undo>> {
        let Some(there) = there else { return Ok(Vec::new()) };
        if there.is_dir() {
            return Ok(vec![Undo::MakeDirectory(to, there)]);
        }
        self.stashed += 1;
        let stash = self.stash.join(format!("name-{}", self.stashed));
        fs::hard_link(&to, &stash)?;
        Ok(vec![Undo::Return { stash, to }])
    }

    pub(crate) fn log(&mut self, undo: Vec<Undo>) {
        if !undo.is_empty() {
            self.log.push(undo);
        }
    }

    pub(crate) fn committed(&mut self) {
        for undo in self.log.drain(..).flatten() {
            if let Undo::Return { stash, .. } = undo {
                // It goes with the stash at the latest.
                let _ = fs::remove_file(stash);
            }
        }
    }

    /// How many changes there were, and how many of them are kept.
    pub(crate) fn lose(&mut self, keeps: Keeps, random: &mut Random) -> (u64, u64) {
        let total = self.log.len() as u64;
        let kept = match keeps {
            Keeps::Nothing => 0,
            Keeps::Names => total,
            Keeps::Some => random.up_to(total),
        };
        let lost = self.log.split_off(usize::try_from(kept).unwrap_or(usize::MAX));
        for undo in lost.iter().flatten().rev() {
            if let Err(error) = undo.act() {
                self.trouble.push(format!("not undone: {undo:?}: {error}"));
            }
        }
        (total, kept)
    }
}

impl Undo {
    fn act(&self) -> io::Result<()> {
        match self {
            Undo::RemoveFile(path) => gone(fs::remove_file(path)),
            // A process of git put something into it, so it was on the disk.
            Undo::RemoveDirectory(path) => match gone(fs::remove_dir(path)) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                other => other,
            },
            Undo::Return { stash, to } => rename(stash, to, RenameFlags::RENAME_NOREPLACE),
            Undo::MakeDirectory(path, was) => {
                fs::create_dir(path)?;
                attributes(path, was)
            }
            Undo::Rename { from, to } => rename(from, to, RenameFlags::RENAME_NOREPLACE),
            Undo::Exchange(one, other) => rename(one, other, RenameFlags::RENAME_EXCHANGE),
            Undo::Attributes(path, was) => attributes(path, was),
        }
    }
}

fn rename(from: &Path, to: &Path, flags: RenameFlags) -> io::Result<()> {
    Ok(renameat2(AT_FDCWD, from, AT_FDCWD, to, flags)?)
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn attributes(path: &Path, was: &Metadata) -> io::Result<()> {
    lchown(path, Some(was.uid()), Some(was.gid()))?;
    if was.is_symlink() {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(was.mode() & 0o7777))?;
    let times = FileTimes::new()
        .set_accessed(was.accessed()?)
        .set_modified(was.modified()?);
    File::open(path)?.set_times(times)
}

//! What a restore is at, on the disk before it goes on. After a crash, the next restore tells what it finds, and looks after
//! what was put aside.

use crate::fs::remove;
use crate::fs::text::slurp;
use crate::restore::disks::Disks;
use crate::wire::error::{Context, Outcome};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// Working files and host states are on their way to the target.
    Moving,
    /// Everything is there, and is being proved.
    Proving,
    /// Something failed, and everything is on its way back.
    PuttingBack,
}

impl Phase {
    /// What a person is told of a restore that ended there.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Phase::Moving => "while it moved files, branches and indexes",
            Phase::Proving => "while it proved what it had moved",
            Phase::PuttingBack => "while it put everything back",
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    call: String,
    phase: Phase,
}

pub(crate) struct Journal {
    file: PathBuf,
    call: String,
    disks: Disks,
}

fn file_of(projects: &Path, session: &str) -> PathBuf {
    projects.join(".agent-shadow").join(format!("journal-{session}"))
}

fn read(file: &Path) -> Vec<Entry> {
    serde_json::from_slice(&slurp(file)).unwrap_or_default()
}

/// The calls of a session that are not finished, the first one first.
pub(crate) fn unfinished_calls(projects: &Path, session: &str) -> Vec<String> {
    let entries = read(&file_of(projects, session));
    entries.into_iter().map(|entry| entry.call).collect()
}

impl Journal {
    pub(super) fn of(projects: &Path, session: &str, call: &str, disks: Disks) -> Self {
        Journal {
            file: file_of(projects, session),
            call: call.to_owned(),
            disks,
        }
    }

    /// The last call that is not finished, and how far it came.
    pub(crate) fn left(&self) -> Option<(String, Phase)> {
        let entry = read(&self.file).pop()?;
        Some((entry.call, entry.phase))
    }

    /// Notes it, and what was done before is on the disk as well.
    pub(crate) fn enter(&self, phase: Phase) -> Outcome<()> {
        let mut entries = self.others();
        entries.push(Entry {
            call: self.call.clone(),
            phase,
        });
        let noted = self.write(&entries).and_then(|()| self.sync());
        noted.context("what the restore is at cannot be noted", &self.file)
    }

    /// Nothing is left to do, of this call and those before.
    pub(crate) fn close(&self) -> Outcome<()> {
        self.sync().context("it cannot be synced", &self.file)?;
        let removed = remove::file(&self.file).and_then(|()| self.sync_name());
        removed.context("it cannot be removed", &self.file)
    }

    /// Everything is where this call found it. What calls before it left is still to be settled.
    pub(crate) fn leave(&self) -> Outcome<()> {
        let others = self.others();
        if others.is_empty() {
            return self.close();
        }
        let noted = self
            .sync()
            .and_then(|()| self.write(&others))
            .and_then(|()| self.sync_name());
        noted.context("what the restore is at cannot be noted", &self.file)
    }

    fn others(&self) -> Vec<Entry> {
        let mut entries = read(&self.file);
        entries.retain(|entry| entry.call != self.call);
        entries
    }

    fn write(&self, entries: &[Entry]) -> std::io::Result<()> {
        let part = self.file.with_extension("part");
        fs::write(&part, serde_json::to_vec(entries)?)?;
        File::open(&part)?.sync_all()?;
        fs::rename(&part, &self.file)
    }

    /// Whether it is there, and which it is.
    fn sync_name(&self) -> std::io::Result<()> {
        match self.file.parent() {
            Some(above) => File::open(above)?.sync_all(),
            None => Ok(()),
        }
    }

    fn sync(&self) -> std::io::Result<()> {
        match self.file.parent() {
            Some(above) => self.disks.sync(above),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_phase_is_found_until_the_restore_is_done() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let none = || Disks::of(top.path(), std::iter::empty());
        fs::create_dir(top.path().join(".agent-shadow")).expect("a directory");
        let journal = Journal::of(top.path(), "s", "one", none());
        assert_eq!(journal.left(), None);
        journal.enter(Phase::Moving).expect("it can be noted");
        journal.enter(Phase::Proving).expect("it can be noted");
        let next = Journal::of(top.path(), "s", "two", none());
        assert_eq!(next.left(), Some(("one".into(), Phase::Proving)));
        next.enter(Phase::Moving).expect("it can be noted");
        assert_eq!(next.left(), Some(("two".into(), Phase::Moving)));
        assert_eq!(unfinished_calls(top.path(), "s"), ["one", "two"]);
        next.leave().expect("it can be noted");
        assert_eq!(unfinished_calls(top.path(), "s"), ["one"]);
        next.enter(Phase::PuttingBack).expect("it can be noted");
        next.close().expect("it can be removed");
        assert_eq!(next.left(), None);
        assert!(unfinished_calls(top.path(), "s").is_empty());
    }
}

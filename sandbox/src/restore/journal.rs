//! What a restore is at, on the disk before it goes on. After a crash, the next restore tells what it finds, and looks after
//! what was put aside.

use crate::fs::remove;
use crate::fs::text::slurp;
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
}

impl Journal {
    pub(crate) fn of(projects: &Path, session: &str, call: &str) -> Self {
        Journal {
            file: projects.join(".agent-shadow").join(format!("journal-{session}")),
            call: call.to_owned(),
        }
    }

    /// The call that left one, and how far it came.
    pub(crate) fn left(&self) -> Option<(String, Phase)> {
        let entry: Entry = serde_json::from_slice(&slurp(&self.file)).ok()?;
        Some((entry.call, entry.phase))
    }

    /// Notes it, and what was done before is on the disk as well.
    pub(crate) fn enter(&self, phase: Phase) -> Outcome<()> {
        let entry = Entry {
            call: self.call.clone(),
            phase,
        };
        let part = self.file.with_extension("part");
        let written = || {
            fs::write(&part, serde_json::to_vec(&entry)?)?;
            File::open(&part)?.sync_all()?;
            fs::rename(&part, &self.file)?;
            match self.file.parent() {
                Some(above) => Ok(rustix::fs::syncfs(File::open(above)?)?),
                None => Ok(()),
            }
        };
        let done: std::io::Result<()> = written();
        done.context("what the restore is at cannot be noted", &self.file)
    }

    /// Nothing is left to do. Everything is on the disk by now.
    pub(crate) fn close(&self) -> Outcome<()> {
        if let Some(above) = self.file.parent() {
            let synced = File::open(above).and_then(|open| Ok(rustix::fs::syncfs(open)?));
            synced.context("it cannot be synced", above)?;
        }
        remove::file(&self.file).context("it cannot be removed", &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_phase_is_found_until_the_restore_is_done() {
        let top = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(top.path().join(".agent-shadow")).expect("a directory");
        let journal = Journal::of(top.path(), "s", "one");
        assert_eq!(journal.left(), None);
        journal.enter(Phase::Moving).expect("it can be noted");
        journal.enter(Phase::Proving).expect("it can be noted");
        let next = Journal::of(top.path(), "s", "two");
        assert_eq!(next.left(), Some(("one".into(), Phase::Proving)));
        journal.close().expect("it can be removed");
        assert_eq!(next.left(), None);
    }
}

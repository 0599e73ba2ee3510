//! The host's index, locked as git locks it: what another process stages meanwhile would be lost.

use crate::apply::host::{HostMove, locks};
use crate::capture::begun::{Begun, Step};
use crate::capture::index_lock::IndexLock;
use crate::fs::remove;
use crate::wire::error::{Context, Failure, Outcome};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Whoever has it may write the index. It goes with this.
pub(super) struct Locked {
    lock: IndexLock,
    pub(super) index: PathBuf,
}

impl HostMove<'_> {
    /// Nothing: another process of git has it.
    pub(super) fn lock_index(&self) -> Outcome<Option<Locked>> {
        let lock = IndexLock::of(&self.host.git, self.session);
        let path = lock.path();
        if !locks::free(&path, &self.shadow.top).context("a lock cannot be removed", &path)? {
            return Ok(None);
        }
        // Whoever finds the lock after a crash knows from the note that nobody holds it.
        let made = Begun::of(self.projects, self.session)
            .note(Step::Lock, &path, None)
            .and_then(|()| lock.make());
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            made => {
                made.context("the index cannot be locked", path)?;
                let index = self.host.git.join("index");
                Ok(Some(Locked { lock, index }))
            }
        }
    }
}

impl Locked {
    /// Makes a copy to work on, with the same time: git knows from it which files may have changed since.
    pub(super) fn copy(&self, to: &Path) -> io::Result<()> {
        fs::copy(&self.index, to)?;
        keep_time(&self.index, &File::options().write(true).open(to)?)
    }

    /// Puts this in the place of the index, in one step.
    pub(super) fn put(self, content: &Path) -> Outcome<()> {
        let new = self.lock.new_index();
        let written = || {
            remove::file(&new)?;
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o666)
                .open(&new)?;
            io::copy(&mut File::open(content)?, &mut file)?;
            file.sync_all()?;
            keep_time(content, &file)
        };
        written().context("the index cannot be written", &new)?;
        self.must_be_held()?;
        fs::rename(&new, &self.index).context("the index cannot be written", &self.index)?;
        self.give()
    }

    /// Removes the index.
    pub(super) fn clear(self) -> Outcome<()> {
        remove::file(&self.index).context("the index cannot be removed", &self.index)?;
        self.give()
    }

    /// A person may have removed it, and another git may have one now.
    fn must_be_held(&self) -> Outcome<()> {
        if self.lock.is_ours() {
            return Ok(());
        }
        let lock = self.lock.path();
        let said = format!("{} was removed by another process", lock.display());
        Err(Failure::Fault(said))
    }

    fn give(&self) -> Outcome<()> {
        let lock = self.lock.path();
        self.lock.give().context("a lock cannot be removed", lock)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // What is left is noted, and goes with the note.
        let _ = self.lock.give();
    }
}

fn keep_time(from: &Path, to: &File) -> io::Result<()> {
    let time = fs::metadata(from)?.modified()?;
    to.set_modified(time)
}

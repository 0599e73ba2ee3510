//! Our lock of a host's index. It has the name of git's lock, so git waits or fails, and tells another process that asks who
//! made it: a link is made with what it says in one step, so also a lock whose maker was killed is known for ours.

use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::fs::text::slurp;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const NAME: &str = "index.lock";
/// The new index, beside the old one.
const NEW: &str = "index.walkback-new";

pub(crate) struct IndexLock {
    git: PathBuf,
    says: OsString,
}

impl IndexLock {
    /// Of the index in a git directory.
    pub(crate) fn of(git: &Path, session: &str) -> Self {
        IndexLock {
            git: git.to_owned(),
            says: format!("walkback-{session}").into(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.git.join(NAME)
    }

    pub(crate) fn new_index(&self) -> PathBuf {
        self.git.join(NEW)
    }

    /// `AlreadyExists`: there is a lock.
    pub(crate) fn make(&self) -> io::Result<()> {
        match symlink(&self.says, self.path()) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported
                ) =>
            {
                self.make_file()
            }
            other => other,
        }
    }

    /// Where the file system has no links.
    fn make_file(&self) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.path())?;
        file.write_all(self.says.as_bytes())
    }

    pub(crate) fn is_ours(&self) -> bool {
        match kind(&self.path()) {
            Some(Kind::Link) => fs::read_link(self.path()).is_ok_and(|says| says == self.says),
            Some(Kind::File) => slurp(&self.path()) == self.says.as_bytes(),
            Some(Kind::Directory | Kind::Socket | Kind::Waits) | None => false,
        }
    }

    /// Removes it with the new index, when it is ours.
    pub(crate) fn give(&self) -> io::Result<()> {
        if kind(&self.new_index()) == Some(Kind::File) {
            remove::file(&self.new_index())?;
        }
        if self.is_ours() {
            remove::file(&self.path())?;
        }
        Ok(())
    }
}

/// The same for the path of a lock that was noted.
pub(super) fn give(lock: &Path, session: &str) -> io::Result<()> {
    match lock.parent() {
        Some(git) if lock.ends_with(NAME) => IndexLock::of(git, session).give(),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_of_ours_is_removed() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let lock = IndexLock::of(top.path(), "s");
        let is_there = || kind(&lock.path()).is_some();
        for make in [IndexLock::make, IndexLock::make_file] {
            make(&lock).expect("there is none");
            let again = make(&lock).expect_err("there is one");
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            IndexLock::of(top.path(), "other").give().expect("it is not ours");
            assert!(is_there() && lock.is_ours());
            fs::write(lock.new_index(), "half").expect("a file");
            give(&lock.path(), "s").expect("it is ours");
            assert!(!is_there() && kind(&lock.new_index()).is_none());
        }
        for theirs in ["", "DIRC"] {
            fs::write(lock.path(), theirs).expect("a file");
            lock.give().expect("it is not ours");
            assert!(is_there() && !lock.is_ours());
        }
        give(&top.path().join("other"), "s").expect("it is no lock");
    }
}

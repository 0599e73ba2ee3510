//! The lock of a projects root. One command at a time works below it.
//!
//! 1. It is a lock of `flock` on `.agent-shadow/lock`.
//! 2. Processes of git inherit it: it is held until the last of them is gone, even when this program is killed.

use crate::shadow::home::make_home;
use crate::wire::error::{Failure, Outcome};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the file may vanish while the lock is waited for.
const TRIES: usize = 20;

/// The lock, until this value goes.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits at most so many seconds for the lock of a projects root. Makes `.agent-shadow` there.
    pub(crate) fn take(projects: &Path, seconds: u64) -> Outcome<Self> {
        let home = projects.join(".agent-shadow");
        let unwritable = |what: &Path| {
            Failure::unavailable(format!(
                "Cannot write {}. Free some disk space or fix the permissions of the projects root, then call again.",
                what.display()
            ))
        };
        for _ in 0..TRIES {
            make_home(projects).map_err(|failure| match failure {
                Failure::Obstacle(why) => Failure::refused("SandboxUnsupported", why),
                Failure::Io { .. } => unwritable(&home),
                other @ (Failure::Fault(_) | Failure::Killed { .. }) => other,
                refused @ Failure::Refused { .. } => refused,
            })?;
            let path = home.join("lock");
            let opened = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o666)
                .open(&path);
            let file = opened.map_err(|_| unwritable(&path))?;
            let file = wait(file, seconds)?;
            // The agent may have deleted the folder meanwhile. Then another call locks a different file of that name.
            if is_same(&file, &path) {
                fcntl_setfd(&file, FdFlags::empty()).map_err(|error| not_taken(error.into()))?;
                return Ok(Lock { _file: file });
            }
        }
        Err(Failure::unavailable(
            "The lock file of this projects root keeps vanishing. Stop what deletes .agent-shadow, then call again.",
        ))
    }
}

fn not_taken(error: io::Error) -> Failure {
    Failure::Fault(format!(
        "the lock of this projects root could not be taken: {error}"
    ))
}

/// Waits in line. A thread that still waits when this gives up ends with the process.
fn wait(file: File, seconds: u64) -> Outcome<File> {
    let (done, taken) = channel();
    std::thread::spawn(move || {
        let locked = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other,
            }
        };
        // Nobody listens any more when it came too late.
        let _ = done.send(locked.map(|()| file));
    });
    match taken.recv_timeout(Duration::from_secs(seconds)) {
        Ok(locked) => locked.map_err(|error| not_taken(error.into())),
        Err(RecvTimeoutError::Timeout) => Err(Failure::unavailable(format!(
            "Another Walkback command has held the lock of this projects root for {seconds} seconds. Call again."
        ))),
        Err(RecvTimeoutError::Disconnected) => Err(not_taken(io::Error::other("its thread ended"))),
    }
}

fn is_same(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_lock_of_another_process_is_waited_for_and_excludes() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let lock = Lock::take(top.path(), 1).expect("nobody holds it");
        let taken = || {
            Command::new("flock")
                .args(["-n", "-E", "75"])
                .arg(top.path().join(".agent-shadow/lock"))
                .arg("true")
                .status()
                .expect("flock runs")
        };
        assert_eq!(taken().code(), Some(75));
        assert!(matches!(
            Lock::take(top.path(), 0),
            Err(Failure::Refused {
                name: "SandboxUnavailable",
                ..
            })
        ));
        drop(lock);
        // The thread that waited in vain gets the lock, and lets it go at once.
        let again = Lock::take(top.path(), 5).expect("nobody holds it any more");
        drop(again);
        assert!(taken().success());
    }
}

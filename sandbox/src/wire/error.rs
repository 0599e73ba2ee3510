//! How a call ends without a report.

use std::path::PathBuf;

/// A failure of a call, with what it was about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The caller gets an error of this name (`contract/errors.ts`).
    #[error("{name}: {message}")]
    Refused { name: &'static str, message: String },
    /// Something outside of this program failed. The same call may succeed later.
    #[error("{0}")]
    Fault(String),
    /// Something of the user's, or a permission, stands in the way, and the message says what to do. Until then the same
    /// call fails again.
    #[error("{0}")]
    Obstacle(String),
    /// A signal ended a process of git, so it said nothing about the repository.
    #[error("a process of git was ended by signal {signal}; the sandbox may be short of memory")]
    Killed { signal: i32 },
    /// A call of the system failed for a path.
    #[error("{}: {doing}: {cause}", path.display())]
    Io {
        path: PathBuf,
        doing: &'static str,
        #[source]
        cause: std::io::Error,
    },
}

impl Failure {
    pub(crate) fn refused(name: &'static str, message: impl Into<String>) -> Self {
        Failure::Refused {
            name,
            message: message.into(),
        }
    }

    /// Whether nothing more can be written: the disk is full, or the user's quota is used up. Then neither the repository
    /// nor a file of ours is at fault.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Failure::Io { cause, .. } => matches!(
                cause.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            ),
            Failure::Fault(said) => says_full(said),
            Failure::Refused { .. } | Failure::Obstacle(_) | Failure::Killed { .. } => false,
        }
    }

    /// Whether a process of git ended as those do that read a damaged file: by SIGILL, SIGBUS, SIGFPE or SIGSEGV.
    pub(crate) fn is_crash(&self) -> bool {
        matches!(
            self,
            Failure::Killed {
                signal: 4 | 7 | 8 | 11
            }
        )
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Failure::refused("SandboxUnavailable", message)
    }
}

/// Whether a message of git or of the system says so.
fn says_full(text: &str) -> bool {
    [
        "No space left on device",
        "Out of diskspace",
        "Disk quota exceeded",
    ]
    .iter()
    .any(|said| text.contains(said))
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// Adds the path and the act to an error of the system.
pub(crate) trait Context<T> {
    fn context(self, doing: &'static str, path: impl Into<PathBuf>) -> Outcome<T>;
}

impl<T, E: Into<std::io::Error>> Context<T> for Result<T, E> {
    fn context(self, doing: &'static str, path: impl Into<PathBuf>) -> Outcome<T> {
        self.map_err(|cause| Failure::Io {
            path: path.into(),
            doing,
            cause: cause.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_failures() {
        let of_system = |code: i32| {
            let full: Outcome<()> =
                Err(std::io::Error::from_raw_os_error(code)).context("it cannot be written", "a");
            full.is_err_and(|failure| failure.is_full())
        };
        assert!(of_system(rustix::io::Errno::NOSPC.raw_os_error()));
        assert!(of_system(rustix::io::Errno::DQUOT.raw_os_error()));
        assert!(!of_system(rustix::io::Errno::ACCESS.raw_os_error()));
        assert!(Failure::Fault("error: file write error: Disk quota exceeded".into()).is_full());
        assert!(!Failure::Fault("fatal: bad object".into()).is_full());
    }

    #[test]
    fn a_crash_is_told_from_a_process_that_was_killed() {
        assert!(Failure::Killed { signal: 7 }.is_crash());
        assert!(!Failure::Killed { signal: 9 }.is_crash());
    }
}

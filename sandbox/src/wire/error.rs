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

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Failure::refused("SandboxUnavailable", message)
    }
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

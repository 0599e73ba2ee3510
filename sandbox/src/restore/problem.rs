//! What keeps a restore from being done, as a person is told.

use crate::wire::error::Failure;
use crate::wire::name::Name;
use crate::wire::restore::{Problem, ProblemKind};
use bstr::BString;

pub(crate) fn problem(kind: ProblemKind, message: impl Into<BString>) -> Problem {
    Problem {
        kind,
        message: Name(message.into()),
    }
}

/// What failed. A process that a signal ended says nothing about the repository.
pub(crate) fn kind_of(failure: &Failure) -> ProblemKind {
    match failure {
        Failure::Killed { .. } => ProblemKind::Interrupted,
        Failure::Refused { .. } | Failure::Fault(_) | Failure::Obstacle(_) | Failure::Io { .. } => {
            ProblemKind::Failed
        }
    }
}

pub(crate) fn failed(failure: &Failure) -> Problem {
    problem(kind_of(failure), failure.to_string())
}

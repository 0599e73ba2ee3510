//! Why the states of one repository could not be merged.

use crate::git::process::Answered;
use crate::wire::error::Failure;

#[derive(Debug)]
pub(crate) enum Trouble {
    /// The sandbox lacks objects of the states.
    Missing(String),
    /// The git of the sandbox is too old.
    Unsupported,
    /// What git said.
    Said(String),
    Failure(Failure),
}

pub(crate) type Done<T> = Result<T, Trouble>;

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failure(failure)
    }
}

/// Words by which git says that it lacks an object.
const LACKS: [&str; 10] = [
    "bad object",
    "unable to read",
    "not a tree",
    "bad tree",
    "lacks these prerequisite",
    "is corrupt",
    "unresolved delta",
    "Could not read",
    "invalid object",
    "could not read the object",
];

pub(crate) fn full() -> Failure {
    Failure::Fault("there is no space left on the disk of the sandbox".into())
}

impl Trouble {
    /// That git failed. A process that was killed says nothing about the repository.
    pub(crate) fn of(answer: &Answered) -> Self {
        match answer.killed() {
            Some(failure) => Trouble::Failure(failure),
            None => Trouble::Said(answer.why()),
        }
    }

    /// A failure that is not the repository's: the same call may succeed later.
    pub(crate) fn fault(self) -> Result<Self, Failure> {
        match self {
            Trouble::Said(said) if Failure::Fault(said.clone()).is_full() => Err(full()),
            Trouble::Failure(failure) if failure.is_full() => Err(full()),
            Trouble::Failure(failure @ (Failure::Killed { .. } | Failure::Refused { .. })) => Err(failure),
            Trouble::Missing(_) | Trouble::Unsupported | Trouble::Said(_) | Trouble::Failure(_) => Ok(self),
        }
    }

    /// Whether the objects of the states are not all here.
    pub(crate) fn is_lack(&self) -> bool {
        match self {
            Trouble::Missing(_) => true,
            Trouble::Unsupported => false,
            Trouble::Said(said) => lacks(said),
            Trouble::Failure(failure) => lacks(&failure.to_string()),
        }
    }

    /// For a person.
    pub(crate) fn reason(&self) -> String {
        match self {
            Trouble::Missing(what) => format!("the sandbox does not have {what}"),
            Trouble::Unsupported => "its states could not be merged".into(),
            Trouble::Said(said) => said.clone(),
            Trouble::Failure(failure) => failure.to_string(),
        }
    }
}

fn lacks(said: &str) -> bool {
    LACKS.iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_lacks_is_told_from_other_failures() {
        assert!(Trouble::Said("fatal: bad object 1234".into()).is_lack());
        assert!(Trouble::Missing("a tree".into()).is_lack());
        assert!(!Trouble::Said("fatal: not a valid ref name".into()).is_lack());
        assert!(!Trouble::Unsupported.is_lack());
    }

    #[test]
    fn a_full_disk_and_a_killed_process_are_faults_of_the_call() {
        assert!(
            Trouble::Said("error: No space left on device".into())
                .fault()
                .is_err()
        );
        assert!(Trouble::Failure(Failure::Killed { signal: 9 }).fault().is_err());
        assert!(Trouble::Said("fatal: bad object".into()).fault().is_ok());
    }
}

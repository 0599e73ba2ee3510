//! What is done before the capture of a repository is tried again.

use crate::capture::repository::shadow_of;
use crate::fs::room::has_room;
use crate::shadow::open::{Shadow, format_of};
use crate::shadow::sound;
use crate::wire::error::{Failure, Outcome};
use std::fs;
use std::path::{Path, PathBuf};

/// Most characters of the reason why a repository is not captured.
const REASON_MOST: usize = 300;

/// Whether another try may come to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Again,
    Never,
}

/// The shadow of a repository whose capture failed.
pub(crate) struct Ailing {
    shadow: Shadow,
}

impl Ailing {
    pub(crate) fn new(top: &Path, session: &str) -> Self {
        let git = shadow_of(top, session);
        Ailing {
            shadow: Shadow {
                top: top.to_owned(),
                format: format_of(&git).unwrap_or_default(),
                git,
            },
        }
    }

    /// Whether the disk is full, and not the repository or the shadow at fault.
    pub(crate) fn is_full(&self, failure: &Failure) -> bool {
        failure.is_full() || self.place().is_some_and(|place| !has_room(&place))
    }

    /// Where this session writes in the repository.
    fn place(&self) -> Option<PathBuf> {
        let home = self.shadow.git.parent()?.to_owned();
        [self.shadow.git.clone(), home]
            .into_iter()
            .find(|place| place.is_dir())
    }

    /// Mends the shadow. It holds nothing that is not elsewhere: after the second try it is made anew, from the files
    /// alone. That a process was killed says nothing about the shadow. One that crashed may have read a damaged pack.
    pub(crate) fn mend(&self, attempt: usize, failure: &Failure) -> Outcome<Next> {
        if matches!(failure, Failure::Obstacle(_)) || self.is_full(failure) {
            return Ok(Next::Never);
        }
        let was_killed = matches!(failure, Failure::Killed { .. });
        if was_killed && !failure.is_crash() {
            return Ok(Next::Again);
        }
        if attempt == 1 {
            sound::drop_damaged(&self.shadow)?;
        } else if !was_killed || sound::mend_packs(&self.shadow)? {
            // What cannot be removed fails the next try, which says why.
            let _ = fs::remove_dir_all(&self.shadow.git);
        }
        Ok(Next::Again)
    }

    /// Why the repository is not captured, for a person.
    pub(crate) fn reason(&self, failure: &Failure) -> String {
        let mut reason: String = failure.to_string().chars().take(REASON_MOST).collect();
        if !failure.is_full()
            && let Some(place) = self.place().filter(|place| !has_room(place))
        {
            reason = format!("there is no room left in {}: {reason}", place.display());
        }
        reason
    }
}

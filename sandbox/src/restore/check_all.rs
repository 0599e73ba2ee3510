//! The checks of all repositories, before anything of the user's is written.

use crate::fs::remove;
use crate::parallel;
use crate::restore::check::{Checked, check, problem};
use crate::restore::coming::check_coming;
use crate::restore::command::Restore;
use crate::restore::look_all::{Looks, Seen};
use crate::restore::report::refused;
use crate::shadow::open::{Shadow, format_of};
use crate::shadow::sound;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::{ProblemKind, RestoreRepository};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Whether objects may be missing, or cannot be read.
fn lacks(one: &Checked) -> bool {
    one.problems.iter().any(|problem| match problem.kind {
        ProblemKind::MissingObjects => true,
        ProblemKind::Failed => one.stand.is_none(),
        ProblemKind::Conflict | ProblemKind::Changed | ProblemKind::UnsafePath => false,
    })
}

impl Restore<'_> {
    pub(super) fn check_all(&self) -> Outcome<BTreeMap<usize, Checked>> {
        let all: Vec<usize> = (0..self.request.repositories.len()).collect();
        let mut checked = self.check_these(&all)?;
        let lacking: Vec<usize> = checked
            .iter()
            .filter(|(_, one)| lacks(one))
            .map(|(at, _)| *at)
            .collect();
        if lacking.is_empty() {
            return Ok(checked);
        }
        // Git reports the loss of objects of the present state in the same way. Those are made again from the files.
        for at in &lacking {
            if let Some(shadow) = self.shadow_of(*at) {
                sound::forget(&shadow)?;
            }
        }
        for (at, again) in self.check_these(&lacking)? {
            if let Some(stand) = again.stand.as_ref().filter(|_| !lacks(&again)) {
                let mark = stand.shadow.file("damaged");
                remove::file(&mark).context("it cannot be removed", mark)?;
            }
            checked.insert(at, again);
        }
        Ok(checked)
    }

    /// The shadow of a repository, where it has one.
    fn shadow_of(&self, at: usize) -> Option<Shadow> {
        let top = self.top_of(at);
        let git = top
            .join(".agent-shadow")
            .join(format!("session-{}", self.moving.session));
        let format = format_of(&git)?;
        Some(Shadow { top, git, format })
    }

    fn check_these(&self, which: &[usize]) -> Outcome<BTreeMap<usize, Checked>> {
        let seen = Looks {
            projects: self.projects,
            request: self.request,
            umask: None,
            which,
            target: |one| one.target.as_ref(),
        }
        .all()?;
        let seen: Mutex<BTreeMap<usize, _>> = Mutex::new(seen);
        let checked = parallel::map(which, |at| {
            let stand = seen.lock().ok().and_then(|mut seen| seen.remove(at));
            Ok((*at, self.check_one(&self.request.repositories[*at], stand)?))
        })?;
        Ok(checked.into_iter().collect())
    }

    fn check_one(&self, wanted: &RestoreRepository, stand: Option<Seen>) -> Outcome<Checked> {
        Ok(match (stand, &wanted.now, &wanted.target) {
            (None, None, Some(target)) => check_coming(&self.moving, wanted, target),
            (None, _, _) => refused(problem(
                ProblemKind::Changed,
                "the repository vanished after the capture",
            )),
            (Some(_), None, _) => refused(problem(
                ProblemKind::Changed,
                "a directory with files appeared where this repository was",
            )),
            (Some(Err(why)), Some(_), _) => refused(problem(
                ProblemKind::Failed,
                format!("the repository cannot be read as it is now: {why}"),
            )),
            (Some(Ok(stand)), Some(now), _) => {
                match check((&self.moving, self.request, &self.incoming), wanted, now, stand) {
                    Ok(checked) => checked,
                    Err(refusal @ Failure::Refused { .. }) => return Err(refusal),
                    Err(failure) => refused(problem(ProblemKind::Failed, failure.to_string())),
                }
            }
        })
    }
}

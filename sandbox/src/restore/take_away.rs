//! The way back of repositories that leave or come: what this restore wrote into one that came leaves again, and each git
//! directory returns to where it was.

use crate::apply::parking::leave_place;
use crate::fs::remove;
use crate::host::place::path_of;
use crate::restore::check::{Way, problem};
use crate::restore::command::{Restore, Results, kept};
use crate::restore::journal::Phase;
use crate::restore::look_all::Looks;
use crate::restore::plan_of::Plan;
use crate::restore::put_back::leave_late;
use crate::restore::reach::stage;
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::ProblemKind;
use bstr::BString;
use std::collections::BTreeSet;

impl Restore<'_> {
    /// Whether all of them are where they were, except for the files of those that leave. Why not is among the results.
    pub(super) fn take_away_all(&self, ready: &mut [Ready], results: &mut Results) -> Outcome<bool> {
        // Whether this can be noted or not, going back is all that is left.
        let _ = self.journal.enter(Phase::PuttingBack);
        let came: Vec<usize> = ready
            .iter()
            .filter(|one| matches!(one.checked.way, Way::Comes(_)) && one.checked.plan.is_some())
            .map(|one| one.at)
            .collect();
        let mut seen = Looks {
            projects: self.projects,
            request: self.request,
            umask: None,
            which: &came,
            target: |_| None,
        }
        .all()?;
        let mut is_away = true;
        for one in ready.iter_mut().rev() {
            let emptied = match (&one.checked.way, &one.checked.plan) {
                (Way::Comes(_), Some(forward)) => match seen.remove(&one.at) {
                    Some(Ok(stand)) => self.take_away(one.at, &stand, forward),
                    Some(Err(why)) => Err(Failure::Fault(why)),
                    None => Err(Failure::Fault("the repository vanished".into())),
                },
                (Way::Stays | Way::Leaves(_) | Way::Comes(_), _) => Ok(BTreeSet::new()),
            };
            let result = results.entry(one.at).or_default();
            result.verified = None;
            let back = emptied.and_then(|late| {
                result.problems.extend(kept(&late));
                if matches!(one.checked.way, Way::Comes(_)) {
                    // Nothing was there before, so this is of our look.
                    let path = path_of(self.request.repositories[one.at].path.0.clone());
                    let rules = self.projects.join(path).join(".agent-shadow/.gitignore");
                    remove::file(&rules).context("it cannot be removed", rules)?;
                }
                one.parking.take_back()
            });
            if let Err(failure) = back {
                is_away = false;
                let said = format!("could not be put back: {failure}");
                result.problems.push(problem(ProblemKind::Failed, said));
            }
        }
        Ok(is_away)
    }

    /// Puts aside what this restore wrote. The answer is what it did not write, which stays.
    fn take_away(&self, at: usize, stand: &Stand, forward: &Plan) -> Outcome<BTreeSet<BString>> {
        let mut plan = Plan::leave(stand)?;
        let late = leave_late(&mut plan, forward);
        plan.decide_leaving(BTreeSet::new(), BTreeSet::new());
        let staged = stage(stand, &plan, None)?.map_err(|lacking| Failure::Fault(lacking.to_string()))?;
        let aside = match &staged {
            Some(_) => Some(self.moving.aside(format!("{at}.2"), stand, &plan)?),
            None => None,
        };
        self.moving.empty_out(stand, &plan, (staged, aside.as_ref()))?;
        Ok(late)
    }

    /// The repositories came, so their places are not needed any more.
    pub(super) fn leave_places(&self, ready: &[Ready]) -> Outcome<()> {
        for one in ready {
            self.leave_place_of(one)?;
            if let Way::Comes(Some(place)) = &one.checked.way {
                leave_place(place)?;
            }
        }
        Ok(())
    }
}

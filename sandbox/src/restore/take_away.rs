//! The way back of repositories that leave or come: what this restore wrote into one that came leaves again, and each git
//! directory returns to where it was.

use crate::apply::parking::leave_place;
use crate::fs::remove;
use crate::plan::meanwhile::Meanwhile;
use crate::restore::check::Way;
use crate::restore::command::{Restore, Results};
use crate::restore::inner::depth;
use crate::restore::look_all::{Looks, Seen, When};
use crate::restore::plan_of::Plan;
use crate::restore::problem::problem;
use crate::restore::put_back::{leave_meanwhile, told};
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Work;
use crate::wire::restore::{Problem, ProblemKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn not_back(failure: &Failure) -> Problem {
    problem(ProblemKind::Failed, format!("could not be put back: {failure}"))
}

impl Restore<'_> {
    /// Takes away what came, and parks what is not to be there. What stays gets its own `.git` back. Whether all of it was done.
    /// Why not is among the results.
    pub(super) fn take_away_all(&self, ready: &mut [Ready], results: &mut Results) -> Outcome<bool> {
        let is_gone = |one: &Ready| self.request.repositories[one.at].undo.is_none();
        let came: Vec<usize> = ready
            .iter()
            .filter(|one| is_gone(one) && one.is_moved())
            .filter(|one| one.checked.plan.is_some())
            .map(|one| one.at)
            .collect();
        let mut seen = Looks {
            projects: self.projects,
            request: self.request,
            when: When::Target,
            umask: None,
            which: &came,
            target: |_| None,
            reads: self.moving.reporter.reads(Work::Files),
        }
        .all()?;
        let mut is_away = true;
        let mut order: Vec<&mut Ready> = ready.iter_mut().collect();
        order.sort_by_key(|one| Reverse(depth(&self.request.repositories[one.at])));
        for one in order {
            let goes = is_gone(one);
            let gone = match &one.checked.way {
                Way::Comes(_) if goes => self.take_away(one, seen.remove(&one.at)),
                Way::Stays | Way::Leaves(_) if goes && one.is_moved() => {
                    self.leave_again(one, seen.remove(&one.at))
                }
                Way::Stays => one.parking.take_back().map(|()| Meanwhile::default()),
                Way::Comes(_) | Way::Leaves(_) | Way::Absent => continue,
            };
            let result = results.entry(one.at).or_default();
            result.verified = None;
            match gone {
                Ok(meanwhile) => result.problems.extend(told(&meanwhile)),
                Err(failure) => {
                    is_away = false;
                    result.problems.push(not_back(&failure));
                }
            }
        }
        Ok(is_away)
    }

    /// Brings back what was parked. Whether all of it came.
    pub(super) fn unpark_all(&self, ready: &mut [Ready], results: &mut Results) -> bool {
        let mut is_back = true;
        let mut order: Vec<&mut Ready> = ready.iter_mut().collect();
        order.sort_by_key(|one| depth(&self.request.repositories[one.at]));
        for one in order {
            let returns = self.request.repositories[one.at].undo.is_some();
            if !returns || !matches!(one.checked.way, Way::Leaves(_)) {
                continue;
            }
            if let Err(failure) = one.parking.take_back() {
                is_back = false;
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(not_back(&failure));
            }
        }
        is_back
    }

    /// Takes away one that came. The answer is what this restore did not write, which stays.
    fn take_away(&self, one: &mut Ready, seen: Option<Seen>) -> Outcome<Meanwhile> {
        let meanwhile = match (&one.checked.plan, seen) {
            (None, _) => Meanwhile::default(),
            (Some(_), Some(Ok(stand))) => self.put_aside(one, &stand)?,
            (Some(_), Some(Err(why))) => return Err(why),
            (Some(_), None) => return Err(Failure::Fault("the repository vanished".into())),
        };
        // Nothing was there before, so this is of our look.
        let rules = self.top_of(one.at).join(".agent-shadow/.gitignore");
        remove::file(&rules).context("it cannot be removed", rules)?;
        one.parking.take_back()?;
        Ok(meanwhile)
    }

    /// Puts aside what this restore wrote. The answer is what it did not write, which stays.
    fn put_aside(&self, one: &Ready, stand: &Stand) -> Outcome<Meanwhile> {
        let mut plan = Plan::leave(stand)?;
        let meanwhile = leave_meanwhile(one, (stand, &mut plan), &[])?;
        plan.decide_leaving(BTreeMap::new(), BTreeSet::new());
        let staged = self
            .moving
            .stage(stand, &plan, None)?
            .map_err(|lacking| Failure::Fault(lacking.to_string()))?;
        let aside = match &staged {
            Some(_) => Some(self.moving.aside(format!("{}.2", one.at), stand, &plan)?),
            None => None,
        };
        self.moving.empty_out(stand, &plan, (staged, aside.as_ref()))?;
        Ok(meanwhile)
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

//! The way back, by the same plan and the same writer, towards the state from which the restore began. What came goes first,
//! then what stayed goes back, and then what left returns.

use crate::apply::aside::Aside;
use crate::apply::host::Moved;
use crate::parallel;
use crate::plan::files::Difference;
use crate::plan::meanwhile::Meanwhile;
use crate::plan::sidecar::USUAL_UMASK;
use crate::restore::check::Way;
use crate::restore::command::{Restore, Results};
use crate::restore::inner::Inner;
use crate::restore::journal::Phase;
use crate::restore::leaving::metas;
use crate::restore::look_all::{Looks, Seen, When};
use crate::restore::plan_of::Plan;
use crate::restore::problem::problem;
use crate::restore::prove::{Allowed, prove};
use crate::restore::put_back::{leave_meanwhile, told};
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::restore::take_away::not_back;
use crate::wire::error::{Failure, Outcome};
use crate::wire::progress::Work;
use crate::wire::restore::{ProblemKind, RestoreRepository, State, Verified};
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// What was found on the way back of one repository.
struct Returned {
    plan: Plan,
    meanwhile: Meanwhile,
    /// Files that the target has and the state before had not.
    written: BTreeSet<BString>,
    moved: Moved,
    /// The host states of a `.git` that an earlier call of the same rollback made, and that is not to be there.
    drops: Option<Vec<String>>,
}

/// By the place in the request. The error is what a person is told.
type AllReturned = BTreeMap<usize, Result<Returned, String>>;

fn undo(one: &RestoreRepository) -> Option<&State> {
    one.undo.as_ref()
}

impl Restore<'_> {
    /// Whether everything is where it was. Why not is among the results.
    pub(super) fn go_back(&self, ready: &mut [Ready], results: &mut Results) -> Outcome<bool> {
        // Whether this can be noted or not, going back is all that is left.
        let _ = self.journal.enter(Phase::PuttingBack);
        let mut is_back = self.take_away_all(ready, results)?;
        let returns = |one: &Ready| {
            let is_begun = !matches!(one.checked.way, Way::Comes(_)) || !one.parking.is_untouched();
            undo(&self.request.repositories[one.at]).is_some() && one.is_moved() && is_begun
        };
        let is_leaving = |one: &Ready| matches!(one.checked.way, Way::Leaves(_));
        let stayed = ready.iter().filter(|one| returns(one) && !is_leaving(one));
        let mut all = self.return_these(&stayed.collect::<Vec<_>>(), When::Between)?;
        for one in ready.iter_mut() {
            let Some(Ok(Returned {
                drops: Some(metas), ..
            })) = all.get(&one.at)
            else {
                continue;
            };
            if let Err(failure) = self.drop_git(one, metas) {
                is_back = false;
                results
                    .entry(one.at)
                    .or_default()
                    .problems
                    .push(not_back(&failure));
            }
        }
        is_back &= self.unpark_all(ready, results);
        let left = ready.iter().filter(|one| returns(one) && is_leaving(one));
        all.extend(self.return_these(&left.collect::<Vec<_>>(), When::Undo)?);
        let again: Vec<&Ready> = ready.iter().filter(|one| all.contains_key(&one.at)).collect();
        let after = self.look_back(&again, When::Undo, Work::Verified)?;
        Ok(self.prove_back(all, after, results)? && is_back)
    }

    /// Brings these to the state before.
    fn return_these(&self, which: &[&Ready], when: When) -> Outcome<AllReturned> {
        let mut seen = self.look_back(which, when, Work::Files)?;
        let stands: Vec<(&Ready, Option<Stand>)> = which
            .iter()
            .map(|one| (*one, seen.remove(&one.at).and_then(Result::ok)))
            .collect();
        let returned = parallel::map(&stands, |(one, stand)| {
            let done = match stand {
                Some(stand) => self.put_back(one, stand).map_err(|failure| failure.to_string()),
                None => Err("it cannot be read as it is now".to_owned()),
            };
            Ok((one.at, done))
        })?;
        Ok(returned.into_iter().collect())
    }

    fn prove_back(
        &self,
        all: AllReturned,
        mut after: BTreeMap<usize, Seen>,
        results: &mut Results,
    ) -> Outcome<bool> {
        let mut is_back = true;
        for (at, returned) in all {
            let proved = match (returned, after.remove(&at)) {
                (Ok(mut returned), Some(Ok(stand))) => {
                    let result = results.entry(at).or_default();
                    result.problems.extend(told(&returned.meanwhile));
                    let proved = self.prove_one_back(&stand, &mut returned)?.map(drop);
                    result.moved.warnings.append(&mut returned.moved.warnings);
                    proved
                }
                (Err(why), _) => Err(why),
                (Ok(_), Some(Err(why))) => Err(why.to_string()),
                (Ok(_), None) => Err("the repository vanished".to_owned()),
            };
            let result = results.entry(at).or_default();
            result.verified = None;
            if let Err(why) = proved {
                is_back = false;
                result.problems.push(problem(
                    ProblemKind::Failed,
                    format!("could not be put back: {why}"),
                ));
            }
        }
        Ok(is_back)
    }

    fn look_back(&self, which: &[&Ready], when: When, work: Work) -> Outcome<BTreeMap<usize, Seen>> {
        let mut all = BTreeMap::new();
        let mut by_umask: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for one in which {
            let plan = one.checked.plan.as_ref();
            let umask = plan.map(|plan| plan.from.sidecar.umask()).unwrap_or(USUAL_UMASK);
            by_umask.entry(umask).or_default().push(one.at);
        }
        for (umask, which) in by_umask {
            let seen = Looks {
                projects: self.projects,
                request: self.request,
                when,
                umask: Some(umask),
                which: &which,
                target: undo,
                reads: self.moving.reporter.reads(work),
            };
            all.extend(seen.all()?);
        }
        Ok(all)
    }

    fn put_back(&self, one: &Ready, stand: &Stand) -> Outcome<Returned> {
        let wanted = &self.request.repositories[one.at];
        let undo = undo(wanted).ok_or_else(|| Failure::Fault("the state to put back is not named".into()))?;
        let path = wanted.path.0.as_bstr();
        let made = Plan::make(stand, undo, &Inner::of(self.request, path, When::Undo))?;
        let mut plan =
            made.map_err(|lacks| Failure::Fault(format!("the sandbox lacks what it needs: {lacks}")))?;
        plan.comes = matches!(one.checked.way, Way::Comes(_));
        let forward: &[Difference] = match &one.checked.plan {
            Some(plan) => &plan.differences,
            None => &[],
        };
        // What others left there is theirs.
        let returning = Inner::of(self.request, path, When::Target).leave;
        let meanwhile = leave_meanwhile(one, (stand, &mut plan), &returning)?;
        plan.decide(&BTreeMap::new());
        let mut moved = Moved::default();
        if !plan.is_there() {
            let staged = self.moving.stage(stand, &plan, one.aside.as_ref())?;
            let stage = staged.map_err(|lacking| Failure::Fault(lacking.to_string()))?;
            let aside: Option<Aside> = match &stage {
                Some(_) => Some(self.moving.aside(format!("{}.2", one.at), stand, &plan)?),
                None => None,
            };
            moved = self.moving.reach(stand, &plan, (stage, aside.as_ref()))?;
        }
        let new = forward.iter().filter(|one| one.from.is_none());
        let is_dropped = !self.request.files_only && plan.drops_git(stand);
        Ok(Returned {
            drops: is_dropped.then(|| metas(stand)).transpose()?,
            plan,
            meanwhile,
            written: new.map(|one| one.path.clone()).collect(),
            moved,
        })
    }

    fn prove_one_back(&self, stand: &Stand, returned: &mut Returned) -> Outcome<Result<Verified, String>> {
        let allowed = Allowed {
            late: returned.meanwhile.files.clone(),
            back_from: Some(returned.written.clone()),
            files_only: self.request.files_only,
            allow_concurrent_writers: self.request.allow_concurrent_writers,
            is_settling: self.request.settle,
        };
        prove(stand, &returned.plan, &allowed, &mut returned.moved)
    }
}

//! The way back, by the same plan and the same writer, towards the state from which the restore began.

use crate::apply::aside::Aside;
use crate::apply::host::Moved;
use crate::parallel;
use crate::restore::check::{Way, problem};
use crate::restore::command::{Restore, Results, kept};
use crate::restore::look_all::Looks;
use crate::restore::plan_of::Plan;
use crate::restore::prove::{Allowed, prove};
use crate::restore::put_back::leave_late;
use crate::restore::reach::stage;
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::{ProblemKind, RestoreRepository, State, Verified};
use bstr::BString;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Back<'back> {
    pub(crate) restore: &'back Restore<'back>,
    pub(crate) ready: &'back [Ready],
}

/// What was found on the way back of one repository.
struct Returned {
    plan: Plan,
    late: BTreeSet<BString>,
    /// Files that the target has and the state before had not.
    written: BTreeSet<BString>,
    moved: Moved,
}

fn undo(one: &RestoreRepository) -> Option<&State> {
    one.undo.as_ref()
}

impl Back<'_> {
    /// Puts every repository back that was there and may have been touched. Whether all of them are where they were. Why not is among
    /// the results.
    pub(crate) fn all(&self, results: &mut Results) -> Outcome<bool> {
        let touched: Vec<&Ready> = self
            .ready
            .iter()
            .filter(|one| one.is_moved() && !matches!(one.checked.way, Way::Comes(_)))
            .collect();
        let mut is_back = true;
        let mut seen = self.look(&touched)?;
        let stands: Vec<(&Ready, Option<Stand>)> = touched
            .into_iter()
            .map(|one| {
                let stand = seen.remove(&one.at).and_then(Result::ok);
                (one, stand)
            })
            .collect();
        let returned = parallel::map(&stands, |(one, stand)| {
            Ok((
                one.at,
                match stand {
                    Some(stand) => self.put_back(one, stand).map_err(|failure| failure.to_string()),
                    None => Err("it cannot be read as it is now".to_owned()),
                },
            ))
        })?;
        let again: Vec<&Ready> = stands.iter().map(|(one, _)| *one).collect();
        let mut after = self.look(&again)?;
        for (at, returned) in returned {
            let proved = match (returned, after.remove(&at)) {
                (Ok(mut returned), Some(Ok(stand))) => {
                    let result = results.entry(at).or_default();
                    result.problems.extend(kept(&returned.late));
                    let proved = self.prove(&stand, &mut returned)?.map(drop);
                    result.moved.warnings.append(&mut returned.moved.warnings);
                    proved
                }
                (Err(why), _) | (Ok(_), Some(Err(why))) => Err(why),
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

    fn look(&self, which: &[&Ready]) -> Outcome<BTreeMap<usize, Result<Stand, String>>> {
        let mut all = BTreeMap::new();
        let mut by_umask: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for one in which {
            let umask = one.plan()?.from.sidecar.umask();
            by_umask.entry(umask).or_default().push(one.at);
        }
        for (umask, which) in by_umask {
            let seen = Looks {
                projects: self.restore.projects,
                request: self.restore.request,
                umask: Some(umask),
                which: &which,
                target: undo,
            };
            all.extend(seen.all()?);
        }
        Ok(all)
    }

    fn put_back(&self, one: &Ready, stand: &Stand) -> Outcome<Returned> {
        let undo = undo(&self.restore.request.repositories[one.at])
            .ok_or_else(|| Failure::Fault("the state to put back is not named".into()))?;
        let made = Plan::make(stand, undo)?;
        let mut plan =
            made.map_err(|lacks| Failure::Fault(format!("the sandbox lacks what it needs: {lacks}")))?;
        let late = leave_late(&mut plan, one.plan()?);
        plan.decide(&BTreeMap::new());
        let mut moved = Moved::default();
        if !plan.is_there() {
            let staged = stage(stand, &plan, one.aside.as_ref())?;
            let stage = staged.map_err(|lacking| Failure::Fault(lacking.to_string()))?;
            let aside: Option<Aside> = match &stage {
                Some(_) => Some(self.restore.moving.aside(format!("{}.2", one.at), stand, &plan)?),
                None => None,
            };
            moved = self.restore.moving.reach(stand, &plan, (stage, aside.as_ref()))?;
        }
        let new = one.plan()?.differences.iter().filter(|one| one.from.is_none());
        Ok(Returned {
            plan,
            late,
            written: new.map(|one| one.path.clone()).collect(),
            moved,
        })
    }

    fn prove(&self, stand: &Stand, returned: &mut Returned) -> Outcome<Result<Verified, String>> {
        let allowed = Allowed {
            late: returned.late.clone(),
            back_from: Some(returned.written.clone()),
            files_only: self.restore.request.files_only,
            company: self.restore.request.company,
            is_settling: self.restore.request.settle.is_some(),
        };
        prove(stand, &returned.plan, &allowed, &mut returned.moved)
    }
}

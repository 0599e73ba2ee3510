//! The proof of all repositories of a restore, those of one umask in one look.

use crate::restore::check::{Way, problem};
use crate::restore::command::{Restore, Results};
use crate::restore::look_all::Looks;
use crate::restore::prove::prove;
use crate::restore::ready::Ready;
use crate::wire::error::Outcome;
use crate::wire::restore::{ProblemKind, Verified};
use std::collections::BTreeMap;

impl Restore<'_> {
    pub(super) fn prove_all(&self, ready: &[Ready], results: &mut Results) -> Outcome<()> {
        let mut by_umask: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for one in ready {
            if matches!(one.checked.way, Way::Leaves(_)) {
                continue;
            }
            let plan = one.plan()?;
            if plan.is_there() {
                // This call has just looked at it.
                let result = results.entry(one.at).or_default();
                result.verified = Some(Verified {
                    tree: plan.goal.tree.clone(),
                    meta: plan.goal.meta.clone(),
                    apart: Vec::new(),
                });
            } else {
                let umask = plan.to.sidecar.umask();
                by_umask.entry(umask).or_default().push(one.at);
            }
        }
        for (umask, which) in by_umask {
            let mut seen = Looks {
                projects: self.projects,
                request: self.request,
                umask: Some(umask),
                which: &which,
                target: |one| one.target.as_ref(),
            }
            .all()?;
            for one in ready.iter().filter(|one| which.contains(&one.at)) {
                let result = results.entry(one.at).or_default();
                let proved = match seen.remove(&one.at) {
                    None => Err("the repository vanished while it was restored".to_owned()),
                    Some(Err(why)) => Err(why),
                    Some(Ok(stand)) => prove(&stand, one.plan()?, &one.allowed, &mut result.moved)?,
                };
                match proved {
                    Ok(verified) => result.verified = Some(verified),
                    Err(why) => result.problems.push(problem(ProblemKind::Failed, why)),
                }
            }
        }
        Ok(())
    }
}

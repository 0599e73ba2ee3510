//! The proof of all repositories of a restore, those of one umask in one look.

use crate::restore::check::Way;
use crate::restore::command::{Restore, Results};
use crate::restore::look_all::{Looks, When};
use crate::restore::problem::{failed, problem};
use crate::restore::prove::prove;
use crate::restore::ready::Ready;
use crate::wire::error::Outcome;
use crate::wire::progress::Work;
use crate::wire::restore::{ProblemKind, Verified};
use std::collections::BTreeMap;

impl Restore<'_> {
    pub(super) fn prove_all(&self, ready: &[Ready], results: &mut Results) -> Outcome<()> {
        let mut by_umask: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for one in ready {
            if matches!(one.checked.way, Way::Leaves(_) | Way::Absent) {
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
            let those = || ready.iter().filter(|one| which.contains(&one.at));
            let taken = those()
                .filter_map(|one| Some((self.request.repositories[one.at].path.0.clone(), one.taken()?)));
            let mut seen = Looks {
                projects: self.projects,
                request: self.request,
                when: When::Target,
                umask: Some(umask),
                which: &which,
                target: |one| one.target.as_ref(),
                reads: self.moving.reporter.reads(Work::Verified),
            }
            .all_after(taken.collect())?;
            for one in those() {
                let result = results.entry(one.at).or_default();
                let unproved = |why: String| problem(ProblemKind::Failed, why);
                let proved = match seen.remove(&one.at) {
                    None => Err(unproved("the repository vanished while it was restored".into())),
                    Some(Err(why)) => Err(failed(&why)),
                    Some(Ok(stand)) => {
                        prove(&stand, one.plan()?, &one.allowed, &mut result.moved)?.map_err(unproved)
                    }
                };
                match proved {
                    Ok(verified) => result.verified = Some(verified),
                    Err(problem) => result.problems.push(problem),
                }
            }
        }
        Ok(())
    }
}

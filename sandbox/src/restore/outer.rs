//! A repository that others have left from inside. What lies in their places belongs to it now, and was not looked at with it.

use crate::apply::beneath::Beneath;
use crate::plan::sidecar::{Listed, Sidecar};
use crate::restore::captured::{Captured, paths_in};
use crate::restore::check::Way;
use crate::restore::command::{Restore, Results};
use crate::restore::inner::holds_any;
use crate::restore::look_all::{Looks, Seen, When};
use crate::restore::plan_of::Plan;
use crate::restore::problem::failed;
use crate::restore::prove::is_unseen;
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Work;
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;

impl Restore<'_> {
    /// Gives the modes of the target to what is in the places of those that left.
    pub(super) fn look_around(&self, ready: &[Ready], results: &mut Results) -> Outcome<()> {
        let left: Vec<usize> = ready
            .iter()
            .filter(|one| matches!(one.checked.way, Way::Leaves(_)))
            .map(|one| one.at)
            .collect();
        let around: Vec<&Ready> = ready
            .iter()
            .filter(|one| matches!(one.checked.way, Way::Stays) && holds_any(self.request, one.at, &left))
            .collect();
        if around.is_empty() {
            return Ok(());
        }
        let which: Vec<usize> = around.iter().map(|one| one.at).collect();
        let mut seen = Looks {
            projects: self.projects,
            request: self.request,
            when: When::Target,
            umask: None,
            which: &which,
            target: |_| None,
            reads: self.moving.reporter.reads(Work::Files),
        }
        .all()?;
        for one in around {
            if let Err(failure) = self.set_modes(one.plan()?, seen.remove(&one.at)) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(failed(&failure));
            }
        }
        Ok(())
    }

    fn set_modes(&self, plan: &Plan, seen: Option<Seen>) -> Outcome<()> {
        let vanished = || Failure::Fault("the repository vanished while it was restored".into());
        let stand = seen.unwrap_or_else(|| Err(vanished()))?;
        let now = modes_now(&stand, plan)?;
        let top = &stand.shadow.top;
        let tree = Beneath::new(top).context("it cannot be opened", top)?;
        self.moving.move_sidecar(&stand, (plan, &now), &tree)
    }
}

/// The modes of now. What no capture holds keeps its own.
fn modes_now(stand: &Stand, plan: &Plan) -> Outcome<Sidecar> {
    let mut objects = stand.shadow.batch();
    let now = Captured::just_made(&mut objects, &stand.meta.to_string())?;
    let mut now = now.sidecar.outside(&plan.others);
    let listed = now.modes.iter();
    let files: Vec<BString> = listed
        .filter(|(_, mode)| matches!(mode, Listed::File(_)))
        .map(|(path, _)| path.clone())
        .collect();
    let there = paths_in(&stand.shadow, &plan.goal.tree, &files)?;
    let there: BTreeSet<BString> = there.into_iter().collect();
    now.modes.retain(|path, mode| match mode {
        Listed::File(_) => there.contains(path),
        Listed::Directory(_) => !is_unseen(&plan.unseen, path.as_bstr()),
    });
    now.empty.clone_from(&plan.to.sidecar.empty);
    Ok(now)
}

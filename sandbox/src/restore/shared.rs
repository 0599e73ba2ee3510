//! Which of the linked worktrees of one repository decides about each branch.

use crate::apply::host::refs::captured;
use crate::plan::shared::{Wanted, left};
use crate::restore::check::{Checked, Way};
use crate::restore::command::Restore;
use std::collections::BTreeMap;

impl Restore<'_> {
    /// On the way back nobody decides, because what was captured of them agrees.
    pub(super) fn decide_shared(&self, checked: &mut BTreeMap<usize, Checked>) {
        if self.request.files_only {
            return;
        }
        let wanted = checked.iter().filter_map(|(at, one)| Some((*at, wanted(one)?)));
        let (places, wanted): (Vec<usize>, Vec<Wanted>) = wanted.unzip();
        for (at, left) in places.into_iter().zip(left(&wanted)) {
            if let Some(plan) = checked.get_mut(&at).and_then(|one| one.plan.as_mut()) {
                plan.left = left;
            }
        }
    }
}

fn wanted(one: &Checked) -> Option<Wanted> {
    let (Way::Stays, Some(plan), Some(stand)) = (&one.way, &one.plan, &one.stand) else {
        return None;
    };
    let host = stand.reading.host.as_ref()?;
    let to = &plan.to.host;
    to.head.is_known().then(|| Wanted {
        common: host.common.clone(),
        is_main: host.git == host.common,
        head: to.head.name.clone(),
        refs: captured(&to.refs),
    })
}

//! Repositories that lie around others come before those, because only then it is known to whom a directory belongs.

use crate::apply::beneath::Beneath;
use crate::apply::sidecar::act;
use crate::plan::above;
use crate::plan::sidecar::{Change, Listed};
use crate::restore::check::Way;
use crate::restore::command::{Restore, Results};
use crate::restore::inner::{Inner, depth};
use crate::restore::look_all::When;
use crate::restore::problem::failed;
use crate::restore::ready::Ready;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, ByteSlice};
use std::collections::BTreeSet;

impl Restore<'_> {
    /// Brings repositories to their target, those around others first. Nothing more comes after a failure.
    pub(super) fn come_all(&self, ready: &mut [Ready], results: &mut Results) -> Outcome<()> {
        let depths: BTreeSet<usize> = ready
            .iter()
            .filter(|one| matches!(one.checked.way, Way::Comes(_)))
            .map(|one| depth(&self.request.repositories[one.at]))
            .collect();
        for depth in depths {
            self.come_at(depth, ready, results)?;
            if results.values().any(|one| !one.problems.is_empty()) {
                return Ok(());
            }
        }
        for one in ready.iter() {
            if let Err(failure) = self.set_modes_above(one) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(failed(&failure));
            }
        }
        Ok(())
    }

    /// A directory that holds nothing but repositories inside this one was not there before they came.
    fn set_modes_above(&self, one: &Ready) -> Outcome<()> {
        let inner = Inner::of(
            self.request,
            self.request.repositories[one.at].path.0.as_bstr(),
            When::Target,
        )
        .goal;
        let Some(plan) = one.checked.plan.as_ref().filter(|_| !inner.is_empty()) else {
            return Ok(());
        };
        let directories: BTreeSet<&BStr> = inner.iter().flat_map(|path| above(path.as_bstr())).collect();
        let listed = plan.to.sidecar.modes.iter();
        let steps: Vec<Change> = listed
            .filter(|(path, mode)| {
                matches!(mode, Listed::Directory(_)) && directories.contains(path.as_bstr())
            })
            .map(|(path, mode)| Change::SetMode(path.clone(), *mode))
            .collect();
        let top = self.top_of(one.at);
        let tree = Beneath::new(&top).context("it cannot be opened", top)?;
        act(&tree, &steps, &plan.to.sidecar)
    }
}

//! The way back of a repository that was there when the restore began, and is not to be there: an earlier call of the same
//! rollback had made it. It is parked.

use crate::plan::meanwhile::Meanwhile;
use crate::restore::check::Way;
use crate::restore::command::Restore;
use crate::restore::leaving::Leaving;
use crate::restore::look_all::Seen;
use crate::restore::plan_of::Plan;
use crate::restore::put_back::leave_meanwhile;
use crate::restore::ready::Ready;
use crate::wire::error::{Failure, Outcome};
use std::collections::{BTreeMap, BTreeSet};

impl Restore<'_> {
    /// The answer is what neither the target nor the state of before has: it appeared meanwhile, and stays.
    pub(super) fn leave_again(&self, one: &mut Ready, seen: Option<Seen>) -> Outcome<Meanwhile> {
        // What is parked already is not found.
        let Some(seen) = seen else {
            return Ok(Meanwhile::default());
        };
        let stand = seen?;
        let mut plan = Plan::leave(&stand)?;
        let meanwhile = leave_meanwhile(one, (&stand, &mut plan), &[])?;
        plan.decide_leaving(BTreeMap::new(), BTreeSet::new());
        let staged = self
            .moving
            .stage(&stand, &plan, None)?
            .map_err(|lacking| Failure::Fault(lacking.to_string()))?;
        let aside = match &staged {
            Some(_) => Some(self.moving.aside(format!("{}.2", one.at), &stand, &plan)?),
            None => None,
        };
        let leaving = match &one.checked.way {
            Way::Leaves(leaving) => leaving.clone(),
            Way::Stays | Way::Comes(_) | Way::Absent => Leaving::default(),
        };
        let ready = (staged, aside.as_ref());
        self.moving
            .park((&stand, &plan), &leaving, ready, &mut one.parking)?;
        Ok(meanwhile)
    }
}

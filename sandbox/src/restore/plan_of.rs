//! The plan of one repository: from how it stands to a captured state.

use crate::git::batch::Batch;
use crate::plan::files::{self, Difference, Summary, summary};
use crate::plan::keep::{Why, staying};
use crate::restore::captured::{Captured, differences, is_in};
use crate::restore::stand::Stand;
use crate::scan::names::Names;
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::State;
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Plan {
    /// The state to come to.
    pub(crate) goal: State,
    pub(crate) from: Captured,
    pub(crate) to: Captured,
    /// What lies in these directories belongs to others, now or then.
    pub(crate) others: Vec<BString>,
    pub(crate) differences: Vec<Difference>,
    pub(crate) stays: BTreeMap<BString, Why>,
    pub(crate) summary: Summary,
    /// What only the rules of before ignored, when others come back. A directory ends with a slash.
    pub(crate) unseen: Names,
    pub(crate) changes: Vec<files::Change>,
}

/// Why there is no plan: what is lacking in the sandbox, in words.
pub(crate) type Lacks = String;

impl Plan {
    /// Nothing is decided yet about what stays.
    pub(crate) fn make(stand: &Stand, goal: &State) -> Outcome<Result<Self, Lacks>> {
        let shadow = &stand.shadow;
        let mut objects = Batch::open(&shadow.top, &shadow.git)?;
        let from = Captured::read(&mut objects, &stand.meta.to_string())?
            .ok_or_else(|| Failure::Fault("the host state that was just made cannot be read".into()))?;
        let Some(to) = Captured::read(&mut objects, &goal.meta)? else {
            return Ok(Err(format!("the host state {} is not here", goal.meta)));
        };
        let all = match differences(shadow, &stand.tree.to_string(), &goal.tree)? {
            Ok(all) => all,
            Err(said) => return Ok(Err(said)),
        };
        let others: Vec<BString> = stand.others.iter().chain(&to.held).cloned().collect();
        let own = all
            .into_iter()
            .filter(|one| !is_in(one.path.as_bstr(), &others))
            .collect();
        let mut plan = Plan {
            goal: goal.clone(),
            from,
            to,
            others,
            differences: own,
            stays: BTreeMap::new(),
            summary: Summary::default(),
            unseen: Names::default(),
            changes: Vec::new(),
        };
        plan.from.sidecar = std::mem::take(&mut plan.from.sidecar).outside(&plan.others);
        plan.to.sidecar = std::mem::take(&mut plan.to.sidecar).outside(&plan.others);
        plan.summary = summary(&plan.differences);
        Ok(Ok(plan))
    }

    /// Decides it, for these reasons.
    pub(crate) fn decide(&mut self, reasons: &BTreeMap<BString, Why>) {
        let empty = &self.to.sidecar.empty;
        self.stays = staying(&self.differences, reasons, empty);
        let stays: BTreeSet<BString> = self.stays.keys().cloned().collect();
        self.summary.deleted -= stays.len();
        self.changes = files::changes(&self.differences, &stays, empty);
    }

    /// Whether nothing has to be done.
    pub(crate) fn is_there(&self) -> bool {
        self.differences.is_empty() && self.from.meta == self.to.meta
    }

    /// The entries of what is put aside.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&BString, files::Content)> {
        let old = self.differences.iter();
        old.filter_map(|one| Some((&one.path, one.from?)))
    }
}

//! What happens beside the files of one repository, as a person is told.

use crate::apply::host::refs::Expected;
use crate::host::head::Target;
use crate::read::host_change::{self, host_change};
use crate::restore::check::Checking;
use crate::restore::plan_of::Plan;
use crate::wire::error::Outcome;
use crate::wire::host_change::{BranchChange, HostChange};
use crate::wire::name::Name;
use bstr::{BString, ByteSlice};

impl Checking<'_> {
    pub(super) fn host(&mut self, plan: &Plan) -> Outcome<Option<HostChange>> {
        let stand = self.stand;
        let Some(host) = &stand.reading.host else {
            return Ok(None);
        };
        if plan.from.meta == plan.to.meta || !plan.to.host.head.is_known() {
            return Ok(None);
        }
        let shadow = host_change::Shadow {
            directory: &stand.shadow.top,
            git: &stand.shadow.git,
            empty_tree: stand.shadow.format.empty_tree(),
        };
        let found = host_change(&shadow, &plan.from.meta, &plan.to.meta)?;
        let settings = self.moving.settings(stand);
        let expected = self.moving.host_move(stand, plan, (host, &settings)).expected()?;
        let mut change = found.unwrap_or_default();
        adjust(&mut change, &expected);
        if self.is_dry_run() {
            // Otherwise they are told when it is done.
            self.warnings.extend(expected.moved.warnings);
        }
        Ok((!change.is_empty()).then_some(change))
    }
}

/// The refs that stay do not change. One that is no branch may move with HEAD.
fn adjust(change: &mut HostChange, expected: &Expected) {
    let full = |name: &Name| BString::from([b"refs/heads/", &name.0[..]].concat());
    change
        .branches
        .retain(|branch| !expected.moved.left.contains(&full(&branch.name)));
    let Some(other) = &expected.other else { return };
    let (from, to) = (expected.have.get(other), expected.want.get(other));
    if from != to {
        change.branches.push(BranchChange {
            name: Name(other.clone()),
            from: from.map(shown),
            to: to.map(shown),
            // What nothing else holds there is not counted.
            commits_left: from.is_none().then_some(0),
        });
        change.branches.sort_by(|one, next| {
            let key = |branch: &BranchChange| {
                let name = &branch.name.0;
                if name.starts_with(b"refs/") {
                    name.clone()
                } else {
                    full(&branch.name)
                }
            };
            key(one).cmp(&key(next))
        });
    }
}

fn shown(target: &Target) -> Name {
    match target {
        Target::Commit(commit) => Name(commit.as_bytes().as_bstr().to_owned()),
        Target::Symbolic(name) => Name(name.clone()),
    }
}

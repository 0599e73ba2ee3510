//! What happens beside the files of one repository, as a person is told.

use crate::apply::host::refs::Expected;
use crate::host::head::Target;
use crate::read::host_change::{self, Unread, host_change};
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
        let found = host_change(&shadow, &plan.from.meta, &plan.to.meta, Unread::IsReplaced)?;
        let settings = self.moving.settings(stand);
        let moving = self.moving.host_move(stand, plan, (host, &settings));
        let expected = moving.expected()?;
        let mut change = found.unwrap_or_default();
        adjust(&mut change, &expected, |commit| {
            host_change::commits_left(&shadow, commit, &plan.to.host)
        })?;
        if self.is_dry_run() {
            // Otherwise they are told when it is done.
            self.warnings.extend(moving.told_of_broken(&expected));
            self.warnings.extend(expected.moved.warnings);
        }
        Ok((!change.is_empty()).then_some(change))
    }
}

/// The refs that stay do not change. One that is no branch may move with HEAD.
fn adjust(
    change: &mut HostChange,
    expected: &Expected,
    left: impl Fn(&str) -> Outcome<Option<u64>>,
) -> Outcome<()> {
    let full = |name: &Name| BString::from([b"refs/heads/", &name.0[..]].concat());
    change
        .branches
        .retain(|branch| !expected.moved.left.contains(&full(&branch.name)));
    let Some(other) = &expected.other else {
        return Ok(());
    };
    let (from, to) = (expected.have.get(other), expected.want.get(other));
    if from != to {
        change.branches.push(BranchChange {
            name: Name(other.clone()),
            from: from.map(shown),
            to: to.map(shown),
            commits_left: match from {
                Some(Target::Commit(commit)) => left(commit)?,
                Some(Target::Symbolic(_)) | None => Some(0),
            },
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
    Ok(())
}

fn shown(target: &Target) -> Name {
    match target {
        Target::Commit(commit) => Name(commit.as_bytes().as_bstr().to_owned()),
        Target::Symbolic(name) => Name(name.clone()),
    }
}

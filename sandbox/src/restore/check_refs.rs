//! Whether the host state of one repository can be brought to that of the target.

use crate::host::links;
use crate::host::place::Host;
use crate::host::reading::HeadKind;
use crate::host::waits::{WAITS_WHY, in_refs};
use crate::restore::check::Checking;
use crate::restore::owner;
use crate::restore::plan_of::Plan;
use crate::wire::error::Outcome;
use crate::wire::restore::ProblemKind;

const REFS: [&str; 5] = [
    "refs/heads",
    "refs/bisect",
    "refs/remotes",
    "refs/tags",
    "logs/refs/heads",
];

impl Checking<'_> {
    /// Whether git can move HEAD and branches. A commit that is gone does not count: the target brings its own. A file that
    /// git does not understand is replaced.
    fn can_refs_move(&self, plan: &Plan, host: &Host) -> Outcome<bool> {
        if self.stand.reading.kind != HeadKind::Unreadable {
            return Ok(true);
        }
        let settings = self.moving.settings(self.stand);
        let moving = self.moving.host_move(self.stand, plan, (host, &settings));
        Ok(moving.is_head_broken() || moving.expected().is_ok())
    }

    pub(super) fn is_host_safe(&mut self, plan: &Plan) -> Outcome<bool> {
        let Some(host) = &self.stand.reading.host else {
            return Ok(true);
        };
        if plan.to.host.head.kind == "none" {
            return Ok(true);
        }
        if !owner::may_be_its_own(&self.stand.shadow, host, &plan.to.host)? {
            self.refuse(
                ProblemKind::UnsafePath,
                "it is a linked worktree of another repository than the one of the checkpoint: remove it with git worktree remove",
            );
            return Ok(false);
        }
        if plan.from.meta == plan.to.meta {
            return Ok(true);
        }
        if let Some(file) = in_refs(host, &REFS) {
            self.refuse(
                ProblemKind::UnsafePath,
                format!("{} {WAITS_WHY}: remove it", file.display()),
            );
            return Ok(false);
        }
        if let Some(said) = links::leads_away(host, self.moving.projects) {
            self.refuse(ProblemKind::UnsafePath, said);
            return Ok(false);
        }
        if !self.can_refs_move(plan, host)? {
            self.refuse(ProblemKind::Failed, "HEAD or the branches cannot be read");
            return Ok(false);
        }
        Ok(true)
    }
}

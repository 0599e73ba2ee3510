//! The plan of one repository: from how it stands to a captured state.

use crate::fs::remove;
use crate::fs::text::slurp;
use crate::git::batch::Batch;
use crate::git::process::Git;
use crate::plan::files::{self, Content, Difference, Summary, summary};
use crate::plan::keep::{Why, staying};
use crate::read::captured::part;
use crate::restore::captured::{Captured, differences, is_in};
use crate::restore::stand::Stand;
use crate::scan::names::Names;
use crate::shadow::home::write_if_other;
use crate::wire::error::{Context, Failure, Outcome};
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
    /// What was captured of files that other processes have written since.
    pub(crate) since: BTreeMap<BString, Content>,
    pub(crate) stays: BTreeMap<BString, Why>,
    pub(crate) summary: Summary,
    /// What only the rules of before ignored, when others come back. A directory ends with a slash.
    pub(crate) unseen: Names,
    pub(crate) changes: Vec<files::Change>,
    /// Branches about which another linked worktree decides.
    pub(crate) left: BTreeSet<BString>,
    /// The boundary of a shallow clone, where the repository lost it.
    pub(crate) boundary: Option<Vec<u8>>,
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
        Ok(Ok(Plan::of(stand, goal.clone(), (from, to), all)))
    }

    /// To nothing: the target does not have this repository.
    pub(crate) fn leave(stand: &Stand) -> Outcome<Self> {
        let shadow = &stand.shadow;
        let mut objects = Batch::open(&shadow.top, &shadow.git)?;
        let from = Captured::read(&mut objects, &stand.meta.to_string())?
            .ok_or_else(|| Failure::Fault("the host state that was just made cannot be read".into()))?;
        let goal = State {
            tree: shadow.format.empty_tree().to_owned(),
            meta: String::new(),
        };
        let all = differences(shadow, &stand.tree.to_string(), &goal.tree)?
            .map_err(|said| Failure::Fault(format!("its files cannot be listed: {said}")))?;
        Ok(Plan::of(stand, goal, (from, Captured::default()), all))
    }

    fn of(stand: &Stand, goal: State, (from, to): (Captured, Captured), all: Vec<Difference>) -> Self {
        let others: Vec<BString> = stand.others.iter().chain(&to.held).cloned().collect();
        let own = all
            .into_iter()
            .filter(|one| !is_in(one.path.as_bstr(), &others))
            .collect();
        let mut plan = Plan {
            goal,
            from,
            to,
            others,
            differences: own,
            since: BTreeMap::new(),
            stays: BTreeMap::new(),
            summary: Summary::default(),
            unseen: Names::default(),
            changes: Vec::new(),
            left: BTreeSet::new(),
            boundary: None,
        };
        plan.from.sidecar = std::mem::take(&mut plan.from.sidecar).outside(&plan.others);
        plan.to.sidecar = std::mem::take(&mut plan.to.sidecar).outside(&plan.others);
        plan.summary = summary(&plan.differences);
        plan
    }

    /// Decides that these files and directories stay when all others leave.
    pub(crate) fn decide_leaving(&mut self, files: BTreeSet<BString>, directories: BTreeSet<BString>) {
        self.summary.deleted -= files.len();
        self.changes = files::changes(&self.differences, &files, &directories);
        self.to.sidecar.empty = directories;
        self.stays = files.into_iter().map(|path| (path, Why::Before)).collect();
    }

    /// Decides it, for these reasons.
    pub(crate) fn decide(&mut self, reasons: &BTreeMap<BString, Why>) {
        let empty = &self.to.sidecar.empty;
        self.stays = staying(&self.differences, reasons, empty);
        let stays: BTreeSet<BString> = self.stays.keys().cloned().collect();
        self.summary.deleted -= stays.len();
        self.changes = files::changes(&self.differences, &stays, empty);
    }

    /// What of the host state of the target is missing, in git's words.
    pub(crate) fn lacks(&self, stand: &Stand) -> Outcome<Option<Lacks>> {
        let shadow = &stand.shadow;
        let git = Git::on_shadow(&shadow.top, &shadow.git).args(["rev-list", "--objects", "--quiet"]);
        let is_partial = stand.reading.base.as_ref().is_some_and(|base| base.partial);
        let git = if is_partial {
            // The history of a partial clone was never whole.
            git.arg(&self.goal.tree)
        } else {
            let tree = stand.tree.to_string();
            git.args([&self.goal.tree, &self.goal.meta, "--not", &tree, &self.from.meta])
        };
        let answer = git.run_to_its_end()?;
        Ok((!answer.status.success()).then(|| answer.why()))
    }

    /// The same up to the boundary of a shallow clone that the target has and the repository lost. It comes back then.
    pub(crate) fn lacks_in_boundary(&mut self, stand: &Stand) -> Outcome<Option<Lacks>> {
        let Some(lacks) = self.lacks(stand)? else {
            return Ok(None);
        };
        let shadow = &stand.shadow;
        let lost = stand.reading.host.as_ref().is_some_and(|host| {
            let here = slurp(&host.common.join("shallow"));
            here.is_empty()
        });
        let mut objects = Batch::open(&shadow.top, &shadow.git)?;
        let boundary = part(&mut objects, &self.to.host.parts, "shallow")?;
        if !lost || boundary.is_empty() {
            return Ok(Some(lacks));
        }
        let file = shadow.file("shallow");
        write_if_other(&file, &boundary).context("it cannot be written", &file)?;
        let lacks = self.lacks(stand)?;
        if lacks.is_some() {
            remove::file(&file).context("it cannot be removed", file)?;
        } else {
            self.boundary = Some(boundary.into());
        }
        Ok(lacks)
    }

    /// Whether there is no `.git` that can be used, and the target has one.
    pub(crate) fn makes_git(&self, stand: &Stand) -> bool {
        stand.reading.host.is_none() && self.to.host.head.is_known()
    }

    /// Whether there is a `.git`, and the target has none.
    pub(crate) fn drops_git(&self, stand: &Stand) -> bool {
        stand.reading.host.is_some() && self.to.host.head.kind == "none"
    }

    /// Whether nothing has to be done.
    pub(crate) fn is_there(&self) -> bool {
        self.differences.is_empty() && self.from.meta == self.to.meta
    }

    /// The entries of what is put aside. What was written since they were captured is a late write.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&BString, Content)> {
        let old = self.differences.iter();
        old.filter_map(|one| {
            let from = one.from?;
            Some((&one.path, *self.since.get(&one.path).unwrap_or(&from)))
        })
    }
}

//! The plan of one repository: from how it stands to a captured state.

use crate::fs::remove;
use crate::fs::text::slurp;
use crate::git::present::present;
use crate::git::process::Git;
use crate::plan::files::{self, Content, Difference, Summary, summary};
use crate::plan::keep::{Why, staying};
use crate::read::captured::{commits_of, part};
use crate::restore::captured::{Captured, differences, is_in, lacking};
use crate::restore::inner::Inner;
use crate::restore::stand::Stand;
use crate::scan::names::Names;
use crate::shadow::home::write_if_other;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::State;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Plan {
    /// The state to come to.
    pub(crate) goal: State,
    pub(crate) from: Captured,
    pub(crate) to: Captured,
    /// What lies in these directories belongs to others at the state to come to.
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
    /// The history of a partial clone was never whole.
    pub(crate) is_partial: bool,
    /// A repository inside it leaves or comes, so what lies there was not looked at with it.
    pub(crate) is_around: bool,
    /// It comes, so its host state moves even where files alone are restored.
    pub(crate) comes: bool,
}

/// Why there is no plan: what is lacking in the sandbox, in words.
pub(crate) type Lacks = String;

/// What belongs to a repository of what differs. What a repository that comes holds is not among the files of the one around
/// it, which may have others in its place now.
fn own(mut one: Difference, others: &[BString], comes: &[BString]) -> Option<Difference> {
    if is_in(one.path.as_bstr(), others) {
        return None;
    }
    if is_in(one.path.as_bstr(), comes) {
        one.to = None;
        one.from?;
    }
    Some(one)
}

impl Plan {
    /// Nothing is decided yet about what stays.
    pub(crate) fn make(stand: &Stand, goal: &State, inner: &Inner) -> Outcome<Result<Self, Lacks>> {
        let shadow = &stand.shadow;
        let mut objects = shadow.batch();
        let from = Captured::just_made(&mut objects, &stand.meta.to_string())?;
        let to = match Captured::find(&mut objects, &goal.meta)? {
            Ok(to) => to,
            Err(lacks) => return Ok(Err(lacks)),
        };
        let all = match differences(shadow, &stand.tree.to_string(), &goal.tree)? {
            Ok(all) => all,
            Err(said) => return Ok(Err(said)),
        };
        Ok(Ok(Plan::of(stand, goal.clone(), (from, to), (all, inner))))
    }

    /// To nothing: the target does not have this repository.
    pub(crate) fn leave(stand: &Stand) -> Outcome<Self> {
        let shadow = &stand.shadow;
        let mut objects = shadow.batch();
        let from = Captured::just_made(&mut objects, &stand.meta.to_string())?;
        let goal = State {
            tree: shadow.format.empty_tree().to_owned(),
            meta: String::new(),
        };
        let all = differences(shadow, &stand.tree.to_string(), &goal.tree)?
            .map_err(|said| Failure::Fault(format!("its files cannot be listed: {said}")))?;
        let inner = Inner::default();
        Ok(Plan::of(stand, goal, (from, Captured::default()), (all, &inner)))
    }

    fn of(
        stand: &Stand,
        goal: State,
        (from, to): (Captured, Captured),
        (all, inner): (Vec<Difference>, &Inner),
    ) -> Self {
        let held = stand.held.iter().map(|(path, _)| path).chain(&to.held);
        let stays = stand.nested.iter().filter(|path| !inner.leave.contains(*path));
        let others: Vec<BString> = held.chain(stays).cloned().collect();
        let comes: Vec<BString> = inner
            .goal
            .iter()
            .filter(|path| !others.contains(path))
            .cloned()
            .collect();
        let own: Vec<_> = all
            .into_iter()
            .filter_map(|one| own(one, &others, &comes))
            .collect();
        let from_others = others.clone();
        let others = [others, comes].concat();
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
            is_partial: stand.reading.base.as_ref().is_some_and(|base| base.partial),
            is_around: false,
            comes: false,
        };
        plan.from.sidecar = std::mem::take(&mut plan.from.sidecar).outside(&from_others);
        plan.to.sidecar = std::mem::take(&mut plan.to.sidecar).outside(&plan.others);
        plan.summary = summary(&plan.differences);
        plan
    }

    /// Decides that these files and directories stay when all others leave.
    pub(super) fn decide_leaving(&mut self, stays: BTreeMap<BString, Why>, directories: BTreeSet<BString>) {
        let files: BTreeSet<BString> = stays.keys().cloned().collect();
        self.summary = summary(&self.differences);
        self.summary.deleted -= files.len();
        self.changes = files::changes(&self.differences, &files, &directories);
        self.to.sidecar.empty = directories;
        self.stays = stays;
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
        let git = if self.is_partial {
            git.arg(&self.goal.tree)
        } else {
            let tree = stand.tree.to_string();
            git.args([&self.goal.tree, &self.goal.meta, "--not", &tree, &self.from.meta])
        };
        let lacks = lacking(&git.run_to_its_end()?)?;
        if lacks.is_some() || !self.is_partial {
            return Ok(lacks);
        }
        // But the commits that a capture names were there.
        let mut objects = shadow.batch();
        let named = commits_of(&mut objects, &self.goal.meta)?;
        let there = present(&shadow.git, named.iter().copied())?;
        let gone = named.into_iter().find(|id| !there.contains(id));
        Ok(gone.map(|id| format!("the object {id} is missing")))
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
        let mut objects = shadow.batch();
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

    /// Whether what stands at this path goes.
    pub(crate) fn takes_away(&self, path: &BStr) -> bool {
        let gone = self.differences.iter().filter(|one| one.to.is_none());
        let mut gone = gone.filter(|one| !self.stays.contains_key(&one.path));
        gone.any(|one| one.path == path)
    }

    /// Whether nothing has to be done.
    pub(crate) fn is_there(&self) -> bool {
        self.differences.is_empty() && self.from.meta == self.to.meta && !self.is_around
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

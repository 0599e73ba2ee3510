//! What stays where a repository leaves from inside another one: the files that the one around it has in the target and brings
//! back itself, and those that it may have had there unseen.

use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::fs::text::{first_line, slurp};
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::plan::keep::{Why, staying_beside};
use crate::restore::captured::files_of;
use crate::restore::check::{Checked, Way};
use crate::restore::check_paths::told_of_kept;
use crate::restore::command::Restore;
use crate::restore::exposed;
use crate::restore::inner::{depth, outer};
use crate::restore::plan_of::Plan;
use crate::restore::rules_then::RulesThen;
use crate::restore::stand::Stand;
use crate::scan::names::{Names, split};
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl Restore<'_> {
    /// Decides what stays of each repository that leaves. All others were checked, so it is known what those around them bring.
    pub(super) fn decide_leaving_all(&self, checked: &mut BTreeMap<usize, Checked>) -> Outcome<()> {
        let mut leaving: Vec<usize> = checked
            .iter()
            .filter(|(_, one)| matches!(one.way, Way::Leaves(_)))
            .map(|(at, _)| *at)
            .collect();
        leaving.sort_by_key(|at| std::cmp::Reverse(depth(&self.request.repositories[*at])));
        for at in &leaving {
            let Some(mut one) = checked.remove(at) else {
                continue;
            };
            let decided = self.decide_leaving(*at, &mut one, checked);
            checked.insert(*at, one);
            decided?;
        }
        for (at, one) in checked.iter_mut() {
            if let Some(plan) = one.plan.as_mut().filter(|_| matches!(one.way, Way::Stays)) {
                let moving = self.request.repositories.iter().enumerate();
                let moving = moving
                    .filter(|(_, one)| one.now.is_some() != one.target.is_some())
                    .map(|(place, _)| place);
                plan.is_around =
                    crate::restore::inner::holds_any(self.request, *at, &moving.collect::<Vec<_>>());
            }
        }
        Ok(())
    }

    fn decide_leaving(
        &self,
        at: usize,
        one: &mut Checked,
        others: &mut BTreeMap<usize, Checked>,
    ) -> Outcome<()> {
        let Checked {
            stand: Some(stand),
            plan: Some(plan),
            way: Way::Leaves(leaving),
            warnings,
            ..
        } = one
        else {
            return Ok(());
        };
        let around = outer(self.request, at).and_then(|(around, below)| {
            let around = others.get(&around)?;
            Some((around.stand.as_ref()?, around.plan.as_ref()?, below))
        });
        let Some((outer_stand, outer_plan, below)) = around else {
            let told = self.moving.decide_beside(self.request, (stand, plan), leaving);
            warnings.extend(told);
            return Ok(());
        };
        let spare = Spare {
            stand,
            plan,
            outer: (outer_stand, outer_plan),
            below: [&below[..], b"/"].concat().into(),
            include: self.request.include.iter().map(|name| name.0.clone()).collect(),
        };
        let stays = spare.stays()?;
        warnings.extend(told_of_kept(&stays));
        let unseen = exposed::unseen(stand)?;
        let unseen: Vec<BString> = unseen
            .iter()
            .filter(|path| *path != ".agent-shadow/")
            .map(BString::from)
            .chain(stays.keys().cloned())
            .collect();
        plan.decide_leaving(stays, BTreeSet::new());
        for around in others.values_mut() {
            if let (Some(outer), Some(plan)) = (&around.stand, &mut around.plan)
                && let Some(below) =
                    crate::capture::held::relative(stand.path.as_bstr(), outer.path.as_bstr())
            {
                let known = plan.unseen.iter().map(BString::from);
                let inside = unseen
                    .iter()
                    .map(|path| BString::from([below.as_bytes(), b"/", &path[..]].concat()));
                plan.unseen = Names::new(known.chain(inside).collect());
            }
        }
        Ok(())
    }
}

struct Spare<'spare> {
    stand: &'spare Stand,
    plan: &'spare Plan,
    /// The repository around it, which the target has.
    outer: (&'spare Stand, &'spare Plan),
    /// Where this one is in it. Ends with a slash.
    below: BString,
    include: Vec<BString>,
}

impl Spare<'_> {
    fn whole(&self, path: &BStr) -> BString {
        [&self.below[..], path.as_bytes()].concat().into()
    }

    /// The paths that stay, with the reasons.
    fn stays(&self) -> Outcome<BTreeMap<BString, Why>> {
        let (outer, goal) = (self.outer.0, &self.outer.1.goal);
        let mine: Vec<BString> = self
            .plan
            .differences
            .iter()
            .map(|one| self.whole(one.path.as_bstr()))
            .collect();
        let mut reasons = BTreeMap::new();
        if !self.was_made_in_empty() {
            let then = self.outer.1.to.left_out.iter();
            reasons.extend(then.map(|path| (path.clone(), Why::TooLarge)));
            let ignored = self.ignored_then(&mine)?;
            reasons.extend(ignored.into_iter().map(|path| (path, Why::IgnoredThen)));
        }
        let theirs = files_of(&outer.shadow, &goal.tree)?
            .ok_or_else(|| Failure::Fault("the files of the repository around it cannot be listed".into()))?;
        reasons.extend(theirs.iter().map(|path| (path.clone(), Why::Around)));
        let comes = theirs.iter().map(|path| path.as_bstr()).collect();
        let gone = mine.iter().map(|path| path.as_bstr());
        let stays = staying_beside(gone, &comes, &reasons, &BTreeSet::new());
        let inside = stays.into_iter().filter_map(|(path, why)| {
            let path = path.strip_prefix(&self.below[..])?;
            Some((BString::from(path), why))
        });
        Ok(inside.collect())
    }

    /// Whether it was made where nothing was, so that all of its files came with it or later: by `git worktree add`, by `git
    /// clone`, or by a restore.
    fn was_made_in_empty(&self) -> bool {
        let Some(host) = &self.stand.reading.host else {
            return false;
        };
        let log = slurp(&host.git.join("logs/HEAD"));
        host.git != host.common
            || kind(&self.stand.shadow.file("in-empty")) == Some(Kind::File)
            || first_line(log.as_bstr()).contains_str("\tclone: from ")
    }

    /// Those of these paths that the rules of the repository around it ignored. What its index tracked is not ignored, nor is
    /// what the session asks for by name.
    fn ignored_then(&self, mine: &[BString]) -> Outcome<HashSet<BString>> {
        let (outer, plan) = self.outer;
        let rules = RulesThen::with_inner(outer, &plan.goal.tree)?;
        rules.add_hiding_of(self.stand, &self.plan.differences, self.below.as_bstr())?;
        let mut ignored = rules.ignored(mine)?;
        if ignored.is_empty() {
            return Ok(ignored);
        }
        if let Some(index) = plan.to.part("index") {
            let tracked = files_of(&outer.shadow, index)?
                .ok_or_else(|| Failure::Fault("the index of the checkpoint cannot be listed".into()))?;
            let tracked = Names::new(tracked);
            ignored.retain(|path| !tracked.contains(path.as_bstr()));
        }
        let included = self.included()?;
        ignored.retain(|path| !included.contains(path.as_bstr()));
        Ok(ignored)
    }

    /// What the session asks for by name, by paths in the repository around it.
    fn included(&self) -> Outcome<Names> {
        if self.include.is_empty() {
            return Ok(Names::default());
        }
        let shadow = &self.stand.shadow;
        let index = shadow.file("inside-index");
        remove::file(&index).context("it cannot be removed", &index)?;
        let git = || {
            Git::on_shadow(&shadow.top, &shadow.git)
                .env("GIT_WORK_TREE", &shadow.top)
                .env("GIT_INDEX_FILE", &index)
        };
        let prefix = [b"--prefix=", &self.below[..]].concat();
        let read = git()
            .arg("read-tree")
            .arg(path_of(prefix.into()))
            .arg(self.stand.tree.to_string())
            .run_to_its_end()?;
        let listed = git()
            .args(["--glob-pathspecs", "ls-files", "-z", "-c", "--"])
            .args(self.include.iter().map(|pattern| path_of(pattern.clone())))
            .run_to_its_end()?;
        remove::file(&index).context("it cannot be removed", &index)?;
        match (read.ok(), listed.ok()) {
            (Some(_), Some(list)) => Ok(Names::new(split(list).map(BString::from).collect())),
            _ => Err(Failure::Fault(format!(
                "git could not list what is included: {} {}",
                read.why(),
                listed.why()
            ))),
        }
    }
}

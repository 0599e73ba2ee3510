//! A repository that only the target has, and that was parked: it comes back with its own git directory, and is moved to the
//! target then.

use crate::apply::host::Moved;
use crate::apply::parking::{Parking, find_place};
use crate::fs::kind::{Kind, kind};
use crate::fs::text::{path_in, slurp};
use crate::host::links;
use crate::host::place::{self, Host, path_of};
use crate::host::stash;
use crate::restore::check::{Checked, Way, problem};
use crate::restore::command::{Restore, Results};
use crate::restore::leaving::is_vacant;
use crate::restore::look_all::{Looks, Seen};
use crate::restore::plan_of::Plan;
use crate::restore::reach::{Moving, stage};
use crate::restore::ready::Ready;
use crate::restore::report::refused;
use crate::scan::discover::parents;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::{ProblemKind, RestoreRepository, State};
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Why a repository that comes cannot be moved to its target.
enum Stopped {
    Lacks(String),
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Stopped::Failed(failure)
    }
}

/// Checks a repository of which nothing is there.
pub(super) fn check_coming(moving: &Moving<'_>, wanted: &RestoreRepository, target: &State) -> Checked {
    let path = &wanted.path.0;
    let at = |part: &bstr::BStr| moving.projects.join(path_of(part.to_owned()));
    let bar = parents(path.as_bstr())
        .chain([path.as_bstr()])
        .find(|part| kind(&at(part)).is_some_and(|kind| kind != Kind::Directory));
    if let Some(bar) = bar {
        let said =
            b" is a file or a symlink, where this repository was or a directory above it: move it away";
        return refused(problem(ProblemKind::UnsafePath, [bar.as_bytes(), said].concat()));
    }
    let place = find_place(moving.projects, moving.session, path.as_bstr(), &target.meta);
    let Some(place) = place.filter(|place| kind(&place.join("git")).is_some()) else {
        return refused(problem(
            ProblemKind::MissingObjects,
            "it is not among the parked repositories",
        ));
    };
    let mut checked = Checked::without_look(Way::Comes(place.clone()));
    checked
        .warnings
        .extend(lost_stash(&place, &at(path.as_bstr()), wanted));
    checked
}

/// What it had stashed that does not come with it.
fn lost_stash(place: &Path, top: &Path, wanted: &RestoreRepository) -> Option<BString> {
    let host = parked_host(place, top);
    let now = host.as_ref().map(stash::all).unwrap_or_default();
    let lost: Vec<&str> = wanted
        .stash
        .iter()
        .filter(|id| !now.contains(id))
        .map(String::as_str)
        .collect();
    if lost.is_empty() {
        return None;
    }
    let lost = lost.join(" ");
    let said = if host.is_some() {
        format!(
            "the stash is in no checkpoint, and these of its entries are gone since: {lost}. \"git stash apply ID\" brings one back while git has it"
        )
    } else {
        format!("the stash is in no checkpoint, and these of its entries do not come with it: {lost}")
    };
    Some(said.into())
}

/// The repository at a place, as git will find it from its working tree.
fn parked_host(place: &Path, top: &Path) -> Option<Host> {
    let git = place.join("git");
    if place.join("worktree").is_dir() {
        let common = common_of_worktree(&worktree_of(place))?;
        return common.join("objects").is_dir().then_some(Host { git, common });
    }
    if kind(&git) == Some(Kind::Directory) {
        return place::with_common(git);
    }
    let line = path_in(&git)?;
    let named = path_of(BString::from(line.strip_prefix(b"gitdir: ")?.as_bstr()));
    place::with_common(top.join(named))
}

fn worktree_of(place: &Path) -> PathBuf {
    path_of(slurp(&place.join("worktree-of")))
}

/// The git directory that notes about this worktree lie in.
fn common_of_worktree(notes: &Path) -> Option<PathBuf> {
    Some(notes.parent()?.parent()?.to_owned())
}

impl Restore<'_> {
    /// Brings parked repositories back, and moves them to their target.
    pub(super) fn come_all(&self, ready: &mut [Ready], results: &mut Results) -> Outcome<()> {
        let mut which = Vec::new();
        for one in ready.iter_mut() {
            let Way::Comes(place) = &one.checked.way else {
                continue;
            };
            let path = &self.request.repositories[one.at].path.0;
            let top = self.projects.join(path_of(path.clone()));
            match unpark(&self.moving, place, &top, &mut one.parking) {
                Ok(()) => which.push(one.at),
                Err(stopped) => self.stop(one.at, stopped, results),
            }
        }
        let mut seen = Looks {
            projects: self.projects,
            request: self.request,
            umask: None,
            which: &which,
            target: |one| one.target.as_ref(),
        }
        .all()?;
        for one in ready.iter_mut().filter(|one| which.contains(&one.at)) {
            match self.come(one, seen.remove(&one.at)) {
                Ok(moved) => results.entry(one.at).or_default().moved = moved,
                Err(stopped) => self.stop(one.at, stopped, results),
            }
        }
        Ok(())
    }

    fn stop(&self, at: usize, stopped: Stopped, results: &mut Results) {
        let problem = match stopped {
            Stopped::Lacks(said) => problem(ProblemKind::MissingObjects, said),
            Stopped::Failed(failure) => problem(ProblemKind::Failed, failure.to_string()),
        };
        results.entry(at).or_default().problems.push(problem);
    }

    fn come(&self, one: &mut Ready, seen: Option<Seen>) -> Result<Moved, Stopped> {
        let Some(target) = &self.request.repositories[one.at].target else {
            return Ok(Moved::default());
        };
        let stand = seen
            .unwrap_or_else(|| Err("what was parked is no repository any more".into()))
            .map_err(Failure::Fault)?;
        if is_vacant(&stand.shadow.top) {
            let mark = stand.shadow.file("in-empty");
            fs::write(&mark, b"").context("it cannot be written", mark)?;
        }
        let mut plan = Plan::make(&stand, target)?.map_err(Stopped::Lacks)?;
        let appeared: Vec<String> = plan
            .differences
            .iter()
            .filter(|one| one.from.is_some())
            .take(5)
            .map(|one| one.path.to_string())
            .collect();
        if !appeared.is_empty() {
            let said = format!("these appeared meanwhile: {}", appeared.join(" "));
            return Err(Failure::Fault(said).into());
        }
        if let Some(lacks) = plan.lacks(&stand)? {
            return Err(Stopped::Lacks(lacks));
        }
        plan.decide(&BTreeMap::new());
        let staged = stage(&stand, &plan, None)?.map_err(|lacking| Stopped::Lacks(lacking.to_string()))?;
        let aside = match &staged {
            Some(_) => Some(self.moving.aside(format!("{}.1", one.at), &stand, &plan)?),
            None => None,
        };
        // From here on the way back knows what may have been written.
        one.aside = aside;
        let plan = one.checked.plan.insert(plan);
        let stand = one.checked.stand.insert(stand);
        if plan.is_there() {
            return Ok(Moved::default());
        }
        Ok(self.moving.reach(stand, plan, (staged, one.aside.as_ref()))?)
    }
}

/// Brings back the git directory, the shadow, and what a repository notes about its worktree. What was done is in `parking`,
/// also when it fails.
fn unpark(moving: &Moving<'_>, place: &Path, top: &Path, parking: &mut Parking) -> Result<(), Stopped> {
    parking.make(top)?;
    let ours = top.join(".agent-shadow");
    let shadow = ours.join(format!("session-{}", moving.session));
    if kind(&place.join("shadow")) == Some(Kind::Directory) && kind(&shadow).is_none() {
        parking.make(&ours)?;
        parking.rename(&place.join("shadow"), &shadow)?;
    }
    if place.join("worktree").is_dir() {
        let notes = worktree_of(place);
        if let (Some(all), Some(common)) = (notes.parent(), common_of_worktree(&notes))
            && common.is_dir()
            && kind(&notes).is_none()
        {
            parking.make(all)?;
            parking.rename(&place.join("worktree"), &notes)?;
        }
    }
    parking.rename(&place.join("git"), &top.join(".git"))?;
    let is_usable = place::find(top).is_ok_and(|host| links::leads_away(&host, moving.projects).is_none());
    if !is_usable {
        return Err(Stopped::Lacks("git cannot use what was parked any more".into()));
    }
    Ok(())
}

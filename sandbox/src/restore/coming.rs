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
pub(super) enum Stopped {
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
    if is_taken(&at(path.as_bstr())) {
        let said = "a directory with files appeared where this repository was";
        return refused(problem(ProblemKind::Changed, said));
    }
    let place = find_place(moving.projects, moving.session, path.as_bstr(), &target.meta)
        .filter(|place| kind(&place.join("git")).is_some());
    if place.is_none() && wanted.bundles.is_empty() {
        let said = "it is not among the parked repositories";
        return refused(problem(ProblemKind::MissingObjects, said));
    }
    let host = place
        .as_ref()
        .and_then(|place| parked_host(place, &at(path.as_bstr())));
    let mut checked = Checked::without_look(Way::Comes(place));
    checked.warnings.extend(lost_stash(host, wanted));
    checked
}

/// Whether a directory holds something that is not ours, or cannot be read.
fn is_taken(directory: &Path) -> bool {
    match fs::read_dir(directory) {
        Ok(mut entries) => entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != ".agent-shadow")),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// What it had stashed that does not come with it.
fn lost_stash(host: Option<Host>, wanted: &RestoreRepository) -> Option<BString> {
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
            let Way::Comes(place) = one.checked.way.clone() else {
                continue;
            };
            let came = match place {
                Some(place) => self.unpark_or_make(one, &place),
                None => self.make(one),
            };
            match came {
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

    /// One that git cannot use any more stays parked.
    fn unpark_or_make(&self, one: &mut Ready, place: &Path) -> Result<(), Stopped> {
        let top = self.top_of(one.at);
        match unpark(&self.moving, place, &top, &mut one.parking) {
            Err(Stopped::Lacks(_)) if !self.request.repositories[one.at].bundles.is_empty() => {
                one.parking.take_back()?;
                one.checked.way = Way::Comes(None);
                self.make(one)
            }
            other => other,
        }
    }

    fn make(&self, one: &mut Ready) -> Result<(), Stopped> {
        let target = self.request.repositories[one.at].target.as_ref();
        let target = target.ok_or_else(|| Failure::Fault("a repository that comes has no target".into()))?;
        self.make_from_bundles(one, target, &self.top_of(one.at))
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

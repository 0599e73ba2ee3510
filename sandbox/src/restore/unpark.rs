//! Brings a parked repository back: its git directory, its shadow, and what another one notes about its worktree.

use crate::apply::parking::Parking;
use crate::capture::carried::Part;
use crate::fs::kind::{Kind, kind};
use crate::fs::text::{path_in, slurp};
use crate::host::links;
use crate::host::place::{self, Host, path_of};
use crate::restore::coming::Stopped;
use crate::restore::reach::Moving;
use crate::wire::error::Outcome;
use bstr::{BString, ByteSlice};
use std::path::{Component, Path, PathBuf};

/// The repository at a place, as git will find it from its working tree.
pub(super) fn parked_host(place: &Path, top: &Path) -> Option<Host> {
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
    place::with_common(straight(&top.join(named)))
}

/// The directory of the working tree may not be there, so what is beside it is not found by way of it.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            straight.pop();
        } else {
            straight.push(part);
        }
    }
    straight
}

fn worktree_of(place: &Path) -> PathBuf {
    path_of(slurp(&place.join("worktree-of")))
}

/// The git directory that notes about this worktree lie in.
fn common_of_worktree(notes: &Path) -> Option<PathBuf> {
    Some(notes.parent()?.parent()?.to_owned())
}

/// Brings back what a repository notes about its worktree, where that one is parked with its notes.
pub(super) fn bring_worktree(place: &Path, parking: &mut Parking) -> Outcome<()> {
    if place.join("worktree").is_dir() {
        let notes = worktree_of(place);
        if let (Some(all), Some(common)) = (notes.parent(), common_of_worktree(&notes))
            && common.is_dir()
            && kind(&notes).is_none()
        {
            parking.make(all)?;
            parking.bring(Part::Worktree, place, &notes)?;
        }
    }
    Ok(())
}

/// Brings back the git directory, the shadow, and what a repository notes about its worktree. What was done is in `parking`,
/// also when it fails.
pub(super) fn unpark(
    moving: &Moving<'_>,
    place: &Path,
    top: &Path,
    parking: &mut Parking,
) -> Result<(), Stopped> {
    parking.make(top)?;
    let ours = top.join(".agent-shadow");
    let shadow = ours.join(format!("session-{}", moving.session));
    if kind(&place.join("shadow")) == Some(Kind::Directory) && kind(&shadow).is_none() {
        parking.make(&ours)?;
        parking.bring(Part::Shadow, place, &shadow)?;
    }
    bring_worktree(place, parking)?;
    parking.bring(Part::Git, place, &top.join(".git"))?;
    let is_usable = place::find(top).is_ok_and(|host| links::leads_away(&host, moving.projects).is_none());
    if !is_usable {
        return Err(Stopped::Lacks("git cannot use what was parked any more".into()));
    }
    Ok(())
}

//! The checks of a repository of which nothing is there, and where it is parked.

use crate::apply::parking::find_place;
use crate::fs::kind::{Kind, kind};
use crate::host::place::{Host, path_of};
use crate::host::stash;
use crate::restore::check::{Checked, Way};
use crate::restore::problem::problem;
use crate::restore::reach::Moving;
use crate::restore::report::refused;
use crate::restore::unpark::parked_host;
use crate::scan::discover::parents;
use crate::wire::restore::{ProblemKind, RestoreRepository, State};
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::path::Path;

/// Checks a repository of which nothing is there. `goes`: whether a file or a link is put aside before it comes.
pub(super) fn check_coming(
    moving: &Moving<'_>,
    wanted: &RestoreRepository,
    target: &State,
    goes: impl Fn(&BStr) -> bool,
) -> Checked {
    let path = &wanted.path.0;
    let at = |part: &bstr::BStr| moving.projects.join(path_of(part.to_owned()));
    let bar = parents(path.as_bstr())
        .chain([path.as_bstr()])
        .find(|part| kind(&at(part)).is_some_and(|kind| kind != Kind::Directory));
    if let Some(bar) = bar.filter(|bar| !goes(bar)) {
        let said =
            b" is a file or a symlink, where this repository was or a directory above it: move it away";
        return refused(problem(ProblemKind::UnsafePath, [bar.as_bytes(), said].concat()));
    }
    if bar.is_none() && is_taken(&at(path.as_bstr())) {
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

//! The directories command: entries of some directories, without what git ignores.

use crate::git::process::Git;
use crate::host::{place, waits};
use crate::wire::error::Outcome;
use crate::wire::name::Name;
use crate::wire::read::{DirectoriesReport, DirectoriesRequest, Listing};
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Lists directories below the projects root.
pub(crate) fn directories(root: &Path, request: &DirectoriesRequest) -> Outcome<DirectoriesReport> {
    let list = |path: &Name| listing(root, path, request.max_entries);
    Ok(DirectoriesReport {
        directories: request.paths.iter().map(list).collect::<Outcome<_>>()?,
    })
}

/// A missing directory has no entries.
fn listing(root: &Path, path: &Name, most: usize) -> Outcome<Listing> {
    let directory = root.join(OsStr::from_bytes(&path.0));
    let (names, unsure) = match tracked_or_not_ignored(&directory)? {
        Some(names) => (names, false),
        None => all_entries(&directory),
    };
    let truncated = unsure || names.len() > most;
    Ok(Listing {
        path: path.clone(),
        entries: names.into_iter().take(most).map(Name).collect(),
        truncated,
    })
}

/// What git lists, where this is the top of a repository that it can read.
fn tracked_or_not_ignored(directory: &Path) -> Outcome<Option<BTreeSet<BString>>> {
    let Ok(host) = place::find(directory) else {
        return Ok(None);
    };
    if waits::in_rules(directory, &host).is_some() {
        return Ok(None);
    }
    let list = || {
        Git::on_host(directory, &host.git)
            .work_tree(directory)
            .args(["ls-files", "-z", "-c", "-o", "--exclude-standard"])
            .run_to_its_end()
    };
    // Tried twice, because a failure may be one of the system.
    let first = list().ok().filter(|answer| answer.ok().is_some());
    let answer = match first {
        Some(answer) => answer,
        None => list()?,
    };
    Ok(answer.ok().map(|listed| {
        let names = listed.split_str("\0").filter(|name| !name.is_empty());
        names
            .map(|name| BString::from(name.find_byte(b'/').map_or(name, |at| &name[..=at])))
            .collect()
    }))
}

/// Every entry, and whether some may be missing because they could not be read.
fn all_entries(directory: &Path) -> (BTreeSet<BString>, bool) {
    let mut names = BTreeSet::new();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return (names, error.kind() == std::io::ErrorKind::PermissionDenied),
    };
    let mut unsure = false;
    for entry in entries {
        let Ok(entry) = entry else {
            unsure = true;
            continue;
        };
        let mut name = entry.file_name().into_vec();
        if name == b".agent-shadow" {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            name.push(b'/');
        }
        names.insert(BString::from(name));
    }
    (names, unsure)
}

//! Keeps a path from being in two repositories at once. What one side has in a repository, the other side may have as files of
//! the repository around it. No restore would write these, so they are conflicts.

use crate::fs::kind::{Kind, kind};
use crate::git::id::Id;
use crate::host::place::path_of;
use crate::merge::conflicts::Conflict;
use crate::merge::objects::Objects;
use crate::merge::trouble::{Done, Trouble};
use crate::shadow::open::Shadow;
use crate::shadow::scratch::{Place, shadow_of};
use crate::wire::compose::{ComposeRepository, Inside, Side};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files that are named.
const NAMED_MOST: usize = 5;

/// The merged tree, and those of the sides that the request names.
pub(crate) struct Trees {
    pub(crate) merged: Id,
    pub(crate) now: Option<Id>,
    pub(crate) change: Option<Id>,
}

/// Files of the merged tree that lie in a repository inside. A capture that was made before a rollback may have such files in
/// both, so those that the tree of that side has as well are left alone.
pub(crate) fn in_two(objects: &mut Objects, inside: &[Inside], trees: &Trees) -> Done<Vec<Conflict>> {
    let mut conflicts = Vec::new();
    for Inside { path, side } in inside {
        let files = objects.below(&trees.merged, path.0.as_bstr())?;
        if files.is_empty() {
            continue;
        }
        let tree = match side {
            Side::Now => trees.now,
            Side::Change => trees.change,
        };
        let twice: BTreeSet<BString> = match tree {
            Some(tree) => objects.below(&tree, path.0.as_bstr())?.into_iter().collect(),
            None => BTreeSet::new(),
        };
        for file in files.into_iter().filter(|file| !twice.contains(file)) {
            let message = [
                &path.0[..],
                b" is a repository of its own on one side, and the other side has this file of the repository around it there",
            ];
            conflicts.push(Conflict::new(file, "repository", message.concat()));
        }
    }
    Ok(conflicts)
}

/// The path in the repository around it.
fn within<'path>(outer: &BStr, path: &'path BStr) -> Option<&'path BStr> {
    if outer == path {
        return None;
    }
    if outer == "." {
        return Some(path);
    }
    path.strip_prefix(outer.as_bytes())?
        .strip_prefix(b"/")
        .map(ByteSlice::as_bstr)
}

/// The innermost repository around a new one that is in the sandbox.
fn around<'all>(
    all: &'all [ComposeRepository],
    path: &'all BStr,
) -> Option<(&'all ComposeRepository, &'all BStr)> {
    all.iter()
        .filter(|other| !other.is_new)
        .filter_map(|other| Some((other, within(other.known.path.0.as_bstr(), path)?)))
        .min_by_key(|(_, rest)| rest.len())
}

/// A conflict when something that no capture holds stands where a new repository is to come. What the repository around it has
/// there is in its own capture.
pub(crate) fn occupied(
    place: &Place<'_>,
    top: &Path,
    all: &[ComposeRepository],
    repository: &ComposeRepository,
) -> Done<Option<Conflict>> {
    let directory = place.projects.join(path_of(place.path.to_owned()));
    if kind(&directory).is_none() {
        return Ok(None);
    }
    let held = match around(all, place.path) {
        None => BTreeSet::new(),
        Some((outer, inner)) => held_by(place, top, outer, inner)?,
    };
    let mut found = Vec::new();
    let is_free = |path: &BString| {
        let is_inside = |one: &Inside| within(one.path.0.as_bstr(), path.as_bstr()).is_some();
        !repository.inside.iter().any(is_inside) && !held.contains(path)
    };
    look(&directory, &BString::default(), &is_free, &mut found)?;
    if found.is_empty() {
        return Ok(None);
    }
    let message = [
        &b"the other side made it where files are that no checkpoint of this side holds: "[..],
        &bstr::join(" ", &found),
    ];
    Ok(Some(Conflict::new(".", "repository", message.concat())))
}

/// What the outer repository has in this directory, as paths in it.
fn held_by(
    place: &Place<'_>,
    top: &Path,
    outer: &ComposeRepository,
    inner: &BStr,
) -> Done<BTreeSet<BString>> {
    let path = outer.known.path.0.as_bstr();
    let git = shadow_of(&Place { path, ..*place })
        .ok_or_else(|| Trouble::Said("the shadow of the repository around it cannot be read".into()))?;
    let shadow = Shadow {
        top: top.to_owned(),
        git,
        format: outer.object_format.into(),
    };
    let mut objects = Objects::open(&shadow)?;
    let tree = id_of(&outer.known.tree)?;
    let files = objects.below(&tree, inner)?;
    Ok(files
        .iter()
        .filter_map(|file| within(inner, file.as_bstr()))
        .map(BString::from)
        .collect())
}

pub(crate) fn id_of(text: &str) -> Done<Id> {
    Id::from_hex(text.as_bytes()).ok_or_else(|| Trouble::Said(format!("{text} is no id")))
}

/// Files below a directory, or it itself, that are free. Git directories, and ours, are not looked into.
fn look(
    path: &Path,
    name: &BString,
    is_free: &impl Fn(&BString) -> bool,
    found: &mut Vec<BString>,
) -> Outcome<()> {
    if kind(path) != Some(Kind::Directory) {
        let named = if name.is_empty() {
            BString::from(".")
        } else {
            name.clone()
        };
        if is_free(&named) {
            found.push(named);
        }
        return Ok(());
    }
    let listed = fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = listed.context("it cannot be listed", path)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let last = entry.file_name();
        if last == ".git" || last == ".agent-shadow" {
            continue;
        }
        if found.len() == NAMED_MOST {
            return Ok(());
        }
        let inner = if name.is_empty() {
            BString::from(last.as_bytes())
        } else {
            [&name[..], b"/", last.as_bytes()].concat().into()
        };
        look(&entry.path(), &inner, is_free, found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(path: &str, is_new: bool) -> ComposeRepository {
        let text = serde_json::json!({
            "known": { "path": path, "commit": "", "tree": "", "meta": "", "base": null, "baseCommit": null, "next": "append", "isGone": false },
            "isNew": is_new, "isEntered": false, "objectFormat": "sha1", "isPartial": false,
            "inside": [{ "path": "in", "side": "now" }], "steps": [], "paths": [], "bundles": [],
        });
        serde_json::from_value(text).expect("it is a repository")
    }

    #[test]
    fn the_innermost_repository_around_a_path_is_found() {
        let all = [
            repository(".", false),
            repository("a", false),
            repository("a/b", true),
            repository("ab", false),
        ];
        let found = around(&all, BStr::new("a/b/c"))
            .map(|(one, rest)| (one.known.path.0.to_string(), rest.to_string()));
        assert_eq!(found, Some(("a".into(), "b/c".into())));
        let found = around(&all, BStr::new("x")).map(|(one, _)| one.known.path.0.to_string());
        assert_eq!(found, Some(".".into()));
        assert!(around(&all[1..], BStr::new("x")).is_none());
    }

    #[test]
    fn what_no_capture_holds_is_in_the_way() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let directory = top.path().join("r");
        for path in ["in", "deep/.git", ".agent-shadow"] {
            fs::create_dir_all(directory.join(path)).expect("a directory");
        }
        let place = Place {
            projects: top.path(),
            session: "s",
            path: BStr::new("r"),
        };
        let one = repository("r", true);
        let all = std::slice::from_ref(&one);
        assert_eq!(
            occupied(&place, top.path(), all, &one).expect("it is looked at"),
            None
        );
        for path in ["in/x", "deep/y", "deep/.git/z"] {
            fs::write(directory.join(path), "").expect("a file");
        }
        let found = occupied(&place, top.path(), all, &one).expect("it is looked at");
        let message = "the other side made it where files are that no checkpoint of this side holds: deep/y";
        assert_eq!(found, Some(Conflict::new(".", "repository", message)));
    }
}

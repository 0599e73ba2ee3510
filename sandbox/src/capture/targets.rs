//! What stands uncaptured where a restore would write (C2).

use crate::fs::kind::{Kind, kind};
use crate::git::id::Id;
use crate::git::process::{Answered, Git};
use crate::host::place::path_of;
use crate::scan::names::{Names, split};
use crate::shadow::open::{Shadow, quoted};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Paths that were captured once and are ignored by now, each ended by NUL.
const OUTLAWED: &str = "outlawed";

/// Remembers paths that were captured in the look before, and are not captured any more because they are ignored.
pub(crate) fn remember_outlawed(shadow: &Shadow, paths: Vec<BString>) -> Outcome<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let file = shadow.file(OUTLAWED);
    let known = fs::read(&file).unwrap_or_default();
    let all = Names::new(split(&known).map(BString::from).chain(paths).collect());
    let list: Vec<u8> = all
        .iter()
        .flat_map(|path| [path.as_bytes(), b"\0"].concat())
        .collect();
    let part = shadow.file("outlawed.part");
    let written = || fs::write(&part, list).and_then(|()| fs::rename(&part, &file));
    written().context("the list of ignored files cannot be written", &file)
}

/// How what is here compares with a target.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// Uncaptured files and links that its restore would overwrite.
    pub(crate) in_the_way: Names,
    /// It has paths that the capture does not have.
    pub(crate) has_more: bool,
}

/// Directories of objects of what was parked from this path.
pub(crate) fn parked_objects(projects: &Path, session: &str, root: &BStr) -> Vec<PathBuf> {
    let name = format!("{:x}", Sha256::digest(root));
    let parking = projects
        .join(".agent-shadow")
        .join(format!("parked-{session}"))
        .join(&name[..16]);
    let places = fs::read_dir(parking).into_iter().flatten().flatten();
    places
        .flat_map(|place| ["shadow", "git"].map(|kind| place.path().join(kind).join("objects")))
        .collect()
}

/// Compares with a target. The shadow that has it may be parked. A target that is not here yet cannot be compared: it is
/// brought in first, and then this is asked again.
pub(crate) fn collisions(
    shadow: &Shadow,
    now: Id,
    target: &str,
    others: &[BString],
    parked: &[PathBuf],
) -> Outcome<Option<Compared>> {
    let now = now.to_string();
    if now == target {
        return Ok(Some(Compared::default()));
    }
    let mut answer = added(shadow, &now, target, &[])?;
    if answer.ok().is_none() && !parked.is_empty() {
        answer = added(shadow, &now, target, parked)?;
    }
    let Some(list) = answer.ok() else {
        return Ok(None);
    };
    let added = list
        .split_str("\0")
        .filter(|path| !path.is_empty())
        .map(|path| path.as_bstr());
    let is_of_another = |path: &BStr| {
        others.iter().any(|other| {
            path.strip_prefix(&other[..])
                .is_some_and(|rest| rest.starts_with(b"/"))
        })
    };
    let mut seen: HashMap<BString, bool> = HashMap::new();
    let outlawed = fs::read(shadow.file(OUTLAWED)).unwrap_or_default();
    let mut found: HashSet<BString> = HashSet::new();
    for path in added.filter(|path| !is_of_another(path)) {
        if let Some(place) = in_the_place(shadow, path, &mut seen) {
            found.insert(place);
        } else if kind_at(shadow, path) == Some(Kind::Directory) {
            // A file of the target takes the directory's place. A file in it that was captured before it was ignored is
            // captured once more. A file that was never stored stands in the way.
            let below = [path.as_bytes(), b"/"].concat();
            let inside = split(&outlawed).filter(|one| one.starts_with(&below));
            found.extend(
                inside
                    .filter(|one| is_file_or_link(shadow, one))
                    .map(BString::from),
            );
        }
    }
    Ok(Some(Compared {
        in_the_way: Names::new(found.into_iter().collect()),
        has_more: !list.is_empty(),
    }))
}

/// What the target has and this tree does not.
fn added(shadow: &Shadow, now: &str, target: &str, stores: &[PathBuf]) -> Outcome<Answered> {
    let mut git = Git::on_shadow(&shadow.top, &shadow.git);
    if !stores.is_empty() {
        let names: Vec<BString> = stores
            .iter()
            .map(|store| quoted(store.as_os_str().as_bytes().as_bstr()))
            .collect();
        git = git.env(
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            path_of(BString::from(bstr::join(":", names))),
        );
    }
    let answer = git
        .args([
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--diff-filter=A",
            "--no-renames",
            now,
            target,
        ])
        .run_to_its_end()?;
    Ok(answer)
}

/// Notes that what this tree has and the capture of this tag does not have was not there, ignored or not.
pub(crate) fn note_sought(shadow: &Shadow, tag: &str, tree: &str) -> Outcome<()> {
    let file = shadow.file("sought");
    let open = OpenOptions::new().append(true).create(true).open(&file);
    open.and_then(|mut out| writeln!(out, "{tag} {tree}"))
        .context("it cannot be written", file)
}

fn kind_at(shadow: &Shadow, path: &BStr) -> Option<Kind> {
    kind(&shadow.top.join(path_of(path.to_owned())))
}

fn is_file_or_link(shadow: &Shadow, path: &BStr) -> bool {
    matches!(kind_at(shadow, path), Some(Kind::File | Kind::Link))
}

/// What stands where a path or a directory above it is wanted. From the top down, because what lies below a link is not
/// ours to look at. `seen` says which directories are directories.
fn in_the_place(shadow: &Shadow, path: &BStr, seen: &mut HashMap<BString, bool>) -> Option<BString> {
    for at in path.find_iter("/") {
        let above = path[..at].as_bstr();
        if let Some(goes_on) = seen.get(above.as_bytes()) {
            if *goes_on {
                continue;
            }
            return None;
        }
        let kind = kind_at(shadow, above);
        seen.insert(above.to_owned(), kind == Some(Kind::Directory));
        match kind {
            Some(Kind::Directory) => {}
            Some(Kind::File | Kind::Link) => return Some(above.to_owned()),
            Some(Kind::Socket | Kind::Waits) | None => return None,
        }
    }
    match kind_at(shadow, path) {
        Some(Kind::File | Kind::Link) => Some(path.to_owned()),
        Some(Kind::Directory | Kind::Socket | Kind::Waits) | None => None,
    }
}

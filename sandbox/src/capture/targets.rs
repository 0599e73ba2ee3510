//! What stands uncaptured where a restore would write (C2).

use crate::fs::kind::{Kind, kind};
use crate::git::id::Id;
use crate::git::process::{Answered, Git};
use crate::host::place::path_of;
use crate::scan::names::{Names, is_below, split};
use crate::shadow::open::{Shadow, quoted};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Access, access};
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
    /// Something that cannot be captured stands there, too.
    pub(crate) is_barred: bool,
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
    let Some((added, removed)) = lists(shadow, &now, target, parked)? else {
        return Ok(None);
    };
    let is_of_another = |path: &BStr| {
        others.iter().any(|other| {
            path.strip_prefix(&other[..])
                .is_some_and(|rest| rest.starts_with(b"/"))
        })
    };
    let mut seen: HashMap<&BStr, bool> = HashMap::new();
    let outlawed = fs::read(shadow.file(OUTLAWED)).unwrap_or_default();
    let mut found: HashSet<&BStr> = HashSet::new();
    let mut is_barred = false;
    // A path that leads elsewhere is refused by the restore.
    let wanted = added
        .iter()
        .map(|path| path.as_bstr())
        .filter(|path| is_below(path) && !is_of_another(path));
    for path in wanted {
        match in_the_place(shadow, path, &mut seen) {
            Standing::Nothing => {}
            Standing::Obstacle => is_barred = true,
            Standing::FileOrLink(place) => {
                found.insert(place);
            }
            Standing::Directory => {
                // A file of the target takes the directory's place. A file in it that was captured before it was ignored is
                // captured once more. A file that was never stored stands in the way.
                let below = [path.as_bytes(), b"/"].concat();
                let inside = split(&outlawed).filter(|one| one.starts_with(&below) && !is_of_another(one));
                found.extend(inside.filter(|one| is_file_or_link(shadow, one)));
            }
        }
    }
    // What is captured goes as the plan says.
    found.retain(|path| !removed.contains(*path));
    Ok(Some(Compared {
        in_the_way: Names::new(found.into_iter().map(BString::from).collect()),
        is_barred,
        has_more: !added.is_empty(),
    }))
}

/// The paths that a target has and a tree does not, and those that the tree alone has.
type Lists = (Vec<BString>, HashSet<BString>);

/// Nothing when the target is not here.
fn lists(shadow: &Shadow, now: &str, target: &str, parked: &[PathBuf]) -> Outcome<Option<Lists>> {
    let (mut added, mut removed) = (Vec::new(), HashSet::new());
    if let Some(all) = shadow.differences(now, target) {
        for one in all {
            if one.from.is_none() {
                added.push(one.path);
            } else if one.to.is_none() {
                removed.insert(one.path);
            }
        }
        return Ok(Some((added, removed)));
    }
    let mut answer = compare(shadow, now, target, &[])?;
    if answer.ok().is_none() && !parked.is_empty() {
        answer = compare(shadow, now, target, parked)?;
    }
    let Some(said) = answer.ok() else {
        return Ok(None);
    };
    let parts: Vec<&BStr> = split(said).collect();
    for pair in parts.chunks_exact(2) {
        if pair[0] == "A" {
            added.push(pair[1].to_owned());
        } else {
            removed.insert(pair[1].to_owned());
        }
    }
    Ok(Some((added, removed)))
}

/// The paths that one of both trees has.
fn compare(shadow: &Shadow, now: &str, target: &str, stores: &[PathBuf]) -> Outcome<Answered> {
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
            "--name-status",
            "--diff-filter=AD",
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

/// Whether a file or a link is there, and no directory above it is a link.
fn is_file_or_link(shadow: &Shadow, path: &BStr) -> bool {
    let mut above = path.find_iter("/").map(|end| path[..end].as_bstr());
    above.all(|directory| kind_at(shadow, directory) == Some(Kind::Directory))
        && matches!(kind_at(shadow, path), Some(Kind::File | Kind::Link))
}

fn may_enter(shadow: &Shadow, directory: &BStr) -> bool {
    access(shadow.top.join(path_of(directory.to_owned())), Access::EXEC_OK).is_ok()
}

/// What stands in a place.
enum Standing<'path> {
    Nothing,
    /// At this path, or at a directory above it.
    FileOrLink(&'path BStr),
    Directory,
    /// A pipe, a socket or a device, or a directory that cannot be looked into.
    Obstacle,
}

/// What stands where a path or a directory above it is wanted. From the top down, because what lies below a link is not
/// ours to look at. `seen` says which directories can be looked into. What stands in the place of one is told once.
fn in_the_place<'path>(
    shadow: &Shadow,
    path: &'path BStr,
    seen: &mut HashMap<&'path BStr, bool>,
) -> Standing<'path> {
    for at in path.find_iter("/") {
        let above = path[..at].as_bstr();
        if let Some(goes_on) = seen.get(above) {
            if *goes_on {
                continue;
            }
            return Standing::Nothing;
        }
        let standing = standing_at(shadow, above);
        let goes_on = matches!(standing, Standing::Directory) && may_enter(shadow, above);
        seen.insert(above, goes_on);
        match standing {
            Standing::Directory if goes_on => {}
            Standing::Directory => return Standing::Obstacle,
            Standing::Nothing | Standing::FileOrLink(_) | Standing::Obstacle => return standing,
        }
    }
    standing_at(shadow, path)
}

fn standing_at<'path>(shadow: &Shadow, path: &'path BStr) -> Standing<'path> {
    match kind_at(shadow, path) {
        None => Standing::Nothing,
        Some(Kind::File | Kind::Link) => Standing::FileOrLink(path),
        Some(Kind::Directory) => Standing::Directory,
        Some(Kind::Socket | Kind::Waits) => Standing::Obstacle,
    }
}

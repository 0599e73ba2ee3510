//! What lies in a place for files that were put aside (`apply/aside.rs`), and what of it another process wrote.

use crate::apply::aside::id_at;
use crate::apply::beneath::Beneath;
use crate::capture::tree::TreeMode;
use crate::fs::directory::{entries, kind_in};
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::stat::stat_in;
use crate::fs::text::slurp;
use crate::git::id::{Format, Id};
use crate::host::place::path_of;
use crate::plan::files::Content;
use crate::scan::names::split;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the places of a session are.
pub(crate) fn all_of(projects: &Path, session: &str) -> PathBuf {
    projects.join(".agent-shadow").join(format!("aside-{session}"))
}

/// The places of a session, by their names. One that has no files was only begun, or nearly removed.
pub(crate) fn places(all: &Path) -> Vec<PathBuf> {
    below(all).iter().flat_map(|call| below(call)).collect()
}

/// The directories in a directory, by their names.
pub(crate) fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|found| found.is_dir()))
        .map(|entry| entry.path())
        .collect();
    all.sort();
    all
}

/// Whether nothing lies in a place.
pub(crate) fn is_empty(place: &Path) -> bool {
    match fs::read_dir(place.join("files")) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The repository that a place is for.
pub(crate) fn repository_of(place: &Path) -> BString {
    let text = slurp(&place.join("path"));
    split(&text).next().unwrap_or_default().to_owned()
}

/// The files in the places of these calls for one repository.
pub(crate) fn asides_of(all: &Path, calls: &[String], path: &BStr) -> Vec<Beneath> {
    let mut found: Vec<_> = calls.iter().flat_map(|call| below(&all.join(call))).collect();
    found.retain(|place| repository_of(place) == path);
    let files = found.iter().map(|place| Beneath::new(&place.join("files")));
    files.filter_map(Result::ok).collect()
}

pub(crate) fn is_put_aside(places: &[Beneath], path: &BStr) -> bool {
    places.iter().any(|files| inode_at(files, path).is_ok())
}

pub(crate) fn format_of(place: &Path) -> Format {
    if slurp(&place.join("format")).trim_ascii() == Format::Sha256.name().as_bytes() {
        Format::Sha256
    } else {
        Format::Sha1
    }
}

/// What is said of the files of one place.
struct Said {
    format: Format,
    /// As they were captured.
    were: BTreeMap<BString, Content>,
    /// Contents that a checkpoint holds by now.
    stored: BTreeSet<(BString, Id)>,
}

impl Said {
    fn read(place: &Path) -> Outcome<Self> {
        let were = fs::read(place.join("were")).context("it cannot be read", place.join("were"))?;
        Ok(Said {
            format: format_of(place),
            were: split(&were).filter_map(entry).collect(),
            // `ID PATH`
            stored: split(&slurp(&place.join("stored")))
                .filter_map(|line| {
                    let (id, path) = line.split_once_str(" ")?;
                    Some((path.into(), Id::from_hex(id)?))
                })
                .collect(),
        })
    }
}

fn mode_of(digits: &[u8]) -> Option<TreeMode> {
    Some(match digits {
        b"100644" => TreeMode::File,
        b"100755" => TreeMode::Executable,
        b"120000" => TreeMode::Link,
        _ => return None,
    })
}

/// `MODE ID<TAB>PATH`
fn entry(line: &BStr) -> Option<(BString, Content)> {
    let (head, path) = line.split_once_str("\t")?;
    let (mode, id) = head.split_once_str(" ")?;
    let mode = mode_of(mode)?;
    Some((
        path.into(),
        Content {
            mode,
            id: Id::from_hex(id)?,
        },
    ))
}

/// The paths in a place that are not as they were captured, except those whose content a checkpoint holds by now.
pub(crate) fn late_in(place: &Path) -> Outcome<Vec<BString>> {
    let files = place.join("files");
    let said = Said::read(place)?;
    let found = all_in(&files)?;
    let beneath = Beneath::new(&files).context("it cannot be opened", &files)?;
    let mut late = Vec::new();
    for path in found {
        if is_late(&said, &beneath, &path).context("it cannot be read", files.join(path_of(path.clone())))? {
            late.push(path);
        }
    }
    late.sort();
    Ok(late)
}

/// The files in a place that have one of these inodes.
pub(crate) fn with_inode(place: &Path, inodes: &HashSet<u64>) -> Outcome<Vec<BString>> {
    let files = place.join("files");
    let beneath = Beneath::new(&files).context("it cannot be opened", &files)?;
    let mut found = Vec::new();
    for path in all_in(&files)? {
        match inode_at(&beneath, path.as_bstr()) {
            // It went meanwhile.
            Err(Errno::NOENT) => {}
            inode => {
                let inode = inode.context("it cannot be looked at", files.join(path_of(path.clone())))?;
                if inodes.contains(&inode) {
                    found.push(path);
                }
            }
        }
    }
    Ok(found)
}

fn inode_at(beneath: &Beneath, path: &BStr) -> Result<u64, Errno> {
    let (directory, name) = beneath.parent(path)?;
    Ok(stat_in(directory.open()?.as_fd(), name)?.inode)
}

fn is_late(said: &Said, beneath: &Beneath, path: &BString) -> Result<bool, Errno> {
    let content = match content_at(said.format, beneath, path) {
        // It went meanwhile.
        Err(Errno::NOENT) => return Ok(false),
        other => other?,
    };
    let Some(content) = content else { return Ok(true) };
    let is_as_it_was = said.were.get(path) == Some(&content);
    Ok(!is_as_it_was && !said.stored.contains(&(path.clone(), content.id)))
}

/// Nothing when it is no file and no link, or changes while it is read.
fn content_at(format: Format, beneath: &Beneath, path: &BString) -> Result<Option<Content>, Errno> {
    let (directory, name) = beneath.parent(path.as_bstr())?;
    let open = directory.open()?;
    let stat = stat_in(open.as_fd(), name)?;
    let mode = match stat.kind() {
        Kind::Link => TreeMode::Link,
        Kind::File if stat.is_executable() => TreeMode::Executable,
        Kind::File => TreeMode::File,
        Kind::Directory | Kind::Socket | Kind::Waits => return Ok(None),
    };
    let id = id_at((open.as_fd(), name), mode, format)?;
    Ok(id.map(|id| Content { mode, id }))
}

/// Everything below a directory that is no directory. A path there may be longer than the system takes from its top.
fn all_in(directory: &Path) -> Outcome<Vec<BString>> {
    let mut found = Vec::new();
    let listed = Handle::top(directory).and_then(|top| list(&top, &BString::default(), &mut found));
    listed.context("it cannot be read", directory)?;
    Ok(found)
}

fn list(directory: &Arc<Handle>, path: &BString, found: &mut Vec<BString>) -> Result<(), Errno> {
    for entry in entries(directory.open()?.as_fd())? {
        let mut inner = path.clone();
        if !inner.is_empty() {
            inner.push(b'/');
        }
        inner.extend_from_slice(&entry.name);
        let name = entry.name.as_bstr();
        let kind = match entry.kind {
            None => kind_in(directory.open()?, name)?,
            known => known,
        };
        if kind == Some(Kind::Directory) {
            list(&directory.enter(name)?, &inner, found)?;
        } else {
            found.push(inner);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "put_aside_tests.rs"]
mod tests;

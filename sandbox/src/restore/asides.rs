//! Looks after what restores of this session put aside, also those that were killed. A file that is as it was captured, and
//! that no process holds open, is deleted. All others stay and are reported: another process wrote them, or may do so.

use crate::apply::aside::Aside;
use crate::capture::tree::TreeMode;
use crate::fs::remove;
use crate::fs::text::slurp;
use crate::git::id::{Format, Id};
use crate::host::place::path_of;
use crate::plan::files::Content;
use crate::scan::names::split;
use crate::wire::error::{Context, Outcome};
use crate::wire::name::Name;
use crate::wire::restore::AsideReport;
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Looks at every place. What cannot be looked at stays, and is reported as it is.
pub(crate) fn look_after(projects: &Path, session: &str) -> Vec<AsideReport> {
    let all = projects.join(".agent-shadow").join(format!("aside-{session}"));
    let places: Vec<PathBuf> = below(&all).iter().flat_map(|call| below(call)).collect();
    let open = if places.is_empty() { None } else { open_below(&all) };
    let mut reports = Vec::new();
    for place in places {
        if is_empty(&place.join("files")) {
            // A restore that was killed had only begun it, or had nearly removed it.
            let _ = remove::directory(&place);
            continue;
        }
        // The scripts look after what they describe in another way.
        if !place.join("were").is_file() {
            continue;
        }
        let report = look_at(&place, open.as_deref());
        reports.extend(report.unwrap_or_else(|_| Some(report_of(&place, Vec::new(), Vec::new()))));
    }
    // Those that are empty by now.
    for call in below(&all) {
        let _ = fs::remove_dir(call);
    }
    let _ = fs::remove_dir(&all);
    reports
}

/// Whether nothing is in a directory, or no such directory is there.
fn is_empty(directory: &Path) -> bool {
    match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|found| found.is_dir()))
        .map(|entry| entry.path())
        .collect();
    all.sort();
    all
}

fn report_of(place: &Path, late: Vec<BString>, open: Vec<BString>) -> AsideReport {
    let names = |paths: Vec<BString>| paths.into_iter().map(Name).collect();
    let repository = slurp(&place.join("path"));
    AsideReport {
        path: Name(split(&repository).next().unwrap_or_default().to_owned()),
        directory: Name(place.join("files").as_os_str().as_bytes().into()),
        late: names(late),
        open: names(open),
    }
}

/// Nothing when nothing in it is worth keeping: then it is deleted, the files first, and what says what they are last.
fn look_at(place: &Path, open: Option<&[BString]>) -> Outcome<Option<AsideReport>> {
    let files = place.join("files");
    let top = [files.as_os_str().as_bytes(), b"/"].concat();
    let held: Vec<BString> = open
        .unwrap_or_default()
        .iter()
        .filter_map(|path| path.strip_prefix(&top[..]).map(BString::from))
        .collect();
    let late = late_in(place, &files)?;
    if late.is_empty() && held.is_empty() && open.is_some() {
        let deleted = remove::directory(&files).and_then(|()| remove::directory(place));
        deleted.context("what was put aside cannot be deleted", place)?;
        return Ok(None);
    }
    Ok(Some(report_of(place, late, held)))
}

/// The paths that are not as they were captured, except those whose content a checkpoint holds by now.
fn late_in(place: &Path, files: &Path) -> Outcome<Vec<BString>> {
    let format = if slurp(&place.join("format")).trim_ascii() == Format::Sha256.name().as_bytes() {
        Format::Sha256
    } else {
        Format::Sha1
    };
    let read = |name: &str| fs::read(place.join(name)).context("it cannot be read", place);
    let entries: BTreeMap<BString, Content> = split(&read("were")?).filter_map(entry).collect();
    // `ID PATH`
    let stored: BTreeMap<BString, Id> = split(&fs::read(place.join("stored")).unwrap_or_default())
        .filter_map(|line| {
            let (id, path) = line.split_once_str(" ")?;
            Some((BString::from(path), Id::from_hex(id)?))
        })
        .collect();
    let mut found = Vec::new();
    list(files, BString::default(), &mut found).context("it cannot be read", files)?;
    let aside = Aside::at(place.to_owned(), format)?;
    let mut late = Vec::new();
    for path in found {
        let is_known = || {
            let (directory, name) = aside.files.parent(path.as_bstr())?;
            let open = directory.open()?;
            let there = (open.as_fd(), name);
            let is_as_it_was = match entries.get(&path) {
                Some(content) => aside.has(there, content, false)?,
                None => false,
            };
            let is_stored = || match stored.get(&path) {
                Some(id) => [TreeMode::File, TreeMode::Executable, TreeMode::Link]
                    .iter()
                    .any(|mode| aside.has(there, &Content { mode: *mode, id: *id }, false) == Ok(true)),
                None => false,
            };
            Ok::<bool, rustix::io::Errno>(is_as_it_was || is_stored())
        };
        if !is_known().context("it cannot be read", files)? {
            late.push(path);
        }
    }
    Ok(late)
}

/// `MODE ID<TAB>PATH`
fn entry(line: &bstr::BStr) -> Option<(BString, Content)> {
    let (head, path) = line.split_once_str("\t")?;
    let (mode, id) = head.split_once_str(" ")?;
    let mode = match mode {
        b"100644" => TreeMode::File,
        b"100755" => TreeMode::Executable,
        b"120000" => TreeMode::Link,
        _ => return None,
    };
    Some((
        path.into(),
        Content {
            mode,
            id: Id::from_hex(id)?,
        },
    ))
}

/// Everything below a directory that is no directory.
fn list(directory: &Path, path: BString, found: &mut Vec<BString>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let mut inner = path.clone();
        if !inner.is_empty() {
            inner.push(b'/');
        }
        inner.extend_from_slice(entry.file_name().as_bytes());
        if entry.file_type()?.is_dir() {
            list(
                &directory.join(path_of(entry.file_name().as_bytes().into())),
                inner,
                found,
            )?;
        } else {
            found.push(inner);
        }
    }
    Ok(())
}

/// The files below a directory that other processes hold open. Nothing when that cannot be told. Processes of other users are
/// not seen, unless this program runs as root.
fn open_below(directory: &Path) -> Option<Vec<BString>> {
    let top = [directory.as_os_str().as_bytes(), b"/"].concat();
    let mut found = Vec::new();
    let own = std::process::id().to_string();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        if process.file_name() == *own {
            continue;
        }
        if !process.file_name().as_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        // It may have ended, or be another user's.
        let files = fs::read_dir(process.path().join("fd"))
            .into_iter()
            .flatten()
            .flatten();
        for file in files {
            let Ok(to) = fs::read_link(file.path()) else {
                continue;
            };
            if to.as_os_str().as_bytes().starts_with(&top) {
                found.push(BString::from(to.as_os_str().as_bytes()));
            }
        }
    }
    Some(found)
}

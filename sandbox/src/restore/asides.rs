//! Looks after what restores of this session put aside. A file that is as it was captured, and that no process holds open or may
//! write through memory, is deleted. All others stay and are reported: another process wrote them, or may do so. What a restore
//! that is not finished put aside stays: it tells which files that restore was replacing.

use crate::fs::handle::Handle;
use crate::fs::{removal, remove};
use crate::restore::journal::unfinished_calls;
use crate::restore::put_aside::{all_of, below, is_empty, late_in, places, repository_of, with_inode};
use crate::scan::mapped::written_through_memory_below;
use crate::wire::error::{Context, Outcome};
use crate::wire::name::Name;
use crate::wire::restore::AsideReport;
use bstr::{BStr, BString};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Looks at every place. What cannot be looked at stays, and is reported as it is.
pub(crate) fn look_after(projects: &Path, session: &str) -> Vec<AsideReport> {
    let all = all_of(projects, session);
    let places = places(&all);
    let held = if places.is_empty() {
        None
    } else {
        Held::below(&all)
    };
    let unfinished = unfinished_calls(projects, session)
        .into_iter()
        .map(|call| all.join(call));
    let unfinished: BTreeSet<_> = unfinished.collect();
    let mut reports = Vec::new();
    for place in places {
        let is_needed = place.parent().is_some_and(|call| unfinished.contains(call));
        if is_empty(&place) && !is_needed {
            // A restore that was killed had only begun it, or had nearly removed it.
            let _ = remove::directory(&place);
            continue;
        }
        let report = look_at(&place, is_needed, held.as_ref());
        reports.extend(report.unwrap_or_else(|_| Some(report_of(&place, Vec::new(), Vec::new()))));
    }
    // Those that are empty by now.
    for call in below(&all) {
        let _ = fs::remove_dir(call);
    }
    let _ = fs::remove_dir(&all);
    reports
}

fn report_of(place: &Path, late: Vec<BString>, open: Vec<BString>) -> AsideReport {
    let names = |paths: Vec<BString>| paths.into_iter().map(Name).collect();
    AsideReport {
        path: Name(repository_of(place)),
        directory: Name(place.join("files").as_os_str().as_bytes().into()),
        late: names(late),
        open: names(open),
    }
}

/// Nothing when another process neither wrote anything in it nor may do so. Unless it is needed, it is deleted then: the files
/// first, and what says what they are last.
fn look_at(place: &Path, is_needed: bool, held: Option<&Held>) -> Outcome<Option<AsideReport>> {
    let open = match held {
        Some(held) => held.of(place)?,
        None => Vec::new(),
    };
    let late = late_in(place)?;
    if late.is_empty() && open.is_empty() && held.is_some() {
        if is_needed {
            return Ok(None);
        }
        let deleted = Handle::top(place).and_then(|top| removal::remove(&top, BStr::new("files")));
        deleted.context("what was put aside cannot be deleted", place)?;
        remove::directory(place).context("what was put aside cannot be deleted", place)?;
        return Ok(None);
    }
    Ok(Some(report_of(place, late, open)))
}

/// The files that other processes may still write. Processes of other users are not seen, unless this program runs as root.
struct Held {
    /// Those that are open.
    paths: Vec<BString>,
    /// Those that are mapped: a mapping stays when its file is closed. And those that are open and have a path that is too long
    /// for the system to name it.
    inodes: HashSet<u64>,
}

impl Held {
    /// Those below a directory. Nothing when that cannot be told. A file is opened before it is mapped, so what is mapped is
    /// asked for last.
    fn below(directory: &Path) -> Option<Self> {
        let mut held = open_below(directory)?;
        held.inodes.extend(written_through_memory_below(directory));
        Some(held)
    }

    /// Those of one place, by their names.
    fn of(&self, place: &Path) -> Outcome<Vec<BString>> {
        let top = [place.join("files").as_os_str().as_bytes(), b"/"].concat();
        let open = self.paths.iter().filter_map(|path| path.strip_prefix(&top[..]));
        let mut all: BTreeSet<BString> = open.map(BString::from).collect();
        if !self.inodes.is_empty() {
            all.extend(with_inode(place, &self.inodes)?);
        }
        Ok(all.into_iter().collect())
    }
}

/// The files below a directory that other processes hold open.
fn open_below(directory: &Path) -> Option<Held> {
    let top = [directory.as_os_str().as_bytes(), b"/"].concat();
    let (mut paths, mut inodes) = (Vec::new(), HashSet::new());
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
            match fs::read_link(file.path()) {
                Ok(to) if to.as_os_str().as_bytes().starts_with(&top) => {
                    paths.push(BString::from(to.as_os_str().as_bytes()));
                }
                Err(error) if Errno::from_io_error(&error) == Some(Errno::NAMETOOLONG) => {
                    inodes.extend(fs::metadata(file.path()).map(|found| found.ino()));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    Some(Held { paths, inodes })
}

//! Sorts what a walk found: captured, left out, skipped, failed. Pure.

use crate::capture::state::{Failed, SkippedPath};
use crate::capture::tree::{is_forbidden, is_forbidden_link};
use crate::fs::kind::Kind;
use crate::fs::words::words;
use crate::scan::decide::{Decisions, Place};
use crate::scan::discover::LINKED_GIT;
use crate::scan::names::Names;
use crate::scan::table::{Table, Verdict};
use crate::scan::walk::{Closed, Directory, Item, Walked, below};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, HashSet};

const FORBIDDEN_WHY: &str = "git keeps nothing of this name: rename it, if it is to be captured";
const SPECIAL_WHY: &str = "a named pipe, a socket or a device: git keeps nothing of it";
const IN_PLACE_WHY: &str = "not a file, a directory or a symlink: it stands where a captured file was";

/// What decides what is captured.
pub(crate) struct Sorting<'look> {
    pub(crate) tracked: &'look Names,
    pub(crate) included: &'look Names,
    pub(crate) forced: &'look Names,
    pub(crate) max_bytes: u64,
    pub(crate) max_depth: usize,
    /// The look before, whatever its rules were.
    pub(crate) before: Option<&'look Table<'look>>,
}

/// What becomes of everything.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// For each directory of the walk, the items that are captured.
    pub(crate) captured: Vec<Vec<usize>>,
    /// Files that are too large, with their sizes.
    pub(crate) large: Vec<Large>,
    pub(crate) skipped: Vec<SkippedPath>,
    pub(crate) failures: Failures,
}

/// A file that is too large.
#[derive(Clone, Debug)]
pub(crate) struct Large {
    pub(crate) path: BString,
    pub(crate) size: u64,
    /// The session asks for it by name.
    is_ignored: bool,
}

impl Large {
    /// Where it stands in the list, which must be the same for the same state: those that nothing ignores come first,
    /// by their size as text.
    fn place(&self) -> (bool, Vec<u8>) {
        let size = if self.is_ignored {
            String::new()
        } else {
            format!("{}/./", self.size)
        };
        (self.is_ignored, [size.as_bytes(), &self.path[..]].concat())
    }
}

/// The first reason counts for each path.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    by_path: BTreeMap<BString, String>,
    /// Files and directories whose modes are not captured either.
    pub(crate) lost: HashSet<BString>,
}

impl Failures {
    pub(crate) fn say(&mut self, path: BString, reason: impl Into<String>) {
        self.by_path.entry(path).or_insert_with(|| reason.into());
    }

    pub(crate) fn lose(&mut self, path: BString, reason: impl Into<String>) {
        let place = BString::from(path.strip_suffix(b"/").unwrap_or(&path));
        self.lost.insert(place);
        self.say(path, reason);
    }

    /// Whether this path, or a directory above it, is lost.
    pub(crate) fn has_lost(&self, path: &BStr) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let ends = path.find_iter("/").chain([path.len()]);
        let mut ends = ends.map(|end| BString::from(&path[..end]));
        ends.any(|above| self.lost.contains(&above))
    }

    pub(crate) fn finish(self) -> Vec<Failed> {
        let all = self.by_path.into_iter();
        all.map(|(path, reason)| Failed { path, reason }).collect()
    }
}

fn skip(path: BString, reason: impl Into<String>) -> SkippedPath {
    SkippedPath {
        path,
        reason: reason.into(),
        size: None,
    }
}

impl Sorting<'_> {
    fn is_wanted(&self, path: &BStr) -> bool {
        self.tracked.contains(path) || self.included.contains(path)
    }
}

pub(crate) fn sort(sorting: &Sorting<'_>, walked: &Walked, decisions: &Decisions) -> Sorted {
    let mut sorted = Sorted::default();
    let mut embedded = HashSet::new();
    for (at, directory) in walked.directories.iter().enumerate() {
        let place = decisions.places[at];
        let verdicts = &decisions.verdicts[at];
        sorted.captured.push(Vec::new());
        let path = directory.path.as_bstr();
        let is_below_forbidden = !path.is_empty() && forbidden_part(path, Kind::Directory).is_some();
        match place {
            Place::Embedded => {
                let path = directory.path.as_bstr();
                let above = path
                    .rfind_byte(b'/')
                    .map_or(BStr::new(""), |at| path[..at].as_bstr());
                // What is in it belongs to it.
                if !embedded.contains(above) {
                    sorted
                        .skipped
                        .push(skip(directory.path.clone(), embedded_why(sorting, directory)));
                }
                embedded.insert(path);
            }
            Place::Open => {
                closed(directory, &mut sorted.failures);
                for (number, item) in directory.items.iter().enumerate() {
                    if sort_item(
                        sorting,
                        (directory, is_below_forbidden),
                        (item, verdicts[number]),
                        &mut sorted,
                    ) {
                        sorted.captured[at].push(number);
                    }
                }
            }
            Place::Ignored => {
                for (number, item) in directory.items.iter().enumerate() {
                    if sort_item(
                        sorting,
                        (directory, is_below_forbidden),
                        (item, verdicts[number]),
                        &mut sorted,
                    ) {
                        sorted.captured[at].push(number);
                    }
                }
            }
        }
    }
    for said in &decisions.said {
        let path = if said.path.is_empty() {
            BString::from(".")
        } else {
            said.path.clone()
        };
        sorted.failures.say(path, said.reason.clone());
    }
    sorted.large.sort_by_cached_key(Large::place);
    sorted
}

fn embedded_why(sorting: &Sorting<'_>, directory: &Directory) -> String {
    if directory.git == Some(Kind::Link) {
        return LINKED_GIT.to_owned();
    }
    format!(
        "a git repository deeper than {} levels below the projects root, or in a dependency folder",
        sorting.max_depth
    )
}

fn closed(directory: &Directory, failures: &mut Failures) {
    match directory.closed {
        Some(Closed::Unread(why)) => {
            let mut path = directory.path.clone();
            path.push(b'/');
            failures.lose(path, format!("the directory cannot be read: {}", words(why)));
        }
        Some(Closed::NotEntered) => {
            failures.lose(directory.path.clone(), "the directory cannot be entered");
        }
        None => {}
    }
    for (name, why) in &directory.unseen {
        let path = below(directory.path.as_bstr(), name.as_bstr());
        failures.lose(path, format!("the file cannot be reached: {}", words(*why)));
    }
}

/// The first part of a path that git refuses, as a path; or the path itself, when it is a link that git refuses.
pub(super) fn forbidden_part(path: &BStr, kind: Kind) -> Option<BString> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let ends = slashes.map(|(at, _)| at).chain([path.len()]);
    let mut start = 0;
    for end in ends {
        let name = path[start..end].as_bstr();
        let is_last = end == path.len();
        if is_forbidden(name) || (is_last && kind == Kind::Link && is_forbidden_link(name)) {
            return Some(BString::from(&path[..end]));
        }
        start = end + 1;
    }
    None
}

/// Whether an item of a directory is captured.
fn sort_item(
    sorting: &Sorting<'_>,
    (directory, is_below_forbidden): (&Directory, bool),
    (item, verdict): (&Item, Verdict),
    to: &mut Sorted,
) -> bool {
    // Most items need none.
    let path = || below(directory.path.as_bstr(), item.name.as_bstr());
    let kind = item.stat.kind();
    match kind {
        Kind::Directory => false,
        Kind::Socket | Kind::Waits => {
            if !verdict.is_ignored {
                special(sorting, directory, item, path(), to);
            }
            false
        }
        Kind::File | Kind::Link => {
            let is_forced = !sorting.forced.is_empty() && sorting.forced.contains(path().as_bstr());
            let is_wanted = !verdict.is_ignored || sorting.is_wanted(path().as_bstr());
            if !is_forced && (!is_wanted || verdict.is_excluded) {
                return false;
            }
            let name = item.name.as_bstr();
            if is_below_forbidden || forbidden_part(name, kind).is_some() {
                let part = forbidden_part(path().as_bstr(), kind).unwrap_or_default();
                if !verdict.is_ignored && !to.skipped.iter().any(|skipped| skipped.path == part) {
                    to.skipped.push(skip(part, FORBIDDEN_WHY));
                }
                return false;
            }
            let is_large = kind == Kind::File && item.stat.size > sorting.max_bytes;
            if is_large && !sorting.tracked.contains(path().as_bstr()) {
                // What a restore would overwrite is captured whatever its size. A capture without the restore would not
                // tell of it where rules ignore it.
                if !verdict.is_ignored || sorting.included.contains(path().as_bstr()) {
                    to.large.push(Large {
                        path: path(),
                        size: item.stat.size,
                        is_ignored: verdict.is_ignored,
                    });
                }
                return is_forced;
            }
            true
        }
    }
}

/// A pipe, a socket or a device that nothing ignores.
fn special(sorting: &Sorting<'_>, directory: &Directory, item: &Item, path: BString, to: &mut Sorted) {
    let stood_here = match sorting.before {
        Some(table) => table
            .folder(directory.path.as_bstr())
            .and_then(|folder| folder.entry(item.name.as_bstr()))
            .is_some_and(|entry| entry.id.is_some()),
        None => sorting.tracked.contains(path.as_bstr()),
    };
    if stood_here {
        to.failures.lose(path, IN_PLACE_WHY);
    } else {
        to.skipped.push(skip(path, SPECIAL_WHY));
    }
}

//! The sidecar: what git's trees do not hold. Modes that files and directories do not get by themselves, and empty
//! directories. Pure.

use crate::capture::sort::Failures;
use crate::fs::kind::Kind;
use crate::scan::decide::{Decisions, Place};
use crate::scan::walk::{Walked, below};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;

/// What is captured, by path.
pub(crate) struct Held<'look> {
    /// For each directory of the walk, the items that are captured.
    pub(crate) items: &'look [Vec<usize>],
    /// Directories that hold captured files.
    pub(crate) directories: &'look HashSet<BString>,
    /// Files that were left out for their size.
    pub(crate) left_out: &'look HashSet<BString>,
    pub(crate) failures: &'look Failures,
}

/// The lists `modes` and `empty`, each path ended by NUL. Modes are sorted as text, directories first, because the list
/// must be the same for the same state.
pub(crate) fn lists(
    walked: &Walked,
    decisions: &Decisions,
    held: &Held<'_>,
    umask: u32,
) -> (Vec<u8>, Vec<u8>) {
    let (file_mode, directory_mode) = (0o666 & !umask, 0o777 & !umask);
    let mut modes: Vec<Vec<u8>> = Vec::new();
    let mut empty: Vec<BString> = Vec::new();
    for (at, directory) in walked.directories.iter().enumerate() {
        let is_open = decisions.places[at] == Place::Open;
        if directory.is_empty && is_open && !directory.path.is_empty() {
            empty.push(directory.path.clone());
        }
        if decisions.places[at] == Place::Embedded {
            continue;
        }
        for (number, item) in directory.items.iter().enumerate() {
            let mode = item.stat.permissions();
            let letter = match item.stat.kind() {
                Kind::File if mode != file_mode && mode != directory_mode => b'F',
                Kind::Directory if mode != directory_mode => b'D',
                Kind::File | Kind::Directory | Kind::Link | Kind::Socket | Kind::Waits => continue,
            };
            let path = below(directory.path.as_bstr(), item.name.as_bstr());
            let verdict = decisions.verdicts[at][number];
            let is_unhidden = is_open && !verdict.is_ignored && !verdict.is_excluded;
            let is_held = if letter == b'D' {
                held.directories.contains(&path)
                    || (is_unhidden && !is_embedded(walked, decisions, path.as_bstr()))
            } else {
                held.items[at].binary_search(&number).is_ok()
                    || (is_unhidden && !held.left_out.contains(&path))
            };
            if is_held && !held.failures.has_lost(path.as_bstr()) {
                let mut line = vec![letter];
                line.extend_from_slice(format!("{mode:o}/./").as_bytes());
                line.extend_from_slice(&path);
                modes.push(line);
            }
        }
    }
    modes.sort_unstable();
    empty.sort_unstable();
    let mut list = Vec::new();
    for line in &modes {
        // `F600/./PATH` becomes `F600/PATH`.
        let at = line.find(b"/./").unwrap_or_default();
        list.extend_from_slice(&line[..=at]);
        list.extend_from_slice(&line[at + 3..]);
        list.push(0);
    }
    if file_mode != 0o644 {
        list.extend_from_slice(format!("U{umask:04o}/\0").as_bytes());
    }
    let empty = empty
        .iter()
        .flat_map(|path| [path, &b"\0"[..]].concat())
        .collect();
    (list, empty)
}

fn is_embedded(walked: &Walked, decisions: &Decisions, path: &BStr) -> bool {
    let at = walked
        .directories
        .binary_search_by(|directory| directory.path.as_bstr().cmp(path));
    at.is_ok_and(|at| decisions.places[at] == Place::Embedded)
}

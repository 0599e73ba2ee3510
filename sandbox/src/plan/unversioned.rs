//! What stays of a repository that the target does not have, when no repository of the target is around it. Its directory was
//! in no capture then, so only the names that were noted say what was there (`scan/unversioned.rs`).

use crate::plan::above;
use crate::scan::names::split;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedKind {
    File,
    Directory,
    /// A directory that was not looked into.
    Unseen,
}

/// What lay in no repository when the target was taken, by paths in the projects root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unversioned(BTreeMap<BString, NamedKind>);

impl Unversioned {
    /// Nothing: the list says only that the names are not known.
    pub(crate) fn parse(list: &[u8]) -> Option<Self> {
        let entries: Vec<&BStr> = split(list).collect();
        if entries.last() != Some(&BStr::new("e")) {
            return None;
        }
        let noted = entries.iter().filter_map(|entry| {
            let (letter, path) = entry.split_once_str("./")?;
            let noted = match letter {
                b"f" => NamedKind::File,
                b"d" => NamedKind::Directory,
                b"o" => NamedKind::Unseen,
                _ => return None,
            };
            Some((path.into(), noted))
        });
        Some(Unversioned(noted.collect()))
    }

    fn is(&self, path: &BStr, noted: NamedKind) -> bool {
        self.0.get(path) == Some(&noted)
    }

    fn is_below_unseen(&self, path: &BStr) -> bool {
        above(path).any(|up| self.is(up, NamedKind::Unseen))
    }
}

/// What stays when a repository leaves.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Staying {
    pub(crate) files: BTreeSet<BString>,
    /// Directories that stay, empty or not.
    pub(crate) directories: BTreeSet<BString>,
    /// The directory of the repository and those above it that stay, by paths in the projects root.
    pub(crate) places: BTreeSet<BString>,
    /// What a person is told.
    pub(crate) told: Option<String>,
}

/// `files` and `empty` are those of the repository, by their paths in it; `.` is the projects root itself.
pub(crate) fn staying<'path>(
    unversioned: Option<&Unversioned>,
    repository: &BStr,
    files: impl Iterator<Item = &'path BString>,
    empty: &BTreeSet<BString>,
) -> Staying {
    let is_root = repository == ".";
    let whole = |path: &BString| {
        if is_root {
            path.clone()
        } else {
            BString::from([repository.as_bytes(), b"/", &path[..]].concat())
        }
    };
    let is_unknown = unversioned.is_none_or(|known| known.is_below_unseen(repository));
    let stays = |path: &BString, noted: NamedKind| {
        is_unknown
            || unversioned.is_some_and(|known| {
                let path = whole(path);
                known.is(path.as_bstr(), noted) || known.is_below_unseen(path.as_bstr())
            })
    };
    let files: BTreeSet<BString> = files
        .filter(|path| stays(path, NamedKind::File))
        .cloned()
        .collect();
    let mut directories: BTreeSet<BString> = empty
        .iter()
        .filter(|path| stays(path, NamedKind::Directory))
        .cloned()
        .collect();
    let mut places = BTreeSet::new();
    if let Some(Unversioned(noted)) = unversioned {
        let inner = noted
            .iter()
            .filter(|(_, noted)| **noted == NamedKind::Directory)
            .filter_map(|(path, _)| {
                if is_root {
                    return Some(path.clone());
                }
                let rest = path.strip_prefix(repository.as_bytes())?.strip_prefix(b"/")?;
                Some(BString::from(rest))
            });
        directories.extend(inner);
        let ways = std::iter::once(repository).chain(above(repository));
        places.extend(ways.filter(|path| noted.contains_key(*path)).map(BString::from));
    }
    if is_unknown {
        places.insert(repository.to_owned());
    }
    let why = if unversioned.is_none() {
        "nothing says what this directory held when the checkpoint was taken; delete what should not stay"
    } else {
        "they were there before it was a repository, and the checkpoint does not hold their content"
    };
    let told = match files.len() {
        0 => None,
        1 => Some(format!("1 file stays, because {why}")),
        count => Some(format!("{count} files stay, because {why}")),
    };
    Staying {
        files,
        directories,
        places,
        told,
    }
}

#[cfg(test)]
#[path = "unversioned_tests.rs"]
mod tests;

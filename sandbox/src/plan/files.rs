//! Which files and links go, come and change, and in which order. Every write is planned from two captures, never from
//! what a walk finds (C2).

use crate::capture::tree::TreeMode;
use crate::git::id::Id;
use crate::plan::above;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// A file or a link, as a tree has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) mode: TreeMode,
    pub(crate) id: Id,
}

impl Content {
    /// Whether both are files, or both are links.
    pub(crate) fn is_kind_of(self, other: Content) -> bool {
        let is_link = |content: Content| content.mode == TreeMode::Link;
        is_link(self) == is_link(other)
    }
}

/// A path that two trees have otherwise. One of the two is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: BString,
    pub(crate) from: Option<Content>,
    pub(crate) to: Option<Content>,
}

impl Difference {
    /// Whether a file has another content, or a link leads elsewhere.
    pub(crate) fn is_content(&self) -> bool {
        match (self.from, self.to) {
            (Some(from), Some(to)) => from.is_kind_of(to),
            (None, _) | (_, None) => false,
        }
    }
}

/// One step. A path in the way of another one makes room first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// What is there is kept elsewhere.
    PutAside(BString),
    /// What is there is kept elsewhere, and this takes its place.
    Replace(BString, Content),
    /// Nothing is there, or a directory without files, which goes.
    Write(BString, Content),
    /// Goes unless something is in it.
    RemoveDirectory(BString),
}

impl Change {
    /// What is written.
    pub(crate) fn written(&self) -> Option<(&BString, &Content)> {
        match self {
            Change::Replace(path, content) | Change::Write(path, content) => Some((path, content)),
            Change::PutAside(_) | Change::RemoveDirectory(_) => None,
        }
    }
}

/// What the differences are: how many files a restore writes and deletes, and whether rules for ignored files, or
/// attributes, are among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) written: usize,
    pub(crate) deleted: usize,
    pub(crate) has_rules: bool,
    pub(crate) has_attributes: bool,
}

fn is_named(path: &BStr, name: &str) -> bool {
    path.rsplit_str("/").next() == Some(name.as_bytes())
}

pub(crate) fn summary(differences: &[Difference]) -> Summary {
    let written = differences.iter().filter(|one| one.to.is_some()).count();
    let any = |name: &str| differences.iter().any(|one| is_named(one.path.as_bstr(), name));
    Summary {
        written,
        deleted: differences.len() - written,
        has_rules: any(".gitignore"),
        has_attributes: any(".gitattributes"),
    }
}

/// The steps from one tree to the other. `stays` are paths that the target does not have and that stay all the same;
/// `empty` are the directories that it has empty.
pub(crate) fn changes(
    differences: &[Difference],
    stays: &BTreeSet<BString>,
    empty: &BTreeSet<BString>,
) -> Vec<Change> {
    let mut aside = Vec::new();
    let mut replace = Vec::new();
    let mut write = Vec::new();
    let mut left: BTreeSet<&BStr> = BTreeSet::new();
    let mut filled: BTreeSet<&BStr> = BTreeSet::new();
    for one in differences {
        let path = one.path.as_bstr();
        match (one.from, one.to) {
            (_, None) if stays.contains(&one.path) => filled.extend(above(path)),
            (_, None) => {
                aside.push(Change::PutAside(one.path.clone()));
                left.extend(above(path));
            }
            (Some(_), Some(content)) => replace.push(Change::Replace(one.path.clone(), content)),
            (None, Some(content)) => {
                write.push(Change::Write(one.path.clone(), content));
                filled.insert(path);
                filled.extend(above(path));
            }
        }
    }
    let mut directories: Vec<&BStr> = left
        .into_iter()
        .filter(|directory| !filled.contains(directory) && !empty.contains(directory.as_bytes().as_bstr()))
        .collect();
    directories.sort_by_key(|directory| std::cmp::Reverse(directory.len()));
    let directories = directories
        .into_iter()
        .map(|directory| Change::RemoveDirectory(directory.to_owned()));
    [aside, replace, write]
        .into_iter()
        .flatten()
        .chain(directories)
        .collect()
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

//! Trees, read without git: their files, and in what two of them differ. What git would show in another way, or could not read,
//! is nothing here: git is asked then.

use crate::git::id::{Format, Id, ObjectKind};
use crate::git::objects::Objects;
use bstr::{BStr, BString, ByteSlice};
use std::cmp::Ordering;

/// Directories below each other.
const DEEP: usize = 200;
/// The modes of files and links that a capture has.
const MODES: [&[u8]; 3] = [b"100644", b"100755", b"120000"];

/// A file or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) mode: &'static [u8],
    pub(crate) id: Id,
}

/// A path that two trees have otherwise. One of the two is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Differs {
    pub(crate) path: BString,
    pub(crate) from: Option<Leaf>,
    pub(crate) to: Option<Leaf>,
}

struct Line {
    /// That of a directory ends with a slash, as it is sorted.
    name: BString,
    /// Nothing for a directory.
    mode: Option<&'static [u8]>,
    id: Id,
}

pub(crate) struct Trees<'objects> {
    pub(crate) objects: &'objects mut Objects,
    pub(crate) format: Format,
}

impl Trees<'_> {
    /// In what two trees differ, sorted by path.
    pub(crate) fn differences(&mut self, from: &str, to: &str) -> Option<Vec<Differs>> {
        let (from, to) = (self.tree_id(from)?, self.tree_id(to)?);
        let mut found = Vec::new();
        self.compare((Some(from), Some(to)), BStr::new(""), 0, &mut found)?;
        Some(found)
    }

    /// The paths of all files of a tree.
    pub(crate) fn files(&mut self, tree: &str) -> Option<Vec<BString>> {
        let tree = self.tree_id(tree)?;
        let mut found = Vec::new();
        self.compare((None, Some(tree)), BStr::new(""), 0, &mut found)?;
        Some(found.into_iter().map(|one| one.path).collect())
    }

    fn tree_id(&self, text: &str) -> Option<Id> {
        Id::from_hex(text.as_bytes()).filter(|id| id.as_bytes().len() == self.format.width())
    }

    /// Nothing on one side: there is no directory.
    fn compare(
        &mut self,
        (from, to): (Option<Id>, Option<Id>),
        below: &BStr,
        depth: usize,
        found: &mut Vec<Differs>,
    ) -> Option<()> {
        if from == to {
            return Some(());
        }
        if depth > DEEP {
            return None;
        }
        let mut from = self.lines(from)?.into_iter().peekable();
        let mut to = self.lines(to)?.into_iter().peekable();
        loop {
            let order = match (from.peek(), to.peek()) {
                (None, None) => return Some(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => one.name.cmp(&other.name),
            };
            let one = if order == Ordering::Greater {
                None
            } else {
                from.next()
            };
            let other = if order == Ordering::Less { None } else { to.next() };
            self.compare_lines(one, other, below, depth, found)?;
        }
    }

    fn compare_lines(
        &mut self,
        from: Option<Line>,
        to: Option<Line>,
        below: &BStr,
        depth: usize,
        found: &mut Vec<Differs>,
    ) -> Option<()> {
        let line = from.as_ref().or(to.as_ref())?;
        let path = BString::from([below.as_bytes(), &line.name[..]].concat());
        if line.mode.is_none() {
            let ids = (from.map(|line| line.id), to.map(|line| line.id));
            return self.compare(ids, path.as_bstr(), depth + 1, found);
        }
        let leaf = |line: Line| {
            Some(Leaf {
                mode: line.mode?,
                id: line.id,
            })
        };
        let (from, to) = (from.and_then(leaf), to.and_then(leaf));
        if from != to {
            found.push(Differs { path, from, to });
        }
        Some(())
    }

    /// The lines of a tree, if they are as git writes them.
    fn lines(&mut self, tree: Option<Id>) -> Option<Vec<Line>> {
        let Some(tree) = tree else { return Some(Vec::new()) };
        if Id::from_hex(self.format.empty_tree().as_bytes()) == Some(tree) {
            return Some(Vec::new());
        }
        let (kind, content) = self.objects.read(&tree)?;
        if kind != ObjectKind::Tree {
            return None;
        }
        let mut lines: Vec<Line> = Vec::new();
        let mut rest = &content[..];
        while !rest.is_empty() {
            let (head, after) = rest.split_once_str("\0")?;
            let (mode, name) = head.split_once_str(" ")?;
            let (id, after) = after.split_at_checked(self.format.width())?;
            rest = after;
            let mode = if mode == b"40000" {
                None
            } else {
                Some(*MODES.iter().find(|known| **known == mode)?)
            };
            if name.is_empty() || name.contains(&b'/') {
                return None;
            }
            let mut name = BString::from(name);
            if mode.is_none() {
                name.push(b'/');
            }
            if lines.last().is_some_and(|last| last.name >= name) {
                return None;
            }
            lines.push(Line {
                name,
                mode,
                id: Id::from_bytes(id)?,
            });
        }
        Some(lines)
    }
}

#[cfg(test)]
#[path = "trees_tests.rs"]
mod tests;

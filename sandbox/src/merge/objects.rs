//! Reads trees and blobs of captures, each tree once.

use crate::capture::tree::{TreeEntry, TreeMode};
use crate::git::batch::{Batch, Object};
use crate::git::id::{Format, Id};
use crate::merge::edit::{Entry, Trees};
use crate::merge::trouble::{Done, Trouble};
use crate::shadow::open::Shadow;
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) struct Objects {
    batch: Batch,
    format: Format,
    trees: HashMap<Id, Rc<Vec<TreeEntry>>>,
}

impl Objects {
    /// Those that this git directory reads.
    pub(crate) fn open(shadow: &Shadow) -> Done<Self> {
        Ok(Objects {
            batch: shadow.batch(),
            format: shadow.format,
            trees: HashMap::new(),
        })
    }

    fn object(&mut self, id: &Id, kind: &str) -> Done<Object> {
        match self.batch.object(&id.to_string())? {
            Some(object) if object.kind == kind => Ok(object),
            Some(_) | None => Err(Trouble::Missing(format!("the {kind} {id}"))),
        }
    }

    pub(crate) fn blob(&mut self, id: &Id) -> Done<Vec<u8>> {
        Ok(self.object(id, "blob")?.content)
    }

    pub(crate) fn commit(&mut self, id: &Id) -> Done<Vec<u8>> {
        Ok(self.object(id, "commit")?.content)
    }

    /// What a tree has at a path.
    pub(crate) fn at(&mut self, tree: &Id, path: &BStr) -> Done<Option<Entry>> {
        let mut tree = *tree;
        let mut parts = path.split_str("/").peekable();
        while let Some(part) = parts.next() {
            let entries = self.tree(&tree)?;
            let Some(found) = entries.iter().find(|entry| entry.name == part) else {
                return Ok(None);
            };
            match (parts.peek(), found.mode) {
                (None, mode) => return Ok(Some(Entry { mode, id: found.id })),
                (Some(_), TreeMode::Directory) => tree = found.id,
                (Some(_), _) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The files that a tree has below a directory.
    pub(crate) fn below(&mut self, tree: &Id, directory: &BStr) -> Done<Vec<BString>> {
        let mut files = Vec::new();
        if let Some(Entry {
            mode: TreeMode::Directory,
            id,
        }) = self.at(tree, directory)?
        {
            self.list(&id, directory, &mut files)?;
        }
        Ok(files)
    }

    fn list(&mut self, tree: &Id, prefix: &BStr, into: &mut Vec<BString>) -> Done<()> {
        for entry in self.tree(tree)?.iter() {
            let path = BString::from([prefix.as_bytes(), b"/", &entry.name[..]].concat());
            if entry.mode == TreeMode::Directory {
                self.list(&entry.id, path.as_bstr(), into)?;
            } else {
                into.push(path);
            }
        }
        Ok(())
    }
}

impl Trees for Objects {
    fn tree(&mut self, id: &Id) -> Done<Rc<Vec<TreeEntry>>> {
        if let Some(known) = self.trees.get(id) {
            return Ok(Rc::clone(known));
        }
        let entries = if id.to_string() == self.format.empty_tree() {
            Vec::new()
        } else {
            let object = self.object(id, "tree")?;
            parse(&object.content, self.format)
                .ok_or_else(|| Trouble::Said(format!("the tree {id} is not one of a capture")))?
        };
        let entries = Rc::new(entries);
        self.trees.insert(*id, Rc::clone(&entries));
        Ok(entries)
    }
}

fn mode_of(digits: &[u8]) -> Option<TreeMode> {
    Some(match digits {
        b"100644" => TreeMode::File,
        b"100755" => TreeMode::Executable,
        b"120000" => TreeMode::Link,
        b"40000" => TreeMode::Directory,
        b"160000" => TreeMode::Submodule,
        _ => return None,
    })
}

fn parse(tree: &[u8], format: Format) -> Option<Vec<TreeEntry>> {
    let mut entries = Vec::new();
    let mut rest = tree;
    while !rest.is_empty() {
        let (head, after) = rest.split_once_str("\0")?;
        let (digits, name) = head.split_once_str(" ")?;
        entries.push(TreeEntry {
            name: name.into(),
            mode: mode_of(digits)?,
            id: Id::from_bytes(after.get(..format.width())?)?,
        });
        rest = &after[format.width()..];
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::tree::compose;
    use crate::git::id::{ObjectKind, id_of};

    #[test]
    fn a_tree_comes_back_from_its_bytes() {
        for format in [Format::Sha1, Format::Sha256] {
            let id = id_of(format, ObjectKind::Blob, b"x").expect("no attack");
            let modes = [
                TreeMode::File,
                TreeMode::Executable,
                TreeMode::Link,
                TreeMode::Directory,
                TreeMode::Submodule,
            ];
            let entry = |(at, mode): (usize, TreeMode)| TreeEntry {
                name: BString::from(format!("n{at}")),
                mode,
                id,
            };
            let bytes = compose(modes.into_iter().enumerate().map(entry).collect());
            let entries = parse(&bytes, format).expect("it is a tree");
            assert_eq!(entries.len(), modes.len());
            assert_eq!(compose(entries), bytes);
            assert!(parse(&bytes[..bytes.len() - 1], format).is_none());
        }
    }
}

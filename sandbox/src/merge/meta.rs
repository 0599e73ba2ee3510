//! The host state of a capture (`M` in docs/design.md): its commit, and the parts of its tree.

use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::git::id::{Id, ObjectKind};
use crate::git::store::ObjectStore;
use crate::merge::edit::Trees;
use crate::merge::objects::Objects;
use crate::merge::trouble::{Done, Trouble};
use bstr::{BString, ByteSlice};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) struct Meta {
    pub(crate) id: Id,
    commit: Rc<Vec<u8>>,
    parts: Rc<Vec<TreeEntry>>,
}

/// What a composition makes itself; the other parts are those of one side.
const OWN: [&str; 3] = ["modes", "empty", "left-out"];

impl Meta {
    pub(crate) fn read(objects: &mut Objects, id: &Id) -> Done<Self> {
        let commit = objects.commit(id)?;
        let line = commit.lines().next().and_then(|line| line.strip_prefix(b"tree "));
        let tree = line
            .and_then(Id::from_hex)
            .ok_or_else(|| Trouble::Said(format!("{id} is no host state")))?;
        let parts = objects.tree(&tree)?;
        let meta = Meta {
            id: *id,
            commit: Rc::new(commit),
            parts,
        };
        // Every host state has it; if it is gone, others may be, too.
        let host = meta
            .part("host")
            .ok_or_else(|| Trouble::Missing(format!("the host state {id}")))?;
        objects.blob(&host)?;
        Ok(meta)
    }

    /// The id of a part.
    pub(crate) fn part(&self, name: &str) -> Option<Id> {
        let found = self.parts.iter().find(|entry| entry.name == name);
        found.map(|entry| entry.id)
    }

    /// The content of a part; empty when there is none.
    pub(crate) fn text(&self, objects: &mut Objects, name: &str) -> Done<Vec<u8>> {
        self.part(name).map_or(Ok(Vec::new()), |id| objects.blob(&id))
    }

    /// The same host state with these lists.
    pub(crate) fn with(&self, store: &ObjectStore, lists: &Lists) -> Done<Id> {
        let is_same = self.part("modes") == Some(lists.modes)
            && self.part("empty") == Some(lists.empty)
            && self.part("left-out") == lists.left_out;
        if is_same {
            return Ok(self.id);
        }
        let others = self
            .parts
            .iter()
            .filter(|entry| !OWN.iter().any(|name| entry.name == *name));
        let own = [Some(lists.modes), Some(lists.empty), lists.left_out];
        let own = OWN.iter().zip(own).filter_map(|(name, id)| {
            Some(TreeEntry {
                name: BString::from(*name),
                mode: TreeMode::File,
                id: id?,
            })
        });
        let tree = store.put(ObjectKind::Tree, &compose(others.cloned().chain(own).collect()))?;
        let rest = self
            .commit
            .split_once_str("\n")
            .map_or(&b""[..], |(_, rest)| rest);
        let text = [format!("tree {tree}\n").as_bytes(), rest].concat();
        Ok(store.put(ObjectKind::Commit, &text)?)
    }
}

/// Blobs of the lists of a sidecar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists {
    pub(crate) modes: Id,
    pub(crate) empty: Id,
    pub(crate) left_out: Option<Id>,
}

//! The trees of a sorted list of paths, as `git write-tree` makes them. Pure.

use crate::capture::tree::{TreeEntry, TreeMode, compose, is_forbidden, is_forbidden_link};
use crate::git::id::{Format, Id, ObjectKind, id_of};
use bstr::{BStr, BString, ByteSlice};

/// One file of the trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'path> {
    pub(crate) path: &'path BStr,
    pub(crate) mode: TreeMode,
    pub(crate) id: Id,
}

/// The tree of all, and every tree with its content.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) top: Id,
    pub(crate) trees: Vec<(Id, Vec<u8>)>,
}

/// The mode of an entry of an index, when it is one that git writes.
pub(crate) fn mode_of(mode: u32) -> Option<TreeMode> {
    match mode {
        0o100_644 => Some(TreeMode::File),
        0o100_755 => Some(TreeMode::Executable),
        0o120_000 => Some(TreeMode::Link),
        0o160_000 => Some(TreeMode::Submodule),
        _ => None,
    }
}

/// Makes the trees of leaves that are sorted by path. Nothing when git would refuse one of them: a name that a tree
/// cannot have, no id, or a file where another leaf needs a directory.
pub(crate) fn trees(format: Format, leaves: &[Leaf<'_>]) -> Option<Made> {
    let mut trees = Vec::new();
    let top = tree(format, leaves, 0, &mut trees)?;
    Some(Made { top, trees })
}

fn tree(format: Format, leaves: &[Leaf<'_>], start: usize, trees: &mut Vec<(Id, Vec<u8>)>) -> Option<Id> {
    let mut entries: Vec<TreeEntry> = Vec::new();
    let mut files: Vec<&[u8]> = Vec::new();
    let mut directories: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    while let Some(leaf) = leaves.get(at) {
        let rest = &leaf.path[start..];
        let (name, mode, id) = match rest.find_byte(b'/') {
            None => {
                at += 1;
                files.push(rest);
                (rest, leaf.mode, leaf.id)
            }
            Some(slash) => {
                let stem = &leaf.path[..=start + slash];
                let count = leaves[at..].partition_point(|one| one.path.starts_with(stem));
                let inner = tree(format, &leaves[at..at + count], start + slash + 1, trees)?;
                at += count;
                directories.push(&rest[..slash]);
                (&rest[..slash], TreeMode::Directory, inner)
            }
        };
        if !is_certain(name.as_bstr(), mode) || id.as_bytes().iter().all(|byte| *byte == 0) {
            return None;
        }
        entries.push(TreeEntry {
            name: BString::from(name),
            mode,
            id,
        });
    }
    if directories.iter().any(|name| files.binary_search(name).is_ok()) {
        return None;
    }
    let content = compose(entries);
    let id = id_of(format, ObjectKind::Tree, &content).ok()?;
    trees.push((id, content));
    Some(id)
}

fn is_certain(name: &BStr, mode: TreeMode) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && !is_forbidden(name)
        && !(mode == TreeMode::Link && is_forbidden_link(name))
}

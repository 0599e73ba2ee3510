//! The host state of a capture, read back from its objects (`M` in docs/design.md).

use crate::git::batch::{Batch, Object};
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;

/// Entries of a tree: name, and id of the object.
pub(crate) type Entries = BTreeMap<BString, String>;

/// The parts of one host state.
#[derive(Default)]
pub(crate) struct HostState {
    pub(crate) parts: Entries,
    pub(crate) head: CapturedHead,
    /// Commits, or `symref REF`.
    pub(crate) refs: BTreeMap<BString, CapturedRef>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CapturedRef {
    Commit(String),
    Symbolic(BString),
}

/// HEAD as the list `host` says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapturedHead {
    /// `branch`, `unborn`, `detached`, `unreadable`; empty or `none` when there was no repository.
    pub(crate) kind: String,
    pub(crate) name: BString,
    pub(crate) commit: String,
}

impl CapturedHead {
    /// Whether it was captured at all.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.kind.as_str(), "branch" | "unborn" | "detached")
    }
}

/// The entries of a tree object. Ids have 20 or 32 bytes.
pub(crate) fn entries(tree: &[u8], id_bytes: usize) -> Entries {
    let mut found = Entries::new();
    let mut rest = tree;
    while let Some((head, after)) = rest.split_once_str("\0") {
        let (Some((_, name)), Some(id)) = (head.split_once_str(" "), after.get(..id_bytes)) else {
            break;
        };
        found.insert(name.into(), id.iter().map(|byte| format!("{byte:02x}")).collect());
        rest = &after[id_bytes..];
    }
    found
}

/// The tree that a commit names.
fn tree_of(commit: &Object) -> Option<String> {
    let line = commit.content.lines().next()?.strip_prefix(b"tree ")?;
    Some(line.to_str().ok()?.to_owned())
}

/// Reads a host state. Nothing when the sandbox does not have it.
pub(crate) fn host_state(objects: &mut Batch, meta: &str) -> Outcome<Option<HostState>> {
    let Some(tree) = objects.object(meta)?.as_ref().and_then(tree_of) else {
        return Ok(None);
    };
    let Some(tree) = objects.object(&tree)? else {
        return Ok(None);
    };
    let parts = entries(&tree.content, meta.len() / 2);
    let mut state = HostState {
        parts,
        head: CapturedHead::default(),
        refs: BTreeMap::new(),
    };
    let text = part(objects, &state.parts, "host")?;
    for line in text.lines() {
        let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
        state.note(word.as_bstr(), rest.as_bstr());
    }
    Ok(Some(state))
}

impl HostState {
    fn note(&mut self, word: &BStr, rest: &BStr) {
        let text = || rest.to_str_lossy().into_owned();
        match word.as_bytes() {
            b"head" => self.head.kind = text(),
            b"ref" => rest.clone_into(&mut self.head.name),
            b"commit" => self.head.commit = text(),
            b"branch" => {
                if let Some((id, name)) = rest.split_once_str(" ") {
                    self.refs
                        .insert(name.into(), CapturedRef::Commit(id.to_str_lossy().into_owned()));
                }
            }
            b"symref" => {
                if let Some((target, name)) = rest.split_once_str(" ") {
                    self.refs
                        .insert(name.into(), CapturedRef::Symbolic(target.into()));
                }
            }
            // Lines of other kinds say nothing about HEAD and branches.
            _ => {}
        }
    }
}

/// The content of one part, empty when there is none.
pub(crate) fn part(objects: &mut Batch, parts: &Entries, name: &str) -> Outcome<BString> {
    let Some(id) = parts.get(name.as_bytes().as_bstr()) else {
        return Ok(BString::default());
    };
    Ok(objects
        .object(id)?
        .map(|object| BString::from(object.content))
        .unwrap_or_default())
}

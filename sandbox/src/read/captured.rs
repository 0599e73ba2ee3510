//! The host state of a capture, read back from its objects (`M` in docs/design.md).

use crate::git::batch::Batch;
use crate::git::id::Id;
use crate::wire::error::{Failure, Outcome};
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

/// What of a capture the sandbox does not have, in words.
pub(crate) type Missing = String;

/// The entries of a tree object. Ids have 20 or 32 bytes. Nothing when it is no tree, or cut short.
pub(crate) fn entries(tree: &[u8], id_bytes: usize) -> Option<Entries> {
    let mut found = Entries::new();
    let mut rest = tree;
    while !rest.is_empty() {
        let (head, after) = rest.split_once_str("\0")?;
        let (_, name) = head.split_once_str(" ")?;
        let id = after.get(..id_bytes)?;
        found.insert(name.into(), id.iter().map(|byte| format!("{byte:02x}")).collect());
        rest = &after[id_bytes..];
    }
    Some(found)
}

/// An object of this kind. One of another kind, or that is not what its kind says, is a fault: no capture made it.
fn read(objects: &mut Batch, id: &str, kind: &str) -> Outcome<Result<Vec<u8>, Missing>> {
    match objects.object(id)? {
        None => Ok(Err(format!("the object {id} of a host state is missing"))),
        Some(object) if object.kind == kind => Ok(Ok(object.content)),
        Some(object) => Err(odd(id, kind, &object.kind)),
    }
}

fn odd(id: &str, kind: &str, found: &str) -> Failure {
    Failure::Fault(format!(
        "the object {id} of a host state is no {kind} that can be read, but a {found}"
    ))
}

/// The lines at the beginning of a commit that say this of it.
fn named<'commit>(commit: &'commit [u8], word: &'static str) -> impl Iterator<Item = &'commit [u8]> {
    let head = commit.lines().take_while(|line| !line.is_empty());
    head.filter_map(move |line| line.strip_prefix(word.as_bytes()))
}

/// The commits that a host state names. It must be here.
pub(crate) fn commits_of(objects: &mut Batch, meta: &str) -> Outcome<Vec<Id>> {
    let commit = read(objects, meta, "commit")?.map_err(Failure::Fault)?;
    let parents = named(&commit, "parent ").map(Id::from_hex);
    let all: Option<Vec<Id>> = parents.collect();
    all.ok_or_else(|| odd(meta, "commit", "torn one"))
}

/// Reads a host state. The inner error says what of it the sandbox does not have.
pub(crate) fn host_state(objects: &mut Batch, meta: &str) -> Outcome<Result<HostState, Missing>> {
    let commit = match read(objects, meta, "commit")? {
        Ok(commit) => commit,
        Err(missing) => return Ok(Err(missing)),
    };
    let tree = named(&commit, "tree ").next().and_then(|id| id.to_str().ok());
    let Some(tree) = tree else {
        return Err(odd(meta, "commit", "torn one"));
    };
    let parts = match read(objects, tree, "tree")? {
        Ok(content) => entries(&content, meta.len() / 2).ok_or_else(|| odd(tree, "tree", "torn one"))?,
        Err(missing) => return Ok(Err(missing)),
    };
    let text = match find_part(objects, &parts, "host")? {
        Ok(text) => text,
        Err(missing) => return Ok(Err(missing)),
    };
    let mut state = HostState {
        parts,
        head: CapturedHead::default(),
        refs: BTreeMap::new(),
    };
    for line in text.lines() {
        let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
        state.note(word.as_bstr(), rest.as_bstr());
    }
    Ok(Ok(state))
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

/// The content of one part, empty when the capture has none. The inner error: it has one, which is not here.
pub(crate) fn find_part(
    objects: &mut Batch,
    parts: &Entries,
    name: &str,
) -> Outcome<Result<BString, Missing>> {
    let Some(id) = parts.get(name.as_bytes().as_bstr()) else {
        return Ok(Ok(BString::default()));
    };
    Ok(read(objects, id, "blob")?.map(BString::from))
}

/// The same of a state whose lists are here.
pub(crate) fn part(objects: &mut Batch, parts: &Entries, name: &str) -> Outcome<BString> {
    find_part(objects, parts, name)?.map_err(Failure::Fault)
}

#[cfg(test)]
#[path = "captured_tests.rs"]
mod tests;

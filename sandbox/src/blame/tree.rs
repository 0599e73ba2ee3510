//! What stands at a path in a tree.

use crate::git::batch::Batch;
use crate::git::id::Format;
use crate::wire::error::Outcome;
use bstr::{BStr, ByteSlice};

const TREE: &[u8] = b"40000";

/// What a tree has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Directory,
    Link,
    Submodule,
    File,
}

/// An object on the way is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lacking;

/// Looks a path up. A name in it that is empty names nothing.
pub(crate) fn look_up(
    objects: &mut Batch,
    format: Format,
    tree: &str,
    path: &BStr,
) -> Outcome<Result<Option<Entry>, Lacking>> {
    let mut at = Entry {
        kind: EntryKind::Directory,
        id: tree.to_owned(),
    };
    for name in path.split_str("/") {
        if at.kind != EntryKind::Directory {
            return Ok(Ok(None));
        }
        let Some(object) = objects.object(&at.id)?.filter(|object| object.kind == "tree") else {
            return Ok(Err(Lacking));
        };
        match entry_of(&object.content, format, name) {
            Some(entry) => at = entry,
            None => return Ok(Ok(None)),
        }
    }
    Ok(Ok(Some(at)))
}

/// The entry of this name: `MODE NAME`, a NUL, and the bytes of its id.
fn entry_of(tree: &[u8], format: Format, name: &[u8]) -> Option<Entry> {
    let mut rest = tree;
    while let Some((head, after)) = rest.split_once_str("\0") {
        let (mode, found) = head.split_once_str(" ")?;
        let id = after.get(..format.width())?;
        if found == name {
            return Some(Entry {
                kind: match mode {
                    TREE => EntryKind::Directory,
                    b"120000" => EntryKind::Link,
                    b"160000" => EntryKind::Submodule,
                    _ => EntryKind::File,
                },
                id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
            });
        }
        rest = &after[format.width()..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::private::PrivateGit;
    use std::path::Path;

    fn made(git: &PrivateGit, args: &[&str], input: &str) -> String {
        let answer = git.git().args(args).input(input).run().expect("git runs");
        let text = answer.ok().expect("it can").to_str_lossy().into_owned();
        text.trim().to_owned()
    }

    fn git_in(top: &Path, format: Format) -> PrivateGit {
        PrivateGit::make(top.join("git"), format, b"").expect("it is made")
    }

    #[test]
    fn each_kind_is_found_and_nothing_else() {
        for format in [Format::Sha1, Format::Sha256] {
            let top = tempfile::tempdir().expect("a temporary directory");
            let git = git_in(top.path(), format);
            let blob = made(&git, &["hash-object", "-w", "--stdin"], "text\n");
            let none = "f".repeat(2 * format.width());
            let inner = made(
                &git,
                &["mktree", "-z"],
                &format!("100755 blob {blob}\tnew\nline\0100644 blob {blob}\t*\0"),
            );
            let tree = made(
                &git,
                &["mktree", "--missing"],
                &format!(
                    "100644 blob {blob}\ta\n120000 blob {blob}\tl\n160000 commit {none}\ts\n040000 tree {inner}\td\n"
                ),
            );
            let mut objects = Batch::open(git.path(), git.path()).expect("git starts");
            let mut kind = |path: &str| {
                let found = look_up(&mut objects, format, &tree, BStr::new(path));
                found
                    .expect("git answers")
                    .expect("all is there")
                    .map(|entry| entry.kind)
            };
            for (path, expected) in [
                ("a", Some(EntryKind::File)),
                ("l", Some(EntryKind::Link)),
                ("s", Some(EntryKind::Submodule)),
                ("d", Some(EntryKind::Directory)),
                ("d/new\nline", Some(EntryKind::File)),
                ("d/*", Some(EntryKind::File)),
                ("*", None),
                ("a/b", None),
                ("s/b", None),
                ("d/", None),
                ("", None),
                ("A", None),
            ] {
                assert_eq!(kind(path), expected, "{path:?}");
            }
        }
    }

    #[test]
    fn a_tree_that_is_not_there_is_told() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let git = git_in(top.path(), Format::Sha1);
        let none = "f".repeat(40);
        let tree = made(
            &git,
            &["mktree", "--missing"],
            &format!("040000 tree {none}\td\n"),
        );
        let mut objects = Batch::open(git.path(), git.path()).expect("git starts");
        for (tree, path) in [(&none, "a"), (&tree, "d/a")] {
            let found = look_up(&mut objects, Format::Sha1, tree, BStr::new(path));
            assert_eq!(found.expect("git answers"), Err(Lacking));
        }
    }
}

//! Trees of git.

use crate::git::id::Id;
use bstr::{BStr, BString};

/// The modes that a tree of ours has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeMode {
    File,
    Executable,
    Link,
    Directory,
    /// A commit of another repository. Only an index of the host has it.
    Submodule,
}

impl TreeMode {
    fn digits(self) -> &'static str {
        match self {
            TreeMode::File => "100644",
            TreeMode::Executable => "100755",
            TreeMode::Link => "120000",
            TreeMode::Directory => "40000",
            TreeMode::Submodule => "160000",
        }
    }
}

/// One line of a tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeEntry {
    pub(crate) name: BString,
    pub(crate) mode: TreeMode,
    pub(crate) id: Id,
}

/// Git sorts a directory as if its name ended with a slash.
fn sort_key(entry: &TreeEntry) -> Vec<u8> {
    let mut key = entry.name.to_vec();
    if entry.mode == TreeMode::Directory {
        key.push(b'/');
    }
    key
}

/// The content of the tree with these entries.
pub(crate) fn compose(mut entries: Vec<TreeEntry>) -> Vec<u8> {
    entries.sort_by_cached_key(sort_key);
    let mut content = Vec::with_capacity(entries.len() * 40);
    for entry in &entries {
        content.extend_from_slice(entry.mode.digits().as_bytes());
        content.push(b' ');
        content.extend_from_slice(&entry.name);
        content.push(0);
        content.extend_from_slice(entry.id.as_bytes());
    }
    content
}

/// Whether git refuses this name in a tree: `.git` in any case.
pub(crate) fn is_forbidden(name: &BStr) -> bool {
    name.eq_ignore_ascii_case(b".git")
}

/// Whether git refuses a link of this name.
pub(crate) fn is_forbidden_link(name: &BStr) -> bool {
    is_forbidden(name) || name.eq_ignore_ascii_case(b".gitmodules")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::{Format, ObjectKind, id_of};
    use crate::git::process::Git;
    use bstr::ByteSlice;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn git_makes_the_same_tree(names in proptest::collection::btree_set("[ab.\u{e9}-]{1,4}", 0..8), kinds in proptest::collection::vec(0_usize..4, 8)) {
            let top = tempfile::tempdir().expect("a temporary directory");
            Git::new(top.path()).args(["init", "-q", "--bare", "."]).run().expect("git runs");
            let blob = id_of(Format::Sha1, ObjectKind::Blob, b"").expect("no attack");
            let names = names.into_iter().filter(|name| name != "." && name != "..");
            let entries: Vec<TreeEntry> = names.zip(kinds).map(|(name, kind)| TreeEntry {
                name: BString::from(name),
                mode: [TreeMode::File, TreeMode::Executable, TreeMode::Link, TreeMode::Directory][kind],
                id: blob,
            }).collect();
            let lines: Vec<u8> = entries.iter().flat_map(|entry| {
                let kind = if entry.mode == TreeMode::Directory { "tree" } else { "blob" };
                format!("{:0>6} {kind} {blob}\t{}\0", entry.mode.digits(), entry.name).into_bytes()
            }).collect();
            let git = Git::on_shadow(top.path(), top.path()).args(["mktree", "-z", "--missing"]);
            let said = git.input(lines).run().expect("git runs");
            let expected = said.stdout.trim_ascii().as_bstr().to_string();
            let id = id_of(Format::Sha1, ObjectKind::Tree, &compose(entries)).expect("no attack");
            prop_assert_eq!(id.to_string(), if expected.is_empty() { "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned() } else { expected });
        }
    }
}

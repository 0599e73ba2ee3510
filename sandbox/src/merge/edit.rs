//! Changes single paths of a tree.

use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::git::id::{Format, Id, ObjectKind};
use crate::git::store::ObjectStore;
use crate::merge::trouble::{Done, Trouble};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a tree has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: TreeMode,
    pub(crate) id: Id,
}

/// Where trees are read.
pub(crate) trait Trees {
    fn tree(&mut self, id: &Id) -> Done<Rc<Vec<TreeEntry>>>;
}

/// What becomes of each path; nothing: it goes.
pub(crate) type Edits = BTreeMap<BString, Option<Entry>>;

/// The tree with these changes. A file in the place of a directory makes room when something comes below it, and a
/// directory in which nothing is left goes.
pub(crate) fn edited(trees: &mut impl Trees, store: &ObjectStore, tree: &Id, edits: &Edits) -> Done<Id> {
    let edits: Vec<(&BStr, Option<Entry>)> = edits
        .iter()
        .map(|(path, entry)| (path.as_bstr(), *entry))
        .collect();
    edit(trees, store, tree, &edits)
}

/// The changes of one name: to itself, and to what is below it.
#[derive(Default)]
struct Named<'path> {
    own: Option<Option<Entry>>,
    below: Vec<(&'path BStr, Option<Entry>)>,
}

fn edit(
    trees: &mut impl Trees,
    store: &ObjectStore,
    tree: &Id,
    edits: &[(&BStr, Option<Entry>)],
) -> Done<Id> {
    let empty = empty_tree(store.format)?;
    let mut names: BTreeMap<&BStr, Named<'_>> = BTreeMap::new();
    for (path, entry) in edits {
        match path.split_once_str("/") {
            None => names.entry(path).or_default().own = Some(*entry),
            Some((name, rest)) => names
                .entry(name.as_bstr())
                .or_default()
                .below
                .push((rest.as_bstr(), *entry)),
        }
    }
    let mut entries: Vec<TreeEntry> = trees.tree(tree)?.to_vec();
    for (name, Named { own, below }) in names {
        let at = entries.iter().position(|entry| entry.name == name);
        let before = at.map(|at| {
            let found = entries.swap_remove(at);
            Entry {
                mode: found.mode,
                id: found.id,
            }
        });
        let mut now = own.unwrap_or(before);
        let has_more = below.iter().any(|(_, entry)| entry.is_some());
        let inner = match now {
            Some(Entry {
                mode: TreeMode::Directory,
                id,
            }) => Some(id),
            Some(_) | None => has_more.then_some(empty),
        };
        if let Some(inner) = inner.filter(|_| !below.is_empty()) {
            now = Some(Entry {
                mode: TreeMode::Directory,
                id: edit(trees, store, &inner, &below)?,
            });
        }
        entries.extend(now.filter(|entry| entry.id != empty).map(|entry| TreeEntry {
            name: name.to_owned(),
            mode: entry.mode,
            id: entry.id,
        }));
    }
    Ok(store.put(ObjectKind::Tree, &compose(entries))?)
}

fn empty_tree(format: Format) -> Done<Id> {
    Id::from_hex(format.empty_tree().as_bytes())
        .ok_or_else(|| Trouble::Said("the empty tree has no id".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::process::Git;
    use crate::merge::objects::Objects;
    use crate::shadow::open::Shadow;
    use proptest::prelude::*;
    use std::path::Path;

    fn said(git: Git) -> String {
        let answer = git.run().expect("git runs");
        assert!(answer.status.success(), "{}", answer.said());
        answer.stdout.trim_ascii().to_str_lossy().into_owned()
    }

    /// The tree of these files, as an index of git makes it.
    fn by_git(top: &Path, from: &str, gone: &[String], come: &[(String, &'static str, Id)]) -> String {
        let git = || {
            Git::on_shadow(top, top)
                .env("GIT_INDEX_FILE", top.join("index"))
                .env("GIT_WORK_TREE", top)
        };
        said(git().args(["read-tree", from]));
        let listed = git()
            .args(["--literal-pathspecs", "ls-files", "-z", "--"])
            .args(gone);
        let listed = if gone.is_empty() {
            String::new()
        } else {
            said(listed)
        };
        said(
            git()
                .args(["update-index", "--force-remove", "-z", "--stdin"])
                .input(listed),
        );
        let lines: String = come
            .iter()
            .map(|(path, mode, id)| format!("{mode} {id}\t{path}\0"))
            .collect();
        said(
            git()
                .args(["update-index", "--replace", "-z", "--index-info"])
                .input(lines),
        );
        said(git().arg("write-tree"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn git_makes_the_same_tree(
            first in proptest::collection::btree_set("[ab](/[ab]){0,2}", 0..6),
            gone in proptest::collection::btree_set("[ab](/[ab]){0,2}", 0..3),
            come in proptest::collection::btree_set("[ab](/[ab]){0,2}", 0..3),
        ) {
            let top = tempfile::tempdir().expect("a temporary directory");
            let top = top.path();
            said(Git::new(top).args(["init", "-q", "--bare", "."]));
            // A path cannot be both a file and a directory.
            let apart = |paths: std::collections::BTreeSet<String>| -> Vec<String> {
                let is_above = |path: &String| paths.iter().any(|other| other.starts_with(&format!("{path}/")));
                paths.iter().filter(|path| !is_above(path)).cloned().collect()
            };
            let (first, come) = (apart(first), apart(come));
            let gone: Vec<String> = gone.into_iter().filter(|path| !come.iter().any(|other| other == path || other.starts_with(&format!("{path}/")) || path.starts_with(&format!("{other}/")))).collect();
            let blob = |text: &str| Id::from_hex(said(Git::on_shadow(top, top).args(["hash-object", "-w", "--stdin"]).input(text)).as_bytes()).expect("an id");
            let (one, two) = (blob("one"), blob("two"));
            let lines: Vec<(String, &'static str, Id)> = first.iter().map(|path| (path.clone(), "100644", one)).collect();
            let start = by_git(top, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", &[], &lines);
            let lines: Vec<(String, &'static str, Id)> = come.iter().map(|path| (path.clone(), "100755", two)).collect();
            let expected = by_git(top, &start, &gone, &lines);

            let shadow = Shadow { top: top.to_owned(), git: top.to_owned(), format: Format::Sha1 };
            let store = ObjectStore::new(shadow.objects(), Format::Sha1);
            let mut objects = Objects::open(&shadow).expect("git runs");
            let mut edits: Edits = gone.iter().map(|path| (BString::from(path.as_str()), None)).collect();
            edits.extend(come.iter().map(|path| (BString::from(path.as_str()), Some(Entry { mode: TreeMode::Executable, id: two }))));
            let start = Id::from_hex(start.as_bytes()).expect("an id");
            let made = edited(&mut objects, &store, &start, &edits).expect("all trees are here");
            prop_assert_eq!(made.to_string(), expected);
        }
    }
}

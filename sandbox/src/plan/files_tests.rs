use super::*;
use crate::git::id::{Format, ObjectKind, id_of};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn content(text: &str) -> Content {
    let id = id_of(Format::Sha1, ObjectKind::Blob, text.as_bytes()).expect("no attack");
    Content {
        mode: TreeMode::File,
        id,
    }
}

type Tree = BTreeMap<BString, Content>;

fn tree(entries: &[(&str, &str)]) -> Tree {
    let entries = entries.iter();
    entries
        .map(|(path, text)| (BString::from(*path), content(text)))
        .collect()
}

fn differences(from: &Tree, to: &Tree) -> Vec<Difference> {
    let paths: BTreeSet<&BString> = from.keys().chain(to.keys()).collect();
    let all = paths.into_iter().map(|path| Difference {
        path: path.clone(),
        from: from.get(path).copied(),
        to: to.get(path).copied(),
    });
    all.filter(|one| one.from != one.to).collect()
}

fn between(from: &[(&str, &str)], to: &[(&str, &str)], stays: &[&str], empty: &[&str]) -> Vec<String> {
    let set = |paths: &[&str]| paths.iter().map(|path| BString::from(*path)).collect();
    let (from, to) = (tree(from), tree(to));
    let all = changes(&differences(&from, &to), &set(stays), &set(empty));
    all.iter()
        .map(|change| match change {
            Change::PutAside(path) => format!("aside {path}"),
            Change::Replace(path, _) => format!("replace {path}"),
            Change::Write(path, _) => format!("write {path}"),
            Change::RemoveDirectory(path) => format!("rmdir {path}"),
        })
        .collect()
}

#[test]
fn what_both_have_is_left_alone() {
    assert_eq!(between(&[("a", "1")], &[("a", "1")], &[], &[]), [""; 0]);
}

#[test]
fn a_file_goes_with_the_directories_that_held_nothing_else() {
    assert_eq!(
        between(&[("d/e/a", "1"), ("d/b", "1")], &[("d/b", "1")], &[], &[]),
        ["aside d/e/a", "rmdir d/e", "rmdir d"]
    );
}

#[test]
fn a_directory_that_another_file_comes_into_or_that_is_to_be_empty_stays() {
    assert_eq!(
        between(&[("d/a", "1")], &[("d/b", "1")], &[], &[]),
        ["aside d/a", "write d/b"]
    );
    assert_eq!(between(&[("d/a", "1")], &[], &[], &["d"]), ["aside d/a"]);
}

#[test]
fn a_file_and_a_directory_change_places() {
    assert_eq!(
        between(&[("a", "1")], &[("a/b", "1")], &[], &[]),
        ["aside a", "write a/b"]
    );
    assert_eq!(
        between(&[("a/b", "1")], &[("a", "1")], &[], &[]),
        ["aside a/b", "write a"]
    );
}

#[test]
fn what_stays_keeps_its_directories() {
    assert_eq!(
        between(&[("d/a", "1"), ("d/b", "1")], &[], &["d/a"], &[]),
        ["aside d/b"]
    );
}

#[test]
fn rules_and_attributes_are_counted_at_any_depth_and_by_their_whole_name() {
    let all = |from: &[(&str, &str)]| summary(&differences(&tree(from), &Tree::new()));
    assert!(all(&[("d/.gitignore", "")]).has_rules);
    assert!(all(&[(".gitattributes", "")]).has_attributes);
    assert!(!all(&[("d.gitignore", "")]).has_rules);
    assert_eq!(all(&[("a", ""), ("b", "")]).deleted, 2);
}

/// A tree as a file system could hold it: no path is a directory of another one.
fn some_tree() -> impl Strategy<Value = Tree> {
    proptest::collection::btree_map("[ab](/[ab]){0,2}", "[12]", 0..6).prop_map(|paths| {
        let mut tree = Tree::new();
        for (path, text) in paths {
            let path = BString::from(path);
            let is_taken = tree.keys().any(|one| {
                above(path.as_bstr()).any(|up| up == one) || above(one.as_bstr()).any(|up| up == path)
            });
            if !is_taken {
                tree.insert(path, content(&text));
            }
        }
        tree
    })
}

proptest! {
    /// Played on a model of a file system that refuses what a real one refuses.
    #[test]
    fn the_steps_lead_from_any_tree_to_any_other(from in some_tree(), to in some_tree()) {
        let mut files = from.clone();
        let directories = |files: &Tree| -> BTreeSet<BString> { files.keys().flat_map(|path| above(path.as_bstr())).map(BString::from).collect() };
        let mut made = directories(&from);
        for change in changes(&differences(&from, &to), &BTreeSet::new(), &BTreeSet::new()) {
            match change {
                Change::PutAside(path) => prop_assert!(files.remove(&path).is_some()),
                Change::Replace(path, content) => prop_assert!(files.insert(path, content).is_some()),
                Change::Write(path, content) => {
                    let inside = [&path[..], b"/"].concat();
                    prop_assert!(!files.keys().any(|one| one.starts_with(&inside)));
                    prop_assert!(above(path.as_bstr()).all(|up| !files.contains_key(up)));
                    made.retain(|one| *one != path && !one.starts_with(&inside));
                    made.extend(above(path.as_bstr()).map(BString::from));
                    prop_assert!(files.insert(path, content).is_none());
                }
                Change::RemoveDirectory(path) => {
                    let inside = [&path[..], b"/"].concat();
                    if !files.keys().chain(&made).any(|one| one.starts_with(&inside)) {
                        made.remove(&path);
                    }
                }
            }
        }
        prop_assert_eq!(&files, &to);
        prop_assert_eq!(made, directories(&to));
    }
}

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn make(root: &Path, directories: &[&str]) {
    for directory in directories {
        fs::create_dir_all(root.join(directory)).expect("a directory in a new folder");
    }
}

fn roots(found: &Discovered) -> Vec<&str> {
    found
        .roots
        .iter()
        .map(|root| root.to_str().expect("a name of this test"))
        .collect()
}

fn passed_over(found: &Discovered) -> Vec<(&str, &str)> {
    let path = |skipped: &'_ Skipped| skipped.path.0.to_str().expect("a name of this test").to_owned();
    found
        .passed_over
        .iter()
        .map(|skipped| (&*Box::leak(path(skipped).into_boxed_str()), &*skipped.reason))
        .collect()
}

#[test]
fn roots_are_found_inside_others_and_not_in_dependency_folders() {
    let top = tempfile::tempdir().expect("a temporary directory");
    make(
        top.path(),
        &[
            "a/.git",
            "a/in/deep/.git",
            "b/node_modules/x/.git",
            "c d/\u{e9}",
            ".agent-shadow/y/.git",
        ],
    );
    fs::write(top.path().join("c d/.git"), "gitdir: elsewhere").expect("a file");
    let found = everywhere(top.path(), 8).expect("it can be looked into");
    assert_eq!(roots(&found), ["a", "a/in/deep", "c d"]);
    assert_eq!(found.passed_over, []);
}

#[test]
fn the_projects_root_may_be_one() {
    let top = tempfile::tempdir().expect("a temporary directory");
    make(top.path(), &[".git/inner/.git", "1/2/3/4"]);
    let found = everywhere(top.path(), 2).expect("it can be looked into");
    assert_eq!(roots(&found), ["."]);
    assert_eq!(found.passed_over, [], "what is deep lies in a repository");
}

#[test]
fn depth_is_counted_from_the_projects_root() {
    let top = tempfile::tempdir().expect("a temporary directory");
    make(
        top.path(),
        &[
            "1/2/.git",
            "1/b/c/.git",
            "1/b/d/e/f/.git",
            "0/0/0",
            "2/.git",
            "2/3/4/5",
        ],
    );
    let found = everywhere(top.path(), 2).expect("it can be looked into");
    assert_eq!(roots(&found), ["1/2", "2"]);
    let why = "more than 2 levels below the projects root: git repositories in it, and in others as deep, are not looked for";
    assert_eq!(
        passed_over(&found),
        [("1/b/c", why)],
        "one without content does not count"
    );
}

#[test]
fn links_are_not_followed() {
    let top = tempfile::tempdir().expect("a temporary directory");
    make(top.path(), &["real/.git", "linked"]);
    symlink("real", top.path().join("alias")).expect("a link");
    symlink("../real/.git", top.path().join("linked/.git")).expect("a link");
    let found = everywhere(top.path(), 8).expect("it can be looked into");
    assert_eq!(roots(&found), ["real"]);
    assert_eq!(passed_over(&found), [("linked", LINKED_GIT)]);
}

#[test]
fn known_directories_are_not_looked_into() {
    let top = tempfile::tempdir().expect("a temporary directory");
    make(
        top.path(),
        &[
            "x/known/.git",
            "x/known/in/.git",
            "x/new/.git",
            "y/.git",
            "x/1/2/3/.git",
        ],
    );
    let known = HashSet::from([BString::from("x/known")]);
    let search = |walk_depth| Search {
        max_depth: 8,
        walk_depth,
        starts: vec![BString::from("x")],
        known: &known,
    };
    let found = find(top.path(), &search(9)).expect("it can be looked into");
    assert_eq!(roots(&found), ["x/1/2/3", "x/new"]);
    let found = find(top.path(), &search(4)).expect("it can be looked into");
    assert_eq!(roots(&found), ["x/new"]);
}

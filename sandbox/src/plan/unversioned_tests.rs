use super::*;

fn noted(entries: &[&str]) -> Option<Unversioned> {
    Unversioned::parse(entries.join("\0").as_bytes())
}

fn set(paths: &[&str]) -> BTreeSet<BString> {
    paths.iter().map(|path| BString::from(*path)).collect()
}

fn stays(unversioned: Option<&Unversioned>, repository: &str, files: &[&str], empty: &[&str]) -> Staying {
    staying(unversioned, repository.into(), set(files).iter(), &set(empty))
}

#[test]
fn a_list_without_its_end_says_nothing() {
    assert_eq!(noted(&["d.", "f./a"]), None);
    assert!(noted(&["d.", "f./a", "e"]).is_some());
}

#[test]
fn only_what_was_noted_stays() {
    let known = noted(&["d.", "d./new", "f./new/a", "d./new/b", "e"]);
    let found = stays(known.as_ref(), "new", &["a", "b", "c"], &["d"]);
    assert_eq!(found.files, set(&["a"]));
    assert_eq!(found.directories, set(&["b"]));
    assert_eq!(found.places, set(&["new"]));
    assert!(found.told.is_some_and(|told| told.starts_with("1 file stays")));
}

#[test]
fn a_repository_where_nothing_was_goes_whole() {
    let known = noted(&["d.", "d./docs", "e"]);
    let found = stays(known.as_ref(), "docs/new", &["a"], &["b"]);
    assert_eq!(found.files, set(&[]));
    assert_eq!(found.directories, set(&[]));
    assert_eq!(found.places, set(&["docs"]));
    assert_eq!(found.told, None);
}

#[test]
fn all_stays_where_nothing_was_noted() {
    let found = stays(None, "new", &["a", "b"], &["c"]);
    assert_eq!(found.files, set(&["a", "b"]));
    assert_eq!(found.directories, set(&["c"]));
    assert_eq!(found.places, set(&["new"]));
    assert!(found.told.is_some_and(|told| told.contains("nothing says")));
}

#[test]
fn all_stays_below_a_directory_that_was_not_looked_into() {
    let known = noted(&["d.", "o./node_modules", "e"]);
    let found = stays(known.as_ref(), "node_modules/new", &["a"], &["c"]);
    assert_eq!(found.files, set(&["a"]));
    assert_eq!(found.directories, set(&["c"]));
    let inside = noted(&["d.", "o./new/node_modules", "e"]);
    let found = stays(inside.as_ref(), "new", &["a", "node_modules/a"], &[]);
    assert_eq!(found.files, set(&["node_modules/a"]));
}

#[test]
fn the_projects_root_has_no_prefix() {
    let known = noted(&["d.", "f./a", "d./b", "e"]);
    let found = stays(known.as_ref(), ".", &["a", "b/c"], &[]);
    assert_eq!(found.files, set(&["a"]));
    assert_eq!(found.directories, set(&["b"]));
}

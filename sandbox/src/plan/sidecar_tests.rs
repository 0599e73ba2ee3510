use super::*;

fn sidecar(modes: &[&str], empty: &[&str]) -> Sidecar {
    let list = |lines: &[&str]| lines.iter().map(|line| format!("{line}\0")).collect::<String>();
    Sidecar::parse(list(modes).as_bytes(), list(empty).as_bytes())
}

fn between(from: &Sidecar, to: &Sidecar, hidden: &[&str], stays: &[&str]) -> Vec<String> {
    let hidden = hidden.iter().map(|path| BString::from(*path)).collect();
    let all = changes(from, to, &hidden, |path| stays.iter().any(|stay| path == stay));
    all.iter()
        .map(|change| match change {
            Change::RemoveEmpty(path) => format!("rmdir {path}"),
            Change::MakeDirectory(path) => format!("mkdir {path}"),
            Change::SetMode(path, Listed::File(mode)) => format!("F{mode:o} {path}"),
            Change::SetMode(path, Listed::Directory(mode)) => format!("D{mode:o} {path}"),
            Change::SetUsual(path) => format!("usual {path}"),
        })
        .collect()
}

#[test]
fn a_list_is_read_as_it_was_written() {
    let read = sidecar(&["D2755/a/b", "F600/c d", "U0077/"], &["e/f"]);
    assert_eq!(read.modes[&BString::from("a/b")], Listed::Directory(0o2755));
    assert_eq!(read.modes[&BString::from("c d")], Listed::File(0o600));
    assert_eq!((read.usual_directory(), read.usual_file(true)), (0o700, 0o700));
    assert_eq!(read.file_mode("c d".into(), true), 0o600);
    assert_eq!(Sidecar::default().file_mode("x".into(), false), 0o644);
}

#[test]
fn a_mode_that_only_one_of_both_lists_becomes_usual_or_that() {
    let (plain, listed) = (sidecar(&[], &[]), sidecar(&["F600/a"], &[]));
    assert_eq!(between(&listed, &plain, &[], &[]), ["usual a"]);
    assert_eq!(between(&plain, &listed, &[], &[]), ["F600 a"]);
}

#[test]
fn what_is_in_a_directory_gets_its_mode_before_the_directory() {
    let to = sidecar(&["D500/a", "D500/a/b", "F400/a/b/c"], &[]);
    assert_eq!(
        between(&Sidecar::default(), &to, &[], &[]),
        ["F400 a/b/c", "D500 a/b", "D500 a"]
    );
}

#[test]
fn what_the_rules_hide_and_what_stays_is_left_alone() {
    let from = sidecar(&["D700/a", "F600/b", "F600/c"], &["d"]);
    assert_eq!(
        between(&from, &Sidecar::default(), &["a", "d"], &["b"]),
        ["usual c"]
    );
}

#[test]
fn empty_directories_go_from_the_deepest_and_others_are_made() {
    let (from, to) = (sidecar(&[], &["a", "a/b", "c"]), sidecar(&[], &["c", "d/e"]));
    assert_eq!(
        between(&from, &to, &[], &[]),
        ["rmdir a/b", "rmdir a", "mkdir c", "mkdir d/e"]
    );
}

#[test]
fn what_lies_in_a_git_directory_of_others_does_not_count() {
    let all = sidecar(&["D700/g", "F600/g/h", "F600/gh"], &["g/i"]);
    assert_eq!(all.outside(&[BString::from("g")]), sidecar(&["F600/gh"], &[]));
}

#[test]
fn directories_are_opened_that_their_owner_may_not_write_in() {
    let all = sidecar(&["D500/a", "D700/b", "D644/c", "F400/d"], &[]);
    let closed: Vec<String> = all.closed().map(ToString::to_string).collect();
    assert_eq!(closed, ["a", "c"]);
}

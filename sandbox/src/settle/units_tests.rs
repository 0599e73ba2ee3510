use super::*;

fn units(all: &[(&str, &str)]) -> Units {
    all.iter()
        .map(|(name, value)| (BString::from(*name), BString::from(*value)))
        .collect()
}

const UNDO: [(&str, &str); 3] = [
    ("HEAD", "ref: refs/heads/topic"),
    ("refs/heads/main", "1"),
    ("refs/heads/topic", "2"),
];
const TARGET: [(&str, &str); 2] = [("HEAD", "ref: refs/heads/main"), ("refs/heads/main", "0")];

fn refs(now: &[(&str, &str)]) -> Mixture {
    Three {
        undo: units(&UNDO),
        target: units(&TARGET),
        now: units(now),
    }
    .refs()
}

fn goes(mixture: &Mixture) -> Vec<String> {
    mixture.goes.iter().map(ToString::to_string).collect()
}

#[test]
fn branches_of_which_half_moved_have_reached_the_target_and_all_of_them_go() {
    let found = refs(&[
        ("HEAD", "ref: refs/heads/topic"),
        ("refs/heads/main", "0"),
        ("refs/heads/topic", "2"),
    ]);
    assert_eq!((found.is_reached, found.is_worked), (true, false));
    assert_eq!(goes(&found), ["HEAD", "refs/heads/main", "refs/heads/topic"]);
}

#[test]
fn a_branch_moved_since_stays_and_the_others_go() {
    let found = refs(&[
        ("HEAD", "ref: refs/heads/main"),
        ("refs/heads/main", "0"),
        ("refs/heads/topic", "9"),
    ]);
    assert_eq!((found.is_reached, found.is_worked), (true, true));
    assert_eq!(goes(&found), ["HEAD", "refs/heads/main"]);
}

#[test]
fn head_stays_on_a_branch_with_commits_made_since() {
    let found = refs(&[
        ("HEAD", "ref: refs/heads/new"),
        ("refs/heads/main", "0"),
        ("refs/heads/new", "9"),
    ]);
    assert!(found.is_worked);
    assert_eq!(goes(&found), ["refs/heads/main", "refs/heads/topic"]);
}

#[test]
fn what_cannot_be_read_is_no_mixture() {
    assert_eq!(refs(&[]), Mixture::whole());
}

#[test]
fn an_operation_of_which_one_file_is_half_written_goes_and_one_with_another_file_stays() {
    let three = |now: &[(&str, &str)]| Three {
        undo: units(&[]),
        target: units(&[("MERGE_HEAD", "whole"), ("MERGE_MSG", "text")]),
        now: units(now),
    };
    let begun = |name: &BString| name == "MERGE_HEAD";
    let half = three(&[("MERGE_HEAD", "wh")]).group(begun);
    assert_eq!((half.is_reached, half.is_worked), (true, false));
    let other = three(&[("MERGE_HEAD", "whole"), ("REVERT_HEAD", "x")]).group(begun);
    assert_eq!((other.is_reached, other.is_worked), (false, true));
}

#[test]
fn the_list_is_that_of_a_capture() {
    let all = units(&[
        ("HEAD", "ref: refs/heads/alias"),
        ("refs/heads/alias", "symref refs/heads/main"),
        ("refs/heads/away", "symref refs/heads/gone"),
        ("refs/heads/main", "1"),
        ("refs/remotes/x", "2"),
    ]);
    assert_eq!(
        BString::from(host_text(&all)),
        "head branch\nref refs/heads/alias\ncommit 1\nsymref refs/heads/main refs/heads/alias\nbranch 1 refs/heads/main\nsymref refs/heads/gone refs/heads/away\n"
    );
    let unborn = host_text(&units(&[("HEAD", "ref: refs/heads/main")]));
    assert_eq!(BString::from(unborn), "head unborn\nref refs/heads/main\n");
}

use super::*;
use crate::capture::tree::TreeMode;
use crate::git::id::{Format, ObjectKind, id_of};

fn content(text: &str) -> Content {
    let (mode, text) = match text.strip_prefix('!') {
        Some(text) => (TreeMode::Executable, text),
        None => (TreeMode::File, text),
    };
    let id = id_of(Format::Sha1, ObjectKind::Blob, text.as_bytes()).expect("no attack");
    Content { mode, id }
}

fn difference(path: &str, from: Option<&str>, to: Option<&str>) -> Difference {
    Difference {
        path: path.into(),
        from: from.map(content),
        to: to.map(content),
    }
}

fn paths<'path>(all: impl IntoIterator<Item = &'path BString>) -> Vec<String> {
    all.into_iter().map(ToString::to_string).collect()
}

fn sidecar(modes: &str, empty: &str) -> Sidecar {
    Sidecar::parse(
        modes.replace(' ', "\0").as_bytes(),
        empty.replace(' ', "\0").as_bytes(),
    )
}

#[test]
fn only_what_this_restore_wrote_or_took_away_goes_back() {
    let forward = [
        difference("replaced", Some("old"), Some("new")),
        difference("written", None, Some("new")),
        difference("removed", Some("old"), None),
        difference("written over", Some("old"), Some("new")),
    ];
    let mut back = vec![
        difference("replaced", Some("new"), Some("old")),
        difference("written", Some("new"), None),
        difference("removed", None, Some("old")),
        difference("written over", Some("other"), Some("old")),
        difference("appeared", Some("other"), None),
        difference("of an earlier call", Some("new"), Some("old")),
    ];
    let found = [("written over", Some("old")), ("appeared", None)];
    let done = Done {
        differences: &forward,
        found: Some(found.map(|(path, text)| (path.into(), text.map(content))).into()),
        ..Done::default()
    };
    let meanwhile = done.leave(&mut back, (&mut Sidecar::default(), &Sidecar::default()));
    let own: Vec<&BString> = back.iter().map(|one| &one.path).collect();
    assert_eq!(
        paths(own),
        ["replaced", "written", "removed", "of an earlier call"]
    );
    assert_eq!(paths(&meanwhile.files), ["appeared", "written over"]);
    assert_eq!(paths(&meanwhile.modes), [""; 0]);
}

#[test]
fn where_no_file_was_everything_else_appeared() {
    let forward = [difference("written", None, Some("new"))];
    let mut back = vec![
        difference("written", Some("new"), None),
        difference("appeared", Some("new"), None),
    ];
    let done = Done {
        differences: &forward,
        ..Done::default()
    };
    let meanwhile = done.leave(&mut back, (&mut Sidecar::default(), &Sidecar::default()));
    assert_eq!(back, [difference("written", Some("new"), None)]);
    assert_eq!(paths(&meanwhile.files), ["appeared"]);
}

#[test]
fn a_file_of_ours_that_got_an_executable_bit_goes_back_and_is_named() {
    let forward = [
        difference("a", Some("old"), Some("new")),
        difference("b", Some("!x"), Some("x")),
    ];
    let mut back = vec![
        difference("a", Some("!new"), Some("old")),
        difference("b", Some("x"), Some("!x")),
    ];
    let all = back.clone();
    let done = Done {
        differences: &forward,
        found: Some(
            [
                ("a".into(), Some(content("old"))),
                ("b".into(), Some(content("!x"))),
            ]
            .into(),
        ),
        ..Done::default()
    };
    let meanwhile = done.leave(&mut back, (&mut Sidecar::default(), &Sidecar::default()));
    assert_eq!(back, all);
    assert_eq!(paths(&meanwhile.modes), ["a"]);
    assert_eq!(paths(&meanwhile.files), [""; 0]);
}

#[test]
fn modes_go_back_where_a_state_lists_them_or_a_file_moved() {
    let forward = [difference("d/a", Some("old"), Some("new"))];
    let (from, to) = (
        sidecar("F600/private F600/usual D500/closed", ""),
        sidecar("F640/private F640/usual F660/d/a", ""),
    );
    let mut now = sidecar("F644/private D700/closed D700/d F660/d/a F600/other D711/far", "");
    let done = Done {
        differences: &forward,
        from: Some(&from),
        to: Some(&to),
        found: Some(BTreeMap::new()),
    };
    let meanwhile = done.leave(&mut Vec::new(), (&mut now, &from));
    assert_eq!(paths(now.modes.keys()), ["closed", "d", "d/a", "private"]);
    assert_eq!(paths(&meanwhile.modes), ["d", "private", "usual"]);
}

#[test]
fn a_directory_goes_back_that_a_state_has_empty_or_that_was_made_for_a_file() {
    let forward = [
        difference("new/deep/a", None, Some("new")),
        difference("gone/b", Some("old"), None),
    ];
    let (from, to) = (sidecar("", "was"), sidecar("", "comes/in"));
    let mut now = sidecar("", "was comes comes/in new/deep gone/b/in gone/other mine undo");
    let done = Done {
        differences: &forward,
        from: Some(&from),
        to: Some(&to),
        found: Some(BTreeMap::new()),
    };
    let mut back = vec![difference("gone/b", None, Some("old"))];
    let meanwhile = done.leave(&mut back, (&mut now, &sidecar("", "undo")));
    assert_eq!(
        paths(&now.empty),
        ["comes", "comes/in", "gone/b/in", "new/deep", "undo", "was"]
    );
    assert_eq!(paths(&meanwhile.directories), ["gone/other", "mine"]);
}

use super::*;
use bstr::BStr;

fn sidecar(modes: &[(&str, &str)], empty: &[&str]) -> Sidecar {
    Sidecar {
        modes: modes
            .iter()
            .map(|(path, mode)| (BString::from(*path), BString::from(*mode)))
            .collect(),
        empty: empty.iter().map(|path| BString::from(*path)).collect(),
    }
}

fn found(result: &[(&str, TreeMode)]) -> PathsInTrees {
    let paths = || result.iter().map(|(path, _)| BString::from(*path));
    PathsInTrees {
        result: paths().zip(result.iter().map(|(_, mode)| *mode)).collect(),
        ours: paths().collect(),
        base: paths().collect(),
    }
}

fn merge(sides: [Sidecar; 3], asked: &[&str], found: &PathsInTrees) -> (Sidecar, Vec<(String, String)>) {
    let asked = Asked(asked.iter().map(|path| BString::from(*path)).collect());
    let [base, ours, theirs] = &sides;
    let sides = Sides {
        base,
        ours,
        theirs,
        asked: &asked,
    };
    let mut merging = Merging::begin(&sides);
    merging.fit(found);
    let told = merging
        .conflicts
        .iter()
        .map(|one| (one.path.to_string(), one.message.to_string()))
        .collect();
    (merging.merged, told)
}

#[test]
fn a_mode_that_one_side_changed_comes() {
    let here = found(&[("a", TreeMode::File), ("b", TreeMode::Executable)]);
    let (merged, conflicts) = merge(
        [
            sidecar(&[("a", "F600")], &[]),
            sidecar(&[("a", "F600"), ("b", "F700")], &[]),
            sidecar(&[], &[]),
        ],
        &[],
        &here,
    );
    assert_eq!(merged, sidecar(&[("b", "F700")], &[]));
    assert_eq!(conflicts, []);
}

#[test]
fn three_modes_are_one_conflict() {
    let here = found(&[("a", TreeMode::File)]);
    let (merged, conflicts) = merge(
        [
            sidecar(&[], &[]),
            sidecar(&[("a", "F600"), ("", "U77")], &[]),
            sidecar(&[("a", "F640"), ("", "U27")], &[]),
        ],
        &[],
        &here,
    );
    let told = |path: &str, modes: &str| {
        (
            path.into(),
            format!("the mode was changed on both sides: {modes}"),
        )
    };
    assert_eq!(conflicts, [told("", "U77 and U27"), told("a", "F600 and F640")]);
    assert_eq!(merged.modes.get(BStr::new("a")), Some(&BString::from("F600")));
}

#[test]
fn the_bit_in_the_tree_and_another_mode_conflict() {
    let here = found(&[("a", TreeMode::Executable)]);
    let (merged, conflicts) = merge(
        [
            sidecar(&[], &[]),
            sidecar(&[("a", "F640")], &[]),
            sidecar(&[], &[]),
        ],
        &[],
        &here,
    );
    let message = "one side made it executable or not, the other changed its mode to 640";
    assert_eq!(conflicts, [("a".into(), message.into())]);
    assert_eq!(merged, sidecar(&[], &[]));
}

#[test]
fn a_mode_of_a_file_that_is_gone_conflicts_only_where_it_was_changed() {
    let mut here = found(&[]);
    here.base = [BString::from("a"), BString::from("b")].into();
    let (merged, conflicts) = merge(
        [
            sidecar(&[("b", "F600")], &[]),
            sidecar(&[("a", "F600"), ("b", "F600")], &[]),
            sidecar(&[("b", "F600")], &[]),
        ],
        &[],
        &here,
    );
    let message = "one side changed its mode to 600, on the other it is gone or renamed";
    assert_eq!(conflicts, [("a".into(), message.into())]);
    assert_eq!(merged, sidecar(&[], &[]));
}

#[test]
fn an_empty_directory_goes_where_something_comes_into_it_or_its_way() {
    let here = found(&[("full", TreeMode::Directory), ("file", TreeMode::File)]);
    let empty = ["full", "file/x", "up", "up/in", "kept"];
    let (merged, _) = merge(
        [sidecar(&[], &[]), sidecar(&[], &empty), sidecar(&[], &[])],
        &[],
        &here,
    );
    assert_eq!(merged, sidecar(&[], &["kept", "up/in"]));
}

#[test]
fn a_mode_of_a_directory_stays_with_what_is_empty_or_was_not_captured() {
    let mut here = found(&[("d", TreeMode::Directory)]);
    here.ours.insert("gone".into());
    let modes = [
        ("d", "D700"),
        ("gone", "D700"),
        ("hollow", "D700"),
        ("unseen", "D700"),
    ];
    let (merged, _) = merge(
        [
            sidecar(&[], &[]),
            sidecar(&modes, &["hollow/x"]),
            sidecar(&[], &[]),
        ],
        &[],
        &here,
    );
    assert_eq!(merged.modes.len(), 3);
    assert!(!merged.modes.contains_key(BStr::new("gone")));
}

#[test]
fn only_what_is_asked_for_changes() {
    let here = found(&[("a", TreeMode::File), ("b", TreeMode::File)]);
    let theirs = sidecar(&[("a", "F600"), ("b", "F600"), ("", "U77")], &["d/x", "e"]);
    let (merged, _) = merge([sidecar(&[], &[]), sidecar(&[], &[]), theirs], &["b", "d"], &here);
    assert_eq!(merged, sidecar(&[("b", "F600")], &["d/x"]));
}

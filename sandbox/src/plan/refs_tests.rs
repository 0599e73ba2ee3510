use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn refs(lines: &[(&str, &str)]) -> Refs {
    let of = |text: &str| match text.strip_prefix("to ") {
        Some(target) => Target::Symbolic(target.into()),
        None => Target::Commit(text.to_owned()),
    };
    let lines = lines.iter();
    lines
        .map(|(name, text)| (BString::from(*name), of(text)))
        .collect()
}

#[test]
fn a_branch_appears_vanishes_and_moves() {
    let all = changes(
        &refs(&[("gone", "1"), ("moved", "1"), ("same", "1")]),
        &refs(&[("moved", "2"), ("new", "3"), ("same", "1")]),
    );
    assert_eq!(all.delete, [("gone".into(), "1".into())]);
    let moved = ("moved".into(), "2".into(), Some("1".into()));
    assert_eq!(all.update, [moved, ("new".into(), "3".into(), None)]);
    assert!(all.unlink.is_empty() && all.link.is_empty());
}

#[test]
fn an_alias_goes_before_and_comes_after_everything_else() {
    let all = changes(
        &refs(&[("a", "to x"), ("b", "1"), ("c", "to x")]),
        &refs(&[("a", "1"), ("b", "to x"), ("c", "to y")]),
    );
    assert_eq!(all.unlink, ["a", "c"]);
    assert_eq!(all.delete, [("b".into(), "1".into())]);
    assert_eq!(all.update, [("a".into(), "1".into(), None)]);
    assert_eq!(all.link, [("b".into(), "x".into()), ("c".into(), "y".into())]);
}

#[test]
fn head_moves_only_where_it_stands_elsewhere() {
    let (on, at) = (Head::On("refs/heads/a".into()), Head::At("1".into()));
    assert_eq!(head(Some(&on), &on), None);
    assert_eq!(head(Some(&on), &at), Some(at.clone()));
    assert_eq!(head(None, &on), Some(on));
}

fn some_refs() -> impl Strategy<Value = Refs> {
    let named = prop_oneof![
        "[12]".prop_map(Target::Commit),
        "[xy]".prop_map(|name| Target::Symbolic(name.into()))
    ];
    proptest::collection::btree_map("[abc]".prop_map(BString::from), named, 0..4)
}

proptest! {
    /// Played with the old values that git compares.
    #[test]
    fn the_steps_lead_from_any_refs_to_any_others(have in some_refs(), want in some_refs()) {
        let all = changes(&have, &want);
        let mut refs = have;
        for name in all.unlink {
            prop_assert!(matches!(refs.remove(&name), Some(Target::Symbolic(_))));
        }
        for (name, commit) in all.delete {
            prop_assert_eq!(refs.remove(&name), Some(Target::Commit(commit)));
        }
        for (name, commit, from) in all.update {
            prop_assert_eq!(refs.insert(name, Target::Commit(commit)), from.map(Target::Commit));
        }
        for (name, target) in all.link {
            prop_assert_eq!(refs.insert(name, Target::Symbolic(target)), None);
        }
        let names: BTreeSet<&BString> = refs.keys().collect();
        prop_assert_eq!(names, want.keys().collect());
        prop_assert_eq!(refs, want);
    }
}

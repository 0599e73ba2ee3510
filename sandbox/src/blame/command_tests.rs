use crate::blame::command::blame;
use crate::blame::test_world::{World, chain, lines, name};
use crate::wire::blame::{BlameReport, BlameRequest, Node, ObjectFormat, Source};
use crate::wire::error::Failure;
use std::fs;

#[test]
fn each_line_is_of_the_state_that_it_came_with_under_any_name() {
    for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
        let world = World::new(format);
        for file in ["a.txt", "*", ":(glob)**", "-L1,2", "new\nline\t\"", "ü", "a b"] {
            let trees = ["one\ntwo\n", "one\nTWO\n", "one\nTWO\nthree"].map(|text| world.tree(file, text));
            let told = world.ask(file, chain(&trees.each_ref().map(String::as_str)));
            let expected = [("one", Some(0)), ("TWO", Some(1)), ("three", Some(2))];
            assert_eq!(
                lines(told),
                expected.map(|(text, node)| (text.to_owned(), node)),
                "{file:?}"
            );
        }
    }
}

#[test]
fn lines_are_those_that_were_asked_for() {
    let world = World::new(ObjectFormat::Sha1);
    let tree = world.tree("a", "1\n2\n3\n4\n5\n");
    let ask = |from: u64, to: Option<u64>, most_lines: u64| {
        let request = BlameRequest {
            from,
            to,
            most_lines,
            ..world.request("a", chain(&[&tree]))
        };
        let told = lines(blame(world.root(), &request).expect("it is told"));
        told.into_iter().map(|(text, _)| text).collect::<String>()
    };
    assert_eq!(ask(2, Some(3), 100), "23");
    assert_eq!(ask(4, Some(90), 100), "45");
    assert_eq!(ask(2, None, 2), "23");
    assert_eq!(ask(6, None, 100), "");
    assert_eq!(ask(3, Some(2), 100), "");
}

#[test]
fn what_has_no_lines_is_told() {
    let world = World::new(ObjectFormat::Sha1);
    let blob = world.blob("text\n");
    for (entry, expected) in [
        (format!("120000 blob {blob}\tf"), BlameReport::Link),
        (
            format!("160000 commit {}\tf", "f".repeat(40)),
            BlameReport::Submodule,
        ),
        (
            format!("040000 tree {}\tf", world.tree("a", "")),
            BlameReport::Directory,
        ),
        (
            format!("100644 blob {}\tf", world.blob("a\0b")),
            BlameReport::Binary,
        ),
        (
            format!("100644 blob {}\tf", world.blob(&"a".repeat(1001))),
            BlameReport::TooLarge { size_bytes: 1001 },
        ),
        (
            format!("100644 blob {blob}\tg"),
            BlameReport::Absent { removed_by: None },
        ),
    ] {
        let tree = world.git(&["mktree", "--missing"], &format!("{entry}\n"));
        assert_eq!(world.ask("f", chain(&[&tree])), expected, "{entry}");
    }
}

#[test]
fn who_removed_a_file_is_told() {
    let world = World::new(ObjectFormat::Sha1);
    let (with, without) = (world.tree("a", "a\n"), world.tree("b", "b\n"));
    let told = world.ask("a", chain(&[&with, &without, &with, &without, &without]));
    let removed_by = Some(Source::Node {
        node: 3,
        path: name("a"),
    });
    assert_eq!(told, BlameReport::Absent { removed_by });
}

#[test]
fn the_history_of_the_repository_is_read_where_it_can_be() {
    let world = World::new(ObjectFormat::Sha1);
    let tree = world.tree("a", "one\n");
    let own = world.git(&["commit-tree", "-m", "begin", &tree], "");
    let after = world.tree("a", "one\ntwo\n");
    let nodes = || {
        vec![Node {
            commit: Some(own.clone()),
            ..chain(&[&after]).remove(0)
        }]
    };
    let sources = |request: &BlameRequest| match blame(world.root(), request) {
        Ok(BlameReport::Lines {
            sources, own_commits, ..
        }) => (sources, own_commits),
        other => panic!("{other:?}"),
    };
    let request = world.request("a", nodes());
    let (found, own_commits) = sources(&request);
    assert_eq!(own_commits, std::slice::from_ref(&own));
    let Source::Commit { commit, summary, .. } = &found[0] else {
        panic!("{found:?}");
    };
    assert_eq!((&commit[..], &summary[..]), (&own[..], "begin"));
    // The boundary of a shallow clone is lost.
    let shallow = BlameRequest {
        shallow: true,
        ..world.request("a", nodes())
    };
    assert_eq!(sources(&shallow).1, [""; 0]);
    // The history cannot be read.
    let file = |id: &str| world.app().join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::remove_file(file(&tree)).expect("it is there");
    let (found, own_commits) = sources(&request);
    assert_eq!(own_commits, [""; 0]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn captures_that_are_not_there_are_named() {
    let world = World::new(ObjectFormat::Sha1);
    let tree = world.tree("a", "a\n");
    let base = world.git(&["commit-tree", "-m", "base", &tree], "");
    let none = "f".repeat(40);
    let request = BlameRequest {
        bases: vec![none.clone(), base.clone(), tree.clone()],
        ..world.request("a", chain(&[&tree, &none, "nonsense"]))
    };
    assert_eq!(
        blame(world.root(), &request).expect("it is told"),
        BlameReport::Missing {
            nodes: vec![1, 2],
            bases: vec![base],
        }
    );
    // The tree is there and its file is not.
    let hollow = world.git(&["mktree", "--missing"], &format!("100644 blob {none}\ta\n"));
    let all = BlameReport::Missing {
        nodes: vec![0, 1],
        bases: Vec::new(),
    };
    assert_eq!(world.ask("a", chain(&[&tree, &hollow])), all);
    assert_eq!(world.ask("a", chain(&[&hollow, &tree])), all);
}

#[test]
fn a_store_for_which_git_would_wait_is_not_read() {
    let world = World::new(ObjectFormat::Sha1);
    let tree = world.tree("a", "a\n");
    let alternates = world.app().join(".git/objects/info/alternates");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &alternates,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a named pipe");
    assert!(matches!(
        world.ask("a", chain(&[&tree])),
        BlameReport::Missing { .. }
    ));
}

#[test]
fn bundles_come_for_this_call_alone() {
    use sha2::{Digest, Sha256};
    let world = World::new(ObjectFormat::Sha1);
    let tree = world.tree("a", "a\n");
    let commit = world.git(&["commit-tree", "-m", "base", &tree], "");
    world.git(&["update-ref", "refs/heads/main", &commit], "");
    world.git(&["bundle", "create", "-q", "../bundle", "main"], "");
    let place = world.root().join(".agent-shadow/in-s/c");
    let bring = |bytes: &[u8]| {
        let sha256 = format!("{:x}", Sha256::digest(bytes));
        fs::create_dir_all(&place).expect("a directory");
        fs::write(place.join(format!("{sha256}.bundle")), bytes).expect("a file");
        BlameRequest {
            bundles: vec![sha256],
            ..world.request("a", chain(&[&tree]))
        }
    };
    let bundle = fs::read(world.root().join("bundle")).expect("a bundle");
    fs::remove_dir_all(world.app().join(".git")).expect("it is there");
    let request = bring(&bundle);
    let told = blame(world.root(), &request).expect("it is told");
    assert_eq!(lines(told), [("a".to_owned(), Some(0))]);
    assert!(!place.exists());
    // It is not there any more.
    assert!(matches!(blame(world.root(), &request), Err(Failure::Io { .. })));
    let cut = bring(&bundle[..bundle.len() - 8]);
    let refused = blame(world.root(), &cut).expect_err("it is cut");
    assert!(
        refused.to_string().starts_with("a bundle cannot be read: "),
        "{refused}"
    );
    let damaged = bring(&bundle);
    fs::write(place.join(format!("{}.bundle", damaged.bundles[0])), "other").expect("a file");
    let refused = blame(world.root(), &damaged).expect_err("it is damaged");
    assert!(matches!(
        refused,
        Failure::Refused {
            name: "BundleCorrupt",
            ..
        }
    ));
}

use super::*;
use crate::git::process::Git;
use bstr::ByteSlice;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn git(top: &Path, args: &[&str]) -> Vec<u8> {
    let answer = Git::new(top).args(args).run().expect("git runs");
    answer
        .ok()
        .unwrap_or_else(|| panic!("{}", answer.said()))
        .to_vec()
}

/// A tree with these files. A path that is a directory of another one is left out.
fn tree(top: &Path, files: &BTreeMap<String, (usize, u8)>) -> String {
    let mut lines = Vec::new();
    let is_above = |path: &str| files.keys().any(|other| other.starts_with(&format!("{path}/")));
    for (path, (mode, content)) in files.iter().filter(|(path, _)| !is_above(path)) {
        let blob = "0123456789".repeat(4);
        let mode = MODES[*mode].as_bstr();
        lines.extend(format!("{mode} {}{content:02}\t{path}\0", &blob[2..]).into_bytes());
    }
    let index = top.join("new-index");
    let _ = fs::remove_file(&index);
    let on_index = || Git::new(top).env("GIT_INDEX_FILE", &index);
    let read = on_index()
        .args(["update-index", "-z", "--index-info"])
        .input(lines);
    assert!(read.run().expect("git runs").status.success());
    let made = on_index().args(["write-tree", "--missing-ok"]).run();
    let made = made.expect("git runs");
    made.stdout.trim_ascii().to_str_lossy().into_owned()
}

fn shown(all: &[Differs]) -> Vec<String> {
    let side = |leaf: &Option<Leaf>| match leaf {
        Some(leaf) => (leaf.mode.to_str_lossy().into_owned(), leaf.id.to_string()),
        None => ("000000".to_owned(), "0".repeat(40)),
    };
    let line = |one: &Differs| {
        let (from, to) = (side(&one.from), side(&one.to));
        format!(":{} {} {} {} {}", from.0, to.0, from.1, to.1, one.path)
    };
    all.iter().map(line).collect()
}

fn as_git_shows(said: &[u8]) -> Vec<String> {
    let parts: Vec<&[u8]> = said.split_str("\0").filter(|part| !part.is_empty()).collect();
    let pairs = parts.chunks_exact(2);
    pairs
        .map(|pair| {
            let entry = pair[0].rsplitn_str(2, " ").last().unwrap_or_default();
            format!("{} {}", entry.as_bstr(), pair[1].as_bstr())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn git_finds_the_same(
        one in proptest::collection::btree_map("[ab.](/[ab.-]x){0,2}", (0_usize..3, 0_u8..2), 0..8),
        other in proptest::collection::btree_map("[ab.](/[ab.-]x){0,2}", (0_usize..3, 0_u8..2), 0..8),
        is_packed in any::<bool>(),
    ) {
        let top = tempfile::tempdir().expect("a temporary directory");
        let top = top.path();
        git(top, &["init", "-q"]);
        let named = |files: BTreeMap<String, (usize, u8)>| -> BTreeMap<String, (usize, u8)> {
            files.into_iter().map(|(path, file)| (format!("x{path}"), file)).collect()
        };
        let (one, other) = (tree(top, &named(one)), tree(top, &named(other)));
        if is_packed {
            let ids = git(top, &["cat-file", "--batch-check=%(objectname)", "--batch-all-objects"]);
            let pack = Git::new(top).args(["pack-objects", "-q", ".git/objects/pack/pack"]).input(ids);
            assert!(pack.run().expect("git runs").status.success());
            git(top, &["prune-packed", "-q"]);
        }
        let mut objects = Objects::of(&top.join(".git/objects"), Format::Sha1);
        let mut trees = Trees { objects: &mut objects, format: Format::Sha1 };
        let found = trees.differences(&one, &other).expect("they are there");
        let said = git(top, &["diff-tree", "-r", "-z", "--raw", "--no-renames", &one, &other]);
        prop_assert_eq!(shown(&found), as_git_shows(&said));
        let files = trees.files(&one).expect("it is there");
        let said = git(top, &["ls-tree", "-r", "-z", "--name-only", &one]);
        let listed: Vec<BString> = said.split_str("\0").filter(|path| !path.is_empty()).map(BString::from).collect();
        prop_assert_eq!(files, listed);
    }
}

#[test]
fn what_no_capture_writes_is_left_to_git() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let top = top.path();
    git(top, &["init", "-q"]);
    let put = |kind: &str, content: &[u8]| {
        let args = ["hash-object", "-w", "--literally", "--stdin", "-t", kind];
        let made = Git::new(top).args(args).input(content).run().expect("git runs");
        made.stdout.trim_ascii().to_str_lossy().into_owned()
    };
    let ask = |tree: &str| {
        let mut objects = Objects::of(&top.join(".git/objects"), Format::Sha1);
        let format = Format::Sha1;
        Trees {
            objects: &mut objects,
            format,
        }
        .files(tree)
    };
    let line = |mode: &str, name: &str| [format!("{mode} {name}\0").as_bytes(), &[7; 20]].concat();
    let plain = put("tree", &[line("100644", "a"), line("100755", "b")].concat());
    assert_eq!(ask(&plain), Some(vec!["a".into(), "b".into()]));
    let odd = [
        line("160000", "module"),
        line("100664", "a"),
        line("040000", "a"),
        line("100644", "a/b"),
        line("100644", ""),
        [line("100644", "b"), line("100644", "a")].concat(),
        [line("100644", "a"), line("100644", "a")].concat(),
        b"100644 a\0short".to_vec(),
    ];
    for content in odd {
        assert_eq!(ask(&put("tree", &content)), None, "{:?}", content.as_bstr());
    }
    assert_eq!(ask(&put("blob", b"")), None);
    assert_eq!(ask(&"f".repeat(40)), None);
    assert_eq!(ask("HEAD"), None);
    assert_eq!(ask(Format::Sha1.empty_tree()), Some(Vec::new()));
    assert_eq!(ask(Format::Sha256.empty_tree()), None);
}

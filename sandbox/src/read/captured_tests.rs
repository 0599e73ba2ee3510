use super::*;
use crate::git::process::Git;
use std::fs;
use std::path::Path;

fn make(top: &Path, args: &[&str], input: &str) -> String {
    let answer = Git::on_shadow(top, top)
        .args(args)
        .input(input)
        .run()
        .expect("git runs");
    assert!(answer.status.success(), "{args:?}: {}", answer.said());
    answer.stdout.trim_ascii().to_str_lossy().into_owned()
}

fn commit(top: &Path, tree: &str) -> String {
    let who = "A <a@example.com> 0 +0000";
    let text = format!("tree {tree}\nparent {tree}\nauthor {who}\ncommitter {who}\n\nhost state\n");
    make(
        top,
        &["hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        &text,
    )
}

#[test]
fn what_is_missing_is_never_read_as_empty() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let top = top.path();
    make(top, &["init", "-q", "--bare", "."], "");
    let host = make(
        top,
        &["hash-object", "-w", "--stdin"],
        "head branch\nref refs/heads/main\n",
    );
    let modes = make(top, &["hash-object", "-w", "--stdin"], "F600/a\0");
    let tree = make(
        top,
        &["mktree"],
        &format!("100644 blob {host}\thost\n100644 blob {modes}\tmodes\n"),
    );
    let meta = commit(top, &tree);
    let mut objects = Batch::open(top, top).expect("git runs");
    let state = host_state(&mut objects, &meta)
        .expect("it can be read")
        .expect("it is here");
    assert_eq!(state.head.kind, "branch");
    assert_eq!(
        part(&mut objects, &state.parts, "modes").expect("it is here"),
        "F600/a\0"
    );
    assert_eq!(
        part(&mut objects, &state.parts, "empty").expect("there is none"),
        ""
    );
    assert_eq!(commits_of(&mut objects, &meta).expect("it is here").len(), 1);
    drop(objects);
    for (id, what) in [
        (&modes, "modes"),
        (&host, "host"),
        (&tree, "its tree"),
        (&meta, "itself"),
    ] {
        fs::remove_file(top.join("objects").join(&id[..2]).join(&id[2..])).expect("it is there");
        let mut objects = Batch::open(top, top).expect("git runs");
        if what == "modes" {
            let state = host_state(&mut objects, &meta)
                .expect("it can be read")
                .expect("it is here");
            let missing = find_part(&mut objects, &state.parts, "modes").expect("git runs");
            assert!(missing.expect_err("it is gone").contains(id));
            assert!(part(&mut objects, &state.parts, "modes").is_err());
        } else {
            let missing = host_state(&mut objects, &meta).expect("git runs");
            assert!(missing.err().expect("it is gone").contains(id), "{what}");
        }
    }
    let blob = make(top, &["hash-object", "-w", "--stdin"], "no commit");
    let mut objects = Batch::open(top, top).expect("git runs");
    assert!(
        host_state(&mut objects, &blob).is_err(),
        "a blob is no host state"
    );
    assert!(
        host_state(&mut objects, &commit(top, &blob)).is_err(),
        "a blob is no tree"
    );
}

#[test]
fn a_tree_that_is_cut_short_has_no_entries() {
    let whole = [b"100644 host\0".as_slice(), &[7; 20], b"40000 index\0", &[8; 20]].concat();
    assert_eq!(entries(&whole, 20).expect("it is whole").len(), 2);
    for cut in [1, 8, 12, 20, whole.len() - 1] {
        assert!(entries(&whole[..cut], 20).is_none(), "{cut}");
    }
    assert_eq!(entries(b"", 20).expect("it is empty").len(), 0);
}

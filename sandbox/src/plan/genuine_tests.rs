use super::*;
use crate::capture::tree::TreeMode;
use crate::git::id::{Format, ObjectKind, id_of};
use crate::plan::files::Content;

fn come(paths: &[&str]) -> Vec<Difference> {
    let content = Content {
        mode: TreeMode::File,
        id: id_of(Format::Sha1, ObjectKind::Blob, b"").expect("no attack"),
    };
    let difference = |path: &&str| Difference {
        path: BString::from(*path),
        from: None,
        to: Some(content),
    };
    paths.iter().map(difference).collect()
}

#[test]
fn a_path_that_leads_out_or_into_git_is_odd() {
    for odd in [
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "/etc/passwd",
        "a//b",
        "a/",
        ".",
        "./a",
        "a/./b",
        ".git",
        ".git/config",
        "a/.GIT/hooks/post-checkout",
        ".Git",
        ".agent-shadow/session-s/config",
        "",
    ] {
        let all = come(&["fine", odd]);
        assert_eq!(odd_file(&all), Some(BStr::new(odd)), "{odd}");
    }
    // Git on Linux keeps them, and they lead nowhere.
    let fine = [
        "a/b..c",
        "...",
        "git~1",
        ".git ",
        ".github/x",
        "sub/.agent-shadow",
        "a/.gitignore",
    ];
    assert_eq!(odd_file(&come(&fine)), None);
}

#[test]
fn what_leaves_is_not_asked() {
    let mut all = come(&["../x"]);
    all[0].from = all[0].to.take();
    assert_eq!(odd_file(&all), None);
}

#[test]
fn a_file_that_is_a_directory_as_well_is_odd() {
    assert_eq!(odd_file(&come(&["a", "a/b"])), Some(BStr::new("a/b")));
    assert_eq!(odd_file(&come(&["d/a", "d/a/b/c"])), Some(BStr::new("d/a/b/c")));
    assert_eq!(odd_file(&come(&["a", "a"])), Some(BStr::new("a")));
    assert_eq!(odd_file(&come(&["a", "a.b", "b/a", "b/c/d", "b/e"])), None);
}

#[test]
fn lists_name_what_lies_in_the_repository() {
    let all = |paths: &[&str]| paths.iter().map(|path| BString::from(*path)).collect::<Vec<_>>();
    assert_eq!(odd_listed(all(&["a/b", ".GIT", "c"]).iter()), None);
    for odd in ["../a", "/a", "a/.git", ".git/hooks", ".agent-shadow/x", ""] {
        assert_eq!(
            odd_listed(all(&["a", odd]).iter()),
            Some(&BString::from(odd)),
            "{odd}"
        );
    }
    assert_eq!(odd_compared(all(&["main/.git"]).iter()), None);
    assert!(odd_compared(all(&["a/../../b"]).iter()).is_some());
}

#[test]
fn refs_are_those_that_git_takes() {
    for name in [
        "refs/heads/main",
        "refs/heads/a/b-c_d.e",
        "refs/bisect/bad",
        "refs/heads/é",
    ] {
        assert!(is_branch(BStr::new(name)), "{name}");
    }
    assert!(
        is_ref(BStr::new("refs/remotes/origin/main")) && !is_branch(BStr::new("refs/remotes/origin/main"))
    );
    for name in [
        "HEAD",
        "refs/heads/../../config",
        "refs/heads/.a",
        "refs/heads/a.lock",
        "refs/heads/a b",
        "refs/heads/",
        "refs/heads//a",
        "refs/heads/a.",
        "refs/heads/a@{1}",
        "refs/heads/a..b",
        "../refs/heads/a",
        "refs/heads/a\\b",
        "config",
    ] {
        assert!(!is_branch(BStr::new(name)), "{name}");
    }
}

#[test]
fn only_addresses_travel_as_settings_of_remotes() {
    for name in [
        "remote.origin.url",
        "remote.a.b.fetch",
        "branch.main.merge",
        "remote.o.partialclonefilter",
    ] {
        assert!(is_of_remote(BStr::new(name)), "{name}");
    }
    for name in [
        "core.sshCommand",
        "core.fsmonitor",
        "remote.origin.uploadpack",
        "remote.origin.vcs",
        "remote.url",
        "branch.main.rebase",
        "alias.st",
        "filter.x.clean",
        "",
    ] {
        assert!(!is_of_remote(BStr::new(name)), "{name}");
    }
}

#[test]
fn an_operation_has_no_file_of_another_name() {
    let operation = Operation {
        files: &["MERGE_HEAD"],
        directories: &["rebase-merge"],
    };
    let fine = [
        "MERGE_HEAD",
        "rebase-merge/git-rebase-todo",
        "rebase-merge/rewritten/a",
    ];
    assert_eq!(operation.odd(fine.iter().map(|name| BStr::new(*name))), None);
    for odd in [
        "config",
        "hooks/post-checkout",
        "rebase-merge",
        "rebase-merge/../config",
        "MERGE_HEAD/x",
        "rebase-merge/",
        "../x",
    ] {
        let found = operation.odd(["MERGE_HEAD", odd].into_iter().map(BStr::new));
        assert_eq!(found, Some(BStr::new(odd)), "{odd}");
    }
}

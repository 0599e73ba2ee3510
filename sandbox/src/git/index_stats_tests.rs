use super::*;
use crate::git::process::Git;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn run(top: &Path, args: &[&str]) -> Vec<u8> {
    let said = Git::new(top).args(args).run().expect("git runs");
    said.ok()
        .unwrap_or_else(|| panic!("{args:?}: {}", said.said()))
        .to_vec()
}

#[test]
fn git_finds_in_the_index_what_it_would_have_noted_itself() {
    for version in ["2", "4"] {
        let top = tempfile::tempdir().expect("a temporary directory");
        let top = top.path();
        run(top, &["init", "-q", "."]);
        fs::create_dir(top.join("d")).expect("a directory");
        for name in ["a", "d/b", "run", "other"] {
            fs::write(top.join(name), name).expect("a file");
            let time = std::time::SystemTime::now() - std::time::Duration::from_secs(5);
            fs::File::options()
                .write(true)
                .open(top.join(name))
                .expect("ours")
                .set_modified(time)
                .expect("ours");
        }
        fs::set_permissions(top.join("run"), fs::Permissions::from_mode(0o755)).expect("ours");
        std::os::unix::fs::symlink("a", top.join("link")).expect("a link");
        run(top, &["add", "."]);
        let tree = run(top, &["write-tree"]);
        let tree = tree.trim_ascii().to_str().expect("an id");
        let file = top.join(".git/index");
        fs::remove_file(&file).expect("ours");
        run(top, &["read-tree", tree]);
        run(
            top,
            &["update-index", "--force-write-index", "--index-version", version],
        );
        let known: Vec<(IndexEntry, Owned)> = placed(&fs::read(&file).expect("it is there"), Format::Sha1)
            .expect("it is plain")
            .into_iter()
            .filter(|(_, entry)| entry.path != "other")
            .map(|(_, entry)| {
                let path = top.join(entry.path.to_path().expect("a path"));
                let found = rustix::fs::lstat(path).expect("it is there");
                (entry, Owned::of(&found))
            })
            .collect();
        let mut index = fs::read(&file).expect("it is there");
        let find = |path: &BStr| {
            let found = known.iter().find(|(entry, _)| entry.path == path)?;
            Some((&found.0.id, &found.1))
        };
        note(&mut index, Format::Sha1, find).expect("it is plain");
        fs::write(&file, &index).expect("ours");
        assert_eq!(
            run(top, &["diff-files", "--name-only"]),
            b"other\n",
            "version {version}"
        );
        let mut cut = index[..index.len() / 2].to_vec();
        assert!(note(&mut cut, Format::Sha1, find).is_none());
    }
}

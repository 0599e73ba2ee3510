use super::*;
use crate::git::process::Git;
use proptest::prelude::*;
use std::path::PathBuf;

/// A repository whose only pack has these contents, many of them as differences. It answers their ids.
fn packed(top: &Path, format: Format, contents: &[Vec<u8>]) -> Vec<Id> {
    let run = |git: Git| {
        let made = git.run().expect("git runs");
        assert!(made.status.success(), "{}", made.said());
    };
    let git = |words: &[&str]| Git::new(top).args(words);
    run(git(&[
        "init",
        "-q",
        "--bare",
        "--object-format",
        format.name(),
        ".",
    ]));
    let store = |content: &Vec<u8>| {
        run(git(&["hash-object", "-w", "--stdin"]).input(content.clone()));
        id_of(format, ObjectKind::Blob, content).expect("no attack")
    };
    let ids: Vec<Id> = contents.iter().map(store).collect();
    let list: String = ids.iter().map(|id| format!("{id} file\n")).collect();
    let words = [
        "pack-objects",
        "-q",
        "--delta-base-offset",
        "--window=50",
        "objects/pack/pack",
    ];
    run(git(&words).input(list));
    ids
}

/// Texts that have much in common.
fn alike() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let edit = (0..200usize, proptest::collection::vec(any::<u8>(), 0..40));
    let first = proptest::collection::vec(any::<u8>(), 300..70_000);
    (first, proptest::collection::vec(edit, 1..12)).prop_map(|(first, edits)| {
        let mut all = vec![first];
        for (at, put) in edits {
            let mut next = all[at % all.len()].clone();
            next.splice(at..at, put);
            if !all.contains(&next) {
                all.push(next);
            }
        }
        all
    })
}

fn named(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("it is there");
    entries.flatten().map(|entry| entry.path()).collect()
}

fn of_kind(directory: &Path, end: &str) -> PathBuf {
    let is_it = |path: &PathBuf| path.extension().is_some_and(|it| it == end);
    named(directory)
        .into_iter()
        .find(is_it)
        .expect("one of this kind")
}

fn opened(path: &Path) -> File {
    File::open(path).expect("it can be opened")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn pack_and_index_are_those_of_git(contents in alike(), is_sha1 in any::<bool>()) {
        let format = if is_sha1 { Format::Sha1 } else { Format::Sha256 };
        let top = tempfile::tempdir().expect("a temporary directory");
        let ids = packed(top.path(), format, &contents);
        let packs = top.path().join("objects/pack");
        let to = tempfile::tempdir().expect("a temporary directory");
        let scratch = top.path().join("scratch");
        let taken = take(opened(&of_kind(&packs, "pack")), to.path(), &scratch, format, &Reporter::new());
        let spooled = taken.expect("it can be written").expect("it is whole");
        prop_assert!(!scratch.exists());
        for end in ["pack", "idx"] {
            let (theirs, ours) = (of_kind(&packs, end), of_kind(to.path(), end));
            prop_assert_eq!(ours.file_name(), theirs.file_name());
            prop_assert!(fs::read(ours).expect("ours") == fs::read(theirs).expect("theirs"), "{}", end);
        }
        let mut read = Vec::new();
        for (id, content) in ids.iter().zip(&contents) {
            prop_assert!(spooled.read(id, &mut read).expect("it can be read"));
            prop_assert!(&read == content);
        }
        let other = id_of(format, ObjectKind::Tree, b"").expect("no attack");
        prop_assert!(!spooled.has(&other) && !spooled.read(&other, &mut read).expect("it can be looked for"));
        // A store that has a pack already is left to git.
        let again = take(opened(&of_kind(&packs, "pack")), to.path(), &scratch, format, &Reporter::new());
        prop_assert!(again.expect("it can be looked at").is_none());
    }

    #[test]
    fn what_is_damaged_leaves_nothing(contents in alike(), at in any::<prop::sample::Index>(), bits in 1..=u8::MAX, is_summed in any::<bool>()) {
        let top = tempfile::tempdir().expect("a temporary directory");
        packed(top.path(), Format::Sha1, &contents);
        let mut bytes = fs::read(of_kind(&top.path().join("objects/pack"), "pack")).expect("it can be read");
        let end = bytes.len() - 20;
        let at = at.index(end);
        bytes[at] ^= bits;
        if is_summed {
            let mut sum = Sum::new(Format::Sha1);
            sum.update(&bytes[..end]);
            bytes[end..].copy_from_slice(sum.finish().as_bytes());
        }
        let damaged = top.path().join("damaged");
        fs::write(&damaged, bytes).expect("it is written");
        let to = tempfile::tempdir().expect("a temporary directory");
        let scratch = top.path().join("scratch");
        let taken = take(opened(&damaged), to.path(), &scratch, Format::Sha1, &Reporter::new()).expect("it can be written");
        // With a sum that is right, only git can tell, and it sees what we see.
        let verdict = Git::new(top.path()).args(["index-pack", "--stdin"]).input_file(opened(&damaged)).run();
        let is_fine = verdict.expect("git runs").status.success();
        prop_assert!(is_fine || taken.is_none());
        prop_assert!(is_summed || taken.is_none());
        prop_assert_eq!(named(to.path()).is_empty(), taken.is_none());
    }
}

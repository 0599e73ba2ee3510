use super::*;
use crate::git::deflate::deflate;
use crate::git::id::id_of;
use crate::git::pack_index;
use crate::git::process::Git;
use proptest::prelude::*;

#[test]
fn the_header_of_an_entry_is_as_git_writes_it() {
    assert_eq!(entry_header(ObjectKind::Blob, 5), [0x35]);
    assert_eq!(entry_header(ObjectKind::Tree, 16), [0xa0, 0x01]);
    assert_eq!(entry_header(ObjectKind::Commit, 2000), [0x90, 0x7d]);
}

#[test]
fn a_pack_that_is_not_finished_leaves_no_file() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let mut pack = PackWriter::new(top.path(), Format::Sha1, 1).expect("a pack");
    let id = id_of(Format::Sha1, ObjectKind::Blob, b"x").expect("no attack");
    pack.append(id, &[0x31], b"x").expect("written");
    drop(pack);
    assert_eq!(std::fs::read_dir(top.path()).expect("it is there").count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn git_reads_a_pack(contents in proptest::collection::hash_set(proptest::collection::vec(any::<u8>(), 0..3000), 1..80), is_sha1 in any::<bool>()) {
        let format = if is_sha1 { Format::Sha1 } else { Format::Sha256 };
        let top = tempfile::tempdir().expect("a temporary directory");
        let git = |words: &[&str]| {
            let made = Git::new(top.path()).args(words).run().expect("git runs");
            assert!(made.status.success(), "{}", made.said());
            made
        };
        git(&["init", "-q", "--bare", "--object-format", format.name(), "."]);
        let mut pack = PackWriter::new(&top.path().join("objects/pack"), format, 1).expect("a pack");
        let mut ids = Vec::new();
        for content in &contents {
            let id = id_of(format, ObjectKind::Blob, content).expect("no attack");
            let header = entry_header(ObjectKind::Blob, content.len() as u64);
            pack.append(id, &header, &deflate(&[content]).expect("compressed")).expect("written");
            ids.push((id, content));
        }
        let packed = pack.finish().expect("a whole pack");
        for (from, to) in &packed.files {
            std::fs::rename(from, to).expect("it gets its name");
        }
        let index = packed.files[1].1.to_str().expect("text").to_owned();
        git(&["verify-pack", &index]);
        let mut listed: Vec<Id> = ids.iter().map(|(id, _)| *id).collect();
        listed.sort_unstable();
        prop_assert_eq!(&pack_index::ids(&packed.files[1].1, format).expect("an index"), &listed);
        for id in &listed {
            prop_assert!(pack_index::any_has(&top.path().join("objects/pack"), id));
        }
        let other = id_of(format, ObjectKind::Tree, b"").expect("no attack");
        prop_assert!(!pack_index::any_has(&top.path().join("objects/pack"), &other));
        for (id, content) in ids {
            let read = git(&["cat-file", "blob", &id.to_string()]);
            prop_assert_eq!(read.ok().expect("it is there"), &content[..]);
        }
    }
}

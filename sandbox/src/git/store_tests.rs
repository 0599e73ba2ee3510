use super::*;
use crate::git::process::Git;
use proptest::prelude::*;

fn store(format: Format) -> (tempfile::TempDir, ObjectStore) {
    let top = tempfile::tempdir().expect("a temporary directory");
    let made = Git::new(top.path())
        .args(["init", "-q", "--bare", "--object-format"])
        .arg(format.name())
        .arg(".")
        .run()
        .expect("git runs");
    assert!(made.status.success(), "{}", made.said());
    let store = ObjectStore::new(top.path().join("objects"), format);
    (top, store)
}

fn git_reads(top: &Path, id: &Id) -> Vec<u8> {
    let git = Git::on_shadow(top, top)
        .args(["cat-file", "blob"])
        .arg(id.to_string());
    git.run()
        .expect("git runs")
        .ok()
        .expect("git knows the object")
        .to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn git_reads_what_is_written(content in proptest::collection::vec(any::<u8>(), 0..5000), is_sha1 in any::<bool>()) {
        let format = if is_sha1 { Format::Sha1 } else { Format::Sha256 };
        let (top, store) = store(format);
        let id = store.stage_stream(&content[..], content.len() as u64).expect("it can be stored");
        prop_assert_eq!(id, id_of(format, ObjectKind::Blob, &content).expect("no attack"));
        store.commit().expect("it can be committed");
        prop_assert_eq!(git_reads(top.path(), &id), content.clone());
    }
}

#[test]
fn an_object_that_was_cut_short_is_written_again() {
    for torn in [&b""[..], b"x", b"\x78\x01"] {
        let (top, store) = store(Format::Sha1);
        let id = id_of(Format::Sha1, ObjectKind::Blob, b"content").expect("no attack");
        store
            .stage(ObjectKind::Blob, id, b"content")
            .expect("it can be stored");
        store.commit().expect("it can be committed");
        let path = store.path_of(&id);
        fs::remove_file(&path).expect("it is there");
        fs::write(&path, torn).expect("a file");
        let again = ObjectStore::new(top.path().join("objects"), Format::Sha1);
        assert!(!again.has(&id));
        again
            .stage(ObjectKind::Blob, id, b"content")
            .expect("it can be stored");
        again.commit().expect("it can be committed");
        assert_eq!(git_reads(top.path(), &id), b"content");
    }
}

#[test]
fn a_content_of_another_length_is_not_stored() {
    let (top, store) = store(Format::Sha1);
    let short = store.stage_stream(&b"abc"[..], 4);
    assert!(matches!(short, Err(NotStored::Changed)));
    store.commit().expect("nothing is to be done");
    let left = fs::read_dir(top.path().join("objects")).expect("it is there");
    assert!(
        !left
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("tmp_obj"))
    );
}

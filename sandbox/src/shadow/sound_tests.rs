use super::*;
use crate::git::id::{Format, ObjectKind};
use crate::git::present::present;

struct Place {
    _top: tempfile::TempDir,
    shadow: Shadow,
    ids: Vec<Id>,
}

/// A shadow with objects in a pack and others alone, and notes of a look.
fn shadow() -> Place {
    let top = tempfile::tempdir().expect("a temporary directory");
    let git = top.path().join("shadow");
    Git::new(top.path())
        .args(["init", "-q", "--bare", "shadow"])
        .run()
        .expect("git runs");
    let shadow = Shadow {
        top: top.path().to_owned(),
        git,
        format: Format::Sha1,
    };
    let store = ObjectStore::new(shadow.objects(), shadow.format);
    let put = |text: &str| {
        store
            .put(ObjectKind::Blob, text.as_bytes())
            .expect("it is stored")
    };
    let mut ids = vec![put("packed"), put("packed too")];
    store.commit().expect("it is stored");
    let listed: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let packed = git_in(&shadow)
        .arg("pack-objects")
        .arg("-q")
        .arg(shadow.objects().join("pack/pack"))
        .input(listed)
        .run()
        .expect("git runs");
    assert!(packed.status.success(), "{}", packed.said());
    git_in(&shadow).arg("prune-packed").run().expect("git runs");
    ids.push(put("alone"));
    store.commit().expect("it is stored");
    for note in NOTES {
        fs::write(shadow.file(note), "noted").expect("it can be written");
    }
    Place {
        _top: top,
        shadow,
        ids,
    }
}

fn git_in(shadow: &Shadow) -> Git {
    Git::on_shadow(&shadow.top, &shadow.git)
}

fn there(place: &Place) -> Vec<bool> {
    let found = present(&place.shadow.git, place.ids.iter().copied()).expect("git runs");
    place.ids.iter().map(|id| found.contains(id)).collect()
}

fn tear(file: &Path, bytes: u64) {
    let mut mode = fs::metadata(file).expect("it is there").permissions();
    #[expect(clippy::permissions_set_readonly_false)]
    mode.set_readonly(false);
    fs::set_permissions(file, mode).expect("it is ours");
    let size = fs::metadata(file).expect("it is there").len();
    let open = fs::OpenOptions::new().write(true).open(file).expect("it is ours");
    open.set_len(size.min(bytes)).expect("it is ours");
}

fn only(shadow: &Shadow, end: &str) -> PathBuf {
    files_in(&shadow.objects().join("pack"), end)
        .pop()
        .expect("there is a pack")
}

#[test]
fn what_is_whole_stays_as_it_is() {
    let place = shadow();
    assert!(!drop_damaged(&place.shadow).expect("it can be looked at"));
    assert_eq!(there(&place), [true, true, true]);
    assert!(place.shadow.file(NOTES[0]).exists());
}

#[test]
fn the_index_of_a_pack_is_made_again() {
    let place = shadow();
    tear(&only(&place.shadow, "idx"), 60);
    assert!(drop_damaged(&place.shadow).expect("it can be looked at"));
    assert_eq!(there(&place), [true, true, true]);
    assert!(!place.shadow.file(NOTES[0]).exists());
}

#[test]
fn a_pack_that_is_torn_goes() {
    let place = shadow();
    tear(&only(&place.shadow, "pack"), 60);
    assert!(drop_damaged(&place.shadow).expect("it can be looked at"));
    assert_eq!(there(&place), [false, false, true]);
    assert!(files_in(&place.shadow.objects().join("pack"), "idx").is_empty());
}

#[test]
fn a_single_object_that_is_torn_goes() {
    let place = shadow();
    let name = place.ids[2].to_string();
    tear(&place.shadow.objects().join(&name[..2]).join(&name[2..]), 9);
    assert!(drop_damaged(&place.shadow).expect("it can be looked at"));
    assert_eq!(there(&place), [true, true, false]);
}

use super::*;
use crate::capture::tree::TreeMode;
use crate::git::id::{Format, ObjectKind, id_of};
use crate::git::process::Git;
use crate::plan::sidecar::Listed;
use crate::shadow::open;
use std::os::unix::fs::PermissionsExt;

fn shadow(top: &Path) -> Shadow {
    open::open(top, "s", Format::Sha1, None).expect("a shadow")
}

fn store(shadow: &Shadow, content: &[u8]) -> Id {
    let git = Git::on_shadow(&shadow.top, &shadow.git).args(["hash-object", "-w", "--stdin"]);
    git.input(content).run().expect("git runs");
    id_of(Format::Sha1, ObjectKind::Blob, content).expect("no attack")
}

fn content(id: Id, mode: TreeMode) -> Content {
    Content { mode, id }
}

#[test]
fn files_get_content_mode_and_a_time_before_this_second() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let shadow = shadow(top.path());
    let names: Vec<BString> = (0..1200)
        .map(|number| format!("d{}/f{number:04}", number % 7).into())
        .collect();
    let mut files: Vec<(BString, Content)> = names
        .into_iter()
        .map(|name| {
            let id = store(&shadow, b"many");
            (name, content(id, TreeMode::File))
        })
        .take(3)
        .collect();
    files.push(("run".into(), content(store(&shadow, b"#!"), TreeMode::Executable)));
    files.push(("link".into(), content(store(&shadow, b"d0"), TreeMode::Link)));
    files.push(("empty".into(), content(store(&shadow, b" "), TreeMode::File)));
    files.sort_by(|one, other| one.0.cmp(&other.0));
    let mut modes = Sidecar::default();
    modes.modes.insert("run".into(), Listed::File(0o700));
    let asked: Vec<_> = files.iter().map(|(path, content)| (path, content)).collect();
    let filled = Filled::write(&shadow, &asked, &modes, None, &Reporter::new())
        .expect("it can be written")
        .expect("all are there");
    assert!(filled.changed() > 0);
    let tree = Beneath::new(top.path()).expect("it can be opened");
    let written = filled.place(&tree).expect("nothing is there");
    assert_eq!(written.len(), files.len());
    let mode = |path: &str| {
        fs::metadata(top.path().join(path))
            .expect("it is there")
            .permissions()
            .mode()
    };
    assert_eq!((mode("run") & 0o7777, mode("empty") & 0o7777), (0o700, 0o644));
    assert_eq!(
        fs::read_link(top.path().join("link")).expect("a link"),
        Path::new("d0")
    );
    let now = clock::now();
    for one in &written {
        let found = crate::fs::stat::stat_in(
            rustix::fs::open(top.path(), rustix::fs::OFlags::PATH, Mode::empty()).expect("it is there"),
            one.path.as_bstr(),
        );
        assert_eq!(found.expect("it is there"), one.stat.stat, "{}", one.path);
        if one.path != "link" {
            assert!(
                one.stat.stat.modified / 1_000_000_000 < now / 1_000_000_000,
                "{}",
                one.path
            );
        }
    }
    assert!(!shadow.file("stage").exists());
}

#[test]
fn an_object_that_is_missing_or_damaged_is_named() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let shadow = shadow(top.path());
    let gone = id_of(Format::Sha1, ObjectKind::Blob, b"gone").expect("no attack");
    let torn = store(&shadow, b"torn");
    let hex = torn.to_string();
    let file = shadow.objects().join(&hex[..2]).join(&hex[2..]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("ours");
    let bytes = fs::read(&file).expect("it is there");
    fs::write(&file, &bytes[..bytes.len() - 6]).expect("ours");
    for id in [gone, torn] {
        let path = BString::from("a");
        let lacking = Filled::write(
            &shadow,
            &[(&path, &content(id, TreeMode::File))],
            &Sidecar::default(),
            None,
            &Reporter::new(),
        )
        .expect("the disk is well")
        .expect_err("it is not there");
        assert!(lacking.to_string().contains(&id.to_string()), "{lacking}");
    }
}

#[test]
fn what_appeared_meanwhile_is_written_over_only_where_it_holds_nothing() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let shadow = shadow(top.path());
    let path = BString::from("d/f");
    let new = content(store(&shadow, b"ours"), TreeMode::File);
    let place = || {
        let filled = Filled::write(
            &shadow,
            &[(&path, &new)],
            &Sidecar::default(),
            None,
            &Reporter::new(),
        )
        .expect("it can be written")
        .expect("it is there");
        filled.place(&Beneath::new(top.path()).expect("it can be opened"))
    };
    for others in ["d/f", "d/other"] {
        fs::create_dir_all(top.path().join("d")).expect("a directory");
        fs::write(top.path().join(others), "others").expect("a file");
        let said = place().expect_err("something is there").to_string();
        assert!(said.contains("something appeared there meanwhile"), "{said}");
        assert_eq!(fs::read(top.path().join(others)).expect("it stays"), b"others");
        fs::remove_dir_all(top.path().join("d")).expect("ours");
    }
    std::os::unix::fs::symlink("elsewhere", top.path().join("d")).expect("a link");
    fs::create_dir(top.path().join("elsewhere")).expect("a directory");
    assert!(place().is_err());
    assert_eq!(
        fs::read_dir(top.path().join("elsewhere"))
            .expect("it is there")
            .count(),
        0
    );
    fs::remove_file(top.path().join("d")).expect("ours");
    fs::create_dir_all(top.path().join("d/empty/inner")).expect("a directory");
    place().expect("no file is in it");
    assert_eq!(fs::read(top.path().join("d/f")).expect("it is there"), b"ours");
}

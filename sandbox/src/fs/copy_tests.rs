use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn open(path: &Path) -> Arc<Handle> {
    Handle::top(path).expect("it can be opened")
}

#[test]
fn a_copy_of_a_tree_is_like_the_tree() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| top.path().join(path);
    fs::create_dir_all(at("tree/a/b")).expect("directories");
    fs::write(at("tree/a/file"), "x").expect("a file");
    fs::hard_link(at("tree/a/file"), at("tree/a/b/same")).expect("a link");
    symlink("nowhere", at("tree/link")).expect("a link");
    fs::set_permissions(at("tree/a/file"), fs::Permissions::from_mode(0o4750)).expect("a mode");
    let set = fs::File::open(at("tree/a/b")).and_then(|open| open.set_modified(std::time::UNIX_EPOCH));
    set.expect("a time");
    let handle = open(top.path());
    tree((&handle, "tree".into()), (&handle, "copy".into())).expect("it can be copied");
    let meta = |path: &str| fs::symlink_metadata(at(path)).expect("it is there");
    assert_eq!(meta("copy/a/file").mode(), meta("tree/a/file").mode());
    assert_eq!(meta("copy/a/file").ino(), meta("copy/a/b/same").ino());
    assert_eq!(meta("copy/a/b").mtime(), 0);
    assert_eq!(
        fs::read_link(at("copy/link")).expect("a link"),
        Path::new("nowhere")
    );
    let again = tree((&handle, "tree".into()), (&handle, "copy".into()));
    assert_eq!(again, Err(Errno::EXIST));
}

#[test]
fn a_file_that_moves_takes_no_name_that_is_taken() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| top.path().join(path);
    for name in ["a", "b"] {
        fs::write(at(name), name).expect("a file");
    }
    let handle = open(top.path());
    let directory = handle.open().expect("it can be opened");
    let named = |name: &'static str| (directory.as_fd(), BStr::new(name));
    assert_eq!(
        move_leaf(named("a"), named("part"), named("b")),
        Err(Errno::EXIST)
    );
    assert_eq!(place_leaf(named("a"), named("b"), |_| Ok(())), Err(Errno::EXIST));
    assert_eq!(move_leaf(named("a"), named("part"), named("c")), Ok(()));
    assert_eq!(place_leaf(named("c"), named("d"), |_| Ok(())), Ok(()));
    let mut names: Vec<_> = fs::read_dir(top.path())
        .expect("it can be read")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["b", "c", "d"]);
    assert_eq!(fs::read(at("d")).expect("it is there"), b"a");
}

#[test]
fn the_other_name_of_a_copy_is_free_and_told_before_the_copy_has_it() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| top.path().join(path);
    fs::write(at("from"), "x").expect("a file");
    fs::write(at(".walkback-new0"), "theirs").expect("a file");
    let handle = open(top.path());
    let directory = handle.open().expect("it can be opened");
    let named = |name: &'static str| (directory.as_fd(), BStr::new(name));
    let found = look(named("from")).expect("it is there");
    let mut told = BString::default();
    let placed = place_named((named("from"), &found), named("to"), |name| {
        told = name.to_owned();
        assert!(!at(".walkback-new1").exists());
        Ok(())
    });
    assert_eq!((placed, told), (Ok(()), ".walkback-new1".into()));
    let refused = place_named((named("from"), &found), named("other"), |_| Err(Errno::NOSPC));
    assert_eq!(refused, Err(Errno::NOSPC));
    let text = |name: &str| fs::read_to_string(at(name)).expect("it is there");
    assert_eq!(
        (text("to"), text(".walkback-new0")),
        ("x".into(), "theirs".into())
    );
    assert!(!at(".walkback-new1").exists() && !at("other").exists());
}

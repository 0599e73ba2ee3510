use super::*;
use crate::fs::removal;
use crate::git::id::{ObjectKind, id_of};
use crate::plan::sidecar::Sidecar;
use rustix::fs::{Mode, OFlags, openat};
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

fn blob(text: &str) -> Id {
    id_of(Format::Sha1, ObjectKind::Blob, text.as_bytes()).expect("no attack")
}

/// A place with these files. What each was captured with is its own name.
fn place(files: &[(&str, &str)]) -> TempDir {
    let top = tempfile::tempdir().expect("a temporary directory");
    let written = || {
        fs::create_dir(top.path().join("files"))?;
        fs::write(top.path().join("format"), "sha1\n")?;
        for (path, text) in files {
            let file = top.path().join("files").join(path);
            fs::create_dir_all(file.parent().unwrap_or(&file))?;
            fs::write(file, text)?;
        }
        let lines = files
            .iter()
            .map(|(path, _)| format!("100644 {}\t{path}\0", blob(path)));
        fs::write(top.path().join("were"), lines.collect::<String>())
    };
    written().expect("it is written");
    top
}

fn late(place: &TempDir) -> Vec<String> {
    let found = late_in(place.path()).expect("it can be read");
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_not_as_it_was_is_late() {
    let place = place(&[("same", "same"), ("d/e", "other"), ("x", "x")]);
    let files = place.path().join("files");
    fs::set_permissions(files.join("x"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::write(files.join("new"), "new").expect("a file");
    symlink("same", files.join("link")).expect("a link");
    assert_eq!(late(&place), ["d/e", "link", "new", "x"]);
    let stored = format!("{} d/e\0{} new\0", blob("before"), blob("new"));
    fs::write(
        place.path().join("stored"),
        format!("{stored}{} d/e\0", blob("other")),
    )
    .expect("a file");
    assert_eq!(late(&place), ["link", "x"]);
}

#[test]
fn a_path_that_is_longer_than_the_system_takes_is_looked_at() {
    let place = place(&[]);
    let directory = vec!["d".repeat(250); 20].join("/");
    let path = BString::from(format!("{directory}/f"));
    let files = Beneath::new(&place.path().join("files")).expect("it can be opened");
    let made = files.parent_made(path.as_bstr(), &Sidecar::default());
    let (above, name) = made.expect("it can be made");
    let open = above.open().expect("it can be opened");
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let file = openat(
        open.as_fd(),
        name.as_bytes(),
        flags,
        Mode::from_bits_retain(0o644),
    );
    drop(file.expect("a file"));
    assert_eq!(late(&place), [path.to_string()]);
    let inode = inode_at(&files, path.as_bstr()).expect("it is there");
    let with = |inode: u64| with_inode(place.path(), &HashSet::from([inode])).expect("it can be read");
    assert_eq!((with(inode), with(0)), (vec![path.clone()], Vec::new()));
    assert!(is_put_aside(&[files], path.as_bstr()));
    let top = Handle::top(place.path()).expect("it can be opened");
    removal::remove(&top, BStr::new("files")).expect("it can be removed");
}

#[test]
fn a_place_of_which_nothing_is_said_cannot_be_read() {
    let place = place(&[("a", "a")]);
    fs::remove_file(place.path().join("were")).expect("it is there");
    assert!(late_in(place.path()).is_err());
}

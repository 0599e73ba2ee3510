use super::*;
use crate::apply::aside::Naming;
use crate::capture::tree::TreeMode;
use crate::git::id::{Format, ObjectKind};
use crate::git::store::ObjectStore;
use crate::plan::files::Content;
use crate::shadow::open::{Shadow, open};
use crate::wire::progress::Reporter;
use std::fs;
use std::io::Write;
use std::path::Path;

/// A working tree `top/app` with a shadow, beside `top/else`.
struct World {
    top: tempfile::TempDir,
    shadow: Shadow,
}

impl World {
    fn new() -> Self {
        let top = tempfile::tempdir().expect("a temporary directory");
        for name in ["app", "else"] {
            fs::create_dir(top.path().join(name)).expect("a directory");
        }
        let app = top.path().join("app");
        let shadow = open(&app, "s", Format::Sha1, None).expect("a shadow");
        World { top, shadow }
    }

    fn app(&self) -> &Path {
        &self.shadow.top
    }

    fn content(&self, text: &str) -> Content {
        let store = ObjectStore::new(self.shadow.objects(), Format::Sha1);
        let id = store
            .put(ObjectKind::Blob, text.as_bytes())
            .expect("it can be stored");
        store.commit().expect("it can be stored");
        Content {
            mode: TreeMode::File,
            id,
        }
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.top.path().join(path)).expect("it is there")
    }

    /// Takes these steps. What was put aside lies in `aside`.
    fn act(&self, changes: &[Change]) -> Outcome<()> {
        let stage = self.stage(changes, None);
        self.act_with(&stage, &self.place("0.1"), changes)
    }

    fn stage(&self, changes: &[Change], from: Option<&Aside>) -> Stage {
        let files: Vec<_> = changes.iter().filter_map(Change::written).collect();
        let written = Stage::write(&self.shadow, &files, &Sidecar::default(), from, &Reporter::new());
        written
            .expect("it can be written")
            .expect("every content is here")
    }

    fn place(&self, name: &str) -> Aside {
        let naming = Naming {
            projects: self.top.path(),
            session: "s",
            call: "c",
            name: name.into(),
        };
        Aside::make(&naming, (Format::Sha1, "app".into()), std::iter::empty()).expect("it can be made")
    }

    fn act_with(&self, stage: &Stage, aside: &Aside, changes: &[Change]) -> Outcome<()> {
        let modes = Sidecar::default();
        let tree = Beneath::new(self.app()).expect("it can be opened");
        Placing {
            top: self.app(),
            tree: &tree,
            stage,
            aside,
            modes: &modes,
            begun: &Begun::of(self.top.path(), "s"),
        }
        .act(changes)
        .map(drop)
    }

    fn aside(&self, path: &str) -> String {
        self.text(&format!(".agent-shadow/aside-s/c/0.1/files/{path}"))
    }
}

#[test]
fn what_is_replaced_and_what_goes_is_kept_and_new_files_have_their_directories() {
    let world = World::new();
    fs::create_dir(world.app().join("d")).expect("a directory");
    for name in ["old", "d/gone"] {
        fs::write(world.app().join(name), name).expect("a file");
    }
    let new = world.content("new");
    world
        .act(&[
            Change::PutAside("d/gone".into()),
            Change::Replace("old".into(), new),
            Change::Write("e/f/new".into(), new),
            Change::RemoveDirectory("d".into()),
        ])
        .expect("nothing is in the way");
    assert_eq!(
        (world.text("app/old"), world.text("app/e/f/new")),
        ("new".into(), "new".into())
    );
    assert_eq!(
        (world.aside("old"), world.aside("d/gone")),
        ("old".into(), "d/gone".into())
    );
    assert!(!world.app().join("d").exists());
}

#[test]
fn nothing_is_written_or_taken_behind_a_link() {
    let world = World::new();
    fs::write(world.top.path().join("else/theirs"), "theirs").expect("a file");
    std::os::unix::fs::symlink("../else", world.app().join("link")).expect("a link");
    let new = world.content("new");
    for change in [
        Change::Write("link/new".into(), new),
        Change::Replace("link/theirs".into(), new),
        Change::PutAside("link/theirs".into()),
    ] {
        world.act(&[change]).expect_err("a link stands above it");
    }
    assert_eq!(world.text("else/theirs"), "theirs");
    assert!(!world.top.path().join("else/new").exists());
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_overwritten() {
    let world = World::new();
    fs::create_dir_all(world.app().join("empty/deep")).expect("a directory");
    fs::create_dir(world.app().join("full")).expect("a directory");
    for name in ["there", "full/theirs"] {
        fs::write(world.app().join(name), "theirs").expect("a file");
    }
    let new = world.content("new");
    for name in ["there", "full"] {
        world
            .act(&[Change::Write(name.into(), new)])
            .expect_err("something is there");
    }
    assert_eq!(world.text("app/there"), "theirs");
    assert_eq!(world.text("app/full/theirs"), "theirs");
    world
        .act(&[Change::Write("empty".into(), new)])
        .expect("a directory without files makes way");
    assert_eq!(world.text("app/empty"), "new");
}

#[test]
fn what_is_given_back_is_aside_until_it_has_its_place() {
    let world = World::new();
    fs::create_dir(world.app().join("d")).expect("a directory");
    let mut held = fs::File::create(world.app().join("d/f")).expect("a file");
    held.write_all(b"old").expect("it is written");
    fs::write(world.app().join("other"), "theirs").expect("a file");
    let leaves = ["d/f", "other"].map(|path| Change::PutAside(path.into()));
    world.act(&leaves).expect("nothing is in the way");
    let old = world.content("old");
    let back = ["d/f", "other"].map(|path| Change::Write(path.into(), old));
    let stage = world.stage(&back, Some(&world.place("0.1")));
    assert_eq!(world.aside("d/f"), "old");
    world
        .act_with(&stage, &world.place("0.2"), &back)
        .expect("nothing is in the way");
    held.write_all(b" late").expect("it is written");
    assert_eq!(world.text("app/d/f"), "old late");
    // Somebody wrote that one, so it stays.
    assert_eq!(
        (world.text("app/other"), world.aside("other")),
        ("old".into(), "theirs".into())
    );
}

#[test]
fn what_changes_names_with_a_new_file_is_aside_at_once() {
    let world = World::new();
    let (app, aside) = (
        Handle::top(world.app()).expect("it can be opened"),
        world.place("0.1"),
    );
    let open = app.open().expect("it can be opened");
    let long = "n".repeat(255);
    let at = |name| (open.as_fd(), BStr::new(name));
    for (name, kept) in [("f", "f.1"), (long.as_str(), &format!("{}.1", "n".repeat(253)))] {
        fs::write(aside.place.join("files").join(name), "before").expect("a file");
        fs::write(world.app().join("new"), "new").expect("a file");
        let exchange = || aside.exchange(name.into(), at("new"), at(name));
        assert_eq!(exchange(), Err(Errno::NOENT));
        assert_eq!(world.text("app/new"), "new");
        fs::write(world.app().join(name), "theirs").expect("a file");
        assert_eq!(exchange(), Ok(Some(())));
        assert_eq!(world.text(&format!("app/{name}")), "new");
        assert_eq!(
            (world.aside(name), world.aside(kept)),
            ("before".into(), "theirs".into())
        );
        assert!(!world.app().join("new").exists());
    }
}

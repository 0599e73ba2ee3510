use super::*;
use crate::capture::index_lock::IndexLock;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> Self {
        let world = World(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(world.at(".agent-shadow")).expect("a directory");
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn begun(&self) -> Begun {
        Begun::of(self.0.path(), "s")
    }

    fn make(&self, directory: &str) {
        fs::create_dir_all(self.at(directory)).expect("a directory");
    }

    fn write(&self, file: &str) {
        fs::write(self.at(file), file).expect("a file");
    }

    fn note(&self, step: Step, path: &str, place: Option<&str>) {
        let place = place.map(|place| self.at(place));
        let noted = self.begun().note(step, &self.at(path), place.as_deref());
        noted.expect("it can be noted");
    }

    fn is_there(&self, path: &str) -> bool {
        kind(&self.at(path)).is_some()
    }

    fn finish(&self) {
        self.begun().finish().expect("it can be finished");
    }
}

#[test]
fn directories_that_were_made_go_while_nothing_is_in_them() {
    let world = World::new();
    for made in ["mine", "in", "in/app", "in/app/.agent-shadow", "full"] {
        if made != "mine" {
            world.note(Step::Directory, made, None);
        }
        world.make(made);
    }
    world.note(Step::Shadow, "in/app/.agent-shadow/session-s", None);
    world.make("in/app/.agent-shadow/session-s/objects");
    world.make("in/app/.agent-shadow/carried-s");
    world.write("in/app/.agent-shadow/.gitignore");
    world.write("full/theirs");
    world.finish();
    assert!(!world.is_there("in") && world.is_there("full/theirs") && world.is_there("mine"));
    assert!(!world.is_there(".agent-shadow/begun-s"));
}

#[test]
fn a_repository_that_has_its_git_stays() {
    let world = World::new();
    for made in ["app", "app/.agent-shadow"] {
        world.note(Step::Directory, made, None);
        world.make(made);
    }
    world.note(Step::Shadow, "app/.agent-shadow/session-s", None);
    world.make("app/.agent-shadow/session-s");
    world.make("app/.git");
    world.write("app/.agent-shadow/.gitignore");
    world.finish();
    assert!(world.is_there("app/.agent-shadow/session-s") && world.is_there("app/.agent-shadow/.gitignore"));
}

#[test]
fn a_file_that_was_on_its_way_goes() {
    let world = World::new();
    world.note(Step::File, ".walkback-new", None);
    world.write(".walkback-new");
    world.write("theirs");
    world.finish();
    assert!(!world.is_there(".walkback-new") && world.is_there("theirs"));
}

#[test]
fn parts_return_to_their_place_while_the_git_is_there() {
    let world = World::new();
    world.make("app/.agent-shadow");
    world.make("place/git");
    world.note(
        Step::Part(Part::Shadow),
        "app/.agent-shadow/session-s",
        Some("place"),
    );
    world.make("app/.agent-shadow/session-s/objects");
    world.finish();
    assert!(world.is_there("place/shadow/objects") && !world.is_there("app/.agent-shadow/session-s"));
    world.note(
        Step::Part(Part::Shadow),
        "app/.agent-shadow/session-s",
        Some("place"),
    );
    fs::rename(world.at("place/shadow"), world.at("app/.agent-shadow/session-s")).expect("it is there");
    fs::rename(world.at("place/git"), world.at("app/.git")).expect("it is there");
    world.finish();
    assert!(world.is_there("app/.agent-shadow/session-s/objects"));
}

#[test]
fn a_git_that_cannot_be_used_comes_back_or_is_known_until_its_restore_ends() {
    let world = World::new();
    world.make("app");
    world.make("place");
    world.note(Step::Unusable, "app/.git", Some("place"));
    world.write("place/git");
    world.make("app/.git");
    world.finish();
    assert_eq!(
        world.begun().unusable(&world.at("app/.git")),
        Some(world.at("place"))
    );
    fs::remove_dir(world.at("app/.git")).expect("it is empty");
    world.finish();
    assert!(world.is_there("app/.git") && !world.is_there("place/git"));
    assert_eq!(world.begun().unusable(&world.at("app/.git")), None);
}

#[test]
fn notes_lead_nowhere_else_and_one_that_was_cut_off_counts_for_nothing() {
    let world = World::new();
    let outside = tempfile::tempdir().expect("a temporary directory");
    std::os::unix::fs::symlink(outside.path(), world.at("link")).expect("a link");
    fs::create_dir(outside.path().join("empty")).expect("a directory");
    world.make("empty");
    let text = b"directory\0link/empty\0\0directory\0../empty\0\0other\0empty\0\0directory\0empty\0";
    fs::write(world.at(".agent-shadow/begun-s"), text).expect("a file");
    world.finish();
    assert!(outside.path().join("empty").exists() && world.is_there("empty"));
    world
        .begun()
        .note(Step::Directory, outside.path(), None)
        .expect("it is passed over");
    assert!(!world.is_there(".agent-shadow/begun-s"));
}

#[test]
fn what_is_left_of_a_repository_that_was_leaving_follows_its_git() {
    let world = World::new();
    for directory in ["in/app", "in/app/.agent-shadow"] {
        world.make(directory);
        world.note(Step::Directory, directory, None);
    }
    world.make("place/git");
    world.make("in/app/.agent-shadow/session-s");
    world.note(
        Step::Part(Part::Shadow),
        "in/app/.agent-shadow/session-s",
        Some("place"),
    );
    world.write("in/app/.agent-shadow/.gitignore");
    world.finish();
    assert!(world.is_there("in") && !world.is_there("in/app") && world.is_there("place/shadow"));
}

#[test]
fn a_lock_of_ours_goes_with_its_note_and_no_other() {
    let world = World::new();
    let outside = tempfile::tempdir().expect("a temporary directory");
    world.make("app/.git");
    world.make("other/.git");
    let gits = [
        world.at("app/.git"),
        world.at("other/.git"),
        outside.path().to_owned(),
    ];
    let noted = || {
        for git in &gits {
            let noted = world.begun().note(Step::Lock, &git.join("index.lock"), None);
            noted.expect("it can be noted");
        }
        for git in [&gits[0], &gits[2]] {
            IndexLock::of(git, "s").make().expect("there is none");
        }
    };
    let left = || {
        gits.iter()
            .map(|git| kind(&git.join("index.lock")))
            .collect::<Vec<_>>()
    };
    world.write("other/.git/index.lock");
    noted();
    world.finish();
    assert_eq!(left(), [None, Some(Kind::File), None]);
    noted();
    world.begun().close().expect("they can be removed");
    assert_eq!(left(), [None, Some(Kind::File), None]);
    assert!(!world.is_there(".agent-shadow/begun-s"));
}

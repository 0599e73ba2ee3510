use super::*;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> Self {
        let world = World(tempfile::tempdir().expect("a temporary directory"));
        for directory in ["app/.git/objects", "app/.agent-shadow", "place"] {
            fs::create_dir_all(world.at(directory)).expect("a directory");
        }
        fs::write(world.at("app/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn is_there(&self, path: &str) -> bool {
        kind(&self.at(path)).is_some()
    }

    fn with<T>(&self, act: impl FnOnce(&Notes<'_>) -> io::Result<T>) -> T {
        let place = self.at("place");
        let notes = Notes {
            projects: self.0.path(),
            session: "s",
            place: &place,
            part: Part::Git,
        };
        act(&notes).expect("it can be done")
    }
}

#[test]
fn an_original_stays_until_its_copy_has_its_name() {
    let world = World::new();
    world.with(|notes| notes.note_leaving(&world.at("app/.git")));
    fs::create_dir(world.at("place/git.part")).expect("a directory");
    world.with(|notes| notes.finish());
    assert!(world.is_there("app/.git/HEAD"));
    assert!(!world.is_there("place/git.part") && !world.is_there("place/git.leaving"));
    world.with(|notes| notes.note_leaving(&world.at("app/.git")));
    fs::create_dir(world.at("place/git")).expect("a directory");
    world.with(|notes| notes.finish());
    assert!(!world.is_there("app/.git") && !world.is_there("place/git.leaving"));
    assert!(world.is_there("app") && world.is_there("place/git"));
}

#[test]
fn a_repository_that_was_made_since_stays() {
    let world = World::new();
    world.with(|notes| notes.note_leaving(&world.at("app/.git")));
    fs::create_dir(world.at("place/git")).expect("a directory");
    fs::remove_file(world.at("app/.git/HEAD")).expect("it is there");
    fs::write(world.at("app/.git/HEAD"), "ref: refs/heads/new\n").expect("a file");
    world.with(|notes| notes.finish());
    assert!(world.is_there("app/.git/HEAD") && !world.is_there("place/git.leaving"));
}

#[test]
fn what_came_back_is_no_longer_in_the_place() {
    let world = World::new();
    let (to, part) = (world.at("app/.git"), world.at("app/.agent-shadow/carried-s"));
    fs::create_dir(world.at("place/git")).expect("a directory");
    fs::create_dir(&part).expect("a directory");
    world.with(|notes| notes.note_returning(&to, &part));
    world.with(|notes| notes.finish());
    // Another one is there.
    assert!(world.is_there("place/git") && world.is_there("app/.git"));
    assert!(!world.is_there("app/.agent-shadow/carried-s"));
    world.with(|notes| notes.note_returning(&to, &to));
    world.with(|notes| notes.finish());
    assert!(!world.is_there("place/git") && world.is_there("app/.git/HEAD"));
    assert!(!world.is_there("place/git.returning"));
}

#[test]
fn a_note_leads_nowhere_else() {
    let world = World::new();
    fs::create_dir(world.at("place/git")).expect("a directory");
    std::os::unix::fs::symlink(world.at("app"), world.at("link")).expect("a link");
    for path in ["link/.git", "../.git", "app", "app/./.git"] {
        fs::write(world.at("place/git.leaving"), [path, "\0"].concat()).expect("a file");
        fs::rename(world.at("app/.git/HEAD"), world.at("HEAD")).expect("it is there");
        world.with(|notes| notes.finish());
        fs::rename(world.at("HEAD"), world.at("app/.git/HEAD")).expect("the directory is there");
    }
}

#[test]
fn an_empty_directory_of_the_user_stays_where_nothing_came() {
    let world = World::new();
    fs::create_dir(world.at("place/git")).expect("a directory");
    fs::create_dir_all(world.at("empty/.agent-shadow/carried-s")).expect("a directory");
    world.with(|notes| notes.note_returning(&world.at("empty/.git"), Path::new("")));
    world.with(|notes| notes.finish());
    assert!(world.is_there("empty") && world.is_there("place/git"));
    assert!(!world.is_there("empty/.agent-shadow/carried-s"));
}

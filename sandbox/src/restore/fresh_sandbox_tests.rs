use super::*;
use std::os::unix::fs::symlink;

fn at(top: &Path, path: &str) -> std::path::PathBuf {
    top.join(path)
}

fn write(top: &Path, path: &str) {
    let file = at(top, path);
    fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
    fs::write(file, path).expect("a file");
}

#[test]
fn what_the_template_holds_is_put_aside_once() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let top = top.path();
    for file in ["app/.git/HEAD", "app/a", "other/b", "moved/c"] {
        write(top, file);
    }
    symlink("moved", at(top, "linked")).expect("a link");
    let roots = ["app", "linked", "new", "other/b"].map(BString::from);
    arrive(top, "s", &roots).expect("there is room");
    let aside = at(top, ".agent-shadow/replaced-s");
    let mut found: Vec<String> = ["1", "2"]
        .iter()
        .flat_map(|number| fs::read_dir(aside.join(number)).expect("it is there"))
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    found.sort();
    assert_eq!(found, [".git", "a"]);
    assert_eq!(fs::read_dir(at(top, "app")).expect("it stays").count(), 0);
    for file in ["other/b", "moved/c"] {
        assert!(at(top, file).is_file(), "{file} is in no place of a repository");
    }
    let note = fs::read(at(top, ".agent-shadow/taken-s/.came")).expect("it was noted");
    assert!(note.contains_str("f./moved/c\0"));
    // What the first delivery wrote is not of the template.
    write(top, "app/ours");
    arrive(top, "s", &roots).expect("it arrived");
    assert!(at(top, "app/ours").is_file());
}

#[test]
fn of_the_projects_root_itself_only_our_folder_stays() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let top = top.path();
    for file in ["a", "d/b", ".agent-shadow/in-s/call/bundle"] {
        write(top, file);
    }
    arrive(top, "s", &[BString::from(".")]).expect("there is room");
    let left: Vec<_> = fs::read_dir(top)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    assert_eq!(left, [".agent-shadow"]);
    assert!(at(top, ".agent-shadow/in-s/call/bundle").is_file());
}

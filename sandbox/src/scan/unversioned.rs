//! Notes the names of files and directories that lie in no repository. No capture holds these. But when such a directory
//! becomes a repository, a restore of an earlier capture must know what was in it before.
//!
//! The list has names that end with NUL: `d./PATH` for a directory, `f./PATH` for anything else, `o./PATH` for a directory
//! that was not looked into. The last one is `e`. Without it the list says only that the names are not known.

use crate::fs::kind::{Kind, kind};
use crate::host::place::path_of;
use crate::scan::discover::is_dependency_folder;
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// With more than this, nothing is noted, and a restore leaves everything where it is.
const BYTES_MOST: usize = 4 << 20;

/// Writes the list for a capture. Equal lists share one file.
pub(crate) fn note_unversioned(
    projects: &Path,
    session: &str,
    tag: &str,
    roots: &[BString],
) -> io::Result<()> {
    let home = projects.join(".agent-shadow");
    let directory = home.join(format!("taken-{session}"));
    fs::create_dir_all(&directory)?;
    let file = directory.join(tag);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let list = unversioned(projects, roots);
    let latest = home.join(format!("unversioned-{session}"));
    if fs::read(&latest).ok().as_deref() != Some(&list[..]) {
        // The file before may be shared, so it is not written anew.
        let part = home.join(format!("unversioned-{session}.part"));
        fs::write(&part, &list)?;
        fs::rename(&part, &latest)?;
    }
    fs::hard_link(&latest, &file).or_else(|_| fs::write(&file, &list))
}

/// The list of what lies in none of these repositories.
fn unversioned(projects: &Path, roots: &[BString]) -> Vec<u8> {
    let roots: HashSet<&BStr> = roots.iter().map(|root| root.as_bstr()).collect();
    let mut list = b"d.\0".to_vec();
    let mut waiting = Vec::new();
    if !roots.contains(BStr::new(".")) {
        waiting.push(BString::default());
    }
    while let Some(directory) = waiting.pop() {
        let path = projects.join(path_of(directory.clone()));
        let Ok(entries) = fs::read_dir(path) else {
            note(&mut list, b'o', directory.as_bstr());
            continue;
        };
        for entry in entries.flatten() {
            let name = BString::from(entry.file_name().as_bytes());
            let whole = if directory.is_empty() {
                name.clone()
            } else {
                BString::from([&directory[..], b"/", &name[..]].concat())
            };
            if roots.contains(whole.as_bstr()) || whole == ".agent-shadow" {
                continue;
            }
            if kind(&entry.path()) != Some(Kind::Directory) {
                note(&mut list, b'f', whole.as_bstr());
            } else if name == ".git" || is_dependency_folder(name.as_bstr()) {
                note(&mut list, b'o', whole.as_bstr());
            } else {
                note(&mut list, b'd', whole.as_bstr());
                waiting.push(whole);
            }
            if list.len() > BYTES_MOST {
                list.truncate(BYTES_MOST);
                return list;
            }
        }
    }
    list.extend_from_slice(b"e\0");
    list
}

fn note(list: &mut Vec<u8>, letter: u8, path: &BStr) {
    list.push(letter);
    list.extend_from_slice(b"./");
    list.extend_from_slice(path);
    list.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_of_repositories_are_listed() {
        let top = tempfile::tempdir().expect("a temporary directory");
        for directory in [
            "app/src",
            "docs/node_modules/x",
            "docs/inner/.git",
            "docs/a",
            ".agent-shadow",
        ] {
            fs::create_dir_all(top.path().join(directory)).expect("a directory");
        }
        for file in ["app/a", "docs/a/b", "docs/inner/c", "top"] {
            fs::write(top.path().join(file), "").expect("a file");
        }
        let roots = [BString::from("app"), BString::from("docs/inner")];
        note_unversioned(top.path(), "s", "t1", &roots).expect("it can be noted");
        note_unversioned(top.path(), "s", "t2", &roots).expect("it can be noted");
        let read =
            |tag: &str| fs::read(top.path().join(".agent-shadow/taken-s").join(tag)).expect("it is there");
        let list = read("t1");
        assert_eq!(list, read("t2"));
        assert!(list.ends_with(b"\0e\0"));
        let mut names: Vec<&[u8]> = list.split_str("\0").filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        let expected: [&[u8]; 7] = [
            b"d.",
            b"d./docs",
            b"d./docs/a",
            b"e",
            b"f./docs/a/b",
            b"f./top",
            b"o./docs/node_modules",
        ];
        assert_eq!(names, expected);
    }
}

//! The folder of ours, `.agent-shadow`, in the projects root and in each repository.

use crate::fs::kind::{Kind, kind};
use crate::fs::text::slurp;
use crate::wire::error::{Context, Failure, Outcome};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names of files and of directories of ours, or how they begin.
const FILES: [&str; 6] = [
    "lock",
    ".gitignore",
    "nested-",
    "unversioned-",
    "journal-",
    "begun-",
];
const DIRECTORIES: [&str; 7] = ["bin", "run-", "room-", "in-", "aside-", "parked-", "replaced-"];

/// Removes what is neither a file nor a directory. We make no such things, a write through a link would happen
/// elsewhere, and a named pipe would wait for somebody.
pub(crate) fn without_odd(path: &Path) -> io::Result<()> {
    match kind(path) {
        Some(Kind::Link | Kind::Socket | Kind::Waits) => fs::remove_file(path),
        Some(Kind::File | Kind::Directory) | None => Ok(()),
    }
}

pub(crate) fn all_without_odd(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        without_odd(&entry?.path())?;
    }
    Ok(())
}

/// The same in every directory below.
pub(crate) fn deep_without_odd(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry?.path();
        without_odd(&path)?;
        if kind(&path) == Some(Kind::Directory) {
            deep_without_odd(&path)?;
        }
    }
    Ok(())
}

/// Writes a small file of ours, unless it has this content.
pub(crate) fn write_if_other(path: &Path, content: &[u8]) -> io::Result<()> {
    if kind(path) == Some(Kind::File) && slurp(path) == content {
        return Ok(());
    }
    without_odd(path)?;
    fs::write(path, content)
}

/// Makes the folder of ours in a directory, which the host's git does not see. A fault says what of others stands in the
/// place of it, or of something of ours in it.
pub(crate) fn make_home(directory: &Path) -> Outcome<PathBuf> {
    let home = directory.join(".agent-shadow");
    let what = match kind(&home) {
        Some(Kind::Directory) | None => None,
        Some(Kind::Link) => Some("a symlink"),
        Some(Kind::File | Kind::Socket | Kind::Waits) => Some("not a directory"),
    };
    if let Some(what) = what {
        return Err(Failure::Obstacle(format!(
            "{} is {what}. Walkback keeps its own git directories there: rename or remove it, then call again.",
            home.display()
        )));
    }
    let made = || {
        fs::create_dir_all(&home)?;
        all_without_odd(&home)
    };
    made().context("it cannot be written", &home)?;
    check(&home)?;
    write_if_other(&home.join(".gitignore"), b"*\n").context("it cannot be written", &home)?;
    Ok(home)
}

/// Whether each name of ours is what it should be. What restores put aside is cleaned like the rest.
fn check(home: &Path) -> Outcome<()> {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let is = |known: &str| {
            if known.ends_with('-') {
                name.starts_with(known)
            } else {
                name == known
            }
        };
        let what = match kind(&path) {
            Some(Kind::Directory) if FILES.into_iter().any(is) => "a file",
            Some(Kind::File) if DIRECTORIES.into_iter().any(is) => "a directory",
            Some(Kind::Directory) if name.starts_with("aside-") || name.starts_with("parked-") => {
                let clean = || {
                    all_without_odd(&path)?;
                    for below in fs::read_dir(&path).into_iter().flatten().flatten() {
                        all_without_odd(&below.path())?;
                    }
                    Ok::<(), io::Error>(())
                };
                clean().context("it cannot be written", &path)?;
                continue;
            }
            _ => continue,
        };
        return Err(Failure::Obstacle(format!(
            "{} is not {what}. Walkback keeps one of its own under that name: rename or remove it, then call again.",
            path.display()
        )));
    }
    Ok(())
}

//! Locks of the host's git that a killed git left behind. Git never removes them, and fails until somebody does.

use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::fs::text::path_in;
use crate::host::place::{Host, path_of};
use bstr::ByteSlice;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Whether a process of git that this program did not start works in one of these directories.
fn is_git_at_work(directories: &[PathBuf]) -> bool {
    let own = std::process::id();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.map(|entry| entry.path()).any(|process| {
        let Ok(name) = fs::read(process.join("comm")) else {
            return false;
        };
        let name = name.trim_ascii_end();
        if name != b"git" && !name.starts_with(b"git-") {
            return false;
        }
        if parent_of(&process) == Some(own) {
            return false;
        }
        let Ok(stands_in) = fs::canonicalize(process.join("cwd")) else {
            return false;
        };
        directories.iter().any(|directory| {
            fs::canonicalize(directory).is_ok_and(|directory| stands_in.starts_with(directory))
        })
    })
}

/// `PID (NAME) STATE PARENT ...`; the name may contain anything.
fn parent_of(process: &Path) -> Option<u32> {
    let stat = fs::read(process.join("stat")).ok()?;
    let rest = &stat[stat.rfind(") ")? + 2..];
    rest.split_str(" ").nth(1)?.to_str().ok()?.parse().ok()
}

/// Removes a lock that no process holds. Whether there is none by now.
pub(super) fn free(lock: &Path, top: &Path) -> io::Result<bool> {
    if kind(lock).is_none() {
        return Ok(true);
    }
    if is_git_at_work(&[top.to_owned()]) {
        return Ok(false);
    }
    remove::file(lock).map(|()| true)
}

/// Removes the locks of HEAD and of refs that no process holds. Whether there were some.
pub(super) fn free_refs(host: &Host, top: &Path) -> io::Result<bool> {
    let mut locks = Vec::new();
    for name in ["HEAD.lock", "packed-refs.lock"] {
        locks.extend([host.git.join(name), host.common.join(name)]);
    }
    for place in [&host.git, &host.common] {
        below(&place.join("refs"), &mut locks);
        below(&place.join("reftable"), &mut locks);
    }
    locks.retain(|path| kind(path) == Some(Kind::File));
    if locks.is_empty() || is_git_at_work(&places(host, top)) {
        return Ok(false);
    }
    for lock in locks {
        remove::file(&lock)?;
    }
    Ok(true)
}

/// No branch has a name that ends with `.lock`.
fn below(directory: &Path, locks: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(found) if found.is_dir() => below(&path, locks),
            Ok(_) if path.extension().is_some_and(|end| end == "lock") => locks.push(path),
            Ok(_) | Err(_) => {}
        }
    }
}

/// The working trees of the repository: they share its refs.
fn places(host: &Host, top: &Path) -> Vec<PathBuf> {
    let mut places = vec![top.to_owned(), host.common.clone()];
    places.extend(host.common.parent().map(Path::to_owned));
    for entry in fs::read_dir(host.common.join("worktrees"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let named = path_in(&entry.path().join("gitdir")).map(path_of);
        if let Some(git) = named {
            places.extend(entry.path().join(git).parent().map(Path::to_owned));
        }
    }
    places
}

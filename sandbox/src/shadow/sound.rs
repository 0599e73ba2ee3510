//! Objects of the shadow that are there and cannot be read, as after a power failure. Git treats any existing object file as
//! valid and would not rewrite it.

use crate::git::id::Id;
use crate::git::process::{Answered, Git};
use crate::git::store::ObjectStore;
use crate::parallel;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What looks noted about objects. Without it, everything is read again from the files.
const NOTES: [&str; 2] = ["stat-table", "host-state.json"];

/// Removes the objects of the shadow that cannot be read, makes the indexes of its packs again where these are torn, and
/// says whether there were any. The next look then reads everything.
pub(crate) fn drop_damaged(shadow: &Shadow) -> Outcome<bool> {
    let are_packs_mended = mend_packs(shadow)?;
    let are_removed = drop_loose(shadow)?;
    if !are_packs_mended && !are_removed {
        return Ok(false);
    }
    for note in NOTES {
        remove(&shadow.file(note))?;
    }
    Ok(true)
}

/// The same, and the next look reads everything in any case.
pub(crate) fn forget(shadow: &Shadow) -> Outcome<()> {
    drop_damaged(shadow)?;
    for note in NOTES {
        remove(&shadow.file(note))?;
    }
    Ok(())
}

/// Makes the index of a pack again where git cannot read it, and removes a pack that was torn itself. The answer is whether
/// there was any.
pub(crate) fn mend_packs(shadow: &Shadow) -> Outcome<bool> {
    let mut was_damaged = false;
    for index in files_in(&shadow.objects().join("pack"), "idx") {
        if !index.with_extension("pack").is_file() {
            remove(&index)?;
        }
    }
    for pack in files_in(&shadow.objects().join("pack"), "pack") {
        let beside = |end: &str| pack.with_extension(end);
        if is_taken(&git(shadow).arg("verify-pack").arg(beside("idx")).run()?)? {
            continue;
        }
        was_damaged = true;
        remove(&beside("idx"))?;
        remove(&beside("rev"))?;
        if is_taken(&git(shadow).arg("index-pack").arg(&pack).run()?)? {
            continue;
        }
        for end in ["idx", "rev", "pack"] {
            remove(&beside(end))?;
        }
    }
    Ok(was_damaged)
}

fn git(shadow: &Shadow) -> Git {
    Git::on_shadow(&shadow.top, &shadow.git)
}

/// Whether git took it. A process that crashed read a damaged file; after another signal nothing is known.
fn is_taken(answer: &Answered) -> Outcome<bool> {
    match answer.killed() {
        Some(killed) if !killed.is_crash() => Err(killed),
        Some(_) | None => Ok(answer.status.success()),
    }
}

/// Removes the single objects that are not what their names say.
fn drop_loose(shadow: &Shadow) -> Outcome<bool> {
    let store = ObjectStore::new(shadow.objects(), shadow.format);
    let directories: Vec<PathBuf> = fs::read_dir(shadow.objects())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let dropped = parallel::map(&directories, |directory| {
        let mut was_damaged = false;
        let Some(first) = directory.file_name().and_then(OsStr::to_str) else {
            return Ok(false);
        };
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let id = Id::from_hex(format!("{first}{}", name.to_string_lossy()).as_bytes());
            if id.is_some_and(|id| first.len() == 2 && !store.has(&id)) {
                remove(&entry.path())?;
                was_damaged = true;
            }
        }
        Ok(was_damaged)
    })?;
    Ok(dropped.contains(&true))
}

fn files_in(directory: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new(end)))
        .collect()
}

fn remove(file: &Path) -> Outcome<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).context("it cannot be removed", file)
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[path = "sound_tests.rs"]
mod tests;

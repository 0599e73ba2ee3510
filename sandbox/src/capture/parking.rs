//! Finishes what a process left that was killed while it parked a repository by copying it, or while a place was removed. What
//! cannot be deleted stays and does no harm.

use crate::capture::begun::Begun;
use crate::capture::carried::{Notes, PARTS};
use crate::fs::kind::{Kind, kind};
use crate::wire::error::{Context, Outcome};
use std::fs;
use std::path::{Path, PathBuf};

/// Removes what is left of originals and of copies that are incomplete, and places whose repository came back.
pub(crate) fn finish_parking(projects: &Path, session: &str) -> Outcome<()> {
    let parked = projects.join(".agent-shadow").join(format!("parked-{session}"));
    for place in below(&parked).iter().flat_map(|path| below(path)) {
        if kind(&place.join("back")) == Some(Kind::File) {
            let _ = fs::remove_dir_all(&place);
            continue;
        }
        for part in PARTS {
            let notes = Notes {
                projects,
                session,
                place: &place,
                part,
            };
            notes
                .finish()
                .context("what was being parked cannot be finished", &place)?;
        }
    }
    let begun = Begun::of(projects, session);
    begun
        .finish()
        .context("what a restore began cannot be taken back", projects)
}

fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| kind(path) == Some(Kind::Directory))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_from_which_all_came_back_goes_and_no_other() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let at = |path: &str| top.path().join(".agent-shadow/parked-s/0123").join(path);
        for number in [1, 2] {
            fs::create_dir_all(at(&format!("{number}/git"))).expect("a directory");
        }
        fs::write(at("2/back"), "").expect("a file");
        finish_parking(top.path(), "s").expect("it can be finished");
        assert!(kind(&at("1/git")).is_some() && kind(&at("2")).is_none());
    }
}

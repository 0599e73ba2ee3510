//! Finishes what a process left that was killed while it parked a repository by copying it. What cannot be deleted stays
//! and does no harm.

use crate::fs::kind::{Kind, kind};
use crate::fs::text::slurp;
use crate::host::place::path_of;
use crate::scan::discover::parents;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::path::{Path, PathBuf};

/// Removes what is left of originals, copies that are incomplete, and copies whose repository came back.
pub(crate) fn finish_parking(projects: &Path, session: &str) -> Outcome<()> {
    let parked = projects.join(".agent-shadow").join(format!("parked-{session}"));
    for place in below(&parked).iter().flat_map(|path| below(path)) {
        let mark = place.join("leaving");
        if kind(&mark) == Some(Kind::File) {
            if let Some(git) = half_gone(projects, slurp(&mark).as_bstr()) {
                let _ = fs::remove_dir_all(git);
            }
            fs::remove_file(&mark).context("it cannot be removed", &mark)?;
        }
        if kind(&place.join("back")) == Some(Kind::File) {
            let _ = fs::remove_dir_all(&place);
            continue;
        }
        for part in ["git.part", "shadow.part"] {
            // Mostly there is none.
            let _ = fs::remove_dir_all(place.join(part));
        }
    }
    Ok(())
}

fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| kind(path) == Some(Kind::Directory))
        .collect()
}

/// The `.git` of a repository whose copy is complete, as far as it is still there: the process removed HEAD first.
fn half_gone(projects: &Path, path: &BStr) -> Option<PathBuf> {
    let is_ours =
        !path.is_empty() && !path.starts_with(b"/") && path.split_str("/").all(|part| part != b"..");
    let git = BString::from([path.as_bytes(), b"/.git"].concat());
    let kind_of = |path: &BStr| kind(&projects.join(path_of(path.to_owned())));
    let is_there = is_ours
        && parents(git.as_bstr()).all(|above| kind_of(above) == Some(Kind::Directory))
        && kind_of(git.as_bstr()) == Some(Kind::Directory);
    let git = projects.join(path_of(git));
    (is_there && kind(&git.join("HEAD")).is_none()).then_some(git)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_and_nothing_else() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let at = |path: &str| top.path().join(path);
        let place = ".agent-shadow/parked-s/0123";
        for directory in ["app/.git/objects", "whole/.git", "out/.git"] {
            fs::create_dir_all(at(directory)).expect("a directory");
        }
        fs::write(at("whole/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        std::os::unix::fs::symlink(at("out"), at("link")).expect("a link");
        for (number, path) in ["app", "whole", "link", "../x"].into_iter().enumerate() {
            fs::create_dir_all(at(&format!("{place}/{number}/git.part"))).expect("a directory");
            fs::write(at(&format!("{place}/{number}/leaving")), path).expect("a file");
        }
        fs::create_dir_all(at(&format!("{place}/9/git"))).expect("a directory");
        fs::write(at(&format!("{place}/9/back")), "").expect("a file");
        finish_parking(top.path(), "s").expect("it can be finished");
        let is_there = |path: &str| kind(&at(path)).is_some();
        assert!(!is_there("app/.git") && is_there("app"));
        assert!(is_there("whole/.git") && is_there("out/.git"));
        assert!(!is_there(&format!("{place}/9")));
        for number in 0..4 {
            assert!(is_there(&format!("{place}/{number}")));
            assert!(!is_there(&format!("{place}/{number}/leaving")));
            assert!(!is_there(&format!("{place}/{number}/git.part")));
        }
    }
}

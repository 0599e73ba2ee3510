//! Finds the repositories again that were found before, and new ones beside them.
//!
//! What lies inside a known repository is not looked at here: its own look does, and ends when it meets a `.git` that is
//! not known. Then everything is searched once more.

use crate::fs::clock;
use crate::fs::kind::{Kind, kind};
use crate::host::place::path_of;
use crate::scan::discover::{
    Discovered, LINKED_GIT, Search, everywhere, find, in_dependency_folder, join, parents, skipped,
};
use crate::scan::names::split;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

/// A search beside the repositories that takes longer is less deep for some minutes.
const SLOW_MS: u128 = 1_000;
const SLOW_FOR: i64 = 600 * 1_000_000_000;
const SLOW_DEPTH: usize = 3;

/// Where the roots of a session are kept, below `.agent-shadow` of the projects root.
pub(crate) struct Places<'places> {
    pub(crate) projects: &'places Path,
    pub(crate) session: &'places str,
    pub(crate) max_depth: usize,
}

impl Places<'_> {
    fn file(&self, name: &str) -> std::path::PathBuf {
        self.projects
            .join(".agent-shadow")
            .join(format!("{name}-{}", self.session))
    }

    fn kind(&self, path: &BStr) -> Option<Kind> {
        kind(&self.projects.join(path_of(path.to_owned())))
    }

    /// Whether no part of a path is a link.
    fn is_straight(&self, path: &BStr) -> bool {
        parents(path)
            .chain([path])
            .all(|part| self.kind(part) != Some(Kind::Link))
    }

    /// Searches everything, and keeps what it found.
    pub(crate) fn search(&self) -> Outcome<Discovered> {
        let found = everywhere(self.projects, self.max_depth)?;
        let list: Vec<u8> = found
            .roots
            .iter()
            .flat_map(|root| [&root[..], b"\0"].concat())
            .collect();
        let file = self.file("nested");
        fs::write(&file, list).context("the list of repositories cannot be written", file)?;
        Ok(found)
    }

    /// Those that are known, and new ones beside them.
    pub(crate) fn again(&self) -> Outcome<Discovered> {
        let file = self.file("nested");
        let Ok(list) = fs::read(&file) else {
            return self.search();
        };
        let known: HashSet<BString> = split(&list)
            .map(BString::from)
            .filter(|root| self.has_git(root.as_bstr()))
            .collect();
        let mut found = match self.kind(BStr::new(".git")) {
            None => self.beside(&known)?,
            Some(Kind::Link) => {
                let mut found = self.beside(&known)?;
                found
                    .passed_over
                    .insert(0, skipped(BStr::new("."), LINKED_GIT.to_owned()));
                found
            }
            Some(Kind::Directory | Kind::File | Kind::Socket | Kind::Waits) => Discovered {
                roots: vec![BString::from(".")],
                passed_over: Vec::new(),
            },
        };
        for root in known {
            if !found.roots.contains(&root) && self.is_straight(root.as_bstr()) {
                found.roots.push(root);
            }
        }
        found.roots.sort();
        Ok(found)
    }

    fn has_git(&self, root: &BStr) -> bool {
        match self.kind(join(root, BStr::new(".git")).as_bstr()) {
            Some(Kind::Directory | Kind::File | Kind::Socket | Kind::Waits) => true,
            Some(Kind::Link) | None => false,
        }
    }

    /// Repositories directly below the projects root, and those below directories that are none.
    fn beside(&self, known: &HashSet<BString>) -> Outcome<Discovered> {
        let mut roots = Vec::new();
        let mut starts = Vec::new();
        for entry in fs::read_dir(self.projects).context("it cannot be looked into", self.projects)? {
            let entry = entry.context("it cannot be looked into", self.projects)?;
            let name = BString::from(entry.file_name().as_bytes());
            if self.kind(name.as_bstr()) != Some(Kind::Directory) {
                continue;
            }
            match self.kind(join(name.as_bstr(), BStr::new(".git")).as_bstr()) {
                Some(Kind::Directory | Kind::File) => roots.push(name),
                Some(Kind::Link | Kind::Socket | Kind::Waits) | None
                    if in_dependency_folder(name.as_bstr()) => {}
                Some(Kind::Link | Kind::Socket | Kind::Waits) | None => starts.push(name),
            }
        }
        let slow = self.file("slow");
        let said = fs::read_to_string(&slow)
            .ok()
            .and_then(|text| text.trim().parse::<i64>().ok());
        let is_slow = self.max_depth > SLOW_DEPTH
            && said.is_some_and(|at| clock::now() - at * 1_000_000_000 < SLOW_FOR);
        let depth = if is_slow { SLOW_DEPTH } else { self.max_depth };
        let began = Instant::now();
        let mut found = find(
            self.projects,
            &Search {
                max_depth: self.max_depth,
                walk_depth: depth + 1,
                starts,
                known,
            },
        )?;
        if began.elapsed().as_millis() > SLOW_MS && !is_slow {
            fs::write(&slow, format!("{}\n", clock::now() / 1_000_000_000))
                .context("it cannot be written", &slow)?;
        }
        if is_slow {
            found.passed_over.insert(
                0,
                skipped(
                    BStr::new("."),
                    format!(
                        "there is so much beside the repositories that new ones more than {SLOW_DEPTH} levels down are looked for every ten minutes"
                    ),
                ),
            );
        }
        found.roots.extend(roots);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_repositories_are_found_again_and_new_ones_beside_them() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let make = |path: &str| fs::create_dir_all(top.path().join(path)).expect("a directory");
        for path in [".agent-shadow", "a/.git", "a/in/.git", "b/c/.git", "gone/.git"] {
            make(path);
        }
        let places = Places {
            projects: top.path(),
            session: "s",
            max_depth: 8,
        };
        assert_eq!(
            places.again().expect("a search").roots,
            ["a", "a/in", "b/c", "gone"]
        );
        fs::remove_dir_all(top.path().join("gone")).expect("it was there");
        for path in ["b/c/inside/.git", "b/new/.git", "d/.git"] {
            make(path);
        }
        let again = places.again().expect("a search").roots;
        assert_eq!(
            again,
            ["a", "a/in", "b/c", "b/new", "d"],
            "what is inside a known one is not looked at"
        );
        assert_eq!(
            places.search().expect("a search").roots,
            ["a", "a/in", "b/c", "b/c/inside", "b/new", "d"]
        );
    }
}

//! What another process did in a repository while a restore was at work. On the way back its files and its directories stay.

use crate::plan::above;
use crate::plan::files::{Content, Difference};
use crate::plan::sidecar::{Listed, Sidecar};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// The bit of a directory that a new one inside it may get by itself.
const PASSED_ON: u32 = 0o2000;

/// What a restore found in a repository, and what it did there.
#[derive(Default)]
pub(crate) struct Done<'done> {
    pub(crate) differences: &'done [Difference],
    pub(crate) from: Option<&'done Sidecar>,
    pub(crate) to: Option<&'done Sidecar>,
    /// What the restore found at the paths that are otherwise now. Nothing: no file was there.
    pub(crate) found: Option<BTreeMap<BString, Option<Content>>>,
}

/// Paths of another process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Meanwhile {
    /// Files and links. They stay.
    pub(crate) files: BTreeSet<BString>,
    /// Directories without files. They stay.
    pub(crate) directories: BTreeSet<BString>,
    /// What the restore wrote, or found, and has another mode now. The mode goes.
    pub(crate) modes: BTreeSet<BString>,
}

fn is_same(one: Option<Content>, other: Content) -> bool {
    one.is_some_and(|one| one.is_kind_of(other) && one.id == other.id)
}

impl Done<'_> {
    /// Removes from the way back what is not the restore's to touch.
    pub(crate) fn leave(
        &self,
        back: &mut Vec<Difference>,
        (now, undo): (&mut Sidecar, &Sidecar),
    ) -> Meanwhile {
        let mut meanwhile = Meanwhile::default();
        self.leave_files(back, &mut meanwhile);
        self.leave_modes(back, (now, undo), &mut meanwhile);
        self.leave_directories(back, (now, undo), &mut meanwhile);
        meanwhile
    }

    fn leave_files(&self, back: &mut Vec<Difference>, meanwhile: &mut Meanwhile) {
        let written: BTreeMap<&BString, Option<Content>> =
            self.differences.iter().map(|one| (&one.path, one.to)).collect();
        back.retain(|one| {
            let Some(now) = one.from else { return true };
            let wrote = written.get(&one.path).copied().flatten();
            let found = self.found.as_ref().and_then(|all| match all.get(&one.path) {
                Some(found) => *found,
                None => Some(now),
            });
            if !is_same(wrote, now) && !is_same(found, now) {
                meanwhile.files.insert(one.path.clone());
                return false;
            }
            if ![wrote, found, one.to].contains(&Some(now)) {
                meanwhile.modes.insert(one.path.clone());
            }
            true
        });
    }

    /// A mode of a path that this restore did not touch stays, unless one of the states lists the path.
    fn leave_modes(
        &self,
        back: &[Difference],
        (now, undo): (&mut Sidecar, &Sidecar),
        meanwhile: &mut Meanwhile,
    ) {
        let sides = [self.from, self.to];
        let touched: BTreeSet<&BStr> = self
            .differences
            .iter()
            .flat_map(|one| above(one.path.as_bstr()).chain([one.path.as_bstr()]))
            .collect();
        let is_listed = |path: &BString| {
            let mut all = sides.iter().flatten();
            undo.modes.contains_key(path) || all.any(|side| side.modes.contains_key(path))
        };
        now.modes
            .retain(|path, _| touched.contains(path.as_bstr()) || is_listed(path));
        let known = || sides.into_iter().flatten().chain([undo]);
        let odd = now
            .modes
            .iter()
            .filter(|(path, mode)| !known().any(|side| has_mode(side, path.as_bstr(), **mode)));
        meanwhile.modes.extend(odd.map(|(path, _)| path.clone()));
        // Both states list these files, and they have the usual mode now.
        let is_there = |path: &BString| !back.iter().any(|one| one.path == *path && one.from.is_none());
        let is_file = |side: &Sidecar, path: &BString| matches!(side.modes.get(path), Some(Listed::File(_)));
        let usual = undo.modes.keys().filter(|path| {
            let is_in_both = is_file(undo, path) && self.to.is_some_and(|to| is_file(to, path));
            is_in_both && !now.modes.contains_key(*path) && is_there(path)
        });
        meanwhile.modes.extend(usual.cloned());
    }

    /// A directory goes that one of the states has empty, that was made for a path of the target, or that is in the way.
    fn leave_directories(
        &self,
        back: &[Difference],
        (now, undo): (&mut Sidecar, &Sidecar),
        meanwhile: &mut Meanwhile,
    ) {
        let comes = back.iter().filter(|one| one.from.is_none());
        let comes: BTreeSet<&BStr> = comes.map(|one| one.path.as_bstr()).collect();
        let empty = || {
            [self.from, self.to]
                .into_iter()
                .flatten()
                .flat_map(|one| &one.empty)
        };
        let written = self.differences.iter().filter(|one| one.to.is_some());
        let made: BTreeSet<&BStr> = written
            .map(|one| &one.path)
            .chain(empty())
            .flat_map(|path| above(path.as_bstr()))
            .chain(empty().map(|path| path.as_bstr()))
            .collect();
        now.empty.retain(|path| {
            let is_in_the_way = || {
                above(path.as_bstr())
                    .chain([path.as_bstr()])
                    .any(|one| comes.contains(one))
            };
            let is_known = undo.empty.contains(path) || made.contains(path.as_bstr()) || is_in_the_way();
            if !is_known {
                meanwhile.directories.insert(path.clone());
            }
            is_known
        });
    }
}

/// Whether a state has a path with this mode. A directory may have been opened to write in it.
fn has_mode(side: &Sidecar, path: &BStr, mode: Listed) -> bool {
    match mode {
        Listed::File(mode) => side.file_mode(path, mode & 0o100 != 0) == mode,
        Listed::Directory(mode) => {
            let known = side.directory_mode(path);
            let opened = known | 0o700;
            [known | PASSED_ON, opened | PASSED_ON].contains(&(mode | PASSED_ON))
        }
    }
}

#[cfg(test)]
#[path = "meanwhile_tests.rs"]
mod tests;

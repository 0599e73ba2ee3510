//! Merges modes and empty directories three-way for each path, and fits them to the files that were merged: the result is
//! what a look at these files will find. Pure.

use crate::capture::tree::TreeMode;
use crate::merge::conflicts::Conflict;
use crate::merge::paths::{Asked, with_above};
use crate::plan::above;
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// Letter and number of each mode by its path. That of the umask has the empty path.
pub(crate) type Modes = BTreeMap<BString, BString>;

/// The two lists of one capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sidecar {
    pub(crate) modes: Modes,
    pub(crate) empty: BTreeSet<BString>,
}

/// What the trees have at the paths of the lists.
#[derive(Debug, Default)]
pub(crate) struct PathsInTrees {
    pub(crate) result: BTreeMap<BString, TreeMode>,
    pub(crate) ours: BTreeSet<BString>,
    pub(crate) base: BTreeSet<BString>,
}

/// The three sides, and what is merged.
pub(crate) struct Sides<'side> {
    pub(crate) base: &'side Sidecar,
    pub(crate) ours: &'side Sidecar,
    pub(crate) theirs: &'side Sidecar,
    pub(crate) asked: &'side Asked,
}

/// A sidecar on its way.
pub(crate) struct Merging<'side> {
    sides: &'side Sides<'side>,
    pub(crate) merged: Sidecar,
    pub(crate) conflicts: Vec<Conflict>,
    /// Paths that have a conflict of both modes.
    clashed: BTreeSet<BString>,
}

fn of_both<'side, K: Ord, V>(one: &'side BTreeMap<K, V>, other: &'side BTreeMap<K, V>) -> BTreeSet<&'side K> {
    one.keys().chain(other.keys()).collect()
}

impl<'side> Merging<'side> {
    /// Merges both lists, whatever the files are.
    pub(crate) fn begin(sides: &'side Sides<'side>) -> Self {
        let mut merging = Merging {
            sides,
            merged: sides.ours.clone(),
            conflicts: Vec::new(),
            clashed: BTreeSet::new(),
        };
        merging.merge_modes();
        merging.merge_empty();
        merging
    }

    fn merge_modes(&mut self) {
        let Sides {
            base,
            ours,
            theirs,
            asked,
        } = self.sides;
        for path in of_both(&base.modes, &theirs.modes) {
            let (was, is, comes) = (base.modes.get(path), ours.modes.get(path), theirs.modes.get(path));
            if !asked.holds(path.as_bstr()) || comes == was || comes == is {
                continue;
            }
            if is != was {
                let usual = BString::from("the usual");
                let (is, comes) = (is.unwrap_or(&usual), comes.unwrap_or(&usual));
                self.clash(
                    path,
                    format!("the mode was changed on both sides: {is} and {comes}"),
                );
                continue;
            }
            match comes {
                Some(mode) => drop(self.merged.modes.insert(path.clone(), mode.clone())),
                None => drop(self.merged.modes.remove(path)),
            }
        }
    }

    fn clash(&mut self, path: &BString, message: String) {
        if self.clashed.insert(path.clone()) {
            self.conflicts.push(Conflict::new(path.clone(), "mode", message));
        }
    }

    fn merge_empty(&mut self) {
        let Sides {
            base, theirs, asked, ..
        } = self.sides;
        for path in base.empty.symmetric_difference(&theirs.empty) {
            if !asked.holds(path.as_bstr()) {
                continue;
            }
            if theirs.empty.contains(path) {
                self.merged.empty.insert(path.clone());
            } else {
                self.merged.empty.remove(path);
            }
        }
    }

    /// The paths that `fit` looks for in the trees.
    pub(crate) fn wanted(&self) -> BTreeSet<BString> {
        let modes = self.merged.modes.keys().filter(|path| !path.is_empty());
        with_above(modes.chain(&self.merged.empty))
    }

    /// Removes what the merged files leave no room for.
    pub(crate) fn fit(&mut self, found: &PathsInTrees) {
        self.fit_empty(found);
        let hollow = with_above(self.merged.empty.iter());
        let modes = std::mem::take(&mut self.merged.modes);
        for (path, mode) in modes {
            if path.is_empty() || self.fits(&path, &mode, found, &hollow) {
                self.merged.modes.insert(path, mode);
            }
        }
    }

    fn fit_empty(&mut self, found: &PathsInTrees) {
        let all = std::mem::take(&mut self.merged.empty);
        let is_free = |path: &BString| {
            let is_file = |up: &&bstr::BStr| {
                found
                    .result
                    .get(*up)
                    .is_some_and(|mode| *mode != TreeMode::Directory)
            };
            !found.result.contains_key(path) && !above(path.as_bstr()).any(|up| is_file(&up))
        };
        // One that holds another one is not empty.
        let filled: BTreeSet<BString> = all
            .iter()
            .filter(|path| !found.result.contains_key(*path))
            .flat_map(|path| above(path.as_bstr()).map(BString::from))
            .collect();
        self.merged.empty = all
            .into_iter()
            .filter(|path| is_free(path) && !filled.contains(path))
            .collect();
    }

    /// Whether a mode stays. When one side changed the mode of a file and the other deleted or renamed it, git would not
    /// carry the mode along, so that is a conflict.
    fn fits(
        &mut self,
        path: &BString,
        mode: &BString,
        found: &PathsInTrees,
        hollow: &BTreeSet<BString>,
    ) -> bool {
        let here = found.result.get(path).copied();
        let Some(digits) = mode.strip_prefix(b"F") else {
            return match here {
                Some(mode) => mode == TreeMode::Directory,
                None => {
                    let ours = self.sides.ours;
                    // A directory that holds only what no capture has.
                    let was_so = !found.ours.contains(path)
                        && !ours.empty.contains(path)
                        && ours.modes.contains_key(path);
                    hollow.contains(path) || was_so
                }
            };
        };
        let bits = digits
            .to_str()
            .ok()
            .and_then(|digits| u32::from_str_radix(digits, 8).ok())
            .unwrap_or_default();
        let digits = digits.as_bstr();
        let is_runnable = bits & 0o100 != 0;
        match here {
            Some(TreeMode::Executable) if is_runnable => true,
            Some(TreeMode::File) if !is_runnable => true,
            Some(TreeMode::Executable | TreeMode::File) => {
                self.clash(
                    path,
                    format!("one side made it executable or not, the other changed its mode to {digits}"),
                );
                false
            }
            Some(TreeMode::Link | TreeMode::Directory | TreeMode::Submodule) | None => {
                if self.sides.base.modes.get(path) != Some(mode) && found.base.contains(path) {
                    self.conflicts.push(Conflict::new(
                        path.clone(),
                        "mode",
                        format!("one side changed its mode to {digits}, on the other it is gone or renamed"),
                    ));
                }
                false
            }
        }
    }
}

#[cfg(test)]
#[path = "lists_tests.rs"]
mod tests;

//! Whether something that no capture holds stands where the target is to be written (C2).

use crate::apply::beneath::Beneath;
use crate::apply::place::files_in;
use crate::capture::held::relative;
use crate::fs::directory::kind_in;
use crate::fs::kind::Kind;
use crate::plan::above;
use crate::plan::files::Difference;
use crate::restore::plan_of::Plan;
use crate::scan::names::Names;
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::collections::BTreeSet;

/// What is in the way.
#[derive(Debug, Default)]
pub(crate) struct InTheWay {
    pub(crate) of_files: BTreeSet<BString>,
    /// Of directories that the target has empty.
    pub(crate) of_directories: BTreeSet<BString>,
    /// A file of the target takes the place of this directory, which holds these files.
    pub(crate) foreign: Option<(BString, Vec<BString>)>,
}

struct Looking<'look> {
    tree: &'look Beneath,
    /// What is captured and goes.
    goes: BTreeSet<&'look BStr>,
}

impl Looking<'_> {
    /// What stands at a path, or above it where it is no directory. A captured file there goes first.
    fn at(&self, path: &BStr) -> Result<Option<(BString, Option<Kind>)>, Errno> {
        let found = match self.tree.parent(path) {
            Ok((directory, name)) => match kind_in(directory.open()?, name) {
                Ok(kind) => Some((path.to_owned(), kind)),
                Err(Errno::NOENT) => None,
                Err(error) => return Err(error),
            },
            Err(Errno::NOENT) => None,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let mut ways: Vec<&BStr> = above(path).collect();
                ways.reverse();
                let mut barrier = None;
                for way in ways {
                    let (directory, name) = self.tree.parent(way)?;
                    let kind = kind_in(directory.open()?, name)?;
                    if kind != Some(Kind::Directory) {
                        barrier = Some((way.to_owned(), kind));
                        break;
                    }
                }
                barrier
            }
            Err(error) => return Err(error),
        };
        Ok(found.filter(|(path, _)| !self.goes.contains(path.as_bstr())))
    }
}

/// What leaves from inside a repository: where the one that leaves is in it, and what was captured of that one.
#[derive(Debug)]
pub(crate) struct LeavesInside {
    pub(crate) path: BString,
    pub(crate) files: Names,
}

impl LeavesInside {
    fn holds(&self, path: &BString) -> bool {
        relative(path.as_bstr(), self.path.as_bstr()).is_some()
    }

    fn has_captured(&self, path: &BString) -> bool {
        relative(path.as_bstr(), self.path.as_bstr()).is_some_and(|path| self.files.contains(path))
    }
}

/// Looks at every path that comes, and at every directory that is to be empty. What leaves is handled with the repository
/// that it belongs to.
pub(crate) fn in_the_way(tree: &Beneath, plan: &Plan, leaves: &[LeavesInside]) -> Result<InTheWay, Errno> {
    let (differences, empty) = (&plan.differences, &plan.to.sidecar.empty);
    let mut all = look(tree, differences, empty, |path| {
        leaves.iter().any(|inner| inner.holds(path))
    })?;
    let is_captured = |path: &BString| leaves.iter().any(|inner| inner.has_captured(path));
    all.of_files.retain(|path| !is_captured(path));
    all.of_directories.retain(|path| !is_captured(path));
    Ok(all)
}

fn look(
    tree: &Beneath,
    differences: &[Difference],
    empty: &BTreeSet<BString>,
    is_of_others: impl Fn(&BString) -> bool,
) -> Result<InTheWay, Errno> {
    let gone = differences.iter().filter(|one| one.to.is_none());
    let looking = Looking {
        tree,
        goes: gone.map(|one| one.path.as_bstr()).collect(),
    };
    let mut all = InTheWay::default();
    for one in differences.iter().filter(|one| one.from.is_none()) {
        let path = one.path.as_bstr();
        match looking.at(path) {
            Ok(None) => {}
            Ok(Some((place, Some(Kind::Directory)))) => {
                let foreign: Vec<BString> = files_in(tree, place.as_bstr())?
                    .into_iter()
                    .filter(|file| !looking.goes.contains(file.as_bstr()) && !is_of_others(file))
                    .collect();
                if !foreign.is_empty() && all.foreign.is_none() {
                    all.foreign = Some((place, foreign));
                }
            }
            Ok(Some((place, _))) => drop(all.of_files.insert(place)),
            // What cannot be looked at is not captured.
            Err(_) => drop(all.of_files.insert(one.path.clone())),
        }
    }
    for path in empty {
        match looking.at(path.as_bstr()) {
            Ok(None | Some((_, Some(Kind::Directory)))) => {}
            Ok(Some((place, _))) => drop(all.of_directories.insert(place)),
            Err(_) => drop(all.of_directories.insert(path.clone())),
        }
    }
    Ok(all)
}

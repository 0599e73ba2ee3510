//! Modes and empty directories of the state that a repository goes to.

use crate::git::batch::Batch;
use crate::plan::above;
use crate::read::captured::part;
use crate::restore::captured::{Captured, files_of};
use crate::scan::names::split;
use crate::settle::goal::Goal;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// How the line of a directory begins that has no mode yet (`apply/beneath.rs`).
const HALF_MADE: &[u8] = b"D700/";

/// What the lists of the sidecar are compared with.
pub(super) struct Lists {
    /// Those of the tree to come to.
    pub(super) files: BTreeSet<BString>,
    pub(super) one_sided: BTreeSet<BString>,
}

impl Lists {
    /// Whether a line can be of that tree: a directory is not where a file is, and a file is in it.
    fn fits(&self, name: &str, line: &BString) -> bool {
        let path = path_of(name, line);
        if name == "modes" && line.starts_with(b"F") {
            return self.files.contains(path);
        }
        !self.files.contains(path) && above(path).all(|up| !self.files.contains(up))
    }
}

pub(super) fn set_of(paths: Option<Vec<BString>>) -> Outcome<BTreeSet<BString>> {
    let gone = || Failure::Fault("the files of a state cannot be listed".into());
    Ok(paths.ok_or_else(gone)?.into_iter().collect())
}

fn lines_of(objects: &mut Batch, state: &Captured, name: &str) -> Outcome<BTreeSet<BString>> {
    let text = part(objects, &state.host.parts, name)?;
    Ok(split(&text).map(BString::from).collect())
}

/// `F600/PATH`, `D700/PATH` or `U0077/` in one list, and a path in the other.
fn path_of<'line>(name: &str, line: &'line BString) -> &'line BStr {
    match line.split_once_str("/") {
        Some((_, path)) if name == "modes" => path.as_bstr(),
        _ => line.as_bstr(),
    }
}

impl Goal<'_> {
    /// The directories that only one end has. The restore may have made or emptied them.
    pub(super) fn one_sided(&self, objects: &mut Batch) -> Outcome<BTreeSet<BString>> {
        let shadow = &self.found.stand.shadow;
        let mut of = |tree: &str, state: &Captured| -> Outcome<BTreeSet<BString>> {
            let files = set_of(files_of(shadow, tree)?)?;
            let mut all: BTreeSet<BString> = files
                .iter()
                .flat_map(|path| above(path.as_bstr()))
                .map(BString::from)
                .collect();
            all.extend(lines_of(objects, state, "empty")?);
            Ok(all)
        };
        let [inside_undo, inside_target] = &self.found.inside;
        let mut undo = of(&self.found.undo.0.tree, &self.found.undo.1)?;
        undo.extend(inside_undo.iter().cloned());
        let mut target = of(&self.found.target.0.tree, &self.found.target.1)?;
        target.extend(inside_target.iter().cloned());
        let around = self.found.around.iter();
        target.extend(around.flat_map(|path| above(path.as_bstr())).map(BString::from));
        Ok(undo.symmetric_difference(&target).cloned().collect())
    }

    /// Modes or empty directories as they are now, except for the lines in which the ends differ, and what the restore left
    /// half made. Those of paths with later work stay. What is no longer of its kind has no line.
    pub(super) fn list(&self, name: &str, lists: &Lists, objects: &mut Batch) -> Outcome<Vec<u8>> {
        let undo = lines_of(objects, &self.found.undo.1, name)?;
        let target = lines_of(objects, &self.found.target.1, name)?;
        let now = lines_of(objects, &self.found.now, name)?;
        let is_half_made = |line: &BString, path: &BStr| {
            let is_bare = name == "empty" || line.starts_with(HALF_MADE);
            is_bare && lists.one_sided.contains(path)
        };
        let stays = now.iter().filter(|line| {
            let path = path_of(name, line);
            let is_other =
                target.contains(*line) || self.found.around.contains(path) || is_half_made(line, path);
            undo.contains(*line) || !is_other
        });
        let kept: BTreeSet<&BStr> = self.found.kept.iter().map(|path| path.as_bstr()).collect();
        let comes = undo
            .difference(&target)
            .filter(|line| !kept.contains(path_of(name, line)));
        let lines: BTreeSet<&BString> = stays.chain(comes).filter(|line| lists.fits(name, line)).collect();
        Ok(lines
            .into_iter()
            .flat_map(|line| [line.as_slice(), b"\0"].concat())
            .collect())
    }
}

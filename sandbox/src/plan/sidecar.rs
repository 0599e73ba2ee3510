//! Modes and empty directories, which git's trees do not hold.

use crate::plan::above;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    File(u32),
    Directory(u32),
}

/// The lists of one capture. A mode that is not listed is the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sidecar {
    pub(crate) modes: BTreeMap<BString, Listed>,
    pub(crate) empty: BTreeSet<BString>,
    /// Permissions that new files did not get.
    pub(crate) umask: Option<u32>,
}

pub(crate) const USUAL_UMASK: u32 = 0o022;

fn parts(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split_str("\0").filter(|part| !part.is_empty())
}

/// `F600/PATH`, `D700/PATH` or `U0077/`.
fn listed(line: &[u8]) -> Option<(u8, u32, &BStr)> {
    let (head, path) = line.split_once_str("/")?;
    let (letter, digits) = head.split_first()?;
    let mode = u32::from_str_radix(digits.to_str().ok()?, 8).ok()?;
    Some((*letter, mode, path.as_bstr()))
}

impl Sidecar {
    pub(crate) fn parse(modes: &[u8], empty: &[u8]) -> Self {
        let mut sidecar = Sidecar {
            empty: parts(empty).map(BString::from).collect(),
            ..Sidecar::default()
        };
        for (letter, mode, path) in parts(modes).filter_map(listed) {
            match letter {
                b'F' => drop(sidecar.modes.insert(path.to_owned(), Listed::File(mode))),
                b'D' => drop(sidecar.modes.insert(path.to_owned(), Listed::Directory(mode))),
                b'U' => sidecar.umask = Some(mode),
                // Lines of other kinds say nothing about modes.
                _ => {}
            }
        }
        sidecar
    }

    /// Without what lies in these directories.
    pub(crate) fn outside(mut self, directories: &[BString]) -> Self {
        if !directories.is_empty() {
            let is_outside = |path: &BString| {
                !directories
                    .iter()
                    .any(|other| path == other || above(path.as_bstr()).any(|up| up == other))
            };
            self.modes.retain(|path, _| is_outside(path));
            self.empty.retain(is_outside);
        }
        self
    }

    pub(crate) fn umask(&self) -> u32 {
        self.umask.unwrap_or(USUAL_UMASK)
    }

    pub(crate) fn usual_directory(&self) -> u32 {
        0o777 & !self.umask()
    }

    pub(crate) fn usual_file(&self, is_executable: bool) -> u32 {
        let all = if is_executable { 0o777 } else { 0o666 };
        all & !self.umask()
    }

    /// The mode that a file of this capture has.
    pub(crate) fn file_mode(&self, path: &BStr, is_executable: bool) -> u32 {
        match self.modes.get(path) {
            Some(Listed::File(mode)) => *mode,
            Some(Listed::Directory(_)) | None => self.usual_file(is_executable),
        }
    }

    /// The mode that a directory of this capture has.
    pub(crate) fn directory_mode(&self, path: &BStr) -> u32 {
        match self.modes.get(path) {
            Some(Listed::Directory(mode)) => *mode,
            Some(Listed::File(_)) | None => self.usual_directory(),
        }
    }

    /// Directories that their owner may not enter or write in.
    pub(crate) fn closed(&self) -> impl Iterator<Item = &BString> {
        self.modes.iter().filter_map(|(path, mode)| match mode {
            Listed::Directory(mode) if mode & 0o300 != 0o300 => Some(path),
            Listed::Directory(_) | Listed::File(_) => None,
        })
    }
}

/// One step, in the order in which they are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Goes when nothing is in it, and so do the directories above it, except those that are to be empty.
    RemoveEmpty(BString),
    MakeDirectory(BString),
    SetMode(BString, Listed),
    /// The usual mode of what stands there.
    SetUsual(BString),
}

/// The steps between two sidecars. `hidden` are paths of the first that the rules hide by now: a capture that lacks them
/// may not have seen them. `stays` are files that stay although the target does not have them: with the usual mode,
/// everybody could read them.
pub(crate) fn changes(
    from: &Sidecar,
    to: &Sidecar,
    hidden: &BTreeSet<BString>,
    stays: impl Fn(&BString) -> bool,
) -> Vec<Change> {
    let gone = from
        .empty
        .difference(&to.empty)
        .filter(|path| !hidden.contains(*path));
    let mut all: Vec<Change> = gone.cloned().map(Change::RemoveEmpty).collect();
    // What is nested goes first.
    all.reverse();
    all.extend(to.empty.iter().cloned().map(Change::MakeDirectory));
    let usual = from
        .modes
        .keys()
        .filter(|path| !to.modes.contains_key(*path) && !hidden.contains(*path) && !stays(path));
    let listed = to.modes.iter();
    let mut modes: Vec<Change> = usual.cloned().map(Change::SetUsual).collect();
    modes.extend(listed.map(|(path, mode)| Change::SetMode(path.clone(), *mode)));
    // A directory may lose the permission to enter it, so what is in it comes first.
    modes.sort_by(|one, other| path_of(other).cmp(path_of(one)));
    all.extend(modes);
    all
}

fn path_of(change: &Change) -> &BString {
    match change {
        Change::RemoveEmpty(path)
        | Change::MakeDirectory(path)
        | Change::SetMode(path, _)
        | Change::SetUsual(path) => path,
    }
}

#[cfg(test)]
#[path = "sidecar_tests.rs"]
mod tests;

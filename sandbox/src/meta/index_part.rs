//! The host's index as entries of the host state: a tree for each stage of a conflict, a tree of what is in no conflict,
//! and a list of flags.
//!
//! An index that is plain is read here. Any other one is left to git, which works on a copy.

use crate::capture::tree::TreeMode;
use crate::git::id::{Format, Id};
use crate::git::index::{IndexEntry, parse};
use crate::meta::leaves::{Leaf, Made, mode_of, trees};
use bstr::{BStr, ByteSlice};

/// Entries of the host state. The objects are not stored yet.
#[derive(Debug, Default)]
pub(crate) struct IndexPart {
    /// Name and tree: `stage1` to `stage3` in a conflict, and `index`.
    pub(crate) trees: Vec<(&'static str, Id)>,
    /// The list of flags and of intended paths, when there are any.
    pub(crate) flags: Vec<u8>,
    pub(crate) objects: Vec<(Id, Vec<u8>)>,
}

/// Reads an index. Nothing when that is not certain.
pub(crate) fn read(index: &[u8], format: Format) -> Option<IndexPart> {
    let entries = parse(index, format)?;
    let mut part = IndexPart::default();
    if entries.iter().any(|entry| entry.stage > 0) {
        for (stage, name) in [(1, "stage1"), (2, "stage2"), (3, "stage3")] {
            part.add(name, of(format, &entries, |entry| entry.stage == stage)?);
        }
    }
    // An entry that is only intended is in no tree.
    part.add(
        "index",
        of(format, &entries, |entry| entry.stage == 0 && !entry.is_intended)?,
    );
    part.flags = flags(&entries)?;
    Some(part)
}

impl IndexPart {
    fn add(&mut self, name: &'static str, made: Made) {
        self.trees.push((name, made.top));
        self.objects.extend(made.trees);
    }
}

fn of(format: Format, entries: &[IndexEntry], is_in: impl Fn(&IndexEntry) -> bool) -> Option<Made> {
    let leaves = entries.iter().filter(|entry| is_in(entry)).map(|entry| {
        Some(Leaf {
            path: entry.path.as_bstr(),
            mode: mode_of(entry.mode)?,
            id: entry.id,
        })
    });
    trees(format, &leaves.collect::<Option<Vec<Leaf<'_>>>>()?)
}

/// Lines ended by NUL. `h PATH`: assumed unchanged; `S`: not in the working tree; `s`: both. `N PATH`: intended to be
/// added, followed by `X PATH` for an executable and `L PATH` for a link.
fn flags(entries: &[IndexEntry]) -> Option<Vec<u8>> {
    let mut list = Vec::new();
    let mut line = |letter: &[u8], path: &BStr| list.extend_from_slice(&[letter, b" ", path, b"\0"].concat());
    for entry in entries {
        let letter: Option<&[u8]> = match (entry.stage > 0, entry.is_skipped, entry.is_assumed_valid) {
            (true, _, true) => Some(b"m"),
            (false, true, false) => Some(b"S"),
            (false, true, true) => Some(b"s"),
            (false, false, true) => Some(b"h"),
            (true, _, false) | (false, false, false) => None,
        };
        if let Some(letter) = letter {
            line(letter, entry.path.as_bstr());
        }
    }
    for entry in entries
        .iter()
        .filter(|entry| entry.is_intended && entry.stage == 0)
    {
        line(b"N", entry.path.as_bstr());
        match mode_of(entry.mode)? {
            TreeMode::Executable => line(b"X", entry.path.as_bstr()),
            TreeMode::Link => line(b"L", entry.path.as_bstr()),
            TreeMode::File | TreeMode::Directory | TreeMode::Submodule => {}
        }
    }
    Some(list)
}

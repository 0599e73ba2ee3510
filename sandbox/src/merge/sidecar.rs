//! Reads and stores the lists of modes and empty directories of a capture.

use crate::capture::tree::TreeMode;
use crate::git::id::{Id, ObjectKind};
use crate::git::store::ObjectStore;
use crate::merge::conflicts::Conflict;
use crate::merge::lists::{Merging, Modes, PathsInTrees, Sidecar, Sides};
use crate::merge::meta::{Lists, Meta};
use crate::merge::objects::Objects;
use crate::merge::paths::Asked;
use crate::merge::trouble::Done;
use crate::scan::names::split;
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// `F600/PATH` for a file, `D700/PATH` for a directory, `U77/` for the umask.
fn modes(list: &[u8]) -> Modes {
    split(list)
        .filter_map(|line| {
            let (mode, path) = line.split_once_str("/")?;
            Some((path.into(), mode.into()))
        })
        .collect()
}

fn empties(list: &[u8]) -> BTreeSet<BString> {
    split(list).map(BString::from).collect()
}

pub(crate) fn empty_of(objects: &mut Objects, meta: &Meta) -> Done<BTreeSet<BString>> {
    Ok(empties(&meta.text(objects, "empty")?))
}

fn read(objects: &mut Objects, meta: &Meta) -> Done<Sidecar> {
    Ok(Sidecar {
        modes: modes(&meta.text(objects, "modes")?),
        empty: empty_of(objects, meta)?,
    })
}

/// As a look at the files writes them: sorted as text, the umask last.
fn texts(sidecar: &Sidecar) -> (Vec<u8>, Vec<u8>) {
    let line = |(path, mode): (&BString, &BString)| [&mode[..], b"/", path, b"\0"].concat();
    let (umask, others): (Modes, Modes) = sidecar
        .modes
        .clone()
        .into_iter()
        .partition(|(path, _)| path.is_empty());
    let mut lines: Vec<Vec<u8>> = others.iter().map(line).collect();
    // The NUL at the end is not compared.
    lines.sort_by(|one, other| one[..one.len() - 1].cmp(&other[..other.len() - 1]));
    lines.extend(umask.iter().map(line));
    let empty = sidecar.empty.iter().flat_map(|path| [&path[..], b"\0"].concat());
    (lines.concat(), empty.collect())
}

/// Host states and trees of the three sides, and the tree of the result.
pub(crate) struct Three<'side> {
    pub(crate) base: (&'side Meta, Id),
    pub(crate) ours: (&'side Meta, Id),
    pub(crate) theirs: &'side Meta,
    pub(crate) result: Id,
}

/// Merges the lists. A mode that the other side lacks is no change where that side may not have seen the file (`kept`).
pub(crate) fn merged(
    objects: &mut Objects,
    store: &ObjectStore,
    three: &Three<'_>,
    (asked, kept): (&Asked, &BTreeSet<BString>),
) -> Done<(Lists, Vec<Conflict>)> {
    let nothing = store.put(ObjectKind::Blob, b"")?;
    let (ours, theirs) = (three.ours.0, three.theirs);
    let left_out = ours.part("left-out");
    let has_none = |meta: &Meta| {
        ["modes", "empty"]
            .iter()
            .all(|name| meta.part(name) == Some(nothing))
    };
    if has_none(ours) && has_none(theirs) {
        let lists = Lists {
            modes: nothing,
            empty: nothing,
            left_out,
        };
        return Ok((lists, Vec::new()));
    }
    let base = read(objects, three.base.0)?;
    let mine = read(objects, ours)?;
    let mut other = read(objects, theirs)?;
    for path in kept {
        if let (Some(mode), false) = (base.modes.get(path), other.modes.contains_key(path)) {
            other.modes.insert(path.clone(), mode.clone());
        }
    }
    let sides = Sides {
        base: &base,
        ours: &mine,
        theirs: &other,
        asked,
    };
    let mut merging = Merging::begin(&sides);
    let wanted = merging.wanted();
    let mut of = |tree: &Id| -> Done<BTreeMap<BString, TreeMode>> {
        let mut found = BTreeMap::new();
        for path in &wanted {
            if let Some(entry) = objects.at(tree, path.as_bstr())? {
                found.insert(path.clone(), entry.mode);
            }
        }
        Ok(found)
    };
    let found = PathsInTrees {
        result: of(&three.result)?,
        ours: of(&three.ours.1)?.into_keys().collect(),
        base: of(&three.base.1)?.into_keys().collect(),
    };
    merging.fit(&found);
    let (modes, empty) = texts(&merging.merged);
    let lists = Lists {
        modes: store.put(ObjectKind::Blob, &modes)?,
        empty: store.put(ObjectKind::Blob, &empty)?,
        left_out,
    };
    Ok((lists, merging.conflicts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_from_their_text_in_the_order_of_a_look() {
        let text = b"D700/d\0F600/a\nb\0F640/a/b\0U77/\0";
        let sidecar = Sidecar {
            modes: modes(text),
            empty: empties(b"a/b\0a b\0"),
        };
        assert_eq!(texts(&sidecar), (text.to_vec(), b"a b\0a/b\0".to_vec()));
        assert_eq!(texts(&Sidecar::default()), (Vec::new(), Vec::new()));
    }
}

//! Notes in an index of git which files have exactly the content of their entries, as `git update-index --refresh` does
//! after it has read them. Here they were read by the caller.

use crate::fs::stat::Owned;
use crate::git::id::{Format, Id, Sum};
use crate::git::index::{IndexEntry, placed};
use bstr::{BStr, ByteSlice};

const NANOSECONDS: i64 = 1_000_000_000;
/// The type of a link in the mode of an entry.
const LINK: u32 = 0o120_000;
const TYPE: u32 = 0o170_000;

/// Sets what an index knows of the files that have the content and the mode of their entry. Nothing: git must be asked.
pub(crate) fn note<'file>(
    index: &mut Vec<u8>,
    format: Format,
    file: impl Fn(&BStr) -> Option<(&'file Id, &'file Owned)>,
) -> Option<()> {
    let end = index.len().checked_sub(format.width())?;
    for (at, entry) in placed(index, format)? {
        let Some((id, found)) = file(entry.path.as_bstr()) else {
            continue;
        };
        if *id == entry.id && is_same_kind(&entry, found) {
            let room = index.get_mut(at..at + STAT.len() * 4)?;
            for (number, room) in STAT.iter().zip(room.chunks_exact_mut(4)) {
                if let Some(number) = number(found) {
                    room.copy_from_slice(&number.to_be_bytes());
                }
            }
        }
    }
    index.truncate(end);
    let mut sum = Sum::new(format);
    sum.update(index);
    index.extend_from_slice(sum.finish().as_bytes());
    Some(())
}

/// An entry whose content is not known, or in a conflict, is left alone.
fn is_same_kind(entry: &IndexEntry, found: &Owned) -> bool {
    let mode = found.stat.mode;
    let is_link = entry.mode & TYPE == LINK;
    let is_executable = entry.mode & 0o100 != 0;
    entry.stage == 0
        && !entry.is_intended
        && is_link == (mode & TYPE == LINK)
        && (is_link || is_executable == found.stat.is_executable())
}

fn seconds(time: i64) -> u32 {
    time.div_euclid(NANOSECONDS) as u32
}

fn rest(time: i64) -> u32 {
    time.rem_euclid(NANOSECONDS) as u32
}

type Number = fn(&Owned) -> Option<u32>;

/// What an entry begins with, as git cuts it to 32 bits. Its mode stays.
const STAT: [Number; 10] = [
    |found| Some(seconds(found.stat.changed)),
    |found| Some(rest(found.stat.changed)),
    |found| Some(seconds(found.stat.modified)),
    |found| Some(rest(found.stat.modified)),
    |found| Some(found.stat.device as u32),
    |found| Some(found.stat.inode as u32),
    |_| None,
    |found| Some(found.user),
    |found| Some(found.group),
    |found| Some(found.stat.size as u32),
];

#[cfg(test)]
#[path = "index_stats_tests.rs"]
mod tests;

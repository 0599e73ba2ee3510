//! Reads the index of a pack: gitformat-pack(5), version 2.

use crate::git::id::{Format, Id};
use bstr::ByteSlice;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: &[u8; 8] = b"\xfftOc\0\0\0\x02";
/// Where the ids begin, after the numbers of ids up to each first byte.
const IDS: u64 = 8 + 4 * 256;

fn not_an_index() -> io::Error {
    io::Error::other("it is no index of a pack")
}

/// All ids in it, sorted.
pub(crate) fn ids(index: &Path, format: Format) -> io::Result<Vec<Id>> {
    let text = std::fs::read(index)?;
    let found = || -> Option<Vec<Id>> {
        let rest = text.strip_prefix(MAGIC)?;
        let (fan, rest) = rest.split_at_checked(4 * 256)?;
        let count = u32::from_be_bytes(*fan.last_chunk()?) as usize;
        let ids = rest.get(..count.checked_mul(format.width())?)?;
        ids.chunks(format.width()).map(Id::from_bytes).collect()
    };
    found().ok_or_else(not_an_index)
}

/// Whether one of the packs in this directory has the object.
pub(crate) fn any_has(packs: &Path, id: &Id) -> bool {
    let entries = std::fs::read_dir(packs).into_iter().flatten().flatten();
    let mut indexes = entries
        .map(|entry| entry.path())
        .filter(|path| path.as_os_str().as_encoded_bytes().ends_with_str(".idx"));
    indexes.any(|index| index.with_extension("pack").is_file() && has(&index, id).unwrap_or(false))
}

fn has(index: &Path, id: &Id) -> io::Result<bool> {
    let file = File::open(index)?;
    let mut magic = [0; 8];
    file.read_exact_at(&mut magic, 0)?;
    if magic != *MAGIC {
        return Err(not_an_index());
    }
    let up_to = |first: u8| {
        let mut number = [0; 4];
        file.read_exact_at(&mut number, 8 + 4 * u64::from(first))?;
        Ok::<u64, io::Error>(u32::from_be_bytes(number).into())
    };
    let bytes = id.as_bytes();
    let mut low = if bytes[0] == 0 { 0 } else { up_to(bytes[0] - 1)? };
    let mut high = up_to(bytes[0])?;
    let mut found = vec![0; bytes.len()];
    while low < high {
        let middle = low + (high - low) / 2;
        file.read_exact_at(&mut found, IDS + middle * bytes.len() as u64)?;
        match found.as_slice().cmp(bytes) {
            std::cmp::Ordering::Equal => return Ok(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Ok(false)
}

/// An index in memory.
pub(super) struct PackIndex {
    bytes: Vec<u8>,
}

impl PackIndex {
    pub(super) fn of(bytes: Vec<u8>) -> Option<Self> {
        let is_one = bytes.starts_with(MAGIC) && bytes.len() as u64 > IDS;
        is_one.then_some(PackIndex { bytes })
    }

    fn number(&self, at: usize) -> Option<usize> {
        let number = self.bytes.get(at..)?.first_chunk()?;
        Some(u32::from_be_bytes(*number) as usize)
    }

    /// Where the object begins in the pack. After the ids come sums of four bytes, then places, and then those places that
    /// need eight bytes, which are left to git.
    pub(super) fn offset(&self, id: &Id) -> Option<u64> {
        let bytes = id.as_bytes();
        let up_to = |first: usize| self.number(MAGIC.len() + 4 * first);
        let first = usize::from(bytes[0]);
        let low = if first == 0 { 0 } else { up_to(first - 1)? };
        let (high, count) = (up_to(first)?, up_to(255)?);
        let ids = self.bytes.get(IDS as usize..)?;
        let those = ids.get(low * bytes.len()..high * bytes.len())?;
        let (mut begin, mut end) = (0, those.len() / bytes.len());
        while begin < end {
            let middle = begin + (end - begin) / 2;
            match those[middle * bytes.len()..(middle + 1) * bytes.len()].cmp(bytes) {
                std::cmp::Ordering::Equal => {
                    let places = IDS as usize + count * (bytes.len() + 4);
                    let place = self.number(places + 4 * (low + middle))?;
                    return (place < 1 << 31).then_some(place as u64);
                }
                std::cmp::Ordering::Less => begin = middle + 1,
                std::cmp::Ordering::Greater => end = middle,
            }
        }
        None
    }
}

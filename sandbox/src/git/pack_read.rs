//! Reads the objects of a pack, without git: gitformat-pack(5), version 2. Whatever is unusual or damaged is
//! nothing here: git says what is wrong with it.

use crate::git::id::{Format, ObjectKind};
use flate2::{Decompress, FlushDecompress, Status};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Larger objects are never in memory as a whole.
pub(super) const LARGE: u64 = 8 * 1024 * 1024;
/// Bytes that are read from the file at once.
const PIECE: usize = 128 * 1024;
/// Most parts of a difference are no longer.
const SHORT: usize = 32;
/// What stands before the content of an object is never longer.
const HEAD: u64 = 32;

pub(super) struct PackReader {
    window: Window,
    inflater: Decompress,
}

/// A part of the file that was read.
struct Window {
    file: File,
    /// Where the sum of the pack begins.
    end: u64,
    piece: Vec<u8>,
    at: u64,
}

pub(super) enum Form {
    Whole(ObjectKind),
    /// A difference from the object that begins there.
    Delta(u64),
}

/// How an object stands in a pack.
pub(super) struct Packed {
    pub(super) form: Form,
    /// Of what is compressed.
    size: u64,
    /// Where that begins.
    data: u64,
}

impl PackReader {
    pub(super) fn new(file: File, size: u64, format: Format) -> Self {
        PackReader {
            window: Window {
                file,
                end: size.saturating_sub(format.width() as u64),
                piece: Vec::new(),
                at: 0,
            },
            inflater: Decompress::new(true),
        }
    }

    /// The object that begins there.
    pub(super) fn entry(&mut self, offset: u64) -> Option<Packed> {
        let mut bytes = self.window.bytes(offset, HEAD)?.iter();
        let mut length = 0;
        let mut next = || {
            length += 1;
            bytes.next().copied()
        };
        let first = next()?;
        let mut size = u64::from(first & 15);
        let (mut shift, mut byte) = (4, first);
        while byte & 128 != 0 {
            byte = next()?;
            size |= u64::from(byte & 127).checked_shl(shift)?;
            shift += 7;
        }
        let form = match first >> 4 & 7 {
            1 => Form::Whole(ObjectKind::Commit),
            2 => Form::Whole(ObjectKind::Tree),
            3 => Form::Whole(ObjectKind::Blob),
            6 => {
                byte = next()?;
                let mut back = u64::from(byte & 127);
                while byte & 128 != 0 {
                    byte = next()?;
                    back = (back + 1).checked_mul(128)? + u64::from(byte & 127);
                }
                Form::Delta(offset.checked_sub(back).filter(|base| *base < offset)?)
            }
            _ => return None,
        };
        (size <= LARGE).then_some(Packed {
            form,
            size,
            data: offset + length,
        })
    }

    /// The content, and where its compressed form ends.
    pub(super) fn inflate(&mut self, entry: &Packed) -> Option<(Vec<u8>, u64)> {
        self.inflater.reset(true);
        // Room for one byte more shows what is too long.
        let mut out = Vec::with_capacity(entry.size as usize + 1);
        let mut at = entry.data;
        loop {
            let before = self.inflater.total_in();
            let input = self.window.bytes(at, 1)?;
            let status = self
                .inflater
                .decompress_vec(input, &mut out, FlushDecompress::Finish);
            let taken = self.inflater.total_in() - before;
            at += taken;
            match status.ok()? {
                Status::StreamEnd => break,
                Status::Ok | Status::BufError if taken == 0 => return None,
                Status::Ok | Status::BufError => {}
            }
        }
        (out.len() as u64 == entry.size).then_some((out, at))
    }
}

impl Window {
    /// What is in the file from there on, at least `least` bytes unless it ends.
    fn bytes(&mut self, at: u64, least: u64) -> Option<&[u8]> {
        let left = self.end.checked_sub(at).filter(|left| *left > 0)?;
        let has = (self.at + self.piece.len() as u64).saturating_sub(at);
        if at < self.at || has < least.min(left) {
            self.piece.resize(PIECE.min(left as usize), 0);
            self.at = at;
            self.file.read_exact_at(&mut self.piece, at).ok()?;
        }
        self.piece.get((at - self.at) as usize..)
    }
}

/// What a difference makes of its base.
pub(super) fn patched(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    if number(&mut rest)? != base.len() as u64 {
        return None;
    }
    let size = number(&mut rest).filter(|size| *size <= LARGE)? as usize;
    let mut out = vec![0; size];
    let mut filled = 0;
    while let Some((&what, after)) = rest.split_first() {
        rest = after;
        let (from, start, count) = if what & 128 == 0 {
            let count = usize::from(what);
            let start = delta.len() - rest.len();
            rest = rest.get(count..).filter(|_| count > 0)?;
            (delta, start, count)
        } else {
            let mut place = [0; 7];
            for (bit, byte) in place.iter_mut().enumerate() {
                if what & 1 << bit != 0 {
                    let (&given, after) = rest.split_first()?;
                    *byte = given;
                    rest = after;
                }
            }
            let [start, start1, start2, start3, count, count1, count2] = place.map(usize::from);
            let start = start | start1 << 8 | start2 << 16 | start3 << 24;
            let count = match count | count1 << 8 | count2 << 16 {
                0 => 1 << 16,
                count => count,
            };
            (base, start, count)
        };
        copy_part(out.get_mut(filled..)?, from.get(start..)?, count)?;
        filled += count;
    }
    (filled == size).then_some(out)
}

/// Copies so many bytes. Most parts are short, and copies of a fixed length are cheap.
fn copy_part(to: &mut [u8], from: &[u8], count: usize) -> Option<()> {
    if count <= SHORT
        && let (Some(to), Some(from)) = (to.first_chunk_mut::<SHORT>(), from.first_chunk::<SHORT>())
    {
        // What is too much is written over.
        *to = *from;
    } else {
        to.get_mut(..count)?.copy_from_slice(from.get(..count)?);
    }
    Some(())
}

/// A number as a difference begins with, seven bits in each byte.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
#[path = "pack_read_tests.rs"]
pub(crate) mod tests;

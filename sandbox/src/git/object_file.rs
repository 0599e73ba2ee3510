//! The file of one object, read back. After a power loss it may be empty or cut short.

use crate::git::id::{Format, Hasher, Id, ObjectKind};
use flate2::read::ZlibDecoder;
use std::fs::File;
use std::io::Read;

/// Bytes that are read at once.
pub(super) const PIECE: usize = 128 * 1024;

/// Whether the file holds this object, whole.
pub(crate) fn is_whole(file: File, id: &Id, format: Format) -> bool {
    let mut content = ZlibDecoder::new(file);
    let Some((kind, size)) = read_header(&mut content) else {
        return false;
    };
    let mut hasher = Hasher::of(format, kind, size);
    let mut read = 0;
    let mut piece = vec![0; PIECE];
    loop {
        match content.read(&mut piece) {
            Ok(0) => return read == size && hasher.finish().is_ok_and(|found| found == *id),
            Ok(count) => {
                read += count as u64;
                hasher.update(&piece[..count]);
            }
            Err(_) => return false,
        }
    }
}

/// What the file holds, of at most so many bytes.
pub(super) fn read(file: File, most: u64) -> Option<(ObjectKind, Vec<u8>)> {
    let mut content = ZlibDecoder::new(file);
    let (kind, size) = read_header(&mut content).filter(|(_, size)| *size <= most)?;
    let mut bytes = Vec::with_capacity(size as usize + 1);
    // One byte more shows what is too long.
    content.take(size + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == size).then_some((kind, bytes))
}

/// The kind and the size at the beginning of an object's file.
fn read_header(content: &mut impl Read) -> Option<(ObjectKind, u64)> {
    let mut text = Vec::new();
    let mut byte = [0];
    while text.len() < 32 {
        content.read_exact(&mut byte).ok()?;
        if byte[0] == 0 {
            let text = std::str::from_utf8(&text).ok()?;
            let (kind, size) = text.split_once(' ')?;
            let kind = [ObjectKind::Blob, ObjectKind::Tree, ObjectKind::Commit]
                .into_iter()
                .find(|one| one.name() == kind)?;
            return Some((kind, size.parse().ok()?));
        }
        text.push(byte[0]);
    }
    None
}

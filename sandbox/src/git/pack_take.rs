//! Takes a whole pack from elsewhere into a store that has none, as `git index-pack` does: each object gets its id from its
//! content, and attacks on SHA-1 are looked for. Whatever is unusual or damaged is left to git, which says what is wrong with it.

use crate::git::crc::crc;
use crate::git::id::{Format, Id, ObjectKind, Sum, id_of};
use crate::git::pack_read::{Form, PackReader, patched};
use crate::git::pack_writer::{Entry, Unfinished, create, index_of};
use crate::git::spool::{Part, Spool, Spooled};
use crate::wire::progress::{Counter, Reporter, Work};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

const PIECE: usize = 128 * 1024;
/// More objects need more memory than a call should.
const MOST: u32 = 1 << 20;
/// Contents of more bytes need more room than a call should.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// What the index of a pack names, and where the contents of its blobs are.
type PackParts = (Vec<Entry>, Vec<(Id, Part)>);

/// Takes the rest of this file. The answer is the contents of its blobs, which lie in a file that is made in `scratch`. Without one,
/// nothing was taken and nothing is left behind.
pub(crate) fn take(
    from: File,
    packs: &Path,
    scratch: &Path,
    format: Format,
    reporter: &Reporter,
) -> io::Result<Option<Spooled>> {
    if fs::read_dir(packs)?.next().is_some() {
        return Ok(None);
    }
    let path = packs.join(format!("tmp_pack_{}", std::process::id()));
    let index = path.with_extension("idx");
    let _unfinished = Unfinished(vec![path.clone(), index.clone()]);
    let pack = create(&path)?;
    let Some((sum, size)) = copy(from, &pack, format)? else {
        return Ok(None);
    };
    let mut spool = Spool::new(scratch)?;
    let Some((entries, blobs)) = entries(
        &pack,
        (size, &reporter.count(Work::Unpacked, size)),
        format,
        &mut spool,
    )?
    else {
        return Ok(None);
    };
    let mut out = create(&index)?;
    out.write_all(&index_of(&entries, &sum, format))?;
    for file in [&pack, &out] {
        file.sync_all()?;
    }
    let name = |end: &str| packs.join(format!("pack-{sum}.{end}"));
    fs::rename(&path, name("pack"))?;
    fs::rename(&index, name("idx"))?;
    File::open(packs)?.sync_all()?;
    spool.end(blobs).map(Some)
}

/// Copies a pack. The answer is its sum and its size, when it ends with that sum.
fn copy(mut from: File, mut to: &File, format: Format) -> io::Result<Option<(Id, u64)>> {
    let width = format.width() as u64;
    let start = from.stream_position()?;
    let size = from.metadata()?.len().saturating_sub(start);
    let Some(length) = size.checked_sub(width) else {
        return Ok(None);
    };
    let mut sum = Sum::new(format);
    let mut left = BufReader::with_capacity(PIECE, Read::take(&from, length));
    loop {
        let piece = left.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        sum.update(piece);
        to.write_all(piece)?;
        let count = piece.len();
        left.consume(count);
    }
    let mut end = vec![0; format.width()];
    from.seek(SeekFrom::Start(start + length))?;
    from.read_exact(&mut end)?;
    to.write_all(&end)?;
    let sum = sum.finish();
    Ok((sum.as_bytes() == end).then_some((sum, size)))
}

/// All objects of a pack that holds what its differences are from, and the contents of its blobs.
fn entries(
    pack: &File,
    (size, counter): (u64, &Counter<'_>),
    format: Format,
    spool: &mut Spool,
) -> io::Result<Option<PackParts>> {
    let mut start = [0; 12];
    pack.read_exact_at(&mut start, 0)?;
    let count = match start.split_first_chunk() {
        Some((b"PACK\0\0\0\x02", count)) => count.first_chunk().map(|count| u32::from_be_bytes(*count)),
        _ => None,
    };
    let Some(count) = count.filter(|count| *count <= MOST) else {
        return Ok(None);
    };
    let mut reader = PackReader::new(pack.try_clone()?, size, format);
    let mut entries: Vec<Entry> = Vec::new();
    let mut contents: Vec<(ObjectKind, Part)> = Vec::new();
    let (mut base, mut packed) = (Vec::new(), Vec::new());
    let mut offset = start.len() as u64;
    counter.add(offset);
    for _ in 0..count {
        let mut next = || {
            let found = reader.entry(offset)?;
            let (content, end) = reader.inflate(&found)?;
            Some((found.form, content, end))
        };
        let Some((form, content, end)) = next() else {
            return Ok(None);
        };
        let (kind, content) = match form {
            Form::Whole(kind) => (kind, content),
            Form::Delta(from) => {
                let Ok(at) = entries.binary_search_by_key(&from, |one| one.offset) else {
                    return Ok(None);
                };
                let (kind, part) = contents[at];
                spool.read(part, &mut base)?;
                let Some(content) = patched(&base, &content) else {
                    return Ok(None);
                };
                (kind, content)
            }
        };
        let Ok(id) = id_of(format, kind, &content) else {
            return Ok(None);
        };
        packed.resize((end - offset) as usize, 0);
        pack.read_exact_at(&mut packed, offset)?;
        entries.push(Entry {
            id,
            crc: crc(&[&packed]),
            offset,
        });
        contents.push((kind, spool.put(&content)?));
        if spool.size() > MOST_BYTES {
            return Ok(None);
        }
        counter.add(end - offset);
        offset = end;
    }
    counter.add(size.saturating_sub(offset));
    let blobs = entries.iter().zip(&contents);
    let mut blobs: Vec<(Id, Part)> = blobs
        .filter(|(_, (kind, _))| *kind == ObjectKind::Blob)
        .map(|(entry, (_, part))| (entry.id, *part))
        .collect();
    blobs.sort_unstable_by_key(|(id, _)| *id);
    entries.sort_unstable_by_key(|one| one.id);
    // Of an object that is in it twice, git keeps one.
    let is_twice = entries.windows(2).any(|pair| pair[0].id == pair[1].id);
    let is_whole = offset + format.width() as u64 == size && !is_twice;
    Ok(is_whole.then_some((entries, blobs)))
}

#[cfg(test)]
#[path = "pack_take_tests.rs"]
mod tests;

//! Writes a pack of whole objects, and its index. Many new objects are one file then, instead of one each.
//!
//! The formats are those of git's gitformat-pack(5), version 2 of both.

use crate::git::crc::crc;
use crate::git::id::{Format, Id, ObjectKind, Sum};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const PIECE: usize = 128 * 1024;
/// An offset from here on is in the table of long ones.
const LONG: u64 = 1 << 31;

/// A pack that grows, under a name that is removed when it stays.
pub(crate) struct PackWriter {
    path: PathBuf,
    file: BufWriter<File>,
    format: Format,
    offset: u64,
    entries: Vec<Entry>,
    unfinished: Unfinished,
}

/// Files that are removed when the pack is not finished: its disk may be full.
pub(super) struct Unfinished(pub(super) Vec<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        for path in &self.0 {
            // Left for the next call if it cannot be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}

pub(super) struct Entry {
    pub(super) id: Id,
    pub(super) crc: u32,
    pub(super) offset: u64,
}

/// A pack and its index that are written, and have no names yet.
pub(crate) struct Packed {
    /// Where they are, and the names that they get. The index comes last: a pack without one is none.
    pub(crate) files: [(PathBuf, PathBuf); 2],
}

pub(super) fn create(path: &Path) -> io::Result<File> {
    let create = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o444)
            .open(path)
    };
    create().or_else(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            return Err(error);
        }
        // Left behind by a process of the same number.
        std::fs::remove_file(path)?;
        create()
    })
}

/// How a pack of so many objects begins.
pub(crate) fn start(count: u32) -> [u8; 12] {
    let mut start = *b"PACK\0\0\0\x02\0\0\0\0";
    start[8..].copy_from_slice(&count.to_be_bytes());
    start
}

/// What stands before the content of an object in a pack: its kind, and its size before compression.
pub(crate) fn entry_header(kind: ObjectKind, size: u64) -> Vec<u8> {
    let kind = match kind {
        ObjectKind::Commit => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
    };
    let mut byte = kind << 4 | (size & 15) as u8;
    let mut rest = size >> 4;
    let mut header = Vec::with_capacity(6);
    while rest > 0 {
        header.push(byte | 128);
        byte = (rest & 127) as u8;
        rest >>= 7;
    }
    header.push(byte);
    header
}

impl PackWriter {
    /// Begins a pack in a directory of packs.
    pub(crate) fn new(directory: &Path, format: Format, number: u64) -> io::Result<Self> {
        let path = directory.join(format!("tmp_pack_{}_{number}", std::process::id()));
        let mut file = BufWriter::with_capacity(PIECE, create(&path)?);
        let unfinished = Unfinished(vec![path.clone()]);
        // How many they are is written at the end.
        file.write_all(&start(0))?;
        Ok(PackWriter {
            path,
            file,
            format,
            offset: 12,
            entries: Vec::new(),
            unfinished,
        })
    }

    /// Adds an object: its header in a pack, and its content as a zlib stream.
    pub(crate) fn append(&mut self, id: Id, header: &[u8], deflated: &[u8]) -> io::Result<()> {
        self.file.write_all(header)?;
        self.file.write_all(deflated)?;
        self.entries.push(Entry {
            id,
            crc: crc(&[header, deflated]),
            offset: self.offset,
        });
        self.offset += (header.len() + deflated.len()) as u64;
        Ok(())
    }

    /// Ends the pack and writes its index. Nothing is synced.
    pub(crate) fn finish(self) -> io::Result<Packed> {
        let PackWriter {
            path,
            file,
            format,
            mut entries,
            mut unfinished,
            ..
        } = self;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let count = u32::try_from(entries.len()).map_err(io::Error::other)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&start(count))?;
        let sum = sum_of(&mut file, format)?;
        file.write_all(sum.as_bytes())?;
        entries.sort_unstable_by_key(|one| one.id);
        let index = path.with_extension("idx");
        unfinished.0.push(index.clone());
        create(&index)?.write_all(&index_of(&entries, &sum, format))?;
        unfinished.0.clear();
        let name = |end: &str| path.with_file_name(format!("pack-{sum}.{end}"));
        Ok(Packed {
            files: [(path.clone(), name("pack")), (index, name("idx"))],
        })
    }
}

/// The sum of a whole file. Its position is at the end then.
pub(super) fn sum_of(file: &mut File, format: Format) -> io::Result<Id> {
    file.seek(SeekFrom::Start(0))?;
    let mut sum = Sum::new(format);
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(sum.finish()),
            Ok(count) => sum.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn index_of(entries: &[Entry], pack: &Id, format: Format) -> Vec<u8> {
    let mut out = b"\xfftOc\0\0\0\x02".to_vec();
    let put = |number: u32, out: &mut Vec<u8>| out.extend_from_slice(&number.to_be_bytes());
    for first in 0..=u8::MAX {
        let up_to = entries.partition_point(|entry| entry.id.as_bytes()[0] <= first);
        put(up_to as u32, &mut out);
    }
    for entry in entries {
        out.extend_from_slice(entry.id.as_bytes());
    }
    for entry in entries {
        put(entry.crc, &mut out);
    }
    let mut long = Vec::new();
    for entry in entries {
        if entry.offset < LONG {
            put(entry.offset as u32, &mut out);
        } else {
            put(LONG as u32 | (long.len() / 8) as u32, &mut out);
            long.extend_from_slice(&entry.offset.to_be_bytes());
        }
    }
    out.extend_from_slice(&long);
    out.extend_from_slice(pack.as_bytes());
    let mut sum = Sum::new(format);
    sum.update(&out);
    out.extend_from_slice(sum.finish().as_bytes());
    out
}

#[cfg(test)]
#[path = "pack_writer_tests.rs"]
mod tests;

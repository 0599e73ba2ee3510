//! Contents beside each other in a file without a name, so that they need not be in memory.

use crate::git::id::Id;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Bytes that are written at once.
const PIECE: usize = 256 * 1024;

/// Where a content is.
#[derive(Clone, Copy)]
pub(super) struct Part {
    at: u64,
    pub(super) size: usize,
}

pub(super) struct Spool {
    file: File,
    /// Bytes in the file.
    written: u64,
    /// What comes after them.
    waiting: Vec<u8>,
}

impl Spool {
    /// Its name is free again at once.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        fs::remove_file(path)?;
        Ok(Spool {
            file,
            written: 0,
            waiting: Vec::new(),
        })
    }

    pub(super) fn size(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    pub(super) fn put(&mut self, content: &[u8]) -> io::Result<Part> {
        let at = self.size();
        self.waiting.extend_from_slice(content);
        if self.waiting.len() >= PIECE {
            self.flush()?;
        }
        Ok(Part {
            at,
            size: content.len(),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.waiting, self.written)?;
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    pub(super) fn read(&self, part: Part, out: &mut Vec<u8>) -> io::Result<()> {
        out.resize(part.size, 0);
        let Some(at) = part.at.checked_sub(self.written) else {
            return self.file.read_exact_at(out, part.at);
        };
        let at = at as usize;
        out.copy_from_slice(&self.waiting[at..at + part.size]);
        Ok(())
    }

    /// `blobs`: sorted.
    pub(super) fn end(mut self, blobs: Vec<(Id, Part)>) -> io::Result<Spooled> {
        self.flush()?;
        Ok(Spooled { spool: self, blobs })
    }
}

/// The contents of many blobs.
pub(crate) struct Spooled {
    spool: Spool,
    blobs: Vec<(Id, Part)>,
}

impl Spooled {
    fn find(&self, id: &Id) -> Option<Part> {
        let at = self.blobs.binary_search_by_key(id, |(id, _)| *id).ok()?;
        Some(self.blobs[at].1)
    }

    pub(crate) fn has(&self, id: &Id) -> bool {
        self.find(id).is_some()
    }

    /// Replaces `out` with the content of one that is here.
    pub(crate) fn read(&self, id: &Id, out: &mut Vec<u8>) -> io::Result<bool> {
        let found = self.find(id);
        if let Some(part) = found {
            self.spool.read(part, out)?;
        }
        Ok(found.is_some())
    }
}

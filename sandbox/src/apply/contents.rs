//! Contents of blobs: how large each is, and the bytes.

use crate::git::batch::Batch;
use crate::git::id::{Hasher, Id, ObjectKind};
use crate::git::process::Git;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use crate::wire::progress::Reporter;
use bstr::ByteSlice;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

/// Larger contents pass through; they are never in memory as a whole.
pub(super) const LARGE: u64 = 8 * 1024 * 1024;

/// A content of the repository with this working tree.
pub(super) fn unwritten(top: &Path, cause: io::Error) -> Failure {
    Failure::Io {
        path: top.to_owned(),
        doing: "a content of this repository cannot be written",
        cause,
    }
}

/// The sizes of the blobs that are there.
pub(crate) fn sizes(shadow: &Shadow, ids: &[Id]) -> Outcome<HashMap<Id, u64>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args([
            "cat-file",
            "--batch-check=%(objectname) %(objecttype) %(objectsize)",
            "--buffer",
        ])
        .input(input)
        .run_to_its_end()?;
    let Some(lines) = answer.ok() else {
        return Err(Failure::Fault(format!(
            "git could not look for contents: {}",
            answer.why()
        )));
    };
    let found = lines.lines().filter_map(|line| {
        let words: Vec<&[u8]> = line.split_str(" ").collect();
        let [id, b"blob", size] = words[..] else {
            return None;
        };
        Some((Id::from_hex(id)?, size.to_str().ok()?.parse().ok()?))
    });
    Ok(found.collect())
}

/// Reads blobs of one shadow.
pub(crate) struct Contents<'shadow> {
    shadow: &'shadow Shadow,
    batch: Batch,
    ids: Vec<Id>,
    /// Asked of git for the first one that is not at hand.
    sizes: Option<HashMap<Id, u64>>,
    reporter: &'shadow Reporter,
}

/// Passes on what it is given, and computes the id of all of it.
pub(super) struct Counting<W: Write> {
    out: W,
    hasher: Hasher,
}

impl<W: Write> Counting<W> {
    pub(super) fn new(out: W, hasher: Hasher) -> Self {
        Counting { out, hasher }
    }

    /// Whether all of it had this id.
    pub(super) fn finish_as(self, id: Id) -> Result<(), Lacking> {
        if self.hasher.finish().is_ok_and(|found| found == id) {
            Ok(())
        } else {
            Err(Lacking(id))
        }
    }
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The object is not there, or it is damaged.
#[derive(Debug, thiserror::Error)]
#[error("the object {0} is missing or damaged")]
pub(crate) struct Lacking(Id);

impl Lacking {
    pub(super) fn of(id: Id) -> Self {
        Lacking(id)
    }
}

impl<'shadow> Contents<'shadow> {
    /// For these blobs.
    pub(crate) fn of(shadow: &'shadow Shadow, ids: Vec<Id>, reporter: &'shadow Reporter) -> Self {
        Contents {
            shadow,
            batch: shadow.batch(),
            ids,
            sizes: None,
            reporter,
        }
    }

    /// Writes a content, and proves on the way that it has this id. The outer error is one of git or of the disk.
    pub(crate) fn write(&mut self, id: Id, mut out: impl Write) -> Outcome<Result<(), Lacking>> {
        let not_written = |error| unwritten(&self.shadow.top, error);
        if let Some(content) = self.batch.blob_at_hand(&id) {
            let written = out.write_all(&content).and_then(|()| out.flush());
            return written.map(Ok).map_err(not_written);
        }
        let Some(size) = self.size(id)? else {
            return Ok(Err(Lacking(id)));
        };
        let out = self.reporter.large(out, size);
        let mut counting = Counting::new(out, Hasher::of(self.shadow.format, ObjectKind::Blob, size));
        let small = if size > LARGE { None } else { self.small(id)? };
        match small {
            Some(content) => counting.write_all(&content).map_err(not_written)?,
            None => {
                let answer = Git::on_shadow(&self.shadow.top, &self.shadow.git)
                    .args(["cat-file", "blob"])
                    .arg(id.to_string())
                    .run_into(&mut counting)?;
                if answer.was_killed() {
                    return Err(Failure::Fault("a process of git was ended by a signal".into()));
                }
                if !answer.status.success() {
                    return Ok(Err(Lacking(id)));
                }
            }
        }
        counting.flush().map_err(not_written)?;
        Ok(counting.finish_as(id))
    }

    fn size(&mut self, id: Id) -> Outcome<Option<u64>> {
        let sizes = match &self.sizes {
            Some(sizes) => sizes,
            None => self.sizes.insert(sizes(self.shadow, &self.ids)?),
        };
        Ok(sizes.get(&id).copied())
    }

    /// The content, unless git ended over it. It ends when an object is damaged.
    fn small(&mut self, id: Id) -> Outcome<Option<Vec<u8>>> {
        match self.batch.object(&id.to_string()) {
            Ok(found) => Ok(found.map(|object| object.content)),
            Err(_) => {
                self.batch = self.shadow.batch();
                Ok(None)
            }
        }
    }
}

//! Contents of blobs: how large each is, and the bytes.

use crate::git::batch::Batch;
use crate::git::id::{Hasher, Id, ObjectKind};
use crate::git::process::Git;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::ByteSlice;
use std::collections::HashMap;
use std::io::{self, Write};

/// Larger contents pass through; they are never in memory as a whole.
const LARGE: u64 = 8 * 1024 * 1024;

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
    sizes: HashMap<Id, u64>,
}

/// Passes on what it is given, and computes the id of all of it.
struct Counting<W: Write> {
    out: W,
    hasher: Hasher,
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

impl<'shadow> Contents<'shadow> {
    /// For these blobs.
    pub(crate) fn open(shadow: &'shadow Shadow, ids: &[Id]) -> Outcome<Self> {
        Ok(Contents {
            shadow,
            batch: Batch::open(&shadow.top, &shadow.git)?,
            sizes: sizes(shadow, ids)?,
        })
    }

    /// Writes a content, and proves on the way that it has this id. The outer error is one of git or of the disk.
    pub(crate) fn write(&mut self, id: Id, out: impl Write) -> Outcome<Result<(), Lacking>> {
        let Some(size) = self.sizes.get(&id).copied() else {
            return Ok(Err(Lacking(id)));
        };
        let mut counting = Counting {
            out,
            hasher: Hasher::of(self.shadow.format, ObjectKind::Blob, size),
        };
        let not_written = |error: io::Error| Failure::Fault(format!("a content cannot be written: {error}"));
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
        let is_whole = counting.hasher.finish().is_ok_and(|found| found == id);
        Ok(if is_whole { Ok(()) } else { Err(Lacking(id)) })
    }

    /// The content, unless git ended over it. It ends when an object is damaged.
    fn small(&mut self, id: Id) -> Outcome<Option<Vec<u8>>> {
        match self.batch.object(&id.to_string()) {
            Ok(found) => Ok(found.map(|object| object.content)),
            Err(_) => {
                self.batch = Batch::open(&self.shadow.top, &self.shadow.git)?;
                Ok(None)
            }
        }
    }
}

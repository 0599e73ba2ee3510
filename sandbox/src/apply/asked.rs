//! Contents of many blobs, in the order in which they are asked for, from one process of git that is asked for all at once.

use crate::apply::contents::{Lacking, unwritten};
use crate::git::heard;
use crate::git::id::Id;
use crate::git::process::{Git, UNHEARD, messages};
use crate::git::watch::{self, killed_by};
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout};
use std::thread::JoinHandle;

/// Bytes that are read from git at once.
const PIECE: usize = 128 * 1024;

pub(super) struct Asked {
    child: Child,
    answer: Option<BufReader<ChildStdout>>,
    asking: Option<JoinHandle<()>>,
    /// Reads its messages.
    said: Option<JoinHandle<BString>>,
    directory: PathBuf,
}

impl Asked {
    /// Asks for these, which must then be read in this order.
    pub(super) fn of(shadow: &Shadow, ids: Vec<Id>) -> Outcome<Self> {
        let mut child = Git::on_shadow(&shadow.top, &shadow.git)
            .args(["cat-file", "--batch", "--buffer"])
            .spawn_talking()?;
        let stderr = child.stderr.take();
        let answer = child
            .stdout
            .take()
            .map(|out| BufReader::with_capacity(PIECE, out));
        let asking = child.stdin.take().map(|stdin| {
            std::thread::spawn(move || {
                let mut out = BufWriter::new(stdin);
                // Where it ends early, its answer ends too.
                let _ = ids.iter().try_for_each(|id| writeln!(out, "{id}"));
            })
        });
        Ok(Asked {
            child,
            answer,
            asking,
            said: Some(std::thread::spawn(move || messages(stderr))),
            directory: shadow.top.clone(),
        })
    }

    /// The size of the next one.
    pub(super) fn size(&mut self, id: Id) -> Outcome<Result<u64, Lacking>> {
        let mut head = Vec::new();
        if let Some(answer) = &mut self.answer {
            let read = answer.read_until(b'\n', &mut head);
            read.context(UNHEARD, &self.directory)?;
        }
        if !head.ends_with(b"\n") {
            return self.stopped(id);
        }
        let words: Vec<&[u8]> = head.trim_ascii_end().split_str(" ").collect();
        let size = match words[..] {
            [name, b"blob", size] if Id::from_hex(name) == Some(id) => size,
            _ => return Ok(Err(Lacking::of(id))),
        };
        let size = size.to_str().ok().and_then(|digits| digits.parse().ok());
        Ok(size.ok_or_else(|| Lacking::of(id)))
    }

    /// Writes the content whose size was just told.
    pub(super) fn copy(&mut self, id: Id, size: u64, out: &mut impl Write) -> Outcome<Result<(), Lacking>> {
        let mut left = size;
        while left > 0 {
            let Some(answer) = &mut self.answer else {
                return self.stopped(id);
            };
            let piece = answer.fill_buf().context(UNHEARD, &self.directory)?;
            let count = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if count == 0 {
                return self.stopped(id);
            }
            out.write_all(&piece[..count])
                .map_err(|error| unwritten(&self.directory, error))?;
            answer.consume(count);
            left -= count as u64;
        }
        // A line end follows.
        let mut end = Vec::new();
        if let Some(answer) = &mut self.answer {
            let read = answer.read_until(b'\n', &mut end);
            read.context(UNHEARD, &self.directory)?;
        }
        if end == b"\n" {
            Ok(Ok(()))
        } else {
            self.stopped(id)
        }
    }

    /// It ended in the middle. Unless it was killed, it ended over this object, which is damaged.
    fn stopped<T>(&mut self, id: Id) -> Outcome<Result<T, Lacking>> {
        self.answer = None;
        let status = self.child.wait().context(UNHEARD, &self.directory)?;
        match killed_by(status) {
            Some(signal) => Err(Failure::Killed { signal }),
            None => Ok(Err(Lacking::of(id))),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // It ends when nobody listens.
        self.answer = None;
        // Its exit says nothing that the answers did not say.
        let _ = self.child.wait();
        watch::ended(self.child.id());
        if let Some(asking) = self.asking.take() {
            let _ = asking.join();
        }
        if let Some(Ok(said)) = self.said.take().map(JoinHandle::join) {
            heard::note(Some(&self.directory), said.as_bstr());
        }
    }
}

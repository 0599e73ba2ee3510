//! Reads objects through one process of `git cat-file --batch`.

use crate::git::heard;
use crate::git::process::{Git, messages};
use crate::git::watch::{self, killed_by};
use crate::wire::error::{Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread::JoinHandle;

/// An object, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// `blob`, `tree`, `commit` or `tag`.
    pub(crate) kind: String,
    pub(crate) content: Vec<u8>,
}

/// An open conversation about objects. It ends with this value.
pub(crate) struct Batch {
    child: Child,
    ask: Option<ChildStdin>,
    answer: BufReader<ChildStdout>,
    /// Reads its messages.
    said: Option<JoinHandle<BString>>,
    directory: PathBuf,
}

impl Batch {
    /// Reads objects of this git directory.
    pub(crate) fn open(directory: &Path, git_directory: &Path) -> Outcome<Self> {
        let mut child = Git::on_shadow(directory, git_directory)
            .args(["cat-file", "--batch"])
            .spawn_talking()?;
        let missing = || Failure::Fault("git cat-file has no pipes".into());
        let ask = child.stdin.take().ok_or_else(missing)?;
        let answer = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let stderr = child.stderr.take();
        Ok(Batch {
            child,
            ask: Some(ask),
            answer,
            said: Some(std::thread::spawn(move || messages(stderr))),
            directory: directory.to_owned(),
        })
    }

    /// The object of this id; nothing when it is not there. An object that is there and cannot be read is a fault,
    /// since git then ends.
    pub(crate) fn object(&mut self, id: &str) -> Outcome<Option<Object>> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let ask = self
            .ask
            .as_mut()
            .ok_or_else(|| Failure::Fault("git cat-file has ended".into()))?;
        let asked = writeln!(ask, "{id}").and_then(|()| ask.flush());
        let mut head = Vec::new();
        let heard = asked.and_then(|()| self.answer.read_until(b'\n', &mut head));
        match heard {
            Ok(_) if head.ends_with(b"\n") => {}
            Ok(_) => return Err(self.ended(id, io::ErrorKind::UnexpectedEof.into())),
            Err(error) => return Err(self.ended(id, error)),
        }
        let words: Vec<&[u8]> = head.trim_ascii_end().split_str(" ").collect();
        let [_, kind, size] = words[..] else {
            return Ok(None);
        };
        let Some(size) = size.to_str().ok().and_then(|digits| digits.parse::<usize>().ok()) else {
            return Ok(None);
        };
        let mut content = vec![0; size + 1];
        if let Err(error) = self.answer.read_exact(&mut content) {
            return Err(self.ended(id, error));
        }
        content.truncate(size);
        Ok(Some(Object {
            kind: kind.to_str_lossy().into_owned(),
            content,
        }))
    }
}

impl Batch {
    /// Why it ended in the middle of an object.
    fn ended(&mut self, id: &str, error: io::Error) -> Failure {
        self.ask = None;
        let signal = self.child.wait().ok().and_then(killed_by);
        match signal {
            Some(signal) => Failure::Killed { signal },
            None => Failure::Fault(format!("git could not read the object {id}: {error}")),
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.ask = None;
        // Its exit says nothing that the answers did not say.
        let _ = self.child.wait();
        watch::ended(self.child.id());
        if let Some(Ok(said)) = self.said.take().map(JoinHandle::join) {
            heard::note(Some(&self.directory), said.as_bstr());
        }
    }
}

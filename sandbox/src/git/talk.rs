//! A conversation about objects with one process of `git cat-file --batch`.

use crate::git::batch::{Bounded, Object};
use crate::git::heard;
use crate::git::process::{Git, messages};
use crate::git::watch::{self, killed_by};
use crate::wire::error::{Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread::JoinHandle;

/// An open conversation about objects. It ends with this value.
pub(super) struct Talk {
    child: Child,
    ask: Option<ChildStdin>,
    answer: BufReader<ChildStdout>,
    /// Reads its messages.
    said: Option<JoinHandle<BString>>,
    directory: PathBuf,
}

impl Talk {
    /// Reads objects of this git directory.
    pub(super) fn open(directory: &Path, git_directory: &Path) -> Outcome<Self> {
        let mut child = Git::on_shadow(directory, git_directory)
            .args(["cat-file", "--batch"])
            .spawn_talking()?;
        let missing = || Failure::Fault("git cat-file has no pipes".into());
        let ask = child.stdin.take().ok_or_else(missing)?;
        let answer = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let stderr = child.stderr.take();
        Ok(Talk {
            child,
            ask: Some(ask),
            answer,
            said: Some(std::thread::spawn(move || messages(stderr))),
            directory: directory.to_owned(),
        })
    }

    /// The object of this id with at most so many bytes; nothing when it is not there. What is larger is read and thrown away.
    /// An object that is there and cannot be read is a fault, since git then ends.
    pub(super) fn object_within(&mut self, id: &str, most: usize) -> Outcome<Option<Bounded>> {
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
        let kind = kind.to_str_lossy().into_owned();
        if size > most {
            return match self.pass_over(size as u64 + 1) {
                Ok(()) => Ok(Some(Bounded::TooLarge(size as u64))),
                Err(error) => Err(self.ended(id, error)),
            };
        }
        let mut content = vec![0; size + 1];
        if let Err(error) = self.answer.read_exact(&mut content) {
            return Err(self.ended(id, error));
        }
        content.truncate(size);
        Ok(Some(Bounded::Whole(Object { kind, content })))
    }

    fn pass_over(&mut self, bytes: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.answer.by_ref().take(bytes), &mut io::sink())?;
        if passed == bytes {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

impl Talk {
    /// Why it ended in the middle of an object.
    fn ended(&mut self, id: &str, error: io::Error) -> Failure {
        self.ask = None;
        if let Some(signal) = self.child.wait().ok().and_then(killed_by) {
            return Failure::Killed { signal };
        }
        let said = self.said();
        let said = said.trim_ascii().to_str_lossy();
        let why = if said.is_empty() {
            error.to_string()
        } else {
            said.chars().take(400).collect()
        };
        Failure::Fault(format!("git ended at the object {id}: {why}"))
    }

    /// What it said. It has ended.
    fn said(&mut self) -> BString {
        let Some(Ok(said)) = self.said.take().map(JoinHandle::join) else {
            return BString::default();
        };
        heard::note(Some(&self.directory), said.as_bstr());
        said
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.ask = None;
        // Its exit says nothing that the answers did not say.
        let _ = self.child.wait();
        watch::ended(self.child.id());
        self.said();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::Format;
    use crate::git::private::PrivateGit;

    fn blob(git: &PrivateGit, text: &str) -> String {
        let made = git
            .git()
            .args(["hash-object", "-w", "--stdin"])
            .input(text)
            .run()
            .expect("git runs");
        made.ok()
            .expect("it can")
            .trim_ascii()
            .to_str_lossy()
            .into_owned()
    }

    #[test]
    fn what_is_too_large_is_passed_over() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let git = PrivateGit::make(top.path().join("git"), Format::Sha1, b"").expect("it is made");
        let (large, small) = (blob(&git, &"a\n".repeat(100_000)), blob(&git, "four"));
        let mut objects = Talk::open(git.path(), git.path()).expect("git starts");
        let mut ask = |id: &str, most: usize| objects.object_within(id, most).expect("git answers");
        let whole = |text: &str| {
            Some(Bounded::Whole(Object {
                kind: "blob".into(),
                content: text.into(),
            }))
        };
        assert_eq!(ask(&large, 4), Some(Bounded::TooLarge(200_000)));
        assert_eq!(ask(&small, 4), whole("four"));
        assert_eq!(ask(&small, 3), Some(Bounded::TooLarge(4)));
        assert_eq!(ask(&"f".repeat(40), 4), None);
        assert_eq!(ask("HEAD", 4), None);
        assert_eq!(ask(&large, 200_000), whole(&"a\n".repeat(100_000)));
    }

    #[test]
    fn git_that_ends_at_an_object_says_why() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let none = top.path().join("none");
        let mut objects = Talk::open(top.path(), &none).expect("git starts");
        let refused = objects
            .object_within(&"f".repeat(40), 4)
            .expect_err("there is no repository");
        assert!(refused.to_string().contains("not a git repository"), "{refused}");
    }
}

//! Runs one command like an agent's commands, with a time limit.

use crate::check::ended::run_within;
use crate::fs::scratch::Scratch;
use crate::host::place::path_of;
use crate::wire::check::{Ended, RunReport, RunRequest};
use crate::wire::error::{Context, Outcome};
use crate::wire::name::shown;
use bstr::ByteSlice;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The output of a command. It goes into a file, so that a process that stays behind delays nobody. A command that never
/// stops writing does not fill the disk: everything but the beginning and the end is dropped.
struct Output<'request> {
    file: File,
    request: &'request RunRequest,
    /// The beginning, and the end of what was dropped. Nothing while all of it is in the file.
    dropped: Option<(Vec<u8>, Vec<u8>)>,
}

fn last(bytes: &[u8], most: usize) -> &[u8] {
    &bytes[bytes.len().saturating_sub(most)..]
}

impl Output<'_> {
    fn part(&mut self, from: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut part = Vec::new();
        self.file.seek(SeekFrom::Start(from))?;
        self.file.by_ref().take(most).read_to_end(&mut part)?;
        Ok(part)
    }

    fn end_of(&mut self, size: u64) -> io::Result<Vec<u8>> {
        let most = self.request.tail_bytes as u64;
        self.part(size.saturating_sub(most), most)
    }

    fn drop_middle(&mut self) -> io::Result<()> {
        let size = self.file.metadata()?.len();
        if size <= self.request.kept_bytes {
            return Ok(());
        }
        let head = match self.dropped.take() {
            Some((head, _)) => head,
            None => self.part(0, self.request.head_bytes as u64)?,
        };
        let end = self.end_of(size)?;
        self.file.set_len(0)?;
        self.dropped = Some((head, end));
        Ok(())
    }

    /// All of it, or its beginning and its end.
    fn told(mut self) -> io::Result<(Vec<u8>, Option<Vec<u8>>)> {
        let (head, tail) = (self.request.head_bytes, self.request.tail_bytes);
        let size = self.file.metadata()?.len();
        let end = self.end_of(size)?;
        if let Some((head, before)) = self.dropped {
            return Ok((head, Some(last(&[before, end].concat(), tail).to_vec())));
        }
        if size <= (head + tail) as u64 {
            return Ok((self.part(0, size)?, None));
        }
        Ok((self.part(0, head as u64)?, Some(end)))
    }
}

fn text(bytes: &[u8]) -> String {
    shown(&bytes.replace(b"\0", b""))
}

/// A login shell, like the agent's.
fn shell() -> &'static str {
    if Path::new("/bin/bash").exists() {
        "/bin/bash"
    } else {
        "/bin/sh"
    }
}

pub(crate) fn run(root: &Path, request: &RunRequest) -> Outcome<RunReport> {
    let directory = root.join(path_of(request.directory.0.clone()));
    if !directory.is_dir() {
        return Ok(RunReport { ended: None });
    }
    let scratch = Scratch::new()?;
    let path = scratch.path().join("output");
    let open = || {
        OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
    };
    let file = open().context("it cannot be written", &path)?;
    let (out, err) = (open(), open());
    let mut output = Output {
        file,
        request,
        dropped: None,
    };
    let began = Instant::now();
    let exit_code = run_within(
        Command::new(shell())
            .args(["-l", "-c", &request.command])
            .current_dir(&directory)
            .stdin(Stdio::null())
            .stdout(out.context("it cannot be written", &path)?)
            .stderr(err.context("it cannot be written", &path)?),
        Duration::from_secs(request.seconds),
        || {
            // The next look tries again.
            let _ = output.drop_middle();
        },
    )?;
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (head, tail) = output.told().context("it cannot be read", &path)?;
    Ok(RunReport {
        ended: Some(Ended {
            exit_code,
            milliseconds,
            output: text(&head),
            tail: tail.as_deref().map(text),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::name::Name;

    fn told(command: &str, kept_bytes: u64) -> Ended {
        let request = RunRequest {
            command: command.to_owned(),
            directory: Name::from(bstr::BStr::new(".")),
            seconds: 60,
            head_bytes: 4,
            tail_bytes: 6,
            kept_bytes,
        };
        let report = run(Path::new("/"), &request).expect("it runs");
        report.ended.expect("the directory is there")
    }

    #[test]
    fn the_beginning_and_the_end_of_the_output_are_told() {
        let short = told("printf 0123456789; exit 3", 1000);
        assert_eq!(
            (short.exit_code, &short.output[..], short.tail),
            (3, "0123456789", None)
        );
        let long = told("printf '0123\\0%s' 456789abc; printf e >&2", 1000);
        assert_eq!((&long.output[..], long.tail.as_deref()), ("0123", Some("89abce")));
        let endless = told("for i in 1 2 3; do printf '%099d\\n' $i; sleep 0.1; done", 20);
        assert_eq!(
            (&endless.output[..], endless.tail.as_deref()),
            ("0000", Some("00003\n"))
        );
    }
}

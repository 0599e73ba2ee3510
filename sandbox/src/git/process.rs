//! One process of git.

use crate::git::environment::{HOST_SETTINGS, environment};
use crate::git::heard;
use crate::git::watch::{self, killed_by};
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};

/// Most bytes of git's messages that are kept.
const SAID_MOST: u64 = 256 * 1024;
pub(crate) const UNHEARD: &str = "git could not be heard";

/// How a process of git ended, and what it said.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// The beginning of its messages.
    pub(crate) stderr: BString,
}

impl Answered {
    /// The output of a process that ended with 0.
    pub(crate) fn ok(&self) -> Option<&[u8]> {
        self.status.success().then_some(&self.stdout[..])
    }

    /// Whether a signal ended it: then it says nothing about the repository. 129 is git's exit for a wrong option.
    pub(crate) fn was_killed(&self) -> bool {
        killed_by(self.status).is_some()
    }

    /// The same, as a failure of the call.
    pub(crate) fn killed(&self) -> Option<Failure> {
        killed_by(self.status).map(|signal| Failure::Killed { signal })
    }

    /// Its messages as one line of a few hundred characters.
    pub(crate) fn said(&self) -> String {
        let lines = self.stderr.lines().filter(|line| !line.is_empty()).take(8);
        let text: Vec<String> = lines
            .map(|line| line.to_str_lossy().chars().take(300).collect::<String>())
            .collect();
        text.join(" ").chars().take(500).collect()
    }

    /// Why it failed, in its words or else by how it ended.
    pub(crate) fn why(&self) -> String {
        let said = self.said();
        if said.is_empty() {
            format!("git said nothing and ended with {}", self.status)
        } else {
            said
        }
    }
}

/// A command of git that is about to run.
pub(crate) struct Git {
    command: Command,
    input: Vec<u8>,
    /// Whether its warnings count.
    is_heard: bool,
    input_file: Option<File>,
}

impl Git {
    /// A command in this directory, of no repository yet.
    pub(crate) fn new(directory: &Path) -> Self {
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(environment())
            .current_dir(directory)
            .process_group(0);
        Git {
            command,
            input: Vec::new(),
            is_heard: true,
            input_file: None,
        }
    }

    /// A command on the host's repository, which starts nothing that its settings name.
    pub(crate) fn on_host(directory: &Path, git_directory: &Path) -> Self {
        Git::new(directory).host_settings().repository(git_directory)
    }

    /// The settings that keep a repository from starting anything.
    pub(crate) fn host_settings(mut self) -> Self {
        for setting in HOST_SETTINGS {
            self.command.arg("-c").arg(setting);
        }
        self
    }

    pub(crate) fn repository(self, git_directory: &Path) -> Self {
        self.option("--git-dir=", git_directory)
    }

    pub(crate) fn work_tree(self, directory: &Path) -> Self {
        self.option("--work-tree=", directory)
    }

    fn option(mut self, name: &str, path: &Path) -> Self {
        let mut option = OsString::from(name);
        option.push(path);
        self.command.arg(option);
        self
    }

    /// A command on a git directory of our own.
    pub(crate) fn on_shadow(directory: &Path, shadow: &Path) -> Self {
        let mut git = Git::new(directory);
        git.command.env("GIT_DIR", shadow);
        git
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Removes variables from its environment.
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.command.env_remove(name);
        }
        self
    }

    /// Its warnings are left to the caller.
    pub(crate) fn unheard(mut self) -> Self {
        self.is_heard = false;
        self
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// It reads this file instead.
    pub(crate) fn input_file(mut self, file: File) -> Self {
        self.input_file = Some(file);
        self
    }

    /// Starts it for a conversation through its pipes. The caller waits for it, and then says `watch::ended`.
    pub(crate) fn spawn_talking(mut self) -> Outcome<Child> {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = self.command.spawn().map_err(not_started)?;
        watch::started(child.id());
        Ok(child)
    }

    /// Runs it to its end. An error is one of starting it: its exit is part of the answer.
    pub(crate) fn run(self) -> Outcome<Answered> {
        self.run_reading(u64::MAX)
    }

    /// The same. A process that a signal ended is a failure.
    pub(crate) fn run_to_its_end(self) -> Outcome<Answered> {
        let answer = self.run()?;
        answer.killed().map_or(Ok(answer), Err)
    }

    /// The same as `run`, reading at most `most` bytes of its output. What is longer is read and thrown away.
    pub(crate) fn run_reading(self, most: u64) -> Outcome<Answered> {
        let mut output = Vec::new();
        let mut answer = self.talk(|stdout, _| {
            stdout.by_ref().take(most).read_to_end(&mut output)?;
            io::copy(stdout, &mut io::sink()).map(drop)
        })?;
        answer.stdout = output;
        Ok(answer)
    }

    /// Runs it to its end, with its output going elsewhere.
    pub(crate) fn run_into(self, out: &mut impl Write) -> Outcome<Answered> {
        self.talk(|stdout, _| io::copy(stdout, out).map(drop))
    }

    /// Runs it with limits: it is killed when it writes more than `most` bytes or computes for more than `seconds`. The
    /// output is what it wrote up to then; the second answer says whether there was more.
    pub(crate) fn run_limited(self, most: usize, seconds: u64) -> Outcome<(Answered, bool)> {
        let mut output = Vec::new();
        let mut is_cut = false;
        let mut answer = self.talk(|stdout, child| {
            if let Some(process) = Pid::from_raw(child as i32) {
                let limit = Rlimit {
                    current: Some(seconds),
                    maximum: Some(seconds + 1),
                };
                // It may have ended already.
                let _ = prlimit(Some(process), Resource::Cpu, limit);
            }
            stdout.by_ref().take(most as u64 + 1).read_to_end(&mut output)?;
            if output.len() > most {
                is_cut = true;
                output.truncate(most);
                if let Some(group) = Pid::from_raw(child as i32) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
            }
            Ok(())
        })?;
        answer.stdout = output;
        Ok((answer, is_cut))
    }

    /// Runs it, with its output read by `read`, which also gets its number.
    pub(super) fn talk(
        mut self,
        read: impl FnOnce(&mut ChildStdout, u32) -> io::Result<()>,
    ) -> Outcome<Answered> {
        let stdin = match self.input_file.take() {
            Some(file) => Stdio::from(file),
            None if self.input.is_empty() => Stdio::null(),
            None => Stdio::piped(),
        };
        self.command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(not_started)?;
        let id = child.id();
        watch::started(id);
        let input = std::mem::take(&mut self.input);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (output, said) = std::thread::scope(|scope| {
            if let Some(mut stdin) = stdin {
                // A process that ends early closes its end. Its exit says why.
                scope.spawn(move || drop(stdin.write_all(&input)));
            }
            let said = scope.spawn(move || read_all(stderr, SAID_MOST));
            let output = match stdout {
                Some(mut stdout) => read(&mut stdout, id),
                None => Ok(()),
            };
            (output, said.join())
        });
        let status = child.wait();
        watch::ended(id);
        let directory = self.command.get_current_dir().unwrap_or(Path::new("."));
        output.context(UNHEARD, directory)?;
        let status = status.context(UNHEARD, directory)?;
        let said = said.unwrap_or_else(|_| Ok(Vec::new()));
        let stderr = BString::from(said.context(UNHEARD, directory)?);
        if self.is_heard && status.success() {
            heard::note(self.command.get_current_dir(), stderr.as_bstr());
        }
        Ok(Answered {
            status,
            stdout: Vec::new(),
            stderr,
        })
    }
}

fn not_started(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::refused(
            "SandboxUnsupported",
            "The sandbox has no git. Install git 2.25 or newer (2.38 to merge), then call again.",
        ),
        _ => Failure::Fault(format!("git could not be started: {error}")),
    }
}

/// The beginning of what a process says.
pub(crate) fn messages(from: Option<ChildStderr>) -> BString {
    BString::from(read_all(from, SAID_MOST).unwrap_or_default())
}

/// Reads to the end, keeping at most `most` bytes.
fn read_all(from: Option<impl Read>, most: u64) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let Some(mut from) = from else { return Ok(kept) };
    from.by_ref().take(most).read_to_end(&mut kept)?;
    io::copy(&mut from, &mut io::sink())?;
    Ok(kept)
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;

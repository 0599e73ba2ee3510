//! Runs the program, stops its threads at each call, and does what `faults.rs` decides.

use crate::calls::{call_of, flags_of};
use crate::disk::{BeforeCall, Disk, stash_beside};
use crate::faults::{Act, Faults};
use crate::lacks;
use crate::spec::{Fault, Keeps, Planned, Spec, When};
use crate::tracee::{Tracee, answer};
use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::process::Command;

pub(crate) enum Ended {
    Exited(u8),
    Killed(Signal),
}

/// What is done when the call of a thread ends.
#[derive(Clone, Copy)]
enum AtEnd {
    Nothing,
    Answer(i32),
    Kill,
    Lose(Keeps, u64),
}

/// A thread between the beginning and the end of a call.
struct InCall {
    at_end: AtEnd,
    /// Where power may be lost: what was there before.
    noted: Option<BeforeCall>,
}

struct Tracer<'spec> {
    spec: &'spec Spec,
    program: Pid,
    faults: Faults<'spec>,
    threads: HashMap<Pid, Option<InCall>>,
    disk: Option<Disk>,
    /// The power is lost. Threads that are in a call end it first, so that it is known whether it happened.
    is_lost: Option<(Keeps, u64)>,
}

type Result<Answer> = std::result::Result<Answer, Box<dyn Error>>;

pub(crate) fn trace(spec: &Spec, traced: &mut Command) -> Result<Ended> {
    let disk = if spec.loses_power() {
        // Processes that outlive the program come to this one, and are ended with it.
        set_child_subreaper(true)?;
        Some(Disk::new(stash_beside(&spec.root))?)
    } else {
        None
    };
    let program = Pid::from_raw(i32::try_from(traced.spawn()?.id())?);
    match waitpid(program, None)? {
        WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
        WaitStatus::Exited(_, code) => return Ok(Ended::Exited(u8::try_from(code)?)),
        other => return Err(format!("the program did not start: {other:?}").into()),
    }
    // Processes of git are no threads, so `PTRACE_O_TRACECLONE` does not follow them.
    ptrace::setoptions(
        program,
        Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_EXITKILL,
    )?;
    let mut tracer = Tracer {
        spec,
        program,
        faults: Faults::new(spec),
        threads: HashMap::from([(program, None)]),
        disk,
        is_lost: None,
    };
    resume(program, None)?;
    let ended = tracer.run()?;
    tracer.end()?;
    spec.tell(&tracer.faults.report)?;
    Ok(ended)
}

/// A thread that was killed meanwhile is gone.
fn resume(thread: Pid, signal: Option<Signal>) -> nix::Result<()> {
    match ptrace::syscall(thread, signal) {
        Err(Errno::ESRCH) => Ok(()),
        other => other,
    }
}

impl Tracer<'_> {
    fn run(&mut self) -> Result<Ended> {
        loop {
            match waitpid(None, Some(WaitPidFlag::__WALL))? {
                WaitStatus::PtraceSyscall(thread) => match self.at_call(thread) {
                    Ok(()) if self.is_lost.is_none() => resume(thread, None)?,
                    Ok(()) => self.lose_power()?,
                    Err(error) => match error.downcast_ref::<Errno>() {
                        // It was killed meanwhile.
                        Some(Errno::ESRCH) => {}
                        _ => return Err(error),
                    },
                },
                WaitStatus::PtraceEvent(thread, _, _) => resume(thread, None)?,
                // A thread begins with a stop.
                WaitStatus::Stopped(thread, Signal::SIGSTOP) if !self.threads.contains_key(&thread) => {
                    self.threads.insert(thread, None);
                    resume(thread, None)?;
                }
                WaitStatus::Stopped(thread, signal) => resume(thread, Some(signal))?,
                WaitStatus::Exited(ended, code) if ended == self.program => {
                    return Ok(Ended::Exited(u8::try_from(code & 0xff)?));
                }
                WaitStatus::Signaled(ended, signal, _) if ended == self.program => {
                    return Ok(Ended::Killed(signal));
                }
                WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, _, _) => {
                    self.threads.remove(&thread);
                }
                WaitStatus::Continued(_) | WaitStatus::StillAlive => {}
            }
        }
    }

    fn at_call(&mut self, thread: Pid) -> Result<()> {
        let Some(InCall { at_end, noted }) = self.threads.insert(thread, None).flatten() else {
            if self.is_lost.is_none() {
                let in_call = self.at_beginning(Tracee::of(thread)?)?;
                self.threads.insert(thread, Some(in_call));
            }
            return Ok(());
        };
        if let (Some(disk), Some(noted)) = (&mut self.disk, noted) {
            let tracee = Tracee::of(thread)?;
            if tracee.has_succeeded() {
                disk.happened(noted, &tracee);
            }
        }
        match at_end {
            AtEnd::Nothing => {}
            AtEnd::Answer(errno) => answer(thread, errno)?,
            AtEnd::Kill => self.kill()?,
            AtEnd::Lose(keeps, seed) => self.is_lost = Some((keeps, seed)),
        }
        Ok(())
    }

    fn at_beginning(&mut self, mut tracee: Tracee) -> Result<InCall> {
        let mut in_call = InCall {
            at_end: AtEnd::Nothing,
            noted: None,
        };
        let flags = flags_of(&tracee).unwrap_or_default();
        if let Some(errno) = lacks::answered(&self.spec.lacks, tracee.number(), flags) {
            tracee.skip()?;
            in_call.at_end = AtEnd::Answer(errno);
            return Ok(in_call);
        }
        let Some(call) = call_of(&tracee, &self.spec.root) else {
            return Ok(in_call);
        };
        match self.faults.meet(&call) {
            Act::Pass => {}
            Act::Fail(reason, when) => {
                if when == When::Before {
                    tracee.skip()?;
                }
                in_call.at_end = AtEnd::Answer(reason.errno());
            }
            Act::Shorten => {
                if let Some(at) = call.length {
                    tracee.set_argument(at, tracee.argument(at).div_ceil(2))?;
                }
            }
            Act::Kill(When::Before) => {
                tracee.skip()?;
                self.kill()?;
            }
            Act::Kill(When::After) => in_call.at_end = AtEnd::Kill,
            Act::Lose(When::Before, keeps, seed) => {
                tracee.skip()?;
                self.is_lost = Some((keeps, seed));
                return Ok(in_call);
            }
            Act::Lose(When::After, keeps, seed) => in_call.at_end = AtEnd::Lose(keeps, seed),
        }
        if let Some(disk) = &mut self.disk {
            in_call.noted = Some(disk.note(call, &tracee)?);
        }
        Ok(in_call)
    }

    fn kill(&self) -> nix::Result<()> {
        kill(self.program, Signal::SIGKILL)
    }

    /// As soon as no thread is in a call that changes the disk.
    fn lose_power(&self) -> nix::Result<()> {
        let is_in_call = |call: &Option<InCall>| call.as_ref().is_some_and(|one| one.noted.is_some());
        if self.threads.values().any(is_in_call) {
            return Ok(());
        }
        self.kill()
    }

    fn end(&mut self) -> Result<()> {
        let Some(mut disk) = self.disk.take() else {
            return Ok(());
        };
        let at_end = self.spec.fault.and_then(|Planned { does, .. }| match does {
            Fault::LoseAtEnd { keeps, seed } => Some((keeps, seed)),
            Fault::Fail { .. } | Fault::Shorten { .. } | Fault::Kill { .. } | Fault::Lose { .. } => None,
        });
        if let Some((keeps, seed)) = self.is_lost.or(at_end) {
            end_children()?;
            self.faults.report.done.extend(disk.lose(keeps, seed));
        }
        Ok(disk.end()?)
    }
}

/// The processes that the program started are children of this one by now.
fn end_children() -> Result<()> {
    let own = getpid().to_string();
    loop {
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // After the name, which is in brackets: the state, and the parent.
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            let rest = stat.rsplit(") ").next().unwrap_or_default();
            if rest.split(' ').nth(1) == Some(&own) {
                let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
            }
        }
        match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Err(Errno::ECHILD) => return Ok(()),
            other => drop(other?),
        }
    }
}

//! Waits for a process of the user's own, with a time limit.

use crate::git::watch;
use crate::wire::error::{Failure, Outcome};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::{Duration, Instant};

/// The exit status of a command that was ended at its time limit, as that of `timeout`.
const TIMED_OUT: i32 = 124;
/// How long a command has to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(20);

/// Runs a command in a process group of its own, which has no processes left when this returns. `meanwhile` is called
/// now and then. The answer is its exit status as a shell tells it.
pub(crate) fn run_within(
    command: &mut Command,
    limit: Duration,
    mut meanwhile: impl FnMut(),
) -> Outcome<i32> {
    let mut child = command
        .process_group(0)
        .spawn()
        .map_err(|error| Failure::Fault(format!("a command could not be started: {error}")))?;
    watch::started(child.id());
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = |signal| {
        if let Some(group) = group {
            // All of its processes may have ended.
            let _ = kill_process_group(group, signal);
        }
    };
    let began = Instant::now();
    let mut asked = None;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Err(error) => break Err(error),
            Ok(None) => {}
        }
        if asked.is_none() && began.elapsed() >= limit {
            asked = Some(Instant::now());
            signal(Signal::TERM);
            signal(Signal::CONT);
        }
        if asked.is_some_and(|at| at.elapsed() >= GRACE) {
            signal(Signal::KILL);
        }
        meanwhile();
        std::thread::sleep(STEP);
    };
    // What it left behind ends as well.
    signal(Signal::KILL);
    watch::ended(child.id());
    let status =
        status.map_err(|error| Failure::Fault(format!("a command could not be waited for: {error}")))?;
    let told = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(if asked.is_some() && told != 137 {
        TIMED_OUT
    } else {
        told
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(text: &str, limit: Duration) -> i32 {
        run_within(Command::new("/bin/sh").args(["-c", text]), limit, || {}).expect("it can be started")
    }

    #[test]
    fn ends_are_told_as_a_shell_tells_them() {
        let long = Duration::from_secs(60);
        assert_eq!(sh("exit 7", long), 7);
        assert_eq!(sh("kill -9 $$", long), 137);
        assert_eq!(sh("sleep 100", Duration::from_millis(50)), TIMED_OUT);
        assert_eq!(
            sh("trap 'exit 3' TERM; sleep 100 & wait", Duration::from_millis(50)),
            TIMED_OUT
        );
        assert_eq!(
            sh(
                "trap '' TERM; while :; do sleep 1; done",
                Duration::from_millis(50)
            ),
            137
        );
    }
}

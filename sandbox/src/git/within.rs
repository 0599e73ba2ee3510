//! A process of git that may only take so long.

use crate::git::process::{Answered, Git};
use crate::wire::error::Outcome;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

impl Git {
    /// Runs it to its end, with its output read by `read`. Nothing when it took longer: it was killed then.
    pub(crate) fn run_within(
        self,
        limit: Duration,
        read: impl FnOnce(&mut ChildStdout) -> io::Result<()>,
    ) -> Outcome<Option<Answered>> {
        let is_over = AtomicBool::new(false);
        let answer = self.talk(|stdout, child| {
            let (reading, waiting) = mpsc::channel::<()>();
            std::thread::scope(|scope| {
                let is_over = &is_over;
                scope.spawn(move || {
                    if waiting.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                    is_over.store(true, Ordering::Relaxed);
                    if let Some(group) = Pid::from_raw(child as i32) {
                        // It may have ended meanwhile.
                        let _ = kill_process_group(group, Signal::KILL);
                    }
                });
                let done = read(stdout);
                drop(reading);
                done
            })
        })?;
        Ok((!is_over.load(Ordering::Relaxed)).then_some(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::path::Path;

    #[test]
    fn what_takes_longer_is_ended_and_what_does_not_is_read() {
        let mut said = String::new();
        let told = Git::new(Path::new("/"))
            .arg("--version")
            .run_within(Duration::from_secs(600), |stdout| {
                stdout.read_to_string(&mut said).map(drop)
            });
        assert!(
            told.expect("git runs")
                .is_some_and(|answer| answer.status.success())
        );
        assert!(said.starts_with("git version"), "{said}");
        // It waits for what nobody writes.
        let (_open, input) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
        let input = std::fs::File::from(std::os::fd::OwnedFd::from(input));
        let told = Git::new(Path::new("/"))
            .args(["hash-object", "--stdin"])
            .input_file(input)
            .run_within(Duration::from_millis(50), |stdout| {
                io::copy(stdout, &mut io::sink()).map(drop)
            });
        assert!(told.expect("git runs").is_none());
    }
}

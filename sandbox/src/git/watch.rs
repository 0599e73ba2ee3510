//! Ends what this call started when its time is over, and says which signal ended a process.

use crate::fs::scratch;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::time::Duration;

/// The exit status of a call that reached its deadline, as that of `timeout`.
const DEADLINE_EXIT: i32 = 124;

/// Processes that run now. Each leads a group of its own.
static RUNNING: Mutex<Option<HashSet<i32>>> = Mutex::new(None);

pub(crate) fn started(id: u32) {
    if let Ok(mut running) = RUNNING.lock() {
        running.get_or_insert_with(HashSet::new).insert(id as i32);
    }
}

pub(crate) fn ended(id: u32) {
    if let Ok(mut running) = RUNNING.lock() {
        running.get_or_insert_with(HashSet::new).remove(&(id as i32));
    }
}

/// Begins to count down. At the end every process is killed, and this one ends with 124.
pub(crate) fn begin(after: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(after);
        if let Ok(running) = RUNNING.lock() {
            for id in running.iter().flatten() {
                if let Some(group) = Pid::from_raw(*id) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
            }
        }
        scratch::remove_all();
        eprintln!("the call reached its deadline");
        std::process::exit(DEADLINE_EXIT);
    });
}

/// The signal that ended a process, or a process that it had started.
pub(crate) fn killed_by(status: ExitStatus) -> Option<i32> {
    status
        .signal()
        .or_else(|| status.code().filter(|code| *code > 129).map(|code| code - 128))
}

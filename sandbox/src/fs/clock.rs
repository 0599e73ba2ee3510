//! Clocks: the machine's, the file system's, and the one that nobody can set.

use crate::fs::stat::{Stat, nanoseconds};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

fn now_of(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    nanoseconds(time.tv_sec as i64, time.tv_nsec as i64)
}

/// Nanoseconds since the epoch, by the machine's clock.
pub(crate) fn now() -> i64 {
    now_of(ClockId::Realtime)
}

/// How far the machine's clock is ahead of the time since it started.
pub(crate) fn offset() -> i64 {
    now() - now_of(ClockId::Boottime)
}

/// The change time that a file gets that is written now. The file is made, or written anew.
pub(crate) fn time_of_files(mark: &Path) -> io::Result<i64> {
    // A new file, so that its time does not depend on what stood there.
    match fs::remove_file(mark) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(mark)?;
    Ok(Stat::of(&rustix::fs::fstat(&file)?).changed)
}

/// A number that is another one after each start of the machine; 0 when nobody knows.
pub(crate) fn boot() -> u64 {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).unwrap_or(0)
}

//! Progress of long work: lines on standard error, `walkback-progress JSON`.
//!
//! Work is counted where it is done. What is done of one kind at the same time, for example in several repositories, is
//! one sum.

use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a caller hears of progress.
const EVERY: Duration = Duration::from_millis(500);
/// A file of more bytes is counted by its bytes as well.
const LARGE: u64 = 64 * 1024 * 1024;
/// What another process does with fewer bytes ends soon.
const WATCHED: u64 = 8 * 1024 * 1024;

/// What is counted. `contract/progress.ts` has the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Work {
    /// Files that are read.
    Files,
    /// Bytes of large files that are read or written.
    Bytes,
    /// Bytes of bundles that are made.
    Packed,
    /// Bytes of bundles that are fetched.
    Download,
    /// Bytes of packs that are taken in.
    Unpacked,
    /// Files that are written.
    Written,
    /// Files that are read to prove what was written.
    Verified,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    doing: Work,
    done: u64,
    /// Absent while nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<u64>,
}

/// The sum of the counters of one kind of work that are there now.
#[derive(Debug)]
struct Sum {
    counters: usize,
    done: u64,
    of: Option<u64>,
    is_told: bool,
}

#[derive(Debug)]
struct Sums {
    last: Instant,
    by_work: BTreeMap<Work, Sum>,
}

/// Tells of progress, but not more often than a person can read. The end of what was told is told, too.
#[derive(Debug)]
pub(crate) struct Reporter {
    sums: Mutex<Sums>,
}

impl Reporter {
    pub(crate) fn new() -> Self {
        Reporter {
            sums: Mutex::new(Sums {
                last: Instant::now(),
                by_work: BTreeMap::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts work, of which there is so much, as long as the counter lives.
    pub(crate) fn count(&self, work: Work, of: impl Into<Option<u64>>) -> Counter<'_> {
        let of = of.into();
        let mut sums = self.lock();
        let sum = sums.by_work.entry(work).or_insert(Sum {
            counters: 0,
            done: 0,
            of: Some(0),
            is_told: false,
        });
        sum.counters += 1;
        sum.of = sum.of.zip(of).map(|(all, more)| all + more);
        Counter { reporter: self, work }
    }

    /// Counts the bytes of a file when it is large.
    pub(crate) fn large<T>(&self, file: T, size: u64) -> Counted<'_, T> {
        let counter = (size > LARGE).then(|| self.count(Work::Bytes, size));
        Counted { inner: file, counter }
    }

    pub(crate) fn reads(&self, work: Work) -> Reads<'_> {
        Reads { reporter: self, work }
    }
}

/// Where the files that a look reads are counted, and as what.
#[derive(Clone, Copy)]
pub(crate) struct Reads<'call> {
    pub(crate) reporter: &'call Reporter,
    work: Work,
}

impl<'call> Reads<'call> {
    pub(crate) fn count(self, of: u64) -> Counter<'call> {
        self.reporter.count(self.work, of)
    }
}

pub(crate) struct Counter<'call> {
    reporter: &'call Reporter,
    work: Work,
}

impl<'call> Counter<'call> {
    pub(crate) fn add(&self, count: u64) {
        let sums = &mut *self.reporter.lock();
        let Some(sum) = sums.by_work.get_mut(&self.work) else {
            return;
        };
        sum.done += count;
        let is_end = sum.is_told && sum.of == Some(sum.done);
        if !is_end && sums.last.elapsed() < EVERY {
            return;
        }
        sum.is_told = !is_end;
        sums.last = Instant::now();
        let line = Line {
            doing: self.work,
            done: sum.done,
            of: sum.of,
        };
        if let Ok(text) = serde_json::to_string(&line) {
            // Nobody may be listening, and the work goes on.
            let _ = writeln!(io::stderr(), "walkback-progress {text}");
        }
    }

    /// Counts what passes through.
    pub(crate) fn through<T>(self, inner: T) -> Counted<'call, T> {
        let counter = Some(self);
        Counted { inner, counter }
    }

    /// Counts what another process does with so many bytes during `work`. `seen`: how many it has done.
    pub(crate) fn during<R>(&self, bytes: u64, seen: impl Fn() -> u64 + Sync, work: impl FnOnce() -> R) -> R {
        if bytes < WATCHED {
            return work();
        }
        let (ended, end) = channel::<()>();
        std::thread::scope(|scope| {
            let seen = &seen;
            scope.spawn(move || {
                let mut told = 0;
                loop {
                    let is_over = end.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                    let now = seen().clamp(told, bytes);
                    self.add(now - told);
                    told = now;
                    if is_over {
                        return;
                    }
                }
            });
            let done = work();
            drop(ended);
            done
        })
    }
}

impl Drop for Counter<'_> {
    fn drop(&mut self) {
        let mut sums = self.reporter.lock();
        if let Some(sum) = sums.by_work.get_mut(&self.work) {
            sum.counters -= 1;
            if sum.counters == 0 {
                sums.by_work.remove(&self.work);
            }
        }
    }
}

/// What is read or written through it is counted.
pub(crate) struct Counted<'call, T> {
    inner: T,
    counter: Option<Counter<'call>>,
}

impl<T> Counted<'_, T> {
    fn add(&self, count: usize) {
        if let Some(counter) = &self.counter {
            counter.add(count as u64);
        }
    }

    pub(crate) fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: Read> Read for Counted<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.add(count);
        Ok(count)
    }
}

impl<T: Write> Write for Counted<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.add(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(reporter: &Reporter) -> Option<(u64, Option<u64>)> {
        let sums = reporter.lock();
        sums.by_work.get(&Work::Files).map(|sum| (sum.done, sum.of))
    }

    #[test]
    fn what_is_counted_at_the_same_time_is_one_sum() {
        let reporter = Reporter::new();
        let one = reporter.count(Work::Files, 10);
        one.add(4);
        let other = reporter.count(Work::Files, 5);
        other.add(5);
        assert_eq!(sum(&reporter), Some((9, Some(15))));
        drop(one);
        let unknown = reporter.count(Work::Files, None);
        assert_eq!(sum(&reporter), Some((9, None)));
        drop((other, unknown));
        assert_eq!(sum(&reporter), None);
    }

    #[test]
    fn what_another_process_did_is_counted_at_its_end() {
        let reporter = Reporter::new();
        let counter = reporter.count(Work::Files, WATCHED);
        // More than there is to do is not believed.
        assert_eq!(counter.during(WATCHED, || 2 * WATCHED, || "done"), "done");
        assert_eq!(sum(&reporter), Some((WATCHED, Some(WATCHED))));
    }
}

//! Progress of long work: lines on standard error, `walkback-progress JSON`.

use serde::Serialize;
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often a caller hears of progress.
const EVERY: Duration = Duration::from_millis(500);

/// What a long call has done so far.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    /// What is being counted, for example `files`.
    pub(crate) doing: &'static str,
    pub(crate) done: u64,
    /// Absent while nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<u64>,
}

/// Tells of progress, but not more often than a person can read.
pub(crate) struct Reporter {
    last: Mutex<Instant>,
}

impl Reporter {
    pub(crate) fn new() -> Self {
        Reporter {
            last: Mutex::new(Instant::now()),
        }
    }

    pub(crate) fn tell(&self, progress: Progress) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() < EVERY {
            return;
        }
        *last = Instant::now();
        if let Ok(text) = serde_json::to_string(&progress) {
            // Nobody may be listening, and the work goes on.
            let _ = writeln!(std::io::stderr(), "walkback-progress {text}");
        }
    }
}

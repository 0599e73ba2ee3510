//! The command that composes.

use crate::bundle::folder::Folder;
use crate::bundle::incoming::Incoming;
use crate::bundle::leave::{Told, leave};
use crate::fs::clock;
use crate::lock::Lock;
use crate::merge::noted;
use crate::merge::one::Composing;
use crate::merge::three_way::Merges;
use crate::parallel;
use crate::wire::compose::{ComposeReport, ComposeRequest};
use crate::wire::error::Outcome;
use crate::wire::progress::Reporter;
use std::path::Path;
use std::sync::Mutex;

pub(crate) fn compose(projects: &Path, request: &ComposeRequest) -> Outcome<Told<ComposeReport>> {
    // It goes before the answer: an answer that no one reads must not block the next command.
    let lock = Lock::take(projects, request.lock_wait_seconds)?;
    let folder = Folder::new(projects, &request.session_id, &request.call);
    let reporter = Reporter::new();
    let incoming = Incoming::arrive(projects, (&request.session_id, &request.call), &reporter)?;
    let composing = Composing {
        projects,
        request,
        folder: &folder,
        incoming: &incoming,
        bringing: Mutex::default(),
        merges: Merges::default(),
        now: clock::now() / 1_000_000_000,
    };
    let numbers: Vec<usize> = (0..request.repositories.len()).collect();
    let composed = parallel::map(&numbers, |number| composing.compose(*number))?;
    // Without it, restores leave what lies in no repository where it is.
    let _ = noted::note(projects, request);
    incoming.leave();
    let (mut repositories, mut leaving) = (Vec::new(), Vec::new());
    for one in composed {
        repositories.push(one.report);
        leaving.push(one.leaving);
    }
    let told = leave(leaving, (folder, &request.limits), |bundles, records| {
        ComposeReport {
            repositories,
            bundles,
            records,
        }
    })?;
    drop(lock);
    Ok(told)
}

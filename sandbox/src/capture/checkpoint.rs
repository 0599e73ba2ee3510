//! The command that captures every repository.

use crate::bundle::folder::Folder;
use crate::bundle::leave::{Told, leave};
use crate::capture::call::{Asked, Call};
use crate::capture::one::Capturing;
use crate::capture::outline::absent;
use crate::capture::parking::finish_parking;
use crate::fs::clock;
use crate::lock::Lock;
use crate::scan::unversioned::note_unversioned;
use crate::wire::capture::{CaptureReport, CaptureRequest};
use crate::wire::error::Outcome;
use crate::wire::progress::{Reporter, Work};
use std::path::Path;
use std::time::Instant;

pub(crate) fn capture(projects: &Path, request: &CaptureRequest) -> Outcome<Told<CaptureReport>> {
    // It goes before the answer: an answer that no one reads must not block the next command.
    let lock = Lock::take(projects, request.lock_wait_seconds)?;
    finish_parking(projects, &request.session_id)?;
    let folder = Folder::new(projects, &request.session_id, &request.call);
    let reporter = Reporter::new();
    let mut call = Call::new(Asked {
        projects,
        session: &request.session_id,
        max_file_bytes: request.max_file_bytes,
        max_depth: request.max_depth,
        include: &request.include,
        exclude: &request.exclude,
        known: request.known.iter().map(|known| &known.path.0).collect(),
        targets: request.targets.iter().map(|target| &target.path.0).collect(),
        reads: reporter.reads(Work::Files),
    });
    let capturing = Capturing {
        request,
        folder: &folder,
        now: clock::now() / 1_000_000_000,
        began: Instant::now(),
    };
    let (captured, skipped) = call.on_each(|call, root, is_last| capturing.capture(call, root, is_last))?;
    // Without it, restores leave what lies in no repository where it is.
    let _ = note_unversioned(projects, &request.session_id, &request.tag, &call.roots);
    let (mut repositories, mut leaving) = (Vec::new(), Vec::new());
    for one in captured {
        repositories.push(one.report);
        leaving.push(one.leaving);
    }
    let known = request.known.iter().map(|known| &known.path);
    let gone = known
        .chain(&request.mentioned)
        .filter(|path| !call.roots.contains(&path.0));
    repositories.extend(gone.map(absent));
    let told = leave(leaving, (folder, &request.limits), |bundles, records| {
        CaptureReport {
            repositories,
            skipped,
            bundles,
            records,
        }
    })?;
    drop(lock);
    Ok(told)
}

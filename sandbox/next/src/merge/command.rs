//! The command that composes.

use crate::bundle::folder::Folder;
use crate::bundle::incoming::Incoming;
use crate::fs::clock;
use crate::lock::Lock;
use crate::merge::noted;
use crate::merge::one::Composing;
use crate::merge::request::ComposeRequest;
use crate::merge::tell::{Told, tell};
use crate::merge::three_way::Merges;
use crate::parallel;
use crate::wire::capture::CaptureRequest;
use crate::wire::error::Outcome;
use std::path::Path;
use std::sync::Mutex;

pub(crate) fn compose(projects: &Path, request: &ComposeRequest) -> Outcome<Told> {
    // It goes before the answer: an answer that no one reads must not block the next command.
    let lock = Lock::take(projects, request.lock_wait_seconds)?;
    let folder = Folder::new(projects, &request.session_id, &request.call);
    let incoming = Incoming::arrive(projects, &request.session_id, &request.call)?;
    let composing = Composing {
        projects,
        request,
        commit: as_capture(request),
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
    let told = tell(composed, folder, &request.limits)?;
    drop(lock);
    Ok(told)
}

/// What the commit of a capture is made from.
fn as_capture(request: &ComposeRequest) -> CaptureRequest {
    CaptureRequest {
        session_id: request.session_id.clone(),
        call: request.call.clone(),
        tag: request.tag.clone(),
        message: request.message.clone(),
        reason: request.reason.clone(),
        max_file_bytes: 0,
        max_depth: 0,
        lock_wait_seconds: request.lock_wait_seconds,
        include: Vec::new(),
        exclude: Vec::new(),
        known: Vec::new(),
        mentioned: Vec::new(),
        known_bases: request.known_bases.clone(),
        targets: Vec::new(),
        changes: request.is_exported,
        limits: request.limits,
    }
}

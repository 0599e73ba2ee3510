//! The command that captures what was written late.

use crate::bundle::folder::Folder;
use crate::bundle::leave::{Told, leave};
use crate::fs::clock;
use crate::late::one::Capturing;
use crate::lock::Lock;
use crate::parallel;
use crate::restore::put_aside::{all_of, is_empty, places, repository_of};
use crate::wire::error::Outcome;
use crate::wire::late::{LateReport, LateRequest};
use crate::wire::progress::Reporter;
use bstr::BString;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) fn capture(projects: &Path, request: &LateRequest) -> Outcome<Told<LateReport>> {
    // It goes before the answer: an answer that no one reads must not block the next command.
    let lock = Lock::take(projects, request.lock_wait_seconds)?;
    let folder = Folder::new(projects, &request.session_id, &request.call);
    let capturing = Capturing {
        projects,
        request,
        folder: &folder,
        now: clock::now() / 1_000_000_000,
        reporter: &Reporter::new(),
    };
    let mut of_repositories: BTreeMap<BString, Vec<PathBuf>> = BTreeMap::new();
    for place in places(&all_of(projects, &request.session_id)) {
        if !is_empty(&place) {
            of_repositories
                .entry(repository_of(&place))
                .or_default()
                .push(place);
        }
    }
    let numbers: Vec<usize> = (0..request.known.len()).collect();
    let captured = parallel::map(&numbers, |number| {
        let places = of_repositories.get(&request.known[*number].path.0);
        capturing.capture(*number, places.map(Vec::as_slice).unwrap_or_default())
    })?;
    let (mut repositories, mut leaving) = (Vec::new(), Vec::new());
    for one in captured {
        repositories.push(one.report);
        leaving.push(one.leaving);
    }
    let told = leave(leaving, (folder, &request.limits), |bundles, records| {
        LateReport {
            repositories,
            bundles,
            records,
        }
    })?;
    drop(lock);
    Ok(told)
}

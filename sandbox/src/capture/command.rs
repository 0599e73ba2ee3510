//! The command that looks at the working files of every repository.

use crate::capture::call::{Asked, Call};
use crate::capture::repository::{Repository, uncaptured};
use crate::capture::state::WorkingState;
use crate::git::id::Format;
use crate::git::loose::LooseStore;
use crate::shadow::home::make_home;
use crate::shadow::open::Shadow;
use crate::wire::capture::{FailedName, WorkingTree, WorkingTreeReport, WorkingTreeRequest};
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use bstr::{BStr, BString};
use std::path::Path;

/// How often a look is tried. What changes meanwhile may make one fail.
const TRIES: usize = 3;

pub(crate) fn working_trees(projects: &Path, request: &WorkingTreeRequest) -> Outcome<WorkingTreeReport> {
    let mut call = Call::new(Asked {
        projects,
        session: &request.session_id,
        max_file_bytes: request.max_file_bytes,
        max_depth: request.max_depth,
        include: &request.include,
        exclude: &request.exclude,
        known: request.known.iter().map(|known| &known.0).collect(),
        targets: request.targets.iter().map(|target| &target.path.0).collect(),
    });
    make_home(projects)?;
    let (repositories, skipped) = call.on_each(|call, root, is_last| {
        let target = request.targets.iter().find(|target| target.path.0 == root);
        look_at(call, root, is_last, target.map(|target| &target.tree[..]))
    })?;
    Ok(WorkingTreeReport {
        repositories,
        skipped,
    })
}

fn look_at(
    call: &Call<'_>,
    root: &BStr,
    is_last: bool,
    target: Option<&str>,
) -> Outcome<Option<WorkingTree>> {
    let mut last = None;
    for _ in 0..TRIES {
        match look_once(call, root, is_last, target) {
            Ok(looked) => return Ok(looked),
            Err(refused @ Failure::Refused { .. }) => return Err(refused),
            Err(failure @ (Failure::Fault(_) | Failure::Io { .. })) => last = Some(failure),
        }
    }
    let reason = last.map(|failure| failure.to_string()).unwrap_or_default();
    Ok(Some(WorkingTree {
        path: Name(root.to_owned()),
        object_format: Format::Sha1.name(),
        tree: None,
        modes: None,
        empty: None,
        left_out: None,
        failures: vec![FailedName {
            path: Name(BString::from(".")),
            reason,
        }],
        skipped: Vec::new(),
    }))
}

fn look_once(
    call: &Call<'_>,
    root: &BStr,
    is_last: bool,
    target: Option<&str>,
) -> Outcome<Option<WorkingTree>> {
    let repository = Repository::open(call, root, target)?;
    let shadow = &repository.shadow;
    let store = LooseStore::new(shadow.objects(), shadow.format);
    let looked = repository.look(call, is_last, target, &store)?.looked;
    if looked.state.has_unknown_root {
        return Ok(None);
    }
    store.commit()?;
    looked.keep(shadow)?;
    store_lists(root, shadow, looked.state).map(Some)
}

/// Stores the lists of the sidecar, and reports the state.
fn store_lists(root: &BStr, shadow: &Shadow, mut state: WorkingState) -> Outcome<WorkingTree> {
    let store = LooseStore::new(shadow.objects(), shadow.format);
    let keep = |list: &[u8]| -> Outcome<Option<String>> {
        if list.is_empty() {
            return Ok(None);
        }
        Ok(Some(
            store.put(crate::git::id::ObjectKind::Blob, list)?.to_string(),
        ))
    };
    let (failures, skipped) = uncaptured(&mut state);
    let tree = WorkingTree {
        path: Name(root.to_owned()),
        object_format: shadow.format.name(),
        tree: Some(state.tree.to_string()),
        modes: keep(&state.modes)?,
        empty: keep(&state.empty)?,
        left_out: keep(&state.left_out)?,
        failures,
        skipped,
    };
    store.commit()?;
    Ok(tree)
}

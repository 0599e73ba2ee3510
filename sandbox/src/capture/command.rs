//! The command that looks at the working files of every repository.

use crate::capture::call::{Asked, Call};
use crate::capture::repository::{Repository, host_part, uncaptured};
use crate::git::id::{Format, Id};
use crate::git::store::ObjectStore;
use crate::meta::{self, history};
use crate::shadow::home::make_home;
use crate::wire::capture::{FailedName, WorkingTree, WorkingTreeReport, WorkingTreeRequest};
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::progress::{Reporter, Work};
use bstr::{BStr, BString};
use std::path::Path;

/// How often a look is tried. What changes meanwhile may make one fail.
const TRIES: usize = 3;

pub(crate) fn working_trees(projects: &Path, request: &WorkingTreeRequest) -> Outcome<WorkingTreeReport> {
    let reporter = Reporter::new();
    let mut call = Call::new(Asked {
        projects,
        session: &request.session_id,
        max_file_bytes: request.max_file_bytes,
        max_depth: request.max_depth,
        include: &request.include,
        exclude: &request.exclude,
        known: request.known.iter().map(|known| &known.0).collect(),
        targets: request.targets.iter().map(|target| &target.path.0).collect(),
        reads: reporter.reads(Work::Files),
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
            Err(failure) => last = Some(failure),
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
        host: None,
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
    let mut repository = Repository::open(call, root, target)?;
    let shadow = &repository.shadow;
    let store = ObjectStore::new(shadow.objects(), shadow.format);
    let looked = repository.look(call, is_last, target, &store)?.looked;
    if looked.state.has_unknown_root {
        return Ok(None);
    }
    store.commit()?;
    looked.keep(shadow)?;
    let mut state = looked.state;
    // A history that is not whole shows when a bundle is made.
    if let Some(said) = history::lost(&repository.reading, shadow)? {
        history::without(&mut repository.reading, shadow, &said);
    }
    let (lists, mut host) = host_part(&repository, &state, &store)?;
    store.commit()?;
    host.keep(shadow)?;
    let (failures, skipped) = uncaptured(&mut state, &mut host);
    let text = |id: Option<Id>| id.map(|id| id.to_string());
    Ok(Some(WorkingTree {
        path: Name(root.to_owned()),
        object_format: shadow.format.name(),
        tree: text(Some(state.tree)),
        modes: text(lists.modes),
        empty: text(lists.empty),
        left_out: text(lists.left_out),
        host: Some(meta::report::report(&repository.reading, &host)),
        failures,
        skipped,
    }))
}

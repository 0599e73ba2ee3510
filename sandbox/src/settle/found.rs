//! What a restore that broke off left in one repository: which paths and parts of the host state are at the target, and
//! which were changed since.

use crate::apply::parking::emptied;
use crate::git::process::Git;
use crate::plan::above;
use crate::plan::files::Difference;
use crate::restore::captured::{Captured, differences, lacking};
use crate::restore::inner::Inner;
use crate::restore::journal::unfinished_calls;
use crate::restore::look_all::When;
use crate::restore::put_aside::{all_of, asides_of, is_put_aside};
use crate::restore::stand::Stand;
use crate::settle::outer::files_of_the_outer;
use crate::settle::since::{Since, below, keep_blocked};
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::{RestoreRequest, State};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a repository holds after a restore that broke off.
pub(super) struct Found {
    pub(super) stand: Stand,
    /// The default where it was not there.
    pub(super) undo: (State, Captured),
    pub(super) target: (State, Captured),
    pub(super) now: Captured,
    /// How it was parked, where it was not there and was on its way back.
    pub(super) parked: Option<Captured>,
    /// Directories of repositories inside it that only the undo, and only the target, has.
    pub(super) inside: [BTreeSet<BString>; 2],
    pub(super) at_target: BTreeSet<BString>,
    /// Files that the repository around this one has in the target, which does not have this one.
    pub(super) around: BTreeSet<BString>,
    /// Later work, and what it is in the way of: paths, and parts of the host state.
    pub(super) kept: Vec<BString>,
    /// The groups of the host state that go to the undo.
    pub(super) groups: Vec<&'static [&'static str]>,
    /// Paths, and groups of the host state, that the restore has written.
    pub(super) reached: usize,
}

type Paths = BTreeMap<BString, Difference>;

fn by_path(stand: &Stand, from: &str, to: &str) -> Outcome<Paths> {
    let all = differences(&stand.shadow, from, to)?.map_err(Failure::Fault)?;
    Ok(all.into_iter().map(|one| (one.path.clone(), one)).collect())
}

/// The inner error says what the sandbox lacks of the two ends.
pub(super) fn look(
    stand: Stand,
    (undo, target): (Option<&State>, Option<&State>),
    (projects, request): (&Path, &RestoreRequest),
) -> Outcome<Result<Found, String>> {
    let (is_absent, is_gone) = (undo.is_none(), target.is_none());
    let shadow = &stand.shadow;
    let (tree, meta) = (stand.tree.to_string(), stand.meta.to_string());
    let mut objects = shadow.batch();
    let mut read = |state: Option<&State>| match state {
        Some(state) => Captured::find(&mut objects, &state.meta),
        None => Ok(Ok(Captured::default())),
    };
    let (at_undo, at_target) = match (read(undo)?, read(target)?) {
        (Ok(at_undo), Ok(at_target)) => (at_undo, at_target),
        (Err(missing), _) | (_, Err(missing)) => return Ok(Err(missing)),
    };
    let none = State {
        tree: shadow.format.empty_tree().to_owned(),
        meta: String::new(),
    };
    let (undo, target) = (undo.unwrap_or(&none), target.unwrap_or(&none));
    if let Some(lacks) = lacks(&stand, [undo, target])? {
        return Ok(Err(lacks));
    }
    let now = Captured::just_made(&mut objects, &meta)?;
    let planned = by_path(&stand, &undo.tree, &target.tree)?;
    let off_undo = by_path(&stand, &undo.tree, &tree)?;
    let off_target = by_path(&stand, &target.tree, &tree)?;
    let (mut at_target_now, mut worked) = (BTreeSet::new(), Vec::new());
    for path in planned.keys() {
        if !off_target.contains_key(path) {
            at_target_now.insert(path.clone());
        } else if off_undo.contains_key(path) {
            worked.push(path.clone());
        }
    }
    // A file that is put aside, and whose place is still free, was being replaced.
    let calls = unfinished_calls(projects, &request.session_id);
    let asides = asides_of(
        &all_of(projects, &request.session_id),
        &calls,
        stand.path.as_bstr(),
    );
    for path in worked.extract_if(.., |path| {
        off_undo.get(path).is_some_and(|one| one.to.is_none()) && is_put_aside(&asides, path.as_bstr())
    }) {
        at_target_now.insert(path);
    }
    let mut around = BTreeSet::new();
    if is_gone {
        let written = files_of_the_outer(projects, request, stand.path.as_bstr())?;
        for (path, now) in &off_undo {
            if now.to.is_some() && written.get(path).copied() == now.to {
                around.insert(path.clone());
            }
        }
        worked.retain(|path| !around.contains(path));
        at_target_now.extend(around.iter().cloned());
    }
    let inside = inside(request, stand.path.as_bstr());
    let is_work = |path: &BString, one: &Difference| {
        one.to.is_some() && off_target.contains_key(path) && !around.contains(path)
    };
    let work = off_undo.iter().filter(|(path, one)| is_work(path, one));
    let written = planned
        .values()
        .filter(|one| one.to.is_some())
        .map(|one| &one.path);
    let of_target: BTreeSet<BString> = written
        .chain(&around)
        .chain(&inside[1])
        .chain(&at_target.sidecar.empty)
        .cloned()
        .collect();
    let is_of_target = |directory: &BString| {
        of_target.contains(directory) || below(&of_target, directory.as_bstr()).next().is_some()
    };
    let empty = now
        .sidecar
        .empty
        .iter()
        .filter(|directory| !is_of_target(directory));
    let since = Since {
        files: work.map(|(path, _)| path.clone()).collect(),
        empty: empty.cloned().collect(),
    };
    let is_file_at_undo = |path: &BString| planned.get(path).is_some_and(|one| one.from.is_some());
    let mut kept = keep_blocked(&since, &mut at_target_now, is_file_at_undo);
    kept.extend(worked);
    let mut found = Found {
        reached: at_target_now.len(),
        undo: (undo.clone(), at_undo),
        target: (target.clone(), at_target),
        at_target: at_target_now,
        around,
        kept: kept.into_iter().collect(),
        groups: Vec::new(),
        parked: None,
        inside,
        now,
        stand,
    };
    if is_absent {
        let path = found.stand.path.as_bstr();
        for meta in emptied(projects, &request.session_id, path) {
            found.parked = found.parked.or(Captured::find(&mut objects, &meta)?.ok());
        }
    }
    if !request.files_only {
        found.look_at_host(&mut objects, is_absent)?;
    }
    Ok(Ok(found))
}

/// The directories of repositories inside one, and those above them, at the undo and at the target.
fn inside(request: &RestoreRequest, path: &BStr) -> [BTreeSet<BString>; 2] {
    [When::Undo, When::Target].map(|when| {
        let inner = Inner::of(request, path, when).goal;
        let ways = inner
            .iter()
            .flat_map(|inner| std::iter::once(inner.as_bstr()).chain(above(inner.as_bstr())));
        ways.map(BString::from).collect()
    })
}

/// What of the two ends is missing, in git's words.
fn lacks(stand: &Stand, ends: [&State; 2]) -> Outcome<Option<String>> {
    let shadow = &stand.shadow;
    let mut git = Git::on_shadow(&shadow.top, &shadow.git).args(["rev-list", "--objects", "--quiet"]);
    let is_partial = stand.reading.base.as_ref().is_some_and(|base| base.partial);
    for end in ends
        .into_iter()
        .filter(|end| end.tree != shadow.format.empty_tree())
    {
        git = git.arg(&end.tree);
        if !is_partial && !end.meta.is_empty() {
            git = git.arg(&end.meta);
        }
    }
    let git = git.args(["--not", &stand.tree.to_string(), &stand.meta.to_string()]);
    lacking(&git.run_to_its_end()?)
}

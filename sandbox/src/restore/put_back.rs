//! What of a repository may be overwritten or deleted on the way back: what this restore wrote or found, and nothing else.
//! What another process made meanwhile stays, and is named.

use crate::plan::meanwhile::{Done, Meanwhile};
use crate::restore::captured::{differences, is_in};
use crate::restore::kept::hidden;
use crate::restore::plan_of::Plan;
use crate::restore::problem::problem;
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::{Problem, ProblemKind};
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;

/// How many paths are named.
const NAMED_MOST: usize = 5;

/// Removes from the plan of the way back what is not ours to touch. The answer is what that is. What lies in the places of
/// repositories that return is theirs, except for what this restore wrote there.
pub(super) fn leave_meanwhile(
    one: &Ready,
    (stand, back): (&Stand, &mut Plan),
    returning: &[BString],
) -> Outcome<Meanwhile> {
    let mut done = Done::default();
    if let Some(forward) = &one.checked.plan {
        done.differences = &forward.differences;
        done.from = Some(&forward.from.sidecar);
        done.to = Some(&forward.to.sidecar);
    }
    if let Some(began) = &one.checked.stand {
        let all = differences(&stand.shadow, &began.tree.to_string(), &stand.tree.to_string())?;
        let all = all.map_err(Failure::Fault)?.into_iter();
        done.found = Some(all.map(|one| (one.path, one.from)).collect());
    }
    let sidecars = (&mut back.from.sidecar, &back.to.sidecar);
    let mut meanwhile = done.leave(&mut back.differences, sidecars);
    let is_theirs = |path: &BString| is_in(path.as_bstr(), returning);
    meanwhile.files.retain(|path| !is_theirs(path));
    let around = |path: &BString| {
        returning
            .iter()
            .any(|one| is_in(one.as_bstr(), std::slice::from_ref(path)))
    };
    meanwhile
        .directories
        .retain(|path| !is_theirs(path) && !around(path));
    if !meanwhile.directories.is_empty() {
        // No capture sees these.
        let asked = meanwhile.directories.iter().cloned().collect();
        let hidden = hidden(stand, &back.goal.tree, asked)?;
        meanwhile.directories.retain(|path| !hidden.contains(path));
    }
    Ok(meanwhile)
}

/// What a person is told of it.
pub(super) fn told(meanwhile: &Meanwhile) -> impl Iterator<Item = Problem> {
    let stays: BTreeSet<&BString> = meanwhile.files.iter().chain(&meanwhile.directories).collect();
    let kept = named("kept, because it appeared meanwhile", stays.into_iter());
    let modes = named(
        "got back the mode that it had, which was changed meanwhile",
        meanwhile.modes.iter(),
    );
    kept.into_iter().chain(modes)
}

fn named<'path>(what: &str, paths: impl Iterator<Item = &'path BString>) -> Option<Problem> {
    let names: Vec<String> = paths.take(NAMED_MOST).map(ToString::to_string).collect();
    (!names.is_empty()).then(|| problem(ProblemKind::Failed, format!("{what}: {}", names.join(" "))))
}

//! What is answered.

use crate::plan::files::Difference;
use crate::restore::check::{Checked, Way};
use crate::restore::command::Results;
use crate::restore::problem::problem;
use crate::wire::name::Name;
use crate::wire::restore::{
    PathChange, PlannedPath, Problem, ProblemKind, RestoreOutcome, RestoreReport, RestoreRequest,
    RestoredRepository,
};
use std::collections::BTreeMap;

/// Paths of a plan that are named.
const PATHS_MOST: usize = 200;

/// A repository that was refused before it was looked at.
pub(crate) fn refused(problem: Problem) -> Checked {
    Checked {
        problems: vec![problem],
        ..Checked::without_look(Way::Stays)
    }
}

/// Nothing is known of the repositories.
pub(crate) fn empty(request: &RestoreRequest, outcome: RestoreOutcome) -> RestoreReport {
    report(request, outcome, BTreeMap::new(), Results::new())
}

/// Nothing was looked at, for one reason.
pub(crate) fn refused_all(request: &RestoreRequest, kind: ProblemKind, why: &str) -> RestoreReport {
    let all = 0..request.repositories.len();
    let checked = all.map(|at| (at, refused(problem(kind, why))));
    report(
        request,
        RestoreOutcome::Refused,
        checked.collect(),
        Results::new(),
    )
}

fn planned(differences: &[Difference], is_kept: impl Fn(&Difference) -> bool) -> Vec<PlannedPath> {
    let all = differences.iter().filter(|one| !is_kept(one)).take(PATHS_MOST);
    all.map(|one| PlannedPath {
        path: Name(one.path.clone()),
        change: if one.to.is_some() {
            PathChange::Write
        } else {
            PathChange::Delete
        },
    })
    .collect()
}

pub(crate) fn report(
    request: &RestoreRequest,
    outcome: RestoreOutcome,
    mut checked: BTreeMap<usize, Checked>,
    mut results: Results,
) -> RestoreReport {
    let repositories = request.repositories.iter().enumerate().map(|(at, wanted)| {
        let result = results.remove(&at).unwrap_or_default();
        let mut one = RestoredRepository {
            path: wanted.path.clone(),
            written: 0,
            deleted: 0,
            host: None,
            verified: result.verified,
            paths: Vec::new(),
            problems: result.problems,
            warnings: result.moved.warnings.into_iter().map(Name).collect(),
        };
        if let Some(checked) = checked.remove(&at) {
            one.problems.extend(checked.problems);
            one.warnings.extend(checked.warnings.into_iter().map(Name));
            one.host = checked.host;
            // Of one that comes, only whether it came is told.
            let plan = checked.plan.filter(|_| wanted.now.is_some());
            if let Some(plan) = plan {
                one.written = plan.summary.written;
                one.deleted = plan.summary.deleted;
                if request.dry_run {
                    one.paths = planned(&plan.differences, |one| plan.stays.contains_key(&one.path));
                }
            }
        }
        one
    });
    RestoreReport {
        outcome,
        repositories: repositories.collect(),
        asides: Vec::new(),
        warnings: Vec::new(),
        settled: None,
    }
}

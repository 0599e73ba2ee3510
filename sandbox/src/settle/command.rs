//! The command that settles: it looks how far the restore came, decides where to go, and restores to there.

use crate::capture::parking::finish_parking;
use crate::lock::Lock;
use crate::parallel;
use crate::restore::asides::look_after;
use crate::restore::check::problem;
use crate::restore::command::{restore_in, unfinished};
use crate::restore::look_all::Looks;
use crate::restore::report::{empty, refused_all};
use crate::restore::room::Room;
use crate::settle::found::{Found, look};
use crate::settle::goal::Goal;
use crate::settle::units::End;
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::restore::{
    ProblemKind, RestoreOutcome, RestoreReport, RestoreRepository, RestoreRequest, SettleReport, SettleTo,
    SettledAt, State,
};
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// Paths with later work that are named.
const KEPT_MOST: usize = 50;

/// What is known of a repository of the request.
enum Seen {
    Found(Box<Found>),
    /// Nothing is there by now.
    Gone,
    Problem(ProblemKind, String),
}

/// The request names the two ends of each repository as `undo` and `target`.
pub(crate) fn settle(projects: &Path, request: &RestoreRequest, to: SettleTo) -> Outcome<RestoreReport> {
    let _lock = Lock::take(projects, request.lock_wait_seconds)?;
    finish_parking(projects, &request.session_id)?;
    let room = match Room::keep(projects, request)? {
        Ok(room) => room,
        Err(why) => return Ok(refused_all(request, &why)),
    };
    let seen = look_at_all(projects, request)?;
    if seen.values().any(|one| matches!(one, Seen::Problem(..))) {
        room.give();
        return Ok(with_problems(request, &seen));
    }
    let mut settled = summary(request, &seen);
    if settled.reached == 0 {
        unfinished(projects, request).close()?;
        let mut report = empty(request, RestoreOutcome::Applied);
        report.asides = look_after(projects, &request.session_id);
        report.settled = Some(settled);
        return Ok(report);
    }
    let end = match to {
        SettleTo::Target => End::Target,
        SettleTo::Undo => End::Undo,
        SettleTo::Nearer if settled.reached > settled.unreached => End::Target,
        SettleTo::Nearer => End::Undo,
    };
    settled.end = match end {
        End::Target => SettledAt::Target,
        End::Undo => SettledAt::Undo,
    };
    let mut report = go(projects, request, &seen, end, room)?;
    report.settled = Some(settled);
    Ok(report)
}

fn look_at_all(projects: &Path, request: &RestoreRequest) -> Outcome<BTreeMap<usize, Seen>> {
    let all: Vec<usize> = (0..request.repositories.len()).collect();
    let stands = Looks {
        projects,
        request,
        umask: None,
        which: &all,
        target: |one| one.target.as_ref(),
    }
    .all()?;
    let stands = Mutex::new(stands);
    let seen = parallel::map(&all, |at| {
        let stand = stands.lock().ok().and_then(|mut stands| stands.remove(at));
        let one = &request.repositories[*at];
        let (undo, target) = (one.undo.as_ref(), one.target.as_ref());
        let seen = match stand {
            None => Seen::Gone,
            Some(Err(why)) => Seen::Problem(
                ProblemKind::Failed,
                format!("the repository cannot be read as it is now: {why}"),
            ),
            Some(Ok(stand)) => match look(stand, undo, target, request.files_only) {
                Ok(Ok(found)) => Seen::Found(Box::new(found)),
                Ok(Err(lacks)) => Seen::Problem(ProblemKind::MissingObjects, lacks),
                Err(refusal @ Failure::Refused { .. }) => return Err(refusal),
                Err(failure) => Seen::Problem(
                    ProblemKind::Failed,
                    format!("it cannot be compared with where it was to go: {failure}"),
                ),
            },
        };
        Ok((*at, seen))
    })?;
    Ok(seen.into_iter().collect())
}

fn with_problems(request: &RestoreRequest, seen: &BTreeMap<usize, Seen>) -> RestoreReport {
    let mut report = empty(request, RestoreOutcome::Refused);
    for (one, seen) in report.repositories.iter_mut().zip(seen.values()) {
        if let Seen::Problem(kind, said) = seen {
            one.problems.push(problem(*kind, said.as_str()));
        }
    }
    report
}

fn summary(request: &RestoreRequest, seen: &BTreeMap<usize, Seen>) -> SettleReport {
    let mut settled = SettleReport {
        end: SettledAt::None,
        reached: 0,
        unreached: 0,
        kept: Vec::new(),
        kept_not_listed: 0,
    };
    for (at, seen) in seen {
        let repository = &request.repositories[*at].path.0;
        let mut keep = |path: &BString| {
            if settled.kept.len() == KEPT_MOST {
                settled.kept_not_listed += 1;
                return;
            }
            let path = if repository == "." {
                path.clone()
            } else {
                [repository.as_bytes(), b"/", path].concat().into()
            };
            settled.kept.push(Name(path));
        };
        match seen {
            Seen::Found(found) => {
                found.kept.iter().for_each(&mut keep);
                settled.reached += found.reached;
                settled.unreached += found.unreached;
            }
            Seen::Gone => match (&request.repositories[*at].undo, &request.repositories[*at].target) {
                (_, None) => settled.reached += 1,
                (None, Some(_)) => settled.unreached += 1,
                (Some(_), Some(_)) => keep(&BString::from(".")),
            },
            Seen::Problem(..) => {}
        }
    }
    settled
}

/// Restores to the states that are to be there. Where anything fails, everything goes back to how it was found.
fn go(
    projects: &Path,
    request: &RestoreRequest,
    seen: &BTreeMap<usize, Seen>,
    end: End,
    room: Room,
) -> Outcome<RestoreReport> {
    let all: Vec<(usize, &Seen)> = seen.iter().map(|(at, seen)| (*at, seen)).collect();
    let goals = parallel::map(&all, |(at, seen)| {
        let one = &request.repositories[*at];
        let goal = match seen {
            Seen::Found(found) => Some(Goal::of(found, end).make()?),
            // Where both ends have it, somebody removed it since.
            Seen::Gone if one.undo.is_some() && one.target.is_some() => None,
            Seen::Gone => Some(match end {
                End::Undo => one.undo.clone(),
                End::Target => one.target.clone(),
            }),
            Seen::Problem(..) => None,
        };
        let is_there = matches!(seen, Seen::Found(_));
        Ok((*at, goal.filter(|goal| is_there || goal.is_some())))
    })?;
    let mut inner = request.clone();
    inner.repositories = goals
        .into_iter()
        .filter_map(|(at, goal)| {
            Some(RestoreRepository {
                target: goal?,
                ..request.repositories[at].clone()
            })
        })
        .collect();
    // What lies in the way there is captured, too.
    let all: Vec<usize> = (0..inner.repositories.len()).collect();
    let stands = Looks {
        projects,
        request: &inner,
        umask: None,
        which: &all,
        target: |one| one.target.as_ref(),
    }
    .all()?;
    for (at, one) in inner.repositories.iter_mut().enumerate() {
        let now = stands
            .get(&at)
            .and_then(|stand| stand.as_ref().ok())
            .map(|stand| State {
                tree: stand.tree.to_string(),
                meta: stand.meta.to_string(),
            });
        (one.now, one.undo) = (now.clone(), now);
    }
    let mut report = restore_in(projects, &inner, room)?;
    // In the order of the request that was made.
    let mut all = empty(request, report.outcome).repositories;
    for one in &mut all {
        if let Some(at) = report.repositories.iter().position(|done| done.path == one.path) {
            *one = report.repositories.swap_remove(at);
        }
    }
    report.repositories = all;
    Ok(report)
}

//! The command that settles: it finds what the restore wrote, and brings that back to the undo.

use crate::bundle::incoming::Incoming;
use crate::capture::begun::Begun;
use crate::capture::parking::finish_parking;
use crate::fs::remove;
use crate::host::place::path_of;
use crate::lock::Lock;
use crate::parallel;
use crate::restore::asides::look_after;
use crate::restore::command::{restore_in, unfinished};
use crate::restore::genuine;
use crate::restore::look_all::{Looks, When};
use crate::restore::problem::{kind_of, problem};
use crate::restore::report::{empty, refused_all};
use crate::restore::room::Room;
use crate::restore::stand::Stand;
use crate::settle::found::{Found, look};
use crate::settle::towards::{Seen, has_problem, towards};
use crate::shadow::open::known_shadow;
use crate::shadow::sound;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::progress::{Reporter, Work};
use crate::wire::restore::{
    ProblemKind, RestoreOutcome, RestoreReport, RestoreRepository, RestoreRequest, RestoredRepository,
    SettleReport,
};
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Paths with later work that are named.
const KEPT_MOST: usize = 50;

/// The request names the two states of each repository as `undo` and `target`.
pub(crate) fn settle(projects: &Path, request: &RestoreRequest) -> Outcome<RestoreReport> {
    if let Some(said) = genuine::odd_place(request) {
        return Ok(refused_all(request, ProblemKind::UnsafePath, &said));
    }
    let _lock = Lock::take(projects, request.lock_wait_seconds)?;
    finish_parking(projects, &request.session_id)?;
    let room = match Room::keep(projects, request)? {
        Ok(room) => room,
        Err(why) => return Ok(refused_all(request, ProblemKind::Failed, &why)),
    };
    let reporter = Reporter::new();
    let incoming = Incoming::arrive(projects, (&request.session_id, &request.call), &reporter)?;
    let seen = look_at_all(projects, request, &incoming)?;
    if has_problem(&seen) {
        room.give();
        incoming.leave();
        return Ok(with_problems(request, &seen));
    }
    let settled = summary(request, &seen);
    if settled.reached == 0 {
        let begun = Begun::of(projects, &request.session_id);
        begun
            .close()
            .context("notes of the restore cannot be removed", projects)?;
        unfinished(projects, request).close()?;
        incoming.leave();
        let mut report = empty(request, RestoreOutcome::Applied);
        report.asides = look_after(projects, &request.session_id);
        report.settled = Some(settled);
        return Ok(report);
    }
    let (inner, seen) = towards((projects, request), seen, &reporter)?;
    if has_problem(&seen) {
        room.give();
        incoming.leave();
        return Ok(with_problems(request, &seen));
    }
    let mut report = restore_in(projects, &inner, room, &reporter)?;
    report.repositories = in_order_of(request, report.outcome, report.repositories);
    report.settled = Some(summary(request, &seen));
    Ok(report)
}

/// In the order of the request that was made.
fn in_order_of(
    request: &RestoreRequest,
    outcome: RestoreOutcome,
    mut done: Vec<RestoredRepository>,
) -> Vec<RestoredRepository> {
    let mut all = empty(request, outcome).repositories;
    for one in &mut all {
        if let Some(at) = done.iter().position(|done| done.path == one.path) {
            *one = done.swap_remove(at);
        }
    }
    all
}

/// Objects of the present state that are gone or cannot be read are reported in the same way as those of the ends. They are made again from
/// the files, and then everything is looked at once more.
fn look_at_all(
    projects: &Path,
    request: &RestoreRequest,
    incoming: &Incoming<'_>,
) -> Outcome<BTreeMap<usize, Seen>> {
    let all: Vec<usize> = (0..request.repositories.len()).collect();
    let mut seen = look_at(projects, request, incoming, &all)?;
    let lacking: Vec<usize> = all
        .into_iter()
        .filter(|at| {
            matches!(
                seen.get(at),
                Some(Seen::Problem(
                    ProblemKind::Failed | ProblemKind::MissingObjects,
                    _
                ))
            )
        })
        .collect();
    let shadow_of = |at: &usize| {
        let path = path_of(request.repositories[*at].path.0.clone());
        known_shadow(&projects.join(path), &request.session_id)
    };
    for shadow in lacking.iter().filter_map(shadow_of) {
        sound::forget(&shadow)?;
    }
    if !lacking.is_empty() {
        seen.extend(look_at(projects, request, incoming, &lacking)?);
    }
    for at in &lacking {
        let (Some(shadow), Some(again)) = (shadow_of(at), seen.get(at)) else {
            continue;
        };
        // The next call brings what is still lacking, and does not trust what is here.
        let mark = shadow.file("damaged");
        match again {
            Seen::Problem(ProblemKind::MissingObjects, _) => fs::write(&mark, b""),
            Seen::Found(_) | Seen::Gone | Seen::Problem(..) => remove::file(&mark),
        }
        .context("it cannot be written", mark)?;
    }
    Ok(seen)
}

fn look_at(
    projects: &Path,
    request: &RestoreRequest,
    incoming: &Incoming<'_>,
    which: &[usize],
) -> Outcome<BTreeMap<usize, Seen>> {
    let stands = Looks {
        projects,
        request,
        when: When::Now,
        umask: None,
        which,
        target: |one| one.target.as_ref(),
        reads: incoming.reporter.reads(Work::Files),
    }
    .all()?;
    let stands = Mutex::new(stands);
    let seen = parallel::map(which, |at| {
        let stand = stands.lock().ok().and_then(|mut stands| stands.remove(at));
        let one = &request.repositories[*at];
        let seen = match stand {
            None => Seen::Gone,
            Some(Err(why)) => Seen::Problem(
                kind_of(&why),
                format!("the repository cannot be read as it is now: {why}"),
            ),
            Some(Ok(stand)) => match bring_and_look(stand, one, (projects, request), incoming) {
                Ok(Ok(found)) => Seen::Found(Box::new(found)),
                Ok(Err(lacks)) => Seen::Problem(ProblemKind::MissingObjects, lacks),
                Err(refusal @ Failure::Refused { .. }) => return Err(refusal),
                Err(failure) => Seen::Problem(
                    kind_of(&failure),
                    format!("it cannot be compared with where it was to go: {failure}"),
                ),
            },
        };
        Ok((*at, seen))
    })?;
    Ok(seen.into_iter().collect())
}

/// Brings the bundles, and looks how far the repository came. The inner error says what it lacks.
fn bring_and_look(
    stand: Stand,
    one: &RestoreRepository,
    (projects, request): (&Path, &RestoreRequest),
    incoming: &Incoming<'_>,
) -> Outcome<Result<Found, String>> {
    if !one.bundles.is_empty()
        && let Err(said) = incoming.bring(&stand.shadow, &one.bundles)?
    {
        return Ok(Err(format!("a bundle does not fit: {said}")));
    }
    look(
        stand,
        (one.undo.as_ref(), one.target.as_ref()),
        (projects, request),
    )
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
        reached: 0,
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
            }
            Seen::Gone => match (&request.repositories[*at].undo, &request.repositories[*at].target) {
                (_, None) => settled.reached += 1,
                (None, Some(_)) => {}
                (Some(_), Some(_)) => keep(&BString::from(".")),
            },
            Seen::Problem(..) => {}
        }
    }
    settled
}

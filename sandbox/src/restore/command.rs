//! The command that restores, all repositories or none: it looks and checks everything first, then writes, then proves. If
//! anything fails, it puts everything back.

use crate::apply::host::Moved;
use crate::bundle::incoming::Incoming;
use crate::capture::begun::Begun;
use crate::capture::parking::finish_parking;
use crate::lock::Lock;
use crate::parallel;
use crate::restore::asides::look_after;
use crate::restore::check::{Checked, Way};
use crate::restore::disks::Disks;
use crate::restore::fresh_sandbox::arrive;
use crate::restore::genuine;
use crate::restore::inner::depth;
use crate::restore::journal::{Journal, Phase};
use crate::restore::look_all::user_settings;
use crate::restore::problem::failed;
use crate::restore::reach::Moving;
use crate::restore::ready::Ready;
use crate::restore::report::{refused_all, report};
use crate::restore::room::Room;
use crate::restore::stranded;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Reporter;
use crate::wire::restore::{Problem, ProblemKind, RestoreOutcome, RestoreReport, RestoreRequest, Verified};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

pub(crate) struct Restore<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) request: &'call RestoreRequest,
    pub(crate) moving: Moving<'call>,
    pub(crate) journal: Journal,
    pub(super) room: Room,
    /// Bundles that were brought for this call.
    pub(super) incoming: Incoming<'call>,
}

/// What came of one repository.
#[derive(Default)]
pub(crate) struct Came {
    pub(crate) moved: Moved,
    pub(crate) verified: Option<Verified>,
    pub(crate) problems: Vec<Problem>,
}

pub(crate) type Results = BTreeMap<usize, Came>;

pub(crate) fn restore(projects: &Path, request: &RestoreRequest) -> Outcome<RestoreReport> {
    if let Some(said) = genuine::odd_place(request) {
        return Ok(refused_all(request, ProblemKind::UnsafePath, &said));
    }
    let _lock = Lock::take(projects, request.lock_wait_seconds)?;
    finish_parking(projects, &request.session_id)?;
    match Room::keep(projects, request)? {
        Ok(room) => restore_in(projects, request, room, &Reporter::new()),
        Err(why) => Ok(refused_all(request, ProblemKind::Failed, &why)),
    }
}

/// The note of a restore that was not finished.
pub(crate) fn unfinished(projects: &Path, request: &RestoreRequest) -> Journal {
    let paths = request.repositories.iter().map(|one| &one.path.0);
    let disks = Disks::of(projects, paths);
    Journal::of(projects, &request.session_id, &request.call, disks)
}

/// The same under the lock, with room that was kept.
pub(crate) fn restore_in(
    projects: &Path,
    request: &RestoreRequest,
    room: Room,
    reporter: &Reporter,
) -> Outcome<RestoreReport> {
    let user = user_settings();
    if request.fresh {
        let roots: Vec<_> = request
            .repositories
            .iter()
            .map(|one| one.path.0.clone())
            .collect();
        arrive(projects, &request.session_id, &roots)?;
    }
    let restore = Restore {
        projects,
        request,
        moving: Moving {
            projects,
            session: &request.session_id,
            call: &request.call,
            user_settings: &user,
            files_only: request.files_only,
            reporter,
        },
        journal: unfinished(projects, request),
        room,
        incoming: Incoming::arrive(projects, (&request.session_id, &request.call), reporter)?,
    };
    let before = restore.journal.left();
    let mut report = restore.run()?;
    restore.incoming.leave();
    if let Some((call, phase)) = before {
        let rest = if restore.is_settled_by(report.outcome) {
            restore.close()?;
            "what it put aside was looked after"
        } else {
            "it is not settled yet"
        };
        let ended = phase.words();
        report
            .warnings
            .push(format!("the restore {call} was ended {ended}; {rest}"));
    }
    report.asides = look_after(projects, &request.session_id);
    Ok(report)
}

impl Restore<'_> {
    fn run(&self) -> Outcome<RestoreReport> {
        let mut checked = self.check_all()?;
        self.decide_shared(&mut checked);
        let is_refused = checked.values().any(|one| !one.problems.is_empty());
        if is_refused || self.request.dry_run {
            let outcome = if is_refused {
                self.room.give();
                RestoreOutcome::Refused
            } else {
                RestoreOutcome::Planned
            };
            return Ok(report(self.request, outcome, checked, Results::new()));
        }
        let items: Vec<Mutex<Option<(usize, Checked)>>> =
            checked.into_iter().map(|one| Mutex::new(Some(one))).collect();
        let ready = parallel::map(&items, |item| {
            let taken = item.lock().ok().and_then(|mut item| item.take());
            let (at, checked) = taken.ok_or_else(|| Failure::Fault("it was made ready twice".into()))?;
            Ok(self.make_ready(at, checked))
        })?;
        if ready.iter().any(|one| !one.checked.problems.is_empty()) {
            self.room.give();
            self.drop_ready(&ready);
            let checked = ready.into_iter().map(|one| (one.at, one.checked)).collect();
            return Ok(report(
                self.request,
                RestoreOutcome::Refused,
                checked,
                Results::new(),
            ));
        }
        self.act(ready)
    }

    fn act(&self, mut ready: Vec<Ready>) -> Outcome<RestoreReport> {
        let is_any = ready.iter().any(Ready::is_moved);
        if is_any && let Err(failure) = self.journal.enter(Phase::Moving) {
            self.drop_ready(&ready);
            return Err(Failure::unavailable(format!(
                "{failure}. Free some disk space, then call again."
            )));
        }
        let has_failed = |results: &Results| results.values().any(|one| !one.problems.is_empty());
        let mut results = self.park_all(&mut ready);
        if !has_failed(&results) {
            self.make_all(&mut ready, &mut results);
        }
        if !has_failed(&results) {
            results.extend(self.move_all(&ready)?);
        }
        if !has_failed(&results) {
            self.look_around(&ready, &mut results)?;
        }
        if !has_failed(&results) {
            self.come_all(&mut ready, &mut results)?;
        }
        if !has_failed(&results) {
            self.drop_all(&mut ready, &mut results);
        }
        if !has_failed(&results) {
            if is_any {
                self.note(Phase::Proving, &ready, &mut results);
            }
            self.prove_all(&ready, &mut results)?;
        }
        let outcome = if has_failed(&results) {
            self.room.give();
            if self.go_back(&mut ready, &mut results)? {
                RestoreOutcome::Reverted
            } else {
                RestoreOutcome::Broken
            }
        } else {
            self.leave_places(&ready)?;
            RestoreOutcome::Applied
        };
        for one in &mut ready {
            if !one.parking.warnings.is_empty() {
                let told = &mut results.entry(one.at).or_default().moved.warnings;
                told.append(&mut one.parking.warnings);
            }
        }
        let warnings = if ready.iter().any(Ready::removes_directories) {
            stranded::warnings(self.projects)
        } else {
            Vec::new()
        };
        if is_any && self.is_settled_by(outcome) {
            self.close()?;
        } else if is_any && outcome == RestoreOutcome::Reverted {
            self.forget_begun()?;
            self.journal.leave()?;
        }
        let checked = ready.into_iter().map(|one| (one.at, one.checked)).collect();
        let mut report = report(self.request, outcome, checked, results);
        report.warnings = warnings;
        Ok(report)
    }

    /// A phase that cannot be noted is a failure of all that have a result, and of the first where none has.
    fn note(&self, phase: Phase, ready: &[Ready], results: &mut Results) {
        if let Err(failure) = self.journal.enter(phase) {
            if results.is_empty() {
                results.extend(ready.first().map(|one| (one.at, Came::default())));
            }
            for result in results.values_mut() {
                result.problems.push(failed(&failure));
            }
        }
    }

    /// Whether nothing is left of this call and those before it. Settling goes back to how it found things: half done.
    fn is_settled_by(&self, outcome: RestoreOutcome) -> bool {
        match outcome {
            RestoreOutcome::Applied => true,
            RestoreOutcome::Reverted => !self.request.settle,
            _ => false,
        }
    }

    /// The restore is at one of its ends.
    fn close(&self) -> Outcome<()> {
        self.forget_begun()?;
        self.journal.close()
    }

    fn forget_begun(&self) -> Outcome<()> {
        let begun = Begun::of(self.projects, self.moving.session);
        begun
            .close()
            .context("notes of this call cannot be removed", self.projects)
    }

    fn park_all(&self, ready: &mut [Ready]) -> Results {
        let mut results = Results::new();
        let mut order: Vec<&mut Ready> = ready.iter_mut().collect();
        order.sort_by_key(|one| Reverse(depth(&self.request.repositories[one.at])));
        for one in order {
            if let Err(failure) = self.park_one(one) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(failed(&failure));
                break;
            }
        }
        results
    }

    fn park_one(&self, one: &mut Ready) -> Outcome<()> {
        let Checked { stand, plan, way, .. } = &one.checked;
        let (Way::Leaves(leaving), Some(stand), Some(plan)) = (way, stand, plan) else {
            return Ok(());
        };
        let stage = one.stage.lock().ok().and_then(|mut stage| stage.take());
        let ready = (stage, one.aside.as_ref());
        self.moving.park((stand, plan), leaving, ready, &mut one.parking)
    }

    fn move_all(&self, ready: &[Ready]) -> Outcome<Results> {
        let stays: Vec<&Ready> = ready
            .iter()
            .filter(|one| matches!(one.checked.way, Way::Stays))
            .collect();
        let moved = parallel::map(&stays, |one| {
            let mut result = Came::default();
            match self.move_one(one) {
                Ok(moved) => result.moved = moved,
                Err(failure) => result.problems.push(failed(&failure)),
            }
            Ok((one.at, result))
        })?;
        Ok(moved.into_iter().collect())
    }

    fn move_one(&self, one: &Ready) -> Outcome<Moved> {
        let plan = one.plan()?;
        let Some(stand) = &one.checked.stand else {
            return Ok(Moved::default());
        };
        if plan.is_there() {
            return Ok(Moved::default());
        }
        let stage = one.stage.lock().ok().and_then(|mut stage| stage.take());
        let mut moved = self.moving.reach(stand, plan, (stage, one.aside.as_ref()))?;
        if one.is_made {
            moved.warnings.extend(self.moving.lost_filters(stand, plan)?);
        }
        Ok(moved)
    }
}

//! The command that restores, all repositories or none: it looks and checks everything first, then writes, then proves. If
//! anything fails, it puts everything back.

use crate::apply::host::Moved;
use crate::bundle::incoming::Incoming;
use crate::capture::parking::finish_parking;
use crate::lock::Lock;
use crate::parallel;
use crate::restore::asides::look_after;
use crate::restore::back::Back;
use crate::restore::check::{Checked, Way, problem};
use crate::restore::journal::{Journal, Phase};
use crate::restore::look_all::user_settings;
use crate::restore::reach::Moving;
use crate::restore::ready::Ready;
use crate::restore::report::{refused_all, report};
use crate::restore::room::Room;
use crate::restore::stranded;
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::{Problem, ProblemKind, RestoreOutcome, RestoreReport, RestoreRequest, Verified};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

pub(crate) struct Restore<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) request: &'call RestoreRequest,
    pub(crate) moving: Moving<'call>,
    pub(crate) journal: Journal,
    pub(super) room: Room,
    /// Bundles that were brought for this call.
    pub(super) incoming: Incoming,
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
    let _lock = Lock::take(projects, request.lock_wait_seconds)?;
    finish_parking(projects, &request.session_id)?;
    match Room::keep(projects, request)? {
        Ok(room) => restore_in(projects, request, room),
        Err(why) => Ok(refused_all(request, &why)),
    }
}

/// The note of a restore that was not finished.
pub(crate) fn unfinished(projects: &Path, request: &RestoreRequest) -> Journal {
    Journal::of(projects, &request.session_id, &request.call)
}

/// The same under the lock, with room that was kept.
pub(crate) fn restore_in(projects: &Path, request: &RestoreRequest, room: Room) -> Outcome<RestoreReport> {
    let user = user_settings();
    let restore = Restore {
        projects,
        request,
        moving: Moving {
            projects,
            session: &request.session_id,
            call: &request.call,
            user_settings: &user,
            files_only: request.files_only,
        },
        journal: unfinished(projects, request),
        room,
        incoming: Incoming::arrive(projects, &request.session_id, &request.call)?,
    };
    let before = restore.journal.left();
    let mut report = restore.run()?;
    restore.incoming.leave();
    if matches!(report.outcome, RestoreOutcome::Refused | RestoreOutcome::Planned) {
        report.asides = look_after(projects, &request.session_id);
    }
    if let Some((call, phase)) = before {
        if matches!(report.outcome, RestoreOutcome::Applied | RestoreOutcome::Reverted) {
            restore.journal.close()?;
        }
        report.warnings.push(format!(
            "the restore {call} was ended {}; what it put aside was looked after",
            phase.words()
        ));
    }
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
            return Ok(report(self.request, outcome, checked, Results::new(), Vec::new()));
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
                Vec::new(),
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
            self.come_all(&mut ready, &mut results)?;
        }
        if !has_failed(&results) {
            self.drop_all(&mut ready, &mut results);
        }
        if !has_failed(&results) {
            if is_any {
                self.note(Phase::Proving, &mut results);
            }
            self.prove_all(&ready, &mut results)?;
        }
        let outcome = if has_failed(&results) {
            self.room.give();
            let is_away = self.take_away_all(&mut ready, &mut results)?;
            let back = Back {
                restore: self,
                ready: &ready,
            };
            if back.all(&mut results)? && is_away {
                RestoreOutcome::Reverted
            } else {
                RestoreOutcome::Broken
            }
        } else {
            self.leave_places(&ready)?;
            RestoreOutcome::Applied
        };
        let warnings = if ready.iter().any(Ready::removes_directories) {
            stranded::warnings(self.projects)
        } else {
            Vec::new()
        };
        let asides = look_after(self.projects, &self.request.session_id);
        if is_any && outcome != RestoreOutcome::Broken {
            self.journal.close()?;
        }
        let checked = ready.into_iter().map(|one| (one.at, one.checked)).collect();
        let mut report = report(self.request, outcome, checked, results, asides);
        report.warnings = warnings;
        Ok(report)
    }

    /// A phase that cannot be noted is a failure of all.
    pub(crate) fn note(&self, phase: Phase, results: &mut Results) {
        if let Err(failure) = self.journal.enter(phase) {
            for result in results.values_mut() {
                result
                    .problems
                    .push(problem(ProblemKind::Failed, failure.to_string()));
            }
        }
    }

    fn park_all(&self, ready: &mut [Ready]) -> Results {
        let mut results = Results::new();
        for one in ready {
            if let Err(failure) = self.park_one(one) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(problem(ProblemKind::Failed, failure.to_string()));
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
                Err(failure) => result
                    .problems
                    .push(problem(ProblemKind::Failed, failure.to_string())),
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
        self.moving.reach(stand, plan, (stage, one.aside.as_ref()))
    }
}

/// Paths that appeared meanwhile, for a person.
pub(crate) fn kept(late: &BTreeSet<bstr::BString>) -> Option<Problem> {
    (!late.is_empty()).then(|| {
        let named: Vec<String> = late.iter().take(5).map(ToString::to_string).collect();
        problem(
            ProblemKind::Failed,
            format!("kept, because it appeared meanwhile: {}", named.join(" ")),
        )
    })
}

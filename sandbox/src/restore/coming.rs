//! A repository that only the target has, and that was parked: it comes back with its own git directory, and is moved to the
//! target then.

use crate::apply::host::Moved;
use crate::parallel;
use crate::restore::check::Way;
use crate::restore::command::{Restore, Results};
use crate::restore::genuine::{self, Forged};
use crate::restore::inner::{self, Inner};
use crate::restore::leaving::is_vacant;
use crate::restore::look_all::{Looks, Seen, When};
use crate::restore::plan_of::Plan;
use crate::restore::problem::{failed, problem};
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::restore::unpark::unpark;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Work;
use crate::wire::restore::{ProblemKind, State};
use bstr::ByteSlice;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Why a repository that comes cannot be moved to its target.
pub(super) enum Stopped {
    Lacks(String),
    /// No capture made the target.
    Forged(Forged),
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Stopped::Failed(failure)
    }
}

impl Restore<'_> {
    /// Brings those at one depth to their target.
    pub(super) fn come_at(&self, depth: usize, ready: &mut [Ready], results: &mut Results) -> Outcome<()> {
        let mut which = Vec::new();
        for one in ready.iter_mut() {
            if inner::depth(&self.request.repositories[one.at]) != depth {
                continue;
            }
            let Way::Comes(place) = one.checked.way.clone() else {
                continue;
            };
            let came = match place {
                Some(place) => self.unpark_or_make(one, &place),
                None => self.make(one),
            };
            match came {
                Ok(()) => which.push(one.at),
                Err(stopped) => self.stop(one.at, stopped, results),
            }
        }
        let mut seen = Looks {
            projects: self.projects,
            request: self.request,
            when: When::Target,
            umask: None,
            which: &which,
            target: |one| one.target.as_ref(),
            reads: self.moving.reporter.reads(Work::Files),
        }
        .all()?;
        let coming: Vec<_> = ready
            .iter_mut()
            .filter(|one| which.contains(&one.at))
            .map(|one| {
                let seen = seen.remove(&one.at);
                Mutex::new(Some((one, seen)))
            })
            .collect();
        let came = parallel::map(&coming, |one| {
            let taken = one.lock().ok().and_then(|mut one| one.take());
            let (one, seen) = taken.ok_or_else(|| Failure::Fault("it came twice".into()))?;
            Ok((one.at, self.come(one, seen)))
        })?;
        for (at, came) in came {
            match came {
                Ok(moved) => results.entry(at).or_default().moved = moved,
                Err(stopped) => self.stop(at, stopped, results),
            }
        }
        Ok(())
    }

    /// One that git cannot use any more stays parked.
    fn unpark_or_make(&self, one: &mut Ready, place: &Path) -> Result<(), Stopped> {
        let top = self.top_of(one.at);
        match unpark(&self.moving, place, &top, &mut one.parking) {
            Err(Stopped::Lacks(_)) if !self.request.repositories[one.at].bundles.is_empty() => {
                one.parking.take_back()?;
                one.checked.way = Way::Comes(None);
                self.make(one)
            }
            other => other,
        }
    }

    fn make(&self, one: &mut Ready) -> Result<(), Stopped> {
        let target = self.request.repositories[one.at].target.as_ref();
        let target = target.ok_or_else(|| Failure::Fault("a repository that comes has no target".into()))?;
        self.make_from_bundles(one, target, &self.top_of(one.at))
    }

    fn stop(&self, at: usize, stopped: Stopped, results: &mut Results) {
        let problem = match stopped {
            Stopped::Lacks(said) => problem(ProblemKind::MissingObjects, said),
            Stopped::Forged(said) => problem(ProblemKind::UnsafePath, said),
            Stopped::Failed(failure) => failed(&failure),
        };
        results.entry(at).or_default().problems.push(problem);
    }

    /// The plan of one that comes. Every object that it needs is here.
    fn plan_of_coming(&self, at: usize, stand: &Stand, target: &State) -> Result<Plan, Stopped> {
        let inner = Inner::of(self.request, stand.path.as_bstr(), When::Target);
        let mut plan = Plan::make(stand, target, &inner)?.map_err(Stopped::Lacks)?;
        plan.comes = true;
        if let Some(said) = genuine::of_plan(stand, &plan)? {
            return Err(Stopped::Forged(said));
        }
        plan.is_partial |= self.request.repositories[at].is_partial;
        match plan.lacks(stand)? {
            Some(lacks) => Err(Stopped::Lacks(lacks)),
            None => Ok(plan),
        }
    }

    fn come(&self, one: &mut Ready, seen: Option<Seen>) -> Result<Moved, Stopped> {
        let Some(target) = &self.request.repositories[one.at].target else {
            return Ok(Moved::default());
        };
        let stand =
            seen.unwrap_or_else(|| Err(Failure::Fault("what was parked is no repository any more".into())))?;
        if is_vacant(&stand.shadow.top) {
            let mark = stand.shadow.file("in-empty");
            fs::write(&mark, b"").context("it cannot be written", mark)?;
        }
        let mut plan = match self.plan_of_coming(one.at, &stand, target) {
            // It was parked before the target was captured.
            Err(Stopped::Lacks(said)) => {
                self.bring_lacking(one.at, &stand, said)?;
                self.plan_of_coming(one.at, &stand, target)?
            }
            other => other?,
        };
        let appeared: Vec<String> = plan
            .differences
            .iter()
            .filter(|one| one.from.is_some())
            .take(5)
            .map(|one| one.path.to_string())
            .collect();
        if !appeared.is_empty() {
            let said = format!("these appeared meanwhile: {}", appeared.join(" "));
            return Err(Failure::Fault(said).into());
        }
        plan.decide(&BTreeMap::new());
        if is_vacant(&stand.shadow.top) {
            return self.fill(one, stand, plan);
        }
        let staged = self
            .moving
            .stage(&stand, &plan, None)?
            .map_err(|lacking| Stopped::Lacks(lacking.to_string()))?;
        let aside = match &staged {
            Some(_) => Some(self.moving.aside(format!("{}.1", one.at), &stand, &plan)?),
            None => None,
        };
        // From here on the way back knows what may have been written.
        one.aside = aside;
        let plan = one.checked.plan.insert(plan);
        let stand = one.checked.stand.insert(stand);
        if plan.is_there() {
            return Ok(Moved::default());
        }
        Ok(self.moving.reach(stand, plan, (staged, one.aside.as_ref()))?)
    }
}

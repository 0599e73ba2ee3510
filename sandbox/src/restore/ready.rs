//! A repository that passed all checks, with everything that can be written before anything of the user's is touched.

use crate::apply::aside::Aside;
use crate::apply::parking::Parking;
use crate::apply::stage::Stage;
use crate::git::id::Id;
use crate::git::spool::Spooled;
use crate::plan::files::Change;
use crate::restore::asides::look_after;
use crate::restore::check::{Checked, Way};
use crate::restore::command::Restore;
use crate::restore::plan_of::Plan;
use crate::restore::problem::{failed, problem};
use crate::restore::prove::Allowed;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::ProblemKind;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// A repository of the request that passed all checks, and what was made ready for it.
pub(crate) struct Ready {
    /// Its place in the request.
    pub(crate) at: usize,
    pub(crate) checked: Checked,
    pub(super) stage: Mutex<Option<Stage>>,
    pub(crate) aside: Option<Aside>,
    /// What was done to park it, or to bring it back.
    pub(super) parking: Parking,
    /// Its `.git` was made by this call.
    pub(super) is_made: bool,
    /// The place from which a `.git` alone came back.
    pub(super) came_from: Option<PathBuf>,
    pub(super) allowed: Allowed,
    /// Contents that were read when it was made.
    pub(super) spooled: Option<Spooled>,
}

impl Ready {
    /// Whether the repository may be otherwise than before.
    pub(crate) fn is_moved(&self) -> bool {
        match self.checked.way {
            Way::Stays => self.plan().is_ok_and(|plan| !plan.is_there()),
            Way::Leaves(_) | Way::Comes(_) => true,
            Way::Absent => false,
        }
    }

    /// Whether a directory may have gone in which a process stands.
    pub(super) fn removes_directories(&self) -> bool {
        let Ok(plan) = self.plan() else { return false };
        let goes = |change: &Change| matches!(change, Change::RemoveDirectory(_));
        let empty = (&plan.from.sidecar.empty, &plan.to.sidecar.empty);
        matches!(self.checked.way, Way::Leaves(_))
            || plan.changes.iter().any(goes)
            || empty.0.difference(empty.1).next().is_some()
    }

    /// The contents of its new files, which were read from its stores; nothing when there are none.
    pub(super) fn taken(&self) -> Option<HashSet<Id>> {
        let plan = self.checked.plan.as_ref()?;
        let written = plan.changes.iter().filter_map(Change::written);
        matches!(self.checked.way, Way::Stays).then(|| written.map(|(_, content)| content.id).collect())
    }

    pub(crate) fn plan(&self) -> Outcome<&Plan> {
        let plan = self.checked.plan.as_ref();
        plan.ok_or_else(|| Failure::Fault("a repository without a plan is not moved".into()))
    }
}

impl Restore<'_> {
    /// Writes the new files of a repository beside it, and makes a place for the old ones.
    pub(super) fn make_ready(&self, at: usize, mut checked: Checked) -> Ready {
        let mut ready = (None, None);
        let allowed = Allowed {
            files_only: self.request.files_only,
            allow_concurrent_writers: self.request.allow_concurrent_writers,
            is_settling: self.request.settle,
            ..Allowed::default()
        };
        let made = || -> Outcome<Option<String>> {
            let (Some(plan), Some(stand)) = (&checked.plan, &checked.stand) else {
                return Ok(None);
            };
            if plan.changes.is_empty() {
                return Ok(None);
            }
            match self.moving.stage(stand, plan, None)? {
                Ok(staged) => ready.0 = staged,
                Err(lacking) => {
                    // The next call brings it, and does not trust the one that is here.
                    let mark = stand.shadow.file("damaged");
                    fs::write(&mark, b"").context("it cannot be written", mark)?;
                    return Ok(Some(lacking.to_string()));
                }
            }
            ready.1 = Some(self.moving.aside(format!("{at}.1"), stand, plan)?);
            Ok(None)
        };
        let mut made = made;
        let problem = match made() {
            Ok(None) => None,
            Ok(Some(lacks)) => Some(problem(ProblemKind::MissingObjects, lacks)),
            Err(failure) => Some(failed(&failure)),
        };
        checked.problems.extend(problem);
        Ready {
            at,
            checked,
            stage: Mutex::new(ready.0),
            aside: ready.1,
            parking: Parking::new(self.projects, self.moving.session),
            is_made: false,
            came_from: None,
            allowed,
            spooled: None,
        }
    }

    pub(super) fn drop_ready(&self, ready: &[Ready]) {
        for one in ready {
            if let Some(stage) = one.stage.lock().ok().and_then(|mut stage| stage.take()) {
                // The next look removes what is left.
                let _ = stage.remove();
            }
        }
        look_after(self.projects, &self.request.session_id);
    }
}

//! All checks of one repository, before anything of the user's is written.

use crate::apply::contents::sizes;
use crate::bundle::incoming::Incoming;
use crate::git::id::Id;
use crate::plan::files::{Content, Difference};
use crate::restore::captured::differences;
use crate::restore::check_paths::told_of_kept;
use crate::restore::exposed;
use crate::restore::free::LeavesInside;
use crate::restore::genuine;
use crate::restore::inner::Inner;
use crate::restore::kept::Asking;
use crate::restore::leaving::Leaving;
use crate::restore::look_all::When;
use crate::restore::plan_of::Plan;
use crate::restore::problem::problem;
use crate::restore::reach::Moving;
use crate::restore::stand::Stand;
use crate::wire::error::{Context, Outcome};
use crate::wire::host_change::HostChange;
use crate::wire::name::Name;
use crate::wire::restore::{Problem, ProblemKind, RestoreRepository, RestoreRequest, State};
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Whether a repository is there now and in the target.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Stays,
    /// The target does not have it.
    Leaves(Leaving),
    /// Only the target has it. It is parked here, or it is made from its bundles.
    Comes(Option<PathBuf>),
    /// It is not there, and the target does not have it.
    Absent,
}

/// What is known of a repository when everything was checked.
pub(crate) struct Checked {
    /// Nothing when it could not be looked at.
    pub(crate) stand: Option<Stand>,
    /// Only without problems.
    pub(crate) plan: Option<Plan>,
    pub(crate) way: Way,
    pub(crate) host: Option<HostChange>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<BString>,
}

impl Checked {
    /// There is nothing to look at, or it could not be looked at.
    pub(crate) fn without_look(way: Way) -> Self {
        Checked {
            stand: None,
            plan: None,
            way,
            host: None,
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

pub(super) struct Checking<'check> {
    pub(super) moving: &'check Moving<'check>,
    pub(super) request: &'check RestoreRequest,
    incoming: &'check Incoming<'check>,
    pub(super) wanted: &'check RestoreRepository,
    pub(super) stand: &'check Stand,
    /// What leaves from inside it.
    pub(super) leaving: &'check [LeavesInside],
    problems: Vec<Problem>,
    pub(super) warnings: Vec<BString>,
}

pub(crate) fn check(
    (moving, request, incoming): (&Moving<'_>, &RestoreRequest, &Incoming),
    wanted: &RestoreRepository,
    now: &State,
    (stand, leaving): (Stand, &[LeavesInside]),
) -> Outcome<Checked> {
    let mut checking = Checking {
        moving,
        request,
        incoming,
        wanted,
        stand: &stand,
        leaving,
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    let found = match &wanted.target {
        Some(target) => checking.run(now, target)?.map(|plan| (plan, Way::Stays)),
        None => checking.leave(now)?,
    };
    let (plan, way) = found.map_or((None, Way::Stays), |(plan, way)| (Some(plan), way));
    let host = match &plan {
        Some(plan) if wanted.target.is_some() && checking.problems.is_empty() && !request.files_only => {
            checking.host(plan)?
        }
        Some(_) | None => None,
    };
    let Checking {
        problems, warnings, ..
    } = checking;
    Ok(Checked {
        plan: plan.filter(|_| problems.is_empty()),
        way,
        host,
        problems,
        warnings,
        stand: Some(stand),
    })
}

impl Checking<'_> {
    pub(super) fn is_dry_run(&self) -> bool {
        self.request.dry_run
    }

    pub(super) fn refuse(&mut self, kind: ProblemKind, message: impl Into<BString>) {
        self.problems.push(problem(kind, message));
    }

    /// What was captured of the files that other processes have written since; nothing when it is not as captured.
    pub(super) fn written_since(&mut self, now: &State) -> Outcome<Option<BTreeMap<BString, Content>>> {
        let tree = self.stand.tree.to_string();
        let is_same_host = self.request.files_only || self.stand.meta.to_string() == now.meta;
        if is_same_host && tree == now.tree {
            return Ok(Some(BTreeMap::new()));
        }
        if is_same_host && self.request.allow_concurrent_writers {
            match differences(&self.stand.shadow, &now.tree, &tree)? {
                Ok(since) if since.iter().all(Difference::is_content) => {
                    let were = since.into_iter().filter_map(|one| Some((one.path, one.from?)));
                    return Ok(Some(were.collect()));
                }
                Ok(_) => {}
                Err(said) => {
                    self.refuse(
                        ProblemKind::Failed,
                        format!("what changed after the capture cannot be told: {said}"),
                    );
                    return Ok(None);
                }
            }
        }
        self.refuse(
            ProblemKind::Changed,
            "files or host state changed after the capture; stop what still works in this repository",
        );
        Ok(None)
    }

    /// The plan, as far as it could be made.
    fn run(&mut self, now: &State, target: &State) -> Outcome<Option<Plan>> {
        let (stand, wanted) = (self.stand, self.wanted);
        let format = stand.shadow.format;
        if target.tree.len() != 2 * format.width() {
            self.refuse(
                ProblemKind::UnsafePath,
                format!(
                    "it was made again in the object format {}, and had another one at the checkpoint: move it away",
                    format.name()
                ),
            );
            return Ok(None);
        }
        let Some(since) = self.written_since(now)? else {
            return Ok(None);
        };
        if !wanted.bundles.is_empty()
            && let Err(said) = self.incoming.bring(&stand.shadow, &wanted.bundles)?
        {
            self.lack(format!("a bundle does not fit: {said}"))?;
            return Ok(None);
        }
        let inner = Inner::of(self.request, stand.path.as_bstr(), When::Target);
        let mut plan = match Plan::make(stand, target, &inner)? {
            Ok(plan) => plan,
            Err(lacks) => {
                self.lack(lacks)?;
                return Ok(None);
            }
        };
        if let Some(said) = genuine::of_plan(stand, &plan)? {
            self.refuse(ProblemKind::UnsafePath, said);
            return Ok(None);
        }
        if let Some(lacks) = self.lacks(&mut plan)? {
            self.lack(lacks)?;
            return Ok(None);
        }
        if !self.request.files_only && !self.is_host_safe(&plan)? {
            return Ok(None);
        }
        plan.since = since;
        self.tell_held(&plan)?;
        if !self.is_readable(&plan)? || !self.is_free(&plan)? {
            return Ok(None);
        }
        let reasons = Asking {
            stand,
            differences: &plan.differences,
            summary: plan.summary,
            target_tree: &plan.goal.tree,
            target: &plan.to,
            skipped: &names(&wanted.skipped),
            include: &names(&self.request.include),
            tag: self.request.target_tag.as_deref(),
        }
        .reasons()?;
        plan.decide(&reasons);
        if plan.summary.has_rules {
            plan.unseen = exposed::unseen(stand)?;
            let exposed = exposed::warnings(stand, &plan.unseen, &plan.goal.tree)?;
            self.warnings.extend(exposed);
        }
        self.warnings.extend(told_of_kept(&plan.stays));
        if !self.request.files_only {
            self.tell_lost_stash();
        }
        Ok(Some(plan))
    }

    /// The next call brings objects, and does not trust those that are here.
    fn lack(&mut self, said: String) -> Outcome<()> {
        let mark = self.stand.shadow.file("damaged");
        fs::write(&mark, b"").context("it cannot be written", mark)?;
        self.refuse(ProblemKind::MissingObjects, said);
        Ok(())
    }

    /// What of the target cannot be read, in git's words. A restore reads the contents of files before it writes anything.
    fn lacks(&self, plan: &mut Plan) -> Outcome<Option<String>> {
        let Plan { from, to, .. } = plan;
        if self.request.dry_run {
            let ids: Vec<Id> = plan
                .differences
                .iter()
                .filter_map(|one| Some(one.to?.id))
                .collect();
            let there = sizes(&self.stand.shadow, &ids)?;
            if let Some(id) = ids.iter().find(|id| !there.contains_key(*id)) {
                return Ok(Some(format!("the object {id} is missing")));
            }
        }
        if from.meta == to.meta {
            return Ok(None);
        }
        plan.lacks_in_boundary(self.stand)
    }
}

fn names(names: &[Name]) -> Vec<BString> {
    names.iter().map(|name| name.0.clone()).collect()
}

//! Brings one repository to the state of its plan.

use crate::apply::aside::{Aside, Naming};
use crate::apply::beneath::Beneath;
use crate::apply::contents::Lacking;
use crate::apply::fill::{Filled, Written};
use crate::apply::host::{HostMove, Moved};
use crate::apply::place::Placing;
use crate::apply::sidecar::{act, open_closed};
use crate::apply::stage::Stage;
use crate::capture::begun::Begun;
use crate::host::place::Host;
use crate::plan::files::Change;
use crate::plan::sidecar::{self, Sidecar};
use crate::restore::captured::is_in;
use crate::restore::kept::hidden;
use crate::restore::plan_of::Plan;
use crate::restore::stand::Stand;
use crate::wire::error::{Context, Outcome};
use crate::wire::progress::Reporter;
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;
use std::path::Path;

/// What a call knows that moves repositories.
pub(crate) struct Moving<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) session: &'call str,
    pub(crate) call: &'call str,
    /// The user's settings, in lower case.
    pub(crate) user_settings: &'call [u8],
    pub(crate) files_only: bool,
    pub(crate) reporter: &'call Reporter,
}

impl Moving<'_> {
    /// Writes the new files of a plan into a directory of ours. `from`: what was put aside is taken back.
    pub(crate) fn stage(
        &self,
        stand: &Stand,
        plan: &Plan,
        from: Option<&Aside>,
    ) -> Outcome<Result<Option<Stage>, Lacking>> {
        let files: Vec<_> = plan.changes.iter().filter_map(Change::written).collect();
        if plan.changes.is_empty() {
            return Ok(Ok(None));
        }
        let modes = &plan.to.sidecar;
        Stage::write(&stand.shadow, &files, modes, from, self.reporter).map(|staged| staged.map(Some))
    }

    /// A place for what this repository puts aside.
    pub(crate) fn aside(&self, name: String, stand: &Stand, plan: &Plan) -> Outcome<Aside> {
        let naming = Naming {
            projects: self.projects,
            session: self.session,
            call: self.call,
            name,
        };
        Aside::make(
            &naming,
            (stand.shadow.format, stand.path.as_bstr()),
            plan.entries(),
        )
    }

    /// Moves everything.
    pub(crate) fn reach(
        &self,
        stand: &Stand,
        plan: &Plan,
        (stage, aside): (Option<Stage>, Option<&Aside>),
    ) -> Outcome<Moved> {
        let top = &stand.shadow.top;
        let tree = Beneath::new(top).context("it cannot be opened", top)?;
        let sidecars = (&plan.from.sidecar, &plan.to.sidecar);
        let has_work = !plan.changes.is_empty() || sidecars.0 != sidecars.1;
        if has_work {
            open_closed(&tree, sidecars.0)?;
        }
        let told = self.place((stand, plan), &tree, (stage, aside))?;
        if has_work {
            self.move_sidecar(stand, (plan, &plan.from.sidecar), &tree)?;
        }
        let mut moved = self.move_host(stand, plan, None)?;
        moved.warnings.extend(told);
        Ok(moved)
    }

    /// The same where nothing was there, with the files that were written beside it.
    pub(super) fn reach_vacant(&self, stand: &Stand, plan: &Plan, filled: Filled) -> Outcome<Moved> {
        let top = &stand.shadow.top;
        let tree = Beneath::new(top).context("it cannot be opened", top)?;
        let written = filled.place(&tree)?;
        self.move_sidecar(stand, (plan, &plan.from.sidecar), &tree)?;
        self.move_host(stand, plan, Some(&written))
    }

    /// Puts aside what leaves, and removes the directories that held nothing else.
    pub(super) fn empty_out(
        &self,
        stand: &Stand,
        plan: &Plan,
        ready: (Option<Stage>, Option<&Aside>),
    ) -> Outcome<()> {
        let top = &stand.shadow.top;
        let tree = Beneath::new(top).context("it cannot be opened", top)?;
        let (from, to) = (&plan.from.sidecar, &plan.to.sidecar);
        open_closed(&tree, from)?;
        // Nothing is written, so there is nothing to tell.
        self.place((stand, plan), &tree, ready)?;
        // What is nested goes first.
        let empty = from.empty.iter().rev().filter(|path| !to.empty.contains(*path));
        let steps: Vec<_> = empty.cloned().map(sidecar::Change::RemoveEmpty).collect();
        act(&tree, &steps, to)
    }

    /// The answer is what a person is told.
    fn place(
        &self,
        (stand, plan): (&Stand, &Plan),
        tree: &Beneath,
        (stage, aside): (Option<Stage>, Option<&Aside>),
    ) -> Outcome<Option<BString>> {
        let Some(stage) = stage else { return Ok(None) };
        let told = match aside {
            Some(aside) => Placing {
                top: &stand.shadow.top,
                tree,
                stage: &stage,
                aside,
                modes: &plan.to.sidecar,
                begun: &Begun::of(self.projects, self.session),
            }
            .act(&plan.changes)?,
            None => None,
        };
        stage.remove()?;
        Ok(told)
    }

    pub(super) fn move_sidecar(
        &self,
        stand: &Stand,
        (plan, from): (&Plan, &Sidecar),
        tree: &Beneath,
    ) -> Outcome<()> {
        let to = &plan.to.sidecar;
        let gone = from.empty.difference(&to.empty);
        let listed = from.modes.iter().filter_map(|(path, mode)| match mode {
            sidecar::Listed::Directory(_) if !to.modes.contains_key(path) => Some(path),
            sidecar::Listed::Directory(_) | sidecar::Listed::File(_) => None,
        });
        // Git refuses to say anything of what lies behind a link.
        let asked: Vec<BString> = gone
            .chain(listed)
            .filter(|path| tree.parent(path.as_bstr()).is_ok())
            .cloned()
            .collect();
        let hidden = if asked.is_empty() {
            BTreeSet::new()
        } else {
            hidden(stand, &plan.goal.tree, asked)?
        };
        let steps = sidecar::changes(from, to, &hidden, |path| plan.stays.contains_key(path));
        act(tree, &steps, to)
    }

    /// The settings that git reads in a repository, in lower case.
    pub(crate) fn settings(&self, stand: &Stand) -> Vec<u8> {
        let own = stand.reading.settings.text.to_ascii_lowercase();
        [&own[..], b"\n", self.user_settings].concat()
    }

    pub(crate) fn host_move<'way>(
        &'way self,
        stand: &'way Stand,
        plan: &'way Plan,
        (host, settings): (&'way Host, &'way [u8]),
    ) -> HostMove<'way> {
        HostMove {
            projects: self.projects,
            session: self.session,
            shadow: &stand.shadow,
            host,
            settings,
            has_own_settings: stand.reading.settings.has_own,
            is_partial: plan.is_partial,
            from: (&plan.from.meta, &plan.from.host),
            to: (&plan.to.meta, &plan.to.host),
            tree: &plan.goal.tree,
            summary: plan.summary,
            written: None,
            left: &plan.left,
            boundary: plan.boundary.as_deref(),
        }
    }

    /// Filters without which git shows files of a new repository as modified.
    pub(super) fn lost_filters(&self, stand: &Stand, plan: &Plan) -> Outcome<Vec<BString>> {
        let Some(host) = &stand.reading.host else {
            return Ok(Vec::new());
        };
        let settings = self.settings(stand);
        self.host_move(stand, plan, (host, &settings)).lost_filters()
    }

    fn move_host(&self, stand: &Stand, plan: &Plan, written: Option<&[Written]>) -> Outcome<Moved> {
        let Some(host) = &stand.reading.host else {
            return Ok(Moved::default());
        };
        if plan.drops_git(stand) {
            return Ok(Moved::default());
        }
        let settings = self.settings(stand);
        let moving = HostMove {
            written,
            ..self.host_move(stand, plan, (host, &settings))
        };
        if (self.files_only && !plan.comes) || plan.from.meta == plan.to.meta {
            return moving.files_only().map(|()| Moved::default());
        }
        moving.all()
    }
}

/// Whether a path lies in what belongs to others.
pub(crate) fn is_of_others(plan: &Plan, path: &BString) -> bool {
    is_in(path.as_bstr(), &plan.others)
}

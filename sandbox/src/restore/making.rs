//! The `.git` of a repository that comes or goes alone: one that is gone is made from what the sandbox has or from bundles,
//! and one that the target does not have is parked.

use crate::apply::host::new;
use crate::apply::parking::{find_place, leave_place, make_place};
use crate::fs::kind::kind;
use crate::fs::remove;
use crate::git::batch::Batch;
use crate::git::id::Format;
use crate::host::place::{self, path_of};
use crate::host::reading;
use crate::restore::captured::Captured;
use crate::restore::check::{Way, problem};
use crate::restore::coming::Stopped;
use crate::restore::command::{Restore, Results};
use crate::restore::leaving::metas;
use crate::restore::ready::Ready;
use crate::shadow::open;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::{ProblemKind, State};
use bstr::ByteSlice;
use std::path::Path;

/// The one that is on its way to a place, in the folder of this call.
fn new_name(at: usize) -> String {
    format!("{at}.git")
}

impl Restore<'_> {
    /// Makes a repository, of which nothing is there, from its bundles. What was done is in its `parking`, also when it fails.
    pub(super) fn make_from_bundles(
        &self,
        one: &mut Ready,
        target: &State,
        top: &Path,
    ) -> Result<(), Stopped> {
        let wanted = &self.request.repositories[one.at];
        let session = self.moving.session;
        let ours = top.join(".agent-shadow");
        one.parking.make(top)?;
        one.parking.make(&ours)?;
        one.parking.expect(&ours.join(format!("session-{session}")));
        let format = if target.tree.len() == 2 * Format::Sha256.width() {
            Format::Sha256
        } else {
            Format::Sha1
        };
        let git = self.room.file(&new_name(one.at))?;
        remove::directory(&git).context("it cannot be removed", &git)?;
        let host = new::begin(&git, format, wanted.is_partial)?;
        let shadow = open::open(top, session, format, Some(&host))?;
        if let Err(said) = self
            .incoming
            .bring_new(&shadow, (&host, wanted.is_partial), &wanted.bundles)?
        {
            return Err(Stopped::Lacks(format!("a bundle does not fit: {said}")));
        }
        let mut objects = Batch::open(&shadow.top, &shadow.git)?;
        let Some(captured) = Captured::read(&mut objects, &target.meta)? else {
            return Err(Stopped::Lacks(format!(
                "the host state {} is not here",
                target.meta
            )));
        };
        new::furnish(&git, &shadow, &captured.host.parts)?;
        one.parking.rename(&git, &top.join(".git"))?;
        let host = place::find(top).map_err(|_| Failure::Fault("git cannot use what was made".into()))?;
        open::open(top, session, format, Some(&host))?;
        Ok(())
    }

    /// Brings a `.git` to each repository that lost its own.
    pub(super) fn make_all(&self, ready: &mut [Ready], results: &mut Results) {
        for one in ready.iter_mut() {
            if let Err(failure) = self.make_one(one) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(problem(ProblemKind::Failed, failure.to_string()));
                return;
            }
        }
    }

    fn make_one(&self, one: &mut Ready) -> Outcome<()> {
        let (Way::Stays, Some(plan), Some(stand)) =
            (&one.checked.way, &one.checked.plan, &mut one.checked.stand)
        else {
            return Ok(());
        };
        if self.request.files_only || !plan.makes_git(stand) {
            return Ok(());
        }
        let (projects, session) = (self.projects, self.moving.session);
        let path = stand.path.as_bstr();
        let dot = stand.shadow.top.join(".git");
        if kind(&dot).is_some() {
            // Git cannot use it, and no capture has it.
            let place = make_place(projects, session, path, &[])?;
            one.parking.rename(&dot, &place.join("git"))?;
        }
        let parked = find_place(projects, session, path, &plan.to.meta)
            .filter(|place| kind(&place.join("git")).is_some());
        if let Some(place) = &parked {
            one.parking.rename(&place.join("git"), &dot)?;
        } else {
            let git = self.room.file(&new_name(one.at))?;
            remove::directory(&git).context("it cannot be removed", &git)?;
            let is_partial = self.request.repositories[one.at].is_partial;
            new::begin(&git, stand.shadow.format, is_partial)?;
            new::furnish(&git, &stand.shadow, &plan.to.host.parts)?;
            one.parking.rename(&git, &dot)?;
        }
        stand.reading = reading::read(&stand.shadow.top)?;
        let Some(host) = &stand.reading.host else {
            return Err(Failure::Fault("git cannot use the .git that was made".into()));
        };
        // The new files are ready in the shadow, so it is not opened anew.
        open::borrow(&stand.shadow, Some(host)).context("the shadow cannot be written", &stand.shadow.git)?;
        one.came_from = parked;
        Ok(())
    }

    /// Parks the `.git` of each repository that has none in the target.
    pub(super) fn drop_all(&self, ready: &mut [Ready], results: &mut Results) {
        for one in ready.iter_mut() {
            if let Err(failure) = self.drop_one(one) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(problem(ProblemKind::Failed, failure.to_string()));
                return;
            }
        }
    }

    fn drop_one(&self, one: &mut Ready) -> Outcome<()> {
        let (Some(plan), Some(stand)) = (&one.checked.plan, &one.checked.stand) else {
            return Ok(());
        };
        if self.request.files_only || !plan.drops_git(stand) {
            return Ok(());
        }
        let place = make_place(
            self.projects,
            self.moving.session,
            stand.path.as_bstr(),
            &metas(stand)?,
        )?;
        one.parking
            .rename(&stand.shadow.top.join(".git"), &place.join("git"))
    }

    /// Where this repository came from, when everything is proved.
    pub(super) fn leave_place_of(&self, one: &Ready) -> Outcome<()> {
        match &one.came_from {
            Some(place) => leave_place(place),
            None => Ok(()),
        }
    }

    /// Where a repository of the request is.
    pub(super) fn top_of(&self, at: usize) -> std::path::PathBuf {
        self.projects
            .join(path_of(self.request.repositories[at].path.0.clone()))
    }
}

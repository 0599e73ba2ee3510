//! The `.git` of a repository that comes or goes alone: one that is gone is made from what the sandbox has or from bundles,
//! and one that the target does not have is parked.

use crate::apply::host::new;
use crate::apply::parking::{find_place, leave_place, make_place};
use crate::capture::begun::Begun;
use crate::capture::carried::Part;
use crate::fs::kind::kind;
use crate::fs::remove;
use crate::git::id::Format;
use crate::host::place::{self, path_of};
use crate::host::reading;
use crate::restore::captured::Captured;
use crate::restore::check::Way;
use crate::restore::coming::Stopped;
use crate::restore::command::{Restore, Results};
use crate::restore::genuine;
use crate::restore::leaving::metas;
use crate::restore::problem::failed;
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::restore::unpark::bring_worktree;
use crate::shadow::open;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::State;
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
        one.parking.expect(&ours.join(format!("session-{session}")))?;
        let format = if target.tree.len() == 2 * Format::Sha256.width() {
            Format::Sha256
        } else {
            Format::Sha1
        };
        let git = self.room.file(&new_name(one.at))?;
        remove::directory(&git).context("it cannot be removed", &git)?;
        let host = new::begin(&git, format, wanted.is_partial)?;
        let shadow = open::open(top, session, format, Some(&host))?;
        one.spooled = self
            .incoming
            .bring_new(&shadow, (&host, wanted.is_partial), &wanted.bundles)?
            .map_err(|said| Stopped::Lacks(format!("a bundle does not fit: {said}")))?;
        let mut objects = shadow.batch();
        let captured = Captured::find(&mut objects, &target.meta)?.map_err(Stopped::Lacks)?;
        if let Some(said) = genuine::of_settings(&mut objects, &captured.host.parts)? {
            return Err(Stopped::Forged(said));
        }
        new::furnish(&git, &shadow, &captured.host.parts)?;
        one.parking.name_git(&git, &top.join(".git"))?;
        let host = place::find(top).map_err(|_| Failure::Fault("git cannot use what was made".into()))?;
        open::open(top, session, format, Some(&host))?;
        one.is_made = true;
        Ok(())
    }

    /// Brings a `.git` to each repository that lost its own.
    pub(super) fn make_all(&self, ready: &mut [Ready], results: &mut Results) {
        for one in ready.iter_mut() {
            if let Err(failure) = self.make_one(one) {
                let problems = &mut results.entry(one.at).or_default().problems;
                problems.push(failed(&failure));
                return;
            }
        }
    }

    /// Brings the bundles of one that was parked with fewer objects. `said`: what is missing.
    pub(super) fn bring_lacking(&self, at: usize, stand: &Stand, said: String) -> Result<(), Stopped> {
        let bundles = &self.request.repositories[at].bundles;
        if bundles.is_empty() {
            return Err(Stopped::Lacks(said));
        }
        let brought = self.incoming.bring(&stand.shadow, bundles)?;
        brought.map_err(|said| Stopped::Lacks(format!("a bundle does not fit: {said}")))
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
            one.parking.park_unusable(&dot, &place)?;
        }
        let parked = find_place(projects, session, path, &plan.to.meta)
            .filter(|place| kind(&place.join("git")).is_some());
        if let Some(place) = &parked {
            bring_worktree(place, &mut one.parking)?;
            one.parking.bring(Part::Git, place, &dot)?;
        } else {
            let git = self.room.file(&new_name(one.at))?;
            remove::directory(&git).context("it cannot be removed", &git)?;
            let mut objects = stand.shadow.batch();
            if let Some(said) = genuine::of_settings(&mut objects, &plan.to.host.parts)? {
                return Err(Failure::Fault(said));
            }
            drop(objects);
            let is_partial = self.request.repositories[one.at].is_partial;
            new::begin(&git, stand.shadow.format, is_partial)?;
            new::furnish(&git, &stand.shadow, &plan.to.host.parts)?;
            one.parking.name_git(&git, &dot)?;
            one.is_made = true;
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
                problems.push(failed(&failure));
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
        let metas = metas(stand)?;
        self.drop_git(one, &metas)
    }

    /// Parks the `.git` of a repository that was captured in these host states. One that git cannot use, and that had to leave
    /// before this rollback went on, comes back.
    pub(super) fn drop_git(&self, one: &mut Ready, metas: &[String]) -> Outcome<()> {
        let (projects, session) = (self.projects, self.moving.session);
        let path = self.request.repositories[one.at].path.0.as_bstr();
        let dot = self.top_of(one.at).join(".git");
        let place = make_place(projects, session, path, metas)?;
        one.parking.park(Part::Git, &dot, &place)?;
        match Begun::of(projects, session).unusable(&dot) {
            Some(place) => one.parking.bring(Part::Git, &place, &dot),
            None => Ok(()),
        }
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

//! A repository that the target does not have: its captured files are put aside, and it is parked. Files that were there
//! before it was a repository stay, and so does what no capture holds.

use crate::apply::aside::Aside;
use crate::apply::parking::{Parking, make_place};
use crate::apply::stage::Stage;
use crate::capture::carried::Part;
use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::git::process::Git;
use crate::host::place::{Host, path_of};
use crate::plan::keep::Why;
use crate::plan::unversioned::{Unversioned, staying};
use crate::restore::check::{Checking, Way};
use crate::restore::plan_of::Plan;
use crate::restore::reach::Moving;
use crate::restore::stand::Stand;
use crate::scan::discover::parents;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::{RestoreRequest, State};
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What is known of a repository that leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving {
    /// Directories that stay although they are empty, by paths in the projects root.
    pub(super) places: BTreeSet<BString>,
    /// A linked worktree whose repository stays: what that one notes about it leaves with it.
    worktree: Option<PathBuf>,
}

impl Checking<'_> {
    /// The plan, when the repository may leave.
    pub(super) fn leave(&mut self, now: &State) -> Outcome<Option<(Plan, Way)>> {
        let Some(since) = self.written_since(now)? else {
            return Ok(None);
        };
        let stand = self.stand;
        let mut plan = Plan::leave(stand)?;
        plan.since = since;
        if !self.is_readable(&plan)? || !self.is_free(&plan)? {
            return Ok(None);
        }
        let leaving = Leaving {
            places: BTreeSet::new(),
            worktree: stand.reading.host.as_ref().and_then(|host| self.worktree(host)),
        };
        Ok(Some((plan, Way::Leaves(leaving))))
    }

    fn worktree(&self, host: &Host) -> Option<PathBuf> {
        let notes = host.git.strip_prefix(&host.common).ok()?;
        let stays = self.request.repositories.iter().any(|one| {
            let git = self
                .moving
                .projects
                .join(path_of(one.path.0.clone()))
                .join(".git");
            one.target.is_some() && fs::canonicalize(git).is_ok_and(|git| git == host.common)
        });
        (notes.starts_with("worktrees") && host.git.is_dir() && stays).then(|| host.git.clone())
    }
}

impl Moving<'_> {
    /// Decides what stays where a repository leaves that none of the target is around. The answer is what a person is told.
    pub(super) fn decide_beside(
        &self,
        request: &RestoreRequest,
        (stand, plan): (&Stand, &mut Plan),
        leaving: &mut Leaving,
    ) -> Option<BString> {
        let noted = self.unversioned(request);
        let files = plan.differences.iter().map(|one| &one.path);
        let stays = staying(
            noted.as_ref(),
            stand.path.as_bstr(),
            files,
            &plan.from.sidecar.empty,
        );
        let files = stays.files.into_iter().map(|path| (path, Why::Before));
        plan.decide_leaving(files.collect(), stays.directories);
        leaving.places = stays.places;
        stays.told.map(BString::from)
    }

    /// What lay in no repository when the target was taken; or, where that was in another sandbox, when the session came here.
    fn unversioned(&self, request: &RestoreRequest) -> Option<Unversioned> {
        let taken = self
            .projects
            .join(".agent-shadow")
            .join(format!("taken-{}", self.session));
        let own = request.target_tag.as_ref().map(|tag| taken.join(tag));
        let file = own
            .filter(|file| file.is_file())
            .unwrap_or_else(|| taken.join(".came"));
        Unversioned::parse(&fs::read(file).ok()?)
    }

    /// Empties the repository and parks it. What was done is in `parking`, also when it fails.
    pub(crate) fn park(
        &self,
        (stand, plan): (&Stand, &Plan),
        leaving: &Leaving,
        (stage, aside): (Option<Stage>, Option<&Aside>),
        parking: &mut Parking,
    ) -> Outcome<()> {
        self.empty_out(stand, plan, (stage, aside))?;
        if self.files_only {
            return Ok(());
        }
        let top = &stand.shadow.top;
        let place = make_place(self.projects, self.session, stand.path.as_bstr(), &metas(stand)?)?;
        let git = top.join(".git");
        if let Some(worktree) = &leaving.worktree {
            let of = place.join("worktree-of");
            fs::write(&of, worktree.as_os_str().as_bytes()).context("it cannot be written", of)?;
        }
        if kind(&git).is_some() {
            self.note_leaving(stand, leaving, (&place, parking))?;
            parking.park(Part::Git, &git, &place)?;
        }
        if let Some(worktree) = &leaving.worktree {
            parking.park(Part::Worktree, worktree, &place)?;
            if let Some(all) = worktree.parent() {
                parking.remove_empty(all)?;
            }
        }
        if stand.path == "." {
            // The files of ours that are beside the shadow are those of the whole projects root.
            return Ok(());
        }
        parking.park(Part::Shadow, &stand.shadow.git, &place)?;
        let ours = top.join(".agent-shadow");
        let rules = ours.join(".gitignore");
        remove::file(&rules).context("it cannot be removed", &rules)?;
        if !parking.remove_empty(&ours)? {
            // Other sessions have theirs there.
            fs::write(&rules, "*\n").context("it cannot be written", &rules)?;
        }
        let mut path = stand.path.clone();
        while !leaving.places.contains(&path)
            && parking.remove_empty(&self.projects.join(path_of(path.clone())))?
        {
            let Some(at) = path.rfind_byte(b'/') else { break };
            path.truncate(at);
        }
        Ok(())
    }
}

impl Moving<'_> {
    /// When its `.git` has left, the rest of it follows, also by the next call.
    fn note_leaving(
        &self,
        stand: &Stand,
        leaving: &Leaving,
        (place, parking): (&Path, &Parking),
    ) -> Outcome<()> {
        if stand.path == "." {
            return Ok(());
        }
        let above = std::iter::once(stand.path.as_bstr()).chain(parents(stand.path.as_bstr()));
        let goes = above.filter(|path| !leaving.places.iter().any(|one| one == path));
        let mut goes: Vec<PathBuf> = goes
            .map(|path| self.projects.join(path_of(path.to_owned())))
            .collect();
        goes.reverse();
        goes.push(stand.shadow.top.join(".agent-shadow"));
        let worktree = leaving.worktree.as_deref();
        goes.extend(worktree.and_then(Path::parent).map(Path::to_owned));
        parking.expect_gone(&goes, (&stand.shadow.git, worktree), place)
    }
}

/// The host states in which it was captured, the latest first. A shadow that was made anew lacks earlier captures that still
/// have tags.
pub(super) fn metas(stand: &Stand) -> Outcome<Vec<String>> {
    let shadow = &stand.shadow;
    let git = || Git::on_shadow(&shadow.top, &shadow.git);
    let asked = |git: Git| {
        let answer = git.run_to_its_end()?;
        let list = answer.ok().map(<[u8]>::to_vec);
        list.ok_or_else(|| Failure::Fault(format!("the captures cannot be listed: {}", answer.why())))
    };
    let tags = asked(git().args(["for-each-ref", "--format=%(objectname)", "refs/tags/chkpt"]))?;
    let list = asked(
        git()
            .args([
                "rev-list",
                "--no-walk",
                "--parents",
                "--ignore-missing",
                "--stdin",
            ])
            .input(tags),
    )?;
    let ids = list.split(u8::is_ascii_whitespace).filter(|id| !id.is_empty());
    let parents = ids.filter_map(|id| id.to_str().ok());
    Ok(std::iter::once(stand.meta.to_string())
        .chain(parents.map(str::to_owned))
        .collect())
}

/// Whether nothing but what a repository begins with is in a directory.
pub(super) fn is_vacant(top: &Path) -> bool {
    kind(top) == Some(Kind::Directory)
        && fs::read_dir(top).is_ok_and(|mut entries| {
            entries.all(|entry| {
                entry.is_ok_and(|entry| matches!(entry.file_name().as_bytes(), b".git" | b".agent-shadow"))
            })
        })
}

//! Branches, the marks of a bisect, and HEAD.

use crate::apply::host::{HostMove, Moved, locks, outside};
use crate::git::process::Git;
use crate::host;
use crate::host::branches::read_branches;
use crate::host::head::{Branches, Target, named_ref, read_head};
use crate::host::place::path_of;
use crate::host::settings;
use crate::plan::refs::{Head, RefChanges, Refs, changes, head};
use crate::read::captured::CapturedRef;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What the logs of refs say.
const WHY: &str = "walkback: roll back";
/// Linked worktrees share their branches. The second one finds them in place.
static MOVING: Mutex<()> = Mutex::new(());

/// What is to become of refs.
pub(crate) struct Expected {
    /// Nothing when its file cannot be read.
    now: Option<Head>,
    pub(crate) have: Refs,
    pub(crate) want: Refs,
    /// The ref that is no branch and that moves with HEAD.
    pub(crate) other: Option<BString>,
    /// What stays, and what is told of it.
    pub(crate) moved: Moved,
}

impl HostMove<'_> {
    /// Git fails where a lock is left over from a crash. Then the lock is removed, and what is left is moved.
    pub(super) fn move_refs(&self) -> Outcome<Moved> {
        let _alone = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
        match self.try_refs() {
            Err(failure) => {
                let top = &self.shadow.top;
                if !locks::free_refs(self.host, top).context("a lock cannot be removed", top)? {
                    return Err(failure);
                }
                self.try_refs()
            }
            done => done,
        }
    }

    /// What is to become of them, by what is there now.
    pub(crate) fn expected(&self) -> Outcome<Expected> {
        let unreadable = || Failure::Fault("HEAD or the branches cannot be read".into());
        let read = read_branches(self.host, &settings::read(self.host))?;
        let (have, now) = match read {
            Ok(branches) => {
                let now = self.head_of(&branches)?;
                (branches.refs.into_iter().collect(), now)
            }
            // They are those that were captured when HEAD is replaced.
            Err(_) if self.is_head_broken() => (captured(&self.from.1.refs), None),
            Err(_) => return Err(unreadable()),
        };
        if now.is_none() && !self.is_head_broken() {
            return Err(unreadable());
        }
        let mut expected = Expected {
            now,
            have,
            want: captured(&self.to.1.refs),
            other: None,
            moved: Moved::default(),
        };
        for name in outside::branches(self.host, self.projects)? {
            let stays = expected.have.get(&name).cloned();
            if expected.want.get(&name) != stays.as_ref() {
                let branch = name.strip_prefix(b"refs/heads/").unwrap_or(&name).as_bstr();
                expected.moved.warnings.push(BString::from(format!(
                    "branch {branch} stays, because a worktree outside of the projects root stands on it"
                )));
            }
            match stays {
                Some(target) => drop(expected.want.insert(name.clone(), target)),
                None => drop(expected.want.remove(&name)),
            }
            expected.moved.left.insert(name);
        }
        for name in self.left {
            match expected.have.get(name).cloned() {
                Some(target) => drop(expected.want.insert(name.clone(), target)),
                None => drop(expected.want.remove(name)),
            }
            expected.moved.left.insert(name.clone());
        }
        self.other_ref(&mut expected)?;
        Ok(expected)
    }

    /// Where HEAD stands; also on a branch whose file cannot be read, or whose commit is gone.
    fn head_of(&self, branches: &Branches) -> Outcome<Option<Head>> {
        use host::head::Head::{Branch, Detached, Unborn};
        Ok(match read_head(self.host, branches)? {
            Ok(Branch { name, .. } | Unborn { name }) => Some(Head::On(name)),
            Ok(Detached { commit }) => Some(Head::At(commit)),
            Err(_) if self.is_head_broken() => None,
            Err(_) => named_ref(self.host)?.map(Head::On),
        })
    }

    /// Their present values are compared while they are moved, so a later move by another process is an error.
    fn try_refs(&self) -> Outcome<Moved> {
        let mut expected = self.expected()?;
        let told = self.mend_branches(&self.broken_refs(&expected))?;
        if !told.is_empty() {
            // A packed branch of that name shows now.
            expected = self.expected()?;
            expected.moved.warnings.extend(told);
        }
        self.run(&changes(&expected.have, &expected.want))?;
        let then = &self.to.1.head;
        let to = if then.kind == "detached" {
            Head::At(then.commit.clone())
        } else {
            Head::On(then.name.clone())
        };
        match head(expected.now.as_ref(), &to) {
            Some(Head::On(name)) => self.git_must(
                self.on_host()
                    .args(["symbolic-ref", "-m", WHY, "HEAD"])
                    .arg(path_of(name)),
            )?,
            Some(Head::At(commit)) => {
                self.git_must(
                    self.on_host()
                        .args(["update-ref", "-m", WHY, "--no-deref", "HEAD", &commit]),
                )?;
            }
            None => {}
        }
        Ok(expected.moved)
    }

    fn run(&self, all: &RefChanges) -> Outcome<()> {
        for name in &all.unlink {
            self.git_must(
                self.on_host()
                    .args(["symbolic-ref", "-d"])
                    .arg(path_of(name.clone())),
            )?;
        }
        let mut lines = Vec::new();
        for (name, commit) in &all.delete {
            lines.extend(
                [
                    b"option no-deref\ndelete ",
                    &name[..],
                    b" ",
                    commit.as_bytes(),
                    b"\n",
                ]
                .concat(),
            );
        }
        self.update(lines)?;
        let mut lines = Vec::new();
        let zero = "0".repeat(2 * self.shadow.format.width());
        for (name, commit, from) in &all.update {
            let from = from.as_deref().unwrap_or(&zero);
            let words = [
                b"option no-deref\nupdate ",
                &name[..],
                b" ",
                commit.as_bytes(),
                b" ",
                from.as_bytes(),
                b"\n",
            ];
            lines.extend(words.concat());
        }
        self.update(lines)?;
        for (name, target) in &all.link {
            self.git_must(
                self.on_host()
                    .args(["symbolic-ref", "-m", WHY])
                    .arg(path_of(name.clone()))
                    .arg(path_of(target.clone())),
            )?;
        }
        Ok(())
    }

    pub(super) fn update(&self, lines: Vec<u8>) -> Outcome<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let git = self.on_host().args(["update-ref", "-m", WHY, "--stdin"]);
        self.git_must(git.input(lines))
    }

    pub(super) fn git_must(&self, git: Git) -> Outcome<()> {
        let answer = git.run_to_its_end()?;
        if answer.status.success() {
            return Ok(());
        }
        Err(Failure::Fault(answer.why()))
    }

    /// HEAD may have stood on a ref that is no branch, such as `refs/remotes/origin/main`. It moves together with HEAD. It
    /// is never removed unless HEAD stands on it, because no other capture has it.
    fn other_ref(&self, expected: &mut Expected) -> Outcome<()> {
        let then = &self.to.1.head;
        let name = &then.name;
        let is_other = name.starts_with(b"refs/")
            && !name.starts_with(b"refs/heads/")
            && !name.starts_with(b"refs/bisect/");
        if !is_other {
            return Ok(());
        }
        let asked = self
            .on_host()
            .args(["rev-parse", "-q", "--verify"])
            .arg(path_of(name.clone()))
            .run_to_its_end()?;
        let id = asked
            .ok()
            .map(|line| line.trim_ascii().to_str_lossy().into_owned());
        if let Some(id) = &id
            && expected.now.as_ref() != Some(&Head::On(name.clone()))
            && *id != then.commit
        {
            if then.kind != "branch" {
                return Ok(());
            }
            expected.moved.warnings.push(BString::from(format!(
                "{name} goes from {id} to {}, because HEAD stood on it; no checkpoint holds where it is now",
                then.commit
            )));
        }
        match id {
            Some(id) => drop(expected.have.insert(name.clone(), Target::Commit(id))),
            None => drop(expected.have.remove(name)),
        }
        if then.commit.is_empty() {
            expected.want.remove(name);
        } else {
            expected
                .want
                .insert(name.clone(), Target::Commit(then.commit.clone()));
        }
        expected.other = Some(name.clone());
        Ok(())
    }
}

/// The refs of a captured state.
pub(crate) fn captured(refs: &BTreeMap<BString, CapturedRef>) -> Refs {
    refs.iter()
        .map(|(name, target)| (name.clone(), target_of(target)))
        .collect()
}

fn target_of(captured: &CapturedRef) -> Target {
    match captured {
        CapturedRef::Commit(commit) => Target::Commit(commit.clone()),
        CapturedRef::Symbolic(name) => Target::Symbolic(name.clone()),
    }
}

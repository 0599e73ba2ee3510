//! The proof that a repository is in the state of its plan (C4): it is looked at again, which reads every file that was
//! written, and everything else whose times or place changed.

use crate::apply::host::Moved;
use crate::plan::above;
use crate::plan::files::Difference;
use crate::plan::sidecar::{Listed, Sidecar};
use crate::read::captured::HostState;
use crate::restore::captured::{Captured, differences};
use crate::restore::plan_of::Plan;
use crate::restore::reach::is_of_others;
use crate::restore::stand::Stand;
use crate::scan::names::Names;
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::Verified;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const NAMED_MOST: usize = 5;
/// Files written since, of which each has a warning.
const TOLD_MOST: usize = 20;
const COMPARED: [&str; 8] = [
    "host",
    "index",
    "stage1",
    "stage2",
    "stage3",
    "index-flags",
    "sparse",
    "state",
];
const PARTS: [&str; 15] = [
    "host",
    "index",
    "stage1",
    "stage2",
    "stage3",
    "index-flags",
    "sparse",
    "state",
    "modes",
    "empty",
    "left-out",
    "shallow",
    "remotes",
    "settings",
    "attributes",
];

/// What may differ from the target, and does no harm.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// On the way back: files that appeared meanwhile.
    pub(crate) late: BTreeSet<BString>,
    /// On the way back: files that only the target has. Anything else may have appeared since.
    pub(crate) back_from: Option<BTreeSet<BString>>,
    pub(crate) files_only: bool,
    /// A directory may be empty that is empty at neither end.
    pub(crate) is_settling: bool,
    /// Other processes go on writing into files.
    pub(crate) allow_concurrent_writers: bool,
}

impl Allowed {
    /// Whether another process may have written this since it was restored.
    fn is_written_since(&self, one: &Difference, plan: &Plan) -> bool {
        let has_gone = || {
            plan.differences
                .iter()
                .any(|put| put.path == one.path && put.from.is_some())
        };
        self.allow_concurrent_writers && (one.is_content() || (one.from.is_none() && has_gone()))
    }

    fn appeared(&self, path: &BString) -> bool {
        self.back_from
            .as_ref()
            .is_some_and(|written| !written.contains(path))
    }
}

/// Whether a path, or a directory above it, is known to have been there unseen.
pub(super) fn is_unseen(unseen: &Names, path: &BStr) -> bool {
    let is_listed = |directory: &BStr| {
        let name = BString::from([directory.as_bytes(), b"/"].concat());
        unseen.contains(name.as_bstr())
    };
    unseen.contains(path) || is_listed(path) || above(path).any(is_listed)
}

fn unproved(what: impl std::fmt::Display) -> String {
    format!(
        "verification failed: {what}. Another process may be at work here: stop what writes into this repository"
    )
}

fn first(paths: &[BString]) -> BString {
    BString::from(bstr::join(" ", paths.iter().take(NAMED_MOST)))
}

/// Compares how a repository stands with its plan. The inner error says in what it differs.
pub(crate) fn prove(
    stand: &Stand,
    plan: &Plan,
    allowed: &Allowed,
    moved: &mut Moved,
) -> Outcome<Result<Verified, String>> {
    let (tree, meta) = (stand.tree.to_string(), stand.meta.to_string());
    let mut apart = Vec::new();
    match differences(&stand.shadow, &plan.goal.tree, &tree)? {
        Err(said) => return Err(Failure::Fault(said)),
        Ok(all) => {
            let (others, own): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|one| is_of_others(plan, &one.path));
            let (since, rest): (Vec<&Difference>, Vec<&Difference>) =
                own.iter().partition(|one| allowed.is_written_since(one, plan));
            moved.warnings.extend(since.iter().take(TOLD_MOST).map(|one| {
                let said = b"written by another process since it was restored: ";
                BString::from([said, one.path.as_slice()].concat())
            }));
            let odd: Vec<BString> = rest
                .iter()
                .filter(|one| {
                    let is_new = one.from.is_none();
                    let is_known = allowed.appeared(&one.path)
                        || plan.stays.contains_key(&one.path)
                        || is_unseen(&plan.unseen, one.path.as_bstr());
                    !(is_new && is_known || allowed.late.contains(&one.path))
                })
                .map(|one| one.path.clone())
                .collect();
            if !odd.is_empty() {
                return Ok(Err(unproved(format!("not what was captured: {}", first(&odd)))));
            }
            if !own.is_empty() {
                apart.push("files");
            }
            if !others.is_empty() {
                apart.push("inner");
            }
        }
    }
    if meta != plan.goal.meta {
        let mut objects = stand.shadow.batch();
        let now = Captured::just_made(&mut objects, &meta)?;
        let proof = Proof {
            stand,
            plan,
            allowed,
            sidecar: now.sidecar.clone().outside(&plan.others),
        };
        if let Err(said) = proof.sidecar()? {
            return Ok(Err(said));
        }
        if let Err(said) = host(plan, &now, allowed, moved) {
            return Ok(Err(said));
        }
        let parts = PARTS.iter().filter(|name| now.part(name) != plan.to.part(name));
        let before = apart.len();
        apart.extend(parts);
        if apart.len() == before {
            apart.push("parents");
        }
    }
    Ok(Ok(Verified { tree, meta, apart }))
}

fn host(plan: &Plan, now: &Captured, allowed: &Allowed, moved: &Moved) -> Result<(), String> {
    if allowed.files_only || !plan.to.host.head.is_known() {
        return Ok(());
    }
    // Also of one that does not move, another worktree may have moved a branch.
    let left = &plan.left | &moved.left;
    for name in COMPARED {
        let is_same = now.part(name) == plan.to.part(name)
            || (name == "sparse" && moved.keeps_rules)
            || (name == "host" && is_same_but(&now.host, &plan.to.host, &left));
        if !is_same {
            return Err(unproved(format!("the host state ({name}) differs")));
        }
    }
    Ok(())
}

/// Whether two host states are the same except for these branches.
fn is_same_but(one: &HostState, other: &HostState, left: &BTreeSet<BString>) -> bool {
    let refs = |state: &HostState| -> Vec<_> {
        let all = state.refs.iter().filter(|(name, _)| !left.contains(*name));
        all.map(|(name, target)| (name.clone(), target.clone())).collect()
    };
    !left.is_empty() && one.head == other.head && refs(one) == refs(other)
}

struct Proof<'proof> {
    stand: &'proof Stand,
    plan: &'proof Plan,
    allowed: &'proof Allowed,
    sidecar: Sidecar,
}

impl Proof<'_> {
    fn sidecar(&self) -> Outcome<Result<(), String>> {
        if self.allowed.is_settling {
            return Ok(Ok(()));
        }
        let (now, then) = (&self.sidecar, &self.plan.to.sidecar);
        let gone: Vec<&BString> = then.empty.difference(&now.empty).collect();
        let new: Vec<&BString> = now.empty.difference(&then.empty).collect();
        let mut odd: Vec<BString> = Vec::new();
        // It may hold by now what no capture sees. The proof of the files shows whether anything else is in it.
        odd.extend(gone.into_iter().filter(|path| !self.is_directory(path)).cloned());
        odd.extend(new.into_iter().filter(|path| !self.may_be_new(path)).cloned());
        if !odd.is_empty() {
            return Ok(Err(unproved(format!(
                "empty directories differ: {}",
                first(&odd)
            ))));
        }
        odd.extend(
            now.modes
                .iter()
                .filter(|(path, mode)| then.modes.get(*path) != Some(mode) && !self.may_be_new(path))
                .map(|(path, _)| path.clone()),
        );
        odd.extend(
            then.modes
                .iter()
                .filter(|(path, mode)| now.modes.get(*path) != Some(mode) && !self.has(path, **mode))
                .map(|(path, _)| path.clone()),
        );
        Ok(if odd.is_empty() {
            Ok(())
        } else {
            Err(unproved(format!("modes differ: {}", first(&odd))))
        })
    }

    fn is_directory(&self, path: &BString) -> bool {
        let file = self
            .stand
            .shadow
            .top
            .join(crate::host::place::path_of(path.clone()));
        fs::symlink_metadata(file).is_ok_and(|found| found.is_dir())
    }

    /// Nobody looked there before, or it lies above a file that stays, or it appeared while everything was put back.
    fn may_be_new(&self, path: &BString) -> bool {
        let is_above = |one: &BString| above(one.as_bstr()).any(|up| up == path);
        self.allowed.back_from.is_some()
            || is_unseen(&self.plan.unseen, path.as_bstr())
            || self.plan.stays.contains_key(path)
            || self.plan.stays.keys().any(is_above)
    }

    /// Whether a mode that the look does not list is there all the same: the rules of now may hide it. A directory that is
    /// not there held only what no capture has, and does not come back.
    fn has(&self, path: &BString, listed: Listed) -> bool {
        let file = self
            .stand
            .shadow
            .top
            .join(crate::host::place::path_of(path.clone()));
        match (fs::symlink_metadata(file), listed) {
            (Ok(found), Listed::File(mode)) => found.is_file() && found.permissions().mode() & 0o7777 == mode,
            (Ok(found), Listed::Directory(mode)) => {
                found.is_dir() && found.permissions().mode() & 0o7777 == mode
            }
            (Err(_), Listed::Directory(_)) => true,
            (Err(_), Listed::File(_)) => false,
        }
    }
}

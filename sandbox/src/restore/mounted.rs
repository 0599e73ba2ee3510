//! Places where something is mounted. They can neither be moved nor removed, so a restore that would have to do so is refused
//! before anything is written.

use crate::apply::beneath::Beneath;
use crate::apply::place::files_in;
use crate::capture::held::relative;
use crate::fs::mounts;
use crate::host::place::path_of;
use crate::plan::files::Change;
use crate::restore::check::{Checked, Way};
use crate::restore::command::Restore;
use crate::restore::leaving::Leaving;
use crate::restore::plan_of::Plan;
use crate::restore::problem::problem;
use crate::restore::stand::Stand;
use crate::scan::discover::parents;
use crate::wire::restore::ProblemKind;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Restore<'_> {
    pub(super) fn refuse_mounted(&self, checked: &mut BTreeMap<usize, Checked>) {
        let all: BTreeSet<BString> = mounts::below(self.projects).into_iter().collect();
        if all.is_empty() {
            return;
        }
        for one in checked.values_mut() {
            let (Some(stand), Some(plan)) = (&one.stand, &one.plan) else {
                continue;
            };
            let below = all
                .iter()
                .filter_map(|place| Some(relative(place.as_bstr(), stand.path.as_bstr())?.to_owned()));
            let mounted = Mounted {
                all: &all,
                inside: below.collect(),
                stand,
                plan,
            };
            let found = mounted.files().or_else(|| match &one.way {
                Way::Leaves(leaving) if !self.request.files_only => mounted.leaving(self, leaving),
                Way::Stays if !self.request.files_only => mounted.git_alone(),
                Way::Leaves(_) | Way::Stays | Way::Comes(_) | Way::Absent => None,
            });
            if let Some(path) = found {
                let why = b" is a mount point, which a restore can neither move nor remove: unmount it, then call again";
                let said = [&path[..], why].concat();
                one.problems.push(problem(ProblemKind::Failed, said));
            }
        }
    }
}

struct Mounted<'look> {
    /// By their paths in the projects root.
    all: &'look BTreeSet<BString>,
    /// Those in the repository, by their paths in it.
    inside: BTreeSet<BString>,
    stand: &'look Stand,
    plan: &'look Plan,
}

impl Mounted<'_> {
    fn goes(&self) -> BTreeSet<&BString> {
        let changes = self.plan.changes.iter();
        changes
            .filter_map(|change| match change {
                Change::PutAside(path) => Some(path),
                Change::Replace(..) | Change::Write(..) | Change::RemoveDirectory(_) => None,
            })
            .collect()
    }

    /// Of the working files, one that would have to make room.
    fn files(&self) -> Option<BString> {
        let (from, to) = (&self.plan.from.sidecar.empty, &self.plan.to.sidecar.empty);
        let mut empty = from.difference(to).filter(|path| self.inside.contains(*path));
        if let Some(path) = empty.next() {
            return Some(path.clone());
        }
        let found = self.plan.changes.iter().find_map(|change| match change {
            Change::PutAside(path) | Change::Replace(path, _) | Change::Write(path, _) => {
                self.inside.contains(path).then_some(path)
            }
            Change::RemoveDirectory(path) => {
                (self.inside.contains(path) && self.becomes_empty(path)).then_some(path)
            }
        });
        found.cloned()
    }

    fn becomes_empty(&self, directory: &BString) -> bool {
        let goes = self.goes();
        let files =
            Beneath::new(&self.stand.shadow.top).and_then(|tree| files_in(&tree, directory.as_bstr()));
        files.is_ok_and(|files| files.iter().all(|file| goes.contains(file)))
    }

    /// A `.git` that is parked while its repository stays.
    fn git_alone(&self) -> Option<BString> {
        let goes = self.plan.drops_git(self.stand) || self.plan.makes_git(self.stand);
        (goes && self.inside.contains(BStr::new(".git"))).then(|| BString::from(".git"))
    }

    /// Of a repository that leaves, what is parked, and the directories that go with it.
    fn leaving(&self, restore: &Restore<'_>, leaving: &Leaving) -> Option<BString> {
        let path = self.stand.path.as_bstr();
        let mut parts = vec![BString::from(".git")];
        if path != "." {
            parts.push(".agent-shadow".into());
            parts.push(format!(".agent-shadow/session-{}", restore.moving.session).into());
        }
        if let Some(part) = parts.into_iter().find(|part| self.inside.contains(part)) {
            return Some(part);
        }
        if path == "." || leaving.places.contains(path) || !self.is_vacated() {
            return None;
        }
        for directory in std::iter::once(path).chain(parents(path)) {
            if leaving.places.contains(directory) {
                break;
            }
            if self.all.contains(directory) {
                return Some(directory.to_owned());
            }
            let around = restore.projects.join(path_of(directory.to_owned()));
            if around.parent().is_none_or(holds_more) {
                break;
            }
        }
        None
    }

    /// Whether nothing stays in the repository.
    fn is_vacated(&self) -> bool {
        let first = |path: &BString| path.split_str("/").next().map(BString::from);
        let mut goes: BTreeSet<BString> = self.goes().into_iter().filter_map(first).collect();
        goes.extend(self.plan.from.sidecar.empty.iter().filter_map(first));
        goes.extend([".git".into(), ".agent-shadow".into()]);
        let mut entries = fs::read_dir(&self.stand.shadow.top)
            .into_iter()
            .flatten()
            .flatten();
        entries.all(|entry| goes.contains(BStr::new(entry.file_name().as_bytes())))
    }
}

/// Whether a directory has more than one entry.
fn holds_more(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|entries| entries.count() > 1)
}

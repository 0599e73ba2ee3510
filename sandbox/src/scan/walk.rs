//! One walk over the working tree of a repository.
//!
//! 1. It follows no link, and opens nothing but directories.
//! 2. It enters no `.git`, no `.agent-shadow` at the top, and none of the directories that belong to another repository.
//! 3. In a directory that is known to be ignored it only looks for repositories.

use crate::fs::directory;
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::stat::{Stat, stat_in};
use crate::parallel;
use crate::scan::discover::is_dependency_folder;
use crate::scan::table::Entry;
use crate::scan::walk_items::{git_among, join, look_at};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

/// What the walk needs to know of the look before.
pub(crate) trait Known: Sync {
    /// What it found in this directory, sorted by name.
    fn entries(&self, directory: &BStr) -> &[Entry<'_>];
    /// Whether rules in this directory may be others than in the look before. Files of rules are among its items.
    fn has_new_rules(&self, directory: &BStr, items: &[Item]) -> bool;
    /// Whether this directory was ignored, and is looked into for repositories alone. Asked only while no rules are new.
    fn is_passed_over(&self, directory: &BStr) -> bool;
}

/// What is walked.
pub(crate) struct Plan<'plan, K: Known> {
    pub(crate) top: &'plan Path,
    /// Directories that belong to another repository: they are no part of this one.
    pub(crate) others: &'plan HashSet<BString>,
    /// How many levels below the top a repository may lie.
    pub(crate) depth_of_roots: usize,
    pub(crate) known: &'plan K,
    /// All rules may be new.
    pub(crate) rules_are_new: bool,
}

/// A name in a directory.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) name: BString,
    pub(crate) stat: Stat,
    /// Its place among the entries of the look before.
    pub(crate) then: Option<usize>,
}

/// Why nothing is known of what a directory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// It cannot be listed.
    Unread(Errno),
    /// It can be listed, but not entered.
    NotEntered,
}

/// A directory that was looked into. The path is relative to the top, which has an empty one.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: BString,
    /// Sorted by bytes. Directories of others are not among them.
    pub(crate) items: Vec<Item>,
    /// Nothing at all is in it.
    pub(crate) is_empty: bool,
    /// Decisions of the look before do not count here.
    pub(crate) rules_are_new: bool,
    pub(crate) closed: Option<Closed>,
    /// What its `.git` is.
    pub(crate) git: Option<Kind>,
    /// Names that could not be looked at.
    pub(crate) unseen: Vec<(BString, Errno)>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Sorted by path, so a directory comes before what is in it.
    pub(crate) directories: Vec<Directory>,
    /// Directories with a `.git`, not counting the top.
    pub(crate) with_git: Vec<(BString, Kind)>,
}

/// A directory that waits to be looked into.
struct Task {
    above: Option<Arc<Handle>>,
    name: BString,
    path: BString,
    depth: usize,
    rules_are_new: bool,
    /// Only repositories are looked for.
    is_passed_over: bool,
}

/// A path in a directory of the tree. The top has an empty path.
pub(crate) fn below(directory: &BStr, name: &BStr) -> BString {
    let mut path = Vec::with_capacity(directory.len() + 1 + name.len());
    if !directory.is_empty() {
        path.extend_from_slice(directory);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    BString::from(path)
}

pub(crate) fn walk<K: Known>(plan: &Plan<'_, K>) -> Outcome<Walked> {
    let top = Handle::top(plan.top).context("it cannot be looked into", plan.top)?;
    let first = Task {
        above: None,
        name: BString::default(),
        path: BString::default(),
        depth: 0,
        rules_are_new: plan.rules_are_new,
        is_passed_over: false,
    };
    let found = parallel::share(vec![first], |task: Task, found| {
        look_into(plan, &top, task, found)
    });
    let mut all = Walked::default();
    for part in found {
        all.directories.extend(part.directories);
        all.with_git.extend(part.with_git);
    }
    all.directories
        .sort_unstable_by(|one, other| one.path.cmp(&other.path));
    all.with_git.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(all)
}

fn look_into<K: Known>(plan: &Plan<'_, K>, top: &Arc<Handle>, task: Task, found: &mut Walked) -> Vec<Task> {
    let handle = match &task.above {
        Some(above) => above.enter(task.name.as_bstr()),
        None => Ok(Arc::clone(top)),
    };
    let listed = handle.and_then(|handle| {
        let entries = directory::entries(handle.open()?.as_fd())?;
        Ok((handle, entries))
    });
    let (handle, entries) = match listed {
        Ok(listed) => listed,
        // It has gone, or something else has taken its place.
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => return Vec::new(),
        Err(why) => {
            if !task.is_passed_over {
                found.directories.push(Directory {
                    path: task.path,
                    items: Vec::new(),
                    is_empty: false,
                    rules_are_new: task.rules_are_new,
                    closed: Some(Closed::Unread(why)),
                    git: None,
                    unseen: Vec::new(),
                });
            }
            return Vec::new();
        }
    };
    let git = git_among(&handle, &entries);
    if let Some(kind) = git.filter(|_| task.depth > 0) {
        found.with_git.push((task.path.clone(), kind));
    }
    if task.is_passed_over {
        return deeper(plan, &task, &handle, entries);
    }
    let is_empty = entries.is_empty();
    let mut seen = Directory {
        path: task.path.clone(),
        items: Vec::with_capacity(entries.len()),
        is_empty,
        rules_are_new: task.rules_are_new,
        closed: None,
        git,
        unseen: Vec::new(),
    };
    look_at(plan, &handle, entries, &mut seen);
    seen.items
        .sort_unstable_by(|one, other| one.name.cmp(&other.name));
    join(&mut seen.items, plan.known.entries(seen.path.as_bstr()));
    seen.rules_are_new = task.rules_are_new || plan.known.has_new_rules(seen.path.as_bstr(), &seen.items);
    let more = inner(plan, &task, &handle, &seen);
    found.directories.push(seen);
    more
}

/// The directories in this one that are looked into next.
fn inner<K: Known>(plan: &Plan<'_, K>, task: &Task, handle: &Arc<Handle>, seen: &Directory) -> Vec<Task> {
    let directories = seen
        .items
        .iter()
        .filter(|item| item.stat.kind() == Kind::Directory);
    directories
        .filter_map(|item| {
            let path = below(seen.path.as_bstr(), item.name.as_bstr());
            let is_passed_over = !seen.rules_are_new && plan.known.is_passed_over(path.as_bstr());
            let depth = task.depth + 1;
            (!is_passed_over || may_hold_roots(plan, item.name.as_bstr(), depth)).then(|| Task {
                above: Some(Arc::clone(handle)),
                name: item.name.clone(),
                path,
                depth,
                rules_are_new: seen.rules_are_new,
                is_passed_over,
            })
        })
        .collect()
}

/// Whether a directory that is ignored may be or hold a repository.
fn may_hold_roots<K: Known>(plan: &Plan<'_, K>, name: &BStr, depth: usize) -> bool {
    depth <= plan.depth_of_roots && !is_dependency_folder(name)
}

/// The directories in one that is passed over.
fn deeper<K: Known>(
    plan: &Plan<'_, K>,
    task: &Task,
    handle: &Arc<Handle>,
    entries: Vec<directory::Entry>,
) -> Vec<Task> {
    let depth = task.depth + 1;
    let is_directory = |entry: &directory::Entry| match entry.kind {
        Some(kind) => kind == Kind::Directory,
        None => handle
            .open()
            .and_then(|open| stat_in(open, entry.name.as_bstr()))
            .is_ok_and(|stat| stat.kind() == Kind::Directory),
    };
    let wanted = entries.into_iter().filter(|entry| {
        entry.name != ".git" && may_hold_roots(plan, entry.name.as_bstr(), depth) && is_directory(entry)
    });
    let tasks = wanted.map(|entry| Task {
        above: Some(Arc::clone(handle)),
        path: below(task.path.as_bstr(), entry.name.as_bstr()),
        name: entry.name,
        depth,
        rules_are_new: false,
        is_passed_over: true,
    });
    tasks.filter(|task| !plan.others.contains(&task.path)).collect()
}

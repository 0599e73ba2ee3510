//! Finds the repositories below the projects root.
//!
//! 1. A repository root is a directory with a `.git` that is a directory or a file. A `.git` that is a link may lead
//!    anywhere, so it makes no root and is reported.
//! 2. Nothing is looked for in folders that hold other people's checkouts.
//! 3. A directory that is too deep to be looked at and lies in no repository is reported, once.

use crate::fs::directory::{self, Entry};
use crate::fs::kind::Kind;
use crate::fs::words::words;
use crate::parallel;
use crate::wire::error::{Context, Outcome};
use crate::wire::name::Name;
use crate::wire::read::Skipped;
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// Folders that hold other people's checkouts by the thousand. Roots inside them are not the agent's work.
pub(crate) const DEPENDENCY_FOLDERS: [&str; 11] = [
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    ".tox",
    "site-packages",
    "Pods",
    ".terraform",
    ".direnv",
    "__pycache__",
    ".agent-shadow",
];

pub(crate) const LINKED_GIT: &str = "a git repository whose .git is a symlink";

/// What was found. Paths are relative to the projects root; `.` is the root itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Discovered {
    /// In the order of their bytes.
    pub(crate) roots: Vec<BString>,
    /// What looks like a repository or may hold one, and is not examined.
    pub(crate) passed_over: Vec<Skipped>,
}

/// Where to look.
pub(crate) struct Search<'search> {
    /// How deep below the projects root a repository may lie.
    pub(crate) max_depth: usize,
    /// How deep the walk goes. Less than `max_depth + 1` where there is too much to look at.
    pub(crate) walk_depth: usize,
    /// Directories below the root in which the walk begins; `.` is the root.
    pub(crate) starts: Vec<BString>,
    /// Directories that are known and not looked into.
    pub(crate) known: &'search HashSet<BString>,
}

impl Search<'_> {
    /// Whether a directory at this depth is looked into. At the last level it is only asked whether something is in it.
    fn reaches(&self, depth: usize) -> bool {
        depth < self.walk_depth || (depth == self.walk_depth && depth == self.max_depth + 1)
    }
}

pub(crate) fn is_dependency_folder(name: &BStr) -> bool {
    DEPENDENCY_FOLDERS.iter().any(|folder| name == folder)
}

/// Whether a part of the path is a folder for other people's checkouts.
pub(crate) fn in_dependency_folder(path: &BStr) -> bool {
    path.split_str("/")
        .any(|part| is_dependency_folder(part.as_bstr()))
}

/// Every repository below the projects root, to `max_depth` levels.
pub(crate) fn everywhere(root: &Path, max_depth: usize) -> Outcome<Discovered> {
    let known = HashSet::new();
    find(
        root,
        &Search {
            max_depth,
            walk_depth: max_depth + 1,
            starts: vec![BString::from(".")],
            known: &known,
        },
    )
}

/// Every repository in these places.
pub(crate) fn find(root: &Path, search: &Search<'_>) -> Outcome<Discovered> {
    let top = rustix::fs::open(
        root,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )
    .context("it cannot be looked into", root)?;
    let top = Arc::new(top);
    let starts = search.starts.iter();
    let tasks = starts.map(|start| Task::start(&top, start.as_bstr())).collect();
    let mut found = Findings::default();
    for part in parallel::share(tasks, |task: Task, found| look_into(&task, search, found)) {
        found.add(part);
    }
    Ok(found.finish(search.max_depth))
}

/// A directory that waits to be looked into.
struct Task {
    parent: Arc<OwnedFd>,
    name: BString,
    path: BString,
    depth: usize,
}

impl Task {
    fn start(top: &Arc<OwnedFd>, path: &BStr) -> Self {
        Task {
            parent: Arc::clone(top),
            name: path.to_owned(),
            path: path.to_owned(),
            depth: if path == "." {
                0
            } else {
                path.split_str("/").count()
            },
        }
    }
}

/// What one thread found.
#[derive(Default)]
struct Findings {
    roots: Vec<BString>,
    linked: Vec<BString>,
    deep: Vec<BString>,
    unread: Vec<(BString, Errno)>,
}

impl Findings {
    fn add(&mut self, other: Findings) {
        self.roots.extend(other.roots);
        self.linked.extend(other.linked);
        self.deep.extend(other.deep);
        self.unread.extend(other.unread);
    }

    fn unread(&mut self, path: &BStr, why: Errno) {
        // What has gone meanwhile does not count.
        if why != Errno::NOENT {
            self.unread.push((path.to_owned(), why));
        }
    }

    fn finish(mut self, max_depth: usize) -> Discovered {
        self.roots.sort();
        self.linked.sort();
        self.deep.sort();
        self.unread.sort_by(|one, other| one.0.cmp(&other.0));
        let mut passed_over: Vec<Skipped> = self
            .linked
            .iter()
            .map(|path| skipped(path.as_bstr(), LINKED_GIT.to_owned()))
            .collect();
        if let Some(path) = too_deep(&self.roots, &self.deep) {
            passed_over.push(skipped(
                path.as_bstr(),
                format!(
                    "more than {max_depth} levels below the projects root: git repositories in it, and in others as deep, are not looked for"
                ),
            ));
        }
        for (path, why) in &self.unread {
            passed_over.push(skipped(
                path.as_bstr(),
                format!("the directory cannot be read: {}", words(*why)),
            ));
        }
        Discovered {
            roots: self.roots,
            passed_over,
        }
    }
}

pub(crate) fn skipped(path: &BStr, reason: String) -> Skipped {
    Skipped {
        path: Name(path.to_owned()),
        reason,
    }
}

/// The first of these directories that lies in no repository.
fn too_deep<'deep>(roots: &[BString], deep: &'deep [BString]) -> Option<&'deep BString> {
    let roots: HashSet<&BStr> = roots.iter().map(|root| root.as_bstr()).collect();
    if roots.contains(BStr::new(".")) {
        return None;
    }
    deep.iter()
        .find(|path| !parents(path.as_bstr()).any(|above| roots.contains(above)))
}

/// The directories above a path, the nearest first, without the projects root.
pub(crate) fn parents(path: &BStr) -> impl Iterator<Item = &BStr> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let at = rest.rfind_byte(b'/')?;
        rest = rest[..at].as_bstr();
        Some(rest)
    })
}

fn look_into(task: &Task, search: &Search<'_>, found: &mut Findings) -> Vec<Task> {
    let opened = directory::open_in(task.parent.as_fd(), task.name.as_bstr());
    let listed = opened.and_then(|directory| {
        if task.depth > search.max_depth {
            if !directory::is_empty(directory.as_fd())? {
                found.deep.push(task.path.clone());
            }
            return Ok((directory, Vec::new()));
        }
        directory::entries(directory.as_fd()).map(|entries| (directory, entries))
    });
    match listed {
        Ok((directory, entries)) => sort_out(task, search, (Arc::new(directory), entries), found),
        // A link or a file has taken its place meanwhile.
        Err(Errno::LOOP | Errno::NOTDIR) => Vec::new(),
        Err(why) => {
            found.unread(task.path.as_bstr(), why);
            Vec::new()
        }
    }
}

/// Notes what these entries say, and answers which directories are to be looked into.
fn sort_out(
    task: &Task,
    search: &Search<'_>,
    (directory, entries): (Arc<OwnedFd>, Vec<Entry>),
    found: &mut Findings,
) -> Vec<Task> {
    let mut more = Vec::new();
    for entry in entries {
        let name = entry.name.as_bstr();
        let kind = match entry.kind {
            Some(kind) => Some(kind),
            None => directory::kind_in(&directory, name).unwrap_or_default(),
        };
        if name == ".git" {
            match kind {
                Some(Kind::Link) => found.linked.push(task.path.clone()),
                Some(Kind::Directory | Kind::File) => found.roots.push(task.path.clone()),
                Some(Kind::Socket | Kind::Waits) | None => {}
            }
            continue;
        }
        if kind != Some(Kind::Directory) || is_dependency_folder(name) || !search.reaches(task.depth + 1) {
            continue;
        }
        let path = join(task.path.as_bstr(), name);
        if !search.known.contains(&path) {
            more.push(Task {
                parent: Arc::clone(&directory),
                name: entry.name,
                path,
                depth: task.depth + 1,
            });
        }
    }
    more
}

/// A path below a directory, where `.` is the projects root or the root of a repository.
pub(crate) fn join(directory: &BStr, name: &BStr) -> BString {
    if directory == "." {
        return name.to_owned();
    }
    let mut path = directory.to_owned();
    path.push(b'/');
    path.extend_from_slice(name);
    path
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;

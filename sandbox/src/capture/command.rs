//! The command that looks at the working files of every repository.

use crate::capture::held::{HeldDirectory, find_held, relative};
use crate::capture::look::{Looking, look};
use crate::capture::state::WorkingState;
use crate::capture::targets;
use crate::git::id::{Format, ObjectKind, id_of};
use crate::git::loose::LooseStore;
use crate::host::place::{find, path_of};
use crate::host::settings;
use crate::parallel;
use crate::scan::discover::{self, Discovered};
use crate::scan::known_roots::Places;
use crate::scan::mapped::written_through_memory;
use crate::scan::names::Names;
use crate::shadow::open::{self, Shadow};
use crate::shadow::rules::{self, Sources, User};
use crate::wire::capture::{
    FailedName, SkippedName, Target, WorkingTree, WorkingTreeReport, WorkingTreeRequest,
};
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::progress::Reporter;
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// How often an unknown repository may send discovery back. Each time it knows at least one more.
const ROUNDS: usize = 3;
/// How often a look is tried. What changes meanwhile may make one fail.
const TRIES: usize = 3;

struct Call<'call> {
    projects: &'call Path,
    request: &'call WorkingTreeRequest,
    roots: Vec<BString>,
    held: Vec<HeldDirectory>,
    user: User,
    mapped: HashSet<u64>,
    umask: u32,
    include: Vec<BString>,
    exclude: Vec<BString>,
    reporter: Reporter,
}

/// A repository as it was found.
enum Looked {
    Found(WorkingTree),
    HasUnknownRoot,
}

pub(crate) fn working_trees(projects: &Path, request: &WorkingTreeRequest) -> Outcome<WorkingTreeReport> {
    let names = |list: &[Name]| list.iter().map(|name| name.0.clone()).collect();
    let mut call = Call {
        projects,
        request,
        roots: Vec::new(),
        held: Vec::new(),
        user: rules::read_user(),
        mapped: written_through_memory(),
        umask: read_umask(),
        include: names(&request.include),
        exclude: names(&request.exclude),
        reporter: Reporter::new(),
    };
    let places = Places {
        projects,
        session: &request.session_id,
        max_depth: request.max_depth,
    };
    open::make_home(projects)?;
    for round in 1..=ROUNDS {
        let found = if round == 1 {
            places.again()?
        } else {
            places.search()?
        };
        call.roots = call.roots_of(&found);
        call.held = find_held(projects, &call.roots);
        let looked = parallel::map(&call.roots, |root| call.look_at(root.as_bstr(), round == ROUNDS))?;
        let mut repositories = Vec::with_capacity(looked.len());
        let mut is_whole = true;
        for one in looked {
            match one {
                Looked::Found(tree) => repositories.push(tree),
                Looked::HasUnknownRoot => is_whole = false,
            }
        }
        if is_whole {
            return Ok(call.report(repositories, found));
        }
    }
    Err(Failure::unavailable(
        "new repositories keep appearing. Call again.",
    ))
}

/// Permissions that new files do not get here.
fn read_umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask);
    mask.bits()
}

impl Call<'_> {
    /// A repository that the session knows, or that is about to be restored, stays one while its directory is there.
    fn roots_of(&self, found: &Discovered) -> Vec<BString> {
        let mut roots = found.roots.clone();
        let known = self.request.known.iter();
        let targets = self.request.targets.iter().map(|target| &target.path);
        for Name(path) in known.chain(targets) {
            if !roots.contains(path) && self.is_straight_directory(path.as_bstr()) {
                roots.push(path.clone());
            }
        }
        roots
    }

    /// Whether a directory is there, and no part of its path is a link.
    fn is_straight_directory(&self, path: &BStr) -> bool {
        let parts = discover::parents(path).chain([path]);
        let is_directory = |part: &BStr| {
            fs::symlink_metadata(self.projects.join(path_of(part.to_owned())))
                .is_ok_and(|found| found.is_dir())
        };
        parts.collect::<Vec<_>>().into_iter().all(is_directory)
    }

    fn look_at(&self, root: &BStr, is_last: bool) -> Outcome<Looked> {
        let mut last = None;
        for _ in 0..TRIES {
            match self.look_once(root, is_last) {
                Ok(looked) => return Ok(looked),
                Err(refused @ Failure::Refused { .. }) => return Err(refused),
                Err(failure @ (Failure::Fault(_) | Failure::Io { .. })) => last = Some(failure),
            }
        }
        let reason = last.map(|failure| failure.to_string()).unwrap_or_default();
        Ok(Looked::Found(WorkingTree {
            path: Name(root.to_owned()),
            object_format: Format::Sha1.name(),
            tree: None,
            modes: None,
            empty: None,
            left_out: None,
            failures: vec![FailedName {
                path: Name(BString::from(".")),
                reason,
            }],
            skipped: Vec::new(),
        }))
    }

    fn look_once(&self, root: &BStr, is_last: bool) -> Outcome<Looked> {
        let top = self.projects.join(path_of(root.to_owned()));
        let target = self.request.targets.iter().find(|target| target.path.0 == root);
        let host = find(&top).ok();
        let settings = host.as_ref().map(settings::read);
        let format = match (&settings, target) {
            (Some(settings), _) => settings.format,
            // Without a .git, the format is that of the state that comes.
            (None, Some(target)) if target.tree.len() == 2 * Format::Sha256.width() => Format::Sha256,
            (None, _) => self.format_before(&top),
        };
        let shadow = open::open(&top, &self.request.session_id, format, host.as_ref())?;
        let nested = self.below(root, self.roots.iter());
        let held = self.held_below(root, &nested);
        let others: Vec<BString> = nested
            .iter()
            .chain(held.iter().map(|(path, _)| path))
            .cloned()
            .collect();
        let text = settings.map(|settings| settings.text).unwrap_or_default();
        let rules = rules::write(
            &shadow,
            &Sources {
                host: host.as_ref(),
                settings: &text,
                user: &self.user,
                exclude: &self.exclude,
                others: &others,
            },
        )?;
        let looking = Looking {
            shadow: &shadow,
            host: host.as_ref(),
            path: root,
            rules: &rules,
            include: &self.include,
            exclude: &self.exclude,
            nested: &nested,
            held: &held,
            forced: &Names::default(),
            max_bytes: self.request.max_file_bytes,
            max_depth: self.request.max_depth,
            // In the last round a repository that is still unknown is captured as files of this one.
            seeks_roots: !is_last,
            umask: self.umask,
            mapped: &self.mapped,
            reporter: &self.reporter,
        };
        let mut state = look(&looking)?;
        if let Some(target) = target.filter(|_| !state.has_unknown_root) {
            let inner = self.below(root, self.request.targets.iter().map(|target| &target.path.0));
            let forced = in_the_way(&shadow, &state, target, &[&inner[..], &others].concat())?;
            if !forced.is_empty() {
                state = look(&Looking {
                    forced: &forced,
                    ..looking
                })?;
            }
        }
        if state.has_unknown_root {
            return Ok(Looked::HasUnknownRoot);
        }
        store_lists(root, &shadow, state).map(Looked::Found)
    }

    fn format_before(&self, top: &Path) -> Format {
        let name = format!(".agent-shadow/session-{}/format", self.request.session_id);
        let text = crate::fs::text::slurp(&top.join(name));
        if text.trim_ascii() == Format::Sha256.name().as_bytes() {
            Format::Sha256
        } else {
            Format::Sha1
        }
    }

    /// Those of these paths that lie strictly below a repository, relative to it.
    fn below<'paths>(&self, root: &BStr, paths: impl Iterator<Item = &'paths BString>) -> Vec<BString> {
        paths
            .filter_map(|path| relative(path.as_bstr(), root).map(BString::from))
            .collect()
    }

    /// Git directories of others in this repository, but in no repository inside it, relative to it.
    fn held_below(&self, root: &BStr, nested: &[BString]) -> Vec<HeldDirectory> {
        let inside = self
            .held
            .iter()
            .filter_map(|(path, user)| Some((relative(path.as_bstr(), root)?, user)));
        let own = inside.filter(|(path, _)| {
            !nested
                .iter()
                .any(|inner| path == inner || relative(path, inner.as_bstr()).is_some())
        });
        own.map(|(path, user)| (path.to_owned(), user.clone())).collect()
    }

    fn report(&self, repositories: Vec<WorkingTree>, found: Discovered) -> WorkingTreeReport {
        let skipped = found
            .passed_over
            .into_iter()
            .filter(|one| !self.roots.contains(&one.path.0));
        WorkingTreeReport {
            repositories,
            skipped: skipped
                .map(|one| SkippedName {
                    path: one.path,
                    reason: one.reason,
                    size_bytes: None,
                })
                .collect(),
        }
    }
}

/// The uncaptured paths that a restore of the target would overwrite.
fn in_the_way(shadow: &Shadow, state: &WorkingState, target: &Target, others: &[BString]) -> Outcome<Names> {
    targets::collisions(shadow, state.tree, &target.tree, others)
}

/// Stores the lists of the sidecar, and reports the state.
fn store_lists(root: &BStr, shadow: &Shadow, state: WorkingState) -> Outcome<WorkingTree> {
    let store = LooseStore::new(shadow.objects(), shadow.format);
    let keep = |list: &[u8]| -> Outcome<Option<String>> {
        if list.is_empty() {
            return Ok(None);
        }
        let id = id_of(shadow.format, ObjectKind::Blob, list)
            .map_err(|attack| Failure::Fault(attack.to_string()))?;
        store.stage(ObjectKind::Blob, id, list)?;
        Ok(Some(id.to_string()))
    };
    let tree = WorkingTree {
        path: Name(root.to_owned()),
        object_format: shadow.format.name(),
        tree: Some(state.tree.to_string()),
        modes: keep(&state.modes)?,
        empty: keep(&state.empty)?,
        left_out: keep(&state.left_out)?,
        failures: state
            .failures
            .into_iter()
            .map(|one| FailedName {
                path: Name(one.path),
                reason: one.reason,
            })
            .collect(),
        skipped: state
            .skipped
            .into_iter()
            .map(|one| SkippedName {
                path: Name(one.path),
                reason: one.reason,
                size_bytes: one.size,
            })
            .collect(),
    };
    store.commit()?;
    Ok(tree)
}

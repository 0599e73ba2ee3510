//! What a call that looks at every repository knows, and how it comes to know all of them.

use crate::capture::held::{HeldDirectory, find_held, relative};
use crate::git::id::Id;
use crate::host::place::path_of;
use crate::parallel;
use crate::scan::discover::{self, Discovered};
use crate::scan::known_roots::Places;
use crate::scan::mapped::written_through_memory;
use crate::shadow::rules::{self, User};
use crate::wire::capture::SkippedName;
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::progress::Reads;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

/// How often an unknown repository may send discovery back. Each time it knows at least one more.
const ROUNDS: usize = 3;

/// What a call asks of every repository.
pub(crate) struct Asked<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) session: &'call str,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_depth: usize,
    pub(crate) include: &'call [Name],
    pub(crate) exclude: &'call [Name],
    /// Repositories that the session knows.
    pub(crate) known: Vec<&'call BString>,
    /// Repositories of what is about to be restored.
    pub(crate) targets: Vec<&'call BString>,
    pub(crate) reads: Reads<'call>,
}

pub(crate) struct Call<'call> {
    pub(crate) asked: Asked<'call>,
    pub(crate) include: Vec<BString>,
    pub(crate) exclude: Vec<BString>,
    pub(crate) roots: Vec<BString>,
    held: Vec<HeldDirectory>,
    pub(crate) user: User,
    pub(crate) mapped: HashSet<u64>,
    pub(crate) umask: u32,
    /// Contents that this call has read from a store since its look before, by repository.
    pub(crate) taken: HashMap<BString, HashSet<Id>>,
}

/// Permissions that new files do not get here.
fn read_umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask);
    mask.bits()
}

fn bytes_of(names: &[Name]) -> Vec<BString> {
    names.iter().map(|name| name.0.clone()).collect()
}

impl<'call> Call<'call> {
    pub(crate) fn new(asked: Asked<'call>) -> Self {
        Call {
            include: bytes_of(asked.include),
            exclude: bytes_of(asked.exclude),
            asked,
            roots: Vec::new(),
            held: Vec::new(),
            user: rules::read_user(),
            mapped: written_through_memory(),
            umask: read_umask(),
            taken: HashMap::new(),
        }
    }

    /// Does the work on every repository. Work that meets a repository that is not known answers nothing. Then everything
    /// is looked for again, except in the last round (`true`): there it is captured as files of the one around it.
    pub(crate) fn on_each<R: Send>(
        &mut self,
        work: impl Fn(&Call<'call>, &BStr, bool) -> Outcome<Option<R>> + Sync,
    ) -> Outcome<(Vec<R>, Vec<SkippedName>)> {
        let places = Places {
            projects: self.asked.projects,
            session: self.asked.session,
            max_depth: self.asked.max_depth,
        };
        for round in 1..=ROUNDS {
            let found = if round == 1 {
                places.again()?
            } else {
                places.search()?
            };
            self.roots = self.roots_of(&found);
            self.held = find_held(self.asked.projects, &self.roots);
            let done = parallel::map(&self.roots, |root| work(self, root.as_bstr(), round == ROUNDS))?;
            if let Some(done) = done.into_iter().collect::<Option<Vec<R>>>() {
                return Ok((done, self.passed_over(found)));
            }
        }
        Err(Failure::unavailable(
            "new repositories keep appearing. Call again.",
        ))
    }

    /// A repository that the session knows, or that is about to be restored, stays one while its directory is there.
    fn roots_of(&self, found: &Discovered) -> Vec<BString> {
        let mut roots = found.roots.clone();
        for path in self.asked.known.iter().chain(&self.asked.targets) {
            if !roots.contains(path) && self.is_straight_directory(path.as_bstr()) {
                roots.push((*path).clone());
            }
        }
        roots
    }

    /// Whether a directory is there, and no part of its path is a link.
    fn is_straight_directory(&self, path: &BStr) -> bool {
        let parts = discover::parents(path).chain([path]);
        let is_directory = |part: &BStr| {
            fs::symlink_metadata(self.asked.projects.join(path_of(part.to_owned())))
                .is_ok_and(|found| found.is_dir())
        };
        parts.collect::<Vec<_>>().into_iter().all(is_directory)
    }

    /// Repositories strictly below this one, relative to it.
    pub(crate) fn nested_in(&self, root: &BStr) -> Vec<BString> {
        below(root, self.roots.iter())
    }

    /// Git directories of others in this repository, but in no repository inside it, relative to it.
    pub(crate) fn held_in(&self, root: &BStr, nested: &[BString]) -> Vec<HeldDirectory> {
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

    fn passed_over(&self, found: Discovered) -> Vec<SkippedName> {
        let unseen = found
            .passed_over
            .into_iter()
            .filter(|one| !self.roots.contains(&one.path.0));
        unseen
            .map(|one| SkippedName {
                path: one.path,
                reason: one.reason,
                size_bytes: None,
            })
            .collect()
    }
}

/// Those of these paths that lie strictly below a repository, relative to it.
pub(crate) fn below<'paths>(root: &BStr, paths: impl Iterator<Item = &'paths BString>) -> Vec<BString> {
    paths
        .filter_map(|path| relative(path.as_bstr(), root).map(BString::from))
        .collect()
}

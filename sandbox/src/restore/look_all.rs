//! Looks at the repositories of a request, several at once.

use crate::capture::call::{Asked, Call};
use crate::git::id::Id;
use crate::restore::stand::{Stand, stand};
use crate::wire::error::{Failure, Outcome};
use crate::wire::progress::Reads;
use crate::wire::restore::{RestoreRepository, RestoreRequest, State};
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Which repositories of a request are repositories in a look. Files below one of them belong to it, and not to the one around
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Before anything is written.
    Now,
    /// When everything is at the target.
    Target,
    /// When everything is put back.
    Undo,
    /// While what leaves is away, and what comes is not there.
    Between,
}

impl When {
    /// Where files alone are restored, a repository that the target does not have keeps its `.git`.
    fn has(self, request: &RestoreRequest, one: &RestoreRepository) -> bool {
        let stays = || request.files_only && one.now.is_some();
        match self {
            When::Now => one.now.is_some(),
            When::Target => one.target.is_some() || stays(),
            When::Undo => one.undo.is_some() || stays(),
            When::Between => (one.target.is_some() && one.undo.is_some()) || stays(),
        }
    }

    /// Whether files below it are never those of the one around it.
    pub(crate) fn is_goal(self, one: &RestoreRepository) -> bool {
        match self {
            When::Now | When::Target => one.target.is_some(),
            When::Undo => one.undo.is_some(),
            When::Between => one.target.is_some() && one.undo.is_some(),
        }
    }
}

/// Which repositories are looked at, and how.
pub(crate) struct Looks<'look> {
    pub(crate) projects: &'look Path,
    pub(crate) request: &'look RestoreRequest,
    pub(crate) when: When,
    /// Permissions that new files do not get in the state that is expected.
    pub(crate) umask: Option<u32>,
    /// Places in the request.
    pub(crate) which: &'look [usize],
    /// What is in the way of this tree is captured although it is ignored.
    pub(crate) target: fn(&RestoreRepository) -> Option<&State>,
    pub(crate) reads: Reads<'look>,
}

/// How a repository stands, or why that cannot be told.
pub(crate) type Seen = Result<Stand, Failure>;

impl Looks<'_> {
    /// By the place in the request. One that is not there is not in the answer.
    pub(crate) fn all(&self) -> Outcome<BTreeMap<usize, Seen>> {
        self.all_after(HashMap::new())
    }

    /// The same, after contents were read from stores since the last look, by the path of the repository.
    pub(super) fn all_after(&self, taken: HashMap<BString, HashSet<Id>>) -> Outcome<BTreeMap<usize, Seen>> {
        let request = self.request;
        let when = self.when;
        let paths = |is_one: &dyn Fn(&RestoreRepository) -> bool| {
            let those = request.repositories.iter().filter(|one| is_one(one));
            those.map(|one| &one.path.0).collect()
        };
        let mut call = Call::new(Asked {
            projects: self.projects,
            session: &request.session_id,
            max_file_bytes: request.max_file_bytes,
            max_depth: request.max_depth,
            include: &request.include,
            exclude: &request.exclude,
            known: paths(&|one| when.has(request, one)),
            targets: paths(&|one| when.is_goal(one)),
            reads: self.reads,
        });
        call.taken = taken;
        if let Some(umask) = self.umask {
            call.umask = umask;
        }
        let (found, _) = call.on_each(|call, root, is_last| {
            let place = self
                .which
                .iter()
                .find(|at| request.repositories[**at].path.0 == root);
            let Some(at) = place else { return Ok(Some(None)) };
            let target = (self.target)(&request.repositories[*at]);
            match stand(call, root, is_last, target.map(|state| &*state.tree)) {
                Ok(Some(stand)) => Ok(Some(Some((*at, Ok(stand))))),
                Ok(None) => Ok(None),
                Err(refused @ Failure::Refused { .. }) => Err(refused),
                Err(failure) => Ok(Some(Some((*at, Err(failure))))),
            }
        })?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// The text of the user's settings, in lower case.
pub(crate) fn user_settings() -> Vec<u8> {
    crate::shadow::rules::read_user().text.as_bytes().to_vec()
}

//! Looks at the repositories of a request, several at once.

use crate::capture::call::{Asked, Call};
use crate::restore::stand::{Stand, stand};
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::{RestoreRepository, RestoreRequest, State};
use bstr::ByteSlice;
use std::collections::BTreeMap;
use std::path::Path;

/// Which repositories are looked at, and how.
pub(crate) struct Looks<'look> {
    pub(crate) projects: &'look Path,
    pub(crate) request: &'look RestoreRequest,
    /// Permissions that new files do not get in the state that is expected.
    pub(crate) umask: Option<u32>,
    /// Places in the request.
    pub(crate) which: &'look [usize],
    /// What is in the way of this tree is captured although it is ignored.
    pub(crate) target: fn(&RestoreRepository) -> Option<&State>,
}

/// How a repository stands, or why that cannot be told.
pub(crate) type Seen = Result<Stand, String>;

impl Looks<'_> {
    /// By the place in the request. One that is not there is not in the answer.
    pub(crate) fn all(&self) -> Outcome<BTreeMap<usize, Seen>> {
        let request = self.request;
        let paths = || request.repositories.iter().map(|one| &one.path.0);
        let mut call = Call::new(Asked {
            projects: self.projects,
            session: &request.session_id,
            max_file_bytes: request.max_file_bytes,
            max_depth: request.max_depth,
            include: &request.include,
            exclude: &request.exclude,
            known: paths().collect(),
            targets: paths().collect(),
        });
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
                Err(failure) => Ok(Some(Some((*at, Err(failure.to_string()))))),
            }
        })?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// The text of the user's settings, in lower case.
pub(crate) fn user_settings() -> Vec<u8> {
    crate::shadow::rules::read_user().text.as_bytes().to_vec()
}

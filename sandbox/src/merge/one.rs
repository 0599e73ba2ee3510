//! Composes the state of one repository.

use crate::bundle::folder::Folder;
use crate::bundle::incoming::Incoming;
use crate::bundle::leave::Leaving;
use crate::fs::room::has_room;
use crate::git::id::Format;
use crate::merge::steps::One;
use crate::merge::three_way::Merges;
use crate::merge::trouble::{Done, Trouble, full};
use crate::shadow::scratch::{Place, Scratch};
use crate::shadow::sound::drop_damaged;
use crate::wire::capture::{FailedName, RepositoryState};
use crate::wire::compose::ComposedRepository;
use crate::wire::compose::{ComposeRepository, ComposeRequest, FormatName};
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use bstr::{BString, ByteSlice};
use std::path::Path;
use std::sync::Mutex;

/// What all repositories of a call have in common.
pub(crate) struct Composing<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) request: &'call ComposeRequest,
    pub(crate) folder: &'call Folder,
    pub(crate) incoming: &'call Incoming<'call>,
    /// Held by whoever brings bundles: packs on their way have one place in a call.
    pub(crate) bringing: Mutex<()>,
    pub(crate) merges: Merges,
    /// Seconds since the epoch.
    pub(crate) now: i64,
}

/// A repository, and what leaves the sandbox of it.
pub(crate) struct Composed {
    pub(crate) report: ComposedRepository,
    pub(crate) leaving: Leaving,
}

/// How often it is tried: what ends a process once may not end it again.
const TRIES: usize = 2;

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Sha1 => Format::Sha1,
            FormatName::Sha256 => Format::Sha256,
        }
    }
}

impl Composing<'_> {
    /// `number` is that of the repository in the request.
    pub(crate) fn compose(&self, number: usize) -> Outcome<Composed> {
        let repository = &self.request.repositories[number];
        let mut last = None;
        for again in 0..TRIES {
            let name = format!("{number}.{again}.git");
            let made = self.folder.file(&name).and_then(|directory| {
                Scratch::make(
                    &self.place(repository),
                    repository.object_format.into(),
                    directory,
                )
            });
            let scratch = match made {
                Ok(scratch) => scratch,
                // What failed first says more.
                Err(failure) => {
                    return Err(last.unwrap_or_else(|| if failure.is_full() { full() } else { failure }));
                }
            };
            match self
                .attempt(repository, &scratch, number)
                .map_err(|trouble| self.fault(trouble))
            {
                Ok(composed) => return Ok(composed),
                Err(Ok(trouble)) => return failed(repository, &scratch, &trouble),
                Err(Err(refused @ Failure::Refused { .. })) => return Err(refused),
                Err(Err(fault)) => last = Some(fault),
            }
        }
        Err(last.unwrap_or_else(|| Failure::Fault("the states could not be merged".into())))
    }

    /// A failure that is not the repository's. On a full disk, git may find no room for its messages either.
    fn fault(&self, trouble: Trouble) -> Result<Trouble, Failure> {
        let trouble = trouble.fault()?;
        if has_room(self.folder.path()) {
            Ok(trouble)
        } else {
            Err(full())
        }
    }

    fn attempt(&self, repository: &ComposeRepository, scratch: &Scratch, number: usize) -> Done<Composed> {
        let mut one = One::new(self, repository, scratch, number)?;
        let made = one.run()?;
        Ok(one.composed(made))
    }

    pub(super) fn place<'place>(&'place self, repository: &'place ComposeRepository) -> Place<'place> {
        Place {
            projects: self.projects,
            session: &self.request.session_id,
            path: repository.known.path.0.as_bstr(),
        }
    }
}

/// What was damaged is removed: brought again, it would not be written where its name is taken.
fn failed(repository: &ComposeRepository, scratch: &Scratch, trouble: &Trouble) -> Outcome<Composed> {
    let is_unsupported = matches!(trouble, Trouble::Unsupported);
    let is_damaged = match scratch.of_repository() {
        Some(shadow) if !is_unsupported => drop_damaged(&shadow)?,
        Some(_) | None => false,
    };
    let failure = FailedName {
        path: Name(BString::from(".")),
        reason: trouble.reason(),
    };
    let mut report = told(repository, RepositoryState::Failed);
    report.failures.push(failure);
    report.is_missing = trouble.is_lack() || is_damaged;
    report.is_unsupported = is_unsupported && !report.is_missing;
    Ok(Composed {
        report,
        leaving: Leaving::default(),
    })
}

pub(super) fn told(repository: &ComposeRepository, state: RepositoryState) -> ComposedRepository {
    ComposedRepository {
        path: repository.known.path.clone(),
        state,
        capture: None,
        changes: None,
        failures: Vec::new(),
        conflicts: Vec::new(),
        unknown_paths: Vec::new(),
        is_missing: false,
        is_unsupported: false,
        is_host_kept: false,
        is_host_taken: false,
        warnings: Vec::new(),
    }
}

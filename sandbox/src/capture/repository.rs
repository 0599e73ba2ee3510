//! The working files of one repository, as a call looks at them.

use crate::capture::call::{Call, below};
use crate::capture::look::{Looked, Looking, look};
use crate::capture::state::WorkingState;
use crate::capture::targets;
use crate::git::id::{Format, Id, ObjectKind};
use crate::git::store::ObjectStore;
use crate::host::place::path_of;
use crate::host::reading::{self, HostReading};
use crate::meta::{self, HostState, SidecarLists, history};
use crate::scan::names::Names;
use crate::shadow::open::{self, Shadow};
use crate::shadow::rules::{self, Sources};
use crate::wire::capture::{FailedName, SkippedName};
use crate::wire::error::Outcome;
use crate::wire::name::Name;
use bstr::{BStr, BString};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A repository and its shadow.
pub(crate) struct Repository<'call> {
    pub(crate) path: &'call BStr,
    pub(crate) top: PathBuf,
    pub(crate) reading: HostReading,
    /// Change times from here on are too late to be trusted.
    pub(crate) limit: i64,
    /// Larger files are not captured.
    pub(crate) max_bytes: u64,
    pub(crate) shadow: Shadow,
    /// Repositories strictly below it, relative to it.
    pub(crate) nested: Vec<BString>,
}

/// Where its shadow is, whether it is there or not.
pub(crate) fn shadow_of(top: &Path, session: &str) -> PathBuf {
    top.join(".agent-shadow").join(format!("session-{session}"))
}

impl<'call> Repository<'call> {
    /// Makes or repairs its shadow. Without a `.git`, `before` says its format: an id of the state that comes, or of the one
    /// before.
    pub(crate) fn open(call: &Call<'_>, path: &'call BStr, before: Option<&str>) -> Outcome<Self> {
        let session = call.asked.session;
        let top = call.asked.projects.join(path_of(path.to_owned()));
        let mut reading = reading::read(&top)?;
        let format = match (&reading.host, before) {
            (Some(_), _) => reading.settings.format,
            (None, Some(id)) if id.len() == 2 * Format::Sha256.width() => Format::Sha256,
            (None, Some(_)) => Format::Sha1,
            (None, None) => open::format_of(&shadow_of(&top, session)).unwrap_or_default(),
        };
        let shadow = open::open(&top, session, format, reading.host.as_ref())?;
        history::look_again(&mut reading, &shadow)?;
        let limit = meta::limit(&shadow)?;
        Ok(Repository {
            path,
            top,
            reading,
            limit,
            max_bytes: call.asked.max_file_bytes,
            shadow,
            nested: call.nested_in(path),
        })
    }

    /// Looks at its files. Their objects are staged in the store. With a target, what its restore would overwrite is
    /// captured too.
    pub(crate) fn look(
        &self,
        call: &Call<'_>,
        is_last: bool,
        target: Option<&str>,
        store: &ObjectStore,
    ) -> Outcome<Sighted> {
        let shadow = &self.shadow;
        let held = call.held_in(self.path, &self.nested);
        let others: Vec<BString> = self
            .nested
            .iter()
            .chain(held.iter().map(|(path, _)| path))
            .cloned()
            .collect();
        let rules = rules::write(
            shadow,
            &Sources {
                host: self.reading.host.as_ref(),
                settings: &self.reading.settings.text,
                user: &call.user,
                exclude: &call.exclude,
                others: &others,
            },
        )?;
        let none = HashSet::new();
        let looking = Looking {
            shadow,
            host: self.reading.host.as_ref(),
            path: self.path,
            rules: &rules,
            include: &call.include,
            exclude: &call.exclude,
            nested: &self.nested,
            held: &held,
            forced: &Names::default(),
            taken: call.taken.get(self.path).unwrap_or(&none),
            max_bytes: self.max_bytes,
            max_depth: call.asked.max_depth,
            seeks_roots: !is_last,
            umask: call.umask,
            mapped: &call.mapped,
            reads: call.asked.reads,
        };
        let first = look(&looking, store)?;
        let Some(target) = target.filter(|_| !first.state.has_unknown_root) else {
            return Ok(Sighted {
                looked: first,
                target: None,
            });
        };
        // Trees are compared as they are on the disk.
        store.commit()?;
        first.keep(shadow)?;
        // Where another repository is by now, its files and those of the target have the same paths: it goes, and what it
        // did not capture would be overwritten.
        let own_git: Vec<BString> = held.iter().map(|(path, _)| path.clone()).collect();
        let inner = below(self.path, call.asked.targets.iter().copied());
        let parked = targets::parked_objects(call.asked.projects, call.asked.session, self.path);
        let compared = targets::collisions(
            shadow,
            first.state.tree,
            target,
            &[&inner[..], &own_git].concat(),
            &parked,
        )?;
        let Some(compared) = compared else {
            return Ok(Sighted {
                looked: first,
                target: None,
            });
        };
        if compared.in_the_way.is_empty() {
            return Ok(Sighted {
                looked: first,
                target: Some(compared),
            });
        }
        let looked = look(
            &Looking {
                forced: &compared.in_the_way,
                ..looking
            },
            store,
        )?;
        Ok(Sighted {
            looked,
            target: Some(compared),
        })
    }
}

/// Stores the lists of the sidecar, and makes the host state. Objects are staged in the store.
pub(crate) fn host_part(
    repository: &Repository<'_>,
    state: &WorkingState,
    store: &ObjectStore,
) -> Outcome<(SidecarLists, HostState)> {
    let keep = |list: &[u8]| -> Outcome<Option<Id>> {
        if list.is_empty() {
            return Ok(None);
        }
        store.put(ObjectKind::Blob, list).map(Some)
    };
    let lists = SidecarLists {
        modes: keep(&state.modes)?,
        empty: keep(&state.empty)?,
        left_out: keep(&state.left_out)?,
    };
    let Repository {
        reading,
        shadow,
        limit,
        max_bytes,
        ..
    } = repository;
    let host = meta::host_state(&meta::Input {
        reading,
        shadow,
        store,
        lists,
        limit: *limit,
        max_bytes: *max_bytes,
        stores: &state.stores,
    })?;
    Ok((lists, host))
}

/// A look, and how it compares with the target; nothing when there is none, or it is not here.
pub(crate) struct Sighted {
    pub(crate) looked: Looked,
    pub(crate) target: Option<targets::Compared>,
}

/// What is told of the paths that are not captured.
pub(crate) fn uncaptured(
    state: &mut WorkingState,
    host: &mut HostState,
) -> (Vec<FailedName>, Vec<SkippedName>) {
    let of_files = std::mem::take(&mut state.failures).into_iter();
    let failures = of_files.chain(std::mem::take(&mut host.failures));
    let skipped = std::mem::take(&mut state.skipped).into_iter();
    (
        failures
            .map(|one| FailedName {
                path: Name(one.path),
                reason: one.reason,
            })
            .collect(),
        skipped
            .map(|one| SkippedName {
                path: Name(one.path),
                reason: one.reason,
                size_bytes: one.size,
            })
            .collect(),
    )
}

//! Request and report of a composition. `contract/sandbox/compose.ts` mirrors them.

use crate::wire::capture::{
    AnnouncedBundle, AnnouncedRecord, CaptureIds, CarryLimits, ChangesReport, FailedName, KnownRepository,
    RepositoryState,
};
use crate::wire::name::Name;
use crate::wire::restore::{Bundle, State};
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ComposeRequest {
    pub(crate) session_id: String,
    /// Names this call: its folder in `.agent-shadow` has this name.
    pub(crate) call: String,
    /// Names the checkpoint that is composed.
    pub(crate) tag: String,
    pub(crate) message: String,
    /// `merge`, `revert` or `paths`.
    pub(crate) reason: String,
    pub(crate) lock_wait_seconds: u64,
    /// Patterns of ignored files that are captured.
    pub(crate) include: Vec<Name>,
    /// Names of bases that are stored, so they need not be made.
    pub(crate) known_bases: Vec<String>,
    /// The checkpoint of now, which the composition is made from.
    pub(crate) now_tag: String,
    /// Repositories that now has and the result does not have.
    pub(crate) gone: Vec<Gone>,
    pub(crate) repositories: Vec<ComposeRepository>,
    /// Files that a step brings, and that have marks of conflicts which their base does not have, are conflicts.
    pub(crate) refuses_markers: bool,
    /// Conflicts are written into the files as git does, between marks with these names.
    pub(crate) markers: bool,
    pub(crate) labels: Labels,
    /// Bundles are made. A plan needs none.
    pub(crate) is_exported: bool,
    pub(crate) limits: CarryLimits,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Labels {
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Gone {
    pub(crate) path: Name,
    /// The capture of this session that knows what its directory held without it.
    pub(crate) tag: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ComposeRepository {
    /// What the store has, and the state to begin with.
    pub(crate) known: KnownRepository,
    /// It is not in the sandbox: `known` is the whole state of the other side.
    pub(crate) is_new: bool,
    /// The capture of now took the directory in its place for a repository.
    pub(crate) is_entered: bool,
    pub(crate) object_format: FormatName,
    pub(crate) is_partial: bool,
    /// Repositories inside it that only one side has.
    pub(crate) inside: Vec<Inside>,
    /// Applied one after the other.
    pub(crate) steps: Vec<Step>,
    /// Only these files and directories in it. Without any: all of it.
    pub(crate) paths: Vec<Name>,
    /// To be brought first, the base before the others.
    pub(crate) bundles: Vec<Bundle>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FormatName {
    Sha1,
    Sha256,
}

/// One three-way merge: what happened between two states is applied to the state so far.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) base: State,
    pub(crate) theirs: State,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Inside {
    /// In the outer repository.
    pub(crate) path: Name,
    /// Which side has it.
    pub(crate) side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Side {
    Now,
    Change,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComposeReport {
    /// In the order of the request.
    pub(crate) repositories: Vec<ComposedRepository>,
    pub(crate) bundles: Vec<AnnouncedBundle>,
    pub(crate) records: Vec<AnnouncedRecord>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComposedRepository {
    pub(crate) path: Name,
    pub(crate) state: RepositoryState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capture: Option<CaptureIds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangesReport>,
    pub(crate) failures: Vec<FailedName>,
    pub(crate) conflicts: Vec<ConflictReport>,
    /// Paths of the request that no state has.
    pub(crate) unknown_paths: Vec<Name>,
    /// The sandbox lacks objects.
    pub(crate) is_missing: bool,
    /// The git of the sandbox is too old to merge.
    pub(crate) is_unsupported: bool,
    /// HEAD, branches and index changed on both sides, so those of now stay.
    pub(crate) is_host_kept: bool,
    /// They come from the other side.
    pub(crate) is_host_taken: bool,
    /// Files that stay although the other side does not have them.
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConflictReport {
    pub(crate) path: Name,
    pub(crate) kind: String,
    /// For people, as is each warning.
    pub(crate) message: String,
}

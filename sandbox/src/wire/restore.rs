//! Request and report of a restore.

use crate::wire::host_change::HostChange;
use crate::wire::name::Name;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RestoreRequest {
    pub(crate) session_id: String,
    /// Names this call: what it puts aside lies in a folder of this name.
    pub(crate) call: String,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_depth: usize,
    pub(crate) lock_wait_seconds: u64,
    pub(crate) include: Vec<Name>,
    pub(crate) exclude: Vec<Name>,
    /// HEAD, branches, index and operation stay as they are.
    pub(crate) files_only: bool,
    /// Everything is checked, and nothing is written.
    pub(crate) dry_run: bool,
    /// Other processes go on writing: a captured file may have another content than the caller names.
    pub(crate) allow_concurrent_writers: bool,
    /// A restore from `undo` to `target` broke off: what it wrote goes back to the undo.
    pub(crate) settle: bool,
    /// The sandbox was made for this restore: what its template holds in the places of the repositories is put aside.
    pub(crate) fresh: bool,
    /// Names the checkpoint of the target.
    pub(crate) target_tag: Option<String>,
    pub(crate) repositories: Vec<RestoreRepository>,
}

/// Ids of one state: the working files, and the host state with the sidecar.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) tree: String,
    pub(crate) meta: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RestoreRepository {
    pub(crate) path: Name,
    /// The target does not have a repository without it.
    pub(crate) target: Option<State>,
    /// The state that it must be in. It is not there without it.
    pub(crate) now: Option<State>,
    /// The state to put back if anything fails. Without it, it was not there.
    pub(crate) undo: Option<State>,
    /// Files that the target left out for their size, relative to the repository.
    pub(crate) skipped: Vec<Name>,
    /// Entries of the stash that were there.
    pub(crate) stash: Vec<String>,
    /// A partial clone: its history is not whole, and may stay so.
    pub(crate) is_partial: bool,
    /// To be brought first, the base before the others.
    pub(crate) bundles: Vec<Bundle>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum How {
    Base,
    Link,
    /// Becomes loose objects.
    Small,
    /// Small links that were joined and become one pack.
    Many,
}

/// A bundle in the sandbox, by its SHA-256.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Bundle {
    pub(crate) how: How,
    pub(crate) sha256: String,
    /// Names the list of places at which a joined bundle is cut.
    pub(crate) cuts: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RestoreOutcome {
    Applied,
    Planned,
    /// A check failed, and nothing was written.
    Refused,
    /// Something failed, and everything was put back.
    Reverted,
    /// Putting back failed as well.
    Broken,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestoreReport {
    pub(crate) outcome: RestoreOutcome,
    /// In the order of the request.
    pub(crate) repositories: Vec<RestoredRepository>,
    pub(crate) asides: Vec<AsideReport>,
    pub(crate) warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<SettleReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettleReport {
    /// Paths, and parts of the host state, that were at the target. Without any, nothing was written.
    pub(crate) reached: usize,
    /// What was changed since, by paths in the projects root. The first ones.
    pub(crate) kept: Vec<Name>,
    pub(crate) kept_not_listed: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestoredRepository {
    pub(crate) path: Name,
    pub(crate) written: usize,
    pub(crate) deleted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<HostChange>,
    /// What was read back. Absent when nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verified: Option<Verified>,
    /// The first paths, when nothing but a plan is wanted.
    pub(crate) paths: Vec<PlannedPath>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Name>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verified {
    pub(crate) tree: String,
    pub(crate) meta: String,
    /// In what it may differ from the target.
    pub(crate) apart: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PlannedPath {
    pub(crate) path: Name,
    pub(crate) change: PathChange,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PathChange {
    Write,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProblemKind {
    /// Something that is not captured is in the way.
    Conflict,
    /// It is not in the state that the caller names.
    Changed,
    MissingObjects,
    UnsafePath,
    /// A signal ended a process of git: the same call may succeed.
    Interrupted,
    Failed,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    pub(crate) message: Name,
}

/// What another process wrote into files that were put aside.
#[derive(Debug, Serialize)]
pub(crate) struct AsideReport {
    /// The repository.
    pub(crate) path: Name,
    /// Where the files are.
    pub(crate) directory: Name,
    pub(crate) late: Vec<Name>,
    /// Held open by a process.
    pub(crate) open: Vec<Name>,
}

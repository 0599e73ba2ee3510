//! The report. `contract/sandbox/compose.ts` mirrors it.

use crate::merge::conflicts::Conflict;
use crate::wire::capture::{
    AnnouncedBundle, AnnouncedRecord, CaptureIds, ChangesReport, FailedName, RepositoryState,
};
use crate::wire::name::{Name, shown};
use serde::Serialize;

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

impl From<Conflict> for ConflictReport {
    fn from(conflict: Conflict) -> Self {
        ConflictReport {
            path: Name(conflict.path),
            kind: conflict.kind,
            message: shown(&conflict.message),
        }
    }
}

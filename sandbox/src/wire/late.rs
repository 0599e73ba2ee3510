//! Requests and reports of captures of what was written late. `contract/sandbox/late.ts` mirrors them.

use crate::wire::capture::{
    AnnouncedBundle, AnnouncedRecord, CaptureIds, CarryLimits, ChangesReport, FailedName, KnownRepository,
    RepositoryState, SkippedName,
};
use crate::wire::name::Name;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LateRequest {
    pub(crate) session_id: String,
    /// Names this call: its folder in `.agent-shadow` has this name.
    pub(crate) call: String,
    /// Names the checkpoint.
    pub(crate) tag: String,
    pub(crate) message: String,
    pub(crate) reason: String,
    pub(crate) max_file_bytes: u64,
    pub(crate) lock_wait_seconds: u64,
    /// The states that the late files are added to.
    pub(crate) known: Vec<KnownRepository>,
    /// Records what changed since the known states.
    pub(crate) changes: bool,
    pub(crate) limits: CarryLimits,
}

/// Says that what was captured under a tag is durable.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LateStoredRequest {
    pub(crate) session_id: String,
    pub(crate) tag: String,
    pub(crate) lock_wait_seconds: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LateReport {
    /// In the order of the request.
    pub(crate) repositories: Vec<LateRepository>,
    pub(crate) bundles: Vec<AnnouncedBundle>,
    pub(crate) records: Vec<AnnouncedRecord>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LateRepository {
    pub(crate) path: Name,
    pub(crate) state: RepositoryState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capture: Option<CaptureIds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangesReport>,
    pub(crate) failures: Vec<FailedName>,
    /// Late files that are too large. They stay where they are.
    pub(crate) skipped: Vec<SkippedName>,
    /// The late files, by the names that the capture has them under.
    pub(crate) late: Vec<Name>,
}

/// What is durable is noted.
#[derive(Debug, Serialize)]
pub(crate) struct LateStoredReport {}

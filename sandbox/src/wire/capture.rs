//! Request and report of a look at working files.

use crate::wire::name::Name;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WorkingTreeRequest {
    pub(crate) session_id: String,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_depth: usize,
    /// Patterns of ignored files that are captured.
    pub(crate) include: Vec<Name>,
    /// Patterns of files that are not captured.
    pub(crate) exclude: Vec<Name>,
    /// Repositories that the session knows: they are captured while their directories are there.
    pub(crate) known: Vec<Name>,
    /// What is about to be restored: uncaptured files in its way are captured.
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) path: Name,
    pub(crate) tree: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkingTreeReport {
    pub(crate) repositories: Vec<WorkingTree>,
    pub(crate) skipped: Vec<SkippedName>,
}

/// The working files of one repository. Without a tree, the first failure says why.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkingTree {
    pub(crate) path: Name,
    pub(crate) object_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<String>,
    /// Ids of the lists of the sidecar; absent when a list is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) empty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
    pub(crate) failures: Vec<FailedName>,
    pub(crate) skipped: Vec<SkippedName>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailedName {
    pub(crate) path: Name,
    pub(crate) reason: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkippedName {
    pub(crate) path: Name,
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size_bytes: Option<u64>,
}

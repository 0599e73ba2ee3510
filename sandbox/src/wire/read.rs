//! Requests and reports of the commands that only look.

use crate::wire::host_change::HostChange;
use crate::wire::name::Name;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hello {
    /// SHA-256 of the sources.
    pub(crate) build: &'static str,
    pub(crate) architecture: &'static str,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SurveyRequest {
    /// How deep below the projects root a repository may lie.
    pub(crate) max_depth: usize,
    /// Remote, newest commits and changed files as well.
    pub(crate) detail: bool,
}

/// A path that is not looked at, and why.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Skipped {
    pub(crate) path: Name,
    pub(crate) reason: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SurveyReport {
    pub(crate) repositories: Vec<SurveyedRepository>,
    pub(crate) skipped: Vec<Skipped>,
    /// The repository that the projects root lies in. Only looked for where the root holds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) around: Option<Name>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HeadKind {
    Branch,
    Unborn,
    Detached,
    #[default]
    Unreadable,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SurveyedRepository {
    pub(crate) path: Name,
    pub(crate) head_kind: HeadKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
    pub(crate) commits: u64,
    pub(crate) shallow: bool,
    pub(crate) partial: bool,
    pub(crate) object_format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// With `detail`, when git could count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dirty: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recent: Option<Vec<RecentCommit>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecentCommit {
    pub(crate) commit: String,
    pub(crate) subject: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DirectoriesRequest {
    pub(crate) paths: Vec<Name>,
    pub(crate) max_entries: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DirectoriesReport {
    pub(crate) directories: Vec<Listing>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listing {
    pub(crate) path: Name,
    /// Sorted by bytes. A directory ends with `/`.
    pub(crate) entries: Vec<Name>,
    pub(crate) truncated: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LooseFilesRequest {
    /// Patterns of ignored files that count, and of files that do not.
    pub(crate) include: Vec<Name>,
    pub(crate) exclude: Vec<Name>,
    /// Sizes of more files are not looked at.
    pub(crate) most_files: u64,
    /// A larger file is not captured.
    pub(crate) max_file_bytes: u64,
}

/// Absent: too many to be counted.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LooseFilesReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DiffRequest {
    pub(crate) session_id: String,
    pub(crate) pairs: Vec<DiffPair>,
    pub(crate) stat_only: bool,
    /// The text is of this file alone.
    pub(crate) file: Option<FileOfDiff>,
    /// Most bytes of the text of one repository.
    pub(crate) max_bytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FileOfDiff {
    /// In the repository.
    pub(crate) path: Name,
    /// Lines that are shown around each change.
    pub(crate) context: u64,
}

/// Two captures of one repository: tree and host state. An absent id stands for "not there".
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DiffPair {
    pub(crate) path: Name,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) from_meta: Option<String>,
    pub(crate) to_meta: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffReport {
    /// In the order of the request's pairs.
    pub(crate) repositories: Vec<Difference>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Difference {
    pub(crate) path: Name,
    pub(crate) diff: String,
    pub(crate) truncated: bool,
    pub(crate) files: u64,
    pub(crate) added: u64,
    pub(crate) deleted: u64,
    /// The sandbox lacks one of the captures.
    pub(crate) missing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<HostChange>,
}

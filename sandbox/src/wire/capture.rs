//! Requests and reports of a capture, and of a look at working files alone.

use crate::wire::host_change::HostChange;
use crate::wire::name::Name;
use crate::wire::read::HeadKind;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<HostStateReport>,
    pub(crate) failures: Vec<FailedName>,
    pub(crate) skipped: Vec<SkippedName>,
}

/// The state of the repository itself, beside its working files.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HostStateReport {
    /// The commit that holds it.
    pub(crate) meta: String,
    /// The parents of that commit.
    pub(crate) tips: Vec<String>,
    pub(crate) head_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
    pub(crate) shallow: bool,
    pub(crate) partial: bool,
    /// The name of the bundle with the whole history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// Commits of the newest entries of the stash, newest first.
    pub(crate) stash: Vec<String>,
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

/// A capture of every repository below the projects root.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CaptureRequest {
    pub(crate) session_id: String,
    /// Names this call: its folder in `.agent-shadow` has this name.
    pub(crate) call: String,
    /// Names the checkpoint in the shadow.
    pub(crate) tag: String,
    pub(crate) message: String,
    pub(crate) reason: String,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_depth: usize,
    pub(crate) lock_wait_seconds: u64,
    pub(crate) include: Vec<Name>,
    pub(crate) exclude: Vec<Name>,
    pub(crate) known: Vec<KnownRepository>,
    /// Repositories that were seen but never captured. Those that are gone are reported as absent.
    pub(crate) mentioned: Vec<Name>,
    /// Names of bases that are stored, so they need not be made.
    pub(crate) known_bases: Vec<String>,
    pub(crate) targets: Vec<CaptureTarget>,
    /// Records what changed since the known states.
    pub(crate) changes: bool,
    pub(crate) limits: CarryLimits,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CarryLimits {
    /// Most bytes of bundles in the answer itself.
    pub(crate) inline_bytes: u64,
    /// Most bytes that the caller reads; larger bundles are uploaded.
    pub(crate) carry_bytes: u64,
    pub(crate) upload_wait_seconds: u64,
    /// Most bytes of the record of one repository, and of all.
    pub(crate) record_bytes: u64,
    pub(crate) records_bytes: u64,
}

/// What the store has of a repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KnownRepository {
    pub(crate) path: Name,
    pub(crate) commit: String,
    pub(crate) tree: String,
    pub(crate) meta: String,
    pub(crate) base: Option<String>,
    pub(crate) base_commit: Option<String>,
    pub(crate) next: Chain,
    /// It was not there at the checkpoint before.
    pub(crate) is_gone: bool,
}

/// How a link joins what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Chain {
    /// On top of the capture before.
    Append,
    /// A new chain on the same base.
    Restart,
    /// A new chain on a new base.
    Rebase,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CaptureTarget {
    pub(crate) path: Name,
    pub(crate) commit: String,
    pub(crate) tree: String,
    pub(crate) meta: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CaptureReport {
    pub(crate) repositories: Vec<RepositoryReport>,
    /// Directories that look like repositories and are not looked at.
    pub(crate) skipped: Vec<SkippedName>,
    pub(crate) bundles: Vec<AnnouncedBundle>,
    pub(crate) records: Vec<AnnouncedRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RepositoryState {
    Captured,
    Failed,
    Absent,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepositoryReport {
    pub(crate) path: Name,
    pub(crate) state: RepositoryState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capture: Option<CaptureIds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) info: Option<HostInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangesReport>,
    pub(crate) failures: Vec<FailedName>,
    pub(crate) skipped: Vec<SkippedName>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CaptureIds {
    pub(crate) commit: String,
    pub(crate) tree: String,
    pub(crate) meta: String,
    /// Absent when the capture before is this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chain: Option<Chain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_commit: Option<String>,
    /// The sandbox lacks the target.
    pub(crate) missing_target: bool,
    /// The newest entries of the stash, newest first.
    pub(crate) stash: Vec<String>,
}

/// The host's repository, for people.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HostInfo {
    pub(crate) head_kind: HeadKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
    pub(crate) shallow: bool,
    pub(crate) partial: bool,
    pub(crate) object_format: &'static str,
}

/// What is said of a record beside its bytes.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangesReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<HostChange>,
    pub(crate) is_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) totals: Option<String>,
    pub(crate) problems: Vec<Name>,
}

/// How bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Carry {
    /// In a frame of this answer.
    Inline,
    /// In the file of all such bundles.
    File,
    /// The caller says where to.
    Upload,
    /// In a file of its own, which the caller reads piece by piece: there is no curl.
    Stream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BundleKind {
    Link,
    Base,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnnouncedBundle {
    /// Its place in `repositories`.
    pub(crate) repository: usize,
    pub(crate) kind: BundleKind,
    pub(crate) size_bytes: u64,
    pub(crate) sha256: String,
    pub(crate) carry: Carry,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnnouncedRecord {
    pub(crate) repository: usize,
    pub(crate) size_bytes: u64,
    pub(crate) is_packed: bool,
    pub(crate) is_cut: bool,
    pub(crate) carry: Carry,
}

/// What came of uploads. It is an answer of its own, after the one that asked for addresses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadReport {
    /// Absent when everything was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

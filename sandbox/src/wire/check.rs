//! Requests and reports about a sandbox as a place to work in.

use crate::wire::name::Name;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreflightRequest {
    /// The next part of the path of a projects root that does not exist; empty where the call began in it.
    pub(crate) below: Name,
    /// Programs that the caller needs.
    pub(crate) needs: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Root {
    Directory,
    Missing,
    Other,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreflightReport {
    /// What `git --version` wrote; empty without git.
    pub(crate) git: String,
    pub(crate) user: String,
    pub(crate) has_curl: bool,
    pub(crate) needs: Vec<Need>,
    pub(crate) root: Root,
    /// Whether the root could be made where the call began.
    pub(crate) can_make: bool,
    pub(crate) is_writable: bool,
    pub(crate) has_temporary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) free_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) free_inodes: Option<u64>,
    /// The first files that this user cannot read.
    pub(crate) unreadable: Vec<Name>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Need {
    pub(crate) tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Name>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AskRemotesRequest {
    /// Repositories, seen from the projects root.
    pub(crate) paths: Vec<Name>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskRemotesReport {
    pub(crate) remotes: Vec<Remote>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remote {
    /// Without its credentials.
    pub(crate) url: String,
    pub(crate) exit_code: i32,
    pub(crate) said: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// Text for a shell.
    pub(crate) command: String,
    pub(crate) directory: Name,
    pub(crate) seconds: u64,
    /// Bytes of the beginning and of the end of its output that are answered.
    pub(crate) head_bytes: usize,
    pub(crate) tail_bytes: usize,
    /// Bytes of its output that are kept meanwhile.
    pub(crate) kept_bytes: u64,
}

/// Without `ended`, the directory is not there.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<Ended>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ended {
    pub(crate) exit_code: i32,
    pub(crate) milliseconds: u64,
    /// All of it, or its beginning when there is a tail.
    pub(crate) output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tail: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LeftoversRequest {
    pub(crate) max_depth: usize,
    /// Ids of sessions that are over.
    pub(crate) ended: Vec<String>,
    pub(crate) remove: bool,
    /// Seconds after which a call is over.
    pub(crate) old_seconds: u64,
    pub(crate) lock_wait_seconds: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeftoversReport {
    pub(crate) leftovers: Vec<Leftover>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fate {
    Remove,
    /// A session that is not over needs it.
    Needed,
    /// It may hold files of the user's own, or could not be removed.
    Keep,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Leftover {
    pub(crate) path: Name,
    /// Of whom it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    pub(crate) fate: Fate,
    /// Files in it, and the bytes of the disk that they take.
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

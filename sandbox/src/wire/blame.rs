//! Requests and reports of who wrote the lines of a file, and of where a path is a file.

use crate::wire::name::Name;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BlameRequest {
    pub(crate) session_id: String,
    /// Names this call. What was brought for it lies in a folder of this name.
    pub(crate) call: String,
    /// Of the repository.
    pub(crate) path: Name,
    pub(crate) object_format: ObjectFormat,
    /// In the repository.
    pub(crate) file: Name,
    /// Each comes after its parents. The last one is that of the file.
    pub(crate) nodes: Vec<Node>,
    /// Commits that bundles stand on.
    pub(crate) bases: Vec<String>,
    /// Without the boundary of a shallow clone, own commits are not looked at.
    pub(crate) shallow: bool,
    pub(crate) from: u64,
    /// Absent: to the end.
    pub(crate) to: Option<u64>,
    /// Most lines of the report.
    pub(crate) most_lines: u64,
    pub(crate) max_file_bytes: usize,
    /// SHA-256 of the bundles to bring first, for this call alone.
    pub(crate) bundles: Vec<String>,
}

/// One state of the repository.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Node {
    /// Absent: the repository was not there.
    pub(crate) tree: Option<String>,
    /// Places of the states that it came from.
    pub(crate) parents: Vec<usize>,
    /// The commit that the repository's own history had here. It becomes a parent where it can be read.
    pub(crate) commit: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum BlameReport {
    /// The trees of these nodes are not in the sandbox. `bases`: those of the request that are.
    Missing {
        nodes: Vec<usize>,
        bases: Vec<String>,
    },
    Absent {
        #[serde(skip_serializing_if = "Option::is_none")]
        removed_by: Option<Source>,
    },
    Directory,
    Link,
    Submodule,
    Binary,
    TooLarge {
        size_bytes: u64,
    },
    Lines {
        total: u64,
        lines: Vec<Line>,
        sources: Vec<Source>,
        /// The commits of nodes from which the repository's own history was read.
        own_commits: Vec<String>,
    },
}

/// What a line came with, and the name of the file there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Source {
    Node {
        node: usize,
        path: Name,
    },
    /// A commit of the repository's own history.
    Commit {
        commit: String,
        author: String,
        /// Seconds since 1970.
        authored_at: u64,
        summary: String,
        path: Name,
    },
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Its place in `sources`.
    pub(crate) source: usize,
    pub(crate) line_there: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FindFileRequest {
    pub(crate) session_id: String,
    pub(crate) file: Name,
    pub(crate) trees: Vec<TreeOf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TreeOf {
    /// Of the repository.
    pub(crate) path: Name,
    pub(crate) tree: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindFileReport {
    /// Of the repositories whose trees have the path as something else than a directory, in the order of the request.
    pub(crate) paths: Vec<Name>,
}

//! What differs in a repository beside its working files (`hostChange` in `contract/change-answers.ts`).

use crate::wire::name::Name;
use serde::Serialize;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HostChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<HeadChange>,
    /// Sorted by name.
    pub(crate) branches: Vec<BranchChange>,
    /// How many more branches differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branches_left: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<IndexChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial_checkout: Option<TextChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<TextChange>,
}

impl HostChange {
    pub(crate) fn is_empty(&self) -> bool {
        let HostChange {
            head,
            branches,
            branches_left,
            index,
            partial_checkout,
            operation,
        } = self;
        head.is_none()
            && branches.is_empty()
            && branches_left.is_none()
            && index.is_none()
            && partial_checkout.is_none()
            && operation.is_none()
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeadChange {
    pub(crate) from: HeadState,
    pub(crate) to: HeadState,
    /// Absent: HEAD stays at its commit. Null: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commits_made: Option<Option<u64>>,
    /// For a detached HEAD: commits that nothing holds afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commits_left: Option<Option<u64>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct HeadState {
    /// `branch`, `unborn` or `detached`.
    pub(crate) kind: String,
    pub(crate) branch: Option<Name>,
    pub(crate) commit: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchChange {
    pub(crate) name: Name,
    /// A commit, or the ref that it is an alias of; null: it appears.
    pub(crate) from: Option<Name>,
    pub(crate) to: Option<Name>,
    /// Null: not known.
    pub(crate) commits_left: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct IndexChange {
    /// Null: not known.
    pub(crate) entries: Option<usize>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TextChange {
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
}

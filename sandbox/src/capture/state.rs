//! What a capture knows of the working files of one repository.

use crate::git::id::Id;
use crate::scan::ignored::Said;
use bstr::BString;

/// A path that is not captured although it should be.
pub(crate) type Failed = Said;

/// A path that is not captured, as intended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedPath {
    pub(crate) path: BString,
    pub(crate) reason: String,
    pub(crate) size: Option<u64>,
}

/// The working files of a repository, as one look found them. The objects are in the shadow when the look is over.
#[derive(Debug)]
pub(crate) struct WorkingState {
    pub(crate) tree: Id,
    /// The lists of the sidecar, as their blobs have them.
    pub(crate) modes: Vec<u8>,
    pub(crate) empty: Vec<u8>,
    pub(crate) left_out: Vec<u8>,
    /// Sorted by path.
    pub(crate) failures: Vec<Failed>,
    pub(crate) skipped: Vec<SkippedPath>,
    /// What the host's stores of objects looked like (`host::stores`).
    pub(crate) stores: Vec<u8>,
    /// A repository that discovery did not know is in it. The look does not count, and discovery begins anew.
    pub(crate) has_unknown_root: bool,
}

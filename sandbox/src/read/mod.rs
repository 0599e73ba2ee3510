//! Commands that only look.

mod attributes;
pub(crate) mod captured;
pub(crate) mod diff;
pub(crate) mod directories;
pub(crate) mod host_change;
pub(crate) mod loose;
pub(crate) mod remotes;
pub(crate) mod survey;

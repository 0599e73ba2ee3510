//! Turns the working files of a repository into objects.

pub(crate) mod barred;
pub(crate) mod command;
pub(crate) mod content;
pub(crate) mod held;
pub(crate) mod look;
pub(crate) mod read_all;
pub(crate) mod sidecar;
pub(crate) mod sort;
pub(crate) mod state;
pub(crate) mod targets;
pub(crate) mod tree;
pub(crate) mod trees;
pub(crate) mod wanted;

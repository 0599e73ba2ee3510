//! Turns the working files of a repository into objects.

pub(crate) mod again;
pub(crate) mod barred;
pub(crate) mod call;
pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod command;
pub(crate) mod content;
pub(crate) mod held;
pub(crate) mod look;
mod look_contents;
mod look_result;
pub(crate) mod one;
pub(crate) mod outline;
pub(crate) mod parking;
pub(crate) mod read_all;
pub(crate) mod record;
pub(crate) mod repository;
pub(crate) mod sidecar;
pub(crate) mod sort;
pub(crate) mod state;
pub(crate) mod tag;
pub(crate) mod targets;
pub(crate) mod tree;
pub(crate) mod trees;
pub(crate) mod wanted;

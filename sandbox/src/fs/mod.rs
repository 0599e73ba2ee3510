//! Calls of the system on files that several folders need.

pub(crate) mod clock;
pub(crate) mod copy;
pub(crate) mod directory;
pub(crate) mod handle;
pub(crate) mod kind;
pub(crate) mod mounts;
pub(crate) mod programs;
pub(crate) mod removal;
pub(crate) mod remove;
pub(crate) mod rename;
pub(crate) mod room;
pub(crate) mod scratch;
pub(crate) mod stat;
pub(crate) mod text;
pub(crate) mod words;

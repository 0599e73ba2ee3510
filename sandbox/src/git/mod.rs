//! The only folder that starts git. Its environment is built, never inherited: no hooks, no filters, no settings of
//! others, no fetch, no prompt (docs/security.md).

pub(crate) mod batch;
pub(crate) mod deflate;
pub(crate) mod heard;
pub(crate) mod id;
pub(crate) mod index;

pub(crate) mod pack_index;
pub(crate) mod pack_writer;
pub(crate) mod present;
pub(crate) mod process;
pub(crate) mod store;
pub(crate) mod user;
pub(crate) mod watch;

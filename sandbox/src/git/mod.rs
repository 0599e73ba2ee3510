//! The only folder that starts git. Its environment is built, never inherited: no hooks, no filters, no settings of
//! others, no fetch, no prompt (docs/security.md).

pub(crate) mod batch;
mod crc;
pub(crate) mod deflate;
pub(crate) mod environment;
pub(crate) mod heard;
pub(crate) mod id;
pub(crate) mod index;
pub(crate) mod index_stats;
pub(crate) mod object_file;
pub(crate) mod objects;
pub(crate) mod pack_index;
mod pack_read;
pub(crate) mod pack_take;
pub(crate) mod pack_writer;
pub(crate) mod present;
pub(crate) mod private;
pub(crate) mod process;
pub(crate) mod spool;
pub(crate) mod store;
mod talk;
pub(crate) mod trees;
pub(crate) mod user;
pub(crate) mod watch;
mod within;

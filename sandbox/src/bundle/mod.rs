//! Bundles: git's own format, one pack behind a header. How they are made, how they leave the sandbox, and how they come.

pub(crate) mod carry;
pub(crate) mod curl;
pub(crate) mod folder;
pub(crate) mod incoming;
pub(crate) mod leave;
pub(crate) mod make;
pub(crate) mod small;
pub(crate) mod spool;
mod unpack;

//! Writes into working trees and into repositories of the user. It does what `plan` says.
//!
//! 1. New files are written whole beside the others, and are on the disk before anything has another name.
//! 2. What is there is never overwritten or deleted: it is renamed to a place of ours, and looked at when all is done.
//! 3. No path is followed through a link: directories are opened one name at a time.

pub(crate) mod aside;
mod asked;
pub(crate) mod beneath;
mod blobs;
pub(crate) mod contents;
pub(crate) mod fill;
mod fill_part;
pub(crate) mod host;
pub(crate) mod parking;
pub(crate) mod place;
pub(crate) mod sidecar;
pub(crate) mod stage;

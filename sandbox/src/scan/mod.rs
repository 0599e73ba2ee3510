//! Where repositories are, and what is in their working trees. Only looks: it follows no link, and opens no pipe and
//! no device.

pub(crate) mod decide;
pub(crate) mod discover;
pub(crate) mod embedded;
pub(crate) mod ignored;
pub(crate) mod known_roots;
pub(crate) mod mapped;
pub(crate) mod names;
pub(crate) mod table;
pub(crate) mod table_file;
pub(crate) mod unversioned;
pub(crate) mod walk;
mod walk_items;

//! What the user's repository says. It is only read here, mostly without asking git.

pub(crate) mod base;
pub(crate) mod branches;
pub(crate) mod head;
pub(crate) mod links;
pub(crate) mod place;
pub(crate) mod plain_settings;
pub(crate) mod reading;
pub(crate) mod refs;
pub(crate) mod settings;
pub(crate) mod stash;
pub(crate) mod stores;
pub(crate) mod waits;

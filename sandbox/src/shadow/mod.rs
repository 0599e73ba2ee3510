//! Our own git directory in each repository, and what decides there which files are ignored.

pub(crate) mod home;
pub(crate) mod open;
pub(crate) mod pack;
pub(crate) mod patterns;
mod reading;
pub(crate) mod rules;
pub(crate) mod scratch;
pub(crate) mod sound;

//! A sandbox as a place to work in: what it has, what its remotes ask, one command of the caller, what can go.

mod ended;
pub(crate) mod leftovers;
pub(crate) mod preflight;
pub(crate) mod remotes;
pub(crate) mod run;

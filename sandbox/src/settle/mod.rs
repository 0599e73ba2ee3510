//! Settles a restore from one state, the undo, to another, the target, that broke off and that nobody finishes
//! (docs/design.md, "Abandoned rollbacks"). What equals the target was written by it, and goes back to the undo. What equals
//! neither was made since, and stays. Then a restore like any other goes there, proves it, or puts everything back.
//!
//! | what                                    | where                                                     |
//! | --------------------------------------- | --------------------------------------------------------- |
//! | branches, HEAD, operations, rules       | `units.rs`, pure: what of a mixture moves, and what stays |
//! | files, and what the restore wrote       | `found.rs`, and `outer.rs` for what left inside another   |
//! | what is in the way of what goes back    | `since.rs`, pure                                          |
//! | the host state, and what wrote it       | `host.rs`, and `beginning.rs` for what was written half   |
//! | the state to go to                      | `goal.rs`, and modes and empty directories in `lists.rs`  |

mod beginning;
pub(crate) mod command;
mod found;
mod goal;
mod host;
mod lists;
mod outer;
mod since;
mod towards;
mod units;

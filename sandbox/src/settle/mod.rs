//! Settles a restore that broke off between two states, the undo and the target, and that nobody finishes
//! (docs/design.md, "Abandoned rollbacks"). What equals one of the two is a remnant of it, and goes to one end. What equals
//! neither was made since, and stays. Then a restore like any other goes there, proves it, or puts everything back.
//!
//! | what                                    | where                                                     |
//! | --------------------------------------- | --------------------------------------------------------- |
//! | branches, HEAD, operations, rules       | `units.rs`, pure: what of a mixture moves, and what stays |
//! | files, and how far everything came      | `found.rs`                                                |
//! | the state to go to                      | `goal.rs`, and modes and empty directories in `lists.rs`  |

pub(crate) mod command;
mod found;
mod goal;
mod lists;
mod units;

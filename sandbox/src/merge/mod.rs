//! Makes captures from captures, without looking at working files: merges bring the changes of one side into the state of
//! now, reverts take them out of it. Only the shadow is written.
//!
//! `git merge-tree` merges the content of files. What it does not know is merged here, each part by itself and pure:
//!
//! | what                        | where          | rule                                                                     |
//! | --------------------------- | -------------- | ------------------------------------------------------------------------ |
//! | HEAD, branches, index       | `host.rs`      | never mixed: those of the other side come whole, or those of now stay    |
//! | modes, empty directories    | `lists.rs`     | three-way for each path, then fitted to the files that were merged       |
//! | repositories inside others  | `nested.rs`    | a path is in one of them, or it is a conflict                            |
//! | files that were not seen    | `unseen.rs`    | that the other side lacks them is not a change of that side              |
//! | marks of conflicts          | `markers.rs`   | a file that got them is a conflict                                       |
//! | what git says of conflicts  | `conflicts.rs` | one conflict for each path, of a kind that the caller knows              |

mod chosen;
pub(crate) mod command;
mod conflicts;
pub(crate) mod edit;
mod export;
mod host;
mod lists;
mod markers;
mod meta;
pub(crate) mod nested;
mod noted;
pub(crate) mod objects;
mod one;
mod paths;
mod rules;
mod sidecar;
mod steps;
mod three_way;
pub(crate) mod trouble;
mod unseen;

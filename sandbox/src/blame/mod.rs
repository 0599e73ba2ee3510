//! Who wrote the lines of a file, and in which repositories a path is a file.
//!
//! Captures of one repository have the parents that the shadow gave them, and the same capture may stand at several
//! places of a timeline. So the history of the timeline is made as commits of its own, in a git directory of this call
//! that reads the objects of the shadow and of the repository. Nothing else is written.

pub(crate) mod command;
pub(crate) mod find;
mod history;
mod objects;
mod porcelain;
mod removal;
mod tree;

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod test_world;

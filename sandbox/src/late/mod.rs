//! Captures what other processes wrote while a restore was at work, from the files that restores put aside. Each capture is
//! the known state of a repository with these files as they are now. Working files are not looked at.
//!
//! 1. A place notes in `storing` which contents a capture took from it, when that capture is made. Nothing else of it changes.
//! 2. When the capture is durable (`late-stored`), they move to `stored`, and what need not be kept is deleted. What a killed
//!    call left out, the next one does.

pub(crate) mod command;
mod names;
mod one;
mod overlay;
pub(crate) mod stored;

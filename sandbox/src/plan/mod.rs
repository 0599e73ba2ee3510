//! What a restore has to do, from two states: the one that is here, and the one to come to. Pure: nothing here reads or
//! writes a file. A dry run, a restore and its way back use the same plan.
//!
//! What is decided here, by the name of its test:
//!
//! | what                | tests                                                                              |
//! | ------------------- | ---------------------------------------------------------------------------------- |
//! | files and links     | `files_tests.rs`: go, come, change; a file and a directory in each other's places  |
//! | files that stay     | `keep.rs`: a reason to stay, unless the path is in the way of one that comes       |
//! | modes, directories  | `sidecar_tests.rs`: listed, usual, hidden, left alone; empty directories           |
//! | branches and HEAD   | `refs_tests.rs`: appear, vanish, move, aliases; the order is one that git takes    |
//! | shared branches     | `shared.rs`: which of the linked worktrees decides                                 |
//! | what leaves         | `beside_tests.rs`: what was there before a repository was, and what nobody knows   |

pub(crate) mod beside;
pub(crate) mod files;
pub(crate) mod keep;
pub(crate) mod refs;
pub(crate) mod shared;
pub(crate) mod sidecar;

use bstr::{BStr, ByteSlice};

/// The directories above a path, the nearest first.
pub(crate) fn above(path: &BStr) -> impl Iterator<Item = &BStr> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let at = rest.rfind_byte(b'/')?;
        rest = rest[..at].as_bstr();
        Some(rest)
    })
}

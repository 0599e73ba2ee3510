//! What a restore has to do, from two states: the one that is here, and the one to come to. Pure: nothing here reads or
//! writes a file. A dry run, a restore and its way back use the same plan.
//!
//! What becomes of one path:
//!
//! 1. Where the target names a path that no capture holds, the restore is refused (`genuine.rs`).
//! 2. The target has it: it is written, unless it is the same now (`files.rs`).
//! 3. The target does not have it: it goes (`files.rs`), unless there is a reason that it stays (`keep.rs`). A path in the way
//!    of one that comes goes nevertheless. Git knows some of the reasons, so `restore/kept.rs` asks for them.
//! 4. Its repository leaves: `unversioned.rs` says what stays. Inside another repository, `restore/leaving_inner.rs` finds the
//!    reasons, and `keep.rs` decides.
//! 5. On the way back, what another process wrote meanwhile stays (`meanwhile.rs`).
//!
//! What no capture holds is in no plan. Where it is in the way, `restore/free.rs` finds it, and the restore is refused.
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
//! | meanwhile           | `meanwhile_tests.rs`: what others wrote, made, or gave another mode                |
//! | what leaves         | `unversioned_tests.rs`: what was there before a repository was, or is not known    |
//! | what is refused     | `genuine_tests.rs`: names that no capture holds, or that lead elsewhere            |

pub(crate) mod files;
pub(crate) mod genuine;
pub(crate) mod keep;
pub(crate) mod meanwhile;
pub(crate) mod refs;
pub(crate) mod shared;
pub(crate) mod sidecar;
pub(crate) mod unversioned;

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

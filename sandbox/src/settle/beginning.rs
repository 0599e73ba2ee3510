//! Files that hold only the beginning of the target's content. Files of an operation in progress are written in place, so one
//! of them may have been written half. A working file gets its name when it is whole (`apply/stage.rs`, `apply/fill.rs`).

use crate::apply::contents::sizes;
use crate::git::id::{Hasher, Id, ObjectKind};
use crate::git::process::Git;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use std::io::{self, Write};

/// Whether one content is the beginning of another, longer one. Neither is in memory as a whole: the beginning has the id of
/// the shorter one.
pub(super) fn is_beginning(shadow: &Shadow, one: Id, other: Id) -> Outcome<bool> {
    let sizes = sizes(shadow, &[one, other])?;
    let (Some(begun), Some(whole)) = (sizes.get(&one), sizes.get(&other)) else {
        return Ok(false);
    };
    if begun >= whole {
        return Ok(false);
    }
    let mut beginning = Beginning {
        hasher: Hasher::of(shadow.format, ObjectKind::Blob, *begun),
        left: *begun,
    };
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["cat-file", "blob"])
        .arg(other.to_string())
        .run_into(&mut beginning)?;
    if !answer.status.success() {
        return Err(Failure::Fault(answer.why()));
    }
    Ok(beginning.hasher.finish().is_ok_and(|found| found == one))
}

/// Takes all that it is given, and computes the id of the first bytes.
struct Beginning {
    hasher: Hasher,
    /// So many of them are still to come.
    left: u64,
}

impl Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        self.hasher.update(&bytes[..most]);
        self.left -= most as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::{Format, id_of};

    #[test]
    fn only_the_first_bytes_count() {
        let id = |text: &str| id_of(Format::Sha1, ObjectKind::Blob, text.as_bytes()).expect("no attack");
        let of_beginning = |most: u64| {
            let mut beginning = Beginning {
                hasher: Hasher::of(Format::Sha1, ObjectKind::Blob, most),
                left: most,
            };
            for piece in ["one ", "two ", "three"] {
                beginning.write_all(piece.as_bytes()).expect("it takes all");
            }
            beginning.hasher.finish().expect("no attack")
        };
        assert_eq!(of_beginning(0), id(""));
        assert_eq!(of_beginning(3), id("one"));
        assert_eq!(of_beginning(6), id("one tw"));
        assert_eq!(of_beginning(13), id("one two three"));
    }
}

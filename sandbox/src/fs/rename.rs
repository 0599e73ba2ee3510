//! Renames that never overwrite.

use crate::fs::kind::kind;
use bstr::{BStr, ByteSlice};
use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// A name in an open directory.
pub(crate) type Named<'name> = (BorrowedFd<'name>, &'name BStr);

/// Whether the file system does not know a rename that looks at what is there.
fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Gives something another name. `EXIST`: there is something of that name already. Where the file system has no such
/// rename, a file gets the name as a link.
pub(crate) fn rename_to_free(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    let renamed = renameat_with(
        from.0,
        from.1.as_bytes(),
        to.0,
        to.1.as_bytes(),
        RenameFlags::NOREPLACE,
    );
    match renamed {
        Err(error) if is_unknown(error) => {
            linkat(from.0, from.1.as_bytes(), to.0, to.1.as_bytes(), AtFlags::empty())?;
            unlinkat(from.0, from.1.as_bytes(), AtFlags::empty())
        }
        other => other,
    }
}

/// Gives a file or a directory another path. `EXIST`: there is something already. Where the file system has no such rename,
/// it is looked at before.
pub(crate) fn rename_new(from: &Path, to: &Path) -> Result<(), Errno> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(error) if is_unknown(error) => match kind(to) {
            Some(_) => Err(Errno::EXIST),
            None => rustix::fs::rename(from, to),
        },
        other => other,
    }
}

/// Gives each of two the other's name, at once.
pub(crate) fn exchange(one: Named<'_>, other: Named<'_>) -> Result<(), Errno> {
    renameat_with(
        one.0,
        one.1.as_bytes(),
        other.0,
        other.1.as_bytes(),
        RenameFlags::EXCHANGE,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::handle::Handle;
    use std::fs;
    use std::os::fd::AsFd;

    #[test]
    fn a_name_that_is_taken_is_not_given() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let handle = Handle::top(top.path()).expect("it can be opened");
        let open = handle.open().expect("it can be opened");
        let at = |name: &'static str| (open.as_fd(), BStr::new(name));
        for name in ["a", "b"] {
            fs::write(top.path().join(name), name).expect("a file");
        }
        assert_eq!(rename_to_free(at("a"), at("b")), Err(Errno::EXIST));
        assert_eq!(rename_to_free(at("a"), at("c")), Ok(()));
        exchange(at("b"), at("c")).expect("both are there");
        let text = |name: &str| fs::read_to_string(top.path().join(name)).expect("it is there");
        assert_eq!((text("b"), text("c")), ("a".into(), "b".into()));
    }
}

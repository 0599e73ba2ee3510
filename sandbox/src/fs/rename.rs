//! Renames that never overwrite.

use crate::fs::directory::kind_in;
use crate::fs::kind::kind;
use bstr::{BStr, ByteSlice};
use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// A name in an open directory.
pub(crate) type Named<'name> = (BorrowedFd<'name>, &'name BStr);

/// Whether the system does not know a rename that looks at what is there, the file system does not, or a filter of calls
/// forbids it.
fn is_unknown(error: Errno) -> bool {
    matches!(
        error,
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM
    )
}

/// Gives a file or a link another name. `EXIST`: there is something of that name already. Where there is no such rename, it gets
/// the name as a link. Where there are no links either, the name is looked at before.
pub(crate) fn rename_to_free(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    let renamed = renameat_with(
        from.0,
        from.1.as_bytes(),
        to.0,
        to.1.as_bytes(),
        RenameFlags::NOREPLACE,
    );
    match renamed {
        Err(error) if is_unknown(error) => link_to_free(from, to),
        other => other,
    }
}

/// Takes a file or a link into a directory that only this program writes to. `EXIST`: there is something of that name already.
/// It is one rename, so what another process gives the old name meanwhile is taken, or stays.
pub(crate) fn rename_to_ours(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    let (old, new) = (from.1.as_bytes(), to.1.as_bytes());
    match renameat_with(from.0, old, to.0, new, RenameFlags::NOREPLACE) {
        Err(error) if is_unknown(error) => rename_after_a_look(from, to),
        other => other,
    }
}

fn rename_after_a_look(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    match kind_in(to.0, to.1) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => renameat(from.0, from.1.as_bytes(), to.0, to.1.as_bytes()),
        Err(error) => Err(error),
    }
}

fn link_to_free(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    let (old, new) = (from.1.as_bytes(), to.1.as_bytes());
    match linkat(from.0, old, to.0, new, AtFlags::empty()) {
        Ok(()) => unlinkat(from.0, old, AtFlags::empty()).inspect_err(|_| {
            // The file has its old name, so nothing goes.
            let _ = unlinkat(to.0, new, AtFlags::empty());
        }),
        // The file system has no links, or the file belongs to another user.
        Err(Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP | Errno::MLINK) => rename_after_a_look(from, to),
        Err(error) => Err(error),
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

/// Gives a directory another name. An empty directory of that name goes. `EXIST`, `NOTEMPTY`, `NOTDIR`: there is something
/// else.
pub(crate) fn rename_directory(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    renameat(from.0, from.1.as_bytes(), to.0, to.1.as_bytes())
}

/// Gives each of two the other's name, at once. Nothing happened: that is impossible here.
pub(crate) fn exchange(one: Named<'_>, other: Named<'_>) -> Result<Option<()>, Errno> {
    let exchanged = renameat_with(
        one.0,
        one.1.as_bytes(),
        other.0,
        other.1.as_bytes(),
        RenameFlags::EXCHANGE,
    );
    match exchanged {
        Err(error) if error == Errno::XDEV || is_unknown(error) => Ok(None),
        other => other.map(Some),
    }
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
        assert_eq!(exchange(at("b"), at("c")), Ok(Some(())));
        for name in ["d", "e", "f"] {
            fs::create_dir(top.path().join(name)).expect("a directory");
        }
        fs::write(top.path().join("f/x"), "x").expect("a file");
        assert_eq!(rename_directory(at("f"), at("e")), Ok(()));
        assert_eq!(rename_directory(at("d"), at("b")), Err(Errno::NOTDIR));
        let taken = rename_directory(at("d"), at("e"));
        assert!(matches!(taken, Err(Errno::NOTEMPTY | Errno::EXIST)), "{taken:?}");
        let text = |name: &str| fs::read_to_string(top.path().join(name)).expect("it is there");
        assert_eq!((text("b"), text("c")), ("a".into(), "b".into()));
    }

    #[test]
    fn without_such_a_rename_nothing_is_overwritten_either() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let handle = Handle::top(top.path()).expect("it can be opened");
        let open = handle.open().expect("it can be opened");
        let at = |name: &'static str| (open.as_fd(), BStr::new(name));
        for name in ["a", "b"] {
            fs::write(top.path().join(name), name).expect("a file");
        }
        fs::create_dir(top.path().join("d")).expect("a directory");
        assert_eq!(link_to_free(at("a"), at("b")), Err(Errno::EXIST));
        assert_eq!(link_to_free(at("a"), at("c")), Ok(()));
        // A directory has no second name.
        assert_eq!(link_to_free(at("d"), at("c")), Err(Errno::EXIST));
        assert_eq!(link_to_free(at("d"), at("e")), Ok(()));
        let mut names: Vec<_> = fs::read_dir(top.path())
            .expect("it can be read")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["b", "c", "e"]);
    }
}

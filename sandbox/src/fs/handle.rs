//! Directories of one tree, each opened from one above it, however deep they are.
//!
//! Not every handle keeps its descriptor: a tree may be deeper than a process may have open files. The others are
//! opened again on the way down from the nearest one that has it.

use crate::fs::directory::open_in;
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// All handles up to this depth keep their descriptor, and below it every so many.
const SHALLOW: usize = 24;
const EVERY: usize = 32;

/// Whether this is a name in a directory, and leads nowhere else.
pub(crate) fn is_name(name: &BStr) -> bool {
    !matches!(name.as_bytes(), b"" | b"." | b"..") && !name.contains(&b'/')
}

/// A directory in a tree.
#[derive(Debug)]
pub(crate) struct Handle {
    above: Option<Arc<Handle>>,
    name: BString,
    depth: usize,
    kept: Option<OwnedFd>,
}

/// A descriptor that is kept by a handle, or lives as long as it is used.
pub(crate) enum Open<'handle> {
    Kept(BorrowedFd<'handle>),
    Own(OwnedFd),
}

impl AsFd for Open<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Open::Kept(descriptor) => *descriptor,
            Open::Own(descriptor) => descriptor.as_fd(),
        }
    }
}

impl Handle {
    /// The top of a tree. The path may lead through links, as the caller meant it.
    pub(crate) fn top(path: &Path) -> Result<Arc<Self>, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Arc::new(Handle {
            above: None,
            name: BString::default(),
            depth: 0,
            kept: Some(descriptor),
        }))
    }

    /// A directory in this one, opened.
    pub(crate) fn enter(self: &Arc<Self>, name: &BStr) -> Result<Arc<Self>, Errno> {
        if !is_name(name) {
            return Err(Errno::INVAL);
        }
        let descriptor = open_in(self.open()?.as_fd(), name)?;
        let depth = self.depth + 1;
        let is_kept = depth < SHALLOW || depth.is_multiple_of(EVERY);
        Ok(Arc::new(Handle {
            above: Some(Arc::clone(self)),
            name: name.to_owned(),
            depth,
            kept: is_kept.then_some(descriptor),
        }))
    }

    /// The directory below this one that has this path. Names are separated by `/`; an empty path is this one.
    pub(crate) fn descend(self: &Arc<Self>, path: &BStr) -> Result<Arc<Self>, Errno> {
        let mut at = Arc::clone(self);
        for name in path.split_str("/").filter(|name| !name.is_empty()) {
            at = at.enter(name.as_bstr())?;
        }
        Ok(at)
    }

    pub(crate) fn open(&self) -> Result<Open<'_>, Errno> {
        if let Some(descriptor) = &self.kept {
            return Ok(Open::Kept(descriptor.as_fd()));
        }
        // The top keeps its descriptor, so there is one above.
        let above = self.above.as_ref().ok_or(Errno::BADF)?;
        open_in(above.open()?.as_fd(), self.name.as_bstr()).map(Open::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::directory::entries;

    #[test]
    fn no_name_leads_out() {
        let top = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(top.path().join("in")).expect("a directory");
        let handle = Handle::top(&top.path().join("in")).expect("it can be opened");
        for path in ["..", "../in", "."] {
            assert!(handle.descend(BStr::new(path)).is_err(), "{path}");
        }
        assert!(handle.enter(BStr::new("a/b")).is_err());
    }

    #[test]
    fn a_tree_that_is_deeper_than_a_path_may_be_long_is_reached() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let mut at = Handle::top(top.path()).expect("it can be opened");
        let name = BString::from("d".repeat(200));
        for _ in 0..100 {
            let open = at.open().expect("it can be opened");
            rustix::fs::mkdirat(open.as_fd(), name.as_bytes(), Mode::from_bits_retain(0o755))
                .expect("a directory");
            drop(open);
            at = at.enter(name.as_bstr()).expect("it can be entered");
        }
        let path = BString::from(vec![name.to_string(); 99].join("/"));
        let deep = Handle::top(top.path())
            .and_then(|top| top.descend(path.as_bstr()))
            .expect("it is there");
        let open = deep.open().expect("it can be opened");
        let found = entries(open.as_fd()).expect("it can be read");
        assert_eq!(found.iter().map(|entry| &entry.name).collect::<Vec<_>>(), [&name]);
    }
}

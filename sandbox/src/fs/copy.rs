//! Copies what a rename cannot move, because it goes to another file system: contents, modes, times, owners, links, and
//! extended attributes as far as the other file system keeps them. Links are copied, and never followed.

use crate::fs::directory::entries;
use crate::fs::handle::Handle;
use crate::fs::rename::{Named, rename_to_free};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, XattrFlags, chmodat, chownat,
    fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat, fsync, futimens, linkat, mkdirat, mknodat,
    openat, readlinkat, statat, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// How often a file is copied that other processes change meanwhile.
const TRIES: usize = 3;
/// A new file whose name begins so is on its way to its own.
const NEW: &str = ".walkback-new";
/// How many of these names are tried.
const NAMES: usize = 100;

/// A name in a directory of a tree.
pub(crate) type At<'at> = (&'at Arc<Handle>, &'at BStr);
/// Files with several names, by device and inode, and where the copy of each is.
type Linked = HashMap<(u64, u64), (Arc<Handle>, BString)>;

/// Copies a name with all that is below it. Nothing may be there. The copy is on the disk then.
pub(crate) fn tree(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    any(from, to, &mut Linked::new())?;
    rustix::fs::syncfs(to.0.open()?)
}

fn any(from: At<'_>, to: At<'_>, linked: &mut Linked) -> Result<(), Errno> {
    let (there, new) = (from.0.open()?, to.0.open()?);
    let found = look((there.as_fd(), from.1))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        if found.st_nlink > 1 {
            let key = (found.st_dev, found.st_ino);
            if let Some((directory, name)) = linked.get(&key) {
                let open = directory.open()?;
                return linkat(open, name.as_bytes(), &new, to.1.as_bytes(), AtFlags::empty());
            }
            linked.insert(key, (Arc::clone(to.0), to.1.to_owned()));
        }
        return leaf((there.as_fd(), from.1), (new.as_fd(), to.1), &found);
    }
    mkdirat(&new, to.1.as_bytes(), Mode::from_bits_retain(0o700))?;
    let (inside, copy) = (from.0.enter(from.1)?, to.0.enter(to.1)?);
    for entry in entries(inside.open()?.as_fd())? {
        let name = entry.name.as_bstr();
        any((&inside, name), (&copy, name), linked)?;
    }
    attributes(inside.open()?.as_fd(), copy.open()?.as_fd(), &found)
}

fn look(at: Named<'_>) -> Result<Stat, Errno> {
    statat(at.0, at.1.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)
}

/// Copies one that is no directory.
fn leaf(from: Named<'_>, to: Named<'_>, found: &Stat) -> Result<(), Errno> {
    let (directory, name) = (to.0, to.1.as_bytes());
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => return Err(Errno::ISDIR),
        FileType::RegularFile => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(directory, name, flags, Mode::from_bits_retain(0o600))?;
            return content(from, File::from(file), found).map(drop);
        }
        FileType::Symlink => {
            let target = readlinkat(from.0, from.1.as_bytes(), Vec::new())?;
            symlinkat(target, directory, name)?;
        }
        other => {
            mknodat(
                directory,
                name,
                other,
                Mode::from_bits_retain(0o600),
                found.st_rdev,
            )?;
        }
    }
    let (user, group) = owner(found);
    may_own(chownat(directory, name, user, group, AtFlags::SYMLINK_NOFOLLOW))?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
        chmodat(directory, name, mode(found), AtFlags::empty())?;
    }
    utimensat(directory, name, &times(found), AtFlags::SYMLINK_NOFOLLOW)
}

/// Fills a new file.
fn content(from: Named<'_>, mut file: File, found: &Stat) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut source = File::from(openat(from.0, from.1.as_bytes(), flags, Mode::empty())?);
    if FileType::from_raw_mode(fstat(&source)?.st_mode) != FileType::RegularFile {
        return Err(Errno::AGAIN);
    }
    let why = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    io::copy(&mut source, &mut file).map_err(why)?;
    attributes(source.as_fd(), file.as_fd(), found)?;
    Ok(file)
}

fn attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>, found: &Stat) -> Result<(), Errno> {
    let (user, group) = owner(found);
    may_own(fchown(to, user, group))?;
    let mut names = [0_u8; 16 * 1024];
    let length = flistxattr(from, &mut names[..]).unwrap_or(0);
    if length > 0 {
        let mut value = vec![0_u8; 64 * 1024];
        for name in names[..length]
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
        {
            // As far as the other file system, and this user, can keep them.
            if let Ok(size) = fgetxattr(from, name, &mut value[..]) {
                let _ = fsetxattr(to, name, &value[..size], XattrFlags::empty());
            }
        }
    }
    fchmod(to, mode(found))?;
    futimens(to, &times(found))
}

fn owner(found: &Stat) -> (Option<Uid>, Option<Gid>) {
    (
        Some(Uid::from_raw(found.st_uid)),
        Some(Gid::from_raw(found.st_gid)),
    )
}

/// Only root can give files away.
fn may_own(done: Result<(), Errno>) -> Result<(), Errno> {
    match done {
        Err(Errno::PERM | Errno::INVAL) => Ok(()),
        other => other,
    }
}

fn mode(found: &Stat) -> Mode {
    Mode::from_bits_retain(found.st_mode & 0o7777)
}

fn times(found: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: found.st_atime,
            tv_nsec: found.st_atime_nsec as _,
        },
        last_modification: Timespec {
            tv_sec: found.st_mtime,
            tv_nsec: found.st_mtime_nsec as _,
        },
    }
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    let key = |stat: &Stat| {
        (
            stat.st_ino,
            stat.st_size,
            (stat.st_mtime, stat.st_mtime_nsec),
            (stat.st_ctime, stat.st_ctime_nsec),
        )
    };
    key(one) == key(other)
}

fn remove_if_there(at: Named<'_>) -> Result<(), Errno> {
    match unlinkat(at.0, at.1.as_bytes(), AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

/// Moves a file or a link to a name in another file system. The copy is whole and on the disk before it has that name, and
/// then the original goes. `part` is the name of the copy until then. `EXIST`: there is something of that name already.
pub(crate) fn move_leaf(from: Named<'_>, part: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    for _ in 0..TRIES {
        remove_if_there(part)?;
        let before = look(from)?;
        let copied = leaf(from, part, &before).and_then(|()| sync(part));
        if let Err(error) = copied {
            // The disk may be full.
            let _ = remove_if_there(part);
            return Err(error);
        }
        if is_same(&before, &look(from)?) {
            if let Err(error) = rename_to_free(part, to) {
                remove_if_there(part)?;
                return Err(error);
            }
            fsync(to.0)?;
            return unlinkat(from.0, from.1.as_bytes(), AtFlags::empty()).inspect_err(|_| {
                // The original stays, so this is in the way of nothing.
                let _ = remove_if_there(to);
            });
        }
    }
    let _ = remove_if_there(part);
    Err(Errno::AGAIN)
}

fn sync(at: Named<'_>) -> Result<(), Errno> {
    if FileType::from_raw_mode(look(at)?.st_mode) != FileType::RegularFile {
        return fsync(at.0);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fsync(openat(at.0, at.1.as_bytes(), flags, Mode::empty())?)
}

/// Gives a copy of a file or a link of ours a name in another file system. It is whole when it has the name. `EXIST`: there
/// is something of that name already. `begins` is told of another name in the same directory before the copy has that one.
pub(crate) fn place_leaf(
    from: Named<'_>,
    to: Named<'_>,
    begins: impl FnOnce(&BStr) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let found = look(from)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return leaf(from, to, &found);
    }
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    // Not every file system has files without a name.
    if let Ok(file) = openat(to.0, ".", flags, Mode::from_bits_retain(0o600)) {
        let file = content(from, File::from(file), &found)?;
        fsync(&file)?;
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        match linkat(CWD, link, to.0, to.1.as_bytes(), AtFlags::SYMLINK_FOLLOW) {
            Err(Errno::NOENT | Errno::OPNOTSUPP | Errno::XDEV) => {}
            other => return other,
        }
    }
    place_named((from, &found), to, begins)
}

/// The same with another name until the copy is whole.
fn place_named(
    (from, found): (Named<'_>, &Stat),
    to: Named<'_>,
    begins: impl FnOnce(&BStr) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let name = free_name(to.0)?;
    begins(name.as_bstr())?;
    let new = (to.0, name.as_bstr());
    let placed = leaf(from, new, found)
        .and_then(|()| sync(new))
        .and_then(|()| rename_to_free(new, to));
    placed.inspect_err(|_| {
        let _ = remove_if_there(new);
    })
}

/// A name that nothing in a directory has.
fn free_name(directory: BorrowedFd<'_>) -> Result<BString, Errno> {
    for number in 0..NAMES {
        let name = BString::from(format!("{NEW}{number}"));
        match look((directory, name.as_bstr())) {
            Err(Errno::NOENT) => return Ok(name),
            other => drop(other?),
        }
    }
    Err(Errno::EXIST)
}

/// Gives a file of ours another path, where another one may be. In another file system it is copied: whole, and on the disk,
/// before it has its name.
pub(crate) fn move_over(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        other => return other,
    }
    let name = to.file_name().unwrap_or_default();
    // Git removes such files itself when they are old.
    let part = to.with_file_name(OsStr::from_bytes(&[b"tmp_", name.as_bytes()].concat()));
    let copied = fs::copy(from, &part)
        .and_then(|_| File::open(&part)?.sync_all())
        .and_then(|()| fs::rename(&part, to));
    if copied.is_err() {
        let _ = fs::remove_file(&part);
    }
    copied.and_then(|()| fs::remove_file(from))
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;

//! Which calls of the system change what is on the disk, and which paths they are about.

use crate::spec::Kind;
use crate::tracee::Tracee;
use nix::libc;
use std::io;
use std::path::{Path, PathBuf};

/// Where a call names a path: numbers of arguments.
#[derive(Clone, Copy)]
enum Named {
    Descriptor(usize),
    Path(usize),
    At(usize, usize),
}

use Named::{At, Descriptor, Path as Plain};

struct Shape {
    kind: Kind,
    name: &'static str,
    named: &'static [Named],
    /// The argument that says how much is written.
    length: Option<usize>,
}

/// A call that counts.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) paths: Vec<PathBuf>,
    /// The argument that names an open file, where one does.
    pub(crate) descriptor: Option<usize>,
    /// Of an `open` or a rename.
    pub(crate) flags: u64,
    pub(crate) length: Option<usize>,
}

const fn shape(kind: Kind, name: &'static str, named: &'static [Named]) -> Option<Shape> {
    Some(Shape {
        kind,
        name,
        named,
        length: None,
    })
}

const fn writing(name: &'static str, named: &'static [Named], length: usize) -> Option<Shape> {
    Some(Shape {
        kind: Kind::Writes,
        name,
        named,
        length: Some(length),
    })
}

/// The flags of an `open`, where it may make or empty a file.
fn is_creating(flags: u64) -> bool {
    let flags = flags as i32;
    flags & (libc::O_CREAT | libc::O_TRUNC) != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE
}

pub(crate) fn flags_of(tracee: &Tracee) -> io::Result<u64> {
    Ok(match tracee.number() {
        libc::SYS_open => tracee.argument(1),
        libc::SYS_creat => (libc::O_CREAT | libc::O_TRUNC) as u64,
        libc::SYS_openat => tracee.argument(2),
        libc::SYS_openat2 => tracee.word(tracee.argument(2))?,
        libc::SYS_renameat2 => tracee.argument(4),
        _ => 0,
    })
}

fn opening(tracee: &Tracee) -> io::Result<Option<Shape>> {
    let (name, named): (_, &[Named]) = match tracee.number() {
        libc::SYS_open => ("open", &[Plain(0)]),
        libc::SYS_creat => ("creat", &[Plain(0)]),
        libc::SYS_openat => ("openat", &[At(0, 1)]),
        libc::SYS_openat2 => ("openat2", &[At(0, 1)]),
        _ => return Ok(None),
    };
    Ok(is_creating(flags_of(tracee)?).then_some(Shape {
        kind: Kind::Creates,
        name,
        named,
        length: None,
    }))
}

fn shape_of(tracee: &Tracee) -> io::Result<Option<Shape>> {
    Ok(match tracee.number() {
        libc::SYS_write => writing("write", &[Descriptor(0)], 2),
        libc::SYS_pwrite64 => writing("pwrite64", &[Descriptor(0)], 2),
        libc::SYS_writev => writing("writev", &[Descriptor(0)], 2),
        libc::SYS_pwritev => writing("pwritev", &[Descriptor(0)], 2),
        libc::SYS_sendfile => writing("sendfile", &[Descriptor(0)], 3),
        libc::SYS_copy_file_range => writing("copy_file_range", &[Descriptor(2)], 4),
        libc::SYS_ftruncate => shape(Kind::Writes, "ftruncate", &[Descriptor(0)]),
        libc::SYS_truncate => shape(Kind::Writes, "truncate", &[Plain(0)]),
        libc::SYS_fallocate => shape(Kind::Writes, "fallocate", &[Descriptor(0)]),
        libc::SYS_rename => shape(Kind::Renames, "rename", &[Plain(0), Plain(1)]),
        libc::SYS_renameat => shape(Kind::Renames, "renameat", &[At(0, 1), At(2, 3)]),
        libc::SYS_renameat2 => shape(Kind::Renames, "renameat2", &[At(0, 1), At(2, 3)]),
        libc::SYS_link => shape(Kind::Links, "link", &[Plain(0), Plain(1)]),
        libc::SYS_linkat => shape(Kind::Links, "linkat", &[At(0, 1), At(2, 3)]),
        libc::SYS_symlink => shape(Kind::Links, "symlink", &[Plain(1)]),
        libc::SYS_symlinkat => shape(Kind::Links, "symlinkat", &[At(1, 2)]),
        libc::SYS_unlink => shape(Kind::Removals, "unlink", &[Plain(0)]),
        libc::SYS_unlinkat => shape(Kind::Removals, "unlinkat", &[At(0, 1)]),
        libc::SYS_rmdir => shape(Kind::Removals, "rmdir", &[Plain(0)]),
        libc::SYS_mkdir => shape(Kind::Directories, "mkdir", &[Plain(0)]),
        libc::SYS_mkdirat => shape(Kind::Directories, "mkdirat", &[At(0, 1)]),
        libc::SYS_chmod => shape(Kind::Modes, "chmod", &[Plain(0)]),
        libc::SYS_fchmod => shape(Kind::Modes, "fchmod", &[Descriptor(0)]),
        libc::SYS_fchmodat => shape(Kind::Modes, "fchmodat", &[At(0, 1)]),
        libc::SYS_fchmodat2 => shape(Kind::Modes, "fchmodat2", &[At(0, 1)]),
        libc::SYS_chown => shape(Kind::Modes, "chown", &[Plain(0)]),
        libc::SYS_lchown => shape(Kind::Modes, "lchown", &[Plain(0)]),
        libc::SYS_fchown => shape(Kind::Modes, "fchown", &[Descriptor(0)]),
        libc::SYS_fchownat => shape(Kind::Modes, "fchownat", &[At(0, 1)]),
        libc::SYS_utimensat => shape(Kind::Modes, "utimensat", &[At(0, 1)]),
        libc::SYS_fsync => shape(Kind::Syncs, "fsync", &[Descriptor(0)]),
        libc::SYS_fdatasync => shape(Kind::Syncs, "fdatasync", &[Descriptor(0)]),
        libc::SYS_syncfs => shape(Kind::Syncs, "syncfs", &[Descriptor(0)]),
        _ => opening(tracee)?,
    })
}

/// What a thread is about to do, where that is below the root. A path that leads nowhere makes the call fail by itself.
pub(crate) fn call_of(tracee: &Tracee, root: &Path) -> Option<Call> {
    let shape = shape_of(tracee).ok()??;
    let paths: io::Result<Vec<PathBuf>> = shape
        .named
        .iter()
        .map(|named| match *named {
            Descriptor(at) => tracee.descriptor(at),
            Plain(at) => tracee.path(None, at),
            At(directory, at) => tracee.path(Some(directory), at),
        })
        .collect();
    let paths = paths.ok()?;
    paths.iter().any(|path| path.starts_with(root)).then_some(Call {
        kind: shape.kind,
        name: shape.name,
        paths,
        descriptor: shape.named.iter().find_map(|named| match *named {
            Descriptor(at) => Some(at),
            Plain(_) | At(_, _) => None,
        }),
        flags: flags_of(tracee).unwrap_or_default(),
        length: shape.length,
    })
}

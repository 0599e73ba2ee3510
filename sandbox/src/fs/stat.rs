//! What the system says of a file without opening it, in the form in which it is compared and kept.

use crate::fs::directory::kind_of;
use crate::fs::kind::Kind;
use bstr::{BStr, ByteSlice};
use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;
use std::os::fd::AsFd;

/// Everything that changes when the content may have changed. Times are nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
}

pub(crate) fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

impl Stat {
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Self {
        Stat {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size as u64,
            mode: stat.st_mode,
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec as i64),
        }
    }

    /// Permission bits, with those for set-id and sticky.
    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Whether git keeps it as executable.
    pub(crate) fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    pub(crate) fn kind(&self) -> Kind {
        // All types that the kernel knows have a kind.
        kind_of(FileType::from_raw_mode(self.mode)).unwrap_or(Kind::Waits)
    }
}

/// The same, with the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) stat: Stat,
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl Owned {
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Self {
        Owned {
            stat: Stat::of(stat),
            user: stat.st_uid,
            group: stat.st_gid,
        }
    }
}

/// Looks at a name in a directory. A link is not followed.
pub(crate) fn stat_in(parent: impl AsFd, name: &BStr) -> Result<Stat, Errno> {
    statat(parent, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stat::of(&stat))
}

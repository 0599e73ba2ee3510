//! Reads the content of files and links.
//!
//! A file that changes while it is read is read again, up to three times. What the last reading saw counts then: its
//! entry is not sure, so the next look reads it once more.

use crate::fs::kind::Kind;
use crate::fs::stat::{Stat, stat_in};
use crate::fs::words::words;
use crate::git::id::{Hasher, Id, ObjectKind, id_of};
use crate::git::store::{NotStored, ObjectStore, read_exactly};
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Reporter;
use bstr::{BStr, ByteSlice};
use rustix::fs::{Mode, OFlags, fstat, openat, readlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::BorrowedFd;

/// A content of up to so many bytes is read as a whole.
const WHOLE: u64 = 1 << 20;
const TRIES: usize = 3;

/// A file or link as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) stat: Stat,
    pub(crate) id: Id,
    /// It did not change while it was read.
    pub(crate) is_steady: bool,
}

/// What came of reading a path.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    Read(Content),
    /// Nothing that is captured is there any more.
    Gone,
    /// It cannot be captured, for this reason.
    Lost(String),
}

/// What is done with a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Only its id is wanted.
    Name,
    Store,
}

/// Reads a name in an open directory.
pub(crate) fn read(
    (store, reporter): (&ObjectStore, &Reporter),
    directory: BorrowedFd<'_>,
    name: &BStr,
    purpose: Purpose,
) -> Outcome<Reading> {
    let stat = match stat_in(directory, name) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Reading::Gone),
        Err(why) => {
            return Ok(Reading::Lost(format!(
                "the file cannot be reached: {}",
                words(why)
            )));
        }
    };
    match stat.kind() {
        Kind::File => read_file((store, reporter), directory, name, purpose),
        Kind::Link => read_link(store, directory, name, stat, purpose),
        Kind::Directory | Kind::Socket | Kind::Waits => Ok(Reading::Gone),
    }
}

fn cannot_read(why: Errno) -> Reading {
    match why {
        // A link or nothing has taken its place.
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR => Reading::Gone,
        other => Reading::Lost(format!("the file cannot be read: {}", words(other))),
    }
}

fn read_link(
    store: &ObjectStore,
    directory: BorrowedFd<'_>,
    name: &BStr,
    stat: Stat,
    purpose: Purpose,
) -> Outcome<Reading> {
    let target = match readlinkat(directory, name.as_bytes(), Vec::new()) {
        Ok(target) => target.into_bytes(),
        Err(Errno::INVAL) => return Ok(Reading::Gone),
        Err(why) => return Ok(cannot_read(why)),
    };
    let id = match id_of(store.format, ObjectKind::Blob, &target) {
        Ok(id) => id,
        Err(attack) => return Ok(Reading::Lost(attack.to_string())),
    };
    if purpose == Purpose::Store {
        store.stage(ObjectKind::Blob, id, &target)?;
    }
    let is_steady = stat_in(directory, name) == Ok(stat);
    Ok(Reading::Read(Content { stat, id, is_steady }))
}

fn read_file(
    (store, reporter): (&ObjectStore, &Reporter),
    directory: BorrowedFd<'_>,
    name: &BStr,
    purpose: Purpose,
) -> Outcome<Reading> {
    // A pipe that took the place of the file does not make this wait.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut last = Reading::Gone;
    for _ in 0..TRIES {
        let file = match openat(directory, name.as_bytes(), flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(why) => return Ok(cannot_read(why)),
        };
        let before = Stat::of(&fstat(&file).context("a file cannot be looked at", name.to_string())?);
        if before.kind() != Kind::File {
            return Ok(Reading::Gone);
        }
        let counted = reporter.large(&file, before.size);
        let id = match content_of(store, counted, before.size, purpose) {
            Ok(id) => id,
            Err(NotStored::Changed) => {
                last =
                    Reading::Lost("somebody was writing it each of the three times it was read".to_owned());
                continue;
            }
            Err(NotStored::Unread(error)) => {
                let why = Errno::from_io_error(&error).map_or_else(|| error.to_string(), words);
                return Ok(Reading::Lost(format!("the file cannot be read: {why}")));
            }
            Err(NotStored::Collision(attack)) => return Ok(Reading::Lost(attack.to_string())),
            Err(NotStored::Unwritten(failure)) => return Err(failure),
        };
        let after = Stat::of(&fstat(&file).context("a file cannot be looked at", name.to_string())?);
        last = Reading::Read(Content {
            stat: before,
            id,
            is_steady: before == after,
        });
        if before == after {
            break;
        }
    }
    Ok(last)
}

fn content_of(
    store: &ObjectStore,
    mut file: impl Read,
    size: u64,
    purpose: Purpose,
) -> Result<Id, NotStored> {
    if purpose == Purpose::Name {
        let mut hasher = Hasher::of(store.format, ObjectKind::Blob, size);
        read_exactly(&mut file, size, |piece| hasher.update(piece))?;
        return Ok(hasher.finish()?);
    }
    if size > WHOLE {
        return store.stage_stream(file, size);
    }
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    read_exactly(&mut file, size, |piece| content.extend_from_slice(piece))?;
    let id = id_of(store.format, ObjectKind::Blob, &content)?;
    store
        .stage(ObjectKind::Blob, id, &content)
        .map_err(NotStored::from)?;
    Ok(id)
}

impl From<NotStored> for Failure {
    fn from(error: NotStored) -> Self {
        match error {
            NotStored::Unwritten(failure) => failure,
            other @ (NotStored::Unread(_) | NotStored::Changed | NotStored::Collision(_)) => {
                Failure::Fault(other.to_string())
            }
        }
    }
}

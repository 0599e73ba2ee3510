//! The files that one thread writes where a repository is filled.

use crate::apply::beneath::Beneath;
use crate::apply::blobs::Blobs;
use crate::apply::contents::{Counting, Lacking};
use crate::apply::fill::Written;
use crate::capture::tree::TreeMode;
use crate::fs::stat::Owned;
use crate::fs::words::words;
use crate::git::id::{Hasher, Id, ObjectKind, Sum, header, id_of};
use crate::git::spool::Spooled;
use crate::plan::files::Content;
use crate::plan::sidecar::Sidecar;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::{Counter, Reporter};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{
    AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, fchmod, fstat, futimens, openat, readlinkat,
    statat, symlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that are read back at once.
const PIECE: usize = 64 * 1024;

pub(super) struct Part<'fill> {
    pub(super) shadow: &'fill Shadow,
    pub(super) spooled: Option<&'fill Spooled>,
    pub(super) top: &'fill Path,
    pub(super) modes: &'fill Sidecar,
    /// The time that files get, in seconds.
    pub(super) time: i64,
    /// Larger contents pass through.
    pub(super) large: u64,
    pub(super) counter: &'fill Counter<'fill>,
    pub(super) reporter: &'fill Reporter,
}

/// A directory of ours, and a name in it.
type Place<'place> = (std::os::fd::BorrowedFd<'place>, &'place BStr);

fn failed(path: &BStr, why: impl std::fmt::Display) -> Failure {
    Failure::Fault(format!("{path} cannot be written: {why}"))
}

impl Part<'_> {
    pub(super) fn write(&self, files: &[(&BString, &Content)]) -> Outcome<Result<Vec<Written>, Lacking>> {
        let tree = Beneath::new(self.top).context("it cannot be opened", self.top)?;
        let mut blobs = Blobs::of(
            self.shadow,
            self.spooled,
            files.iter().map(|(_, content)| content.id),
        )?;
        let mut all = Vec::with_capacity(files.len());
        let mut room = Vec::new();
        for (path, content) in files {
            let path = path.as_bstr();
            let size = match blobs.size(content.id)? {
                Ok(size) => size,
                Err(lacking) => return Ok(Err(lacking)),
            };
            let (directory, name) = tree
                .parent_made(path, self.modes)
                .map_err(|why| failed(path, words(why)))?;
            let open = directory.open().map_err(|why| failed(path, words(why)))?;
            let place = (open.as_fd(), name);
            let stat = if content.mode == TreeMode::Link {
                self.link(path, place, (content.id, size), &mut blobs)?
            } else {
                let is_executable = content.mode == TreeMode::Executable;
                let mode = self.modes.file_mode(path, is_executable);
                self.file((path, mode), place, (content.id, size), (&mut blobs, &mut room))?
            };
            self.counter.add(1);
            match stat {
                Ok(stat) => all.push(Written {
                    path: path.to_owned(),
                    id: content.id,
                    stat,
                }),
                Err(lacking) => return Ok(Err(lacking)),
            }
        }
        Ok(Ok(all))
    }

    fn file(
        &self,
        (path, mode): (&BStr, u32),
        (open, name): Place<'_>,
        (id, size): (Id, u64),
        (blobs, room): (&mut Blobs<'_>, &mut Vec<u8>),
    ) -> Outcome<Result<Owned, Lacking>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(open, name.as_bytes(), flags, Mode::from_bits_retain(mode & 0o777));
        let mut file = File::from(made.map_err(|why| failed(path, words(why)))?);
        let wrote = if size <= self.large {
            room.clear();
            match blobs.copy(id, size, room)? {
                Ok(()) => {
                    file.write_all(room).map_err(|why| failed(path, why))?;
                    Ok(())
                }
                Err(lacking) => Err(lacking),
            }
        } else {
            let counted = self.reporter.large(&file, size);
            let mut out = Counting::new(counted, Hasher::of(self.shadow.format, ObjectKind::Blob, size));
            let copied = blobs.copy(id, size, &mut out)?;
            copied.and_then(|()| out.finish_as(id))
        };
        if let Err(lacking) = wrote {
            return Ok(Err(lacking));
        }
        // Nobody else has the file, so what is read now is what is on its way to the disk. When git took the object, it looked
        // for attacks.
        let sum = self.sum(&file, size).map_err(|why| failed(path, why))?;
        if sum != id {
            return self.not_whole(path, id, size <= self.large, room);
        }
        let done = || {
            futimens(&file, &self.times())?;
            let found = fstat(&file)?;
            if found.st_mode & 0o7777 == mode {
                return Ok(found);
            }
            fchmod(&file, Mode::from_bits_retain(mode))?;
            fstat(&file)
        };
        let stat = done().map_err(|why| failed(path, words(why)))?;
        if stat.st_size as u64 != size {
            return Err(failed(path, "it has another size than its content"));
        }
        Ok(Ok(Owned::of(&stat)))
    }

    /// The id of what the file has.
    fn sum(&self, file: &File, size: u64) -> io::Result<Id> {
        let mut sum = Sum::new(self.shadow.format);
        sum.update(&header(ObjectKind::Blob, size));
        let mut piece = vec![0; PIECE.min(usize::try_from(size).unwrap_or(PIECE))];
        let mut at = 0;
        while at < size {
            match file.read_at(&mut piece, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    sum.update(&piece[..count]);
                    at += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sum.finish())
    }

    /// The content that git gave was another one, or the file has not got it.
    fn not_whole(
        &self,
        path: &BStr,
        id: Id,
        is_known: bool,
        content: &[u8],
    ) -> Outcome<Result<Owned, Lacking>> {
        let given = id_of(self.shadow.format, ObjectKind::Blob, content);
        if is_known && !given.is_ok_and(|given| given == id) {
            return Ok(Err(Lacking::of(id)));
        }
        Err(failed(path, "it does not have its content once it is written"))
    }

    fn link(
        &self,
        path: &BStr,
        (open, name): Place<'_>,
        (id, size): (Id, u64),
        blobs: &mut Blobs<'_>,
    ) -> Outcome<Result<Owned, Lacking>> {
        let mut target = Vec::new();
        if let Err(lacking) = blobs.copy(id, size, &mut target)? {
            return Ok(Err(lacking));
        }
        if target.is_empty() || target.contains(&0) {
            return Err(failed(path, "the link names nothing that can be linked"));
        }
        if !id_of(self.shadow.format, ObjectKind::Blob, &target).is_ok_and(|given| given == id) {
            return Ok(Err(Lacking::of(id)));
        }
        let made = || {
            symlinkat(target.as_bytes(), open, name.as_bytes())?;
            if readlinkat(open, name.as_bytes(), Vec::new())?.as_bytes() != target {
                return Err(Errno::IO);
            }
            statat(open, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)
        };
        let stat = made().map_err(|why| failed(path, words(why)))?;
        Ok(Ok(Owned::of(&stat)))
    }

    /// The time of the last access stays.
    fn times(&self) -> Timestamps {
        Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: self.time,
                tv_nsec: 0,
            },
        }
    }
}

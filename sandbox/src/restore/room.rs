//! Room that is kept for the way back. A restore that fails because nothing more can be written gives it up. So it can put
//! everything back and say why.
//!
//! 1. Bytes: four times the tables of the repositories, and 64 KiB for each, in the folder of this call.
//! 2. Files: 32 for each repository in `room-SESSION`. They stay for the next restore.

use crate::bundle::folder::Folder;
use crate::fs::remove;
use crate::fs::room::has_room;
use crate::host::place::path_of;
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::RestoreRequest;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const BYTES_EACH: u64 = 64 * 1024;
/// More would take long where the file system cannot reserve bytes without writing them.
const BYTES_MOST: u64 = 16 * 1024 * 1024;
const FILES_EACH: usize = 32;
const FILES_MOST: usize = 512;

pub(crate) struct Room {
    home: PathBuf,
    files: PathBuf,
    folder: Folder,
}

impl Room {
    /// The inner error says why there is no such room. Nothing is kept then.
    pub(crate) fn keep(projects: &Path, request: &RestoreRequest) -> Outcome<Result<Self, String>> {
        let home = projects.join(".agent-shadow");
        let folder = Folder::new(projects, &request.session_id, &request.call);
        let unwritable = || {
            Failure::unavailable(format!(
                "Cannot write to {}. Free some disk space, then call again.",
                home.display()
            ))
        };
        let bytes = folder.file("room").map_err(|_| unwritable())?;
        let room = Room {
            files: home.join(format!("room-{}", request.session_id)),
            home,
            folder,
        };
        let many = request.repositories.len() + 1;
        let kept = room
            .keep_files(FILES_MOST.min(many * FILES_EACH))
            .and_then(|()| reserve(&bytes, bytes_for(projects, request)));
        let Err(error) = kept else {
            return Ok(Ok(room));
        };
        // What the system reserves it reserves whole, or not at all: then there is still room for less.
        let is_full = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        );
        let why = if !is_full && has_room(&room.home) {
            format!(
                "{}, which keeps room for the way back, cannot be written: remove it, then call again",
                room.files.display()
            )
        } else {
            format!("there is no room left in {}", room.home.display())
        };
        room.give();
        Ok(Err(why))
    }

    fn keep_files(&self, count: usize) -> io::Result<()> {
        fs::create_dir_all(&self.files)?;
        if fs::read_dir(&self.files)?.count() >= count {
            return Ok(());
        }
        for number in 1..=count {
            let made = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(self.files.join(number.to_string()));
            match made {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Where a file of this call is, on the same disk.
    pub(crate) fn file(&self, name: &str) -> Outcome<PathBuf> {
        self.folder.file(name)
    }

    /// Gives all of it up.
    pub(crate) fn give(&self) {
        self.folder.remove();
        // What cannot be removed is kept for nobody, and in nobody's way.
        let _ = remove::directory(&self.files);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.folder.remove();
    }
}

fn bytes_for(projects: &Path, request: &RestoreRequest) -> u64 {
    let table = |path: &bstr::BString| {
        let shadow = format!(".agent-shadow/session-{}/stat-table", request.session_id);
        let file = projects.join(path_of(path.clone())).join(shadow);
        fs::symlink_metadata(file).map_or(0, |found| found.len())
    };
    let all = request
        .repositories
        .iter()
        .map(|one| 4 * table(&one.path.0) + BYTES_EACH);
    BYTES_MOST.min(all.sum::<u64>() + BYTES_EACH)
}

fn reserve(file: &Path, bytes: u64) -> io::Result<()> {
    let mut open = File::create(file)?;
    match fallocate(&open, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            let part = vec![b' '; 64 * 1024];
            for _ in 0..bytes.div_ceil(part.len() as u64) {
                open.write_all(&part)?;
            }
            open.sync_all()
        }
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::restore::RestoreRequest;

    fn request() -> RestoreRequest {
        RestoreRequest {
            session_id: "s".into(),
            call: "one".into(),
            max_file_bytes: 1,
            max_depth: 1,
            lock_wait_seconds: 1,
            include: Vec::new(),
            exclude: Vec::new(),
            files_only: false,
            dry_run: false,
            allow_concurrent_writers: false,
            settle: false,
            fresh: false,
            target_tag: None,
            repositories: Vec::new(),
        }
    }

    #[test]
    fn bytes_and_files_are_kept_and_the_files_outlast_the_call() {
        let top = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(top.path().join(".agent-shadow")).expect("a directory");
        let at = |path: &str| top.path().join(".agent-shadow").join(path);
        let room = Room::keep(top.path(), &request())
            .expect("it can be written")
            .expect("there is room");
        let bytes = fs::metadata(at("run-s/one/room")).expect("it is there");
        assert_eq!(bytes.len(), BYTES_EACH);
        let files = || fs::read_dir(at("room-s")).expect("it is there").count();
        assert_eq!(files(), FILES_EACH);
        drop(room);
        assert!(!at("run-s/one").exists());
        assert_eq!(files(), FILES_EACH);
        let again = Room::keep(top.path(), &request())
            .expect("it can be written")
            .expect("there is room");
        again.give();
        assert!(!at("room-s").exists() && !at("run-s/one").exists());
    }

    #[test]
    fn a_file_in_its_place_is_named_and_nothing_is_kept() {
        let top = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(top.path().join(".agent-shadow")).expect("a directory");
        fs::write(top.path().join(".agent-shadow/room-s"), "others").expect("a file");
        let why = Room::keep(top.path(), &request())
            .expect("the folder can be written")
            .err()
            .expect("there is no place for it");
        assert!(why.contains("room-s, which keeps room for the way back"), "{why}");
    }
}

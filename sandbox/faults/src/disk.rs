//! What a disk shows after the power was lost. The program is killed, and what was not synced is undone in the real tree.
//!
//! The model is a file system with one journal, as ext4 and xfs have it:
//!
//! 1. Names, modes, owners and times change in one order. What is lost of them is the end of that order, never something in
//!    the middle ("strictly ordered metadata consistency": J. Mohan, "Documenting the crash-recovery guarantees of Linux file
//!    systems", linux-fsdevel, March 2019; there A. Goldstein on ext4, whose metadata "is journalled on a single linear
//!    transaction journal").
//! 2. `fsync` and `fdatasync` of something that changed commit the journal, and with it every change of names before. Of
//!    something that did not change they commit nothing. `syncfs` commits everything.
//! 3. Content is in the journal of neither. It is on the disk when the file itself, or everything, was synced after the last
//!    write. Otherwise the names can be there and the content not: blocks are allocated late, and a file has length 0 or a
//!    part of its content (Linux, Documentation/admin-guide/ext4.rst: `delalloc`, and the "zero-length" problem at
//!    `auto_da_alloc`). That ext4 writes the content before it replaces a file by a rename is not relied upon: it is an
//!    option of one file system (Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014).
//! 4. What processes wrote that the program started, git above all, counts as synced at once, because they are not traced.
//!    Their own syncs commit nothing of the program's.
//!
//! btrfs may lose an earlier change of a name and keep a later one (Mohan et al., "Finding Crash-Consistency Bugs with
//! Bounded Black-Box Crash Testing", OSDI 2018). That is not tried here. In one thing this disk is harsher than a real one:
//! the machine has not started anew, so nothing distrusts its notes for that.

use crate::calls::Call;
use crate::contents::Contents;
use crate::names::{Names, Undo};
use crate::random::Random;
use crate::spec::{Keeps, Kind};
use crate::tracee::Tracee;
use nix::libc;
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file, whatever it is called.
pub(crate) type Inode = (u64, u64);

pub(crate) fn inode_of(found: &Metadata) -> Inode {
    (found.dev(), found.ino())
}

pub(crate) struct Disk {
    stash: PathBuf,
    names: Names,
    contents: Contents,
    /// What changed since the journal was committed.
    changed: HashSet<Inode>,
}

/// What was there before a call.
pub(crate) struct BeforeCall {
    call: Call,
    found: Vec<Option<Metadata>>,
    /// How the change of names is undone, once it has happened.
    undo: Vec<Undo>,
    /// The file that is open at this descriptor.
    open: Option<PathBuf>,
}

impl Disk {
    /// `stash`: a directory that is made beside the root, on the same file system.
    pub(crate) fn new(stash: PathBuf) -> io::Result<Self> {
        fs::create_dir(&stash)?;
        Ok(Disk {
            names: Names::new(stash.clone()),
            contents: Contents::new(stash.clone()),
            stash,
            changed: HashSet::new(),
        })
    }

    /// Before the call. Fails where what is there cannot be kept.
    pub(crate) fn note(&mut self, call: Call, tracee: &Tracee) -> io::Result<BeforeCall> {
        let found: Vec<Option<Metadata>> = call
            .paths
            .iter()
            .map(|path| fs::symlink_metadata(path).ok())
            .collect();
        let mut open = None;
        if call.kind == Kind::Writes {
            let file = call
                .descriptor
                .map_or_else(|| call.paths[0].clone(), |at| tracee.open_file(at));
            self.contents.dirty(&file)?;
            open = Some(file);
        }
        let is_emptied = call.kind == Kind::Creates && found[0].as_ref().is_some_and(Metadata::is_file);
        if is_emptied && call.flags & libc::O_TRUNC as u64 != 0 {
            self.contents.dirty(&call.paths[0])?;
        }
        let is_exchange = call.flags & u64::from(libc::RENAME_EXCHANGE) != 0;
        let undo = self.names.undo_of(&call, &found, is_exchange)?;
        Ok(BeforeCall {
            call,
            found,
            undo,
            open,
        })
    }

    /// After the call.
    pub(crate) fn happened(&mut self, noted: BeforeCall, tracee: &Tracee) {
        let BeforeCall {
            call,
            found,
            undo,
            open,
        } = noted;
        if call.kind == Kind::Syncs {
            self.sync(&call, tracee);
            return;
        }
        if !undo.is_empty() || open.is_some() {
            let now = call
                .paths
                .iter()
                .filter_map(|path| fs::symlink_metadata(path).ok());
            let above = call
                .paths
                .iter()
                .filter_map(|path| fs::metadata(path.parent()?).ok());
            self.changed.extend(
                found
                    .into_iter()
                    .flatten()
                    .chain(now)
                    .chain(above)
                    .map(|one| inode_of(&one)),
            );
        }
        self.names.log(undo);
    }

    fn sync(&mut self, call: &Call, tracee: &Tracee) {
        if call.name == "syncfs" {
            self.contents.all_synced();
        } else if let Some(found) = call
            .descriptor
            .and_then(|at| fs::metadata(tracee.open_file(at)).ok())
        {
            self.contents.synced(inode_of(&found));
            if !self.changed.contains(&inode_of(&found)) {
                return;
            }
        }
        self.changed.clear();
        self.names.committed();
    }

    /// Nothing of the program runs any more. Answers what was lost, in words.
    pub(crate) fn lose(&mut self, keeps: Keeps, seed: u64) -> Vec<String> {
        let mut random = Random::new(seed);
        let (total, kept) = self.names.lose(keeps, &mut random);
        let (files, mut trouble) = self.contents.lose(keeps, &mut random);
        trouble.append(&mut self.names.trouble);
        trouble.insert(
            0,
            format!(
                "lost: {} of {total} changes of names, content of {files} files",
                total - kept
            ),
        );
        trouble
    }

    pub(crate) fn end(self) -> io::Result<()> {
        fs::remove_dir_all(self.stash)
    }
}

/// Beside the root, so on the same file system unless that is mounted there.
pub(crate) fn stash_beside(root: &Path) -> PathBuf {
    let name = format!(".walkback-stash-{}", std::process::id());
    root.parent().unwrap_or(root).join(name)
}

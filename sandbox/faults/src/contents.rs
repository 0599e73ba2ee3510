//! Content that was written and not synced since.

use crate::disk::{Inode, inode_of};
use crate::random::Random;
use crate::spec::Keeps;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

struct Dirty {
    /// Open, so that it is the same file whatever it is called then.
    file: File,
    /// Its content when it was last synced. None: it had none.
    synced: Option<PathBuf>,
}

pub(crate) struct Contents {
    stash: PathBuf,
    copied: u64,
    dirty: HashMap<Inode, Dirty>,
}

fn open(path: &Path) -> io::Result<File> {
    let opened = || OpenOptions::new().read(true).write(true).open(path);
    opened().or_else(|error| {
        // The program made it, opened it for writing, and has made it read-only since.
        let mode = fs::metadata(path)?.permissions();
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|_| error)?;
        let file = opened();
        fs::set_permissions(path, mode)?;
        file
    })
}

impl Contents {
    pub(crate) fn new(stash: PathBuf) -> Self {
        Contents {
            stash,
            copied: 0,
            dirty: HashMap::new(),
        }
    }

    /// It is about to be written.
    pub(crate) fn dirty(&mut self, path: &Path) -> io::Result<()> {
        let found = fs::metadata(path)?;
        let inode = inode_of(&found);
        if !found.is_file() || self.dirty.contains_key(&inode) {
            return Ok(());
        }
        let file = open(path)?;
        let synced = if found.len() == 0 {
            None
        } else {
            self.copied += 1;
            let copy = self.stash.join(format!("content-{}", self.copied));
            fs::copy(path, &copy)?;
            Some(copy)
        };
        self.dirty.insert(inode, Dirty { file, synced });
        Ok(())
    }

    pub(crate) fn synced(&mut self, inode: Inode) {
        self.dirty.remove(&inode);
    }

    pub(crate) fn all_synced(&mut self) {
        self.dirty.clear();
    }

    /// How many files there were, and what went wrong.
    pub(crate) fn lose(&mut self, keeps: Keeps, random: &mut Random) -> (usize, Vec<String>) {
        let mut all: Vec<(Inode, Dirty)> = self.dirty.drain().collect();
        all.sort_unstable_by_key(|(inode, _)| *inode);
        let trouble = all.iter().filter_map(|(_, dirty)| {
            let error = dirty.lose(keeps, random).err()?;
            Some(format!("content not lost: {error}"))
        });
        let trouble = trouble.collect();
        (all.len(), trouble)
    }
}

impl Dirty {
    fn lose(&self, keeps: Keeps, random: &mut Random) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let part = if keeps == Keeps::Some { random.up_to(2) } else { 0 };
        match &self.synced {
            _ if part == 1 => self.file.set_len(random.up_to(length)),
            _ if part == 2 => Ok(()),
            None => self.file.set_len(0),
            Some(copy) => {
                self.file.set_len(0)?;
                io::Seek::rewind(&mut &self.file)?;
                io::copy(&mut File::open(copy)?, &mut &self.file).map(drop)
            }
        }
    }
}

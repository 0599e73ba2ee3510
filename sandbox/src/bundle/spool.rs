//! Bytes on their way out: in memory while they are few, else in a file.

use crate::bundle::folder::Folder;
use crate::wire::error::{Context, Outcome};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// More than this is written into a file.
const MEMORY: usize = 256 * 1024;

/// Takes bytes, counts them and computes their SHA-256.
pub(crate) struct Spool<'folder> {
    folder: &'folder Folder,
    name: String,
    memory: Vec<u8>,
    file: Option<(File, PathBuf)>,
    size: u64,
    hash: Sha256,
}

/// All bytes of a spool.
#[derive(Debug)]
pub(crate) struct Spooled {
    /// Of its file in the folder, whether it has one yet or not.
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Memory(Vec<u8>),
    File(PathBuf),
}

impl<'folder> Spool<'folder> {
    pub(crate) fn new(folder: &'folder Folder, name: String) -> Self {
        Spool {
            folder,
            name,
            memory: Vec::new(),
            file: None,
            size: 0,
            hash: Sha256::new(),
        }
    }

    pub(crate) fn finish(self) -> Spooled {
        Spooled {
            name: self.name,
            size: self.size,
            sha256: format!("{:x}", self.hash.finalize()),
            held: match self.file {
                Some((_, path)) => Held::File(path),
                None => Held::Memory(self.memory),
            },
        }
    }

    fn spill(&mut self) -> io::Result<()> {
        let path = self.folder.file(&self.name).map_err(io::Error::other)?;
        let mut file = File::create(&path)?;
        file.write_all(&self.memory)?;
        self.memory = Vec::new();
        self.file = Some((file, path));
        Ok(())
    }
}

impl Write for Spool<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && self.memory.len() + bytes.len() > MEMORY {
            self.spill()?;
        }
        match &mut self.file {
            Some((file, _)) => file.write_all(bytes)?,
            None => self.memory.extend_from_slice(bytes),
        }
        self.size += bytes.len() as u64;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Spooled {
    pub(crate) fn into_bytes(self) -> Outcome<Vec<u8>> {
        match self.held {
            Held::Memory(bytes) => Ok(bytes),
            Held::File(path) => fs::read(&path).context("it cannot be read back", path),
        }
    }

    /// Adds the bytes to the end of a file. Their own file goes: only one at a time takes room twice.
    pub(crate) fn append_to(self, out: &mut File) -> Outcome<()> {
        match self.held {
            Held::Memory(bytes) => out.write_all(&bytes).context("it cannot be written", self.name),
            Held::File(path) => {
                let mut from = File::open(&path).context("it cannot be read back", &path)?;
                io::copy(&mut from, out).context("it cannot be copied", &path)?;
                fs::remove_file(&path).context("it cannot be removed", path)
            }
        }
    }

    /// Makes sure that the bytes are a file of this name in the folder.
    pub(crate) fn settle(&mut self, folder: &Folder) -> Outcome<()> {
        if let Held::Memory(bytes) = &self.held {
            let path = folder.file(&self.name)?;
            fs::write(&path, bytes).context("it cannot be written", &path)?;
            self.held = Held::File(path);
        }
        Ok(())
    }
}

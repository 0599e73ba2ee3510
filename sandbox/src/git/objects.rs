//! Reads objects without git: files of their own and packs, of a store and of those that it borrows from. What is read has its
//! id. Whatever is unusual, large or damaged is nothing here: git is asked then, and says what is wrong with it.

use crate::fs::text::slurp;
use crate::git::id::{Format, Id, ObjectKind, id_of};
use crate::git::object_file;
use crate::git::pack_index::PackIndex;
use crate::git::pack_read::{Form, LARGE, PackReader, patched};
use bstr::ByteSlice;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Git makes no longer chains of differences.
const CHAIN_MOST: usize = 64;
/// Their bytes.
const CHAIN_BYTES_MOST: usize = 4 * LARGE as usize;

/// Bytes of indexes that are in memory.
const INDEXES_MOST: u64 = 16 * 1024 * 1024;

pub(crate) type KindAndContent = (ObjectKind, Vec<u8>);

pub(crate) struct Objects {
    format: Format,
    /// Those in which a file was found come first.
    stores: Vec<PathBuf>,
    /// Listed for the first object without a file of its own: path and index.
    packs: Option<Vec<(PathBuf, PackIndex)>>,
    /// The place of the pack that was read last. No more files are open: a store may have many packs.
    open: Option<(usize, PackReader)>,
}

impl Objects {
    /// Those of this store.
    pub(crate) fn of(objects: &Path, format: Format) -> Self {
        let text = slurp(&objects.join("info/alternates"));
        // Git knows more forms of names.
        let plain = text.lines().filter(|line| line.starts_with(b"/"));
        let others = plain.filter_map(|line| line.to_path().ok().map(Path::to_owned));
        Objects {
            format,
            stores: std::iter::once(objects.to_owned()).chain(others).collect(),
            packs: None,
            open: None,
        }
    }

    /// Packs that are listed come before files: to look for a file, the system is asked of each store.
    pub(crate) fn read(&mut self, id: &Id) -> Option<KindAndContent> {
        let is_listed = self.packs.is_some();
        let first = if is_listed { self.in_a_pack(id) } else { None };
        let found = first.or_else(|| self.in_a_file(id));
        let found = match found {
            None if !is_listed => self.in_a_pack(id),
            found => found,
        }?;
        let is_it = id_of(self.format, found.0, &found.1).is_ok_and(|read| read == *id);
        is_it.then_some(found)
    }

    fn in_a_file(&mut self, id: &Id) -> Option<KindAndContent> {
        let digits = id.to_string();
        let place = Path::new(&digits[..2]).join(&digits[2..]);
        let mut files = self.stores.iter().enumerate();
        let (at, file) = files.find_map(|(at, store)| Some((at, open(&store.join(&place))?)))?;
        // What is asked for next mostly lies in the same store.
        self.stores.swap(0, at);
        object_file::read(file, LARGE)
    }

    fn in_a_pack(&mut self, id: &Id) -> Option<KindAndContent> {
        let packs = self.packs.get_or_insert_with(|| packs_of(&self.stores));
        let mut offsets = packs.iter().enumerate();
        let (at, offset) = offsets.find_map(|(at, (_, index))| Some((at, index.offset(id)?)))?;
        if self.open.as_ref().is_none_or(|(open, _)| *open != at) {
            let file = open(&packs[at].0)?;
            let size = file.metadata().ok()?.len();
            self.open = Some((at, PackReader::new(file, size, self.format)));
        }
        let (_, reader) = self.open.as_mut()?;
        whole(reader, offset)
    }
}

/// A regular file; a link is none.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}

/// Those of all stores whose indexes are not too large together.
fn packs_of(stores: &[PathBuf]) -> Vec<(PathBuf, PackIndex)> {
    let mut left = INDEXES_MOST;
    let entries = stores
        .iter()
        .filter_map(|store| fs::read_dir(store.join("pack")).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let indexes = paths.filter(|path| path.as_os_str().as_encoded_bytes().ends_with(b".idx"));
    indexes
        .filter_map(|path| {
            let file = open(&path)?;
            let size = file.metadata().ok()?.len();
            left = left.checked_sub(size)?;
            let mut bytes = Vec::with_capacity(size as usize);
            file.take(size).read_to_end(&mut bytes).ok()?;
            Some((path.with_extension("pack"), PackIndex::of(bytes)?))
        })
        .collect()
}

/// An object with all that it is different from.
fn whole(reader: &mut PackReader, offset: u64) -> Option<KindAndContent> {
    let (mut deltas, mut bytes, mut at) = (Vec::new(), 0, offset);
    let (kind, mut content) = loop {
        let entry = reader.entry(at)?;
        let (content, _) = reader.inflate(&entry)?;
        match entry.form {
            Form::Whole(kind) => break (kind, content),
            Form::Delta(base) => {
                bytes += content.len();
                if deltas.len() == CHAIN_MOST || bytes > CHAIN_BYTES_MOST {
                    return None;
                }
                deltas.push(content);
                at = base;
            }
        }
    };
    for delta in deltas.iter().rev() {
        content = patched(&content, delta)?;
    }
    Some((kind, content))
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;

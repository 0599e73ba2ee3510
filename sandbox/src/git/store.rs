//! New objects in a git directory of our own. A few are files of their own; many are one pack.
//!
//! 1. An object gets its name only when its bytes are on the disk: it is written under another name, and `commit`
//!    syncs all of them at once and then renames them.
//! 2. An object in a file of its own is read before it is relied on. After a power loss it may be empty or cut short, and
//!    git would not write it again.
//! 3. A large content passes through; it is never in memory as a whole.

use crate::git::deflate::{LEVEL, deflate};
use crate::git::id::{Collision, Format, Hasher, Id, ObjectKind, header, id_of};
use crate::git::object_file::{PIECE, is_whole};
use crate::git::pack_index;
use crate::git::pack_writer::{PackWriter, entry_header};
use crate::wire::error::{Context, Failure, Outcome};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects that become files of their own, and their bytes. More are a pack.
const FEW: usize = 64;
const FEW_BYTES: usize = 1 << 20;

/// A directory of objects that this program writes into.
pub(crate) struct ObjectStore {
    objects: PathBuf,
    pub(crate) format: Format,
    staged: Mutex<Staged>,
    count: AtomicU64,
}

#[derive(Default)]
struct Staged {
    /// Files that are written, each with the object that it holds.
    files: Vec<(PathBuf, Id)>,
    /// Not written yet, while they are few.
    few: Vec<Small>,
    few_bytes: usize,
    /// Since they are many.
    pack: Option<PackWriter>,
    /// All of those, and what was found to be whole.
    known: HashSet<Id>,
    /// Those few of this call that have their names by now.
    recent: HashMap<Id, Small>,
}

/// An object in memory.
#[derive(Clone, Debug)]
pub(crate) struct Small {
    pub(crate) kind: ObjectKind,
    id: Id,
    pub(crate) content: Vec<u8>,
}

/// Why a content is not in the store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotStored {
    /// The content could not be read.
    #[error("{0}")]
    Unread(io::Error),
    /// It did not have the length that was said.
    #[error("its length changed")]
    Changed,
    #[error(transparent)]
    Collision(#[from] Collision),
    /// The store could not be written.
    #[error(transparent)]
    Unwritten(#[from] Failure),
}

impl ObjectStore {
    pub(crate) fn new(objects: PathBuf, format: Format) -> Self {
        ObjectStore {
            objects,
            format,
            staged: Mutex::default(),
            count: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Staged> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path_of(&self, id: &Id) -> PathBuf {
        let digits = id.to_string();
        self.objects.join(&digits[..2]).join(&digits[2..])
    }

    /// A new file for an object, under a name that git takes for a leftover if it stays.
    fn temporary(&self) -> Outcome<(PathBuf, File)> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self
            .objects
            .join(format!("tmp_obj_{}_{number}", std::process::id()));
        let create = || {
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o444)
                .open(&path)
        };
        let file = create().or_else(|error| {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            // Left behind by a process of the same number.
            fs::remove_file(&path)?;
            create()
        });
        Ok((path.clone(), file.context("an object cannot be written", &path)?))
    }

    /// Whether the object is here, and whole.
    pub(crate) fn has(&self, id: &Id) -> bool {
        if self.lock().known.contains(id) {
            return true;
        }
        let whole = File::open(self.path_of(id)).is_ok_and(|file| is_whole(file, id, self.format));
        if whole {
            self.lock().known.insert(*id);
        }
        whole
    }

    /// Whether the object is here, and whole, in a file of its own or in a pack. A pack is on the disk before it has its
    /// name.
    pub(crate) fn stands(&self, id: &Id) -> bool {
        self.has(id) || pack_index::any_has(&self.packs(), id)
    }

    /// Stores an object whose id is known, unless it is here.
    pub(crate) fn stage(&self, kind: ObjectKind, id: Id, content: &[u8]) -> Outcome<()> {
        if self.has(&id) {
            return Ok(());
        }
        let mut staged = self.lock();
        // Another thread may have the same content.
        if !staged.known.insert(id) {
            return Ok(());
        }
        if staged.pack.is_none() {
            staged.few_bytes += content.len();
            staged.few.push(Small {
                kind,
                id,
                content: content.to_vec(),
            });
            if staged.few.len() <= FEW && staged.few_bytes <= FEW_BYTES {
                return Ok(());
            }
            let begun = self.begin_pack(std::mem::take(&mut staged.few));
            staged.pack = Some(begun.context("a pack cannot be written", self.packs())?);
            return Ok(());
        }
        drop(staged);
        let header = entry_header(kind, content.len() as u64);
        let written = deflate(&[content]).and_then(|deflated| match &mut self.lock().pack {
            Some(pack) => pack.append(id, &header, &deflated),
            None => Err(io::Error::other("the pack was ended meanwhile")),
        });
        written.context("a pack cannot be written", self.packs())
    }

    fn packs(&self) -> PathBuf {
        self.objects.join("pack")
    }

    fn begin_pack(&self, few: Vec<Small>) -> io::Result<PackWriter> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let mut pack = PackWriter::new(&self.packs(), self.format, number)?;
        for Small { kind, id, content } in few {
            let header = entry_header(kind, content.len() as u64);
            pack.append(id, &header, &deflate(&[&content])?)?;
        }
        Ok(pack)
    }

    /// An object that this call stored, while it stores only a few.
    pub(crate) fn recent(&self, id: &Id) -> Option<Small> {
        self.lock().recent.get(id).cloned()
    }

    /// Stores an object and says its id.
    pub(crate) fn put(&self, kind: ObjectKind, content: &[u8]) -> Outcome<Id> {
        let id = id_of(self.format, kind, content).map_err(|attack| Failure::Fault(attack.to_string()))?;
        self.stage(kind, id, content)?;
        Ok(id)
    }

    /// Stores a blob of `size` bytes that is read once.
    pub(crate) fn stage_stream(&self, mut from: impl Read, size: u64) -> Result<Id, NotStored> {
        let mut hasher = Hasher::of(self.format, ObjectKind::Blob, size);
        let (path, file) = self.temporary()?;
        let mut out = ZlibEncoder::new(file, Compression::new(LEVEL));
        let mut written = out.write_all(&header(ObjectKind::Blob, size));
        let read = read_exactly(&mut from, size, |piece| {
            hasher.update(piece);
            if written.is_ok() {
                written = out.write_all(piece);
            }
        });
        let written = written.and_then(|()| out.finish().map(drop));
        let id = read.and_then(|()| hasher.finish().map_err(NotStored::from));
        if id.as_ref().is_ok_and(|id| !self.has(id)) {
            let id = id?;
            self.keep(written, path, id)?;
            return Ok(id);
        }
        // Left for the next call if it cannot be removed.
        let _ = fs::remove_file(&path);
        id
    }

    fn keep(&self, written: io::Result<()>, path: PathBuf, id: Id) -> Outcome<()> {
        if let Err(error) = written {
            let _ = fs::remove_file(&path);
            return Err(error).context("an object cannot be written", path);
        }
        let mut staged = self.lock();
        staged.known.insert(id);
        staged.files.push((path, id));
        Ok(())
    }

    /// Makes what was stored durable and gives it its names.
    pub(crate) fn commit(&self) -> Outcome<()> {
        let (few, pack) = {
            let mut staged = self.lock();
            staged.few_bytes = 0;
            (std::mem::take(&mut staged.few), staged.pack.take())
        };
        for Small { kind, id, content } in &few {
            let (path, mut file) = self.temporary()?;
            let written = deflate(&[&header(*kind, content.len() as u64), content])
                .and_then(|deflated| file.write_all(&deflated));
            self.keep(written, path, *id)?;
        }
        let packed = pack.map(PackWriter::finish).transpose();
        let packed = packed.context("a pack cannot be written", self.packs())?;
        let files = std::mem::take(&mut self.lock().files);
        if files.is_empty() && packed.is_none() {
            return Ok(());
        }
        let store = File::open(&self.objects).context("it cannot be opened", &self.objects)?;
        rustix::fs::syncfs(&store).context("it cannot be synced", &self.objects)?;
        for (temporary, path) in packed.into_iter().flat_map(|packed| packed.files) {
            fs::rename(&temporary, &path).context("a pack cannot be named", &path)?;
        }
        for (temporary, id) in files {
            let path = self.path_of(&id);
            rename_into(&temporary, &path).context("an object cannot be named", &path)?;
        }
        let recent = few.into_iter().map(|small| (small.id, small));
        self.lock().recent.extend(recent);
        Ok(())
    }
}

fn rename_into(temporary: &Path, path: &Path) -> io::Result<()> {
    fs::rename(temporary, path).or_else(|error| {
        let Some(above) = path.parent().filter(|_| error.kind() == io::ErrorKind::NotFound) else {
            return Err(error);
        };
        fs::create_dir(above)?;
        fs::rename(temporary, path)
    })
}

/// Reads so many bytes, and fails when there are fewer or an error comes.
pub(crate) fn read_exactly(
    from: &mut impl Read,
    size: u64,
    mut each: impl FnMut(&[u8]),
) -> Result<(), NotStored> {
    let mut piece = vec![0; PIECE.min(usize::try_from(size).unwrap_or(PIECE)).max(1)];
    let mut left = size;
    while left > 0 {
        let most = piece.len().min(usize::try_from(left).unwrap_or(PIECE));
        match from.read(&mut piece[..most]) {
            Ok(0) => return Err(NotStored::Changed),
            Ok(count) => {
                each(&piece[..count]);
                left -= count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(NotStored::Unread(error)),
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;

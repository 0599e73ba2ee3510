//! Adds the late files of the places of one repository to its known tree.

use crate::apply::beneath::Beneath;
use crate::capture::content::{Purpose, Reading, read};
use crate::capture::tree::{TreeMode, is_forbidden, is_forbidden_link};
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::stat::stat_in;
use crate::git::id::Id;
use crate::host::place::path_of;
use crate::late::names::{Candidate, Names};
use crate::merge::edit::{Edits, Entry};
use crate::merge::objects::Objects;
use crate::merge::trouble::{Done, Trouble};
use crate::restore::put_aside::late_in;
use crate::shadow::scratch::Scratch;
use crate::wire::capture::SkippedName;
use crate::wire::error::Context;
use crate::wire::name::Name;
use crate::wire::progress::Reporter;
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a capture takes from one place: contents, each with its path there.
pub(crate) struct CaptureOfPlace {
    pub(crate) place: PathBuf,
    pub(crate) contents: Vec<(Id, BString)>,
}

pub(crate) struct Overlay<'overlay> {
    scratch: &'overlay Scratch,
    reporter: &'overlay Reporter,
    objects: &'overlay mut Objects,
    /// The known tree.
    tree: Id,
    max_file_bytes: u64,
    names: Names,
    /// The late files, by their names in the capture.
    pub(crate) edits: Edits,
    pub(crate) taken: Vec<CaptureOfPlace>,
    pub(crate) skipped: Vec<SkippedName>,
    pub(crate) late: Vec<Name>,
}

impl<'overlay> Overlay<'overlay> {
    pub(crate) fn new(
        (scratch, reporter): (&'overlay Scratch, &'overlay Reporter),
        objects: &'overlay mut Objects,
        tree: Id,
        max_file_bytes: u64,
    ) -> Self {
        Overlay {
            scratch,
            reporter,
            objects,
            tree,
            max_file_bytes,
            names: Names::default(),
            edits: Edits::new(),
            taken: Vec::new(),
            skipped: Vec::new(),
            late: Vec::new(),
        }
    }

    /// Stores the late files of a place.
    pub(crate) fn add(&mut self, place: &Path) -> Done<()> {
        let files = place.join("files");
        let beneath = Beneath::new(&files).context("it cannot be opened", &files)?;
        let mut contents = Vec::new();
        for path in late_in(place)? {
            let Some(entry) = self.stored(&files, &beneath, path.as_bstr())? else {
                continue;
            };
            let name = self.name(path.as_bstr(), &entry)?;
            self.names.take(name.clone());
            self.edits.insert(name.clone(), Some(entry));
            self.late.push(Name(name));
            contents.push((entry.id, path));
        }
        self.taken.push(CaptureOfPlace {
            place: place.to_owned(),
            contents,
        });
        Ok(())
    }

    /// Nothing when no checkpoint can hold it: it stays where it is.
    fn stored(&mut self, files: &Path, beneath: &Beneath, path: &BStr) -> Done<Option<Entry>> {
        let at = || files.join(path_of(path.to_owned()));
        let found = match find(beneath, path) {
            // It went meanwhile.
            Err(Errno::NOENT) => None,
            other => other.context("it cannot be looked at", at())?,
        };
        let Some(LateFile { parent, name, size }) = found else {
            return Ok(None);
        };
        if size.is_some_and(|size| size > self.max_file_bytes) {
            self.skipped.push(SkippedName {
                path: Name(path.to_owned()),
                reason: format!(
                    "larger than {} bytes; it is kept in {}",
                    self.max_file_bytes,
                    files.display()
                ),
                size_bytes: None,
            });
            return Ok(None);
        }
        let open = parent.open().context("it cannot be opened", at())?;
        let store = (&self.scratch.store, self.reporter);
        match read(store, open.as_fd(), name, Purpose::Store)? {
            Reading::Read(content) => Ok(Some(Entry {
                mode: match content.stat.kind() {
                    Kind::Link => TreeMode::Link,
                    _ if content.stat.is_executable() => TreeMode::Executable,
                    _ => TreeMode::File,
                },
                id: content.id,
            })),
            Reading::Gone => Ok(None),
            Reading::Lost(why) => Err(Trouble::Said(format!("{}: {why}", at().display()))),
        }
    }

    /// A number never takes the place of another file that the known state has.
    fn name(&mut self, path: &BStr, entry: &Entry) -> Done<BString> {
        for candidate in self.names.candidates(path) {
            if has_room(self.objects, &self.tree, &candidate, entry)? {
                return Ok(candidate.name);
            }
        }
        Err(Trouble::Said(format!("{path}: no name is free")))
    }
}

/// A file or a link in a place.
struct LateFile<'path> {
    parent: Arc<Handle>,
    name: &'path BStr,
    /// Of a file.
    size: Option<u64>,
}

/// Nothing when it is of another kind, or has a name that no tree may have.
fn find<'path>(beneath: &Beneath, path: &'path BStr) -> Result<Option<LateFile<'path>>, Errno> {
    let (parent, name) = beneath.parent(path)?;
    let stat = stat_in(parent.open()?.as_fd(), name)?;
    let size = match stat.kind() {
        Kind::File => Some(stat.size),
        Kind::Link if !is_forbidden_link(name) => None,
        Kind::Link | Kind::Directory | Kind::Socket | Kind::Waits => return Ok(None),
    };
    let is_refused = path.split_str("/").any(|part| is_forbidden(part.as_bstr()));
    Ok((!is_refused).then_some(LateFile { parent, name, size }))
}

/// Whether the known state has nothing else under a numbered name. It has the same after a capture that was made before.
fn has_room(objects: &mut Objects, tree: &Id, candidate: &Candidate, entry: &Entry) -> Done<bool> {
    let Some(numbered) = &candidate.numbered else {
        return Ok(true);
    };
    let known = objects.at(tree, candidate.name.as_bstr())?;
    if known.is_some_and(|known| known != *entry) {
        return Ok(false);
    }
    let above = objects.at(tree, numbered.as_bstr())?;
    Ok(*numbered == candidate.name || above.is_none_or(|above| above.mode == TreeMode::Directory))
}

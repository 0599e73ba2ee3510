//! What a restore puts aside, instead of destroying it. Another process may have written it after the capture, also later
//! through an open file.
//!
//! A place is `.agent-shadow/aside-SESSION/CALL/REPOSITORY.NUMBER`, as the scripts make it: `files`, by their paths in the
//! repository; `were`, the entries that they had; `late`, those that differed from the start; `path` and `format` of the
//! repository.

use crate::apply::beneath::Beneath;
use crate::capture::tree::TreeMode;
use crate::fs::rename::{Named, rename_to_free};
use crate::fs::stat::{Stat, stat_in};
use crate::git::id::{Format, Hasher, Id, ObjectKind, id_of};
use crate::git::store::read_exactly;
use crate::plan::files::Content;
use crate::plan::sidecar::Sidecar;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How many versions of one path are kept: another process may make the file again and again.
const VERSIONS_MOST: usize = 200;

pub(crate) struct Aside {
    pub(crate) place: PathBuf,
    pub(crate) files: Beneath,
    format: Format,
}

/// What a place for files of one repository is called.
pub(crate) struct Naming<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) session: &'call str,
    pub(crate) call: &'call str,
    /// `REPOSITORY.NUMBER`
    pub(crate) name: String,
}

impl Naming<'_> {
    fn place(&self) -> PathBuf {
        self.projects
            .join(".agent-shadow")
            .join(format!("aside-{}", self.session))
            .join(self.call)
            .join(&self.name)
    }
}

pub(crate) fn digits(mode: TreeMode) -> &'static str {
    match mode {
        TreeMode::File => "100644",
        TreeMode::Executable => "100755",
        TreeMode::Link => "120000",
        TreeMode::Directory => "040000",
        TreeMode::Submodule => "160000",
    }
}

impl Aside {
    /// Makes the place for what has these entries. `late`: paths whose content is not that of the capture.
    pub(crate) fn make<'entry>(
        naming: &Naming<'_>,
        (format, path): (Format, &BStr),
        entries: impl Iterator<Item = (&'entry BString, Content)>,
    ) -> Outcome<Self> {
        let place = naming.place();
        let files = place.join("files");
        let made = || {
            fs::create_dir_all(&files)?;
            fs::write(place.join("path"), [path.as_bytes(), b"\0"].concat())?;
            fs::write(place.join("late"), b"")?;
            let were: Vec<u8> = entries
                .flat_map(|(path, content)| {
                    let head = format!("{} {}\t", digits(content.mode), content.id);
                    [head.as_bytes(), path, b"\0"].concat()
                })
                .collect();
            fs::write(place.join("were"), were)?;
            // The scripts take a place for whole when it has this.
            fs::write(place.join("format"), format!("{}\n", format.name()))
        };
        made().context("what is overwritten cannot be put aside", &place)?;
        Aside::at(place, format)
    }

    /// A place that is there.
    pub(crate) fn at(place: PathBuf, format: Format) -> Outcome<Self> {
        let files = Beneath::new(&place.join("files")).context("it cannot be opened", &place)?;
        Ok(Aside { place, files, format })
    }

    /// Takes what stands at a path. Nothing may be there by now.
    pub(crate) fn take(&self, path: &BStr, there: Named<'_>) -> Result<(), Errno> {
        let (directory, name) = self.files.parent_made(path, &Sidecar::default())?;
        let open = directory.open()?;
        let mut as_name = name.to_owned();
        for version in 1..=VERSIONS_MOST {
            match rename_to_free(there, (open.as_fd(), as_name.as_bstr())) {
                Err(Errno::EXIST) => as_name = BString::from(format!("{name}.{version}")),
                // Another process removed it.
                Err(Errno::NOENT) => return Ok(()),
                other => return other,
            }
        }
        Err(Errno::EXIST)
    }

    /// Gives a file back that was put aside, when it still has this content and no other name. Otherwise it stays, because
    /// somebody wrote it.
    pub(crate) fn give_back(&self, path: &BStr, content: &Content, to: Named<'_>) -> Result<bool, Errno> {
        let (directory, name) = match self.files.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(false),
            Err(error) => return Err(error),
        };
        let open = directory.open()?;
        if !self.has((open.as_fd(), name), content, true)? {
            return Ok(false);
        }
        rename_to_free((open.as_fd(), name), to).map(|()| true)
    }

    /// Whether what is there has this content.
    pub(crate) fn has(&self, there: Named<'_>, content: &Content, is_only_name: bool) -> Result<bool, Errno> {
        let stat =
            match rustix::fs::statat(there.0, there.1.as_bytes(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => return Ok(false),
                Err(error) => return Err(error),
            };
        if is_only_name && stat.st_nlink > 1 {
            return Ok(false);
        }
        let mode = match Stat::of(&stat) {
            stat if stat.kind() == crate::fs::kind::Kind::Link => TreeMode::Link,
            stat if stat.kind() != crate::fs::kind::Kind::File => return Ok(false),
            stat if stat.is_executable() => TreeMode::Executable,
            _ => TreeMode::File,
        };
        Ok(mode == content.mode && id_at(there, mode, self.format)? == Some(content.id))
    }
}

/// The id that the content there has; nothing when it changes meanwhile.
pub(crate) fn id_at(there: Named<'_>, mode: TreeMode, format: Format) -> Result<Option<Id>, Errno> {
    if mode == TreeMode::Link {
        let target = readlinkat(there.0, there.1.as_bytes(), Vec::new())?;
        return Ok(id_of(format, ObjectKind::Blob, target.as_bytes()).ok());
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut file = File::from(openat(there.0, there.1.as_bytes(), flags, Mode::empty())?);
    let size = stat_in(there.0, there.1)?.size;
    let mut hasher = Hasher::of(format, ObjectKind::Blob, size);
    if read_exactly(&mut file, size, |piece| hasher.update(piece)).is_err() {
        return Ok(None);
    }
    Ok(hasher.finish().ok())
}

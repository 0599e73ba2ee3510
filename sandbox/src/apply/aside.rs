//! What a restore puts aside, instead of destroying it. Another process may have written it after the capture, also later
//! through an open file.
//!
//! A place is `.agent-shadow/aside-SESSION/CALL/REPOSITORY.NUMBER`: `files`, by their paths in the
//! repository; `were`, the entries that they had; `path` and `format` of the repository.

use crate::apply::beneath::Beneath;
use crate::capture::tree::TreeMode;
use crate::fs::copy::move_leaf;
use crate::fs::handle::Handle;
use crate::fs::rename::{Named, exchange, rename_to_free, rename_to_ours};
use crate::fs::stat::{Stat, stat_in};
use crate::git::id::{Format, Hasher, Id, ObjectKind, id_of};
use crate::git::store::read_exactly;
use crate::plan::files::Content;
use crate::plan::sidecar::Sidecar;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, Mode, OFlags, chmodat, fstat, openat, readlinkat};
use rustix::io::Errno;
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many versions of one path are kept: another process may make the file again and again.
const VERSIONS_MOST: usize = 200;
/// As long as a name may be.
const NAME_MOST: usize = 255;

pub(crate) struct Aside {
    pub(crate) place: PathBuf,
    pub(crate) files: Arc<Beneath>,
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
    /// Makes the place for what has these entries.
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
            let were: Vec<u8> = entries
                .flat_map(|(path, content)| {
                    let head = format!("{} {}\t", digits(content.mode), content.id);
                    [head.as_bytes(), path, b"\0"].concat()
                })
                .collect();
            fs::write(place.join("were"), were)?;
            fs::write(place.join("format"), format!("{}\n", format.name()))
        };
        made().context("what is overwritten cannot be put aside", &place)?;
        let files = Beneath::new(&place.join("files")).context("it cannot be opened", &place)?;
        Ok(Aside {
            place,
            files: Arc::new(files),
            format,
        })
    }

    /// Takes what stands at a path. Nothing may be there by now.
    pub(crate) fn take(&self, path: &BStr, there: Named<'_>) -> Result<(), Errno> {
        let (directory, name) = self.files.parent_made(path, &Sidecar::default())?;
        let open = directory.open()?;
        for as_name in versions(name) {
            match self.move_to(there, (open.as_fd(), as_name.as_bstr())) {
                Err(Errno::EXIST) => {}
                // Another process removed it.
                Err(Errno::NOENT) => return Ok(()),
                other => return other,
            }
        }
        Err(Errno::EXIST)
    }

    /// Gives a new file the name of another one, which is here then. The new one is moved here first, so that the other one is
    /// never elsewhere: what lies beside new files is removed. Nothing happened: that is impossible here.
    pub(crate) fn exchange(
        &self,
        path: &BStr,
        new: Named<'_>,
        there: Named<'_>,
    ) -> Result<Option<()>, Errno> {
        let (directory, name) = self.files.parent_made(path, &Sidecar::default())?;
        let open = directory.open()?;
        for as_name in versions(name) {
            let here = (open.as_fd(), as_name.as_bstr());
            match rename_to_free(new, here) {
                Err(Errno::EXIST) => continue,
                Err(Errno::XDEV) => return Ok(None),
                other => other?,
            }
            let exchanged = exchange(here, there);
            if exchanged != Ok(Some(())) {
                rename_to_free(here, new)?;
            }
            return exchanged;
        }
        Err(Errno::EXIST)
    }

    /// What lies in another file system is copied.
    fn move_to(&self, there: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
        match rename_to_ours(there, to) {
            Err(Errno::XDEV) => {
                let place = Handle::top(&self.place)?;
                move_leaf(there, (place.open()?.as_fd(), BStr::new("part")), to)
            }
            other => other,
        }
    }

    /// Whether a file that was put aside can be given back: it still has this content and no other name, and lies in the file
    /// system of this directory. Otherwise it stays, because somebody wrote it, or is written anew there. With a mode, it has
    /// that from now on.
    pub(crate) fn gives_back(
        &self,
        path: &BStr,
        content: &Content,
        (beside, mode): (BorrowedFd<'_>, Option<u32>),
    ) -> Result<bool, Errno> {
        let (directory, name) = match self.files.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(false),
            Err(error) => return Err(error),
        };
        let open = directory.open()?;
        // A file system that lies over others may name another device for a file in it.
        let is_beside = fstat(open.as_fd())?.st_dev == fstat(beside)?.st_dev;
        if !is_beside || !self.has_alone((open.as_fd(), name), content)? {
            return Ok(false);
        }
        if let Some(mode) = mode {
            let mode = Mode::from_bits_retain(mode);
            chmodat(open.as_fd(), name.as_bytes(), mode, AtFlags::empty())?;
        }
        Ok(true)
    }

    /// Whether what is there has this content, and no other name.
    fn has_alone(&self, there: Named<'_>, content: &Content) -> Result<bool, Errno> {
        let stat = match rustix::fs::statat(there.0, there.1.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error),
        };
        if stat.st_nlink > 1 {
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

/// The names that versions of a file may have here.
fn versions(name: &BStr) -> impl Iterator<Item = BString> {
    let numbered = (1..VERSIONS_MOST).map(move |version| {
        let ending = format!(".{version}");
        let most = name.len().min(NAME_MOST - ending.len());
        BString::from([&name[..most], ending.as_bytes()].concat())
    });
    std::iter::once(name.to_owned()).chain(numbered)
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

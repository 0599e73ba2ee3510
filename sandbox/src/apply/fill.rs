//! Fills the place of a repository where nothing is.
//!
//! 1. All files are written into a directory of ours, by several threads, with their modes. There each is read back: it has
//!    the content that its id names.
//! 2. Nobody else works there. So when they get their names later than the system's clock can tell apart from their last
//!    change, every change by another process shows in their times. Neither the next look nor git reads them again.
//! 3. Each directory at the top gets its name in one step, which takes the place of no file and of no directory with content.

use crate::apply::beneath::Beneath;
use crate::apply::contents::{LARGE, Lacking};
use crate::apply::fill_part::Part;
use crate::fs::clock;
use crate::fs::directory::entries;
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::remove;
use crate::fs::rename::{Named, rename_directory, rename_to_free};
use crate::fs::stat::Owned;
use crate::git::id::Id;
use crate::git::spool::Spooled;
use crate::parallel;
use crate::plan::files::Content;
use crate::plan::sidecar::Sidecar;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::{Reporter, Work};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, Gid, Mode, chownat, fchmod, fstat, statat};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// With fewer files for each thread, another thread and its process of git cost more than they save.
const EACH_LEAST: usize = 500;
/// The bit of a directory that passes on its group.
const PASSES_ON: u32 = 0o2000;
/// Git takes a file for changed when its time is not before that of the index, in whole seconds.
const SECONDS_BEFORE: i64 = 2;

/// A file or link that was written and read back.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) path: BString,
    pub(crate) id: Id,
    pub(crate) stat: Owned,
}

/// All files of a repository, beside its place.
#[derive(Debug)]
pub(crate) struct Filled {
    path: PathBuf,
    directory: Arc<Handle>,
    pub(crate) written: Vec<Written>,
}

impl Filled {
    /// Writes these files, which are sorted as in a tree. `spooled`: contents that were read before.
    pub(crate) fn write(
        shadow: &Shadow,
        files: &[(&BString, &Content)],
        modes: &Sidecar,
        spooled: Option<Spooled>,
        reporter: &Reporter,
    ) -> Outcome<Result<Self, Lacking>> {
        let path = shadow.file("stage");
        let made = || {
            remove::directory(&path)?;
            fs::create_dir(&path)?;
            let directory = Handle::top(&path)?;
            pass_on_group(&shadow.top, &directory)?;
            Ok::<_, io::Error>(directory)
        };
        let directory = made().context("new files cannot be written", &path)?;
        let count = parallel::processors().min(files.len() / EACH_LEAST + 1);
        let parts: Vec<&[(&BString, &Content)]> = files.chunks(files.len().div_ceil(count).max(1)).collect();
        let time = clock::now() / 1_000_000_000 - SECONDS_BEFORE;
        let counter = reporter.count(Work::Written, files.len() as u64);
        let done = parallel::map(&parts, |files| {
            Part {
                shadow,
                spooled: spooled.as_ref(),
                top: &path,
                modes,
                time,
                large: LARGE,
                counter: &counter,
                reporter,
            }
            .write(files)
        })?;
        let mut written = Vec::with_capacity(files.len());
        for part in done {
            match part {
                Ok(part) => written.extend(part),
                Err(lacking) => return Ok(Err(lacking)),
            }
        }
        // Else it would be written to the disk as well.
        drop(spooled);
        let open = directory.open().context("it cannot be opened", &path)?;
        rustix::fs::syncfs(open.as_fd()).context("new files cannot be synced", &path)?;
        drop(open);
        Ok(Ok(Filled {
            path,
            directory,
            written,
        }))
    }

    /// The latest change of any of them.
    pub(crate) fn changed(&self) -> i64 {
        self.written
            .iter()
            .map(|one| one.stat.stat.changed)
            .max()
            .unwrap_or_default()
    }

    /// Gives them their places. The answer is what stands there then.
    pub(crate) fn place(mut self, tree: &Beneath) -> Outcome<Vec<Written>> {
        let open = self.directory.open().context("it cannot be opened", &self.path)?;
        let mut names = entries(open.as_fd()).context("it cannot be read", &self.path)?;
        names.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        for entry in &names {
            let name = entry.name.as_bstr();
            let from = (open.as_fd(), name);
            let placed = || {
                let (directory, _) = tree.parent(name)?;
                let open = directory.open()?;
                let to = (open.as_fd(), name);
                if entry.kind == Some(Kind::Directory) {
                    place_directory(from, to)
                } else {
                    place_file(from, to)
                }
            };
            placed().map_err(|why| not_placed(name, why))?;
        }
        drop(open);
        self.look_again(tree)?;
        fs::remove_dir(&self.path).context("it cannot be removed", &self.path)?;
        Ok(self.written)
    }

    /// A rename changes the times of a file, but not of what is in a directory.
    fn look_again(&mut self, tree: &Beneath) -> Outcome<()> {
        for one in self.written.iter_mut().filter(|one| !one.path.contains(&b'/')) {
            let path = one.path.as_bstr();
            let looked = || {
                let (directory, name) = tree.parent(path)?;
                let found = statat(directory.open()?, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)?;
                Ok(Owned::of(&found))
            };
            one.stat = looked().map_err(|why| not_placed(path, why))?;
        }
        Ok(())
    }
}

fn place_file(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    match rename_to_free(from, to) {
        Err(Errno::EXIST) => {
            crate::apply::place::remove_empty(to.0, to.1)?;
            rename_to_free(from, to)
        }
        other => other,
    }
}

fn place_directory(from: Named<'_>, to: Named<'_>) -> Result<(), Errno> {
    match rename_directory(from, to) {
        Err(Errno::EXIST | Errno::NOTEMPTY) => {
            crate::apply::place::remove_empty(to.0, to.1)?;
            rename_directory(from, to)
        }
        other => other,
    }
}

fn not_placed(name: &BStr, why: Errno) -> Failure {
    let why = match why {
        Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR | Errno::LOOP => {
            "something appeared there meanwhile".to_owned()
        }
        other => crate::fs::words::words(other),
    };
    Failure::Fault(format!("{name} cannot be written: {why}"))
}

/// A directory that passes on its group does so to all that comes.
fn pass_on_group(top: &Path, stage: &Handle) -> Result<(), Errno> {
    let found = rustix::fs::stat(top)?;
    if found.st_mode & PASSES_ON == 0 {
        return Ok(());
    }
    let open = stage.open()?;
    let group = Gid::from_raw(found.st_gid);
    chownat(&open, "", None, Some(group), AtFlags::EMPTY_PATH)?;
    let own = fstat(&open)?;
    fchmod(
        open.as_fd(),
        Mode::from_bits_retain(own.st_mode & 0o7777 | PASSES_ON),
    )
}

#[cfg(test)]
#[path = "fill_tests.rs"]
mod tests;

//! New files are written into a directory of ours, on the same file system. Nobody else works there, so no process opens
//! a half-written file, and a content that is missing or damaged is noticed before anything of the user's is touched. What is
//! left there is removed, so no file that another process may have open is ever moved there.

use crate::apply::aside::Aside;
use crate::apply::beneath::Beneath;
use crate::apply::contents::{Contents, Lacking};
use crate::capture::tree::TreeMode;
use crate::fs::handle::Handle;
use crate::fs::remove;
use crate::git::id::Id;
use crate::plan::files::Content;
use crate::plan::sidecar::Sidecar;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::{Reporter, Work};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Mode, OFlags, fchmod, openat, symlinkat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

/// Up to this many files are synced one by one; for more, the file system is.
const FEW: usize = 32;

/// Files that have their content and their mode, by number.
pub(crate) struct Stage {
    path: PathBuf,
    directory: Arc<Handle>,
    /// The numbers of those that are given back. Until they have their places, they are where they were put aside.
    back: BTreeMap<usize, Arc<Beneath>>,
}

fn name(number: usize) -> BString {
    BString::from(number.to_string())
}

impl Stage {
    fn make(shadow: &Shadow) -> Outcome<Self> {
        let path = shadow.file("stage");
        let made = || {
            remove::directory(&path)?;
            fs::create_dir(&path)?;
            Handle::top(&path).map_err(io::Error::from)
        };
        let directory = made().context("new files cannot be written", &path)?;
        Ok(Stage {
            path,
            directory,
            back: BTreeMap::new(),
        })
    }

    /// Writes these files, each under its number. `from`: what was put aside is given back
    /// where it still has the content.
    pub(crate) fn write(
        shadow: &Shadow,
        files: &[(&BString, &Content)],
        modes: &Sidecar,
        from: Option<&Aside>,
        reporter: &Reporter,
    ) -> Outcome<Result<Self, Lacking>> {
        let mut stage = Stage::make(shadow)?;
        let ids = files.iter().map(|(_, content)| content.id).collect();
        let mut contents = Contents::of(shadow, ids, reporter);
        let counter = reporter.count(Work::Written, files.len() as u64);
        for (number, (path, content)) in files.iter().enumerate() {
            if stage.give_back(number, (path, content), modes, from)? {
                counter.add(1);
                continue;
            }
            let mode = modes.file_mode(path.as_bstr(), content.mode == TreeMode::Executable);
            let wrote = if content.mode == TreeMode::Link {
                stage.link(number, content.id, &mut contents)?
            } else {
                stage.file(number, content.id, mode, &mut contents, files.len() <= FEW)?
            };
            if let Err(lacking) = wrote {
                return Ok(Err(lacking));
            }
            counter.add(1);
        }
        if files.len() > FEW {
            let open = stage
                .directory
                .open()
                .context("it cannot be opened", &stage.path)?;
            rustix::fs::syncfs(open.as_fd()).context("new files cannot be synced", &stage.path)?;
        }
        Ok(Ok(stage))
    }

    /// Whether it is given back.
    fn give_back(
        &mut self,
        number: usize,
        (path, content): (&BString, &Content),
        modes: &Sidecar,
        from: Option<&Aside>,
    ) -> Outcome<bool> {
        let Some(aside) = from else { return Ok(false) };
        let mode = modes.file_mode(path.as_bstr(), content.mode == TreeMode::Executable);
        let mode = (content.mode != TreeMode::Link).then_some(mode);
        let gives = || {
            let open = self.directory.open()?;
            aside.gives_back(path.as_bstr(), content, (open.as_fd(), mode))
        };
        let is_back = gives().context("what was put aside cannot be given back", &aside.place)?;
        if is_back {
            self.back.insert(number, Arc::clone(&aside.files));
        }
        Ok(is_back)
    }

    /// Where the new file of a path is.
    pub(crate) fn new_file(&self, number: usize, path: &BStr) -> Result<(Arc<Handle>, BString), Errno> {
        let Some(files) = self.back.get(&number) else {
            return Ok((Arc::clone(&self.directory), name(number)));
        };
        let (directory, name) = files.parent(path)?;
        Ok((directory, name.to_owned()))
    }

    fn file(
        &self,
        number: usize,
        id: Id,
        mode: u32,
        contents: &mut Contents<'_>,
        is_synced: bool,
    ) -> Outcome<Result<(), Lacking>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let open = self.directory.open().context("it cannot be opened", &self.path)?;
        let made = openat(
            open.as_fd(),
            name(number).as_bytes(),
            flags,
            Mode::from_bits_retain(0o600),
        );
        let file = File::from(made.context("a new file cannot be written", &self.path)?);
        let mut out = BufWriter::new(&file);
        if let Err(lacking) = contents.write(id, &mut out)? {
            return Ok(Err(lacking));
        }
        drop(out);
        fchmod(&file, Mode::from_bits_retain(mode)).context("a new file cannot get its mode", &self.path)?;
        if is_synced {
            file.sync_all()
                .context("a new file cannot be synced", &self.path)?;
        }
        Ok(Ok(()))
    }

    fn link(&self, number: usize, id: Id, contents: &mut Contents<'_>) -> Outcome<Result<(), Lacking>> {
        let mut target = Vec::new();
        if let Err(lacking) = contents.write(id, &mut target)? {
            return Ok(Err(lacking));
        }
        if target.is_empty() || target.contains(&0) {
            return Err(Failure::Fault(
                "a link of the target names nothing that can be linked".into(),
            ));
        }
        let open = self.directory.open().context("it cannot be opened", &self.path)?;
        symlinkat(
            BStr::new(&target).as_bytes(),
            open.as_fd(),
            name(number).as_bytes(),
        )
        .context("a new link cannot be written", &self.path)?;
        Ok(Ok(()))
    }

    /// Removes it, with what has no place.
    pub(crate) fn remove(self) -> Outcome<()> {
        fs::remove_dir_all(&self.path).context("it cannot be removed", self.path)
    }
}

//! The files of a merge, a rebase, a pick or a bisect in progress. With reftable, some of them are refs.

use crate::apply::host::{HostMove, output};
use crate::fs::remove;
use crate::host::head::is_in_reftable;
use crate::host::place::path_of;
use crate::host::waits::STATE_DIRECTORIES;
use crate::meta::operation::STATE_REFS;
use crate::scan::names::split;
use crate::wire::error::{Context, Outcome};
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

impl HostMove<'_> {
    pub(super) fn move_operation(&self) -> Outcome<()> {
        let is_ref = |name: &BString| STATE_REFS.iter().any(|known| name == known);
        let has_refs = is_in_reftable(self.host);
        if !self.differs("state") && !has_refs {
            return Ok(());
        }
        let to = self.files(Self::part(self.to, "state"))?;
        let from = self.files(Self::part(self.from, "state"))?;
        for name in from.keys() {
            let stays = to.contains_key(name) || (has_refs && is_ref(name));
            if !stays {
                let file = self.host.git.join(path_of(name.clone()));
                remove::file(&file).context("it cannot be removed", file)?;
            }
        }
        for name in STATE_DIRECTORIES {
            let directory = self.host.git.join(name);
            drop_empty(&directory).context("it cannot be removed", directory)?;
        }
        let mut lines = Vec::new();
        for (name, id) in &to {
            let asked = self.on_shadow().args(["cat-file", "blob", id]).run_to_its_end()?;
            let content = output(asked, "the operation in progress cannot be read")?;
            if has_refs && is_ref(name) {
                let words = [
                    b"option no-deref\nupdate ",
                    &name[..],
                    b" ",
                    content.trim_ascii(),
                    b"\n",
                ];
                lines.extend(words.concat());
                continue;
            }
            let file = self.host.git.join(path_of(name.clone()));
            let written = || {
                if let Some(above) = file.parent() {
                    fs::create_dir_all(above)?;
                }
                fs::write(&file, &content)
            };
            written().context("the operation in progress cannot be written", &file)?;
        }
        if has_refs {
            // No capture has a ref whose commit is gone, and such a commit may have come back by now.
            for name in STATE_REFS {
                if !to.contains_key(name.as_bytes().as_bstr()) {
                    lines.extend(format!("option no-deref\ndelete {name}\n").into_bytes());
                }
            }
        }
        self.update(lines)
    }

    /// Whether an operation is in progress. Git ends some of them only when the index knows the files.
    pub(super) fn is_in_operation(&self) -> bool {
        const NAMES: [&str; 4] = ["MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
        NAMES
            .iter()
            .chain(&STATE_DIRECTORIES)
            .any(|name| self.host.git.join(name).exists())
    }

    /// The files of an operation: name, and id of the content.
    fn files(&self, tree: Option<String>) -> Outcome<BTreeMap<BString, String>> {
        let Some(tree) = tree else {
            return Ok(BTreeMap::new());
        };
        let asked = self
            .on_shadow()
            .args(["ls-tree", "-r", "-z", &tree])
            .run_to_its_end()?;
        let list = output(asked, "the operation in progress cannot be listed")?;
        // MODE TYPE ID<TAB>PATH
        let files = split(&list).filter_map(|line| {
            let (entry, path) = line.split_once_str("\t")?;
            let id = entry.rsplit_str(" ").next()?;
            Some((BString::from(path), id.to_str_lossy().into_owned()))
        });
        Ok(files.collect())
    }
}

/// Removes a directory and those in it, as far as they are empty.
fn drop_empty(directory: &Path) -> io::Result<()> {
    if fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()) {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                drop_empty(&entry.path())?;
            }
        }
        if fs::read_dir(directory)?.next().is_none() {
            return fs::remove_dir(directory);
        }
    }
    Ok(())
}

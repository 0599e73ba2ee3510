//! The folder of a call, `.agent-shadow/run-SESSION/CALL`: what is too large for memory, or read from outside.

use crate::fs::kind::{Kind, kind};
use crate::wire::error::{Context, Outcome};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The caller of a younger folder may still read it.
const KEPT_FOR: Duration = Duration::from_secs(15 * 60);
/// With fewer folders nothing is removed.
const MANY: usize = 4;

/// It is made when something is put into it.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    above: PathBuf,
    path: PathBuf,
}

impl Folder {
    /// Removes what calls before this one left behind, and what a killed restore reserved for its way back.
    pub(crate) fn new(projects: &Path, session: &str, call: &str) -> Self {
        let home = projects.join(".agent-shadow");
        let above = home.join(format!("run-{session}"));
        let brought = home.join(format!("in-{session}"));
        let list = |directory: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        let calls = list(&above);
        for one in &calls {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_file(one.join("room"));
        }
        let old: Vec<PathBuf> = calls.into_iter().chain(list(&brought)).collect();
        for one in old.iter().filter(|_| old.len() >= MANY) {
            let age = |found: fs::Metadata| SystemTime::now().duration_since(found.modified().ok()?).ok();
            if fs::symlink_metadata(one)
                .ok()
                .and_then(age)
                .is_some_and(|age| age > KEPT_FOR)
            {
                let _ = match kind(one) {
                    Some(Kind::Directory) => fs::remove_dir_all(one),
                    Some(Kind::File | Kind::Link | Kind::Socket | Kind::Waits) | None => fs::remove_file(one),
                };
            }
        }
        Folder {
            path: above.join(call),
            above,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file in it is. The folder is there then.
    pub(crate) fn file(&self, name: &str) -> Outcome<PathBuf> {
        for directory in [&self.above, &self.path] {
            match fs::DirBuilder::new().mode(0o700).create(directory) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(error).context("it cannot be made", directory);
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(self.path.join(name))
    }

    /// Removes it. What is left behind, a later call removes.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

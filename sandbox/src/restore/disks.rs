//! The file systems on which the repositories of a request lie: their working trees, and the git directories that they use.

use crate::host::place;
use bstr::BString;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory on each file system.
type Opened = BTreeMap<u64, File>;

pub(super) struct Disks {
    tops: Vec<PathBuf>,
    /// Those that were used when the call began. Repositories that leave are not found later.
    first: Opened,
}

impl Disks {
    /// Of the repositories with these paths.
    pub(super) fn of<'path>(projects: &Path, paths: impl Iterator<Item = &'path BString>) -> Self {
        let tops: Vec<PathBuf> = paths
            .map(|path| projects.join(place::path_of(path.clone())))
            .collect();
        let mut first = Opened::new();
        for top in &tops {
            open_all(top, &mut first);
        }
        Disks { tops, first }
    }

    /// What was done is on the disk: on the one of this directory, and on all others.
    pub(super) fn sync(&self, directory: &Path) -> io::Result<()> {
        let own = File::open(directory)?;
        rustix::fs::syncfs(&own)?;
        let device = own.metadata()?.dev();
        let mut now = Opened::new();
        for top in &self.tops {
            open_all(top, &mut now);
        }
        now.retain(|device, _| !self.first.contains_key(device));
        let all = self.first.iter().chain(&now);
        for (_, other) in all.filter(|(one, _)| **one != device) {
            rustix::fs::syncfs(other)?;
        }
        Ok(())
    }
}

/// Opens a directory of each file system of a repository that has none there yet. Of one that is not there, the directory
/// counts in which it would be made.
fn open_all(top: &Path, opened: &mut Opened) {
    if let Some(there) = top.ancestors().find(|one| one.is_dir()) {
        open(there, opened);
    }
    if let Some(host) = place::git_directory(top).and_then(place::with_common) {
        open(&host.git, opened);
        if host.common != host.git {
            open(&host.common, opened);
        }
    }
}

/// What cannot be opened was not written to.
fn open(directory: &Path, opened: &mut Opened) {
    let Ok(found) = directory.metadata() else { return };
    if !opened.contains_key(&found.dev())
        && let Ok(file) = File::open(directory)
    {
        opened.insert(found.dev(), file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_directory_of_each_file_system_is_synced() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let elsewhere = tempfile::tempdir_in("/dev/shm").expect("a temporary directory");
        let at = |path: &str| top.path().join(path);
        let git = elsewhere.path().join("git");
        for made in [
            at("plain/.git/objects"),
            at("linked"),
            git.join("worktrees/linked"),
            git.join("objects"),
        ] {
            fs::create_dir_all(made).expect("a directory");
        }
        for head in [
            at("plain/.git/HEAD"),
            git.join("HEAD"),
            git.join("worktrees/linked/HEAD"),
        ] {
            fs::write(head, "ref: refs/heads/main\n").expect("a file");
        }
        fs::write(git.join("worktrees/linked/commondir"), "../..\n").expect("a file");
        let line = format!("gitdir: {}\n", git.join("worktrees/linked").display());
        fs::write(at("linked/.git"), line).expect("a file");
        let device = |path: &Path| path.metadata().expect("it is there").dev();
        let found = |names: &[&str]| {
            let names: Vec<BString> = names.iter().map(|name| BString::from(*name)).collect();
            let disks = Disks::of(top.path(), names.iter());
            disks.sync(top.path()).expect("they can be synced");
            disks.first.keys().copied().collect::<Vec<_>>()
        };
        let own = device(top.path());
        assert_eq!(found(&["plain", "comes/later"]), [own]);
        let mut both = vec![own, device(&git)];
        both.sort_unstable();
        both.dedup();
        assert_eq!(found(&["plain", "linked"]), both);
    }
}

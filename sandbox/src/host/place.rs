//! Where the git directory of a repository is.

use crate::fs::kind::{Kind, kind, kind_behind};
use crate::fs::text::path_in;
use crate::host::waits;
use bstr::{BString, ByteSlice};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The user's repository in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Its git directory.
    pub(crate) git: PathBuf,
    /// What it shares with the worktrees of its repository; mostly the same.
    pub(crate) common: PathBuf,
}

/// Why there is no usable repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoHost {
    /// Git would not find one either.
    Unusable,
    /// Git would wait for this file for ever: it is a named pipe or a device.
    Waits(PathBuf),
}

pub(crate) fn path_of(name: BString) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(name.into()))
}

/// The path in a file of git, as seen from a directory.
fn path_from(file: &Path, directory: &Path) -> Option<PathBuf> {
    path_in(file).map(|name| directory.join(path_of(name)))
}

/// The repository whose working tree is this directory.
pub(crate) fn find(directory: &Path) -> Result<Host, NoHost> {
    let git = match git_directory(directory) {
        Some(git) => git,
        None => return Err(NoHost::Unusable),
    };
    let Some(host) = with_common(git.clone()) else {
        return Err(waits::in_git(&git, &git).map_or(NoHost::Unusable, NoHost::Waits));
    };
    match waits::in_host(&host) {
        Some(file) => Err(NoHost::Waits(file)),
        None => Ok(host),
    }
}

/// The git directory of this working tree. A `.git` that is a link is not followed, as in discovery.
pub(crate) fn git_directory(directory: &Path) -> Option<PathBuf> {
    let dot = directory.join(".git");
    match kind(&dot)? {
        Kind::Directory => Some(dot),
        Kind::File => {
            let line = path_in(&dot)?;
            let named = path_of(BString::from(line.strip_prefix(b"gitdir: ")?.as_bstr()));
            std::fs::canonicalize(directory.join(named))
                .ok()
                .filter(|git| git.is_dir())
        }
        Kind::Link | Kind::Socket | Kind::Waits => None,
    }
}

/// The repository with this git directory, when git could use it.
pub(crate) fn with_common(git: PathBuf) -> Option<Host> {
    let named = git.join("commondir");
    let common = match kind_behind(&named) {
        Some(Kind::File) => std::fs::canonicalize(path_from(&named, &git)?).ok()?,
        _ => git.clone(),
    };
    let usable =
        kind(&git.join("HEAD")).is_some() && kind_behind(&common.join("objects")) == Some(Kind::Directory);
    usable.then_some(Host { git, common })
}

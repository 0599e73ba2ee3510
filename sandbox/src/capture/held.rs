//! Git directories that lie as plain files in the working tree of another repository, or of their own (`git init
//! --separate-git-dir`, worktrees of a bare repository). They belong to the repository that uses them.

use crate::host::place::{find, path_of};
use bstr::{BStr, BString, ByteSlice};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A git directory in a working tree, and the repository that uses it. Both are relative to the projects root.
pub(crate) type HeldDirectory = (BString, BString);

/// Those that the repositories of these roots use.
pub(crate) fn find_held(projects: &Path, roots: &[BString]) -> Vec<HeldDirectory> {
    let mut held: Vec<HeldDirectory> = Vec::new();
    for root in roots {
        let directory = projects.join(path_of(root.clone()));
        let git = directory.join(".git");
        // Most repositories have their git directory in .git, which no capture looks into.
        let may_lie_elsewhere = git.is_file() || git.join("commondir").is_file();
        if !may_lie_elsewhere || git.is_symlink() {
            continue;
        }
        let Ok(host) = find(&directory) else { continue };
        for place in [&host.common, &host.git] {
            let Ok(below) = place.strip_prefix(projects) else {
                continue;
            };
            let path = BString::from(below.as_os_str().as_bytes());
            let is_inside = |name: &str| path.split_str("/").any(|part| part == name.as_bytes());
            let is_known = || {
                held.iter()
                    .any(|(other, _)| path == *other || is_below(path.as_bstr(), other.as_bstr()))
            };
            if !path.is_empty() && !is_inside(".git") && !is_inside(".agent-shadow") && !is_known() {
                held.push((path, root.clone()));
            }
        }
    }
    held
}

/// Whether a path lies strictly below a directory. `.` is the projects root.
pub(crate) fn is_below(path: &BStr, directory: &BStr) -> bool {
    relative(path, directory).is_some()
}

/// A path that lies strictly below a directory, relative to it.
pub(crate) fn relative<'path>(path: &'path BStr, directory: &BStr) -> Option<&'path BStr> {
    if directory == "." {
        return (path != ".").then_some(path);
    }
    let rest = path.strip_prefix(directory.as_bytes())?.strip_prefix(b"/")?;
    (!rest.is_empty()).then(|| rest.as_bstr())
}

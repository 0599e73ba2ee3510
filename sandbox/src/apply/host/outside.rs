//! Branches that are checked out in a worktree outside of the projects root. They are not ours to move: the files of that
//! worktree would stay behind.

use crate::fs::text::path_in;
use crate::git::process::Git;
use crate::host::head::head_line;
use crate::host::place::{Host, path_of};
use crate::wire::error::Outcome;
use bstr::BString;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn branches(host: &Host, projects: &Path) -> Outcome<BTreeSet<BString>> {
    let mut found = BTreeSet::new();
    let linked = host.common.join("worktrees");
    if host.git == host.common && !linked.is_dir() {
        return Ok(found);
    }
    let projects = fs::canonicalize(projects).unwrap_or_else(|_| projects.to_owned());
    let entries = fs::read_dir(&linked).into_iter().flatten().flatten();
    let others = entries.map(|entry| entry.path());
    for directory in std::iter::once(host.common.clone()).chain(others) {
        let Some(branch) = branch_of(&directory) else {
            continue;
        };
        let Some(place) = tree_of(&directory, host)? else {
            continue;
        };
        if !place.starts_with(&projects) {
            found.insert(branch);
        }
    }
    Ok(found)
}

fn branch_of(directory: &Path) -> Option<BString> {
    let line = head_line(&directory.join("HEAD"))?;
    let name = BString::from(line.strip_prefix(b"ref: ")?);
    name.starts_with(b"refs/heads/").then_some(name)
}

/// Where the `.git` of a worktree is; nothing when there is none.
fn tree_of(directory: &Path, host: &Host) -> Outcome<Option<PathBuf>> {
    if directory == host.common {
        // When worktrees have settings of their own, this setting is in those of the main worktree.
        let asked = Git::on_host(&host.common, &host.common)
            .args(["config", "--type=bool", "core.bare"])
            .run_to_its_end()?;
        let is_bare = asked.stdout.trim_ascii() == b"true";
        return Ok((!is_bare).then(|| fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned())));
    }
    let Some(named) = path_in(&directory.join("gitdir")) else {
        return Ok(None);
    };
    let git = directory.join(path_of(named));
    if !git.exists() {
        return Ok(None);
    }
    let top = git.parent().unwrap_or(Path::new("/"));
    Ok(Some(
        fs::canonicalize(top)
            .unwrap_or_else(|_| top.to_owned())
            .join(".git"),
    ))
}

//! Lets git merge trees, in a git directory of ours without a working tree: if git saw one, a `.gitattributes` with
//! `merge=union` would make it merge conflicts silently.

use crate::git::id::{Id, ObjectKind};
use crate::git::process::{Answered, Git};
use crate::git::watch::killed_by;
use crate::merge::conflicts::{Conflict, merged_tree, read_conflicts};
use crate::merge::trouble::{Done, Trouble};
use crate::shadow::scratch::Scratch;
use crate::wire::compose::Labels;
use crate::wire::error::{Context, Outcome};
use bstr::ByteSlice;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

const WHO: &str = "Walkback <capture@walkback.invalid> 0 +0000";
/// The signal of a process that stops because of an error of its own.
const ABORTED: i32 = 6;
/// The first git with `merge-tree --write-tree`.
const MERGES_SINCE: (u32, u32) = (2, 38);

/// Whether this git merges. Asked once in a call, when something is merged.
#[derive(Debug, Default)]
pub(crate) struct Merges(OnceLock<bool>);

impl Merges {
    fn asked(&self, directory: &Path) -> Outcome<Option<bool>> {
        if let Some(known) = self.0.get() {
            return Ok(Some(*known));
        }
        let answer = Git::new(directory).arg("version").run_to_its_end()?;
        let found = answer
            .ok()
            .and_then(version)
            .map(|version| version >= MERGES_SINCE);
        Ok(found.map(|found| *self.0.get_or_init(|| found)))
    }
}

/// The first two numbers of `git version 2.39.5`.
fn version(said: &[u8]) -> Option<(u32, u32)> {
    let at = said.find_byteset(b"0123456789")?;
    let mut numbers = said[at..].split(|byte| !byte.is_ascii_digit());
    let mut number = || numbers.next()?.to_str().ok()?.parse().ok();
    Some((number()?, number()?))
}

/// The merged tree. Where there are conflicts it has marks, and only a caller that asked for them uses it (`is_written`).
pub(crate) fn merged(
    scratch: &Scratch,
    merges: &Merges,
    (labels, is_written): (&Labels, bool),
    [base, ours, theirs]: [Id; 3],
) -> Done<(Id, Vec<Conflict>)> {
    if theirs == base || theirs == ours {
        return Ok((ours, Vec::new()));
    }
    if base == ours {
        return Ok((theirs, Vec::new()));
    }
    match merges.asked(&scratch.shadow.top)? {
        Some(true) => {}
        Some(false) => return Err(Trouble::Unsupported),
        None => return Err(Trouble::Said("git does not say its version".into())),
    }
    sides(scratch, labels, [base, ours, theirs])?;
    let mut answer = merge(scratch, labels, &[])?;
    let is_aborted = killed_by(answer.status) == Some(ABORTED);
    if is_aborted || (is_written && is_unwritable(scratch, &answer)?) {
        // On some renames of directories, git aborts (process_renames in merge-ort.c of git 2.39), or its tree has entries of
        // no content. Without detecting these renames it succeeds.
        answer = merge(scratch, labels, &["-c", "merge.directoryRenames=false"])?;
        if is_written && is_unwritable(scratch, &answer)? {
            return Err(Trouble::Said("git cannot write this conflict into files".into()));
        }
    }
    let is_clean = match answer.status.code() {
        Some(0) => true,
        Some(1) => false,
        Some(_) | None => return Err(Trouble::of(&answer)),
    };
    let unread = || Trouble::Said(answer.why());
    let tree = merged_tree(&answer.stdout).ok_or_else(unread)?;
    if is_clean {
        return Ok((tree, Vec::new()));
    }
    Ok((tree, read_conflicts(&answer.stdout).ok_or_else(unread)?))
}

/// Whether the tree of a merge with conflicts has an entry that is neither a file nor a link.
fn is_unwritable(scratch: &Scratch, answer: &Answered) -> Done<bool> {
    let Some(tree) = merged_tree(&answer.stdout).filter(|_| answer.status.code() == Some(1)) else {
        return Ok(false);
    };
    let listed = scratch
        .git()
        .args(["ls-tree", "-r", &tree.to_string()])
        .run_to_its_end()?;
    let list = listed.ok().ok_or_else(|| Trouble::of(&listed))?;
    Ok(list.lines().any(|line| line.starts_with(b"160000 ")))
}

fn merge(scratch: &Scratch, labels: &Labels, settings: &[&str]) -> Outcome<Answered> {
    scratch
        .git()
        .args(settings)
        .args(["merge-tree", "--write-tree", "-z", &labels.ours, &labels.theirs])
        .run()
}

/// Makes two branches with these trees, on a commit with the tree of the base. The same trees give the same commits.
fn sides(scratch: &Scratch, labels: &Labels, [base, ours, theirs]: [Id; 3]) -> Done<()> {
    let commit = |tree: Id, parent: Option<Id>| {
        let parent = parent.map(|id| format!("parent {id}\n")).unwrap_or_default();
        let text = format!("tree {tree}\n{parent}author {WHO}\ncommitter {WHO}\n\nside\n");
        scratch.store.put(ObjectKind::Commit, text.as_bytes())
    };
    let begin = commit(base, None)?;
    for (label, tree) in [(&labels.ours, ours), (&labels.theirs, theirs)] {
        let side = commit(tree, Some(begin))?;
        let file = scratch.shadow.file("refs/heads").join(label);
        let written = || {
            if let Some(above) = file.parent() {
                fs::create_dir_all(above)?;
            }
            fs::write(&file, format!("{side}\n"))
        };
        written().context("it cannot be written", &file)?;
    }
    scratch.store.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_git_is_read() {
        assert_eq!(version(b"git version 2.39.5\n"), Some((2, 39)));
        assert_eq!(version(b"git version 2.38.GIT (Apple Git-1)\n"), Some((2, 38)));
        assert_eq!(version(b"git version 3.1\n"), Some((3, 1)));
        assert_eq!(version(b"git\n"), None);
    }
}

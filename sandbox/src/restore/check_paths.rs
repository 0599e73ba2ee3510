//! The checks of one repository that are about its files, and what a person is told of those that stay.

use crate::apply::beneath::Beneath;
use crate::host::stash;
use crate::plan::keep::Why;
use crate::restore::captured::{is_in, paths_in};
use crate::restore::check::Checking;
use crate::restore::free::in_the_way;
use crate::restore::plan_of::Plan;
use crate::wire::error::{Context, Outcome};
use crate::wire::restore::ProblemKind;
use bstr::{BString, ByteSlice};
use std::collections::BTreeMap;

/// Paths of one kind that a message names.
const NAMED_MOST: usize = 5;
/// Files that stay, of which each has a warning.
const STAYS_MOST: usize = 20;

fn first<'path>(paths: impl IntoIterator<Item = &'path BString>) -> BString {
    BString::from(bstr::join(" ", paths.into_iter().take(NAMED_MOST)))
}

impl Checking<'_> {
    /// What could not be read is in no capture, so nothing may be written or deleted there.
    pub(super) fn is_readable(&mut self, plan: &Plan) -> Outcome<bool> {
        let unread: Vec<BString> = self
            .stand
            .unread
            .iter()
            .map(|said| BString::from(said.path.strip_suffix(b"/").unwrap_or(&said.path)))
            .filter(|path| !matches!(path.as_slice(), b"." | b".git") && !path.starts_with(b".git/"))
            .collect();
        for tree in [self.stand.tree.to_string(), plan.goal.tree.clone()] {
            let there = paths_in(&self.stand.shadow, &tree, &unread)?;
            if !there.is_empty() {
                let what = b"cannot be read, so not captured, and would be overwritten or deleted: ";
                self.refuse(ProblemKind::Conflict, [what, first(&there).as_slice()].concat());
                return Ok(false);
            }
        }
        let stays = unread.into_iter().map(|path| {
            BString::from([&path[..], b" stays as it is, because it could not be captured"].concat())
        });
        self.warnings.extend(stays);
        Ok(true)
    }

    pub(super) fn is_free(&mut self, plan: &Plan) -> Outcome<bool> {
        let top = &self.stand.shadow.top;
        let tree = Beneath::new(top).context("it cannot be opened", top)?;
        let found = in_the_way(&tree, plan, self.leaving)
            .context("what stands in the way cannot be looked at", top)?;
        let said = if !found.of_files.is_empty() {
            [
                b"not captured and in the way: ",
                first(&found.of_files).as_slice(),
            ]
            .concat()
        } else if !found.of_directories.is_empty() {
            [
                b"not captured and in the way of a directory: ",
                first(&found.of_directories).as_slice(),
            ]
            .concat()
        } else if let Some((directory, foreign)) = &found.foreign {
            [
                directory.as_slice(),
                b" is a file in the target and a directory now, which holds files that are not captured: ",
                first(foreign).as_slice(),
            ]
            .concat()
        } else {
            return Ok(true);
        };
        self.refuse(ProblemKind::Conflict, said);
        Ok(false)
    }

    /// Git directories that stay although they differ.
    pub(super) fn tell_held(&mut self, plan: &Plan) -> Outcome<()> {
        for directory in &plan.to.held {
            let here = paths_in(
                &self.stand.shadow,
                &self.stand.tree.to_string(),
                std::slice::from_ref(directory),
            )?;
            let is_others = self
                .stand
                .nested
                .iter()
                .chain(self.stand.held.iter().map(|(path, _)| path));
            if !here.is_empty() && !is_in(directory.as_bstr(), &is_others.cloned().collect::<Vec<_>>()) {
                let said = [
                    &directory[..],
                    b" stays as it is: a repository of the checkpoint had its git directory there",
                ];
                self.warnings.push(said.concat().into());
            }
        }
        for (directory, user) in &self.stand.held {
            if plan.to.held.contains(directory) {
                continue;
            }
            let then = paths_in(
                &self.stand.shadow,
                &plan.goal.tree,
                std::slice::from_ref(directory),
            )?;
            let mut said = [
                &directory[..],
                b" stays as it is: it is the git directory of the repository ",
                user,
            ]
            .concat();
            if !then.is_empty() {
                said.extend(format!(", where the checkpoint has {} files", then.len()).bytes());
            }
            self.warnings.push(said.into());
        }
        Ok(())
    }

    pub(super) fn tell_lost_stash(&mut self) {
        let Some(host) = &self.stand.reading.host else {
            return;
        };
        if self.wanted.stash.is_empty() {
            return;
        }
        let now = stash::all(host);
        let lost: Vec<&str> = self
            .wanted
            .stash
            .iter()
            .filter(|id| !now.contains(id))
            .map(String::as_str)
            .collect();
        if !lost.is_empty() {
            self.warnings.push(format!("the stash is in no checkpoint, and these of its entries are gone since: {}. \"git stash apply ID\" brings one back while git has it", lost.join(" ")).into());
        }
    }
}

/// What a person is told of files that stay although the target does not have them.
pub(super) fn told_of_kept(stays: &BTreeMap<BString, Why>) -> Vec<BString> {
    let mut told: Vec<BString> = stays
        .iter()
        .filter_map(|(path, why)| {
            let why: &str = Why::words(*why)?;
            let said = [
                &path[..],
                b" stays, although the checkpoint does not have it: ",
                why.as_bytes(),
            ];
            Some(BString::from(said.concat()))
        })
        .collect();
    let more = told.len().saturating_sub(STAYS_MOST);
    told.truncate(STAYS_MOST);
    if more > 0 {
        told.push(format!("... and {more} more files stay in the same way").into());
    }
    told
}

//! Files that the other side does not have, but may have had unseen: that they are missing there is no change of that side.

use crate::git::id::Id;
use crate::host::place::path_of;
use crate::merge::edit::{Edits, Entry, edited};
use crate::merge::meta::Meta;
use crate::merge::objects::Objects;
use crate::merge::paths::{Asked, with_above};
use crate::merge::rules::Rules;
use crate::merge::sidecar::empty_of;
use crate::merge::trouble::{Done, Trouble};
use crate::plan::files::{Content, Difference};
use crate::plan::keep::{Why, removed, staying};
use crate::restore::captured::{differences, files_of};
use crate::scan::names::{Names, split};
use crate::shadow::scratch::Scratch;
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Warnings of one kind that are given.
const WARNINGS_MOST: usize = 20;

/// The other side with the files that stay.
#[derive(Debug)]
pub(crate) struct Unseen {
    pub(crate) theirs: Id,
    /// These files, and the directories that hold nothing else.
    pub(crate) kept: BTreeSet<BString>,
    pub(crate) warnings: Vec<BString>,
}

pub(crate) struct Asking<'ask> {
    pub(crate) scratch: &'ask Scratch,
    pub(crate) asked: &'ask Asked,
    /// Patterns of ignored files that are captured.
    pub(crate) include: &'ask [BString],
    pub(crate) is_merge: bool,
    pub(crate) base: (Id, &'ask Meta),
    pub(crate) theirs: (Id, &'ask Meta),
    pub(crate) now: Id,
}

impl Asking<'_> {
    fn between(&self, from: &Id, to: &Id) -> Done<Vec<Difference>> {
        differences(&self.scratch.shadow, &from.to_string(), &to.to_string())?.map_err(Trouble::Said)
    }

    /// A file that the index of the base had and that of the other side does not have was deleted on purpose, so a merge
    /// removes it. That does not hold when going back to an index that did not have the file yet.
    pub(crate) fn answer(&self, objects: &mut Objects) -> Done<Unseen> {
        let mut unseen = Unseen {
            theirs: self.theirs.0,
            kept: BTreeSet::new(),
            warnings: Vec::new(),
        };
        if self.base.0 == self.theirs.0 {
            return Ok(unseen);
        }
        let all = self.between(&self.base.0, &self.theirs.0)?;
        let gone: Vec<BString> = removed(&all).map(BString::from).collect();
        let is_asked = |one: &Difference| one.to.is_some() || self.asked.holds(one.path.as_bstr());
        let asked: Vec<Difference> = all.into_iter().filter(is_asked).collect();
        if removed(&asked).next().is_none() {
            return Ok(unseen);
        }
        let reasons = self.reasons(objects, &gone)?;
        let stays = staying(&asked, &reasons, &empty_of(objects, self.theirs.1)?);
        if stays.is_empty() {
            return Ok(unseen);
        }
        unseen.warnings = warnings(&stays, &self.gone_since()?);
        let contents = asked
            .iter()
            .filter(|one| stays.contains_key(&one.path))
            .filter_map(|one| Some((one.path.clone(), Some(entry(one.from?)))));
        let edits: Edits = contents.collect();
        unseen.kept = stays.keys().cloned().collect();
        let directories: BTreeSet<BString> = with_above(stays.keys())
            .into_iter()
            .filter(|path| !stays.contains_key(path))
            .collect();
        for path in directories {
            if objects.at(&self.theirs.0, path.as_bstr())?.is_none() {
                unseen.kept.insert(path);
            }
        }
        unseen.theirs = edited(objects, &self.scratch.store, &self.theirs.0, &edits)?;
        self.scratch.store.commit()?;
        Ok(unseen)
    }

    /// Files of the base that are not there now: that they are not in the result either needs no word.
    fn gone_since(&self) -> Done<HashSet<BString>> {
        let since = self.between(&self.base.0, &self.now)?;
        Ok(removed(&since).map(BString::from).collect())
    }

    fn reasons(&self, objects: &mut Objects, gone: &[BString]) -> Done<BTreeMap<BString, Why>> {
        let left_out = self.theirs.1.text(objects, "left-out")?;
        let mut reasons: BTreeMap<BString, Why> = split(&left_out)
            .map(|path| (path.to_owned(), Why::TooLarge))
            .collect();
        let rules = Rules::of(self.scratch, objects, &self.theirs.0)?;
        rules.add_hiding(objects, &self.base.0, gone)?;
        let ignored = rules.ignored(gone)?;
        if ignored.is_empty() {
            return Ok(reasons);
        }
        let mut seen = self.included()?;
        if self.is_merge {
            seen.push(self.tracked(self.base.1)?);
        }
        seen.push(self.tracked(self.theirs.1)?);
        let hidden = ignored
            .into_iter()
            .filter(|path| !seen.iter().any(|names| names.contains(path.as_bstr())));
        reasons.extend(hidden.map(|path| (path, Why::IgnoredThen)));
        Ok(reasons)
    }

    /// The paths of the index of a capture.
    fn tracked(&self, meta: &Meta) -> Done<Names> {
        let Some(index) = meta.part("index") else {
            return Ok(Names::default());
        };
        let files = files_of(&self.scratch.shadow, &index.to_string())?;
        Ok(Names::new(
            files.ok_or_else(|| Trouble::Missing(format!("the tree {index}")))?,
        ))
    }

    /// The files of the base that the session asks for by name, ignored or not.
    fn included(&self) -> Done<Vec<Names>> {
        if self.include.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.scratch.shadow.file("included-index");
        let git = || {
            self.scratch
                .git()
                .env("GIT_INDEX_FILE", &index)
                .env("GIT_WORK_TREE", &self.scratch.shadow.top)
        };
        let read = git()
            .args(["read-tree", &self.base.0.to_string()])
            .run_to_its_end()?;
        read.ok().ok_or_else(|| Trouble::of(&read))?;
        let listed = git()
            .args(["--glob-pathspecs", "ls-files", "-z", "-c", "--"])
            .args(self.include.iter().map(|pattern| path_of(pattern.clone())))
            .run_to_its_end()?;
        let list = listed.ok().ok_or_else(|| Trouble::of(&listed))?;
        Ok(vec![Names::from_list(list)])
    }
}

fn entry(content: Content) -> Entry {
    let Content { mode, id } = content;
    Entry { mode, id }
}

fn warnings(stays: &BTreeMap<BString, Why>, gone_since: &HashSet<BString>) -> Vec<BString> {
    let mut all: Vec<BString> = stays
        .iter()
        .filter(|(path, _)| !gone_since.contains(*path))
        .filter_map(|(path, why)| {
            let text = [
                &path[..],
                b" stays, although the checkpoint does not have it: ",
                why.words()?.as_bytes(),
            ];
            Some(BString::from(text.concat()))
        })
        .collect();
    let more = all.len().saturating_sub(WARNINGS_MOST);
    all.truncate(WARNINGS_MOST);
    if more > 0 {
        all.push(format!("... and {more} more files stay in the same way").into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_that_stay_are_named_and_those_that_are_gone_are_not() {
        let path = |at: usize| BString::from(format!("f{at:02}"));
        let stays: BTreeMap<BString, Why> = (0..25).map(|at| (path(at), Why::IgnoredThen)).collect();
        let gone: HashSet<BString> = [path(0)].into();
        let said = warnings(&stays, &gone);
        assert_eq!(said.len(), 21);
        assert_eq!(
            said[0],
            "f01 stays, although the checkpoint does not have it: its rules ignore it"
        );
        assert_eq!(said[20], "... and 4 more files stay in the same way");
    }
}

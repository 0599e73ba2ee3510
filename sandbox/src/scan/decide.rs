//! Decides for everything that a walk found whether rules ignore it. Decisions of the look before count while no rules
//! are new; git is asked about the rest at once, directories first, so that it is not asked about what they hold.

use crate::fs::kind::Kind;
use crate::scan::ignored::{self, Said};
use crate::scan::names::Names;
use crate::scan::table::{Table, Verdict};
use crate::scan::walk::{Closed, Directory, Item, Walked, below};
use crate::shadow::open::Shadow;
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{HashMap, HashSet};

/// With fewer unknown names than this, one question is enough.
const ONE_QUESTION: usize = 400;

/// Whose a directory is, by what is above it and by its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing ignores it.
    Open,
    /// It is ignored, or a directory above it.
    Ignored,
    /// A repository that git would record as a link, or inside of one.
    Embedded,
}

/// Decisions, in the order of the directories of a walk and of their items.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    pub(crate) places: Vec<Place>,
    pub(crate) verdicts: Vec<Vec<Verdict>>,
    pub(crate) said: Vec<Said>,
}

/// What decides beside the tree.
pub(crate) struct Deciding<'look> {
    pub(crate) shadow: &'look Shadow,
    /// The table of the look before, if its rules are those of now.
    pub(crate) table: Option<&'look Table<'look>>,
    /// Patterns of the session.
    pub(crate) exclude: &'look [BString],
    /// Paths that are captured although they are ignored.
    pub(crate) wanted: &'look [&'look Names],
    /// Directories that git would record as links.
    pub(crate) embedded: &'look HashSet<BString>,
}

pub(crate) fn is_directory(item: &Item) -> bool {
    item.stat.kind() == Kind::Directory
}

struct Work<'look> {
    deciding: &'look Deciding<'look>,
    directories: &'look [Directory],
    at: HashMap<&'look BStr, usize>,
    ignored: Vec<Vec<Option<bool>>>,
    said: Vec<Said>,
}

pub(crate) fn decide(deciding: &Deciding<'_>, walked: &Walked) -> Outcome<Decisions> {
    let directories = &walked.directories;
    let mut work = Work {
        deciding,
        directories,
        at: directories
            .iter()
            .enumerate()
            .map(|(at, one)| (one.path.as_bstr(), at))
            .collect(),
        ignored: directories.iter().map(|one| known(deciding, one)).collect(),
        said: Vec::new(),
    };
    let unknown: usize = work
        .ignored
        .iter()
        .flatten()
        .filter(|verdict| verdict.is_none())
        .count();
    if unknown > ONE_QUESTION {
        work.ask(is_directory)?;
    }
    if unknown > 0 {
        work.ask(|_| true)?;
    }
    work.finish()
}

/// What the look before decided of these items.
fn known(deciding: &Deciding<'_>, directory: &Directory) -> Vec<Option<bool>> {
    let folder = deciding
        .table
        .filter(|_| !directory.rules_are_new)
        .and_then(|table| table.folder(directory.path.as_bstr()));
    let verdict = |item: &Item| {
        let entry = folder?.entries.get(item.then?)?;
        // Some patterns are only for directories.
        let is_same = (entry.stat.kind() == Kind::Directory) == is_directory(item);
        is_same.then_some(entry.verdict.is_ignored)
    };
    directory.items.iter().map(verdict).collect()
}

impl Work<'_> {
    /// The place of each directory, as far as it is known.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::with_capacity(self.directories.len());
        for directory in self.directories {
            let place = self.place(directory.path.as_bstr(), &places);
            places.push(place);
        }
        places
    }

    fn place(&self, path: &BStr, before: &[Place]) -> Place {
        if path.is_empty() {
            return Place::Open;
        }
        let (above, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
            None => (BStr::new(""), path),
        };
        // The directory above comes before it. One that is missing went while the walk was there.
        let Some((at, place)) = self.at.get(above).and_then(|at| Some((*at, *before.get(*at)?))) else {
            return Place::Ignored;
        };
        if place != Place::Open {
            return place;
        }
        let items = &self.directories[at].items;
        let item = items.binary_search_by(|item| item.name.as_bstr().cmp(name));
        match item.ok().and_then(|item| self.ignored[at].get(item)) {
            Some(Some(true)) => Place::Ignored,
            Some(Some(false) | None) if self.deciding.embedded.contains(path.as_bytes()) => Place::Embedded,
            Some(Some(false) | None) => Place::Open,
            None => Place::Ignored,
        }
    }

    /// Asks git about the unknown names of this kind.
    fn ask(&mut self, is_of_kind: impl Fn(&Item) -> bool) -> Outcome<()> {
        let places = self.places();
        let mut unknown = Vec::new();
        let mut paths = Vec::new();
        for (at, directory) in self.directories.iter().enumerate() {
            if places[at] != Place::Open || directory.closed == Some(Closed::NotEntered) {
                continue;
            }
            for (number, item) in directory.items.iter().enumerate() {
                if self.ignored[at][number].is_none() && is_of_kind(item) {
                    unknown.push((at, number));
                    paths.push(below(directory.path.as_bstr(), item.name.as_bstr()));
                }
            }
        }
        let answer = ignored::by_all_rules(self.deciding.shadow, &paths)?;
        for ((at, number), path) in unknown.into_iter().zip(&paths) {
            self.ignored[at][number] = Some(answer.ignored.contains(path));
        }
        for said in answer.said {
            if !self.said.contains(&said) {
                self.said.push(said);
            }
        }
        Ok(())
    }

    fn finish(self) -> Outcome<Decisions> {
        let places = self.places();
        let mut verdicts: Vec<Vec<Verdict>> = Vec::with_capacity(self.directories.len());
        let mut unsure = Vec::new();
        let mut paths = Vec::new();
        for (at, directory) in self.directories.iter().enumerate() {
            let is_open = places[at] == Place::Open;
            let mut row = Vec::with_capacity(directory.items.len());
            for (number, item) in directory.items.iter().enumerate() {
                let known = self.ignored[at][number];
                // Where git was not asked, a directory above is ignored.
                let is_ignored = !is_open || known.unwrap_or(true);
                let verdict = Verdict {
                    is_ignored,
                    is_excluded: false,
                };
                row.push(verdict);
                if self.deciding.exclude.is_empty() || is_directory(item) || places[at] == Place::Embedded {
                    continue;
                }
                let path = below(directory.path.as_bstr(), item.name.as_bstr());
                if !is_ignored
                    || self
                        .deciding
                        .wanted
                        .iter()
                        .any(|names| names.contains(path.as_bstr()))
                {
                    unsure.push((at, number));
                    paths.push(path);
                }
            }
            verdicts.push(row);
        }
        let excluded = ignored::by_session(self.deciding.shadow, self.deciding.exclude, &paths)?;
        for ((at, number), path) in unsure.into_iter().zip(&paths) {
            verdicts[at][number].is_excluded = excluded.contains(path);
        }
        Ok(Decisions {
            places,
            verdicts,
            said: self.said,
        })
    }
}

//! Reads what changed since the look before, and stores what is new.
//!
//! A few new contents are written at once. With many, git is asked first which of them a store has: a checkout that was
//! never changed is in the host's store as a whole.

use crate::capture::content::{Purpose, Reading, read};
use crate::fs::handle::Handle;
use crate::fs::stat::Stat;
use crate::git::id::Id;
use crate::git::present::present;
use crate::git::store::ObjectStore;
use crate::parallel;
use crate::scan::walk::Directory;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use crate::wire::progress::Reads;
use bstr::{BStr, ByteSlice};
use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;
use std::sync::Arc;

/// With more contents than this, git is asked which of them are there.
const FEW: usize = 64;
/// Files of one directory that one thread reads in turn.
const PORTION: usize = 128;

/// A path that is to be read: a directory of the walk and an item of it.
pub(crate) type At = (usize, usize);

type Readings = Vec<(At, Reading)>;

/// What was read of a path.
#[derive(Clone, Debug)]
pub(crate) struct Result {
    pub(crate) reading: Reading,
    /// The object was there already, perhaps in the host's store.
    pub(crate) is_borrowed: bool,
}

pub(crate) struct Reader<'look> {
    pub(crate) shadow: &'look Shadow,
    pub(crate) store: &'look ObjectStore,
    pub(crate) directories: &'look [Directory],
    pub(crate) reads: Reads<'look>,
}

impl Reader<'_> {
    /// Reads these paths, sorted, and stores what no store has. The ids of `kept` and `there` are known to be in a store; those
    /// of `kept` with whether it is another one.
    pub(crate) fn read(
        &self,
        paths: &[At],
        kept: &HashMap<Id, bool>,
        there: &HashSet<Id>,
    ) -> Outcome<HashMap<At, Result>> {
        if paths.len() <= FEW {
            let read = self.pass(paths, Purpose::Store)?;
            return Ok(read
                .into_iter()
                .map(|(at, reading)| {
                    (
                        at,
                        Result {
                            reading,
                            is_borrowed: false,
                        },
                    )
                })
                .collect());
        }
        let named = self.pass(paths, Purpose::Name)?;
        let ids: HashSet<Id> = named.iter().filter_map(|(_, reading)| id_in(reading)).collect();
        let is_known = |id: &Id| kept.contains_key(id) || there.contains(id);
        let asked = ids.into_iter().filter(|id| !is_known(id));
        let found = present(&self.shadow.git, asked)?;
        let missing: Vec<At> = {
            let is_missing =
                |reading: &Reading| id_in(reading).is_some_and(|id| !found.contains(&id) && !is_known(&id));
            let mut missing: Vec<At> = named
                .iter()
                .filter(|(_, reading)| is_missing(reading))
                .map(|(at, _)| *at)
                .collect();
            missing.sort_unstable();
            missing
        };
        let mut results: HashMap<At, Result> = named
            .into_iter()
            .map(|(at, reading)| {
                let is_borrowed = id_in(&reading)
                    .is_some_and(|id| kept.get(&id).copied().unwrap_or_else(|| !self.store.has(&id)));
                (at, Result { reading, is_borrowed })
            })
            .collect();
        // It may have changed meanwhile: what is stored is what counts.
        for (at, reading) in self.pass(&missing, Purpose::Store)? {
            results.insert(
                at,
                Result {
                    reading,
                    is_borrowed: false,
                },
            );
        }
        Ok(results)
    }

    fn pass(&self, paths: &[At], purpose: Purpose) -> Outcome<Readings> {
        let top = Handle::top(&self.shadow.top).context("it cannot be looked into", &self.shadow.top)?;
        let by_directory = paths.chunk_by(|one, other| one.0 == other.0);
        let tasks: Vec<&[At]> = by_directory.flat_map(|part| part.chunks(PORTION)).collect();
        let counter = self.reads.count(paths.len() as u64);
        let parts = parallel::share(tasks, |part, found: &mut Vec<Outcome<Readings>>| {
            found.push(self.portion(&top, part, purpose));
            counter.add(part.len() as u64);
            Vec::new()
        });
        let mut all = Vec::with_capacity(paths.len());
        for part in parts.into_iter().flatten() {
            all.extend(part?);
        }
        Ok(all)
    }

    fn portion(&self, top: &Arc<Handle>, part: &[At], purpose: Purpose) -> Outcome<Readings> {
        let Some((directory, _)) = part.first() else {
            return Ok(Vec::new());
        };
        let directory = &self.directories[*directory];
        let gone = || part.iter().map(|at| (*at, Reading::Gone)).collect();
        let Ok(handle) = top.descend(directory.path.as_bstr()) else {
            return Ok(gone());
        };
        let Ok(open) = handle.open() else {
            return Ok(gone());
        };
        part.iter()
            .map(|at| {
                let name: &BStr = directory.items[at.1].name.as_bstr();
                Ok((
                    *at,
                    read((self.store, self.reads.reporter), open.as_fd(), name, purpose)?,
                ))
            })
            .collect()
    }
}

fn id_in(reading: &Reading) -> Option<Id> {
    match reading {
        Reading::Read(content) => Some(content.id),
        Reading::Gone | Reading::Lost(_) => None,
    }
}

/// What is captured of the items of a directory.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) kept: Vec<Option<Kept>>,
    /// The look before captured the same in this directory itself.
    pub(crate) is_as_before: bool,
}

/// What the table keeps of a path that is captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) stat: Stat,
    pub(crate) id: Id,
    pub(crate) is_sure: bool,
    pub(crate) is_borrowed: bool,
}

//! What a look reads, and what it takes from the table of the look before.

use crate::capture::content::Reading;
use crate::capture::look::Look;
use crate::capture::read_all::{At, Kept, Reader};
use crate::capture::sort::Sorted;
use crate::git::id::Id;
use crate::git::present::present;
use crate::scan::decide::Decisions;
use crate::scan::walk::{Walked, below};
use crate::wire::error::Outcome;
use bstr::{BString, ByteSlice};
use std::collections::{HashMap, HashSet};

impl Look<'_> {
    /// What the look before captured and rules ignore by now.
    pub(super) fn outlawed(
        &self,
        walked: &Walked,
        decisions: &Decisions,
        kept: &[HashMap<usize, Kept>],
    ) -> Vec<BString> {
        let mut found = Vec::new();
        for (at, directory) in walked.directories.iter().enumerate() {
            let Some(folder) = self
                .before
                .and_then(|table| table.folder(directory.path.as_bstr()))
            else {
                continue;
            };
            for (number, item) in directory.items.iter().enumerate() {
                let is_out = decisions.verdicts[at][number].is_ignored && !kept[at].contains_key(&number);
                if is_out
                    && folder
                        .entry(item.name.as_bstr())
                        .is_some_and(|entry| entry.id.is_some())
                {
                    found.push(below(directory.path.as_bstr(), item.name.as_bstr()));
                }
            }
        }
        found
    }

    /// Objects that the table relies on and that no store has any more. The host may prune what the shadow reads from it.
    pub(super) fn lost_objects(&self, stores: &[u8]) -> Outcome<HashSet<Id>> {
        let Some(table) = self
            .before
            .filter(|table| stores.is_empty() || table.stores != stores)
        else {
            return Ok(HashSet::new());
        };
        let folders = table.folders.values();
        let trees = folders
            .clone()
            .filter(|folder| folder.is_borrowed)
            .filter_map(|folder| folder.tree);
        let entries = folders.flat_map(|folder| &folder.entries);
        let blobs = entries
            .filter(|entry| entry.is_borrowed)
            .filter_map(|entry| entry.id);
        let borrowed: HashSet<Id> = trees.chain(blobs).collect();
        let there = present(&self.looking.shadow.git, borrowed.iter().copied())?;
        Ok(borrowed.difference(&there).copied().collect())
    }

    /// What is captured of each path: as the table has it, or as it was read.
    pub(super) fn contents(
        &self,
        walked: &Walked,
        sorted: &mut Sorted,
        lost: &HashSet<Id>,
    ) -> Outcome<Vec<HashMap<usize, Kept>>> {
        let mut kept: Vec<HashMap<usize, Kept>> = Vec::with_capacity(walked.directories.len());
        let mut unread: Vec<At> = Vec::new();
        let mut borrowed: HashMap<Id, bool> = HashMap::new();
        for (at, directory) in walked.directories.iter().enumerate() {
            let folder = self
                .before
                .and_then(|table| table.folder(directory.path.as_bstr()));
            let mut here = HashMap::with_capacity(sorted.captured[at].len());
            for &number in &sorted.captured[at] {
                let item = &directory.items[number];
                let entry = folder.and_then(|folder| folder.entry(item.name.as_bstr()));
                let known = entry.and_then(|entry| Some((entry, entry.id.filter(|id| !lost.contains(id))?)));
                if let Some((entry, id)) = known {
                    borrowed.insert(id, entry.is_borrowed);
                }
                match known
                    .filter(|(entry, _)| entry.holds(&item.stat, self.trusted_until) && !self.is_mapped(item))
                {
                    Some((entry, id)) => {
                        let is_borrowed = entry.is_borrowed;
                        here.insert(
                            number,
                            Kept {
                                stat: item.stat,
                                id,
                                is_sure: true,
                                is_borrowed,
                            },
                        );
                    }
                    None => unread.push((at, number)),
                }
            }
            kept.push(here);
        }
        let reader = Reader {
            shadow: self.looking.shadow,
            store: self.store,
            directories: &walked.directories,
            reporter: self.looking.reporter,
        };
        let known = borrowed.keys().copied().collect();
        let mut gone: Vec<At> = Vec::new();
        for (at, result) in reader.read(&unread, &known)? {
            let item = &walked.directories[at.0].items[at.1];
            match result.reading {
                Reading::Read(content) => {
                    let is_sure = content.is_steady
                        && content.stat.changed < self.began.limit()
                        && !self.is_mapped(item);
                    let is_borrowed = borrowed.get(&content.id).copied().unwrap_or(result.is_borrowed);
                    kept[at.0].insert(
                        at.1,
                        Kept {
                            stat: content.stat,
                            id: content.id,
                            is_sure,
                            is_borrowed,
                        },
                    );
                }
                Reading::Gone => gone.push(at),
                Reading::Lost(why) => {
                    let directory = walked.directories[at.0].path.as_bstr();
                    let path = below(directory, item.name.as_bstr());
                    sorted.failures.lose(path, why);
                    gone.push(at);
                }
            }
        }
        for (at, number) in gone {
            sorted.captured[at].retain(|one| *one != number);
        }
        Ok(kept)
    }
}

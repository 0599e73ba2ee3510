//! What a look reads, and what it takes from the table of the look before.

use crate::capture::content::{Purpose, Reading, read};
use crate::capture::held::is_below;
use crate::capture::look::{Look, Looking};
use crate::capture::read_all::{At, Kept, Reader, Row};
use crate::capture::sort::{Sorted, forbidden_part};
use crate::capture::trees::Inside;
use crate::fs::handle::Handle;
use crate::git::id::Id;
use crate::git::present::present;
use crate::scan::decide::Decisions;
use crate::scan::discover::parents;
use crate::scan::walk::{Walked, below};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;

impl Look<'_> {
    /// What the look before captured and rules ignore by now.
    pub(super) fn outlawed(&self, walked: &Walked, decisions: &Decisions, rows: &[Row]) -> Vec<BString> {
        let mut found = Vec::new();
        for (at, directory) in walked.directories.iter().enumerate() {
            let Some(folder) = self
                .before
                .and_then(|table| table.folder(directory.path.as_bstr()))
            else {
                continue;
            };
            for (number, item) in directory.items.iter().enumerate() {
                let is_out = decisions.verdicts[at][number].is_ignored && rows[at].kept[number].is_none();
                let then = item.then.and_then(|then| folder.entries.get(then));
                if is_out && then.is_some_and(|entry| entry.id.is_some()) {
                    found.push(below(directory.path.as_bstr(), item.name.as_bstr()));
                }
            }
        }
        found.extend(self.outlawed_below(walked, decisions));
        found
    }

    /// The same in directories that are ignored, which the walk did not enter.
    fn outlawed_below(&self, walked: &Walked, decisions: &Decisions) -> Vec<BString> {
        let Some(table) = self.before else {
            return Vec::new();
        };
        let mut ignored = HashSet::new();
        let mut entered = HashSet::new();
        for (at, directory) in walked.directories.iter().enumerate() {
            if directory.closed.is_none() {
                entered.insert(directory.path.as_bstr());
            }
            let items = directory.items.iter().zip(&decisions.verdicts[at]);
            let directories = items.filter(|(item, verdict)| {
                verdict.is_ignored && item.stat.kind() == crate::fs::kind::Kind::Directory
            });
            ignored.extend(directories.map(|(item, _)| below(directory.path.as_bstr(), item.name.as_bstr())));
        }
        if ignored.is_empty() {
            return Vec::new();
        }
        let is_below = |path: &BStr| {
            std::iter::once(path)
                .chain(parents(path))
                .any(|up| ignored.contains(up.as_bytes()))
        };
        let closed = table.folders.iter().filter(|(path, _)| {
            let path: &BStr = path.as_bstr();
            !entered.contains(path) && is_below(path)
        });
        closed
            .flat_map(|(path, folder)| {
                let captured = folder.entries.iter().filter(|entry| entry.id.is_some());
                captured.map(|entry| below(path.as_bstr(), entry.name.as_bstr()))
            })
            .collect()
    }

    /// What the look before captured and is in another repository by now.
    pub(super) fn outlawed_inside(&self) -> Vec<BString> {
        let Some(table) = self.before else {
            return Vec::new();
        };
        let inside = table
            .folders
            .iter()
            .filter(|(path, _)| is_of_another(self.looking, path.as_bstr()));
        inside
            .flat_map(|(path, folder)| {
                let captured = folder.entries.iter().filter(|entry| entry.id.is_some());
                captured.map(|entry| below(path.as_bstr(), entry.name.as_bstr()))
            })
            .collect()
    }

    /// Reads the forced files in the directories of other repositories, which the walk does not enter.
    pub(super) fn inside(&self) -> Outcome<Vec<Inside>> {
        let forced = self.looking.forced.iter();
        let wanted: Vec<&BStr> = forced
            .filter(|path| {
                path.rfind_byte(b'/')
                    .is_some_and(|end| is_of_another(self.looking, path[..end].as_bstr()))
            })
            .collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let place = &self.looking.shadow.top;
        let top = Handle::top(place).context("it cannot be looked into", place)?;
        let mut found = Vec::new();
        for path in wanted {
            let end = path.rfind_byte(b'/').unwrap_or_default();
            let Ok(directory) = top.descend(path[..end].as_bstr()) else {
                continue;
            };
            let Ok(open) = directory.open() else { continue };
            let reading = read(
                (self.store, self.looking.reads.reporter),
                open.as_fd(),
                path[end + 1..].as_bstr(),
                Purpose::Store,
            )?;
            // One that cannot be read stays in the way of the restore, which names it.
            if let Reading::Read(content) = reading
                && forbidden_part(path, content.stat.kind()).is_none()
            {
                found.push(Inside {
                    path: path.to_owned(),
                    stat: content.stat,
                    id: content.id,
                });
            }
        }
        Ok(found)
    }

    /// Whether everything that was forced was captured.
    pub(super) fn has_forced(&self, walked: &Walked, sorted: &Sorted, inside: &[Inside]) -> bool {
        let forced = self.looking.forced;
        if forced.is_empty() {
            return true;
        }
        let directories = walked.directories.iter().zip(&sorted.captured);
        let captured = directories.flat_map(|(directory, numbers)| {
            let path = directory.path.as_bstr();
            numbers
                .iter()
                .map(move |number| below(path, directory.items[*number].name.as_bstr()))
        });
        let count = captured.filter(|path| forced.contains(path.as_bstr())).count();
        count + inside.len() == forced.iter().count()
    }

    /// Whether nothing can have come or gone in the stores of the host since the look before.
    fn are_stores_as_before(&self, stores: &[u8]) -> bool {
        !stores.is_empty() && self.before.is_some_and(|table| table.stores == stores)
    }

    /// Objects that the table relies on and that no store has any more. The host may prune what the shadow reads from it.
    pub(super) fn lost_objects(&self, stores: &[u8]) -> Outcome<HashSet<Id>> {
        let Some(table) = self.before.filter(|_| !self.are_stores_as_before(stores)) else {
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

    /// What the look before captured and is still there, and whether it was found in a store.
    fn captured_before(&self, lost: &HashSet<Id>) -> HashMap<Id, bool> {
        let folders = self.before.iter().flat_map(|table| table.folders.values());
        let entries = folders.flat_map(|folder| &folder.entries);
        let captured = entries.filter_map(|entry| Some((entry.id?, entry.is_borrowed)));
        captured.filter(|(id, _)| !lost.contains(id)).collect()
    }

    /// What is captured of each path: as the table has it, or as it was read.
    pub(super) fn contents(
        &self,
        walked: &Walked,
        decisions: &Decisions,
        sorted: &mut Sorted,
        (lost, stores): (&HashSet<Id>, &[u8]),
    ) -> Outcome<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::with_capacity(walked.directories.len());
        let mut unread: Vec<At> = Vec::new();
        for (at, directory) in walked.directories.iter().enumerate() {
            let folder = self
                .before
                .and_then(|table| table.folder(directory.path.as_bstr()));
            let mut kept = vec![None; directory.items.len()];
            let mut same = 0;
            for &number in &sorted.captured[at] {
                let item = &directory.items[number];
                let entry = item.then.and_then(|then| folder?.entries.get(then));
                let known = entry.and_then(|entry| Some((entry, entry.id.filter(|id| !lost.contains(id))?)));
                match known {
                    Some((entry, id))
                        if entry.holds(&item.stat, self.trusted_until) && !self.is_mapped(item) =>
                    {
                        same += 1;
                        kept[number] = Some(Kept {
                            stat: item.stat,
                            id,
                            is_sure: true,
                            is_borrowed: entry.is_borrowed,
                        });
                    }
                    Some(_) | None => unread.push((at, number)),
                }
            }
            let before = folder.map(|folder| folder.entries.iter().filter(|entry| entry.id.is_some()));
            rows.push(Row {
                kept,
                is_as_before: before.is_some_and(|before| before.count() == same)
                    && same == sorted.captured[at].len(),
            });
        }
        if unread.is_empty() {
            return Ok(rows);
        }
        let borrowed = self.captured_before(lost);
        let reader = Reader {
            shadow: self.looking.shadow,
            store: self.store,
            directories: &walked.directories,
            reads: self.looking.reads,
        };
        let none = HashSet::new();
        let there = if self.are_stores_as_before(stores) {
            self.looking.taken
        } else {
            &none
        };
        let mut gone: Vec<At> = Vec::new();
        for (at, result) in reader.read(&unread, &borrowed, there)? {
            let item = &walked.directories[at.0].items[at.1];
            match result.reading {
                Reading::Read(content) => {
                    let is_sure = content.is_steady
                        && content.stat.changed < self.began.limit()
                        && !self.is_mapped(item);
                    let is_borrowed = borrowed.get(&content.id).copied().unwrap_or(result.is_borrowed);
                    rows[at.0].kept[at.1] = Some(Kept {
                        stat: content.stat,
                        id: content.id,
                        is_sure,
                        is_borrowed,
                    });
                }
                Reading::Gone => gone.push(at),
                Reading::Lost(why) => {
                    let directory = walked.directories[at.0].path.as_bstr();
                    let path = below(directory, item.name.as_bstr());
                    // One that is ignored stays in the way of the restore, which names it.
                    let is_ignored = decisions.verdicts[at.0][at.1].is_ignored;
                    if !(is_ignored && self.looking.forced.contains(path.as_bstr())) {
                        sorted.failures.lose(path, why);
                    }
                    gone.push(at);
                }
            }
        }
        for (at, number) in gone {
            sorted.captured[at].retain(|one| *one != number);
        }
        Ok(rows)
    }
}

/// Whether a directory is one of another repository, or in one.
fn is_of_another(looking: &Looking<'_>, directory: &BStr) -> bool {
    looking
        .nested
        .iter()
        .any(|other| directory == other || is_below(directory, other.as_bstr()))
}

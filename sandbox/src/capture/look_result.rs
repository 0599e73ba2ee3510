//! What a look leaves: the state of the working files, and the table for the next look.

use crate::capture::look::{Look, Looked, Since};
use crate::capture::read_all::Row;
use crate::capture::sidecar::{self, Held};
use crate::capture::sort::Sorted;
use crate::capture::state::{SkippedPath, WorkingState};
use crate::capture::trees::{Inside, Trees};
use crate::git::id::Id;
use crate::scan::decide::Decisions;
use crate::scan::discover::parents;
use crate::scan::table::{Entry, Folder, Table};
use crate::scan::walk::{Item, Walked};
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{HashMap, HashSet};

impl Look<'_> {
    /// What the next look is to know.
    pub(super) fn table<'walk>(
        &self,
        walked: &'walk Walked,
        decisions: &Decisions,
        (rows, trees, inside): (&[Row], &Trees, &[Inside]),
        stores: &[u8],
    ) -> Table<'walk> {
        // Their trees have files that the table does not know.
        let mixed: HashSet<&BStr> = inside
            .iter()
            .flat_map(|one| parents(one.path.as_bstr()))
            .chain((!inside.is_empty()).then(|| BStr::new("")))
            .collect();
        let mut folders = HashMap::with_capacity(walked.directories.len());
        for (at, directory) in walked.directories.iter().enumerate() {
            let entry = |(number, item): (usize, &'walk Item)| {
                let captured = rows[at].kept[number];
                Entry {
                    name: item.name.as_bstr(),
                    stat: captured.map_or(item.stat, |captured| captured.stat),
                    verdict: decisions.verdicts[at][number],
                    id: captured.map(|captured| captured.id),
                    is_sure: captured.map_or_else(|| self.is_settled(item), |captured| captured.is_sure),
                    is_borrowed: captured.is_some_and(|captured| captured.is_borrowed),
                }
            };
            let tree = trees.by_path.get(&directory.path).copied();
            let tree = tree.filter(|_| !mixed.contains(directory.path.as_bstr()));
            folders.insert(
                directory.path.as_bstr(),
                Folder {
                    entries: directory.items.iter().enumerate().map(entry).collect(),
                    tree,
                    is_borrowed: tree.is_some_and(|tree| trees.borrowed.contains_key(&tree)),
                },
            );
        }
        Table {
            format: self.looking.shadow.format,
            began: self.began,
            // Rules that git could not read are asked about each time.
            rules: if decisions.said.is_empty() {
                self.looking.rules.to_vec()
            } else {
                Vec::new()
            },
            stores: stores.to_vec(),
            folders,
        }
    }

    /// The objects that are not where the look before had the same ones. All others are in its tree.
    pub(super) fn since(
        &self,
        walked: &Walked,
        rows: &[Row],
        trees: &Trees,
        is_all_walked: bool,
    ) -> Option<Since> {
        let before = self.before.filter(|_| is_all_walked)?;
        let tree = before.folder(BStr::new(""))?.tree?;
        let mut objects = Vec::new();
        for (directory, row) in walked.directories.iter().zip(rows) {
            let path = directory.path.as_bstr();
            let folder = before.folder(path);
            let now = trees.by_path.get(&directory.path).copied();
            if now != folder.and_then(|folder| folder.tree) {
                objects.extend(now);
            }
            if row.is_as_before {
                continue;
            }
            for (item, kept) in directory.items.iter().zip(&row.kept) {
                let then = item.then.and_then(|then| folder?.entries.get(then)?.id);
                objects.extend(kept.as_ref().map(|kept| kept.id).filter(|id| then != Some(*id)));
            }
        }
        Some(Since { tree, objects })
    }

    pub(super) fn state(
        &self,
        walked: &Walked,
        decisions: &Decisions,
        mut sorted: Sorted,
        trees: &Trees,
        stores: Vec<u8>,
    ) -> Outcome<WorkingState> {
        let looking = self.looking;
        let directories: HashSet<BString> = trees.by_path.keys().cloned().collect();
        let left_out: HashSet<BString> = sorted.large.iter().map(|large| large.path.clone()).collect();
        let held = Held {
            items: &sorted.captured,
            directories: &directories,
            left_out: &left_out,
            failures: &sorted.failures,
        };
        let (modes, empty) = sidecar::lists(walked, decisions, &held, looking.umask);
        let mut list = Vec::new();
        for large in &sorted.large {
            list.extend_from_slice(&large.path);
            list.push(0);
            sorted.skipped.push(SkippedPath {
                path: large.path.clone(),
                reason: format!("larger than maxFileBytes ({})", looking.max_bytes),
                size: Some(large.size),
            });
        }
        for (path, user) in looking.held {
            // The slash at its end tells it from a file.
            list.extend_from_slice(path);
            list.extend_from_slice(b"/\0");
            sorted.skipped.push(SkippedPath {
                path: path.clone(),
                reason: format!("the git directory of the repository {user}"),
                size: None,
            });
        }
        Ok(WorkingState {
            tree: trees
                .top
                .ok_or_else(|| Failure::Fault("the repository went while it was looked at".into()))?,
            modes,
            empty,
            left_out: list,
            failures: sorted.failures.finish(),
            skipped: sorted.skipped,
            stores,
            has_unknown_root: false,
        })
    }
}

/// What a look answers that met a repository which discovery does not know.
pub(super) fn unknown_root(shadow: &Shadow) -> Outcome<Looked> {
    let empty = shadow.format.empty_tree();
    let state = WorkingState {
        // No caller uses it.
        tree: Id::from_hex(empty.as_bytes())
            .ok_or_else(|| Failure::Fault(format!("{empty} is not the id of an empty tree")))?,
        modes: Vec::new(),
        empty: Vec::new(),
        left_out: Vec::new(),
        failures: Vec::new(),
        skipped: Vec::new(),
        stores: Vec::new(),
        has_unknown_root: true,
    };
    Ok(Looked {
        state,
        has_forced: false,
        since: None,
        table: None,
    })
}

//! Where only some paths are asked for, and where repositories lie inside others.

use crate::capture::tree::TreeMode;
use crate::git::id::Id;
use crate::merge::conflicts::Conflict;
use crate::merge::edit::{Edits, edited};
use crate::merge::nested::{self, id_of};
use crate::merge::paths::with_above;
use crate::merge::sidecar::empty_of;
use crate::merge::steps::One;
use crate::merge::trouble::Done;
use crate::plan::above;
use crate::wire::compose::Step;
use crate::wire::name::Name;
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;

impl One<'_> {
    /// The tree `into` with the paths that are asked for as they are in `from`.
    pub(super) fn only_paths(&mut self, into: Id, from: Id) -> Done<Id> {
        let mut edits = Edits::new();
        let mut told: BTreeSet<BString> = BTreeSet::new();
        for Name(path) in &self.repository.paths {
            let comes = self.objects.at(&from, path.as_bstr())?;
            edits.insert(path.clone(), comes);
            if comes.is_none() {
                continue;
            }
            // What is no directory here, where one comes, would go although nobody named it.
            let mut kept = None;
            for up in above(path.as_bstr()) {
                let stands = self.objects.at(&into, up)?;
                if stands.is_some_and(|entry| entry.mode != TreeMode::Directory) {
                    kept = Some(up.to_owned());
                }
                if self.asked.names(up) {
                    kept = None;
                }
            }
            if let Some(kept) = kept.filter(|kept| told.insert(kept.clone())) {
                let message = [&b"it is no directory here, and would make room for "[..], path];
                self.conflicts
                    .push(Conflict::new(kept, "file/directory", message.concat()));
            }
        }
        let tree = edited(&mut self.objects, &self.scratch.store, &into, &edits)?;
        self.scratch.store.commit()?;
        Ok(tree)
    }

    /// Names the paths that no state has, neither as a file, nor as a directory, nor as an empty directory.
    pub(super) fn look_for_paths(&mut self) -> Done<()> {
        let mut trees = vec![self.tree];
        let mut metas = vec![self.meta];
        for Step { base, theirs } in self.repository.steps.iter().filter(|_| !self.asked.is_all()) {
            for state in [base, theirs] {
                trees.push(id_of(&state.tree)?);
                metas.push(id_of(&state.meta)?);
            }
        }
        let mut unknown: Vec<BString> = Vec::new();
        for path in &self.repository.paths {
            let mut is_known = false;
            for tree in &trees {
                is_known = is_known || self.objects.at(tree, path.0.as_bstr())?.is_some();
            }
            if !is_known {
                unknown.push(path.0.clone());
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let mut hollow = BTreeSet::new();
        for meta in metas {
            let meta = self.meta(meta)?;
            hollow.extend(with_above(empty_of(&mut self.objects, &meta)?.iter()));
        }
        unknown.retain(|path| !hollow.contains(path));
        self.report.unknown_paths = unknown.into_iter().map(Name).collect();
        Ok(())
    }

    pub(super) fn find_in_two(&mut self) -> Done<()> {
        let repository = self.repository;
        let now = (!repository.is_new).then_some(&repository.known.tree);
        let trees = nested::Trees {
            merged: self.merged.unwrap_or(self.tree),
            now: now.map(|tree| id_of(tree)).transpose()?,
            change: repository
                .steps
                .last()
                .map(|step| id_of(&step.theirs.tree))
                .transpose()?,
        };
        let conflicts = nested::in_two(&mut self.objects, &repository.inside, &trees)?;
        self.conflicts.extend(conflicts);
        Ok(())
    }
}

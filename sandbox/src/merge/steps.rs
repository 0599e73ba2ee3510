//! The state of one repository, step by step.

use crate::capture::chain::Linked;
use crate::git::id::Id;
use crate::merge::conflicts::Conflict;
use crate::merge::host::{HostSide, PARTS, Parts, side};
use crate::merge::markers;
use crate::merge::meta::Meta;
use crate::merge::nested::{self, id_of};
use crate::merge::objects::Objects;
use crate::merge::one::{Composing, told};
use crate::merge::paths::Asked;
use crate::merge::sidecar::{self, Three};
use crate::merge::three_way;
use crate::merge::trouble::{Done, Trouble};
use crate::merge::unseen::Asking;
use crate::shadow::scratch::Scratch;
use crate::wire::capture::{ChangesReport, RepositoryState};
use crate::wire::compose::ComposedRepository;
use crate::wire::compose::{ComposeRepository, Step};
use crate::wire::name::shown;
use crate::wire::restore::State;
use bstr::BString;
use std::collections::HashMap;
use std::sync::PoisonError;

/// The state so far.
pub(super) struct One<'one> {
    pub(super) composing: &'one Composing<'one>,
    pub(super) repository: &'one ComposeRepository,
    pub(super) scratch: &'one Scratch,
    pub(super) number: usize,
    pub(super) objects: Objects,
    pub(super) metas: HashMap<Id, Meta>,
    pub(super) asked: Asked,
    pub(super) include: Vec<BString>,
    pub(super) tree: Id,
    pub(super) meta: Id,
    /// What the last step merged, also where that is not taken because of conflicts.
    pub(super) merged: Option<Id>,
    pub(super) report: ComposedRepository,
    pub(super) conflicts: Vec<Conflict>,
}

/// What leaves the sandbox.
#[derive(Default)]
pub(super) struct Made {
    pub(super) linked: Option<Linked>,
    pub(super) changes: Option<(Vec<u8>, ChangesReport)>,
}

impl<'one> One<'one> {
    pub(super) fn new(
        composing: &'one Composing<'one>,
        repository: &'one ComposeRepository,
        scratch: &'one Scratch,
        number: usize,
    ) -> Done<Self> {
        Ok(One {
            objects: Objects::open(&scratch.shadow)?,
            metas: HashMap::new(),
            asked: Asked(repository.paths.iter().map(|path| path.0.clone()).collect()),
            include: composing
                .request
                .include
                .iter()
                .map(|name| name.0.clone())
                .collect(),
            tree: id_of(&repository.known.tree)?,
            meta: id_of(&repository.known.meta)?,
            merged: None,
            report: told(repository, RepositoryState::Captured),
            conflicts: Vec::new(),
            composing,
            repository,
            scratch,
            number,
        })
    }

    pub(super) fn run(&mut self) -> Done<Made> {
        let (repository, request) = (self.repository, self.composing.request);
        self.bring()?;
        if repository.is_new {
            self.begin_new()?;
        }
        for step in &repository.steps {
            self.step(step)?;
        }
        self.look_for_paths()?;
        self.find_in_two()?;
        let made = if request.is_exported && self.is_taken() {
            self.export()?
        } else {
            Made::default()
        };
        self.scratch.store.commit()?;
        self.scratch.keep()?;
        self.scratch
            .note_sought(&format!("{} {}\n", request.tag, repository.known.tree))?;
        Ok(made)
    }

    fn bring(&self) -> Done<()> {
        let Composing {
            incoming, bringing, ..
        } = self.composing;
        let _alone = bringing.lock().unwrap_or_else(PoisonError::into_inner);
        let brought = incoming.bring(&self.scratch.shadow, &self.repository.bundles)?;
        brought.map_err(Trouble::Said)
    }

    /// Whether the result counts: with conflicts, only their marks make it one.
    pub(super) fn is_taken(&self) -> bool {
        self.conflicts.is_empty() || self.composing.request.markers
    }

    /// A repository that is not here yet is stored as a whole, on the base that it stands on.
    pub(super) fn begin_new(&mut self) -> Done<()> {
        self.has_tree(self.tree)?;
        self.meta(self.meta)?;
        if self.composing.request.refuses_markers {
            let empty = id_of(self.scratch.shadow.format.empty_tree())?;
            let left = markers::left(self.scratch, &mut self.objects, &empty, &self.tree)?;
            self.conflicts.extend(left);
        }
        if !self.repository.is_entered {
            let occupied = nested::occupied(
                &self.composing.place(self.repository),
                &self.scratch.shadow.top,
                &self.composing.request.repositories,
                self.repository,
            )?;
            self.conflicts.extend(occupied);
        }
        Ok(())
    }

    pub(super) fn has_tree(&mut self, tree: Id) -> Done<()> {
        use crate::merge::edit::Trees;
        self.objects.tree(&tree).map(drop)
    }

    pub(super) fn meta(&mut self, id: Id) -> Done<Meta> {
        if let Some(known) = self.metas.get(&id) {
            return Ok(known.clone());
        }
        let meta = Meta::read(&mut self.objects, &id)?;
        self.metas.insert(id, meta.clone());
        Ok(meta)
    }

    pub(super) fn state(&mut self, state: &State) -> Done<(Id, Meta)> {
        let tree = id_of(&state.tree)?;
        self.has_tree(tree)?;
        Ok((tree, self.meta(id_of(&state.meta)?)?))
    }

    /// One three-way merge.
    pub(super) fn step(&mut self, step: &Step) -> Done<()> {
        let request = self.composing.request;
        self.has_tree(self.tree)?;
        let ours_meta = self.meta(self.meta)?;
        let (base, base_meta) = self.state(&step.base)?;
        let (theirs, theirs_meta) = self.state(&step.theirs)?;
        let asking = Asking {
            scratch: self.scratch,
            asked: &self.asked,
            include: &self.include,
            is_merge: request.reason == "merge",
            base: (base, &base_meta),
            theirs: (theirs, &theirs_meta),
            now: self.tree,
        };
        let unseen = asking.answer(&mut self.objects)?;
        self.report
            .warnings
            .extend(unseen.warnings.iter().map(|text| shown(text)));
        let mut theirs = unseen.theirs;
        if !self.asked.is_all() {
            theirs = self.only_paths(base, theirs)?;
        }
        if request.refuses_markers {
            let left = markers::left(self.scratch, &mut self.objects, &base, &theirs)?;
            self.conflicts.extend(left);
        }
        let sides = [base, self.tree, theirs];
        let (result, conflicts) = three_way::merged(
            self.scratch,
            &self.composing.merges,
            (&request.labels, request.markers),
            sides,
        )?;
        self.conflicts.extend(conflicts);
        self.merged = Some(result);
        let meta = self.host(&base_meta, &ours_meta, &theirs_meta);
        let three = Three {
            base: (&base_meta, base),
            ours: (&ours_meta, self.tree),
            theirs: &theirs_meta,
            result,
        };
        let asked = (&self.asked, &unseen.kept);
        let store = &self.scratch.store;
        let (lists, conflicts) = sidecar::merged(&mut self.objects, store, &three, asked)?;
        self.conflicts.extend(conflicts);
        let meta = meta.with(store, &lists)?;
        store.commit()?;
        if self.is_taken() {
            self.tree = result;
            self.meta = meta;
        }
        Ok(())
    }

    /// The host state that the result has. Where only some paths are asked for, that of now stays.
    pub(super) fn host(&mut self, base: &Meta, ours: &Meta, theirs: &Meta) -> Meta {
        if !self.asked.is_all() {
            return ours.clone();
        }
        let parts = |meta: &Meta| -> Parts { PARTS.map(|name| meta.part(name)) };
        match side(&parts(base), &parts(ours), &parts(theirs)) {
            HostSide::Now => ours.clone(),
            HostSide::Kept => {
                self.report.is_host_kept = true;
                ours.clone()
            }
            HostSide::Taken => {
                self.report.is_host_taken = true;
                theirs.clone()
            }
        }
    }
}

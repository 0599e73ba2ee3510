//! The capture of what was written late in one repository.

use crate::bundle::folder::Folder;
use crate::bundle::leave::Leaving;
use crate::capture::chain::{About, Linked, Linking};
use crate::capture::record::{Between, Place, packed, record};
use crate::fs::remove;
use crate::git::id::{Format, Id};
use crate::late::overlay::{CaptureOfPlace, Overlay};
use crate::merge::edit::edited;
use crate::merge::nested::id_of;
use crate::merge::objects::Objects;
use crate::merge::trouble::{Done, Trouble};
use crate::restore::put_aside::format_of;
use crate::shadow::scratch::{self, Scratch};
use crate::wire::capture::{CaptureIds, Chain, ChangesReport, FailedName, KnownRepository, RepositoryState};
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::late::{LateRepository, LateRequest};
use crate::wire::name::Name;
use crate::wire::progress::Reporter;
use bstr::{BString, ByteSlice};
use std::fs;
use std::path::{Path, PathBuf};

/// How often it is tried: what ends a process once may not end it again.
const TRIES: usize = 2;

/// What all repositories of a call have in common.
pub(crate) struct Capturing<'call> {
    pub(crate) projects: &'call Path,
    pub(crate) request: &'call LateRequest,
    pub(crate) folder: &'call Folder,
    /// Seconds since the epoch.
    pub(crate) now: i64,
    pub(crate) reporter: &'call Reporter,
}

/// A repository, and what leaves the sandbox of it.
pub(crate) struct Captured {
    pub(crate) report: LateRepository,
    pub(crate) leaving: Leaving,
}

/// What one repository is captured from.
struct One<'one> {
    /// Its number in the request.
    number: usize,
    known: &'one KnownRepository,
    places: &'one [PathBuf],
}

fn told(known: &KnownRepository, state: RepositoryState) -> LateRepository {
    LateRepository {
        path: known.path.clone(),
        state,
        capture: None,
        changes: None,
        failures: Vec::new(),
        skipped: Vec::new(),
        late: Vec::new(),
    }
}

impl Capturing<'_> {
    /// `number` is that of the repository in the request; `places` hold files of it.
    pub(crate) fn capture(&self, number: usize, places: &[PathBuf]) -> Outcome<Captured> {
        let known = &self.request.known[number];
        let one = One {
            number,
            known,
            places,
        };
        if places.is_empty() {
            let mut report = told(known, RepositoryState::Captured);
            report.capture = Some(ids(known, &known.tree, None));
            let leaving = Leaving::default();
            return Ok(Captured { report, leaving });
        }
        let mut last = None;
        for again in 0..TRIES {
            match self.attempt(&one, again) {
                Ok(captured) => return Ok(captured),
                Err(Trouble::Failure(killed @ Failure::Killed { .. })) => last = Some(killed),
                Err(Trouble::Failure(refused @ Failure::Refused { .. })) => return Err(refused),
                Err(trouble) => return Ok(failed(known, &trouble)),
            }
        }
        let why = last.map(|killed| killed.to_string()).unwrap_or_default();
        Err(Failure::Fault(format!("{}: {why}", known.path.0)))
    }

    fn attempt(&self, one: &One<'_>, again: usize) -> Done<Captured> {
        let &One {
            number,
            known,
            places,
        } = one;
        let place = scratch::Place {
            projects: self.projects,
            session: &self.request.session_id,
            path: known.path.0.as_bstr(),
        };
        let directory = self.folder.file(&format!("{number}.{again}.git"))?;
        let format = places.first().map_or(Format::Sha1, |place| format_of(place));
        let scratch = Scratch::make(&place, format, directory)?;
        let mut objects = Objects::open(&scratch.shadow)?;
        let before = id_of(&known.tree)?;
        let most = self.request.max_file_bytes;
        let mut overlay = Overlay::new((&scratch, self.reporter), &mut objects, before, most);
        for place in places {
            overlay.add(place)?;
        }
        let Overlay {
            edits,
            taken,
            skipped,
            late,
            ..
        } = overlay;
        let tree = if edits.is_empty() {
            before
        } else {
            edited(&mut objects, &scratch.store, &before, &edits)?
        };
        let mut report = told(known, RepositoryState::Captured);
        let mut leaving = Leaving::default();
        let mut linked = None;
        if tree != before {
            let made = self.link(one, &scratch, tree)?;
            if self.request.changes {
                let (changes, list) = compared(known, &scratch, tree);
                report.changes = Some(changes);
                leaving.record = (!list.is_empty()).then(|| packed(list));
            }
            scratch.keep()?;
            linked = Some((made.commit, made.chain));
            leaving.link = Some(made.link);
            leaving.base = made.base;
        }
        for taken in &taken {
            note(taken, &self.request.tag)?;
        }
        report.capture = Some(ids(known, &tree.to_string(), linked));
        report.skipped = skipped;
        report.late = late;
        Ok(Captured { report, leaving })
    }

    /// A link on top of what is stored. The user's repository is not looked at, so there is no new base.
    fn link(&self, one: &One<'_>, scratch: &Scratch, tree: Id) -> Done<Linked> {
        scratch.store.commit()?;
        let LateRequest {
            session_id,
            message,
            reason,
            tag,
            ..
        } = self.request;
        let linking = Linking {
            shadow: &scratch.shadow,
            store: &scratch.store,
            folder: self.folder,
            about: About {
                session: session_id,
                message,
                reason,
                tag,
                known_bases: &[],
            },
            number: one.number,
            now: self.now,
            tree,
            meta: id_of(&one.known.meta)?,
            previous: Some(&one.known.commit),
            base_commit: one.known.base_commit.as_deref(),
            head: None,
            base: None,
            is_partial: false,
            since: None,
            reporter: self.reporter,
        };
        Ok(linking.link(Chain::Append)?)
    }
}

/// The record of what the late files changed in the known state.
fn compared(known: &KnownRepository, scratch: &Scratch, tree: Id) -> (ChangesReport, Vec<u8>) {
    // Nothing is in this directory, so no file of the record still exists.
    let place = Place {
        path: known.path.0.as_bstr(),
        top: &scratch.shadow.top,
        shadow: &scratch.shadow,
        nested: &[],
    };
    let between = Between {
        from: Some(&known.tree),
        from_meta: None,
        tree: &tree.to_string(),
        meta: &known.meta,
    };
    let (list, changes) = record(&place, &between);
    (changes, list)
}

/// Notes what a capture took from a place, until it is durable. What a capture before it took counts no more.
fn note(taken: &CaptureOfPlace, tag: &str) -> Outcome<()> {
    let path = taken.place.join("storing");
    if taken.contents.is_empty() {
        return remove::file(&path).context("it cannot be removed", path);
    }
    let mut text = [tag.as_bytes(), b"\0"].concat();
    for (id, path) in &taken.contents {
        text.extend_from_slice(format!("{id} ").as_bytes());
        text.extend_from_slice(path);
        text.push(0);
    }
    let part = taken.place.join("storing.part");
    fs::write(&part, text)
        .and_then(|()| fs::rename(&part, &path))
        .context("it cannot be written", path)
}

fn ids(known: &KnownRepository, tree: &str, linked: Option<(Id, Chain)>) -> CaptureIds {
    let chain = linked.map(|(_, chain)| chain);
    let on_base = |text: &Option<String>| {
        text.clone()
            .filter(|text| chain != Some(Chain::Rebase) && !text.is_empty())
    };
    let base = on_base(&known.base);
    CaptureIds {
        commit: linked.map_or_else(|| known.commit.clone(), |(commit, _)| commit.to_string()),
        tree: tree.to_owned(),
        meta: known.meta.clone(),
        chain,
        base_commit: on_base(&known.base_commit).filter(|_| base.is_some()),
        base,
        missing_target: false,
        stash: Vec::new(),
    }
}

fn failed(known: &KnownRepository, trouble: &Trouble) -> Captured {
    let mut report = told(known, RepositoryState::Failed);
    report.failures.push(FailedName {
        path: Name(BString::from(".")),
        reason: trouble.reason(),
    });
    let leaving = Leaving::default();
    Captured { report, leaving }
}

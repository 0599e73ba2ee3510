//! The host state of a capture (`M` in docs/design.md): one commit whose tree holds the lists of the sidecar, HEAD and
//! branches, index, operation in progress, shallow boundary, remotes, partial checkout, and how files are converted. Its
//! parents are the tips that are there, so that commits of the agent travel with the capture.
//!
//! 1. The same state has the same commit: identity and date are fixed.
//! 2. A part that cannot be read is a failure of its path. It never costs the working files.
//! 3. What is noted for the next capture is noted after the objects have their names.

pub(crate) mod conversion;
pub(crate) mod history;
mod index_by_git;
mod index_part;
mod index_state;
mod leaves;
mod lists;
mod note;
pub(crate) mod operation;
pub(crate) mod report;
mod tips;

use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::fs::clock;
use crate::git::id::{Id, ObjectKind};
use crate::git::store::ObjectStore;
use crate::host::place::Host;
use crate::host::reading::HostReading;
use crate::meta::index_state::Reader;
use crate::meta::note::{HostStateNote, digest};
use crate::meta::operation::{Operation, stage};
use crate::scan::ignored::Said;
use crate::scan::table::Began;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use bstr::{BString, ByteSlice};

const IDENTITY: &str = "Walkback <capture@walkback.invalid> 0 +0000";

/// Lists of the sidecar, as blobs that are in the store. An absent one is empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SidecarLists {
    pub(crate) modes: Option<Id>,
    pub(crate) empty: Option<Id>,
    pub(crate) left_out: Option<Id>,
}

/// What a host state is made from.
pub(crate) struct Input<'input> {
    pub(crate) reading: &'input HostReading,
    pub(crate) shadow: &'input Shadow,
    pub(crate) store: &'input ObjectStore,
    pub(crate) lists: SidecarLists,
    /// Change times from here on are too late to be trusted.
    pub(crate) limit: i64,
    /// Larger files of an operation in progress are not captured.
    pub(crate) max_bytes: u64,
    /// What the host's stores of objects look like (`host::stores`).
    pub(crate) stores: &'input [u8],
}

#[derive(Debug)]
pub(crate) struct HostState {
    pub(crate) meta: Id,
    /// The commits that are its parents, HEAD's first.
    pub(crate) tips: Vec<String>,
    pub(crate) failures: Vec<Said>,
    before: HostStateNote,
    now: HostStateNote,
}

impl HostState {
    /// Notes it for the next capture. The store is committed by then.
    pub(crate) fn keep(&mut self, shadow: &Shadow) -> Outcome<()> {
        if self.before == self.now {
            return Ok(());
        }
        self.now.save(shadow)
    }
}

/// The time of a look that begins now: what changes later has a change time from there on.
pub(crate) fn limit(shadow: &Shadow) -> Outcome<i64> {
    let mark = shadow.file("host-state.mark");
    let of_files = clock::time_of_files(&mark).context("a file cannot be written", &mark)?;
    let began = Began {
        at: of_files.min(clock::now()),
        offset: clock::offset(),
        is_coarse: of_files % 1_000_000_000 == 0,
        boot: clock::boot(),
    };
    Ok(began.limit())
}

/// Makes the host state, or finds that it is the one before.
pub(crate) fn host_state(input: &Input<'_>) -> Outcome<HostState> {
    let before = HostStateNote::load(input.shadow);
    let stores: String = input.stores.iter().map(|byte| format!("{byte:02x}")).collect();
    let holds = before.holds(input.shadow, &stores)?
        && Id::from_hex(before.note.meta.as_bytes()).is_some_and(|meta| input.store.stands(&meta));
    let mut now = if holds {
        before.clone()
    } else {
        HostStateNote::default()
    };
    let mut making = Making {
        input,
        failures: said_of(input.reading),
        entries: Vec::new(),
        is_whole: true,
    };
    let operation = match &input.reading.host {
        Some(host) => making.index_and_operation(host, &mut now)?,
        None => Operation::default(),
    };
    let key = making.key()?;
    let known = Id::from_hex(now.note.meta.as_bytes()).filter(|_| now.note.key == key);
    let meta = match known {
        Some(meta) => meta,
        None => {
            let (meta, tips) = making.commit(&operation, &mut now)?;
            // A failure is said each time, so the parts are read each time.
            now.note.key = if making.is_whole { key } else { String::new() };
            now.note.meta = meta.to_string();
            now.note.tips = tips;
            meta
        }
    };
    now.note.stores = stores;
    Ok(HostState {
        meta,
        tips: now.note.tips.clone(),
        failures: making.failures,
        before,
        now,
    })
}

/// What of HEAD and branches is not captured.
fn said_of(reading: &HostReading) -> Vec<Said> {
    let problem = reading.problem.iter().map(|reason| Said {
        path: BString::from(".git"),
        reason: reason.clone(),
    });
    let broken = reading.branches.broken.iter().map(|name| Said {
        path: BString::from([b".git/", name.as_slice()].concat()),
        reason: "the branch cannot be read, so it is not captured".into(),
    });
    problem.chain(broken).collect()
}

struct Making<'input> {
    input: &'input Input<'input>,
    failures: Vec<Said>,
    /// Those of index and operation.
    entries: Vec<TreeEntry>,
    /// No list of text failed.
    is_whole: bool,
}

impl Making<'_> {
    fn index_and_operation(&mut self, host: &Host, now: &mut HostStateNote) -> Outcome<Operation> {
        let Input {
            reading,
            shadow,
            store,
            limit,
            max_bytes,
            ..
        } = *self.input;
        let reader = Reader {
            host,
            head: reading.kind,
            shadow,
            store,
            limit,
        };
        let index = reader.read(now)?;
        self.failures.extend(index.failures);
        self.entries.extend(index.entries);
        let mut operation = operation::read(reading, host, shadow, store, max_bytes)?;
        self.failures.append(&mut operation.failures);
        self.entries.extend(operation.tree.map(|id| TreeEntry {
            name: BString::from("state"),
            mode: TreeMode::Directory,
            id,
        }));
        Ok(operation)
    }

    /// Everything that the host state is made from.
    fn key(&self) -> Outcome<String> {
        let reading = self.input.reading;
        let lists = self.input.lists;
        let lists = [lists.modes, lists.empty, lists.left_out]
            .map(|id| id.map(|id| id.to_string()).unwrap_or_default());
        let (shallow, sparse, attributes) = match &reading.host {
            Some(host) => (
                lists::text_of(&host.common.join("shallow")),
                lists::text_of(&host.git.join("info/sparse-checkout")),
                conversion::attributes(host)?,
            ),
            None => Default::default(),
        };
        Ok(digest(&[
            &lists::host_list(reading),
            &shallow,
            &sparse,
            &attributes,
            &reading.settings.text,
            compose(self.entries.clone()).as_slice(),
            lists.join(" ").as_bytes(),
        ]))
    }

    fn blob(&self, content: &[u8]) -> Outcome<Id> {
        stage(self.input.store, ObjectKind::Blob, content)
    }

    /// Makes the commit. The answer is its id and its parents.
    fn commit(&mut self, operation: &Operation, now: &mut HostStateNote) -> Outcome<(Id, Vec<String>)> {
        let reading = self.input.reading;
        let lists = self.input.lists;
        let nothing = self.blob(b"")?;
        let mut entries = self.entries.clone();
        let mut add = |name: &str, id: Id| {
            entries.push(TreeEntry {
                name: BString::from(name),
                mode: TreeMode::File,
                id,
            });
        };
        add("host", self.blob(&lists::host_list(reading))?);
        add("modes", lists.modes.unwrap_or(nothing));
        add("empty", lists.empty.unwrap_or(nothing));
        if let Some(id) = lists.left_out {
            add("left-out", id);
        }
        let mut failures = Vec::new();
        if let Some(host) = &reading.host {
            let shallow = lists::text_of(&host.common.join("shallow"));
            if !shallow.is_empty() {
                add("shallow", self.blob(&shallow)?);
            }
            let mut lose = |what: &str, said: String| {
                failures.push(Said {
                    path: BString::from(".git/config"),
                    reason: format!("git cannot read the settings, so {what} not captured: {said}"),
                });
            };
            match self.remotes(host, now)? {
                Ok(Some(id)) => add("remotes", id),
                Ok(None) => {}
                Err(said) => lose("the remotes are", said),
            }
            match lists::sparse(reading, host)? {
                Ok(list) if list.is_empty() => {}
                Ok(list) => add("sparse", self.blob(&list)?),
                Err(said) => lose("the partial checkout is", said),
            }
            match conversion::settings(reading, host)? {
                Ok(list) if list.is_empty() => {}
                Ok(list) => add("settings", self.blob(&list)?),
                Err(said) => lose("how it converts files is", said),
            }
            let attributes = conversion::attributes(host)?;
            if !attributes.is_empty() {
                add("attributes", self.blob(&attributes)?);
            }
        }
        self.is_whole = failures.is_empty();
        self.failures.append(&mut failures);
        let tree = stage(self.input.store, ObjectKind::Tree, &compose(entries))?;
        let tips = tips::there(reading, operation, self.input.shadow)?;
        let parents: String = tips.iter().map(|tip| format!("parent {tip}\n")).collect();
        let text = format!("tree {tree}\n{parents}author {IDENTITY}\ncommitter {IDENTITY}\n\nhost state\n");
        let meta = stage(self.input.store, ObjectKind::Commit, text.as_bytes())?;
        Ok((meta, tips))
    }

    /// The list of remotes, which is read from the settings alone.
    fn remotes(&self, host: &Host, now: &mut HostStateNote) -> Outcome<Result<Option<Id>, String>> {
        let settings = digest(&[&lists::text_of(&host.common.join("config"))]);
        if now.note.settings == settings {
            return Ok(Ok(now
                .note
                .remotes
                .as_deref()
                .and_then(|id| Id::from_hex(id.as_bytes()))));
        }
        let text = self.input.reading.settings.text.to_ascii_lowercase();
        let list = if text.contains_str("remote") || text.contains_str("branch") {
            match lists::remotes(host)? {
                Ok(list) => list,
                Err(said) => return Ok(Err(said)),
            }
        } else {
            Vec::new()
        };
        let id = if list.is_empty() {
            None
        } else {
            Some(self.blob(&list)?)
        };
        now.note.settings = settings;
        now.note.remotes = id.map(|id| id.to_string());
        Ok(Ok(id))
    }
}

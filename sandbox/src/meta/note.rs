//! What the host state before was made from. The same input has the same host state, so nothing is made again while
//! nothing changed and nothing that it relies on has gone.

use crate::git::id::Id;
use crate::git::present::present;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use bstr::ByteSlice;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const NOTE: &str = "host-state.json";
/// Ids of the trees of the index, one a line. Any of them may be an object of the host.
const OBJECTS: &str = "host-state.objects";

/// The digits of a hash of these texts.
pub(crate) fn digest(texts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    format!("{:x}", hash.finalize())
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Note {
    /// The stat of the index; empty when the same stat may mean another index.
    pub(crate) index: String,
    /// What the index has become: names and ids.
    pub(crate) index_trees: Vec<(String, String)>,
    pub(crate) flags: Option<String>,
    /// The settings that the list of remotes was read from, and the list.
    pub(crate) settings: String,
    pub(crate) remotes: Option<String>,
    /// Everything that the host state was made from.
    pub(crate) key: String,
    pub(crate) meta: String,
    pub(crate) tips: Vec<String>,
    /// The host's stores when the objects were there.
    pub(crate) stores: String,
    /// A hash of the list of objects.
    pub(crate) objects: String,
}

/// The note and its list of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostStateNote {
    pub(crate) note: Note,
    pub(crate) objects: BTreeSet<Id>,
}

impl HostStateNote {
    pub(crate) fn load(shadow: &Shadow) -> Self {
        let text = fs::read(shadow.file(NOTE)).unwrap_or_default();
        let note: Note = serde_json::from_slice(&text).unwrap_or_default();
        let list = fs::read(shadow.file(OBJECTS)).unwrap_or_default();
        if note.objects != digest(&[&list]) {
            return HostStateNote::default();
        }
        let objects = list.lines().filter_map(Id::from_hex).collect();
        HostStateNote { note, objects }
    }

    /// Whether everything that it relies on is there. `stores` are the host's, empty when a change may not show.
    pub(crate) fn holds(&self, shadow: &Shadow, stores: &str) -> Outcome<bool> {
        if !stores.is_empty() && self.note.stores == stores {
            return Ok(true);
        }
        let tips = self.note.tips.iter();
        let tips = tips.filter_map(|tip| Id::from_hex(tip.as_bytes()));
        let all: BTreeSet<Id> = self.objects.iter().copied().chain(tips).collect();
        let there = present(&shadow.git, all.iter().copied())?;
        Ok(all.iter().all(|id| there.contains(id)))
    }

    /// Writes it. Its objects have their names by now.
    pub(crate) fn save(&mut self, shadow: &Shadow) -> Outcome<()> {
        let list: String = self.objects.iter().map(|id| format!("{id}\n")).collect();
        self.note.objects = digest(&[list.as_bytes()]);
        write(&shadow.file(OBJECTS), list.as_bytes())?;
        // The note has no value that JSON cannot hold.
        write(
            &shadow.file(NOTE),
            &serde_json::to_vec(&self.note).unwrap_or_default(),
        )
    }
}

fn write(file: &Path, content: &[u8]) -> Outcome<()> {
    if fs::read(file).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let part = file.with_extension("part");
    let written = || {
        fs::write(&part, content)?;
        fs::rename(&part, file)
    };
    written().context("it cannot be written", file)
}

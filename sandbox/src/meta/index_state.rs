//! The part of the host state that is about the index, made again only when the index may be another one.

use crate::capture::tree::{TreeEntry, TreeMode};
use crate::fs::kind::{Kind, kind_behind};
use crate::fs::stat::nanoseconds;
use crate::fs::words::words;
use crate::git::id::{Id, ObjectKind};
use crate::git::present::present;
use crate::git::store::ObjectStore;
use crate::host::place::Host;
use crate::host::reading::HeadKind;
use crate::meta::index_by_git::{self, ByGit};
use crate::meta::index_part;
use crate::meta::note::HostStateNote;
use crate::meta::operation::stage;
use crate::scan::ignored::Said;
use crate::shadow::open::Shadow;
use crate::wire::error::Outcome;
use bstr::BString;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// With more new trees than this, git is asked which of them are there.
const FEW: usize = 64;
const PATH: &str = ".git/index";

/// Entries of the host state.
#[derive(Debug, Default)]
pub(crate) struct IndexState {
    pub(crate) entries: Vec<TreeEntry>,
    pub(crate) failures: Vec<Said>,
}

pub(crate) struct Reader<'read> {
    pub(crate) host: &'read Host,
    pub(crate) head: HeadKind,
    pub(crate) shadow: &'read Shadow,
    pub(crate) store: &'read ObjectStore,
    /// Change times from here on are too late to be trusted.
    pub(crate) limit: i64,
}

impl Reader<'_> {
    /// Reads the index and stores what it is made of.
    pub(crate) fn read(&self, noted: &mut HostStateNote) -> Outcome<IndexState> {
        let file = self.host.git.join("index");
        if kind_behind(&file) != Some(Kind::File) {
            forget(noted);
            return Ok(IndexState::default());
        }
        // Before the content, so that a later index has another key.
        let key = key_of(&file, self.limit).unwrap_or_default();
        if self.head != HeadKind::Unreadable
            && !key.is_empty()
            && noted.note.index == key
            && let Some(entries) = known(noted)
        {
            return Ok(IndexState {
                entries,
                failures: Vec::new(),
            });
        }
        let index = match fs::read(&file) {
            Ok(index) => index,
            // Git writes it anew in one step, so it was removed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                forget(noted);
                return Ok(IndexState::default());
            }
            Err(error) => {
                forget(noted);
                let why = error.raw_os_error().map_or_else(
                    || error.to_string(),
                    |code| words(rustix::io::Errno::from_raw_os_error(code)),
                );
                return Ok(unreadable(&why));
            }
        };
        // When HEAD cannot be read, the index may name content that is gone: git looks for every object.
        if self.head != HeadKind::Unreadable
            && let Some(part) = index_part::read(&index, self.shadow.format)
        {
            self.store_trees(&part.objects, noted)?;
            let trees = part.trees.into_iter().map(|(name, id)| (name.to_owned(), id));
            return self.note(key, trees.collect(), &part.flags, noted);
        }
        let may_lack = self.head != HeadKind::Unreadable;
        match index_by_git::read(self.shadow, self.host, &index, may_lack)? {
            ByGit::Read { entries, flags } => {
                let trees: Vec<(String, Id)> = entries
                    .into_iter()
                    .map(|entry| (entry.name.to_string(), entry.id))
                    .collect();
                noted.objects = trees.iter().map(|(_, id)| *id).collect();
                self.note(key, trees, &flags, noted)
            }
            ByGit::Unreadable(why) => {
                forget(noted);
                Ok(unreadable(&why))
            }
            ByGit::LacksObjects => {
                forget(noted);
                Ok(failed(
                    "the index names objects that are not there, so it is not captured".into(),
                ))
            }
        }
    }

    /// Stores the trees that no store has. Those that were there before are not looked for again.
    fn store_trees(&self, trees: &[(Id, Vec<u8>)], noted: &mut HostStateNote) -> Outcome<()> {
        let new: Vec<&(Id, Vec<u8>)> = trees
            .iter()
            .filter(|(id, _)| !noted.objects.contains(id))
            .collect();
        let there = if new.len() > FEW {
            present(&self.shadow.git, new.iter().map(|(id, _)| *id))?
        } else {
            Default::default()
        };
        for (id, content) in new {
            if !there.contains(id) {
                self.store.stage(ObjectKind::Tree, *id, content)?;
            }
        }
        noted.objects = trees.iter().map(|(id, _)| *id).collect::<BTreeSet<Id>>();
        Ok(())
    }

    fn note(
        &self,
        key: String,
        trees: Vec<(String, Id)>,
        flags: &[u8],
        noted: &mut HostStateNote,
    ) -> Outcome<IndexState> {
        let flags = if flags.is_empty() {
            None
        } else {
            Some(stage(self.store, ObjectKind::Blob, flags)?)
        };
        noted.note.index = key;
        noted.note.index_trees = trees
            .into_iter()
            .map(|(name, id)| (name, id.to_string()))
            .collect();
        noted.note.flags = flags.map(|id| id.to_string());
        Ok(IndexState {
            entries: known(noted).unwrap_or_default(),
            failures: Vec::new(),
        })
    }
}

fn forget(noted: &mut HostStateNote) {
    noted.note.index.clear();
    noted.note.index_trees.clear();
    noted.note.flags = None;
}

/// What the note says of the index.
fn known(noted: &HostStateNote) -> Option<Vec<TreeEntry>> {
    let trees = noted.note.index_trees.iter();
    let trees = trees.map(|(name, id)| (name.as_str(), TreeMode::Directory, id));
    let flags = noted.note.flags.iter();
    let flags = flags.map(|id| ("index-flags", TreeMode::File, id));
    let entries = trees.chain(flags).map(|(name, mode, id)| {
        Some(TreeEntry {
            name: BString::from(name),
            mode,
            id: Id::from_hex(id.as_bytes())?,
        })
    });
    entries.collect()
}

fn failed(reason: String) -> IndexState {
    IndexState {
        entries: Vec::new(),
        failures: vec![Said {
            path: BString::from(PATH),
            reason,
        }],
    }
}

fn unreadable(why: &str) -> IndexState {
    failed(format!("the index cannot be read, so it is not captured: {why}"))
}

/// The stat of an index. Empty when it was written in the tick of this look, since it may be written once more in it.
fn key_of(index: &Path, limit: i64) -> Option<String> {
    let found = fs::metadata(index).ok()?;
    let changed = nanoseconds(found.ctime(), found.ctime_nsec());
    let modified = nanoseconds(found.mtime(), found.mtime_nsec());
    (changed < limit).then(|| {
        format!(
            "{} {} {} {modified} {changed}",
            found.dev(),
            found.ino(),
            found.size()
        )
    })
}

//! Makes the trees of a look, from the deepest directory upwards.

use crate::capture::read_all::Row;
use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::fs::kind::Kind;
use crate::fs::stat::Stat;
use crate::git::id::{Id, ObjectKind, id_of};
use crate::git::present::present;
use crate::git::store::ObjectStore;
use crate::scan::table::Table;
use crate::scan::walk::Directory;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, HashMap, HashSet};

/// With more new trees than this, git is asked which of them are there.
const FEW: usize = 64;

/// The trees of directories that hold something captured. The top is always among them.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    pub(crate) by_path: HashMap<BString, Id>,
    /// Those that were there already, perhaps in the host's store.
    pub(crate) borrowed: HashMap<Id, ()>,
    pub(crate) top: Option<Id>,
}

pub(crate) struct TreeMaker<'look> {
    pub(crate) shadow: &'look Shadow,
    pub(crate) store: &'look ObjectStore,
    pub(crate) directories: &'look [Directory],
    pub(crate) rows: &'look [Row],
    /// Captured although they lie in directories that were not walked, sorted by path.
    pub(crate) inside: &'look [Inside],
    /// The look before. Its trees are there.
    pub(crate) before: Option<&'look Table<'look>>,
}

/// A file in the directory of another repository.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    pub(crate) path: BString,
    pub(crate) stat: Stat,
    pub(crate) id: Id,
}

impl<'look> TreeMaker<'look> {
    pub(crate) fn make(&self) -> Outcome<Trees> {
        let mut trees = Trees::default();
        let mut inner: HashMap<&BStr, Vec<TreeEntry>> = HashMap::new();
        let mut new = Vec::new();
        for one in self.inside {
            let (above, name) = parted(one.path.as_bstr());
            inner.entry(above).or_default().push(TreeEntry {
                name: name.to_owned(),
                mode: mode_of(&one.stat),
                id: one.id,
            });
        }
        let all = self.all_directories();
        let mut changed = self.gone(&all);
        for (path, at) in all.into_iter().rev() {
            let folder = self.before.and_then(|table| table.folder(path));
            let before = folder.and_then(|folder| folder.tree);
            let mut entries = inner.remove(path).unwrap_or_default();
            let is_as_before = at.is_some_and(|at| self.rows[at].is_as_before) && !changed.contains(path);
            let known = before.filter(|_| is_as_before);
            if known.is_none() {
                entries.extend(at.into_iter().flat_map(|at| self.captured(at)));
            }
            if known.is_none() && entries.is_empty() && !path.is_empty() {
                if before.is_some() {
                    changed.insert(parted(path).0);
                }
                continue;
            }
            let id = match known {
                Some(id) => id,
                None => {
                    let content = compose(entries);
                    let id = id_of(self.shadow.format, ObjectKind::Tree, &content)
                        .map_err(|attack| Failure::Fault(format!("{path}: {attack}")))?;
                    if before != Some(id) {
                        new.push((id, content));
                    }
                    id
                }
            };
            if before != Some(id) {
                changed.insert(parted(path).0);
            } else if folder.is_some_and(|folder| folder.is_borrowed) {
                trees.borrowed.insert(id, ());
            }
            trees.by_path.insert(path.to_owned(), id);
            if path.is_empty() {
                trees.top = Some(id);
                continue;
            }
            let (above, name) = parted(path);
            inner.entry(above).or_default().push(TreeEntry {
                name: name.to_owned(),
                mode: TreeMode::Directory,
                id,
            });
        }
        self.stage(new, &mut trees)?;
        Ok(trees)
    }

    /// What is captured in a directory of the walk itself.
    fn captured(&self, at: usize) -> impl Iterator<Item = TreeEntry> {
        let items = self.directories[at].items.iter().zip(&self.rows[at].kept);
        items.filter_map(|(item, kept)| {
            let kept = kept.as_ref()?;
            Some(TreeEntry {
                name: item.name.clone(),
                mode: mode_of(&kept.stat),
                id: kept.id,
            })
        })
    }

    /// Directories in which one had a tree that is no directory any more.
    fn gone(&self, all: &BTreeMap<&BStr, Option<usize>>) -> HashSet<&'look BStr> {
        let folders = self.before.iter().flat_map(|table| &table.folders);
        let gone = folders.filter(|(path, folder)| folder.tree.is_some() && !all.contains_key(*path));
        gone.map(|(path, _)| parted(path).0).collect()
    }

    /// The directories of the walk, with their places in it, and those of other repositories in which something is captured.
    fn all_directories(&self) -> BTreeMap<&'look BStr, Option<usize>> {
        let above = |one: &'look Inside| {
            let path = one.path.as_bstr();
            path.find_iter("/").map(move |end| path[..end].as_bstr())
        };
        let others = self.inside.iter().flat_map(above).map(|path| (path, None));
        let walked = self.directories.iter().enumerate();
        // What was walked counts.
        others
            .chain(walked.map(|(at, one)| (one.path.as_bstr(), Some(at))))
            .collect()
    }

    fn stage(&self, new: Vec<(Id, Vec<u8>)>, trees: &mut Trees) -> Outcome<()> {
        let there = if new.len() > FEW {
            present(&self.shadow.git, new.iter().map(|(id, _)| *id))?
        } else {
            Default::default()
        };
        for (id, content) in new {
            if !there.contains(&id) {
                self.store.stage(ObjectKind::Tree, id, &content)?;
            } else if !self.store.has(&id) {
                trees.borrowed.insert(id, ());
            }
        }
        Ok(())
    }
}

fn mode_of(stat: &Stat) -> TreeMode {
    match stat.kind() {
        Kind::Link => TreeMode::Link,
        Kind::File | Kind::Directory | Kind::Socket | Kind::Waits if stat.is_executable() => {
            TreeMode::Executable
        }
        Kind::File | Kind::Directory | Kind::Socket | Kind::Waits => TreeMode::File,
    }
}

/// The directory of a path, and its name there.
fn parted(path: &BStr) -> (&BStr, &BStr) {
    match path.rfind_byte(b'/') {
        Some(slash) => (path[..slash].as_bstr(), path[slash + 1..].as_bstr()),
        None => (BStr::new(""), path),
    }
}

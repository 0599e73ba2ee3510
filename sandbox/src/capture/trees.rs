//! Makes the trees of a look, from the deepest directory upwards.

use crate::capture::read_all::Kept;
use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::fs::kind::Kind;
use crate::fs::stat::Stat;
use crate::git::id::{Id, ObjectKind, id_of};
use crate::git::loose::LooseStore;
use crate::git::present::present;
use crate::scan::table::Table;
use crate::scan::walk::Directory;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, HashMap};

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
    pub(crate) store: &'look LooseStore,
    pub(crate) directories: &'look [Directory],
    pub(crate) kept: &'look [HashMap<usize, Kept>],
    /// Captured although they lie in directories that were not walked, sorted by path.
    pub(crate) inside: &'look [Inside],
    /// The look before. Its trees are there.
    pub(crate) before: Option<&'look Table>,
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
        for (path, at) in self.all_directories().into_iter().rev() {
            let mut entries = inner.remove(path).unwrap_or_default();
            if let Some(at) = at {
                entries.extend(self.kept[at].iter().map(|(number, kept)| TreeEntry {
                    name: self.directories[at].items[*number].name.clone(),
                    mode: mode_of(&kept.stat),
                    id: kept.id,
                }));
            }
            if entries.is_empty() && !path.is_empty() {
                continue;
            }
            let content = compose(entries);
            let id = id_of(self.shadow.format, ObjectKind::Tree, &content)
                .map_err(|attack| Failure::Fault(format!("{path}: {attack}")))?;
            let folder = self.before.and_then(|table| table.folder(path));
            if folder.and_then(|folder| folder.tree) == Some(id) {
                if folder.is_some_and(|folder| folder.is_borrowed) {
                    trees.borrowed.insert(id, ());
                }
            } else {
                new.push((id, content));
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

    /// The directories of the walk, with their places in it, and those of other repositories in which something is captured.
    fn all_directories(&self) -> BTreeMap<&BStr, Option<usize>> {
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

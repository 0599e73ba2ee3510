//! Makes the trees of a look, from the deepest directory upwards.

use crate::capture::read_all::Kept;
use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::fs::kind::Kind;
use crate::git::id::{Id, ObjectKind, id_of};
use crate::git::loose::LooseStore;
use crate::git::present::present;
use crate::scan::table::Table;
use crate::scan::walk::Directory;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashMap;

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
    /// The look before. Its trees are there.
    pub(crate) before: Option<&'look Table>,
}

impl TreeMaker<'_> {
    pub(crate) fn make(&self) -> Outcome<Trees> {
        let mut trees = Trees::default();
        let mut inner: HashMap<&BStr, Vec<TreeEntry>> = HashMap::new();
        let mut new = Vec::new();
        for (at, directory) in self.directories.iter().enumerate().rev() {
            let path = directory.path.as_bstr();
            let mut entries = inner.remove(path).unwrap_or_default();
            entries.extend(self.kept[at].iter().map(|(number, kept)| TreeEntry {
                name: directory.items[*number].name.clone(),
                mode: mode_of(kept),
                id: kept.id,
            }));
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
            trees.by_path.insert(directory.path.clone(), id);
            match path.rfind_byte(b'/') {
                Some(slash) => add(
                    &mut inner,
                    path[..slash].as_bstr(),
                    path[slash + 1..].as_bstr(),
                    id,
                ),
                None if path.is_empty() => trees.top = Some(id),
                None => add(&mut inner, BStr::new(""), path, id),
            }
        }
        self.stage(new, &mut trees)?;
        Ok(trees)
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

fn mode_of(kept: &Kept) -> TreeMode {
    match kept.stat.kind() {
        Kind::Link => TreeMode::Link,
        Kind::File | Kind::Directory | Kind::Socket | Kind::Waits if kept.stat.is_executable() => {
            TreeMode::Executable
        }
        Kind::File | Kind::Directory | Kind::Socket | Kind::Waits => TreeMode::File,
    }
}

fn add<'path>(inner: &mut HashMap<&'path BStr, Vec<TreeEntry>>, above: &'path BStr, name: &BStr, id: Id) {
    inner.entry(above).or_default().push(TreeEntry {
        name: name.to_owned(),
        mode: TreeMode::Directory,
        id,
    });
}

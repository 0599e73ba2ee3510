//! The state that a repository goes to: as it is now, with what the restore wrote as it was at the undo.

use crate::apply::aside::digits;
use crate::fs::remove;
use crate::git::batch::Batch;
use crate::git::id::Id;
use crate::git::process::Git;
use crate::read::captured::{Entries, commits_of};
use crate::restore::captured::{differences, files_of};
use crate::settle::found::Found;
use crate::settle::host::GROUPS;
use crate::settle::lists::{Lists, set_of};
use crate::settle::units::host_text;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::State;
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;

/// Lists of the sidecar, of which single lines move.
const LISTS: [&str; 2] = ["modes", "empty"];

pub(super) struct Goal<'found> {
    pub(super) found: &'found Found,
}

fn done(git: Git) -> Outcome<Vec<u8>> {
    let answer = git.run_to_its_end()?;
    match answer.ok() {
        Some(output) => Ok(output.trim_ascii_end().to_vec()),
        None => Err(Failure::Fault(answer.why())),
    }
}

fn text(bytes: Vec<u8>) -> String {
    bytes.to_str_lossy().into_owned()
}

impl<'found> Goal<'found> {
    pub(super) fn of(found: &'found Found) -> Self {
        Goal { found }
    }

    fn on_shadow(&self) -> Git {
        let shadow = &self.found.stand.shadow;
        Git::on_shadow(&shadow.top, &shadow.git).env("GIT_WORK_TREE", &shadow.top)
    }

    /// Nothing: the repository is not to be there.
    pub(super) fn make(&self) -> Outcome<Option<State>> {
        let tree = self.tree()?;
        let is_empty = tree == self.found.stand.shadow.format.empty_tree();
        if self.was_absent() && is_empty && self.found.groups.contains(&GROUPS[0]) {
            return Ok(None);
        }
        let meta = self.meta(&tree)?;
        Ok(Some(State { tree, meta }))
    }

    /// Whether the repository was not there before the restore.
    fn was_absent(&self) -> bool {
        self.found.undo.0.meta.is_empty()
    }

    /// The present tree with the paths that move.
    fn tree(&self) -> Outcome<String> {
        let stand = &self.found.stand;
        let now = stand.tree.to_string();
        if self.found.at_target.is_empty() {
            return Ok(now);
        }
        let all = differences(&stand.shadow, &now, &self.found.undo.0.tree)?.map_err(Failure::Fault)?;
        let zero = "0".repeat(now.len());
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for one in all.iter().filter(|one| self.found.at_target.contains(&one.path)) {
            match one.to {
                None => gone.extend([b"0 ", zero.as_bytes(), b"\t", &one.path, b"\0"].concat()),
                Some(content) => {
                    let head = format!("{} {}\t", digits(content.mode), content.id);
                    come.extend([head.as_bytes(), &one.path, b"\0"].concat());
                }
            }
        }
        let index = stand.shadow.file("settle-index");
        remove::file(&index).context("it cannot be removed", &index)?;
        let on_index = || self.on_shadow().env("GIT_INDEX_FILE", &index);
        done(on_index().args(["read-tree", &now]))?;
        // What goes makes way for what comes.
        gone.extend(come);
        done(
            on_index()
                .args(["update-index", "-z", "--index-info"])
                .input(gone),
        )?;
        let tree = text(done(on_index().arg("write-tree"))?);
        remove::file(&index).context("it cannot be removed", index)?;
        Ok(tree)
    }

    fn blob(&self, content: &[u8]) -> Outcome<String> {
        let git = self
            .on_shadow()
            .args(["hash-object", "-w", "--stdin", "--no-filters"]);
        Ok(text(done(git.input(content.to_vec()))?))
    }

    /// The present host state with the groups that move.
    fn meta(&self, tree: &str) -> Outcome<String> {
        let shadow = &self.found.stand.shadow;
        let mut objects = shadow.batch();
        let end = &self.found.undo.1.host.parts;
        let mut replaced: BTreeSet<&str> = self.found.groups.iter().copied().flatten().copied().collect();
        if end.contains_key("left-out".as_bytes().as_bstr()) {
            // A restore to the undo leaves alone what the undo left out.
            replaced.insert("left-out");
        }
        let is_replaced = |name: &BString| replaced.iter().any(|one| *name == *one);
        let is_list = |name: &BString| LISTS.iter().any(|one| *name == *one);
        let stays = self
            .found
            .now
            .host
            .parts
            .iter()
            .filter(|(name, _)| !is_replaced(name));
        let comes = end.iter().filter(|(name, _)| is_replaced(name));
        let mut parts: Entries = stays
            .chain(comes)
            .filter(|(name, _)| !is_list(name))
            .map(|(name, id)| (name.clone(), id.clone()))
            .collect();
        if replaced.contains("host") {
            if self.was_absent() {
                // Files that somebody added stay in a directory that is no repository any more.
                parts.insert("host".into(), self.blob(b"head none\n")?);
            } else if let Some(mixed) = self.host() {
                parts.insert("host".into(), self.blob(&mixed)?);
            }
        }
        let lists = Lists {
            files: set_of(files_of(shadow, tree)?)?,
            one_sided: self.one_sided(&mut objects)?,
        };
        for name in LISTS {
            let list = self.list(name, &lists, &mut objects)?;
            parts.insert(name.into(), self.blob(&list)?);
        }
        let lines: Vec<u8> = parts.iter().flat_map(|(name, id)| self.entry(name, id)).collect();
        let made = text(done(
            self.on_shadow().args(["mktree", "--missing", "-z"]).input(lines),
        )?);
        self.commit(&made, &mut objects)
    }

    /// The operation in progress and the index are trees.
    fn entry(&self, name: &BString, id: &str) -> Vec<u8> {
        const TREES: [&str; 5] = ["index", "stage1", "stage2", "stage3", "state"];
        let head = if TREES.iter().any(|one| *name == *one) {
            format!("040000 tree {id}\t")
        } else {
            format!("100644 blob {id}\t")
        };
        [head.as_bytes(), name, b"\0"].concat()
    }

    /// The list of branches and HEAD, where it is a mixture.
    fn host(&self) -> Option<Vec<u8>> {
        let now = self.found.now.part("host");
        if now == self.found.undo.1.part("host") || now == self.found.target.1.part("host") {
            return None;
        }
        let three = self.found.refs();
        let mixture = three.refs();
        if !mixture.moves() {
            return None;
        }
        let mut units = three.now;
        for name in mixture.goes {
            match three.undo.get(&name) {
                Some(value) => drop(units.insert(name, value.clone())),
                None => drop(units.remove(&name)),
            }
        }
        Some(host_text(&units))
    }

    /// A commit that its input alone decides, with the parents of both.
    fn commit(&self, tree: &str, objects: &mut Batch) -> Outcome<String> {
        let mut parents: Vec<Id> = Vec::new();
        for meta in [self.found.stand.meta.to_string(), self.found.undo.0.meta.clone()] {
            if meta.is_empty() {
                continue;
            }
            for parent in commits_of(objects, &meta)? {
                if !parents.contains(&parent) {
                    parents.push(parent);
                }
            }
        }
        let mut content = format!("tree {tree}\n").into_bytes();
        for parent in parents {
            content.extend(format!("parent {parent}\n").into_bytes());
        }
        let who = "Walkback <capture@walkback.invalid> 0 +0000";
        content.extend(format!("author {who}\ncommitter {who}\n\nhost state\n").into_bytes());
        let git = self
            .on_shadow()
            .args(["hash-object", "-t", "commit", "-w", "--stdin"]);
        Ok(text(done(git.input(content))?))
    }
}

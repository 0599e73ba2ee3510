//! The state that a repository goes to: as it is now, with the remnants of the restore as they are at one end.

use crate::apply::aside::digits;
use crate::fs::remove;
use crate::git::batch::Batch;
use crate::git::process::Git;
use crate::read::captured::Entries;
use crate::restore::captured::{Captured, differences, files_of};
use crate::settle::found::{Found, GROUPS};
use crate::settle::lists::{Lists, set_of};
use crate::settle::units::{End, Three, host_text, of_refs};
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::State;
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;

/// Lists of the sidecar, of which single lines move.
const LISTS: [&str; 2] = ["modes", "empty"];

pub(super) struct Goal<'found> {
    pub(super) found: &'found Found,
    pub(super) end: &'found (State, Captured),
    pub(super) other: &'found Captured,
    /// The paths that go to the end.
    moving: BTreeSet<BString>,
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
    pub(super) fn of(found: &'found Found, end: End) -> Self {
        let (end, other, at_other) = match end {
            End::Undo => (&found.undo, &found.target.1, &found.at_target),
            End::Target => (&found.target, &found.undo.1, &found.at_undo),
        };
        Goal {
            found,
            end,
            other,
            moving: at_other.union(&found.torn).cloned().collect(),
        }
    }

    fn on_shadow(&self) -> Git {
        let shadow = &self.found.stand.shadow;
        Git::on_shadow(&shadow.top, &shadow.git).env("GIT_WORK_TREE", &shadow.top)
    }

    /// Nothing: the repository is not to be there.
    pub(super) fn make(&self) -> Outcome<Option<State>> {
        let tree = self.tree()?;
        let is_empty = tree == self.found.stand.shadow.format.empty_tree();
        if self.has_no_end() && is_empty && self.found.groups.contains(&GROUPS[0]) {
            return Ok(None);
        }
        let meta = self.meta(&tree)?;
        Ok(Some(State { tree, meta }))
    }

    /// Whether the repository is not there at the end.
    fn has_no_end(&self) -> bool {
        self.end.0.meta.is_empty()
    }

    /// The present tree with the paths that move.
    fn tree(&self) -> Outcome<String> {
        let stand = &self.found.stand;
        let now = stand.tree.to_string();
        if self.moving.is_empty() {
            return Ok(now);
        }
        let all = differences(&stand.shadow, &now, &self.end.0.tree)?.map_err(Failure::Fault)?;
        let zero = "0".repeat(now.len());
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for one in all.iter().filter(|one| self.moving.contains(&one.path)) {
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
        let mut objects = Batch::open(&shadow.top, &shadow.git)?;
        let end = &self.end.1.host.parts;
        let mut replaced: BTreeSet<&str> = self.found.groups.iter().copied().flatten().copied().collect();
        if end.contains_key("left-out".as_bytes().as_bstr()) {
            // A restore to that end leaves alone what that end left out.
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
            if self.has_no_end() {
                // Files that somebody added stay in a directory that is no repository any more.
                parts.insert("host".into(), self.blob(b"head none\n")?);
            } else if let Some(mixed) = self.host() {
                parts.insert("host".into(), self.blob(&mixed)?);
            }
        }
        let lists = Lists {
            files: set_of(files_of(shadow, tree)?),
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
        if now == self.end.1.part("host") || now == self.other.part("host") {
            return None;
        }
        let mixture = Three {
            undo: of_refs(&self.other.host),
            target: of_refs(&self.end.1.host),
            now: of_refs(&self.found.now.host),
        };
        let found = mixture.refs();
        found.at?;
        let mut units = mixture.now;
        for name in found.goes {
            match mixture.target.get(&name) {
                Some(value) => drop(units.insert(name, value.clone())),
                None => drop(units.remove(&name)),
            }
        }
        Some(host_text(&units))
    }

    /// A commit that its input alone decides, with the parents of both.
    fn commit(&self, tree: &str, objects: &mut Batch) -> Outcome<String> {
        let mut parents: Vec<BString> = Vec::new();
        for meta in [self.found.stand.meta.to_string(), self.end.0.meta.clone()] {
            let commit = objects
                .object(&meta)?
                .map(|found| found.content)
                .unwrap_or_default();
            for line in commit.lines().take_while(|line| !line.is_empty()) {
                let line = BString::from(line);
                if line.starts_with(b"parent ") && !parents.contains(&line) {
                    parents.push(line);
                }
            }
        }
        let mut content = format!("tree {tree}\n").into_bytes();
        for parent in parents {
            content.extend_from_slice(&parent);
            content.push(b'\n');
        }
        let who = "Walkback <capture@walkback.invalid> 0 +0000";
        content.extend(format!("author {who}\ncommitter {who}\n\nhost state\n").into_bytes());
        let git = self
            .on_shadow()
            .args(["hash-object", "-t", "commit", "-w", "--stdin"]);
        Ok(text(done(git.input(content))?))
    }
}

//! The state that a repository goes to: as it is now, with the remnants of the restore as they are at one end.

use crate::apply::aside::digits;
use crate::fs::remove;
use crate::git::batch::Batch;
use crate::git::process::Git;
use crate::plan::above;
use crate::read::captured::{Entries, part};
use crate::restore::captured::{Captured, differences, files_of};
use crate::settle::found::Found;
use crate::settle::units::{End, Three, host_text, of_refs};
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::restore::State;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// Lists of the sidecar, of which single lines move.
const LISTS: [&str; 2] = ["modes", "empty"];

pub(super) struct Goal<'found> {
    found: &'found Found,
    end: &'found (State, Captured),
    other: &'found Captured,
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

    pub(super) fn make(&self) -> Outcome<State> {
        let tree = self.tree()?;
        let meta = self.meta(&tree)?;
        Ok(State { tree, meta })
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
        if replaced.contains("host")
            && let Some(mixed) = self.host()
        {
            parts.insert("host".into(), self.blob(&mixed)?);
        }
        let files: BTreeSet<BString> = files_of(shadow, tree)?.unwrap_or_default().into_iter().collect();
        for name in LISTS {
            let list = self.list(name, &files, &mut objects)?;
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

    /// Modes or empty directories as they are now, except for the lines in which the ends differ. Those of paths with later
    /// work stay, and no directory is to be empty where the tree has a file.
    fn list(&self, name: &str, files: &BTreeSet<BString>, objects: &mut Batch) -> Outcome<Vec<u8>> {
        let mut read = |state: &Captured| -> Outcome<BTreeSet<BString>> {
            let text = part(objects, &state.host.parts, name)?;
            Ok(crate::scan::names::split(&text).map(BString::from).collect())
        };
        let (end, other, now) = (read(&self.end.1)?, read(self.other)?, read(&self.found.now)?);
        let path_of = |line: &'_ BString| -> BString {
            match line.split_once_str("/") {
                Some((_, path)) if name == "modes" => path.into(),
                _ => line.clone(),
            }
        };
        let may_come = |line: &&BString| {
            let path = path_of(line);
            let is_below_file = || {
                let has = |path: &BStr| files.contains(path.as_bytes().as_bstr());
                name == "empty" && (has(path.as_bstr()) || above(path.as_bstr()).any(has))
            };
            !self.found.kept.contains(&path) && !is_below_file()
        };
        let mut lines: BTreeSet<&BString> = now
            .iter()
            .filter(|line| end.contains(*line) || !other.contains(*line))
            .collect();
        lines.extend(end.difference(&other).filter(may_come));
        Ok(lines
            .into_iter()
            .flat_map(|line| [line.as_slice(), b"\0"].concat())
            .collect())
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

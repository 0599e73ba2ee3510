//! How far a restore that broke off came in one repository: which paths and parts of the host state are at the target,
//! which at the undo, and which were changed since.

use crate::apply::contents::sizes;
use crate::git::batch::Batch;
use crate::git::id::Id;
use crate::git::process::Git;
use crate::plan::files::{Content, Difference};
use crate::read::captured::part;
use crate::restore::captured::{Captured, differences};
use crate::restore::stand::Stand;
use crate::scan::names::split;
use crate::settle::units::{End, Mixture, Three, Units, of_refs};
use crate::wire::error::{Failure, Outcome};
use crate::wire::restore::State;
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of the host state that are compared together.
pub(super) const GROUPS: [&[&str]; 4] = [
    &["host"],
    &["index", "stage1", "stage2", "stage3", "index-flags"],
    &["sparse"],
    &["state"],
];
/// So many files are compared with the beginning of the target's.
const TORN_MOST: usize = 200;

/// What a repository holds after a restore that broke off.
pub(super) struct Found {
    pub(super) stand: Stand,
    /// The default where it was not there.
    pub(super) undo: (State, Captured),
    pub(super) target: (State, Captured),
    pub(super) now: Captured,
    pub(super) at_target: BTreeSet<BString>,
    pub(super) at_undo: BTreeSet<BString>,
    /// Files that hold only the beginning of the target's content: they were being written.
    pub(super) torn: BTreeSet<BString>,
    /// Later work: paths, and parts of the host state.
    pub(super) kept: Vec<BString>,
    /// The groups of the host state that go to the end.
    pub(super) groups: Vec<&'static [&'static str]>,
    pub(super) reached: usize,
    pub(super) unreached: usize,
}

type Paths = BTreeMap<BString, Difference>;

fn by_path(stand: &Stand, from: &str, to: &str) -> Outcome<Paths> {
    let all = differences(&stand.shadow, from, to)?.map_err(Failure::Fault)?;
    Ok(all.into_iter().map(|one| (one.path.clone(), one)).collect())
}

/// The inner error says what the sandbox lacks of the two ends.
pub(super) fn look(
    stand: Stand,
    undo: Option<&State>,
    target: Option<&State>,
    files_only: bool,
) -> Outcome<Result<Found, String>> {
    let shadow = &stand.shadow;
    let (tree, meta) = (stand.tree.to_string(), stand.meta.to_string());
    let mut objects = Batch::open(&shadow.top, &shadow.git)?;
    let mut read = |state: Option<&State>| match state {
        Some(state) => Captured::read(&mut objects, &state.meta),
        None => Ok(Some(Captured::default())),
    };
    let (Some(at_undo), Some(at_target)) = (read(undo)?, read(target)?) else {
        return Ok(Err("a host state of the two ends is not here".into()));
    };
    let none = State {
        tree: shadow.format.empty_tree().to_owned(),
        meta: String::new(),
    };
    let (undo, target) = (undo.unwrap_or(&none), target.unwrap_or(&none));
    if let Some(lacks) = lacks(&stand, [undo, target])? {
        return Ok(Err(lacks));
    }
    let now = Captured::read(&mut objects, &meta)?
        .ok_or_else(|| Failure::Fault("the host state that was just made cannot be read".into()))?;
    let planned = by_path(&stand, &undo.tree, &target.tree)?;
    let off_undo = by_path(&stand, &undo.tree, &tree)?;
    let off_target = by_path(&stand, &target.tree, &tree)?;
    let (mut reached, mut unreached, mut worked) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for path in planned.keys() {
        if !off_target.contains_key(path) {
            reached.insert(path.clone());
        } else if off_undo.contains_key(path) {
            worked.push(path.clone());
        } else {
            unreached.insert(path.clone());
        }
    }
    let torn = torn(&stand, &mut objects, &worked, |path| {
        Some((off_undo.get(path)?.to?, planned.get(path)?.to?))
    })?;
    worked.retain(|path| !torn.contains(path));
    let mut found = Found {
        reached: reached.len() + usize::from(!torn.is_empty()),
        unreached: unreached.len() + torn.len(),
        undo: (undo.clone(), at_undo),
        target: (target.clone(), at_target),
        at_target: reached,
        at_undo: unreached,
        kept: worked,
        groups: Vec::new(),
        now,
        torn,
        stand,
    };
    if !files_only {
        found.look_at_host(&mut objects)?;
    }
    Ok(Ok(found))
}

/// What of the two ends is missing, in git's words.
fn lacks(stand: &Stand, ends: [&State; 2]) -> Outcome<Option<String>> {
    let shadow = &stand.shadow;
    let mut git = Git::on_shadow(&shadow.top, &shadow.git).args(["rev-list", "--objects", "--quiet"]);
    let is_partial = stand.reading.base.as_ref().is_some_and(|base| base.partial);
    for end in ends
        .into_iter()
        .filter(|end| end.tree != shadow.format.empty_tree())
    {
        git = git.arg(&end.tree);
        if !is_partial && !end.meta.is_empty() {
            git = git.arg(&end.meta);
        }
    }
    let git = git.args(["--not", &stand.tree.to_string(), &stand.meta.to_string()]);
    let answer = git.run_to_its_end()?;
    Ok((!answer.status.success()).then(|| answer.why()))
}

/// Which of these files hold the beginning of what the target has.
fn torn(
    stand: &Stand,
    objects: &mut Batch,
    paths: &[BString],
    contents: impl Fn(&BString) -> Option<(Content, Content)>,
) -> Outcome<BTreeSet<BString>> {
    let both: Vec<(&BString, Content, Content)> = paths
        .iter()
        .take(TORN_MOST)
        .filter_map(|path| contents(path).map(|(now, then)| (path, now, then)))
        .filter(|(_, now, then)| {
            let is_link = |one: &Content| one.mode == crate::capture::tree::TreeMode::Link;
            !is_link(now) && !is_link(then)
        })
        .collect();
    let ids: Vec<Id> = both.iter().flat_map(|(_, now, then)| [now.id, then.id]).collect();
    let sizes = sizes(&stand.shadow, &ids)?;
    let mut torn = BTreeSet::new();
    for (path, now, then) in both {
        let is_shorter = sizes
            .get(&now.id)
            .zip(sizes.get(&then.id))
            .is_some_and(|(now, then)| now < then);
        if is_shorter && is_beginning(objects, &now.id.to_string(), &then.id.to_string())? {
            torn.insert(path.clone());
        }
    }
    Ok(torn)
}

/// Whether one content is the beginning of another, longer one.
fn is_beginning(objects: &mut Batch, one: &str, other: &str) -> Outcome<bool> {
    let (Some(begun), Some(whole)) = (objects.object(one)?, objects.object(other)?) else {
        return Ok(false);
    };
    Ok(begun.content.len() < whole.content.len() && whole.content.starts_with(&begun.content))
}

impl Found {
    fn look_at_host(&mut self, objects: &mut Batch) -> Outcome<()> {
        for group in GROUPS {
            let of = |state: &Captured| -> Option<Vec<Option<String>>> {
                let kind = state.host.head.kind.as_str();
                let is_there = !matches!(kind, "" | "none");
                is_there.then(|| {
                    group
                        .iter()
                        .map(|name| state.part(name).map(str::to_owned))
                        .collect()
                })
            };
            let (undo, target, now) = (of(&self.undo.1), of(&self.target.1), of(&self.now));
            if undo == target {
                continue;
            }
            let at = if now == target {
                Some(End::Target)
            } else if now == undo {
                Some(End::Undo)
            } else {
                let mixture = self.mixture(group[0], objects)?;
                if mixture.is_worked {
                    self.kept.push(format!(".git ({})", group[0]).into());
                }
                mixture.at
            };
            match at {
                Some(End::Target) => self.reached += 1,
                Some(End::Undo) => self.unreached += 1,
                None => continue,
            }
            self.groups.push(group);
        }
        Ok(())
    }

    fn mixture(&self, group: &str, objects: &mut Batch) -> Outcome<Mixture> {
        Ok(match group {
            "host" => self.refs().refs(),
            "state" => {
                let three = Three {
                    undo: self.operation(&self.undo.1)?,
                    target: self.operation(&self.target.1)?,
                    now: self.operation(&self.now)?,
                };
                let mut begun = BTreeSet::new();
                for (name, id) in &three.now {
                    if let Some(whole) = three.target.get(name)
                        && is_beginning(objects, &id.to_str_lossy(), &whole.to_str_lossy())?
                    {
                        begun.insert(name.clone());
                    }
                }
                three.group(|name| begun.contains(name))
            }
            "sparse" => {
                let mut read = |state: &Captured| -> Outcome<Units> {
                    let text = part(objects, &state.host.parts, "sparse")?;
                    let halves = text.split_once_str("\n").unwrap_or((&text, b""));
                    let units = [("kind", halves.0), ("rules", halves.1)];
                    let all = units.map(|(name, half)| (BString::from(name), BString::from(half)));
                    Ok(if text.is_empty() { Units::new() } else { all.into() })
                };
                let (undo, target, now) = (read(&self.undo.1)?, read(&self.target.1)?, read(&self.now)?);
                Three { undo, target, now }.group(|_| false)
            }
            _ => Mixture::whole(),
        })
    }

    /// Branches and HEAD at both ends and now.
    pub(super) fn refs(&self) -> Three {
        Three {
            undo: of_refs(&self.undo.1.host),
            target: of_refs(&self.target.1.host),
            now: of_refs(&self.now.host),
        }
    }

    /// The files of the operation in progress, with their ids.
    fn operation(&self, state: &Captured) -> Outcome<Units> {
        let Some(tree) = state.part("state") else {
            return Ok(Units::new());
        };
        let shadow = &self.stand.shadow;
        let answer = Git::on_shadow(&shadow.top, &shadow.git)
            .args(["ls-tree", "-r", "-z", tree])
            .run_to_its_end()?;
        let Some(list) = answer.ok() else {
            return Err(Failure::Fault(answer.why()));
        };
        // MODE TYPE ID<TAB>PATH
        let files = split(list).filter_map(|line| {
            let (entry, path) = line.split_once_str("\t")?;
            Some((BString::from(path), BString::from(entry.rsplit_str(" ").next()?)))
        });
        Ok(files.collect())
    }
}

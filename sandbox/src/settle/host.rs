//! Which groups of the host state a restore that broke off has written, and what of them was changed since.

use crate::git::batch::Batch;
use crate::git::id::Id;
use crate::git::process::Git;
use crate::read::captured::part;
use crate::restore::captured::Captured;
use crate::scan::names::split;
use crate::settle::beginning::is_beginning;
use crate::settle::found::Found;
use crate::settle::units::{Mixture, Three, Units, of_refs};
use crate::wire::error::{Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;

/// Parts of the host state that are compared together.
pub(super) const GROUPS: [&[&str]; 4] = [
    &["host"],
    &["index", "stage1", "stage2", "stage3", "index-flags"],
    &["sparse"],
    &["state"],
];

impl Found {
    /// What stands in the place of a `.git` that was not there, and has no work in it, was begun by the restore.
    fn is_only_begun(&self, is_absent: bool) -> bool {
        let is_none = |kind: &str| matches!(kind, "" | "none");
        let host = &self.now.host;
        let kind = host.head.kind.as_str();
        let is_bare = (is_none(kind) || kind == "unborn") && host.refs.is_empty() && !self.has_index();
        let was_no_repository = if is_absent {
            self.stand.tree.to_string() == self.stand.shadow.format.empty_tree()
        } else {
            is_none(&self.undo.1.host.head.kind)
        };
        is_bare && was_no_repository
    }

    fn has_index(&self) -> bool {
        let empty = self.stand.shadow.format.empty_tree();
        self.now.part("index").is_some_and(|tree| tree != empty)
    }

    pub(super) fn look_at_host(&mut self, objects: &mut Batch, is_absent: bool) -> Outcome<()> {
        let is_begun = self.is_only_begun(is_absent);
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
            // A repository gets its index last.
            let lacks_index = group[0] == "index" && undo.is_none() && !self.has_index();
            let was_parked = self.parked.as_ref().is_some_and(|parked| of(parked) == now);
            let was_begun = is_begun || lacks_index || was_parked;
            let is_reached = if was_begun || now == target {
                true
            } else if now == undo {
                false
            } else {
                let mixture = self.mixture(group[0], objects)?;
                if mixture.is_worked {
                    self.kept.push(format!(".git ({})", group[0]).into());
                }
                if !mixture.moves() {
                    continue;
                }
                mixture.is_reached
            };
            self.reached += usize::from(is_reached);
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
                    let whole = three.target.get(name).and_then(|whole| Id::from_hex(whole));
                    if let (Some(id), Some(whole)) = (Id::from_hex(id), whole)
                        && is_beginning(&self.stand.shadow, id, whole)?
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
            undo: of_refs(&self.parked.as_ref().unwrap_or(&self.undo.1).host),
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

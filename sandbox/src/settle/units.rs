//! Parts of the host state that are a mixture of two states. Git moves branches and HEAD one after the other, and the files
//! of an operation are written one by one, so each is a unit of its own.

use crate::read::captured::{CapturedRef, HostState};
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// What each unit holds. One that is not there has no entry.
pub(super) type Units = BTreeMap<BString, BString>;

pub(super) const HEAD: &[u8] = b"HEAD";

/// The same units at both ends and now.
pub(super) struct Three {
    pub(super) undo: Units,
    pub(super) target: Units,
    pub(super) now: Units,
}

/// What becomes of a mixture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mixture {
    /// A unit has reached the target.
    pub(super) is_reached: bool,
    /// It holds later work, which stays.
    pub(super) is_worked: bool,
    /// The units that go to the undo, or are there.
    pub(super) goes: BTreeSet<BString>,
}

impl Mixture {
    pub(super) fn moves(&self) -> bool {
        self.is_reached || !self.goes.is_empty()
    }

    /// Of parts that move as a whole.
    pub(super) fn whole() -> Self {
        Mixture {
            is_worked: true,
            ..Mixture::default()
        }
    }
}

impl Three {
    /// `is_part`: of a unit that equals neither end, what becomes of it.
    fn mix(&self, is_part: impl Fn(&BString) -> Part) -> Mixture {
        let mut mixture = Mixture::default();
        let names: BTreeSet<&BString> = self.undo.keys().chain(self.target.keys()).collect();
        for name in names {
            let (undo, target, now) = (self.undo.get(name), self.target.get(name), self.now.get(name));
            if undo == target {
                continue;
            }
            if now == target {
                mixture.goes.insert(name.clone());
                mixture.is_reached = true;
            } else if now == undo {
                mixture.goes.insert(name.clone());
            } else {
                match is_part(name) {
                    Part::Goes => {
                        mixture.goes.insert(name.clone());
                        mixture.is_reached = true;
                    }
                    Part::Reached => mixture.is_reached = true,
                    Part::Work => mixture.is_worked = true,
                }
            }
        }
        mixture
    }

    /// Branches and HEAD. Where one of the three cannot be read, this is no mixture.
    pub(super) fn refs(&self) -> Mixture {
        if self.undo.is_empty() || self.target.is_empty() || self.now.is_empty() {
            return Mixture::whole();
        }
        let is_alias = |value: Option<&BString>| value.is_some_and(|value| value.starts_with(b"symref "));
        let mut mixture = self.mix(|name| {
            // An alias is removed before all others and comes back after them.
            let was_alias = is_alias(self.undo.get(name)) || is_alias(self.target.get(name));
            if was_alias && !self.now.contains_key(name) {
                Part::Goes
            } else {
                Part::Work
            }
        });
        if self.has_new_commits() {
            mixture.is_worked = true;
            mixture.goes.remove(HEAD.as_bstr());
            mixture.is_reached &= !mixture.goes.is_empty();
        }
        mixture
    }

    /// Whether HEAD names a branch on which somebody has committed since: then it stays there.
    fn has_new_commits(&self) -> bool {
        let branch = self
            .now
            .get(HEAD.as_bstr())
            .and_then(|head| head.strip_prefix(b"ref: "));
        branch.is_some_and(|branch| {
            let of = |units: &Units| units.get(branch.as_bstr()).cloned();
            of(&self.now) != of(&self.undo) && of(&self.now) != of(&self.target)
        })
    }

    /// What moves as a whole, so work on one part of it keeps all of it. `is_begun`: whether a unit is the beginning of the
    /// target's, as one that was being written.
    pub(super) fn group(&self, is_begun: impl Fn(&BString) -> bool) -> Mixture {
        let mut mixture = self.mix(|name| if is_begun(name) { Part::Reached } else { Part::Work });
        let is_known = |name: &BString| self.undo.contains_key(name) || self.target.contains_key(name);
        mixture.is_worked |= !self.now.keys().all(is_known);
        if mixture.is_worked {
            mixture.is_reached = false;
            mixture.goes.clear();
        }
        mixture
    }
}

enum Part {
    Goes,
    Reached,
    Work,
}

/// Branches and HEAD of a host state. Nothing when there is no repository, or when it could not be read.
pub(super) fn of_refs(state: &HostState) -> Units {
    let mut units = Units::new();
    let head = &state.head;
    if !head.is_known() {
        return units;
    }
    for (name, target) in &state.refs {
        let value = match target {
            CapturedRef::Commit(commit) => BString::from(commit.as_str()),
            CapturedRef::Symbolic(target) => [b"symref ", target.as_slice()].concat().into(),
        };
        units.insert(name.clone(), value);
    }
    let commit = BString::from(head.commit.as_str());
    if head.name.is_empty() {
        units.insert(HEAD.into(), commit);
    } else {
        units.insert(HEAD.into(), [b"ref: ", head.name.as_slice()].concat().into());
        // A ref that is no branch is captured only because HEAD stands on it.
        if !head.name.starts_with(b"refs/heads/") && !commit.is_empty() {
            units.insert(head.name.clone(), commit);
        }
    }
    units
}

/// The list `host` of these units, as a capture writes it.
pub(super) fn host_text(units: &Units) -> Vec<u8> {
    let mut list = Vec::new();
    let mut line = |parts: &[&[u8]]| {
        list.extend_from_slice(&parts.concat());
        list.push(b'\n');
    };
    let head = units.get(HEAD.as_bstr()).cloned().unwrap_or_default();
    let commit = if let Some(name) = head.strip_prefix(b"ref: ") {
        let commit = commit_of(units, name);
        let kind: &[u8] = if commit.is_empty() { b"unborn" } else { b"branch" };
        line(&[b"head ", kind]);
        line(&[b"ref ", name]);
        commit
    } else {
        line(&[b"head detached"]);
        head
    };
    if !commit.is_empty() {
        line(&[b"commit ", &commit]);
    }
    let mut dangling = Vec::new();
    for (name, value) in units {
        if !name.starts_with(b"refs/heads/") && !name.starts_with(b"refs/bisect/") {
            continue;
        }
        match value.strip_prefix(b"symref ") {
            None => line(&[b"branch ", value, b" ", name]),
            Some(target) if units.contains_key(target.as_bstr()) => line(&[value, b" ", name]),
            // Git lists those that lead nowhere last.
            Some(_) => dangling.push((value, name)),
        }
    }
    for (value, name) in dangling {
        line(&[value, b" ", name]);
    }
    list
}

/// The commit that a ref leads to, by way of a few aliases.
fn commit_of(units: &Units, name: &[u8]) -> BString {
    let mut name = BString::from(name);
    for _ in 0..5 {
        match units
            .get(&name)
            .map(|value| value.strip_prefix(b"symref ").ok_or(value))
        {
            None => break,
            Some(Err(commit)) => return commit.clone(),
            Some(Ok(target)) => name = target.into(),
        }
    }
    BString::default()
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;

//! What becomes of branches, marks of a bisect and HEAD.

use crate::host::head::Target;
use bstr::BString;
use std::collections::BTreeMap;

pub(crate) type Refs = BTreeMap<BString, Target>;

/// The steps, in the order in which git takes them. A name may be needed as a directory, so what goes is gone before
/// anything comes; and git must never write through an alias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RefChanges {
    /// Aliases that go.
    pub(crate) unlink: Vec<BString>,
    /// Refs that go, with their commits.
    pub(crate) delete: Vec<(BString, String)>,
    /// Refs that get a commit, and the one that they have.
    pub(crate) update: Vec<(BString, String, Option<String>)>,
    /// Aliases that come, with what they name.
    pub(crate) link: Vec<(BString, BString)>,
}

pub(crate) fn changes(have: &Refs, want: &Refs) -> RefChanges {
    let mut all = RefChanges::default();
    for (name, now) in have {
        let then = want.get(name);
        if then == Some(now) {
            continue;
        }
        match (now, then) {
            (Target::Symbolic(_), _) => all.unlink.push(name.clone()),
            (Target::Commit(commit), None | Some(Target::Symbolic(_))) => {
                all.delete.push((name.clone(), commit.clone()));
            }
            // It moves.
            (Target::Commit(_), Some(Target::Commit(_))) => {}
        }
    }
    for (name, then) in want {
        let now = have.get(name);
        if now == Some(then) {
            continue;
        }
        match then {
            Target::Commit(commit) => {
                let from = match now {
                    Some(Target::Commit(commit)) => Some(commit.clone()),
                    Some(Target::Symbolic(_)) | None => None,
                };
                all.update.push((name.clone(), commit.clone(), from));
            }
            Target::Symbolic(target) => all.link.push((name.clone(), target.clone())),
        }
    }
    all
}

/// Where HEAD stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    On(BString),
    At(String),
}

/// What HEAD gets; nothing when it is right.
pub(crate) fn head(now: Option<&Head>, to: &Head) -> Option<Head> {
    (now != Some(to)).then(|| to.clone())
}

#[cfg(test)]
#[path = "refs_tests.rs"]
mod tests;

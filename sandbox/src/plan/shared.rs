//! Linked worktrees share their branches. In a capture they agree about them. In a composed state they may not: in a fork
//! each of them is a repository of its own, and moves its own branches. Then one of them decides: the worktree that stands
//! on the branch, else the repository itself, else the first one. A branch that only some of them have stays.

use crate::plan::refs::Refs;
use bstr::BString;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What one of them is to have.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The git directory that they share.
    pub(crate) common: PathBuf,
    /// It is the repository itself.
    pub(crate) is_main: bool,
    /// The ref that HEAD is to stand on; empty when on none.
    pub(crate) head: BString,
    pub(crate) refs: Refs,
}

impl Wanted {
    fn rank(&self, name: &BString) -> u8 {
        if self.head == *name {
            3
        } else if self.is_main {
            2
        } else {
            1
        }
    }
}

/// For each of them, the branches about which another one decides.
pub(crate) fn left(all: &[Wanted]) -> Vec<BTreeSet<BString>> {
    all.iter()
        .map(|one| {
            let mut best = BTreeMap::new();
            for other in all.iter().filter(|other| other.common == one.common) {
                for (name, target) in &other.refs {
                    let rank = other.rank(name);
                    let is_better = best.get(name).is_none_or(|(found, _)| rank > *found);
                    if name.starts_with(b"refs/heads/") && is_better {
                        best.insert(name, (rank, target));
                    }
                }
            }
            let differ = best
                .into_iter()
                .filter(|(name, (_, target))| one.refs.get(*name) != Some(*target));
            differ.map(|(name, _)| name.clone()).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::head::Target;

    fn wanted(common: &str, is_main: bool, head: &str, refs: &[(&str, &str)]) -> Wanted {
        Wanted {
            common: common.into(),
            is_main,
            head: head.into(),
            refs: refs
                .iter()
                .map(|(name, commit)| (BString::from(*name), Target::Commit((*commit).into())))
                .collect(),
        }
    }

    fn names(all: &[Wanted]) -> Vec<Vec<String>> {
        let sets = left(all);
        sets.into_iter()
            .map(|set| set.into_iter().map(|name| name.to_string()).collect())
            .collect()
    }

    #[test]
    fn who_agree_leave_nothing_to_each_other() {
        let refs = [("refs/heads/main", "1"), ("refs/heads/topic", "2")];
        let all = [
            wanted("a", true, "refs/heads/main", &refs),
            wanted("a", false, "refs/heads/topic", &refs),
        ];
        assert_eq!(names(&all), [[""; 0], [""; 0]]);
    }

    #[test]
    fn the_worktree_that_stands_on_a_branch_decides_then_the_repository_then_the_first() {
        let all = [
            wanted("a", false, "", &[("refs/heads/main", "1"), ("refs/heads/x", "1")]),
            wanted("a", true, "", &[("refs/heads/main", "2")]),
            wanted(
                "a",
                false,
                "refs/heads/main",
                &[("refs/heads/main", "3"), ("refs/heads/x", "3")],
            ),
        ];
        let expected = [
            vec!["refs/heads/main"],
            // It has no branch x, which stays.
            vec!["refs/heads/main", "refs/heads/x"],
            vec!["refs/heads/x"],
        ];
        assert_eq!(names(&all), expected);
    }

    #[test]
    fn other_repositories_and_other_refs_do_not_count() {
        let all = [
            wanted(
                "a",
                true,
                "",
                &[("refs/heads/main", "1"), ("refs/bisect/bad", "1")],
            ),
            wanted(
                "a",
                false,
                "",
                &[("refs/heads/main", "1"), ("refs/bisect/bad", "2")],
            ),
            wanted("b", true, "", &[("refs/heads/main", "2")]),
        ];
        assert_eq!(names(&all), [[""; 0], [""; 0], [""; 0]]);
    }
}

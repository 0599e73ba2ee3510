//! The history of a timeline, as commits that only this call has. Each is of one state, and stands on the commits of the
//! states that it came from. So git attributes a line to the state that it came with.

use crate::git::deflate::deflate;
use crate::git::id::{Id, ObjectKind, id_of};
use crate::git::pack_writer::{PackWriter, entry_header};
use crate::git::private::PrivateGit;
use crate::wire::blame::Node;
use crate::wire::error::{Context, Failure, Outcome};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

/// Later than the repository's own commits, so that git goes through these first.
const FIRST_SECOND: usize = 4_000_000_000;

/// The commits of the states.
pub(crate) struct History {
    places: HashMap<String, usize>,
    /// The commit of the last state.
    pub(crate) tip: String,
    /// The repository's own commits that they stand on.
    pub(crate) own: Vec<String>,
}

impl History {
    /// Writes them as one pack. Of `own`, the commits that a state had become its parents. A pack of the same name has the
    /// same objects.
    pub(crate) fn write(git: &PrivateGit, nodes: &[Node], own: &HashSet<&str>) -> Outcome<Self> {
        let mut ids: Vec<Id> = Vec::with_capacity(nodes.len());
        let mut used = Vec::new();
        let packs = git.path().join("objects/pack");
        let mut objects = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            let mut parents = Vec::with_capacity(node.parents.len());
            for parent in &node.parents {
                let id = ids.get(*parent).ok_or_else(|| {
                    Failure::Fault(format!("the state {at} comes before its parent {parent}"))
                })?;
                parents.push(id.to_string());
            }
            let own = node.commit.as_deref().filter(|commit| own.contains(commit));
            if let (Some(commit), true) = (own, parents.is_empty()) {
                parents.push(commit.to_owned());
                if !used.iter().any(|one| one == commit) {
                    used.push(commit.to_owned());
                }
            }
            let tree = node.tree.as_deref().unwrap_or(git.format.empty_tree());
            let text = commit(at, tree, &parents);
            let id = id_of(git.format, ObjectKind::Commit, text.as_bytes())
                .map_err(|attack| Failure::Fault(attack.to_string()))?;
            ids.push(id);
            objects.push((id, text));
        }
        let Some(tip) = ids.last() else {
            return Err(Failure::Fault("the history has no states".into()));
        };
        pack(&packs, git, &objects).context("the history cannot be written", packs)?;
        Ok(History {
            tip: tip.to_string(),
            places: ids.iter().map(Id::to_string).zip(0..).collect(),
            own: used,
        })
    }

    /// The state that this commit is of.
    pub(crate) fn node_of(&self, commit: &str) -> Option<usize> {
        self.places.get(commit).copied()
    }
}

/// The time makes each another one.
fn commit(at: usize, tree: &str, parents: &[String]) -> String {
    let parents: String = parents.iter().map(|id| format!("parent {id}\n")).collect();
    let person = format!("Walkback <capture@walkback.invalid> {} +0000", FIRST_SECOND + at);
    format!("tree {tree}\n{parents}author {person}\ncommitter {person}\n\n")
}

fn pack(packs: &Path, git: &PrivateGit, objects: &[(Id, String)]) -> io::Result<()> {
    let mut writer = PackWriter::new(packs, git.format, 0)?;
    for (id, text) in objects {
        let header = entry_header(ObjectKind::Commit, text.len() as u64);
        writer.append(*id, &header, &deflate(&[text.as_bytes()])?)?;
    }
    for (temporary, path) in writer.finish()?.files {
        fs::rename(temporary, path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::Format;
    use bstr::ByteSlice;

    fn node(tree: &str, parents: &[usize], commit: Option<&str>) -> Node {
        Node {
            tree: Some(tree.to_owned()),
            parents: parents.to_vec(),
            commit: commit.map(str::to_owned),
        }
    }

    #[test]
    fn each_state_is_a_commit_that_stands_on_its_parents_and_on_nothing_else() {
        for format in [Format::Sha1, Format::Sha256] {
            let top = tempfile::tempdir().expect("a temporary directory");
            let git = PrivateGit::make(top.path().join("git"), format, b"").expect("it is made");
            let run = |args: &[&str]| {
                let answer = git.git().args(args).run().expect("git runs");
                let text = answer.ok().unwrap_or_else(|| panic!("{}", answer.why()));
                text.to_str_lossy().trim().to_owned()
            };
            run(&["hash-object", "-w", "-t", "tree", "/dev/null"]);
            let empty = format.empty_tree();
            let own = run(&["commit-tree", "-m", "own", empty]);
            let mut nodes = vec![
                node(empty, &[], Some(&own)),
                node(empty, &[0], Some(&own)),
                node(empty, &[0], None),
                node(empty, &[1, 2], None),
                node(empty, &[], Some("0")),
            ];
            nodes.push(Node {
                tree: None,
                parents: vec![3, 4],
                commit: None,
            });
            let known = HashSet::from([&own[..]]);
            let made = History::write(&git, &nodes, &known).expect("it is written");
            assert_eq!(made.own, std::slice::from_ref(&own));
            let listed = run(&["rev-list", "--parents", &made.tip]);
            let places =
                |line: &str| -> Vec<Option<usize>> { line.split(' ').map(|id| made.node_of(id)).collect() };
            let mut lines: Vec<_> = listed.lines().map(places).collect();
            lines.sort();
            assert_eq!(
                lines,
                [
                    vec![None],
                    vec![Some(0), None],
                    vec![Some(1), Some(0)],
                    vec![Some(2), Some(0)],
                    vec![Some(3), Some(1), Some(2)],
                    vec![Some(4)],
                    vec![Some(5), Some(3), Some(4)],
                ]
            );
            run(&["fsck", "--strict"]);
            let without = History::write(&git, &nodes, &HashSet::new()).expect("it is written");
            assert_eq!(without.own, [""; 0]);
            assert_eq!(run(&["rev-list", "--count", &without.tip]), "6");
        }
    }

    #[test]
    fn a_history_in_which_a_parent_comes_later_is_refused() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let git = PrivateGit::make(top.path().join("git"), Format::Sha1, b"").expect("it is made");
        let empty = Format::Sha1.empty_tree();
        for nodes in [vec![node(empty, &[0], None)], Vec::new()] {
            let refused = History::write(&git, &nodes, &HashSet::new());
            assert!(matches!(refused, Err(Failure::Fault(_))));
        }
    }
}

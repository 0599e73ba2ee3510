//! What a capture holds of the host's repository (`M` in docs/design.md). Not yet in it: conflicts and flags of the index,
//! an operation in progress, remotes, a partial checkout, the stash.

use crate::capture::repository::Repository;
use crate::capture::state::WorkingState;
use crate::capture::tree::{TreeEntry, TreeMode, compose};
use crate::fs::kind::{Kind, kind};
use crate::fs::text::slurp;
use crate::git::id::{Id, ObjectKind};
use crate::git::loose::LooseStore;
use crate::git::present::present;
use crate::git::process::Git;
use crate::host::base::{Base, base_of};
use crate::host::head::{Branches, Head, HeadProblem, Target, read_branches, read_head};
use crate::host::place::{Host, NoHost};
use crate::shadow::rules::WAITS_WHY;
use crate::wire::capture::{FailedName, HostInfo};
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::read::HeadKind;
use bstr::BString;
use std::collections::BTreeSet;
use std::fs;

/// The host's part of a capture.
pub(crate) struct HostPart {
    pub(crate) meta: Id,
    pub(crate) info: HostInfo,
    pub(crate) base: Option<Base>,
    pub(crate) head: Option<String>,
    pub(crate) stash: Vec<String>,
    pub(crate) failures: Vec<FailedName>,
}

fn failed(path: impl Into<BString>, reason: impl Into<String>) -> FailedName {
    FailedName {
        path: Name(path.into()),
        reason: reason.into(),
    }
}

pub(crate) fn read(
    repository: &Repository<'_>,
    state: &WorkingState,
    store: &LooseStore,
) -> Outcome<HostPart> {
    let mut failures = Vec::new();
    let (head, branches) = match &repository.host {
        Ok(host) => heads(host, &mut failures)?,
        Err(why) => {
            if kind(&repository.top.join(".git")).is_some() {
                let file = match why {
                    NoHost::Unusable => String::new(),
                    NoHost::Waits(file) => format!(": {} {WAITS_WHY}", file.display()),
                };
                failures.push(failed(
                    ".git",
                    format!("the .git of this repository is not usable, so branch, HEAD and index are not captured{file}"),
                ));
            }
            (None, Branches::default())
        }
    };
    let commit = head.as_ref().and_then(Head::commit).map(str::to_owned);
    let base = match (&repository.host, &commit) {
        (Ok(host), Some(commit)) => Some(base_of(host, repository.shadow.format, commit)),
        (Ok(_) | Err(_), _) => None,
    };
    let meta = meta(repository, state, store, (&head, &branches))?;
    Ok(HostPart {
        meta,
        info: info(repository, &head, &base),
        base,
        head: commit,
        stash: Vec::new(),
        failures,
    })
}

fn heads(host: &Host, failures: &mut Vec<FailedName>) -> Outcome<(Option<Head>, Branches)> {
    let read = match read_branches(host)? {
        Ok(branches) => read_head(host, &branches)?.map(|head| (head, branches)),
        Err(problem) => Err(problem),
    };
    match read {
        Ok((head, branches)) => {
            for name in &branches.broken {
                failures.push(failed(
                    BString::from([b".git/", &name[..]].concat()),
                    "the branch cannot be read, so it is not captured",
                ));
            }
            Ok((Some(head), branches))
        }
        Err(HeadProblem::Killed) => Err(Failure::Fault(
            "git was ended by a signal while it read branches".into(),
        )),
        Err(HeadProblem::Unreadable | HeadProblem::Waits(_)) => {
            failures.push(failed(
                ".git",
                "HEAD or the branches of the host repository cannot be read",
            ));
            Ok((None, Branches::default()))
        }
    }
}

fn info(repository: &Repository<'_>, head: &Option<Head>, base: &Option<Base>) -> HostInfo {
    let (head_kind, branch) = match head {
        Some(Head::Branch { name, .. }) => (HeadKind::Branch, Some(name)),
        Some(Head::Unborn { name }) => (HeadKind::Unborn, Some(name)),
        Some(Head::Detached { .. }) => (HeadKind::Detached, None),
        None => (HeadKind::Unreadable, None),
    };
    HostInfo {
        head_kind,
        branch: branch.map(|name| Name(name.strip_prefix(b"refs/heads/").unwrap_or(name).into())),
        head: head.as_ref().and_then(Head::commit).map(str::to_owned),
        shallow: base.as_ref().is_some_and(|base| base.shallow),
        partial: base.as_ref().is_some_and(|base| base.partial),
        object_format: repository.shadow.format.name(),
    }
}

/// The list `host`: HEAD and branches.
fn host_list(repository: &Repository<'_>, head: &Option<Head>, branches: &Branches) -> BString {
    let (kind, name, commit) = match head {
        Some(Head::Branch { name, commit }) => ("branch", Some(name), Some(commit)),
        Some(Head::Unborn { name }) => ("unborn", Some(name), None),
        Some(Head::Detached { commit }) => ("detached", None, Some(commit)),
        None if repository.host.is_ok() => ("unreadable", None, None),
        None => ("none", None, None),
    };
    let mut text = BString::from(format!("head {kind}"));
    if let Some(name) = name {
        text.extend_from_slice(&[b"\nref ", &name[..]].concat());
    }
    if let Some(commit) = commit {
        text.extend_from_slice(format!("\ncommit {commit}").as_bytes());
    }
    for (name, target) in &branches.refs {
        let (word, target) = match target {
            Target::Commit(commit) => ("branch", commit.as_bytes()),
            Target::Symbolic(target) => ("symref", &target[..]),
        };
        text.extend_from_slice(&[b"\n", word.as_bytes(), b" ", target, b" ", name].concat());
    }
    text.push(b'\n');
    text
}

fn meta(
    repository: &Repository<'_>,
    state: &WorkingState,
    store: &LooseStore,
    (head, branches): (&Option<Head>, &Branches),
) -> Outcome<Id> {
    let host = repository.host.as_ref().ok();
    let shallow = host
        .map(|host| slurp(&host.common.join("shallow")))
        .unwrap_or_default();
    let lists: [(&str, &[u8], bool); 5] = [
        ("host", &host_list(repository, head, branches), true),
        ("modes", &state.modes, true),
        ("empty", &state.empty, true),
        ("left-out", &state.left_out, false),
        ("shallow", &shallow, false),
    ];
    let mut entries = Vec::new();
    let mut add = |name: &str, mode, id| {
        entries.push(TreeEntry {
            name: BString::from(name),
            mode,
            id,
        });
    };
    for (name, list, is_always) in lists {
        if is_always || !list.is_empty() {
            add(name, TreeMode::File, store.put(ObjectKind::Blob, list)?);
        }
    }
    if let Some(tree) = host
        .map(|host| index_tree(repository, host))
        .transpose()?
        .flatten()
    {
        add("index", TreeMode::Directory, tree);
    }
    let tree = store.put(ObjectKind::Tree, &compose(entries))?;
    let commit = head
        .as_ref()
        .and_then(Head::commit)
        .and_then(|id| Id::from_hex(id.as_bytes()));
    let tips: BTreeSet<Id> = branches
        .refs
        .iter()
        .filter_map(|(_, target)| match target {
            Target::Commit(id) => Id::from_hex(id.as_bytes()),
            Target::Symbolic(_) => None,
        })
        .collect();
    let others = tips.iter().filter(|tip| Some(**tip) != commit);
    let all: Vec<Id> = commit.iter().chain(others).copied().collect();
    let there = present(&repository.shadow.git, all.iter().copied())?;
    let mut text = format!("tree {tree}\n");
    for id in all.iter().filter(|id| there.contains(id)) {
        text.push_str(&format!("parent {id}\n"));
    }
    let who = "Walkback <capture@walkback.invalid> 0 +0000";
    text.push_str(&format!("author {who}\ncommitter {who}\n\nhost state\n"));
    store.put(ObjectKind::Commit, text.as_bytes())
}

/// The tree of the host's index, written by git from a copy of it.
fn index_tree(repository: &Repository<'_>, host: &Host) -> Outcome<Option<Id>> {
    let index = host.git.join("index");
    if kind(&index) != Some(Kind::File) {
        return Ok(None);
    }
    let copy = repository.shadow.file("host-index.native");
    fs::copy(&index, &copy).context("it cannot be copied", &copy)?;
    let answer = Git::on_shadow(&repository.top, &repository.shadow.git)
        .env("GIT_INDEX_FILE", &copy)
        .args(["write-tree", "--missing-ok"])
        .run()?;
    let Some(text) = answer.ok() else {
        return Err(Failure::Fault(format!(
            "git could not read the index: {}",
            answer.said()
        )));
    };
    Ok(Id::from_hex(text.trim_ascii()))
}

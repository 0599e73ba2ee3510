//! What differs between the host states of two captures: HEAD, branches, index, operation in progress.

use crate::git::batch::Batch;
use crate::git::process::Git;
use crate::read::captured::{
    CapturedHead, CapturedRef, Entries, HostState, entries, find_part, host_state, part,
};
use crate::wire::error::{Failure, Outcome};
use crate::wire::host_change::{BranchChange, HeadChange, HeadState, HostChange, IndexChange, TextChange};
use crate::wire::name::Name;
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// More branches than this are only counted: each needs a process.
const BRANCHES_MOST: usize = 200;
/// Longer rules of a partial checkout are cut to this size.
const RULES_MOST: usize = 2000;
const STAGES: [&str; 4] = ["index", "stage1", "stage2", "stage3"];

/// Where the two captures are, and how to ask about them.
pub(crate) struct Shadow<'call> {
    pub(crate) directory: &'call Path,
    pub(crate) git: &'call Path,
    pub(crate) empty_tree: &'static str,
}

/// A HEAD that could not be read in the first of two captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Nothing is compared.
    IsUnknown,
    /// A restore replaces it, so it counts as one without a commit.
    IsReplaced,
}

/// Nothing when nothing differs, or when one of them was not captured or is not here.
pub(crate) fn host_change(
    shadow: &Shadow<'_>,
    from: &str,
    to: &str,
    unread: Unread,
) -> Outcome<Option<HostChange>> {
    if from == to {
        return Ok(None);
    }
    let mut objects = Batch::open(shadow.directory, shadow.git)?;
    let (Ok(mut before), Ok(after)) = (host_state(&mut objects, from)?, host_state(&mut objects, to)?) else {
        return Ok(None);
    };
    if unread == Unread::IsReplaced && before.head.kind == "unreadable" {
        before.head.kind = "unborn".into();
    }
    if !before.head.is_known() || !after.head.is_known() {
        return Ok(None);
    }
    let mut change = HostChange {
        head: head(shadow, &before, &after)?,
        ..HostChange::default()
    };
    branches(shadow, &before, &after, &mut change)?;
    if STAGES
        .iter()
        .chain(&["index-flags"])
        .any(|name| before.part(name) != after.part(name))
    {
        change.index = Some(IndexChange {
            entries: index(shadow, &mut objects, &before, &after)?,
        });
    }
    if before.part("sparse") != after.part("sparse") {
        let (from, to) = (rules(&mut objects, &before)?, rules(&mut objects, &after)?);
        change.partial_checkout = Some(TextChange { from, to });
    }
    let (from, to) = (
        operation(&mut objects, &before)?,
        operation(&mut objects, &after)?,
    );
    if from != to {
        change.operation = Some(TextChange { from, to });
    }
    Ok((!change.is_empty()).then_some(change))
}

impl HostState {
    fn part(&self, name: &str) -> Option<&String> {
        self.parts.get(name.as_bytes().as_bstr())
    }

    /// The branches: what each names.
    fn heads(&self) -> BTreeMap<&BString, &CapturedRef> {
        self.refs
            .iter()
            .filter(|(name, _)| name.starts_with(b"refs/heads/"))
            .collect()
    }

    /// The commits that branches hold, and that of HEAD.
    fn held(&self) -> impl Iterator<Item = &str> {
        self.heads().into_values().filter_map(|target| match target {
            CapturedRef::Commit(commit) => Some(commit.as_str()),
            CapturedRef::Symbolic(_) => None,
        })
    }
}

fn state_of(head: &CapturedHead) -> HeadState {
    let name = head.name.strip_prefix(b"refs/heads/").unwrap_or(&head.name);
    HeadState {
        kind: head.kind.clone(),
        branch: (!name.is_empty()).then(|| Name(name.into())),
        commit: (!head.commit.is_empty()).then(|| head.commit.clone()),
    }
}

/// How many commits of `of` none of the others hold; nothing when the sandbox lacks objects.
fn count<'id>(shadow: &Shadow<'_>, of: &str, others: impl Iterator<Item = &'id str>) -> Outcome<Option<u64>> {
    let mut input = format!("{of}\n");
    for other in others.filter(|id| !id.is_empty()) {
        input.push_str(&format!("^{other}\n"));
    }
    let answer = Git::on_shadow(shadow.directory, shadow.git)
        .args(["rev-list", "--count", "--stdin"])
        .input(input)
        .run_to_its_end()?;
    Ok(answer
        .ok()
        .and_then(|text| text.trim_ascii().to_str().ok()?.parse().ok()))
}

fn head(shadow: &Shadow<'_>, before: &HostState, after: &HostState) -> Outcome<Option<HeadChange>> {
    let (from, to) = (&before.head, &after.head);
    if from == to {
        return Ok(None);
    }
    let mut change = HeadChange {
        from: state_of(from),
        to: state_of(to),
        commits_made: None,
        commits_left: None,
    };
    if from.commit != to.commit {
        if !to.commit.is_empty() {
            let held = before.held().chain([from.commit.as_str()]);
            change.commits_made = Some(count(shadow, &to.commit, held)?);
        }
        if from.kind == "detached" && !from.commit.is_empty() {
            let held = after.held().chain([to.commit.as_str()]);
            change.commits_left = Some(count(shadow, &from.commit, held)?);
        }
    }
    Ok(Some(change))
}

fn shown(target: &CapturedRef) -> Name {
    match target {
        CapturedRef::Commit(commit) => Name(commit.as_str().into()),
        CapturedRef::Symbolic(name) => Name(name.clone()),
    }
}

/// How many commits of a branch that goes nothing holds afterwards; nothing when the sandbox lacks objects.
pub(crate) fn commits_left(shadow: &Shadow<'_>, commit: &str, after: &HostState) -> Outcome<Option<u64>> {
    count(shadow, commit, after.held().chain([after.head.commit.as_str()]))
}

fn branches(
    shadow: &Shadow<'_>,
    before: &HostState,
    after: &HostState,
    change: &mut HostChange,
) -> Outcome<()> {
    let (have, want) = (before.heads(), after.heads());
    let names: BTreeSet<&BString> = have.keys().chain(want.keys()).copied().collect();
    let differ: Vec<&BString> = names
        .into_iter()
        .filter(|name| have.get(*name) != want.get(*name))
        .collect();
    for name in differ.iter().take(BRANCHES_MOST) {
        let left = match have.get(*name) {
            Some(CapturedRef::Commit(commit)) => commits_left(shadow, commit, after)?,
            Some(CapturedRef::Symbolic(_)) | None => Some(0),
        };
        change.branches.push(BranchChange {
            name: Name(name.strip_prefix(b"refs/heads/").unwrap_or(name).into()),
            from: have.get(*name).map(|target| shown(target)),
            to: want.get(*name).map(|target| shown(target)),
            commits_left: left,
        });
    }
    if differ.len() > BRANCHES_MOST {
        change.branches_left = Some(differ.len() - BRANCHES_MOST);
    }
    Ok(())
}

/// How many paths of the index differ, conflicts and flags with them; nothing when git cannot tell.
fn index(
    shadow: &Shadow<'_>,
    objects: &mut Batch,
    before: &HostState,
    after: &HostState,
) -> Outcome<Option<usize>> {
    let mut paths: BTreeSet<BString> = BTreeSet::new();
    for stage in STAGES {
        let tree = |state: &HostState| {
            state
                .part(stage)
                .map_or(shadow.empty_tree, String::as_str)
                .to_owned()
        };
        let (from, to) = (tree(before), tree(after));
        let answer = Git::on_shadow(shadow.directory, shadow.git)
            .args(["diff-tree", "-r", "-z", "--no-renames", "--name-only", &from, &to])
            .run_to_its_end()?;
        let Some(listed) = answer.ok() else {
            return Ok(None);
        };
        paths.extend(
            listed
                .split_str("\0")
                .filter(|path| !path.is_empty())
                .map(BString::from),
        );
    }
    let mut flags = |state: &HostState| -> Outcome<Option<BTreeSet<BString>>> {
        let text = find_part(objects, &state.parts, "index-flags")?;
        let lines = |text: &BString| {
            let lines = text.split_str("\0").filter(|line| !line.is_empty());
            lines.map(BString::from).collect()
        };
        Ok(text.as_ref().ok().map(lines))
    };
    let (Some(had), Some(has)) = (flags(before)?, flags(after)?) else {
        return Ok(None);
    };
    // A line is a letter, a space and the path.
    paths.extend(
        had.symmetric_difference(&has)
            .map(|line| BString::from(line.get(2..).unwrap_or_default())),
    );
    Ok(Some(paths.len()))
}

/// The rules follow the line with their kind.
fn rules(objects: &mut Batch, state: &HostState) -> Outcome<Option<String>> {
    let text = part(objects, &state.parts, "sparse")?;
    if text.is_empty() {
        return Ok(None);
    }
    let rules = text
        .split_once_str("\n")
        .map_or(text.as_bytes(), |(_, rest)| rest);
    let rules = if rules.is_empty() { b"\n" } else { rules };
    Ok(Some(
        rules[..rules.len().min(RULES_MOST)].to_str_lossy().into_owned(),
    ))
}

fn operation(objects: &mut Batch, state: &HostState) -> Outcome<Option<String>> {
    let Some(id) = state.part("state") else {
        return Ok(None);
    };
    let unread = || Failure::Fault(format!("the operation in progress cannot be read: {id}"));
    let tree = objects.object(id)?.ok_or_else(unread)?;
    let files: Entries = entries(&tree.content, id.len() / 2).ok_or_else(unread)?;
    let has = |name: &str| files.contains_key(name.as_bytes().as_bstr());
    // Names of files are sorted, and the first one counts, except that a rebase may have a pick in progress.
    let names = [
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
        ("BISECT_LOG", "bisect"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("MERGE_HEAD", "merge"),
        ("REVERT_HEAD", "revert"),
    ];
    Ok(names
        .iter()
        .find(|(name, _)| has(name))
        .map(|(_, operation)| (*operation).to_owned()))
}

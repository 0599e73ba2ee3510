//! HEAD of a repository. Its branches are read by `branches.rs`.

use crate::fs::kind::{Kind, kind, kind_behind, waits};
use crate::fs::text::{first_line, slurp};
use crate::git::process::{Answered, Git};
use crate::host::place::Host;
use crate::host::refs;
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// In a repository with reftable, the file HEAD has exactly this content.
const IN_REFTABLE: &[u8] = b"ref: refs/heads/.invalid";

/// Where HEAD stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// On a ref, mostly a branch, that has a commit.
    Branch {
        name: BString,
        commit: String,
    },
    /// On a branch without a commit.
    Unborn {
        name: BString,
    },
    Detached {
        commit: String,
    },
}

impl Head {
    pub(crate) fn commit(&self) -> Option<&str> {
        match self {
            Head::Branch { commit, .. } | Head::Detached { commit } => Some(commit),
            Head::Unborn { .. } => None,
        }
    }
}

/// Why HEAD or the branches cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeadProblem {
    /// Git would wait for this file for ever.
    Waits(PathBuf),
    /// Git refuses, or the files say nothing that git would take.
    Unreadable,
    /// A process was ended by a signal, which says nothing about the repository.
    Killed,
}

/// What a branch, or a mark of a bisect, names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Commit(String),
    /// Another ref.
    Symbolic(BString),
}

/// The branches as git lists them, and those that it cannot read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Branches {
    pub(crate) refs: Vec<(BString, Target)>,
    pub(crate) broken: Vec<BString>,
    /// The files alone say what there is, so a branch that is not listed is not there.
    pub(crate) are_plain: bool,
}

impl Branches {
    /// The commits that are not named by another ref.
    pub(crate) fn commits(&self) -> impl Iterator<Item = &str> {
        self.refs.iter().filter_map(|(_, target)| match target {
            Target::Commit(commit) => Some(commit.as_str()),
            Target::Symbolic(_) => None,
        })
    }

    /// Lines `COMMIT REF`, or `symref TARGET REF`, with no end after the last.
    pub(crate) fn lines(&self) -> BString {
        let lines: Vec<Vec<u8>> = self
            .refs
            .iter()
            .map(|(name, target)| match target {
                Target::Commit(commit) => [commit.as_bytes(), b" ", name].concat(),
                Target::Symbolic(target) => [b"symref ", target.as_slice(), b" ", name].concat(),
            })
            .collect();
        BString::from(bstr::join("\n", lines))
    }

    fn commit_of(&self, name: &BStr) -> Option<&str> {
        self.refs
            .iter()
            .find(|(other, _)| other == name)
            .and_then(|(_, target)| match target {
                Target::Commit(commit) => Some(commit.as_str()),
                Target::Symbolic(_) => None,
            })
    }
}

/// The first line of a HEAD. With `core.preferSymlinkRefs`, and in old repositories, HEAD is a link to the branch.
/// Only the link's text counts: the branch may be packed or have no commit, and then the link leads nowhere.
pub(crate) fn head_line(file: &Path) -> Option<BString> {
    if kind(file) == Some(Kind::Link) {
        let target = fs::read_link(file).ok()?;
        if target.as_os_str().as_bytes().starts_with(b"refs/") {
            return Some([b"ref: ", target.as_os_str().as_bytes()].concat().into());
        }
    }
    let text = slurp(file);
    let line = first_line(text.as_bstr());
    (!line.is_empty() || text.starts_with(b"\n")).then(|| line.to_owned())
}

pub(crate) fn is_object_id(text: &[u8]) -> bool {
    (40..=64).contains(&text.len()) && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

pub(super) fn text(bytes: &[u8]) -> String {
    bytes.to_str_lossy().into_owned()
}

/// The one line that git answered, if it answered.
fn answered(answer: &Answered, nothing: i32) -> Result<Option<BString>, HeadProblem> {
    match answer.ok() {
        Some(output) => Ok(Some(first_line(output.as_bstr()).to_owned()).filter(|line| !line.is_empty())),
        None if answer.status.code() == Some(nothing) => Ok(None),
        None if answer.was_killed() => Err(HeadProblem::Killed),
        None => Err(HeadProblem::Unreadable),
    }
}

/// Reads HEAD. `branches` are those of the same moment.
pub(crate) fn read_head(host: &Host, branches: &Branches) -> Outcome<Result<Head, HeadProblem>> {
    let git = || Git::on_host(&host.git, &host.git);
    let Some(line) = head_line(&host.git.join("HEAD")) else {
        return Ok(Err(HeadProblem::Unreadable));
    };
    let mut commit = None;
    let name = if line == IN_REFTABLE {
        match answered(&git().args(["symbolic-ref", "-q", "HEAD"]).run()?, 1) {
            Ok(name) => name,
            Err(problem) => return Ok(Err(problem)),
        }
    } else if let Some(name) = line.strip_prefix(b"ref: ") {
        Some(BString::from(name)).filter(|name| !name.is_empty())
    } else {
        commit = Some(text(&line)).filter(|line| !line.is_empty());
        None
    };
    let head = match name {
        Some(name) => on_ref(host, name, branches)?,
        None => {
            if commit.is_none() {
                match answered(&git().args(["rev-parse", "-q", "--verify", "HEAD"]).run()?, -1) {
                    Ok(found) => commit = found.map(|line| text(&line)),
                    Err(problem) => return Ok(Err(problem)),
                }
            }
            match commit.filter(|id| is_object_id(id.as_bytes())) {
                Some(commit) => Ok(Head::Detached { commit }),
                None => Err(HeadProblem::Unreadable),
            }
        }
    };
    Ok(head.and_then(|head| match head.commit() {
        Some(commit) if !may_hold(host, commit) => Err(HeadProblem::Unreadable),
        _ => Ok(head),
    }))
}

/// HEAD on a ref. The branches do not list every ref that HEAD may stand on.
fn on_ref(host: &Host, name: BString, branches: &Branches) -> Outcome<Result<Head, HeadProblem>> {
    if let Some(commit) = branches.commit_of(name.as_bstr()) {
        return Ok(Ok(Head::Branch {
            commit: commit.to_owned(),
            name,
        }));
    }
    let file = Path::new(std::ffi::OsStr::from_bytes(&name));
    let places = [host.git.join(file), host.common.join(file)];
    if let Some(waiting) = places.iter().find(|place| waits(place)) {
        return Ok(Err(HeadProblem::Waits(waiting.clone())));
    }
    if branches.are_plain && refs::is_plain_branch(name.as_bstr()) && kind(&places[1]).is_none() {
        return Ok(Ok(Head::Unborn { name }));
    }
    let wanted = [name.as_slice(), b"^{commit}"].concat();
    let asked = Git::on_host(&host.git, &host.git)
        .args(["rev-parse", "-q", "--verify"])
        .arg(std::ffi::OsStr::from_bytes(&wanted))
        .run()?;
    Ok(match answered(&asked, 1) {
        Ok(Some(commit)) => Ok(Head::Branch {
            name,
            commit: text(&commit),
        }),
        // The file exists but git reads no commit in it, so this is not a branch without commits.
        Ok(None) if kind_behind(&places[1]) == Some(Kind::File) => Err(HeadProblem::Unreadable),
        Ok(None) => Ok(Head::Unborn { name }),
        Err(problem) => Err(problem),
    })
}

/// Whether the objects here may hold this commit, as far as that can be told without asking git.
fn may_hold(host: &Host, commit: &str) -> bool {
    let objects = host.common.join("objects");
    let packs = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten();
    packs
        .map(|entry| entry.path())
        .any(|path| path.extension().is_some_and(|end| end == "idx"))
        || objects.join(&commit[..2]).join(&commit[2..]).is_file()
        || fs::metadata(objects.join("info/alternates")).is_ok_and(|found| found.len() > 0)
}

/// The ref that HEAD names, where a commit on it cannot be told.
pub(crate) fn named_ref(host: &Host) -> Outcome<Option<BString>> {
    let Some(line) = head_line(&host.git.join("HEAD")) else {
        return Ok(None);
    };
    if line == IN_REFTABLE {
        let asked = Git::on_host(&host.git, &host.git)
            .args(["symbolic-ref", "-q", "HEAD"])
            .run()?;
        return Ok(answered(&asked, 1).ok().flatten());
    }
    let name = line.strip_prefix(b"ref: ").map(BString::from);
    Ok(name.filter(|name| !name.is_empty()))
}

/// Whether the repository keeps its refs in the reftable format.
pub(crate) fn is_in_reftable(host: &Host) -> bool {
    head_line(&host.git.join("HEAD")).is_some_and(|line| line == IN_REFTABLE)
}

//! Everything that a capture reads of HEAD, branches and settings. What cannot be read is a problem of the repository's
//! own state; its working files are captured all the same.

use crate::git::process::Git;
use crate::host::base::{Base, base_of};
use crate::host::branches::read_branches;
use crate::host::head::{Branches, Head, HeadProblem, named_ref, read_head};
use crate::host::place::{Host, NoHost, find};
use crate::host::settings::{self, Settings};
use crate::host::waits::WAITS_WHY;
use crate::wire::error::Outcome;
use bstr::BString;
use std::path::Path;

/// A process that was killed says nothing about the repository, so HEAD is read twice.
const TRIES: usize = 2;

/// Where HEAD stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    /// There is no usable repository.
    None,
    Unreadable,
    Unborn,
    Branch,
    Detached,
}

impl HeadKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            HeadKind::None => "none",
            HeadKind::Unreadable => "unreadable",
            HeadKind::Unborn => "unborn",
            HeadKind::Branch => "branch",
            HeadKind::Detached => "detached",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct HostReading {
    pub(crate) host: Option<Host>,
    pub(crate) settings: Settings,
    pub(crate) kind: HeadKind,
    /// The ref that HEAD names, also where that cannot be read. Nothing when the branches cannot.
    pub(crate) name: Option<BString>,
    pub(crate) commit: Option<String>,
    pub(crate) branches: Branches,
    /// What of the host's history is here; only where HEAD has a commit.
    pub(crate) base: Option<Base>,
    /// Why HEAD, branches or the whole `.git` are not captured.
    pub(crate) problem: Option<String>,
}

/// Reads the repository whose working tree is this directory.
pub(crate) fn read(top: &Path) -> Outcome<HostReading> {
    let mut reading = HostReading {
        host: None,
        settings: Settings::default(),
        kind: HeadKind::None,
        name: None,
        commit: None,
        branches: Branches::default(),
        base: None,
        problem: None,
    };
    let host = match find(top) {
        Ok(host) => host,
        Err(why) => {
            if top.join(".git").exists() {
                let what =
                    "the .git of this repository is not usable, so branch, HEAD and index are not captured";
                reading.problem = Some(match why {
                    NoHost::Unusable => what.to_owned(),
                    NoHost::Waits(file) => format!("{what}: {} {WAITS_WHY}", file.display()),
                });
            }
            return Ok(reading);
        }
    };
    reading.settings = settings::read(&host);
    let mut problem = None;
    for _ in 0..TRIES {
        problem = reading.read_head(&host)?;
        if problem.is_none() {
            break;
        }
    }
    if let Some(problem) = problem {
        reading.kind = HeadKind::Unreadable;
        let said = refused(top, &host, &problem)?;
        // What git refuses as a whole, it lists no branches of.
        if !said.is_empty() && matches!(problem, HeadProblem::Unreadable) {
            reading.branches = Branches::default();
        }
        reading.problem = Some(format!(
            "HEAD or the branches of the host repository cannot be read{said}"
        ));
    }
    if let Some(commit) = &reading.commit {
        reading.base = Some(base_of(&host, reading.settings.format, commit));
    }
    reading.host = Some(host);
    Ok(reading)
}

impl HostReading {
    fn read_head(&mut self, host: &Host) -> Outcome<Option<HeadProblem>> {
        self.branches = match read_branches(host, &self.settings)? {
            Ok(branches) => branches,
            Err(problem) => {
                self.name = None;
                return Ok(Some(problem));
            }
        };
        let head = match read_head(host, &self.branches)? {
            Ok(head) => head,
            Err(problem) => {
                self.name = named_ref(host)?;
                return Ok(Some(problem));
            }
        };
        (self.kind, self.name, self.commit) = match head {
            Head::Branch { name, commit } => (HeadKind::Branch, Some(name), Some(commit)),
            Head::Unborn { name } => (HeadKind::Unborn, Some(name), None),
            Head::Detached { commit } => (HeadKind::Detached, None, Some(commit)),
        };
        Ok(None)
    }
}

/// The reason why the repository cannot be read: the file that git would wait for, or git's own message, for example
/// about its settings. Empty when git says nothing.
fn refused(top: &Path, host: &Host, problem: &HeadProblem) -> Outcome<String> {
    match problem {
        HeadProblem::Waits(file) => Ok(format!(": {} {WAITS_WHY}", file.display())),
        HeadProblem::Unreadable | HeadProblem::Killed => {
            let asked = Git::on_host(top, &host.git)
                .args(["rev-parse", "--git-dir"])
                .run()?;
            let said = if asked.status.success() {
                String::new()
            } else {
                asked.said()
            };
            Ok(if said.is_empty() {
                said
            } else {
                format!(": {said}")
            })
        }
    }
}

//! What is asked of a run, and what is told of it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Kinds of calls that change what is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Opening with `O_CREAT`, `O_TRUNC` or `O_TMPFILE`.
    Creates,
    /// Content and size of a file.
    Writes,
    Renames,
    /// Hard and symbolic ones.
    Links,
    /// Of files and directories.
    Removals,
    /// Directories that are made.
    Directories,
    /// Modes, owners and times.
    Modes,
    Syncs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum When {
    /// The call does not happen.
    Before,
    /// The call has happened.
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Reason {
    Enospc,
    Eio,
    Erofs,
}

/// What is on the disk of what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Keeps {
    Nothing,
    /// Names and modes, and no content.
    Names,
    /// By a seed: the first of the changes of names, and parts of contents.
    Some,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// The call fails. `lasts`: so do all later ones of the chosen kinds.
    Fail {
        errno: Reason,
        when: When,
        #[serde(default)]
        lasts: bool,
    },
    /// Half of what is to be written is. The next call of the chosen kinds fails.
    Shorten { errno: Reason },
    /// All threads of the program end by `SIGKILL`. Processes that it started go on.
    Kill { when: When },
    /// The power is lost: nothing runs on, and what was not synced is gone (`disk.rs`).
    Lose {
        when: When,
        keeps: Keeps,
        #[serde(default)]
        seed: u64,
    },
    /// The same, when the program has ended by itself, and its answer was read.
    LoseAtEnd {
        keeps: Keeps,
        #[serde(default)]
        seed: u64,
    },
}

/// What the system does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lack {
    /// Renames that overwrite nothing, and those that exchange two names.
    RenameFlags,
    /// Second names of a file.
    Links,
    /// Files that have no name yet.
    UnnamedFiles,
    /// `openat2`, `statx`, `faccessat2`, `copy_file_range` and `fallocate`.
    NewerCalls,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Spec {
    /// Calls below this directory count.
    pub(crate) root: PathBuf,
    pub(crate) report: PathBuf,
    /// None: all kinds.
    pub(crate) kinds: Option<Vec<Kind>>,
    /// Only calls about a path that ends so. None: all.
    pub(crate) about: Option<PathBuf>,
    /// At the so-manieth call of the chosen kinds, from 1. None: calls are only counted.
    pub(crate) fault: Option<Planned>,
    /// Everywhere, and not only below the directory.
    #[serde(default)]
    pub(crate) lacks: Vec<Lack>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Planned {
    #[serde(default)]
    pub(crate) at: u64,
    pub(crate) does: Fault,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// By kind, whether chosen or not.
    pub(crate) calls: BTreeMap<Kind, u64>,
    /// Of the chosen kinds.
    pub(crate) chosen: u64,
    /// What was done, in words. Empty: the program made too few calls.
    pub(crate) done: Vec<String>,
}

pub(crate) fn read(file: &Path) -> Result<Spec, Box<dyn Error>> {
    let mut spec: Spec = serde_json::from_slice(&fs::read(file)?)?;
    spec.root = spec.root.canonicalize()?;
    Ok(spec)
}

impl Spec {
    pub(crate) fn loses_power(&self) -> bool {
        matches!(
            self.fault,
            Some(Planned {
                does: Fault::Lose { .. } | Fault::LoseAtEnd { .. },
                ..
            })
        )
    }

    pub(crate) fn tell(&self, report: &Report) -> Result<(), Box<dyn Error>> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.report)?;
        let line = serde_json::to_string(report)? + "\n";
        Ok(file.write_all(line.as_bytes())?)
    }
}

//! The branches of a repository, and the marks of a bisect.

use crate::fs::kind::{Kind, kind, kind_behind};
use crate::fs::text::{first_line, slurp};
use crate::git::process::Git;
use crate::host::head::{Branches, HeadProblem, Target, text};
use crate::host::place::Host;
use crate::host::refs;
use crate::host::settings::Settings;
use crate::host::waits::in_refs;
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const FORMAT: &str =
    "--format=%(if)%(symref)%(then)symref %(symref) %(refname)%(else)%(objectname) %(refname)%(end)";

/// Reads them. Git is asked where their files do not say it plainly.
pub(crate) fn read_branches(host: &Host, settings: &Settings) -> Outcome<Result<Branches, HeadProblem>> {
    // With settings that git refuses, nothing of the repository can be read or restored, so nothing counts as read.
    // A pipe beside the branches holds up every git of the user, so it is named although no branch is there.
    if settings.are_plain
        && in_refs(host, &[]).is_none()
        && let Some(branches) = refs::branches_in_files(host, settings.format)
    {
        return Ok(Ok(branches));
    }
    if let Some(file) = in_refs(host, &["refs/heads", "refs/bisect"]) {
        return Ok(Err(HeadProblem::Waits(file)));
    }
    let asked = Git::on_host(&host.git, &host.git)
        .args(["for-each-ref", FORMAT, "refs/heads", "refs/bisect"])
        .run()?;
    let Some(listed) = asked.ok() else {
        let killed = asked.was_killed();
        return Ok(Err(if killed {
            HeadProblem::Killed
        } else {
            HeadProblem::Unreadable
        }));
    };
    let mut branches = Branches {
        refs: listed.lines().filter_map(listed_ref).collect(),
        broken: Vec::new(),
        are_plain: false,
    };
    for line in asked.stderr.lines() {
        if let Some(name) = line.strip_prefix(b"warning: ignoring broken ref ") {
            // Before 2.34, git also said this about symbolic refs to a missing branch.
            if !is_symbolic(&host.common, name.as_bstr()) {
                branches.broken.push(name.into());
            }
        } else if line.starts_with(b"warning: ignoring dangling symref ") {
            // These are no damage. They follow below.
        } else if let Some(warning) = line.strip_prefix(b"warning: ") {
            branches.broken.push(warning.into());
        }
    }
    dangling(&host.common, Path::new("refs/heads"), &mut branches);
    Ok(Ok(branches))
}

fn listed_ref(line: &[u8]) -> Option<(BString, Target)> {
    let (first, rest) = line.split_once_str(" ")?;
    if first != b"symref" {
        return Some((rest.into(), Target::Commit(text(first))));
    }
    let (target, name) = rest.split_once_str(" ")?;
    Some((name.into(), Target::Symbolic(target.into())))
}

fn is_symbolic(common: &Path, name: &BStr) -> bool {
    slurp(&common.join(std::ffi::OsStr::from_bytes(name))).starts_with(b"ref: ")
}

/// Adds symbolic refs to missing branches, which git does not list.
fn dangling(common: &Path, below: &Path, branches: &mut Branches) {
    let entries = fs::read_dir(common.join(below)).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries.map(|entry| below.join(entry.file_name())).collect();
    names.sort();
    for name in names {
        match kind_behind(&common.join(&name)) {
            Some(Kind::Directory) if kind(&common.join(&name)) == Some(Kind::Directory) => {
                dangling(common, &name, branches);
            }
            Some(Kind::File) => {
                let content = slurp(&common.join(&name));
                let Some(target) = first_line(content.as_bstr()).strip_prefix(b"ref: ") else {
                    continue;
                };
                let name = BString::from(name.as_os_str().as_bytes());
                if !branches.refs.iter().any(|(other, _)| *other == name) {
                    branches.refs.push((name, Target::Symbolic(target.into())));
                }
            }
            Some(Kind::Directory | Kind::Link | Kind::Socket | Kind::Waits) | None => {}
        }
    }
}

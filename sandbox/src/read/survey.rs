//! The survey command: lists the repositories, without writing anything.

use crate::fs::scratch::Scratch;
use crate::git::id::Format;
use crate::git::process::{Answered, Git};
use crate::host::base::base_of;
use crate::host::branches::read_branches;
use crate::host::head::{Head, HeadProblem, read_head};
use crate::host::place::{self, Host};
use crate::host::{settings, waits};
use crate::read::remotes::without_credentials;
use crate::scan::discover::everywhere;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::read::{HeadKind, RecentCommit, SurveyReport, SurveyRequest, SurveyedRepository};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const RECENT: &str = "5";

pub(crate) fn survey(root: &Path, request: &SurveyRequest) -> Outcome<SurveyReport> {
    let found = everywhere(root, request.max_depth)?;
    let repositories = crate::parallel::map(&found.roots, |path| look_again(root, path, request.detail))?;
    let around = if repositories.is_empty() {
        around(root)
    } else {
        None
    };
    Ok(SurveyReport {
        repositories,
        skipped: found.passed_over,
        around,
    })
}

/// The repository that the projects root lies in. Like git, it looks from there upwards.
fn around(root: &Path) -> Option<Name> {
    let holds =
        |above: &&Path| above.join(".git").is_file() || above.join(".git/HEAD").symlink_metadata().is_ok();
    let found = root.ancestors().skip(1).find(holds)?;
    Some(Name(BString::from(found.as_os_str().as_bytes())))
}

/// What a failure of git means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Any failure may be one of the system, so the repository is looked at again.
    Nothing,
    /// The exit of a process is git's answer about the repository. A process that was killed says nothing.
    Exit,
}

/// Looks a second time where a process of git failed.
fn look_again(root: &Path, path: &BString, detail: bool) -> Outcome<SurveyedRepository> {
    for trust in [Trust::Nothing, Trust::Exit] {
        if let Some(found) = look(root, path, detail, trust)? {
            return Ok(found);
        }
    }
    Err(Failure::Fault(format!(
        "a process that looked at {path} was ended by a signal; the sandbox may be short of memory"
    )))
}

/// Nothing when a failure of git is not trusted. What git cannot tell otherwise is left out.
fn look(root: &Path, path: &BString, detail: bool, trust: Trust) -> Outcome<Option<SurveyedRepository>> {
    let directory = root.join(OsStr::from_bytes(path));
    let mut found = SurveyedRepository {
        path: Name(path.clone()),
        object_format: Format::Sha1.name().to_owned(),
        ..SurveyedRepository::default()
    };
    let Ok(host) = place::find(&directory) else {
        return Ok(Some(found));
    };
    let settings = settings::read(&host);
    settings.format.name().clone_into(&mut found.object_format);
    let head = match read_branches(&host, &settings)? {
        Ok(branches) => read_head(&host, &branches)?,
        Err(problem) => Err(problem),
    };
    let head = match head {
        Ok(head) => head,
        Err(HeadProblem::Killed) => return Ok(None),
        Err(HeadProblem::Unreadable) if trust == Trust::Nothing => return Ok(None),
        Err(HeadProblem::Unreadable | HeadProblem::Waits(_)) => return Ok(Some(found)),
    };
    found.head_kind = match head {
        Head::Branch { .. } => HeadKind::Branch,
        Head::Unborn { .. } => HeadKind::Unborn,
        Head::Detached { .. } => HeadKind::Detached,
    };
    found.branch = match &head {
        Head::Branch { name, .. } | Head::Unborn { name } => {
            Some(Name(name.strip_prefix(b"refs/heads/").unwrap_or(name).into()))
        }
        Head::Detached { .. } => None,
    };
    let Some(commit) = head.commit() else {
        return Ok(Some(found));
    };
    let base = base_of(&host, settings.format, commit);
    (found.shallow, found.partial, found.base) = (base.shallow, base.partial, Some(base.name));
    found.head = Some(commit.to_owned());
    let counted = Git::on_host(&directory, &host.git)
        .args(["rev-list", "--count", commit])
        .run()?;
    let Some(count) = told(&counted, trust) else {
        return Ok(None);
    };
    // When objects are missing, git cannot count.
    found.commits = count
        .trim_ascii()
        .to_str()
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    if detail && !add_detail(&directory, &host, commit, trust, &mut found)? {
        return Ok(None);
    }
    Ok(Some(found))
}

/// What git wrote; empty where it could not tell, nothing where its failure is not trusted.
fn told(answer: &Answered, trust: Trust) -> Option<&BStr> {
    match answer.ok() {
        Some(output) => Some(output.as_bstr()),
        None if answer.was_killed() || trust == Trust::Nothing => None,
        None => Some(BStr::new("")),
    }
}

/// The same of `git config`, which ends with 1 when a setting is not there.
fn told_setting(answer: &Answered, trust: Trust) -> Option<&BStr> {
    if answer.status.code() == Some(1) && answer.stdout.is_empty() {
        Some(BStr::new(""))
    } else {
        told(answer, trust)
    }
}

/// False when a failure of git is not trusted.
fn add_detail(
    directory: &Path,
    host: &Host,
    commit: &str,
    trust: Trust,
    found: &mut SurveyedRepository,
) -> Outcome<bool> {
    let asked = Git::on_host(directory, &host.git)
        .args(["config", "--no-includes", "--file"])
        .arg(host.common.join("config"))
        .args(["--get", "remote.origin.url"])
        .run()?;
    let Some(address) = told_setting(&asked, trust) else {
        return Ok(false);
    };
    let address = without_credentials(address.trim_end_with(|letter| letter == '\n').as_bstr());
    found.remote = (!address.is_empty()).then_some(Name(address));
    let asked = Git::on_host(directory, &host.git)
        .args([
            "log",
            "-n",
            RECENT,
            "--no-show-signature",
            "--format=%h %s",
            commit,
        ])
        .run()?;
    let Some(log) = told(&asked, trust) else {
        return Ok(false);
    };
    let recent = log
        .lines()
        .filter_map(|line| line.split_once_str(" "))
        .map(|(id, subject)| RecentCommit {
            commit: id.to_str_lossy().into_owned(),
            subject: subject.to_str_lossy().into_owned(),
        });
    let recent: Vec<RecentCommit> = recent.collect();
    // Git would wait: then the count of changed files is not known.
    if waits::in_rules(directory, host).is_some() {
        return Ok(true);
    }
    let Some(dirty) = changed_files(directory, host, trust)? else {
        return Ok(false);
    };
    (found.dirty, found.recent) = (Some(dirty), Some(recent));
    Ok(true)
}

/// The number of changed paths as the host's git lists them, with every filter of the repository switched off:
/// filters are commands. A settings file does that, not options: in an option, the name of a setting ends at the first
/// `=`, and the name of a filter may contain one.
fn changed_files(directory: &Path, host: &Host, trust: Trust) -> Outcome<Option<u64>> {
    let asked = Git::on_host(directory, &host.git)
        .args([
            "config",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|process|smudge|required)$",
        ])
        .run()?;
    let Some(names) = told_setting(&asked, trust) else {
        return Ok(None);
    };
    let filters: BTreeSet<&[u8]> = names.lines().filter_map(filter_of).collect();
    let scratch = if filters.is_empty() {
        None
    } else {
        Some(Scratch::new()?)
    };
    let mut git = Git::new(directory).host_settings();
    if let Some(scratch) = &scratch {
        let file = scratch.path().join("filters");
        fs::write(&file, switched_off(&filters)).context("cannot write", &file)?;
        let mut setting = OsString::from("include.path=");
        setting.push(&file);
        git = git.arg("-c").arg(setting);
    }
    let answer = git
        .repository(&host.git)
        .work_tree(directory)
        .args([
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--ignore-submodules=all",
        ])
        .run()?;
    Ok(told(&answer, trust).map(|listed| listed.iter().filter(|byte| **byte == 0).count() as u64))
}

/// `filter.NAME.clean` is about NAME.
fn filter_of(setting: &[u8]) -> Option<&[u8]> {
    let name = setting.strip_prefix(b"filter.")?;
    name.rfind_byte(b'.').map(|at| &name[..at])
}

fn switched_off(filters: &BTreeSet<&[u8]>) -> Vec<u8> {
    let sections = filters.iter().flat_map(|name| {
        let quoted = name.replace(b"\\", b"\\\\").replace(b"\"", b"\\\"");
        let end: &[u8] = b"\"]\n\tclean =\n\tsmudge =\n\tprocess =\n\trequired = false\n";
        [b"[filter \"".as_slice(), &quoted, end].concat()
    });
    sections.collect()
}

//! Files that the rules of now ignore. When other rules come back, some of them are ignored no longer.

use crate::fs::remove;
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::restore::rules_then::RulesThen;
use crate::restore::stand::Stand;
use crate::scan::ignored;
use crate::scan::names::{Names, split};
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};

/// Files that are named.
const NAMED_MOST: usize = 20;
/// A name that stands for everything in a directory.
const PROBE: &str = ".walkback-probe";

/// The paths that the rules of now ignore, before others come back. They are no part of the target, and the restore does
/// not touch them. A directory that holds nothing else is one path that ends with a slash.
pub(crate) fn unseen(stand: &Stand) -> Outcome<Names> {
    let shadow = &stand.shadow;
    let index = shadow.file("unseen-index");
    let git = || {
        Git::on_shadow(&shadow.top, &shadow.git)
            .env("GIT_WORK_TREE", &shadow.top)
            .env("GIT_INDEX_FILE", &index)
    };
    remove::file(&index).context("it cannot be removed", &index)?;
    let read = git()
        .args(["read-tree", &stand.tree.to_string()])
        .run_to_its_end()?;
    let is_old = is_before_2_32(shadow)?;
    let listed = if is_old {
        // In these releases, ls-files passes over ignored files in a directory that holds nothing else.
        git()
            .args(["status", "--porcelain", "-z", "-uall", "--ignored=matching"])
            .args(["--no-renames", "--ignore-submodules=all"])
            .run_to_its_end()?
    } else {
        git()
            .args(["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"])
            .run_to_its_end()?
    };
    remove::file(&index).context("it cannot be removed", &index)?;
    match (read.ok(), listed.ok()) {
        (Some(_), Some(list)) if is_old => {
            let marked = split(list).filter_map(|line| line.strip_prefix(b"!! "));
            Ok(Names::new(marked.map(BString::from).collect()))
        }
        (Some(_), Some(list)) => Ok(Names::from_list(list)),
        _ => Err(Failure::Fault(format!(
            "git could not list what is ignored: {} {}",
            read.why(),
            listed.why()
        ))),
    }
}

fn is_before_2_32(shadow: &Shadow) -> Outcome<bool> {
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .arg("version")
        .run_to_its_end()?;
    let said = answer.ok().unwrap_or_default();
    let mut numbers = said
        .split(|byte| !byte.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .filter_map(|word| word.to_str().ok()?.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => Ok((major, minor) < (2, 32)),
        _ => Err(Failure::Fault(format!(
            "git does not say its version: {}",
            answer.why()
        ))),
    }
}

/// What a person is told of files that the rules of this tree do not ignore. They stay where they are.
pub(crate) fn warnings(stand: &Stand, unseen: &Names, tree: &str) -> Outcome<Vec<BString>> {
    let hidden = hidden(stand, unseen)?;
    if hidden.is_empty() {
        return Ok(Vec::new());
    }
    let still = RulesThen::of(stand, tree)?.ignored(&hidden)?;
    let exposed: Vec<&BString> = hidden.iter().filter(|path| !still.contains(*path)).collect();
    let mut told: Vec<BString> = exposed
        .iter()
        .take(NAMED_MOST)
        .map(|path| {
            let shown = path.strip_suffix(PROBE.as_bytes()).unwrap_or(path);
            let what: &[u8] = b" stays, and the rules that come back do not ignore it: git shows it then, and the next checkpoint captures it";
            BString::from([shown, what].concat())
        })
        .collect();
    if exposed.len() > NAMED_MOST {
        told.push(
            format!(
                "... and {} more files that they do not ignore",
                exposed.len() - NAMED_MOST
            )
            .into(),
        );
    }
    Ok(told)
}

/// The files that are ignored. Where a rule names a directory, one name stands for all that is in it; a directory may also be
/// listed because every file in it is ignored.
fn hidden(stand: &Stand, unseen: &Names) -> Outcome<Vec<BString>> {
    let shadow = &stand.shadow;
    let all = unseen.iter().filter(|path| *path != ".agent-shadow/");
    let (directories, mut files): (Vec<BString>, Vec<BString>) =
        all.map(BString::from).partition(|path| path.ends_with(b"/"));
    if directories.is_empty() {
        return Ok(files);
    }
    let probe = |directory: &BString| BString::from([&directory[..], PROBE.as_bytes()].concat());
    let probes: Vec<BString> = directories.iter().map(probe).collect();
    let whole = ignored::by_all_rules(shadow, &probes)?.ignored;
    let mut open = Vec::new();
    for (directory, probe) in directories.into_iter().zip(probes) {
        if whole.contains(&probe) {
            files.push(probe);
        } else {
            open.push(directory);
        }
    }
    if open.is_empty() {
        return Ok(files);
    }
    let listed = Git::on_shadow(&shadow.top, &shadow.git)
        .env("GIT_WORK_TREE", &shadow.top)
        .env("GIT_INDEX_FILE", shadow.file("no-index"))
        .args([
            "--literal-pathspecs",
            "ls-files",
            "-z",
            "-o",
            "-i",
            "--exclude-standard",
            "--",
        ])
        .args(open.iter().map(|path| path_of(path.clone())))
        .run_to_its_end()?;
    match listed.ok() {
        Some(list) => files.extend(split(list).map(BString::from)),
        None => {
            return Err(Failure::Fault(format!(
                "git could not list what is ignored: {}",
                listed.why()
            )));
        }
    }
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

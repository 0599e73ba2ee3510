//! The diff command: the changes between two captures, repository by repository.

use crate::fs::scratch::Scratch;
use crate::fs::text::{first_line, slurp};
use crate::git::id::Format;
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::host::waits;
use crate::read::attributes::write_index;
use crate::read::host_change::{Shadow, Unread, host_change};
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::name::{self, Name};
use crate::wire::read::{DiffPair, DiffReport, DiffRequest, Difference};
use bstr::ByteSlice;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// What git says when it lacks an object. Any other error may not happen next time.
const MISSING: [&str; 4] = ["bad object", "unable to read", "not a tree", "bad tree"];

/// A file that is shown with many lines around its changes must not take minutes.
const LARGE: &str = "core.bigFileThreshold=4m";

pub(crate) fn diff(root: &Path, request: &DiffRequest) -> Outcome<DiffReport> {
    // Git runs in an empty directory: in the working tree, a named pipe may stand in the place of a file of attributes.
    let scratch = Scratch::new()?;
    let nothing = scratch.path().join("nothing");
    fs::create_dir(&nothing).context("it cannot be made", &nothing)?;
    let compare = |(at, pair): (usize, &DiffPair)| {
        let index = scratch.path().join(format!("attributes-{at}"));
        difference(root, &nothing, &index, pair, request)
    };
    Ok(DiffReport {
        repositories: request
            .pairs
            .iter()
            .enumerate()
            .map(compare)
            .collect::<Outcome<_>>()?,
    })
}

fn difference(
    root: &Path,
    nothing: &Path,
    index: &Path,
    pair: &DiffPair,
    request: &DiffRequest,
) -> Outcome<Difference> {
    let mut found = Difference {
        path: pair.path.clone(),
        missing: true,
        ..Difference::default()
    };
    let home = root.join(OsStr::from_bytes(&pair.path.0)).join(".agent-shadow");
    let git = home.join(format!("session-{}", request.session_id));
    if !git.join("HEAD").is_file() || waits::in_git(&git, &git).is_some() {
        return Ok(found);
    }
    let format = match first_line(slurp(&git.join("format")).as_bstr()).as_bytes() {
        b"sha1" => Format::Sha1,
        _ => Format::Sha256,
    };
    let shadow = Shadow {
        directory: nothing,
        git: &git,
        empty_tree: format.empty_tree(),
    };
    let tree = |id: &Option<String>| id.clone().unwrap_or_else(|| shadow.empty_tree.to_owned());
    let (from, to) = (tree(&pair.from), tree(&pair.to));
    // The repository was made again in another object format: one of the two states is not here.
    if from.len() != to.len() {
        return Ok(found);
    }
    if from != to {
        write_index(nothing, &git, &to, index)?;
        if !count(&shadow, index, &from, &to, &mut found)? {
            return Ok(found);
        }
    }
    found.missing = false;
    if let (Some(from), Some(to)) = (&pair.from_meta, &pair.to_meta) {
        found.host = host_change(&shadow, from, to, Unread::IsUnknown)?;
    }
    if !request.stat_only && from != to {
        text(&shadow, index, (&from, &to), request, &mut found)?;
    }
    Ok(found)
}

/// A command that reads this index. Who works in the sandbox can write the settings of the shadow.
fn comparing(shadow: &Shadow<'_>, index: &Path) -> Git {
    Git::on_shadow(shadow.directory, shadow.git)
        .env("GIT_INDEX_FILE", index)
        .host_settings()
}

/// Counts files and lines. False when the sandbox lacks objects.
fn count(shadow: &Shadow<'_>, index: &Path, from: &str, to: &str, found: &mut Difference) -> Outcome<bool> {
    let answer = comparing(shadow, index)
        .args(["diff-tree", "-r", "--no-renames", "--numstat", "-z", from, to])
        .run()?;
    let Some(listed) = answer.ok() else {
        if answer.status.code() == Some(128) && MISSING.iter().any(|words| answer.stderr.contains_str(words))
        {
            return Ok(false);
        }
        return Err(Failure::Fault(format!(
            "git diff-tree ended with {}: {}",
            answer.status,
            answer.said()
        )));
    };
    for line in listed.split_str("\0").filter(|line| !line.is_empty()) {
        let mut numbers = line
            .splitn_str(3, "\t")
            .map(|digits| digits.to_str().ok()?.parse::<u64>().ok());
        // For a binary file, the numbers are dashes.
        found.files += 1;
        found.added += numbers.next().flatten().unwrap_or(0);
        found.deleted += numbers.next().flatten().unwrap_or(0);
    }
    Ok(true)
}

/// The unified diff, with the repository in its paths. `diff-tree` reads the index, which `diff` does not.
fn text(
    shadow: &Shadow<'_>,
    index: &Path,
    (from, to): (&str, &str),
    request: &DiffRequest,
    found: &mut Difference,
) -> Outcome<()> {
    let most = request.max_bytes;
    let Name(path) = &found.path;
    let prefix = |side: &str| {
        let mut option = format!("--{side}-prefix={}/", if side == "src" { "a" } else { "b" }).into_bytes();
        if path != "." {
            option.extend_from_slice(path);
            option.push(b'/');
        }
        OsString::from_vec(option)
    };
    let mut git = comparing(shadow, index);
    if request.file.is_some() {
        git = git.args(["-c", LARGE]).env("GIT_LITERAL_PATHSPECS", "1");
    }
    git = git
        .args([
            "diff-tree",
            "-r",
            "-p",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
        ])
        .args(["--full-index".into(), prefix("src"), prefix("dst")]);
    git = match &request.file {
        Some(file) => git
            .arg(format!("-U{}", file.context))
            .args([from, to, "--"])
            .arg(path_of(file.path.0.clone())),
        None => git.args([from, to]),
    };
    let answer = git.run_reading(most as u64 + 1)?;
    if !answer.status.success() {
        return Err(Failure::Fault(format!(
            "git diff-tree ended with {}: {}",
            answer.status,
            answer.said()
        )));
    }
    found.truncated = answer.stdout.len() > most;
    let shown = &answer.stdout[..answer.stdout.len().min(most)];
    found.diff = name::shown(&shown.replace(b"\0", b""));
    Ok(())
}

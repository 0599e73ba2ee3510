//! Records what changed in a repository since the capture before, for people who read it when the sandbox is gone. Nothing
//! here fails a capture: what could not be recorded is named.

use crate::fs::kind::{Kind, kind};
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::read::host_change::{self, Unread, host_change};
use crate::scan::discover::parents;
use crate::shadow::open::Shadow;
use crate::wire::capture::ChangesReport;
use crate::wire::error::Outcome;
use crate::wire::name::Name;
use bstr::{BStr, BString, ByteSlice};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

/// Larger files are not compared line by line.
const TEXT_MOST: &str = "core.bigFileThreshold=4m";
const BYTES_MOST: usize = 4096 * 1024;
const SECONDS_MOST: u64 = 10;
/// A larger record is compressed before it is sent.
const PLAIN_MOST: usize = 16384;
/// Names and statuses of a record that are checked for files that still exist.
const ENTRIES_MOST: usize = 6000;
/// Files that are named.
const NAMED_MOST: usize = 3;

/// Where two states are compared.
pub(crate) struct Place<'place> {
    /// The repository, from the projects root.
    pub(crate) path: &'place BStr,
    /// The working files, in which nothing is where nobody looks at them.
    pub(crate) top: &'place Path,
    pub(crate) shadow: &'place Shadow,
    /// Repositories inside it.
    pub(crate) nested: &'place [BString],
}

/// The states before and after.
pub(crate) struct Between<'states> {
    /// The tree before; nothing when no files were there.
    pub(crate) from: Option<&'states str>,
    /// The host state before; nothing when it is not compared.
    pub(crate) from_meta: Option<&'states str>,
    pub(crate) tree: &'states str,
    pub(crate) meta: &'states str,
}

/// Git's list of changed files, their counts and the patch. The second answer is what is said beside it.
pub(crate) fn record(place: &Place<'_>, between: &Between<'_>) -> (Vec<u8>, ChangesReport) {
    let mut report = ChangesReport::default();
    let from = between.from.unwrap_or_else(|| place.shadow.format.empty_tree());
    let mut list = Vec::new();
    if from != between.tree {
        match compare(place, from, between.tree, &mut report) {
            Ok(found) => list = found,
            Err(_) => problem(&mut report, "git could not compare with the capture before"),
        }
        if between.from.is_some() {
            still_there(place, &list, &mut report);
        }
    }
    if let Some(before) = between.from_meta.filter(|before| *before != between.meta) {
        let shadow = host_change::Shadow {
            directory: place.top,
            git: &place.shadow.git,
            empty_tree: place.shadow.format.empty_tree(),
        };
        match host_change(&shadow, before, between.meta, Unread::IsUnknown) {
            Ok(change) => report.host = change,
            Err(_) => problem(&mut report, "what changed beside files could not be told"),
        }
    }
    (list, report)
}

fn problem(report: &mut ChangesReport, why: impl Into<BString>) {
    report.problems.push(Name(why.into()));
}

/// A command that compares two trees.
fn diff(place: &Place<'_>) -> Git {
    Git::on_shadow(place.top, &place.shadow.git).unheard().args([
        "-c",
        TEXT_MOST,
        "diff-tree",
        "-r",
        "-M",
        "-l200",
    ])
}

fn compare(place: &Place<'_>, from: &str, to: &str, report: &mut ChangesReport) -> Outcome<Vec<u8>> {
    let prefix = if place.path == "." {
        BString::default()
    } else {
        [place.path.as_bytes(), b"/"].concat().into()
    };
    let option = |name: &str| path_of([name.as_bytes(), &prefix].concat().into());
    let (answer, is_cut) = diff(place)
        .args(["-z", "--raw", "--numstat", "-p", "--full-index"])
        .args(["--no-ext-diff", "--no-textconv", "--no-color"])
        .args([option("--src-prefix=a/"), option("--dst-prefix=b/")])
        .args([from, to])
        .run_limited(BYTES_MOST, SECONDS_MOST)?;
    if is_cut {
        report.is_cut = true;
        let (counted, _) = diff(place)
            .args(["--shortstat", from, to])
            .run_limited(BYTES_MOST, SECONDS_MOST)?;
        report.totals = counted.ok().map(|text| {
            text.trim_end_with(|letter| letter == '\n')
                .to_str_lossy()
                .into_owned()
        });
    } else if answer.was_killed() {
        report.is_cut = true;
        problem(
            report,
            format!("comparing took more than {SECONDS_MOST} seconds of processor time"),
        );
    } else if answer.ok().is_none() {
        let gone = ["bad object", "unable to read", "not a tree", "bad tree"];
        let is_gone = gone.iter().any(|words| answer.stderr.contains_str(words));
        problem(
            report,
            if is_gone {
                "the sandbox no longer holds the capture before this one"
            } else {
                "git could not compare with the capture before"
            },
        );
        return Ok(Vec::new());
    }
    Ok(answer.stdout)
}

/// Names the files that the record lists as deleted or renamed but that still exist: git ignores them now, or they are
/// too large.
fn still_there(place: &Place<'_>, list: &[u8], report: &mut ChangesReport) {
    let mut texts = list.split_str("\0").take(ENTRIES_MOST);
    let mut found: Vec<BString> = Vec::new();
    while let (Some(head), Some(path)) = (texts.next(), texts.next()) {
        if !head.starts_with(b":") {
            break;
        }
        let status = head.rsplit_str(" ").next().unwrap_or_default();
        match status.first() {
            Some(b'R') => {
                texts.next();
            }
            Some(b'D') => {}
            _ => continue,
        }
        if exists(place, path.as_bstr()) {
            found.push(path.into());
        }
    }
    if found.is_empty() {
        return;
    }
    let mut text = BString::from("still on disk, but not captured any more: ");
    text.extend_from_slice(&bstr::join(", ", found.iter().take(NAMED_MOST)));
    if found.len() > NAMED_MOST {
        text.extend_from_slice(format!(" and {} more", found.len() - NAMED_MOST).as_bytes());
    }
    problem(report, text);
}

/// A file in a directory that is now a link or a repository is another file.
fn exists(place: &Place<'_>, path: &BStr) -> bool {
    let kind_of = |path: &BStr| kind(&place.top.join(path_of(path.to_owned())));
    let inside = |inner: &BString| {
        path.strip_prefix(&inner[..])
            .is_some_and(|rest| rest.starts_with(b"/"))
    };
    matches!(kind_of(path), Some(Kind::File | Kind::Link))
        && parents(path).all(|above| kind_of(above) != Some(Kind::Link))
        && !place.nested.iter().any(inside)
}

/// The bytes that are sent, and whether they are compressed.
pub(crate) fn packed(record: Vec<u8>) -> (Vec<u8>, bool) {
    if record.len() <= PLAIN_MOST {
        return (record, false);
    }
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    match out.write_all(&record).and_then(|()| out.finish()) {
        Ok(bytes) => (bytes, true),
        // A vector takes everything.
        Err(_) => (record, false),
    }
}

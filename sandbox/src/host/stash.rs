//! The stash. It is in no capture, because its entries may hold files that git ignores. A capture names the newest
//! entries, so that a restore can say which of them are missing then.

use crate::fs::kind::{Kind, kind, kind_behind};
use crate::git::process::Git;
use crate::host::head::is_object_id;
use crate::host::place::Host;
use bstr::ByteSlice;
use std::fs;

/// Most entries that a capture names: each takes 43 bytes of the checkpoint.
const MOST: usize = 10;

/// The commits of the newest entries, newest first. Git keeps the list as the log of the stash ref.
pub(crate) fn newest(host: &Host) -> Vec<String> {
    entries(host, MOST)
}

/// The commits of all entries, newest first.
pub(crate) fn all(host: &Host) -> Vec<String> {
    entries(host, usize::MAX)
}

fn entries(host: &Host, most: usize) -> Vec<String> {
    if kind(&host.common.join("reftable")) == Some(Kind::Directory) {
        return in_reftable(host, most);
    }
    let log = host.common.join("logs/refs/stash");
    if kind_behind(&log) != Some(Kind::File) {
        return Vec::new();
    }
    let text = fs::read(log).unwrap_or_default();
    let commits = text.lines().filter_map(|line| line.split_str(" ").nth(1));
    let mut newest: Vec<String> = commits.filter_map(id).collect();
    newest.reverse();
    newest.truncate(most);
    newest
}

fn id(text: &[u8]) -> Option<String> {
    is_object_id(text).then(|| text.to_str_lossy().into_owned())
}

fn in_reftable(host: &Host, most: usize) -> Vec<String> {
    let asked = Git::on_host(&host.common, &host.common)
        .args(["rev-list", "-g", "refs/stash", "--"])
        .run();
    // A stash that cannot be read has no names.
    let answer = asked.ok().and_then(|answer| answer.ok().map(<[u8]>::to_vec));
    let list = answer.unwrap_or_default();
    list.lines().filter_map(id).take(most).collect()
}

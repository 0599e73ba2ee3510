//! The commits that a host state holds as its parents.

use crate::git::process::Git;
use crate::host::reading::HostReading;
use crate::meta::operation::Operation;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::ByteSlice;
use std::collections::BTreeSet;

/// HEAD's commit, then every other tip that is there.
pub(super) fn there(reading: &HostReading, operation: &Operation, shadow: &Shadow) -> Outcome<Vec<String>> {
    let head = reading.commit.as_deref();
    let others = reading
        .branches
        .commits()
        .chain(operation.tips.iter().map(String::as_str));
    let others: BTreeSet<&str> = others.filter(|tip| Some(*tip) != head).collect();
    let input: String = head
        .into_iter()
        .chain(others)
        .map(|tip| format!("{tip}\n"))
        .collect();
    if input.is_empty() {
        return Ok(Vec::new());
    }
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
        .input(input)
        .run_to_its_end()?;
    let Some(lines) = answer.ok() else {
        return Err(Failure::Fault(format!(
            "git could not look for commits: {}",
            answer.said()
        )));
    };
    let commits = lines.lines().filter_map(|line| line.strip_suffix(b" commit"));
    Ok(commits.map(|id| id.to_str_lossy().into_owned()).collect())
}

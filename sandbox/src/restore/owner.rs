//! Whether the repository here can be the one of a capture.

use crate::git::process::Git;
use crate::host::place::Host;
use crate::read::captured::{CapturedRef, HostState};
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::ByteSlice;

/// A linked worktree that took the place of another repository is a different one: its branches are those of the
/// repository that it belongs to. That repository has none of the commits that the capture stood on, and not those where
/// their history began.
pub(crate) fn may_be_its_own(shadow: &Shadow, host: &Host, then: &HostState) -> Outcome<bool> {
    if host.git == host.common {
        return Ok(true);
    }
    let commits = then.refs.values().filter_map(|target| match target {
        CapturedRef::Commit(commit) => Some(commit.as_str()),
        CapturedRef::Symbolic(_) => None,
    });
    let ids: Vec<&str> = std::iter::once(then.head.commit.as_str())
        .chain(commits)
        .filter(|id| !id.is_empty())
        .collect();
    if ids.is_empty() || has_any(host, &ids)? {
        return Ok(true);
    }
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["rev-list", "--max-parents=0", "--stdin"])
        .input(format!("{}\n", ids.join("\n")))
        .run_to_its_end()?;
    let roots = answer.ok().ok_or_else(|| unreadable(&answer.why()))?;
    let roots: Vec<&str> = roots.lines().filter_map(|line| line.to_str().ok()).collect();
    has_any(host, &roots)
}

fn unreadable(said: &str) -> Failure {
    Failure::Fault(format!(
        "the repository that this worktree belongs to cannot be read: {said}"
    ))
}

/// Whether the host's own objects include one of these commits.
fn has_any(host: &Host, ids: &[&str]) -> Outcome<bool> {
    let answer = Git::on_host(&host.common, &host.common)
        .args(["cat-file", "--batch-check=%(objecttype)"])
        .input(format!("{}\n", ids.join("\n")))
        .run_to_its_end()?;
    let lines = answer.ok().ok_or_else(|| unreadable(&answer.why()))?;
    Ok(lines.lines().any(|line| line == b"commit"))
}

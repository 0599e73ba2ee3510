//! Who removed a file.

use crate::blame::history::History;
use crate::blame::porcelain::seconds;
use crate::git::private::PrivateGit;
use crate::host::place::path_of;
use crate::wire::blame::Source;
use crate::wire::error::Outcome;
use crate::wire::name::{Name, shown};
use bstr::ByteSlice;

/// The newest commit that removed it. Nothing where none did, an error of the inner kind where git cannot tell.
pub(crate) fn removal(
    git: &PrivateGit,
    history: &History,
    file: &Name,
) -> Outcome<Result<Option<Source>, String>> {
    let answer = git
        .git()
        .args([
            "log",
            "-1",
            "--diff-filter=D",
            "--no-renames",
            "--no-show-signature",
        ])
        .args(["--format=%H%x00%an%x00%at%x00%s", &history.tip, "--"])
        .arg(path_of(file.0.clone()))
        .run_to_its_end()?;
    let Some(text) = answer.ok() else {
        return Ok(Err(answer.why()));
    };
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let parts: Vec<&[u8]> = text.splitn_str(4, "\0").collect();
    let [id, author, when, summary] = parts[..] else {
        return Ok(Ok(None));
    };
    let (commit, path) = (shown(id), file.clone());
    Ok(Ok(Some(match history.node_of(&commit) {
        Some(node) => Source::Node { node, path },
        None => Source::Commit {
            commit,
            author: shown(author),
            authored_at: seconds(when),
            summary: shown(summary),
            path,
        },
    })))
}

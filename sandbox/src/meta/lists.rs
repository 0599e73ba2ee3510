//! The lists of the host state that are text: HEAD with branches, remotes, and a partial checkout.

use crate::fs::text::slurp;
use crate::git::process::Git;
use crate::host::head::Target;
use crate::host::place::Host;
use crate::host::reading::HostReading;
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};
use std::path::Path;

const REMOTES: &str =
    r"^(remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter)|branch\..*\.(remote|merge))$";

/// The lines of the list `host`.
pub(crate) fn host_list(reading: &HostReading) -> Vec<u8> {
    let mut list = format!("head {}\n", reading.kind.name()).into_bytes();
    let mut line = |parts: &[&[u8]]| {
        list.extend_from_slice(&parts.concat());
        list.push(b'\n');
    };
    if let Some(name) = &reading.name {
        line(&[b"ref ", name]);
    }
    if let Some(commit) = &reading.commit {
        line(&[b"commit ", commit.as_bytes()]);
    }
    for (name, target) in &reading.branches.refs {
        match target {
            Target::Commit(commit) => line(&[b"branch ", commit.as_bytes(), b" ", name]),
            Target::Symbolic(target) => line(&[b"symref ", target, b" ", name]),
        }
    }
    list
}

/// Settings of one file that have such names: `NAME` and after a line end its value, each ended by NUL.
fn settings(host: &Host, file: &Path, names: &str) -> Outcome<Result<Vec<u8>, String>> {
    let asked = Git::on_host(&host.git, &host.git)
        .args(["config", "--no-includes", "--file"])
        .arg(file)
        .args(["-z", "--get-regexp", names])
        .run_to_its_end()?;
    Ok(match asked.ok() {
        Some(list) => Ok(list.to_vec()),
        // None has such a name.
        None if asked.status.code() == Some(1) => Ok(Vec::new()),
        None => Err(asked.said()),
    })
}

/// The same of the repository, and then of this worktree alone where git reads those.
pub(super) fn settings_of(
    reading: &HostReading,
    host: &Host,
    names: &str,
) -> Outcome<Result<Vec<u8>, String>> {
    let mut files = vec![host.common.join("config")];
    if reading.settings.has_own {
        files.push(host.git.join("config.worktree"));
    }
    let mut all = Vec::new();
    for file in files.into_iter().filter(|file| file.is_file()) {
        match settings(host, &file, names)? {
            Ok(list) => all.extend(list),
            Err(said) => return Ok(Err(said)),
        }
    }
    Ok(Ok(all))
}

/// The addresses of remotes travel with the capture, but credentials in them do not. An error is what git says.
pub(crate) fn remotes(host: &Host) -> Outcome<Result<Vec<u8>, String>> {
    let list = settings(host, &host.common.join("config"), REMOTES)?;
    Ok(list.map(|list| {
        let records = list.split_str("\0").filter(|record| !record.is_empty());
        records
            .flat_map(|record| [&without_credentials(record)[..], b"\0"].concat())
            .collect()
    }))
}

/// What stands between `://` and the next `@` goes, when no `/` is in it.
fn without_credentials(record: &[u8]) -> Vec<u8> {
    for at in record.find_iter("://") {
        let rest = &record[at + 3..];
        if let Some(end) = rest.find_byteset(b"/@")
            && rest[end] == b'@'
        {
            return [&record[..at + 3], &rest[end + 1..]].concat();
        }
    }
    record.to_vec()
}

/// Whether the rules of a partial checkout are directories (`cone`), and the rules. Empty when everything is checked
/// out, which is also so when there is no file of rules.
pub(crate) fn sparse(reading: &HostReading, host: &Host) -> Outcome<Result<Vec<u8>, String>> {
    if !reading
        .settings
        .text
        .to_ascii_lowercase()
        .contains_str("sparsecheckout")
    {
        return Ok(Ok(Vec::new()));
    }
    let (mut is_on, mut is_cone) = (false, false);
    let list = match settings_of(reading, host, r"^core\.sparsecheckout(cone)?$")? {
        Ok(list) => list.to_ascii_lowercase(),
        Err(said) => return Ok(Err(said)),
    };
    for entry in list.split_str("\0").filter(|entry| !entry.is_empty()) {
        let (name, value) = match entry.split_once_str("\n") {
            Some((name, value)) => (name, is_true(value.as_bstr())),
            None => (entry, true),
        };
        if name == b"core.sparsecheckout" {
            is_on = value;
        } else {
            is_cone = value;
        }
    }
    let rules = host.git.join("info/sparse-checkout");
    if !is_on || !rules.exists() {
        return Ok(Ok(Vec::new()));
    }
    let mut list = format!("cone {is_cone}\n").into_bytes();
    list.extend_from_slice(&text_of(&rules));
    Ok(Ok(list))
}

fn is_true(value: &BStr) -> bool {
    ["true", "yes", "on", "1"].iter().any(|word| value == *word)
}

/// The text of a file, up to a NUL.
pub(crate) fn text_of(file: &Path) -> BString {
    let text = slurp(file);
    let end = text.find_byte(0).unwrap_or(text.len());
    BString::from(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_travel() {
        let shown = |text: &str| BString::from(without_credentials(text.as_bytes())).to_string();
        assert_eq!(
            shown("remote.o.url\nhttps://u:p@host/a@b"),
            "remote.o.url\nhttps://host/a@b"
        );
        assert_eq!(shown("remote.o.url\ngit@host:a"), "remote.o.url\ngit@host:a");
        assert_eq!(shown("x\na:///b://u@h"), "x\na:///b://h");
    }
}

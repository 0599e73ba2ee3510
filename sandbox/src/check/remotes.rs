//! Asks the origin of each repository for its branches, as a fetch would, and answers no question of git or ssh. Only the
//! user's own settings apply: of a repository, only the address is read.

use crate::check::ended::run_within;
use crate::fs::scratch::Scratch;
use crate::fs::text::slurp;
use crate::git::user;
use crate::host::place::path_of;
use crate::parallel;
use crate::wire::check::{AskRemotesReport, AskRemotesRequest, Remote};
use crate::wire::error::{Context, Outcome};
use crate::wire::name::shown;
use bstr::{BString, ByteSlice};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Origins that are asked.
const MOST: usize = 20;
const READ_WITHIN: Duration = Duration::from_secs(5);
const ASK_WITHIN: Duration = Duration::from_secs(10);
/// Characters of git's messages that are told.
const SAID_MOST: usize = 2_000;

pub(crate) fn ask(root: &Path, request: &AskRemotesRequest) -> Outcome<AskRemotesReport> {
    let scratch = Scratch::new()?;
    let mut origins: Vec<BString> = Vec::new();
    for path in &request.paths {
        let directory = root.join(path_of(path.0.clone()));
        let origin = output(
            user::origin(&directory),
            READ_WITHIN,
            &scratch.path().join("origin"),
        )?;
        let origin = BString::from(origin.trim_end_with(|letter| letter == '\n'));
        if !origin.is_empty() && !origins.contains(&origin) && origins.len() < MOST {
            origins.push(origin);
        }
    }
    let ssh = output(user::ssh_command(), ASK_WITHIN, &scratch.path().join("ssh"))?;
    let ssh = BString::from(ssh.trim_ascii());
    let numbered: Vec<(usize, BString)> = origins.into_iter().enumerate().collect();
    let remotes = parallel::map(&numbered, |(number, url)| {
        asked(url, &ssh, &scratch.path().join(number.to_string()))
    })?;
    Ok(AskRemotesReport { remotes })
}

/// What a command writes, empty when it failed. Its output is a file: a process that stays behind delays nobody.
fn output(mut command: Command, within: Duration, file: &Path) -> Outcome<BString> {
    let out = File::create(file).context("it cannot be written", file)?;
    command.stdin(Stdio::null()).stdout(out).stderr(Stdio::null());
    let status = run_within(&mut command, within, || {})?;
    Ok(if status == 0 {
        slurp(file)
    } else {
        BString::default()
    })
}

fn asked(url: &BString, ssh: &BString, file: &Path) -> Outcome<Remote> {
    let err = File::create(file).context("it cannot be written", file)?;
    let mut command = user::branches_of(OsStr::from_bytes(url), OsStr::from_bytes(ssh));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(err);
    let exit_code = run_within(&mut command, ASK_WITHIN, || {})?;
    Ok(Remote {
        url: shown(&without_credentials(url)),
        exit_code,
        said: shown(&slurp(file)).chars().take(SAID_MOST).collect(),
    })
}

/// Credentials in an address stay in the sandbox.
fn without_credentials(url: &BString) -> BString {
    let Some((scheme, rest)) = url.split_once_str("://") else {
        return url.clone();
    };
    let host = rest.find_byte(b'/').map_or(rest, |at| &rest[..at]);
    match host.rfind_byte(b'@') {
        Some(at) => [scheme, b"://", &rest[at + 1..]].concat().into(),
        None => url.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_credentials_are_told() {
        for (url, expected) in [
            ("https://ada:secret@example.com/a@b", "https://example.com/a@b"),
            ("https://example.com/a@b", "https://example.com/a@b"),
            ("https://a@b@example.com", "https://example.com"),
            ("git@example.com:a/b", "git@example.com:a/b"),
            ("/srv/git", "/srv/git"),
        ] {
            assert_eq!(without_credentials(&BString::from(url)), expected);
        }
    }
}

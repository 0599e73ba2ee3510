//! The rules for ignored files that lie in no file of the tree: those of the host, of the user, of the session, and
//! ours. Git reads them from the shadow.

use crate::fs::kind::waits;
use crate::fs::text::slurp;
use crate::git::environment::home;
use crate::git::process::Git;
use crate::host::place::{Host, path_of};
use crate::host::waits::WAITS_WHY;
use crate::shadow::home::write_if_other;
use crate::shadow::open::Shadow;
use crate::shadow::patterns::pattern_for;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Git would wait for this file, so the repository is not looked at.
pub(crate) fn barred(file: impl std::fmt::Display) -> Failure {
    Failure::Obstacle(format!("{file} {WAITS_WHY}: remove it, then call again"))
}

/// Where rules come from, apart from the tree.
pub(crate) struct Sources<'sources> {
    pub(crate) host: Option<&'sources Host>,
    /// The settings of the host's repository.
    pub(crate) settings: &'sources BString,
    pub(crate) user: &'sources User,
    /// Patterns of the session.
    pub(crate) exclude: &'sources [BString],
    /// Directories of others below the top.
    pub(crate) others: &'sources [BString],
}

/// The user's own configuration of git. Read once in a call.
#[derive(Debug, Default)]
pub(crate) struct User {
    /// The text of all its files, in lower case.
    pub(crate) text: BString,
    global: PathBuf,
    /// Git's folder of the user.
    folder: PathBuf,
    waiting: Option<PathBuf>,
}

fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

pub(crate) fn read_user() -> User {
    let global = set("GIT_CONFIG_GLOBAL").unwrap_or_else(|| home().join(".gitconfig"));
    let folder = set("XDG_CONFIG_HOME")
        .unwrap_or_else(|| home().join(".config"))
        .join("git");
    let files = vec![
        global.clone(),
        folder.join("config"),
        PathBuf::from("/etc/gitconfig"),
    ];
    let waiting = crate::host::waits::in_settings(files.clone());
    let mut text = BString::default();
    for file in &files {
        text.extend_from_slice(&slurp(file).to_ascii_lowercase());
        text.push(b'\n');
    }
    User {
        text,
        global,
        folder,
        waiting,
    }
}

/// After the rules of the user and of the session come our own: this line, then the places of other repositories.
const OURS: &[u8] = b"/.agent-shadow/\n";

/// The rules of the user and of the session among those that were written. They begin with an empty line.
pub(crate) fn without_ours(written: &BStr) -> BString {
    let lines = [&b"\n"[..], written].concat();
    let ours = lines.rfind([&b"\n"[..], OURS].concat());
    lines[..ours.map_or(lines.len(), |at| at + 1)].into()
}

/// Writes the rules into the shadow. The answer is a hash of them.
pub(crate) fn write(shadow: &Shadow, from: &Sources<'_>) -> Outcome<Vec<u8>> {
    let mut rules = BString::default();
    if let Some(host) = from.host {
        rules.extend_from_slice(&slurp(&host.common.join("info/exclude")));
        rules.push(b'\n');
    }
    for pattern in from.exclude {
        rules.extend_from_slice(pattern);
        rules.push(b'\n');
    }
    rules.extend_from_slice(OURS);
    for other in from.others {
        rules.extend_from_slice(&pattern_for(other.as_bstr()));
        rules.extend_from_slice(b"/\n");
    }
    let mut of_user = of_user(shadow, from)?;
    of_user.push(b'\n');
    let write = |name: &str, text: &[u8]| {
        write_if_other(&shadow.file(name), text).context("rules cannot be written", shadow.file(name))
    };
    write("info/exclude", &rules)?;
    write("info/exclude-global", &of_user)?;
    let mut hash = Sha256::new();
    hash.update((rules.len() as u64).to_le_bytes());
    hash.update(&*rules);
    hash.update(&*of_user);
    Ok(hash.finalize().to_vec())
}

/// `core.excludesFile` as the user's own git would see it. Git is asked only when some settings mention it.
fn of_user(shadow: &Shadow, from: &Sources<'_>) -> Outcome<BString> {
    let user = from.user;
    if let Some(file) = &user.waiting {
        return Err(barred(file.display()));
    }
    let mentions = |text: &[u8]| text.contains_str("excludesfile") || text.contains_str("[include");
    let named = if mentions(&from.settings.to_ascii_lowercase()) || mentions(&user.text) {
        named_by_settings(shadow, from)?
    } else {
        None
    };
    let file = named.unwrap_or_else(|| user.folder.join("ignore"));
    if waits(&file) {
        return Err(barred(file.display()));
    }
    Ok(slurp(&file))
}

fn named_by_settings(shadow: &Shadow, from: &Sources<'_>) -> Outcome<Option<PathBuf>> {
    let user = from.user;
    let above = user.folder.parent().map(PathBuf::from).unwrap_or_default();
    let mut git = Git::new(&shadow.top).host_settings();
    if let Some(host) = from.host {
        git = git.repository(&host.git);
    }
    let answer = git
        .without(&["GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"])
        .env("HOME", home())
        .env("XDG_CONFIG_HOME", above)
        .env("GIT_CONFIG_GLOBAL", &user.global)
        .args(["config", "--path", "--get", "core.excludesFile"])
        .run()?;
    let line = answer
        .ok()
        .unwrap_or_default()
        .trim_end_with(|letter| letter == '\n');
    Ok((!line.is_empty()).then(|| shadow.top.join(path_of(BString::from(line)))))
}

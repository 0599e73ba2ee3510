//! A repository of the user where there is none: it is built beside its place, and renamed into it when it is whole.

use crate::apply::host::output;
use crate::git::id::Format;
use crate::git::process::Git;
use crate::host::place::Host;
use crate::meta::conversion::understood;
use crate::read::captured::{Entries, part};
use crate::scan::names::split;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, ByteSlice};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn on(git: &Path) -> Git {
    Git::on_host(git.parent().unwrap_or(git), git)
}

fn done(git: Git) -> Outcome<()> {
    output(git.run_to_its_end()?, "a repository cannot be made").map(drop)
}

fn set(git: &Path, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>, how: &[&str]) -> Outcome<()> {
    let config = git.join("config");
    done(
        on(git)
            .args(["config", "--file"])
            .arg(config)
            .args(how.iter().copied())
            .arg(name)
            .arg(value),
    )
}

/// Makes an empty one.
pub(crate) fn begin(git: &Path, format: Format, is_partial: bool) -> Outcome<Host> {
    // Git 3 has other defaults.
    let init = on(git)
        .env("GIT_DEFAULT_HASH", "sha1")
        .env("GIT_DEFAULT_REF_FORMAT", "files")
        .args(["init", "-q", "--bare", "--template="]);
    done(match format {
        Format::Sha1 => init,
        Format::Sha256 => init.arg("--object-format=sha256"),
    })?;
    set(git, "core.bare", "false", &[])?;
    set(git, "core.logAllRefUpdates", "true", &[])?;
    if is_partial {
        // Git fetches what a partial clone left out, as it did before.
        set(git, "core.repositoryformatversion", "1", &[])?;
        set(git, "extensions.partialClone", "origin", &[])?;
    }
    Ok(Host {
        git: git.to_owned(),
        common: git.to_owned(),
    })
}

/// Writes what it needs beside objects and refs: its boundary, its addresses, and how its files are converted.
pub(crate) fn furnish(git: &Path, shadow: &Shadow, parts: &Entries) -> Outcome<()> {
    let mut objects = shadow.batch();
    let shallow = part(&mut objects, parts, "shallow")?;
    if !shallow.is_empty() {
        let file = git.join("shallow");
        fs::write(&file, &shallow).context("it cannot be written", file)?;
    }
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let remotes = part(&mut objects, parts, "remotes")?;
    for (name, value) in entries(&remotes) {
        set(git, text(name), text(value.unwrap_or_default()), &["--add"])?;
    }
    let settings = part(&mut objects, parts, "settings")?;
    for (name, value) in entries(&settings) {
        if let Some(value) = understood(name, value) {
            set(git, text(name), value, &[])?;
        }
    }
    let attributes = part(&mut objects, parts, "attributes")?;
    if !attributes.is_empty() {
        let info = git.join("info");
        let written =
            fs::create_dir_all(&info).and_then(|()| fs::write(info.join("attributes"), &attributes));
        written.context("it cannot be written", info)?;
    }
    Ok(())
}

/// `NAME`, and after a line end its value.
fn entries(list: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    split(list).map(|entry: &BStr| match entry.split_once_str("\n") {
        Some((name, value)) => (name, Some(value)),
        None => (entry.as_bytes(), None),
    })
}

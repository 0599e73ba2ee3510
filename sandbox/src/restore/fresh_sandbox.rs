//! What a fresh sandbox holds when the repositories come into it.
//!
//! 1. What its template has in their places is put aside as a whole, in `replaced-SESSION`, and never removed.
//! 2. This happens once. A command that is delivered twice must not take what the first one wrote for files of the template.

use crate::fs::copy;
use crate::fs::handle::Handle;
use crate::fs::kind::{Kind, kind};
use crate::fs::removal;
use crate::fs::rename::rename_new;
use crate::host::place::path_of;
use crate::scan::discover::parents;
use crate::scan::unversioned::note_unversioned;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What lies beside the repositories is noted under this name, as for a checkpoint.
const NOTE: &str = ".came";

/// Makes room for repositories at these paths.
pub(super) fn arrive(projects: &Path, session: &str, roots: &[BString]) -> Outcome<()> {
    let home = projects.join(".agent-shadow");
    let mark = home.join(format!("taken-{session}")).join(".arrived");
    if kind(&mark) == Some(Kind::Directory) {
        return Ok(());
    }
    fs::create_dir_all(&mark).map_err(|_| {
        Failure::unavailable(format!(
            "Cannot write to {}. Free some disk space, then call again.",
            home.display()
        ))
    })?;
    let place = home.join(format!("replaced-{session}"));
    make_room(projects, &place, roots).map_err(|error| {
        Failure::unavailable(format!(
            "What the template of the sandbox holds below the projects root cannot be put aside ({error}). Check its permissions."
        ))
    })?;
    // A restore leaves everything where it is that nobody noted.
    let _ = note_unversioned(projects, session, NOTE, roots);
    Ok(())
}

fn make_room(projects: &Path, place: &Path, roots: &[BString]) -> io::Result<()> {
    let mut number = last_number(place)?;
    for path in roots {
        let path = path.as_bstr();
        let top = projects.join(path_of(path.to_owned()));
        if is_behind_link(projects, path) || kind(&top) != Some(Kind::Directory) {
            continue;
        }
        for entry in fs::read_dir(&top)? {
            let entry = entry?;
            if path == "." && entry.file_name() == ".agent-shadow" {
                continue;
            }
            number += 1;
            let aside = place.join(number.to_string());
            fs::create_dir_all(&aside)?;
            put_away(&entry.path(), &aside)?;
        }
    }
    Ok(())
}

/// What cannot be renamed is copied. What of it cannot be deleted is in the way of the repository then.
fn put_away(path: &Path, aside: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default();
    match rename_new(path, &aside.join(name)) {
        Err(Errno::XDEV) => {
            let above = Handle::top(path.parent().unwrap_or(path))?;
            let (place, name) = (Handle::top(aside)?, BStr::new(name.as_bytes()));
            copy::tree((&above, name), (&place, name))?;
            Ok(removal::remove(&above, name)?)
        }
        other => Ok(other?),
    }
}

fn is_behind_link(projects: &Path, path: &BStr) -> bool {
    let mut parts = parents(path).chain([path]);
    parts.any(|part| kind(&projects.join(path_of(part.to_owned()))) == Some(Kind::Link))
}

fn last_number(place: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let mut last = 0;
    for entry in entries {
        let name = entry?.file_name();
        last = last.max(name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0));
    }
    Ok(last)
}

#[cfg(test)]
#[path = "fresh_sandbox_tests.rs"]
mod tests;

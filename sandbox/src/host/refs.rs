//! Branches as their files say them. Where anything is unusual the answer is nothing, and git decides.

use crate::fs::kind::{Kind, kind};
use crate::git::id::{Format, Id};
use crate::host::head::{Branches, Target};
use crate::host::place::{Host, path_of};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// In a larger file of packed refs git finds branches sooner.
const PACKED_MOST: u64 = 1024 * 1024;

type Refs = BTreeMap<BString, String>;

/// Every branch, and every mark of a bisect, when all of them are plain ids in plain files.
pub(crate) fn branches_in_files(host: &Host, format: Format) -> Option<Branches> {
    let refs = host.common.join("refs");
    let are_plain = kind(&host.common.join("reftable")).is_none()
        && kind(&refs) == Some(Kind::Directory)
        && kind(&refs.join("heads")) == Some(Kind::Directory);
    if !are_plain {
        return None;
    }
    let mut found = Refs::new();
    packed(&host.common.join("packed-refs"), format, &mut found)?;
    loose(&host.common, BStr::new("refs/heads"), format, &mut found)?;
    // Each worktree has marks of its own.
    match kind(&host.git.join("refs/bisect")) {
        Some(Kind::Directory) => loose(&host.git, BStr::new("refs/bisect"), format, &mut found)?,
        None => {}
        Some(Kind::File | Kind::Link | Kind::Socket | Kind::Waits) => return None,
    }
    let is_above_another = |name: &BString| {
        let below = BString::from([name.as_slice(), b"/"].concat());
        found
            .range(below.clone()..)
            .next()
            .is_some_and(|(next, _)| next.starts_with(&below))
    };
    if found.keys().any(is_above_another) {
        return None;
    }
    Some(Branches {
        refs: found
            .into_iter()
            .map(|(name, commit)| (name, Target::Commit(commit)))
            .collect(),
        broken: Vec::new(),
        are_plain: true,
    })
}

/// An id that a ref may hold.
fn plain_id(text: &[u8], format: Format) -> Option<String> {
    let id = Id::from_hex(text).filter(|id| id.as_bytes().len() == format.width())?;
    id.as_bytes()
        .iter()
        .any(|byte| *byte != 0)
        .then(|| id.to_string())
}

fn packed(file: &Path, format: Format, found: &mut Refs) -> Option<()> {
    match kind(file) {
        None => return Some(()),
        Some(Kind::File) => {}
        Some(Kind::Directory | Kind::Link | Kind::Socket | Kind::Waits) => return None,
    }
    if fs::metadata(file).ok()?.len() > PACKED_MOST {
        return None;
    }
    let text = fs::read(file).ok()?;
    if !text.is_empty() && !text.ends_with(b"\n") {
        return None;
    }
    for line in text
        .lines()
        .filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"))
    {
        let (id, name) = line.split_once_str(" ")?;
        if name.starts_with(b"refs/bisect/") {
            return None;
        }
        if name.starts_with(b"refs/heads/") {
            if !is_plain_branch(name.as_bstr()) {
                return None;
            }
            found.insert(name.into(), plain_id(id, format)?);
        }
    }
    Some(())
}

/// Adds the refs in a directory, whose files count more than packed ones.
fn loose(top: &Path, name: &BStr, format: Format, found: &mut Refs) -> Option<()> {
    for entry in fs::read_dir(top.join(path_of(name.to_owned()))).ok()? {
        let entry = entry.ok()?;
        let part = entry.file_name();
        if !is_plain_part(part.as_bytes()) {
            return None;
        }
        let inner = BString::from([name.as_bytes(), b"/", part.as_bytes()].concat());
        match Kind::of(entry.file_type().ok()?) {
            Kind::Directory => loose(top, inner.as_bstr(), format, found)?,
            Kind::File => {
                let text = fs::read(entry.path()).ok()?;
                found.insert(inner, plain_id(text.strip_suffix(b"\n")?, format)?);
            }
            Kind::Link | Kind::Socket | Kind::Waits => return None,
        }
    }
    Some(())
}

/// Whether this is a branch whose name git takes, as far as that is certain.
pub(crate) fn is_plain_branch(name: &BStr) -> bool {
    name.strip_prefix(b"refs/heads/")
        .is_some_and(|rest| rest.split_str("/").all(is_plain_part))
}

fn is_plain_part(part: &[u8]) -> bool {
    !part.is_empty()
        && !part.starts_with(b".")
        && !part.ends_with(b".")
        && !part.ends_with(b".lock")
        && !part.contains_str("..")
        && !part.contains(&b'@')
        && !part
            .iter()
            .any(|byte| *byte <= b' ' || *byte == 0x7f || b"~^:?*[\\".contains(byte))
}

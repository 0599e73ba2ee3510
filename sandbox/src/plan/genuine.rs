//! Whether what a capture names can be of a repository. Its objects come from a sandbox that nobody trusts, and may have been
//! made by hand: no name in them may lead out of the repository, into its git directory, or into our folder.

use crate::plan::above;
use crate::plan::files::Difference;
use crate::scan::names::is_below;
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;

/// Of these the files of an operation in progress have the names, or lie in one.
pub(crate) struct Operation<'names> {
    pub(crate) files: &'names [&'names str],
    pub(crate) directories: &'names [&'names str],
}

impl Operation<'_> {
    fn has(&self, name: &BStr) -> bool {
        let first = name.split_str("/").next().unwrap_or_default();
        let is = |known: &&str| first == known.as_bytes();
        is_below(name)
            && (self.files.iter().any(|known| name == *known)
                || (first.len() < name.len() && self.directories.iter().any(is)))
    }

    /// The first file that is of no operation.
    pub(crate) fn odd<'list>(&self, mut names: impl Iterator<Item = &'list BStr>) -> Option<&'list BStr> {
        names.find(|name| !self.has(name))
    }
}

/// Whether this is the path of a file that a capture can hold. Git keeps no `.git`, in any case of its letters.
fn is_captured(path: &BStr) -> bool {
    is_below(path)
        && !path.split_str("/").any(|part| part.eq_ignore_ascii_case(b".git"))
        && path.split_str("/").next() != Some(b".agent-shadow")
}

/// The first path that no capture holds, or that is both a file and a directory. `differences` are those of two trees.
pub(crate) fn odd_file(differences: &[Difference]) -> Option<&BStr> {
    let come = || {
        differences
            .iter()
            .filter(|one| one.to.is_some())
            .map(|one| one.path.as_bstr())
    };
    if let Some(odd) = come().find(|path| !is_captured(path)) {
        return Some(odd);
    }
    let mut files: HashSet<&BStr> = HashSet::with_capacity(differences.len());
    if let Some(twice) = come().find(|path| !files.insert(path)) {
        return Some(twice);
    }
    let mut seen: &BStr = BStr::new("");
    come().find(|path| {
        let directory = path
            .rfind_byte(b'/')
            .map_or(BStr::new(""), |at| path[..at].as_bstr());
        if directory == seen {
            return false;
        }
        seen = directory;
        above(path).any(|up| files.contains(up))
    })
}

/// The first path of a list, of modes or empty directories, that lies outside or in what no look enters.
pub(crate) fn odd_listed<'list>(mut paths: impl Iterator<Item = &'list BString>) -> Option<&'list BString> {
    paths.find(|path| {
        !is_below(path.as_bstr())
            || path.split_str("/").any(|part| part == b".git")
            || path.split_str("/").next() == Some(b".agent-shadow")
    })
}

/// The first path of a list that is only compared with others.
pub(crate) fn odd_compared<'list>(mut paths: impl Iterator<Item = &'list BString>) -> Option<&'list BString> {
    paths.find(|path| !is_below(path.as_bstr()))
}

/// Whether git takes a name for that of a ref.
pub(crate) fn is_ref(name: &BStr) -> bool {
    let is_part = |part: &[u8]| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock");
    let is_letter = |byte: &u8| *byte > b' ' && *byte != 0x7f && !b"~^:?*[\\".contains(byte);
    name.starts_with(b"refs/")
        && name.split_str("/").all(is_part)
        && name.iter().all(is_letter)
        && !name.contains_str("..")
        && !name.contains_str("@{")
        && !name.ends_with(b".")
}

/// Whether a capture holds refs of this name.
pub(crate) fn is_branch(name: &BStr) -> bool {
    is_ref(name) && (name.starts_with(b"refs/heads/") || name.starts_with(b"refs/bisect/"))
}

/// Whether a setting with this name travels as one of a remote.
pub(crate) fn is_of_remote(name: &BStr) -> bool {
    let of = |section: &str, keys: &[&str]| {
        let rest = name.strip_prefix(section.as_bytes());
        let key = rest
            .and_then(|rest| rest.rsplit_once_str("."))
            .map(|(_, key)| key);
        key.is_some_and(|key| keys.iter().any(|known| key == known.as_bytes()))
    };
    of(
        "remote.",
        &["url", "pushurl", "fetch", "promisor", "partialclonefilter"],
    ) || of("branch.", &["remote", "merge"])
}

#[cfg(test)]
#[path = "genuine_tests.rs"]
mod tests;

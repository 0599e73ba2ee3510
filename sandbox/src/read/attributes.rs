//! The attributes of a captured tree, for a comparison that must not read those of the working tree.

use crate::git::process::Git;
use crate::wire::error::{Failure, Outcome};
use bstr::ByteSlice;
use std::path::Path;

const NAME: &[u8] = b".gitattributes";

/// Writes an index with nothing but the attribute files of `tree`. Git before 2.41 cannot be told to read attributes from a
/// tree; it reads those of the index that `GIT_INDEX_FILE` names.
///
/// Does nothing when the tree cannot be read: the comparison says so.
pub(crate) fn write_index(directory: &Path, shadow: &Path, tree: &str, index: &Path) -> Outcome<()> {
    let listed = Git::on_shadow(directory, shadow)
        .args(["ls-tree", "-r", "-z", "--full-tree", tree])
        .run()?;
    let Some(entries) = listed.ok() else {
        return Ok(());
    };
    let input: Vec<u8> = entries
        .split_str("\0")
        .filter(|entry| is_attributes(entry))
        .flat_map(|entry| [entry, b"\0"].concat())
        .collect();
    if input.is_empty() {
        return Ok(());
    }
    let written = Git::on_shadow(directory, shadow)
        .env("GIT_INDEX_FILE", index)
        .host_settings()
        .args(["update-index", "-z", "--add", "--index-info"])
        .input(input)
        .run()?;
    if written.ok().is_some() {
        return Ok(());
    }
    Err(Failure::Fault(format!(
        "git update-index ended with {}: {}",
        written.status,
        written.said()
    )))
}

/// Whether `MODE TYPE ID<TAB>PATH` is a file of attributes. Git follows no link there.
fn is_attributes(entry: &[u8]) -> bool {
    let Some((head, path)) = entry.split_once_str("\t") else {
        return false;
    };
    head.starts_with(b"100") && path.rsplit_str("/").next() == Some(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_that_name_count() {
        for (entry, expected) in [
            ("100644 blob 1\t.gitattributes", true),
            ("100755 blob 1\ta/b/.gitattributes", true),
            ("120000 blob 1\t.gitattributes", false),
            ("100644 blob 1\ta.gitattributes", false),
            ("100644 blob 1\t.gitattributes/a", false),
        ] {
            assert_eq!(is_attributes(entry.as_bytes()), expected, "{entry}");
        }
    }
}

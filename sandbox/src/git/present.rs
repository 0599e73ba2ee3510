//! Which objects a git directory has, those of its alternates included. One process of git answers for all.

use crate::git::id::Id;
use crate::git::process::Git;
use crate::wire::error::{Failure, Outcome};
use bstr::ByteSlice;
use std::collections::HashSet;
use std::path::Path;

/// Those of the objects that are there.
pub(crate) fn present(shadow: &Path, ids: impl IntoIterator<Item = Id>) -> Outcome<HashSet<Id>> {
    let input: Vec<u8> = ids
        .into_iter()
        .flat_map(|id| format!("{id}\n").into_bytes())
        .collect();
    if input.is_empty() {
        return Ok(HashSet::new());
    }
    let answer = Git::on_shadow(shadow, shadow)
        .args([
            "cat-file",
            "--batch-check=%(objectname) %(objecttype)",
            "--buffer",
        ])
        .input(input)
        .run_to_its_end()?;
    let Some(lines) = answer.ok() else {
        return Err(Failure::Fault(format!(
            "git could not look for objects: {}",
            answer.said()
        )));
    };
    let there = lines.lines().filter(|line| !line.ends_with(b" missing"));
    Ok(there
        .filter_map(|line| Id::from_hex(line.split_str(" ").next()?))
        .collect())
}

//! Files that got marks of conflicts which nobody resolved.

use crate::capture::tree::TreeMode;
use crate::git::id::Id;
use crate::merge::conflicts::Conflict;
use crate::merge::edit::Entry;
use crate::merge::objects::Objects;
use crate::merge::trouble::{Done, Trouble};
use crate::scan::names::split;
use crate::shadow::scratch::Scratch;
use bstr::BStr;

/// A NUL among the first bytes makes a file binary for git.
const FIRST_BYTES: usize = 8000;

/// A text with all three lines of a conflict.
fn has_marks(content: &[u8]) -> bool {
    if content[..content.len().min(FIRST_BYTES)].contains(&0) {
        return false;
    }
    let any = |letter: u8, is_end: fn(&[u8]) -> bool| {
        let mark = [letter; 7];
        content
            .split(|byte| *byte == b'\n')
            .any(|line| line.strip_prefix(&mark).is_some_and(is_end))
    };
    let begins_with_space = |rest: &[u8]| rest.first().is_none_or(|byte| is_space(*byte));
    let is_space_alone = |rest: &[u8]| matches!(rest, []) || matches!(rest, [byte] if is_space(*byte));
    any(b'<', begins_with_space) && any(b'=', is_space_alone) && any(b'>', begins_with_space)
}

/// As the C library's `isspace`.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Files of `theirs` that have marks of conflicts which `base` does not have.
pub(crate) fn left(scratch: &Scratch, objects: &mut Objects, base: &Id, theirs: &Id) -> Done<Vec<Conflict>> {
    let answer = scratch
        .git()
        .args(["diff-tree", "-r", "-z", "--name-only", "--no-renames"])
        .args(["--diff-filter=AMT", "-G^(<<<<<<<|>>>>>>>)"])
        .args([base.to_string(), theirs.to_string()])
        .run_to_its_end()?;
    let list = answer.ok().ok_or_else(|| Trouble::of(&answer))?;
    let mut conflicts = Vec::new();
    for path in split(list) {
        if marked(objects, theirs, path)? && !marked(objects, base, path)? {
            conflicts.push(Conflict::new(
                path,
                "markers",
                "it has conflict markers that nobody resolved",
            ));
        }
    }
    Ok(conflicts)
}

fn marked(objects: &mut Objects, tree: &Id, path: &BStr) -> Done<bool> {
    match objects.at(tree, path)? {
        Some(Entry {
            mode: TreeMode::File | TreeMode::Executable,
            id,
        }) => Ok(has_marks(&objects.blob(&id)?)),
        Some(_) | None => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_three_lines_are_marks() {
        assert!(has_marks(b"a\n<<<<<<< now\nb\n=======\nc\n>>>>>>> change\n"));
        assert!(has_marks(b"<<<<<<<\n=======\r\n>>>>>>>"));
        assert!(!has_marks(b"<<<<<<< now\n=======\n"));
        assert!(!has_marks(b"<<<<<<< now\n========\n>>>>>>> change\n"));
        assert!(!has_marks(b" <<<<<<< now\n=======\n>>>>>>> change\n"));
        assert!(!has_marks(b"<<<<<<<now\n=======\n>>>>>>> change\n"));
        assert!(!has_marks(b"\0<<<<<<< now\n=======\n>>>>>>> change\n"));
    }
}

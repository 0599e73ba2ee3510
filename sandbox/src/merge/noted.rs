//! Notes for a composed state what lies in no repository, as a capture does (`scan/unversioned.rs`). Such files are noted as they
//! are now; in the directories of repositories that go, as they were without the repository.

use crate::scan::names::split;
use crate::wire::compose::ComposeRequest;
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::io;
use std::path::Path;

/// The end of a list of names. A list without it says only that the names are not known.
const END: &[u8] = b"e";

/// The notes about the content of a directory. When the names are not known, the directory was not looked into, so that its
/// files stay.
fn entries_below(list: &[u8], path: &BStr) -> Vec<BString> {
    let entries: Vec<&BStr> = split(list).collect();
    let unseen = || BString::from([b"o./", path.as_bytes()].concat());
    if entries.last().is_none_or(|last| *last != END) {
        return vec![unseen()];
    }
    let below = [b"./", path.as_bytes(), b"/"].concat();
    let mut all = Vec::new();
    for entry in entries {
        let is_around = entry.strip_prefix(b"o./").is_some_and(|above| {
            let rest = path.strip_prefix(above);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        });
        if is_around {
            all.push(unseen());
        }
        if entry.get(1..).is_some_and(|name| name.starts_with(&below)) {
            all.push(entry.to_owned());
        }
    }
    all
}

/// Writes the notes of this composition. What the other side of a merge has in such a directory is not known here, and no
/// capture holds it. So all captured files go with the repository.
pub(crate) fn note(projects: &Path, request: &ComposeRequest) -> io::Result<()> {
    let home = projects.join(".agent-shadow");
    let notes = home.join(format!("taken-{}", request.session_id));
    let now = match fs::read(notes.join(&request.now_tag)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let mut entries: Vec<BString> = split(&now).map(BString::from).collect();
    // Without a complete note about now, nothing is known.
    if entries.pop().is_none_or(|last| last != END) {
        return Ok(());
    }
    for gone in &request.gone {
        let Some(tag) = &gone.tag else { continue };
        let list = fs::read(notes.join(tag))
            .or_else(|_| fs::read(notes.join(".came")))
            .unwrap_or_default();
        entries.extend(entries_below(&list, gone.path.0.as_bstr()));
    }
    entries.push(END.into());
    let text: Vec<u8> = entries
        .iter()
        .flat_map(|entry| [&entry[..], b"\0"].concat())
        .collect();
    let part = home.join(format!("unversioned-{}.part", request.session_id));
    fs::write(&part, text)?;
    fs::rename(part, notes.join(&request.tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(list: &[&str], path: &'static str) -> Vec<String> {
        let list: String = list.iter().map(|entry| format!("{entry}\0")).collect();
        let entries = entries_below(list.as_bytes(), BStr::new(path));
        entries.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_in_a_directory_is_noted() {
        let list = ["d.", "d./a", "f./a/x", "o./a/in", "f./ab/y", "e"];
        assert_eq!(below(&list, "a"), ["f./a/x", "o./a/in"]);
        assert_eq!(below(&list, "b"), [""; 0]);
    }

    #[test]
    fn what_was_not_looked_into_is_not_known() {
        assert_eq!(below(&["d.", "f./a/x"], "a"), ["o./a"]);
        assert_eq!(below(&[], "a"), ["o./a"]);
        assert_eq!(below(&["o./up", "e"], "up/a"), ["o./up/a"]);
        assert_eq!(below(&["o./a", "e"], "a"), ["o./a"]);
    }
}

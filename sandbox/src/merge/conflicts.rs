//! What git says of a merge: the tree, and for each path in conflict its stages and messages. Pure.

use crate::git::id::Id;
use crate::wire::compose::ConflictReport;
use crate::wire::name::{Name, shown};
use bstr::{BString, ByteSlice};
use std::collections::HashMap;

/// A path that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) path: BString,
    /// As the caller names it, or an unknown word of another git, which the caller refuses.
    pub(crate) kind: String,
    pub(crate) message: BString,
}

impl Conflict {
    pub(crate) fn new(path: impl Into<BString>, kind: &str, message: impl Into<BString>) -> Self {
        Conflict {
            path: path.into(),
            kind: kind.into(),
            message: message.into(),
        }
    }
}

impl From<Conflict> for ConflictReport {
    fn from(conflict: Conflict) -> Self {
        ConflictReport {
            path: Name(conflict.path),
            kind: conflict.kind,
            message: shown(&conflict.message),
        }
    }
}

/// What one path has in the answer.
#[derive(Debug, Default)]
struct Told {
    stages: Vec<u8>,
    modes: Vec<Vec<u8>>,
    types: Vec<u8>,
    text: Option<BString>,
}

/// All paths, in the order in which git names them.
#[derive(Debug, Default)]
struct Gathered {
    order: Vec<BString>,
    told: HashMap<BString, Told>,
}

impl Gathered {
    fn of(&mut self, path: &[u8]) -> &mut Told {
        if !self.told.contains_key(path.as_bstr()) {
            self.order.push(path.into());
        }
        self.told.entry(path.into()).or_default()
    }
}

/// The tree that git merged. Nothing: it did not say one.
pub(crate) fn merged_tree(output: &[u8]) -> Option<Id> {
    Id::from_hex(output.split_str("\0").next()?)
}

/// The conflicts in the answer of a merge that had some: `TREE`, then `MODE ID STAGE<TAB>PATH` for each, an empty field, and
/// messages as a count, so many paths, the type and the text. Nothing: git could not merge, or says it in another form.
pub(crate) fn read_conflicts(output: &[u8]) -> Option<Vec<Conflict>> {
    let mut fields = output
        .strip_suffix(b"\0")
        .unwrap_or(output)
        .split_str("\0")
        .skip(1);
    let mut gathered = Gathered::default();
    for field in fields.by_ref().take_while(|field| !field.is_empty()) {
        let (head, path) = field.split_once_str("\t")?;
        let mut words = head.split_str(" ");
        let (mode, _, stage) = (words.next()?, words.next()?, words.next()?);
        let one = gathered.of(path);
        one.modes.push(mode.to_vec());
        one.stages.extend_from_slice(stage);
    }
    while let Some(count) = fields.next() {
        let count: usize = count.to_str().ok()?.parse().ok().filter(|count| *count > 0)?;
        let paths: Vec<&[u8]> = fields.by_ref().take(count).collect();
        let (kind, text) = (fields.next()?, fields.next()?);
        if kind.starts_with(b"ERROR") {
            return None;
        }
        if !kind.starts_with(b"CONFLICT") {
            continue;
        }
        let one = gathered.of(paths.first()?);
        one.types.extend_from_slice(kind);
        one.text = Some(text.strip_suffix(b"\n").unwrap_or(text).into());
    }
    let Gathered { order, mut told } = gathered;
    let conflicts: Vec<Conflict> = order
        .into_iter()
        .filter_map(|path| {
            let one = told.remove(&path)?;
            Some(Conflict {
                kind: kind_of(&one),
                path,
                message: one
                    .text
                    .filter(|text| !text.is_empty())
                    .unwrap_or_else(|| "both sides changed it".into()),
            })
        })
        .collect();
    (!conflicts.is_empty()).then_some(conflicts)
}

fn kind_of(told: &Told) -> String {
    let says = |words: &str| told.types.contains_str(words);
    let kind = if says("rename") || says("location") {
        "rename"
    } else if says("file/directory") {
        "file/directory"
    } else if told.modes.iter().any(|mode| mode == b"120000") {
        "symlink"
    } else if says("modes") {
        "mode"
    } else if says("binary") {
        "binary"
    } else if says("delete") || (told.types.is_empty() && matches!(&told.stages[..], b"12" | b"13")) {
        "modify/delete"
    } else if !told.types.is_empty() && !says("contents") {
        return told.types.to_str_lossy().into_owned();
    } else {
        "content"
    };
    kind.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

    fn kinds(fields: &[&str]) -> Vec<(String, String)> {
        let text = [&[TREE], fields].concat().join("\0") + "\0";
        assert_eq!(
            merged_tree(text.as_bytes()).map(|id| id.to_string()),
            Some(TREE.into())
        );
        let conflicts = read_conflicts(text.as_bytes()).expect("it is an answer of git");
        conflicts
            .into_iter()
            .map(|one| (one.path.to_string(), one.kind))
            .collect()
    }

    #[test]
    fn each_path_has_one_conflict_with_its_last_message() {
        let fields = [
            "100644 aa 1\ta",
            "100644 bb 2\ta",
            "100644 cc 3\ta",
            "120000 aa 2\tl",
            "120000 bb 3\tl",
            "",
            "1",
            "a",
            "Auto-merging",
            "Auto-merging a\n",
            "1",
            "a",
            "CONFLICT (contents)",
            "CONFLICT (content): Merge conflict in a\n",
            "2",
            "old",
            "new",
            "CONFLICT (rename/delete)",
            "CONFLICT (rename/delete): old\n",
        ];
        let expected = [("a", "content"), ("l", "symlink"), ("old", "rename")];
        assert_eq!(
            kinds(&fields),
            expected.map(|(path, kind)| (path.to_owned(), kind.to_owned()))
        );
    }

    #[test]
    fn a_path_without_messages_is_told_by_its_stages() {
        let fields = [
            "100644 aa 1\td",
            "100644 bb 3\td",
            "100644 aa 2\tb",
            "100644 bb 3\tb",
            "",
        ];
        let expected = [("d", "modify/delete"), ("b", "content")];
        assert_eq!(
            kinds(&fields),
            expected.map(|(path, kind)| (path.to_owned(), kind.to_owned()))
        );
    }

    #[test]
    fn each_word_of_git_is_a_kind_and_an_unknown_one_is_passed_on() {
        let cases: [(&str, &[&str], &str, &str); 14] = [
            ("CONFLICT (contents)", &["100644"; 3], "123", "content"),
            ("", &["100644"; 3], "123", "content"),
            ("CONFLICT (binary)", &["100644"; 3], "123", "binary"),
            ("CONFLICT (modify/delete)", &["100644"; 2], "12", "modify/delete"),
            ("", &["100644"; 2], "13", "modify/delete"),
            ("CONFLICT (contents)", &["120000", "100644"], "23", "symlink"),
            ("CONFLICT (distinct modes)", &["100644"; 2], "23", "mode"),
            ("CONFLICT (file/directory)", &["100644"], "2", "file/directory"),
            ("CONFLICT (rename/delete)", &["100644"; 2], "12", "rename"),
            (
                "CONFLICT (rename involved in collision)CONFLICT (contents)",
                &["100644"; 2],
                "23",
                "rename",
            ),
            (
                "CONFLICT (directory rename suggested)",
                &["100644"],
                "3",
                "rename",
            ),
            (
                "CONFLICT (file in way of directory rename)",
                &["100644"],
                "3",
                "rename",
            ),
            // No state of ours has a submodule.
            (
                "CONFLICT (submodule)",
                &["160000"; 2],
                "23",
                "CONFLICT (submodule)",
            ),
            (
                "CONFLICT (of a kind to come)",
                &["100644"; 2],
                "23",
                "CONFLICT (of a kind to come)",
            ),
        ];
        for (types, modes, stages, expected) in cases {
            let told = Told {
                stages: stages.into(),
                modes: modes.iter().map(|mode| mode.as_bytes().to_vec()).collect(),
                types: types.into(),
                text: None,
            };
            assert_eq!(kind_of(&told), expected, "{types} {stages}");
        }
    }

    #[test]
    fn an_error_of_git_is_no_answer() {
        let text = format!("{TREE}\0100644 aa 2\ta\0\01\0a\0ERROR (submodule)\0x\n\0");
        assert_eq!(read_conflicts(text.as_bytes()), None);
        assert_eq!(read_conflicts(format!("{TREE}\0").as_bytes()), None);
    }
}

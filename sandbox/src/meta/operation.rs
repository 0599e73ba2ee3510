//! An operation in progress: a merge, a rebase, a pick, a revert, a bisect. Its files become one tree, and the commits
//! that it names are tips of the host state, because no branch may hold them.

use crate::capture::tree::TreeMode;
use crate::fs::kind::{Kind, kind, kind_behind};
use crate::git::id::{Id, ObjectKind, id_of};
use crate::git::process::Git;
use crate::git::store::ObjectStore;
use crate::host::head::is_in_reftable;
use crate::host::place::{Host, path_of};
use crate::host::reading::{HeadKind, HostReading};
use crate::host::waits::{STATE_DIRECTORIES, STATE_FILES};
use crate::meta::leaves::{Leaf, trees};
use crate::scan::ignored::Said;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Those of the files that are refs in a repository with reftable. `AUTO_MERGE` would be one too, but it names a tree
/// that is in no capture, and only `git diff AUTO_MERGE` asks for it.
pub(crate) const STATE_REFS: [&str; 6] = [
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "BISECT_EXPECTED_REV",
];
/// A list of commits to pick may be long, but git needs only its start to go on.
const TIPS_MOST: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Operation {
    pub(crate) tree: Option<Id>,
    /// Ids, some of them short, of what it names. Not all of them are commits.
    pub(crate) tips: Vec<String>,
    pub(crate) failures: Vec<Said>,
}

/// Reads the operation in progress and stores what it is made of.
pub(crate) fn read(
    reading: &HostReading,
    host: &Host,
    shadow: &Shadow,
    store: &ObjectStore,
) -> Outcome<Operation> {
    let mut operation = Operation::default();
    let mut files: BTreeMap<BString, Vec<u8>> = BTreeMap::new();
    let in_reftable = is_in_reftable(host);
    for name in names(host) {
        let is_ref = in_reftable && STATE_REFS.contains(&name);
        if !is_ref && kind_behind(&host.git.join(name)) == Some(Kind::File) {
            operation.take(host, BString::from(name), &mut files);
        }
    }
    for name in STATE_DIRECTORIES {
        below(host, BString::from(name), &mut operation, &mut files);
    }
    let named: BTreeSet<String> = files.values().flat_map(|content| ids_in(content)).collect();
    operation.tips.extend(named.into_iter().take(TIPS_MOST));
    if in_reftable {
        for (name, id) in refs(reading, host, shadow)? {
            files.insert(BString::from(name), format!("{id}\n").into_bytes());
            operation.tips.push(id);
        }
    }
    if !files.is_empty() {
        operation.store(&files, store)?;
    }
    Ok(operation)
}

/// Which of the files may be there. All of them are looked for when the directory cannot be read.
fn names(host: &Host) -> Vec<&'static str> {
    let Ok(entries) = fs::read_dir(&host.git) else {
        return STATE_FILES.to_vec();
    };
    let there: BTreeSet<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let is_there = |name: &&str| there.contains(std::ffi::OsStr::new(*name));
    STATE_FILES.into_iter().filter(is_there).collect()
}

/// Every file below a directory. Links are not followed.
fn below(host: &Host, name: BString, operation: &mut Operation, files: &mut BTreeMap<BString, Vec<u8>>) {
    let path = host.git.join(path_of(name.clone()));
    if kind(&path) != Some(Kind::Directory) {
        return;
    }
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) => return operation.lose(name.as_bstr(), &error),
    };
    for entry in entries.flatten() {
        let inner = BString::from([&name[..], b"/", entry.file_name().as_bytes()].concat());
        match entry.file_type().map(Kind::of) {
            Ok(Kind::Directory) => below(host, inner, operation, files),
            Ok(Kind::File) => operation.take(host, inner, files),
            Ok(Kind::Link | Kind::Socket | Kind::Waits) | Err(_) => {}
        }
    }
}

impl Operation {
    fn take(&mut self, host: &Host, name: BString, files: &mut BTreeMap<BString, Vec<u8>>) {
        match fs::read(host.git.join(path_of(name.clone()))) {
            Ok(content) => {
                files.insert(name, content);
            }
            // The operation ended meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => self.lose(name.as_bstr(), &error),
        }
    }

    fn lose(&mut self, name: &BStr, error: &std::io::Error) {
        self.failures.push(Said {
            path: BString::from([b".git/", name.as_bytes()].concat()),
            reason: format!("it cannot be read, so it is not captured: {error}"),
        });
    }

    fn store(&mut self, files: &BTreeMap<BString, Vec<u8>>, store: &ObjectStore) -> Outcome<()> {
        let mut leaves = Vec::with_capacity(files.len());
        for (name, content) in files {
            let id = stage(store, ObjectKind::Blob, content)?;
            leaves.push(Leaf {
                path: name.as_bstr(),
                mode: TreeMode::File,
                id,
            });
        }
        let Some(made) = trees(store.format, &leaves) else {
            self.failures.push(Said {
                path: BString::from(".git"),
                reason: "git keeps nothing of a name in the operation in progress, so it is not captured"
                    .into(),
            });
            return Ok(());
        };
        for (id, content) in made.trees {
            store.stage(ObjectKind::Tree, id, &content)?;
        }
        self.tree = Some(made.top);
        Ok(())
    }
}

/// Stores an object.
pub(crate) fn stage(store: &ObjectStore, kind: ObjectKind, content: &[u8]) -> Outcome<Id> {
    let id = id_of(store.format, kind, content).map_err(|attack| Failure::Fault(attack.to_string()))?;
    store.stage(kind, id, content)?;
    Ok(id)
}

/// The refs that are files elsewhere, with their commits. A ref whose commit is gone could not be put back.
fn refs(reading: &HostReading, host: &Host, shadow: &Shadow) -> Outcome<Vec<(String, String)>> {
    let listed = Git::on_host(&shadow.top, &host.git)
        .args([
            "for-each-ref",
            "--include-root-refs",
            "--format=%(objectname) %(refname)",
        ])
        .args(STATE_REFS)
        .run_to_its_end()?;
    let Some(lines) = listed.ok() else {
        return if reading.kind == HeadKind::Unreadable {
            Ok(Vec::new())
        } else {
            Err(Failure::Fault(format!(
                "the refs of an operation in progress cannot be read: {}",
                listed.said()
            )))
        };
    };
    let typed = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["cat-file", "--batch-check=%(objecttype) %(objectname) %(rest)"])
        .input(lines)
        .run_to_its_end()?;
    let Some(typed) = typed.ok() else {
        return Err(Failure::Fault(format!(
            "git could not look for commits of an operation in progress: {}",
            typed.said()
        )));
    };
    let commits = typed.lines().filter_map(|line| {
        let (id, name) = line.strip_prefix(b"commit ")?.split_once_str(" ")?;
        Some((name.to_str_lossy().into_owned(), id.to_str_lossy().into_owned()))
    });
    Ok(commits.collect())
}

/// Ids in the text of a file: whole ones anywhere, and short ones behind a command at the start of a line, as lists of
/// commits to pick have them.
fn ids_in(content: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    // A list that git keeps in another form names no commits.
    if content.contains(&0) {
        return found;
    }
    let is_hex = |word: &[u8]| word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    for line in content.lines() {
        let mut rest = line;
        let letters = line.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if letters > 0
            && let Some(after) = line[letters..].strip_prefix(b" ")
        {
            let length = word_length(after);
            if (4..40).contains(&length) && is_hex(&after[..length]) {
                found.push(after[..length].to_str_lossy().into_owned());
                rest = &after[length..];
            }
        }
        while !rest.is_empty() {
            let length = word_length(rest);
            if (40..=64).contains(&length) && is_hex(&rest[..length]) {
                found.push(rest[..length].to_str_lossy().into_owned());
            }
            rest = &rest[length.max(1)..];
        }
    }
    found
}

fn word_length(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_and_short_ones_follow_a_command() {
        let whole = "0123456789".repeat(4);
        let text =
            format!("pick abcd12 {whole} x\nlabel onto\n x1{whole} {whole}0g\npick {whole}\nexec cafe\n");
        assert_eq!(ids_in(text.as_bytes()), ["abcd12", &whole, &whole, "cafe"]);
        assert_eq!(ids_in(format!("{whole}\tpath\0").as_bytes()), [""; 0]);
    }
}

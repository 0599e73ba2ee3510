//! An operation in progress: a merge, a rebase, a pick, a revert, a bisect. Its files become one tree, and the commits
//! that it names are tips of the host state, because no branch may hold them.

use crate::capture::tree::TreeMode;
use crate::fs::kind::{Kind, kind, kind_behind};
use crate::fs::text::{Bounded, read_bounded};
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

/// Reads the operation in progress and stores what it is made of. A larger file than `max_bytes` is left out.
pub(crate) fn read(
    reading: &HostReading,
    host: &Host,
    shadow: &Shadow,
    store: &ObjectStore,
    max_bytes: u64,
) -> Outcome<Operation> {
    let mut taken = Taken {
        host,
        store,
        max_bytes,
        files: BTreeMap::new(),
        named: BTreeSet::new(),
        operation: Operation::default(),
    };
    let in_reftable = is_in_reftable(host);
    for name in names(host) {
        let is_ref = in_reftable && STATE_REFS.contains(&name);
        if !is_ref && kind_behind(&host.git.join(name)) == Some(Kind::File) {
            taken.take(BString::from(name), true)?;
        }
    }
    for name in STATE_DIRECTORIES {
        taken.below(BString::from(name))?;
    }
    let named = std::mem::take(&mut taken.named);
    taken.operation.tips.extend(named.into_iter().take(TIPS_MOST));
    if in_reftable {
        for (name, id) in refs(reading, host, shadow)? {
            let file = stage(store, ObjectKind::Blob, format!("{id}\n").as_bytes())?;
            taken.files.insert(BString::from(name), file);
            taken.operation.tips.push(id);
        }
    }
    if !taken.files.is_empty() {
        taken.store_tree()?;
    }
    Ok(taken.operation)
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

/// What is read. Of the files only one is in memory at a time.
struct Taken<'read> {
    host: &'read Host,
    store: &'read ObjectStore,
    max_bytes: u64,
    files: BTreeMap<BString, Id>,
    named: BTreeSet<String>,
    operation: Operation,
}

impl Taken<'_> {
    /// Every file below a directory. Links are not followed.
    fn below(&mut self, name: BString) -> Outcome<()> {
        let path = self.host.git.join(path_of(name.clone()));
        if kind(&path) != Some(Kind::Directory) {
            return Ok(());
        }
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                self.lose_unread(name.as_bstr(), &error);
                return Ok(());
            }
        };
        for entry in entries.flatten() {
            let inner = BString::from([&name[..], b"/", entry.file_name().as_bytes()].concat());
            match entry.file_type().map(Kind::of) {
                Ok(Kind::Directory) => self.below(inner)?,
                Ok(Kind::File) => self.take(inner, false)?,
                Ok(Kind::Link | Kind::Socket | Kind::Waits) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, name: BString, follows_link: bool) -> Outcome<()> {
        let path = self.host.git.join(path_of(name.clone()));
        match read_bounded(&path, follows_link, self.max_bytes) {
            Ok(Bounded::Whole(content)) => {
                self.named.extend(ids_in(&content));
                let id = stage(self.store, ObjectKind::Blob, &content)?;
                self.files.insert(name, id);
            }
            Ok(Bounded::TooLarge) => {
                let why = format!("it is larger than maxFileBytes ({})", self.max_bytes);
                self.lose(name.as_bstr(), format!("{why}, so it is not captured"));
            }
            // Something else took its place.
            Ok(Bounded::Other) => {}
            // The operation ended meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => self.lose_unread(name.as_bstr(), &error),
        }
        Ok(())
    }

    fn lose_unread(&mut self, name: &BStr, error: &std::io::Error) {
        self.lose(name, format!("it cannot be read, so it is not captured: {error}"));
    }

    fn lose(&mut self, name: &BStr, reason: String) {
        self.operation.failures.push(Said {
            path: BString::from([b".git/", name.as_bytes()].concat()),
            reason,
        });
    }

    fn store_tree(&mut self) -> Outcome<()> {
        let leaves = self.files.iter().map(|(name, id)| Leaf {
            path: name.as_bstr(),
            mode: TreeMode::File,
            id: *id,
        });
        let leaves: Vec<Leaf<'_>> = leaves.collect();
        let Some(made) = trees(self.store.format, &leaves) else {
            self.operation.failures.push(Said {
                path: BString::from(".git"),
                reason: "git keeps nothing of a name in the operation in progress, so it is not captured"
                    .into(),
            });
            return Ok(());
        };
        for (id, content) in made.trees {
            self.store.stage(ObjectKind::Tree, id, &content)?;
        }
        self.operation.tree = Some(made.top);
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

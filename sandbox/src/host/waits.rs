//! Files of a repository for which git would wait for ever. They are looked for before git is started.

use crate::fs::kind::waits;
use crate::fs::text::slurp;
use crate::git::environment::home;
use crate::git::process::Git;
use crate::host::place::{Host, path_of};
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::path::{Path, PathBuf};

/// What a person is told of a file that git would wait for.
pub(crate) const WAITS_WHY: &str =
    "is a named pipe or a device. Git reads a file of that name, and would wait for ever";

/// Files of an operation in progress, in the git directory.
pub(crate) const STATE_FILES: [&str; 18] = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "AUTO_MERGE",
    "BISECT_FIRST_PARENT",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_START",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
];
/// Directories of an operation in progress.
pub(crate) const STATE_DIRECTORIES: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

const GIT_FILES: [&str; 6] = [
    "HEAD",
    "config.worktree",
    "commondir",
    "index",
    "info/sparse-checkout",
    "logs/HEAD",
];
const COMMON_FILES: [&str; 7] = [
    "config",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
];
const STORE_FILES: [&str; 4] = [
    "info/alternates",
    "info/commit-graph",
    "info/commit-graphs/commit-graph-chain",
    "pack/multi-pack-index",
];
/// Most files of settings, and of stores, that one repository leads to.
const SETTINGS_MOST: usize = 50;
const STORES_MOST: usize = 16;

/// The first file of these two directories for which git would wait. Refs, objects and logs are looked at elsewhere.
pub(crate) fn in_git(git: &Path, common: &Path) -> Option<PathBuf> {
    let own = GIT_FILES
        .iter()
        .chain(&STATE_FILES)
        .chain(&STATE_DIRECTORIES)
        .map(|name| git.join(name));
    own.chain(COMMON_FILES.iter().map(|name| common.join(name)))
        .find(|file| waits(file))
}

/// The same for everything that git reads before it looks at refs: settings and stores of objects as well.
pub(crate) fn in_host(host: &Host) -> Option<PathBuf> {
    in_git(&host.git, &host.common)
        .or_else(|| in_stores(&host.common.join("objects")))
        .or_else(|| in_settings(vec![host.common.join("config"), host.git.join("config.worktree")]))
}

/// This directory of objects, and those that it names in turn, as far as they can be entered.
pub(crate) fn stores_of(objects: &Path) -> Vec<PathBuf> {
    let enters = |path: &Path| fs::read_dir(path).is_ok();
    let mut stores: Vec<PathBuf> = Vec::new();
    if enters(objects) {
        stores.push(objects.to_owned());
    }
    let mut at = 0;
    while at < stores.len() && at < STORES_MOST {
        let text = slurp(&stores[at].join("info/alternates"));
        for line in text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        {
            let store = stores[at].join(path_of(unquoted(line.as_bstr())));
            if enters(&store) {
                stores.push(store);
            }
        }
        at += 1;
    }
    stores
}

/// A path as git quotes it: as it is, or in the manner of C between double quotes.
pub(crate) fn unquoted(line: &BStr) -> BString {
    let Some(inner) = line.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return line.to_owned();
    };
    let mut path = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            path.push(byte);
            continue;
        }
        let octal = rest.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(code) = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            path.push(code);
            rest = &rest[3..];
        } else if let Some((&letter, after)) = rest.split_first() {
            rest = after;
            path.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'a' => 7,
                b'b' => 8,
                b'v' => 11,
                b'f' => 12,
                other => other,
            });
        }
    }
    BString::from(path)
}

/// The first file of this directory of objects, and of those that it names in turn, for which git would wait.
pub(crate) fn in_stores(objects: &Path) -> Option<PathBuf> {
    for store in stores_of(objects) {
        let named = STORE_FILES.iter().map(|name| store.join(name));
        let packs = fs::read_dir(store.join("pack")).into_iter().flatten().flatten();
        let indexes = packs
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "idx"));
        if let Some(file) = named.chain(indexes).find(|file| waits(file)) {
            return Some(file);
        }
    }
    None
}

/// The first of these settings files, and of those that they include, for which git would wait.
pub(crate) fn in_settings(mut files: Vec<PathBuf>) -> Option<PathBuf> {
    let mut at = 0;
    while at < files.len() && at < SETTINGS_MOST {
        let file = files[at].clone();
        if waits(&file) {
            return Some(file);
        }
        let text = slurp(&file);
        if text.to_ascii_lowercase().contains_str("[include") {
            files.extend(included(&file));
        }
        at += 1;
    }
    None
}

/// What a settings file includes, whatever the condition says. A file that git cannot read includes nothing.
fn included(file: &Path) -> Vec<PathBuf> {
    let beside = file.parent().unwrap_or(Path::new("/"));
    let asked = Git::new(beside)
        .env("HOME", home())
        .env("GIT_DIR", "/dev/null")
        .args(["config", "--no-includes", "--file"])
        .arg(file)
        .args(["--type=path", "--get-regexp", r"^include(if\..*)?\.path$"])
        .run();
    let Ok(answer) = asked else { return Vec::new() };
    let lines = answer.ok().unwrap_or_default().lines();
    let paths = lines.filter_map(|line| line.split_once_str(" ").map(|(_, path)| BString::from(path)));
    paths.map(|path| beside.join(path_of(path))).collect()
}

/// The first file below these directories of refs for which git would wait. It always lists `refs` too.
pub(crate) fn in_refs(host: &Host, below: &[&str]) -> Option<PathBuf> {
    for directory in [&host.common, &host.git] {
        let top = fs::read_dir(directory.join("refs"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let found = top.into_iter().find(|file| waits(file));
        let deeper = || below.iter().find_map(|name| waiting_below(&directory.join(name)));
        if let Some(file) = found.or_else(deeper) {
            return Some(file);
        }
    }
    None
}

fn waiting_below(directory: &Path) -> Option<PathBuf> {
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let path = entry.path();
        if waits(&path) {
            return Some(path);
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(found) = waiting_below(&path)
        {
            return Some(found);
        }
    }
    None
}

/// The first file of rules or attributes for which git would wait when it looks at all files of a working tree.
pub(crate) fn in_rules(directory: &Path, host: &Host) -> Option<PathBuf> {
    let ask = || {
        Git::on_host(directory, &host.git)
            .args([
                "config",
                "--path",
                "--get-regexp",
                r"^core\.(excludes|attributes)file$",
            ])
            .run_to_its_end()
    };
    let named = ask()
        .or_else(|_| ask())
        .ok()
        .map(|answer| answer.ok().unwrap_or_default().to_vec())
        .unwrap_or_default();
    let named = named.lines().filter_map(|line| line.split_once_str(" "));
    let named = named.map(|(_, path)| directory.join(path_of(BString::from(path))));
    named
        .into_iter()
        .find(|file| waits(file))
        .or_else(|| rules_below(directory))
}

fn rules_below(directory: &Path) -> Option<PathBuf> {
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let name = entry.file_name();
        if name == ".git" {
            continue;
        }
        let path = entry.path();
        if name == ".gitignore" || name == ".gitattributes" {
            if waits(&path) {
                return Some(path);
            }
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(found) = rules_below(&path)
        {
            return Some(found);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_path_loses_its_quotes() {
        assert_eq!(
            unquoted(br#""/a \"b\"\n\303\251""#.as_bstr()),
            BString::from("/a \"b\"\né")
        );
        assert_eq!(
            unquoted(br#""a\tb\n\\\377""#.as_bstr()),
            BString::from(b"a\tb\n\\\xff".as_slice())
        );
        assert_eq!(unquoted(b"/plain".as_bstr()), BString::from("/plain"));
    }
}

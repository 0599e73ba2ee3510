//! Whether git certainly takes the settings of a repository, so that it need not be asked. Pure.
//!
//! Git refuses to list refs when one value is not what it expects (`core.fileMode = maybe`), and it reads many. So only
//! lines that git itself and common tools write count as certain.

use bstr::{BStr, ByteSlice};

/// What is known of a section.
enum Section {
    Core,
    Extensions,
    User,
    /// Git reads nothing of it to list refs, or takes any text.
    Free,
}

/// Whether every line is one that git takes.
pub(crate) fn are_plain(text: &BStr) -> bool {
    let mut section = None;
    text.lines().all(|line| {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b";") {
            return true;
        }
        if let Some(rest) = line.strip_prefix(b"[") {
            section = rest.strip_suffix(b"]").and_then(section_of);
            return section.is_some();
        }
        match (&section, parted(line)) {
            (Some(section), Some((name, value))) => is_taken(section, &name.to_ascii_lowercase(), value),
            _ => false,
        }
    })
}

fn section_of(head: &[u8]) -> Option<Section> {
    let is_word = |word: &[u8]| {
        !word.is_empty()
            && word
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    let Some((word, name)) = head.split_once_str(" ") else {
        return match &head.to_ascii_lowercase()[..] {
            b"core" => Some(Section::Core),
            b"extensions" => Some(Section::Extensions),
            b"user" => Some(Section::User),
            b"pull" | b"lfs" | b"gui" | b"commit" | b"merge" | b"rebase" | b"http" | b"init" | b"rerere" => {
                Some(Section::Free)
            }
            _ => None,
        };
    };
    let name = name.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let is_known = is_word(word)
        && matches!(
            &word.to_ascii_lowercase()[..],
            b"remote" | b"branch" | b"submodule" | b"lfs" | b"url" | b"filter" | b"http" | b"credential"
        );
    let is_plain = !name
        .iter()
        .any(|byte| b"\"\\\0".contains(byte) || byte.is_ascii_control());
    (is_known && is_plain).then_some(Section::Free)
}

/// A name and its value, both as they are written.
fn parted(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_once_str("=")?;
    let (name, value) = (name.trim_ascii_end(), value.trim_ascii_start());
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let is_value = !value.is_empty()
        && !value
            .iter()
            .any(|byte| b"\"\\;#".contains(byte) || (byte.is_ascii_control() && *byte != b'\t'));
    (is_name && is_value).then_some((name, value))
}

fn is_taken(section: &Section, name: &[u8], value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    let is_boolean = matches!(
        &value[..],
        b"true" | b"false" | b"yes" | b"no" | b"on" | b"off" | b"1" | b"0"
    );
    match section {
        Section::Free => true,
        Section::Core => match name {
            b"repositoryformatversion" => matches!(&value[..], b"0" | b"1"),
            b"filemode" | b"ignorecase" | b"symlinks" | b"logallrefupdates" | b"precomposeunicode" => {
                is_boolean
            }
            // A repository without a working tree is another case.
            b"bare" => &value[..] == b"false",
            b"autocrlf" => is_boolean || &value[..] == b"input",
            _ => false,
        },
        Section::Extensions => match name {
            b"objectformat" => matches!(&value[..], b"sha1" | b"sha256"),
            b"worktreeconfig" => is_boolean,
            b"partialclone" => true,
            _ => false,
        },
        Section::User => match name {
            b"name" | b"email" | b"signingkey" => true,
            b"useconfigonly" => is_boolean,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::process::Git;
    use proptest::prelude::*;
    use std::fs;

    fn is_taken_by_git(text: &str) -> bool {
        let top = tempfile::tempdir().expect("a temporary directory");
        Git::new(top.path())
            .args(["init", "-q", "."])
            .run()
            .expect("git runs");
        let git = top.path().join(".git");
        fs::write(git.join("config"), text).expect("it is ours");
        let listed = Git::on_host(top.path(), &git)
            .arg("for-each-ref")
            .run()
            .expect("git runs");
        listed.status.success()
    }

    #[test]
    fn what_git_writes_is_plain() {
        let text = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[extensions]\n\tobjectformat = sha256\n[user]\n\temail = a@example.com\n\tname = A B\n";
        assert!(are_plain(text.into()));
        for odd in [
            "[core]\n\tfileMode = maybe\n",
            "[core]\n\tcompression = lots\n",
            "[core\n",
            "[branch]\n\tautosetupmerge = odd\n",
            "[include]\n\tpath = other\n",
            "[user]\n\tuseConfigOnly = input\n",
        ] {
            assert!(!are_plain(odd.into()), "{odd}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn what_is_plain_is_taken_by_git(lines in proptest::collection::vec((
            prop::sample::select(vec!["core", "extensions", "user", "pull", "merge", "remote \"o\"", "branch \"a.b\"", "submodule \"s\"", "push", "branch"]),
            prop::sample::select(vec!["filemode", "repositoryformatversion", "autocrlf", "ignorecase", "objectformat", "worktreeConfig", "name", "url", "merge", "rebase", "bare", "partialclone", "conflictstyle", "default", "useConfigOnly"]),
            prop::sample::select(vec!["true", "maybe", "1", "0", "2", "input", "a b", "sha1", "", "\"q\"", "x#y"]),
        ), 0..4)) {
            let text: String = lines.iter().map(|(section, name, value)| format!("[{section}]\n\t{name} = {value}\n")).collect();
            if are_plain(text.as_str().into()) {
                prop_assert!(is_taken_by_git(&text), "{text}");
            }
        }
    }
}

//! Repositories inside another one that discovery does not reach: git would record them as links.

use crate::fs::kind::{Kind, kind_behind};
use crate::fs::text::{Bounded, first_line, read_bounded, slurp};
use crate::host::place::path_of;
use crate::scan::walk::Walked;
use bstr::{BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Git reads no larger file that names a git directory.
const GITFILE_MOST: u64 = 1024 * 1024;

/// The directories that git takes for repositories.
pub(crate) fn embedded(top: &Path, walked: &Walked) -> HashSet<BString> {
    let with_git = walked.with_git.iter();
    let found =
        with_git.filter(|(path, kind)| is_repository(&top.join(path_of(path.clone())).join(".git"), *kind));
    found.map(|(path, _)| path.clone()).collect()
}

/// As `is_nonbare_repository_dir` of git.
fn is_repository(git: &Path, kind: Kind) -> bool {
    let behind = if kind == Kind::Link {
        kind_behind(git)
    } else {
        Some(kind)
    };
    match behind {
        Some(Kind::Directory) => is_git_directory(git),
        Some(Kind::File) => {
            let text = match read_bounded(git, true, GITFILE_MOST) {
                Ok(Bounded::Whole(text)) => text,
                Ok(Bounded::TooLarge | Bounded::Other) => return false,
                Err(_) => return true,
            };
            let Some(named) = text.strip_prefix(b"gitdir: ") else {
                return false;
            };
            let named = named.trim_end_with(|letter| letter == '\n' || letter == '\r');
            git.parent()
                .is_some_and(|above| is_git_directory(&above.join(path_of(BString::from(named)))))
        }
        Some(Kind::Link | Kind::Socket | Kind::Waits) | None => false,
    }
}

/// As `is_git_directory` of git.
fn is_git_directory(git: &Path) -> bool {
    let common = match kind_behind(&git.join("commondir")) {
        Some(Kind::File) => {
            let text = slurp(&git.join("commondir"));
            let named = text.trim_end_with(|letter| letter == '\n' || letter == '\r');
            git.join(path_of(BString::from(named)))
        }
        Some(Kind::Directory | Kind::Link | Kind::Socket | Kind::Waits) | None => git.to_owned(),
    };
    let enters = |name: &str| kind_behind(&common.join(name)) == Some(Kind::Directory);
    names_a_commit(&git.join("HEAD")) && enters("objects") && enters("refs")
}

/// Whether this can be the HEAD of a repository: a link into `refs/`, a ref, or an id.
fn names_a_commit(head: &Path) -> bool {
    if let Ok(target) = fs::read_link(head) {
        return target.starts_with("refs/");
    }
    let text = slurp(head);
    if let Some(name) = text.strip_prefix(b"ref:") {
        return name.trim_ascii_start().starts_with(b"refs/");
    }
    let line = first_line(text.as_bstr());
    line.len() >= 40 && line[..40].iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_that_git_would_read() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let at = |path: &str| top.path().join(path);
        for made in ["real/objects", "real/refs", "in"] {
            fs::create_dir_all(at(made)).expect("a directory");
        }
        fs::write(at("real/HEAD"), "ref: refs/heads/main\n").expect("a file");
        let most = usize::try_from(GITFILE_MOST).expect("it is small");
        let line = "gitdir: ../real";
        for (length, counts) in [
            (0, true),
            (most - line.len(), true),
            (most + 1 - line.len(), false),
        ] {
            let text = format!("{line}{}", "\n".repeat(length));
            fs::write(at("in/.git"), text).expect("a file");
            assert_eq!(is_repository(&at("in/.git"), Kind::File), counts, "{length}");
        }
    }
}

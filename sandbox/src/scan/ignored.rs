//! Asks git which paths its rules ignore. Only git's own words count: other readers of its rules differ.

use crate::git::process::Git;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// What git said beside its answer: a path, and why rules in it do not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Said {
    /// Empty when it is about the repository.
    pub(crate) path: BString,
    pub(crate) reason: String,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) ignored: HashSet<BString>,
    pub(crate) said: Vec<Said>,
}

/// Which of these paths the rules of the shadow and of the tree ignore, whoever tracks them.
pub(crate) fn by_all_rules(shadow: &Shadow, paths: &[BString]) -> Outcome<Answer> {
    ask(
        Git::on_shadow(&shadow.top, &shadow.git).env("GIT_WORK_TREE", &shadow.top),
        paths,
    )
}

/// Which of these paths, none of them a directory, the patterns of the session exclude, whatever other rules say.
pub(crate) fn by_session(
    shadow: &Shadow,
    exclude: &[BString],
    paths: &[BString],
) -> Outcome<HashSet<BString>> {
    if exclude.is_empty() || paths.is_empty() {
        return Ok(HashSet::new());
    }
    // A git directory and a working tree with nothing but these patterns.
    let alone = shadow.file("session-rules");
    let empty = alone.join("tree");
    let fault = |error: std::io::Error| Failure::Fault(format!("{}: {error}", alone.display()));
    make_alone(&alone, exclude).map_err(fault)?;
    let git = Git::on_shadow(&empty, &alone).env("GIT_WORK_TREE", &empty);
    Ok(ask(git, paths)?.ignored)
}

fn make_alone(alone: &Path, exclude: &[BString]) -> std::io::Result<()> {
    for directory in ["objects", "refs", "info", "tree"] {
        fs::create_dir_all(alone.join(directory))?;
    }
    let patterns: Vec<u8> = exclude
        .iter()
        .flat_map(|pattern| [&pattern[..], b"\n"].concat())
        .collect();
    fs::write(alone.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(
        alone.join("config"),
        "[core]\n\tbare = false\n\tignorecase = false\n\texcludesfile = /dev/null\n",
    )?;
    fs::write(alone.join("info/exclude"), patterns)
}

/// `-v` also names the pattern that decided: git before 2.26 answers with paths that a pattern with `!` takes back.
fn ask(git: Git, paths: &[BString]) -> Outcome<Answer> {
    if paths.is_empty() {
        return Ok(Answer::default());
    }
    // Git takes a name that begins with a colon for a pattern.
    let input: Vec<u8> = paths
        .iter()
        .flat_map(|path| [b"./", &path[..], b"\0"].concat())
        .collect();
    let answer = git
        .unheard()
        .args(["check-ignore", "-v", "-z", "--no-index", "--stdin"])
        .input(input)
        .run_to_its_end()?;
    if !matches!(answer.status.code(), Some(0 | 1)) {
        return Err(Failure::Fault(format!(
            "git could not tell what is ignored: {}",
            answer.said()
        )));
    }
    let parts: Vec<&[u8]> = answer.stdout.split_str("\0").collect();
    // SOURCE LINE PATTERN PATH
    let records = parts.chunks_exact(4);
    let ignored = records.filter(|record| !record[2].starts_with(b"!"));
    Ok(Answer {
        ignored: ignored
            .map(|record| BString::from(record[3].strip_prefix(b"./").unwrap_or(record[3])))
            .collect(),
        said: heard(answer.stderr.as_bstr()),
    })
}

/// What git's messages mean. Those that say nothing about what is ignored are left out.
fn heard(stderr: &BStr) -> Vec<Said> {
    let mut all: Vec<Said> = stderr
        .lines()
        .filter_map(|line| meaning(line.as_bstr()))
        .collect();
    let mut known = HashSet::new();
    all.retain(|said| known.insert(said.clone()));
    all
}

fn meaning(line: &BStr) -> Option<Said> {
    let warning = line.strip_prefix(b"warning: ")?.as_bstr();
    if let Some(rest) = warning.strip_prefix(b"unable to access '") {
        let at = rest.rfind("': ")?;
        let (path, why) = (&rest[..at], rest[at + 3..].to_str_lossy());
        // The user's git does not read a rules file that is a link either.
        let is_link = path.contains_str("gitignore") && why == "Too many levels of symbolic links";
        let is_harmless = is_link || path.contains_str("gitattributes");
        return (!is_harmless).then(|| Said {
            path: BString::from(path.strip_prefix(b"./").unwrap_or(path)),
            reason: format!("the rules in it cannot be read: {why}"),
        });
    }
    // The user's git ignores such rules as well.
    if warning.starts_with(b"ignoring excessively large pattern file: ") {
        return None;
    }
    Some(Said {
        path: BString::default(),
        reason: format!(
            "git warned of what Walkback does not know: {}",
            warning.to_str_lossy()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_that_say_something_are_heard() {
        let said = heard(
            b"warning: unable to access 'd/.gitignore': Permission denied\nwarning: unable to access 'd/.gitignore': Permission denied\nwarning: unable to access '.gitignore': Too many levels of symbolic links\nwarning: ignoring excessively large pattern file: x\nhint: something\nwarning: new\n"
                .as_bstr(),
        );
        let expected = [
            (
                "d/.gitignore",
                "the rules in it cannot be read: Permission denied",
            ),
            ("", "git warned of what Walkback does not know: new"),
        ];
        assert_eq!(
            said,
            expected.map(|(path, reason)| Said {
                path: BString::from(path),
                reason: reason.to_owned()
            })
        );
    }
}

//! Reads what `git blame --porcelain` writes.

use crate::blame::history::History;
use crate::host::waits::unquoted;
use crate::wire::blame::{Line, Source};
use crate::wire::name::{Name, shown};
use bstr::{BStr, ByteSlice};
use std::collections::HashMap;

/// The latest time that a date can have, in seconds.
const LATEST: u64 = 8_640_000_000_000;

/// The answer of git is not what it writes, or ends early.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotWhole;

/// Facts about a commit, by their names.
type Facts<'text> = HashMap<&'text [u8], &'text BStr>;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Blamed {
    pub(crate) lines: Vec<Line>,
    pub(crate) sources: Vec<Source>,
}

/// The lines in their order, from `first` on. A commit is described once, but its file may have several names.
pub(crate) fn read(text: &[u8], first: u64, history: &History) -> Result<Blamed, NotWhole> {
    if !text.is_empty() && !text.ends_with(b"\n") {
        return Err(NotWhole);
    }
    let mut commits: HashMap<&[u8], Facts<'_>> = HashMap::new();
    let mut places: HashMap<(&[u8], &BStr), usize> = HashMap::new();
    let mut blamed = Blamed::default();
    let mut rest = text.split_str("\n");
    // What follows the last line.
    let whole = text.len();
    let mut read = 0;
    while read < whole {
        let mut next = || {
            let line = rest.next().filter(|_| read < whole).ok_or(NotWhole)?;
            read += line.len() + 1;
            Ok(line.as_bstr())
        };
        let Header { id, there, here } = header(next()?).ok_or(NotWhole)?;
        if here != first + blamed.lines.len() as u64 {
            return Err(NotWhole);
        }
        let facts = commits.entry(id).or_default();
        let content = loop {
            let line = next()?;
            if let Some(content) = line.strip_prefix(b"\t") {
                break content;
            }
            let (name, value) = line.split_once_str(" ").unwrap_or((line, b""));
            facts.insert(name, value.as_bstr());
        };
        let file = facts.get(&b"filename"[..]).copied().unwrap_or_default();
        let source = *places.entry((id, file)).or_insert_with(|| {
            blamed.sources.push(source(id, facts, history));
            blamed.sources.len() - 1
        });
        blamed.lines.push(Line {
            text: shown(content),
            source,
            line_there: there,
        });
    }
    Ok(blamed)
}

/// `ID LINE-THERE LINE-HERE`, and how many lines follow of the same commit.
struct Header<'text> {
    id: &'text [u8],
    there: u64,
    here: u64,
}

fn header(line: &BStr) -> Option<Header<'_>> {
    let mut words = line.split_str(" ");
    let id = words.next()?;
    let mut number = || words.next()?.to_str().ok()?.parse().ok();
    let is_id = matches!(id.len(), 40 | 64) && id.iter().all(u8::is_ascii_hexdigit);
    is_id.then_some(Header {
        id,
        there: number()?,
        here: number()?,
    })
}

fn source(id: &[u8], facts: &Facts<'_>, history: &History) -> Source {
    let fact = |name: &str| facts.get(name.as_bytes()).copied().unwrap_or_default();
    let path = Name(unquoted(fact("filename")));
    let commit = shown(id);
    match history.node_of(&commit) {
        Some(node) => Source::Node { node, path },
        None => Source::Commit {
            commit,
            author: shown(fact("author")),
            authored_at: seconds(fact("author-time")),
            summary: shown(fact("summary")),
            path,
        },
    }
}

/// A time that no date can have is the first one.
pub(crate) fn seconds(text: &[u8]) -> u64 {
    let number = text.to_str().ok().and_then(|digits| digits.parse().ok());
    number.filter(|seconds| *seconds <= LATEST).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::Format;
    use crate::git::private::PrivateGit;
    use crate::wire::blame::Node;
    use std::collections::HashSet;

    const OTHER: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    /// Two states, and the commit of the second.
    fn history() -> (History, String) {
        let top = tempfile::tempdir().expect("a temporary directory");
        let git = PrivateGit::make(top.path().join("git"), Format::Sha1, b"").expect("it is made");
        let node = |parents: &[usize]| Node {
            tree: None,
            parents: parents.to_vec(),
            commit: None,
        };
        let nodes = [node(&[]), node(&[0])];
        let made = History::write(&git, &nodes, &HashSet::new()).expect("it is written");
        let tip = made.tip.clone();
        (made, tip)
    }

    fn facts(author: &str, file: &str) -> String {
        format!(
            "author {author}\nauthor-mail <x@y>\nauthor-time 1700000000\nauthor-tz +0100\nsummary s\nfilename {file}\n"
        )
    }

    fn node(path: &str) -> Source {
        Source::Node {
            node: 1,
            path: Name(path.into()),
        }
    }

    #[test]
    fn lines_are_of_our_commits_or_of_the_repository() {
        let (history, ours) = history();
        let text = format!(
            "{ours} 4 1 2\n{}\tone\n{ours} 5 2\n\ttwo\n{OTHER} 9 3 1\n{}boundary\n\tthree\n",
            facts("Walkback", "a.txt"),
            facts("Ann", "\"\\303\\274\\\".txt\"")
        );
        let blamed = read(text.as_bytes(), 1, &history).expect("it is whole");
        assert_eq!(
            blamed.sources,
            [
                node("a.txt"),
                Source::Commit {
                    commit: OTHER.to_owned(),
                    author: "Ann".to_owned(),
                    authored_at: 1_700_000_000,
                    summary: "s".to_owned(),
                    path: Name("ü\".txt".into()),
                },
            ]
        );
        let lines: Vec<_> = blamed
            .lines
            .iter()
            .map(|line| (&line.text[..], line.source, line.line_there))
            .collect();
        assert_eq!(lines, [("one", 0, 4), ("two", 0, 5), ("three", 1, 9)]);
    }

    #[test]
    fn lines_of_one_commit_under_two_names_are_told_as_both() {
        let (history, ours) = history();
        let text = format!(
            "{ours} 1 1 1\n{}\tx\n{ours} 1 2 1\nfilename b.txt\n\ty\n{ours} 2 3 1\nfilename a.txt\n\tz\n",
            facts("Walkback", "a.txt")
        );
        let blamed = read(text.as_bytes(), 1, &history).expect("it is whole");
        assert_eq!(blamed.sources, [node("a.txt"), node("b.txt")]);
        let places: Vec<usize> = blamed.lines.iter().map(|line| line.source).collect();
        assert_eq!(places, [0, 1, 0]);
    }

    #[test]
    fn lines_may_have_any_bytes_and_look_like_what_git_writes_itself() {
        let (history, ours) = history();
        let mut text = format!("{ours} 1 7 2\n{}\t\tauthor x", facts("Walkback", "a")).into_bytes();
        text.extend_from_slice(b"\xff\r\n");
        text.extend_from_slice(format!("{ours} 2 8\n\t{OTHER} 1 1 1\n").as_bytes());
        let blamed = read(&text, 7, &history).expect("it is whole");
        let texts: Vec<&str> = blamed.lines.iter().map(|line| &line.text[..]).collect();
        assert_eq!(texts, ["\tauthor x\u{fffd}\r", &format!("{OTHER} 1 1 1")]);
        assert_eq!(read(b"", 1, &history), Ok(Blamed::default()));
    }

    #[test]
    fn what_is_not_whole_is_not_read() {
        let (history, ours) = history();
        let facts = facts("Walkback", "a");
        for text in [
            format!("{ours} 1 1 1\n{facts}\tx"),
            format!("{ours} 1 1 1\n{facts}"),
            format!("{ours} 1 2 1\n{facts}\tx\n"),
            format!("{ours} 1\n{facts}\tx\n"),
            "fatal: no\n".to_owned(),
            "half".to_owned(),
        ] {
            assert_eq!(read(text.as_bytes(), 1, &history), Err(NotWhole), "{text}");
        }
    }

    #[test]
    fn a_time_that_no_date_has_is_the_first() {
        assert_eq!(seconds(b"1700000000"), 1_700_000_000);
        for text in [&b"18446744073709551615"[..], b"-1", b"", b"x"] {
            assert_eq!(seconds(text), 0);
        }
    }
}

//! The names under which a capture has late files. Several restores may have put files of one name aside. Pure.

use crate::plan::above;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// Those that are used already.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeSet<BString>);

/// A name that was found: the path of the file, with a number behind it or behind a directory above it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) name: BString,
    /// Where its number is.
    pub(crate) numbered: Option<BString>,
}

impl Names {
    /// The names that this file may have, in the order in which they are tried.
    pub(crate) fn candidates(&self, path: &BStr) -> impl Iterator<Item = Candidate> {
        // A file in the place of a directory above it: both cannot have their names.
        let head = above(path).find(|up| self.0.contains(*up)).unwrap_or(path);
        let rest = &path[head.len()..];
        let numbered = (1_u32..).map(move |number| {
            let head = BString::from([head.as_bytes(), format!(".{number}").as_bytes()].concat());
            Candidate {
                name: [head.as_bytes(), rest].concat().into(),
                numbered: Some(head),
            }
        });
        let own = Candidate {
            name: path.to_owned(),
            numbered: None,
        };
        std::iter::once(own)
            .chain(numbered)
            .filter(|candidate| self.is_free(&candidate.name))
    }

    fn is_free(&self, name: &BString) -> bool {
        let below = BString::from([name, &b"/"[..]].concat());
        let has_below = self
            .0
            .range(below.clone()..)
            .next()
            .is_some_and(|next| next.starts_with(&below));
        !self.0.contains(name) && !has_below && above(name.as_bstr()).all(|up| !self.0.contains(up))
    }

    pub(crate) fn take(&mut self, name: BString) {
        self.0.insert(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that these paths get, one after the other.
    fn named(paths: &[&str]) -> Vec<String> {
        let mut names = Names::default();
        let mut all = Vec::new();
        for path in paths {
            let found = names
                .candidates(BStr::new(path))
                .next()
                .expect("numbers do not end");
            all.push(found.name.to_string());
            names.take(found.name);
        }
        all
    }

    #[test]
    fn another_version_gets_a_number() {
        assert_eq!(named(&["f", "f", "f", "f.1"]), ["f", "f.1", "f.2", "f.1.1"]);
    }

    #[test]
    fn a_file_and_a_directory_of_one_name_are_both_there() {
        assert_eq!(named(&["d", "d/e/f", "d/e/f"]), ["d", "d.1/e/f", "d.2/e/f"]);
        assert_eq!(named(&["d/e/f", "d/e", "d"]), ["d/e/f", "d/e.1", "d.1"]);
        assert_eq!(named(&["d/e", "d-", "d/f"]), ["d/e", "d-", "d/f"]);
    }
}

//! Files that the target does not have and that stay all the same: it may not have seen them.

use crate::plan::above;
use crate::plan::files::Difference;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// Why a file stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    TooLarge,
    IgnoredThen,
    IgnoredNow,
    /// It lies in a git directory of another repository, which is told of as a whole.
    Held,
    /// It was there before the repository was, which is told of as a whole.
    Before,
    /// The repository around has a file there, and brings its own.
    Around,
}

impl Why {
    /// What a person is told.
    pub(crate) fn words(self) -> Option<&'static str> {
        match self {
            Why::TooLarge => Some("was too large for it"),
            Why::IgnoredThen => Some("its rules ignore it"),
            Why::IgnoredNow => Some("the rules of now ignore it"),
            Why::Held | Why::Before | Why::Around => None,
        }
    }
}

/// The paths that the target does not have.
pub(crate) fn removed(differences: &[Difference]) -> impl Iterator<Item = &BStr> {
    let gone = differences.iter().filter(|one| one.to.is_none());
    gone.map(|one| one.path.as_bstr())
}

/// Those that stay. A path in the way of one that comes, or of a directory that the target has empty, goes.
pub(crate) fn staying(
    differences: &[Difference],
    reasons: &BTreeMap<BString, Why>,
    empty: &BTreeSet<BString>,
) -> BTreeMap<BString, Why> {
    if reasons.is_empty() {
        return BTreeMap::new();
    }
    let added = differences.iter().filter(|one| one.from.is_none());
    let comes: BTreeSet<&BStr> = added.map(|one| one.path.as_bstr()).collect();
    staying_beside(removed(differences), &comes, reasons, empty)
}

/// The same of these paths, when those others come.
pub(crate) fn staying_beside<'path>(
    gone: impl Iterator<Item = &'path BStr>,
    comes: &BTreeSet<&BStr>,
    reasons: &BTreeMap<BString, Why>,
    empty: &BTreeSet<BString>,
) -> BTreeMap<BString, Why> {
    let wanted = empty.iter().map(|path| path.as_bstr());
    let needed: BTreeSet<&BStr> = comes
        .iter()
        .copied()
        .chain(wanted.clone())
        .flat_map(above)
        .chain(wanted)
        .collect();
    let is_free = |path: &BStr| !needed.contains(path) && above(path).all(|up| !comes.contains(up));
    gone.filter(|path| is_free(path))
        .filter_map(|path| Some((path.to_owned(), *reasons.get(path)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::tree::TreeMode;
    use crate::git::id::{Format, ObjectKind, id_of};
    use crate::plan::files::Content;

    fn stays(gone: &[&str], comes: &[&str], ignored: &[&str], empty: &[&str]) -> Vec<String> {
        let id = id_of(Format::Sha1, ObjectKind::Blob, b"").expect("no attack");
        let content = Content {
            mode: TreeMode::File,
            id,
        };
        let difference = |path: &&str, is_new: bool| Difference {
            path: BString::from(*path),
            from: (!is_new).then_some(content),
            to: is_new.then_some(content),
        };
        let all: Vec<Difference> = gone
            .iter()
            .map(|path| difference(path, false))
            .chain(comes.iter().map(|path| difference(path, true)))
            .collect();
        let reasons = ignored.iter().map(|path| (BString::from(*path), Why::IgnoredNow));
        let empty = empty.iter().map(|path| BString::from(*path)).collect();
        staying(&all, &reasons.collect(), &empty)
            .into_keys()
            .map(|path| path.to_string())
            .collect()
    }

    #[test]
    fn only_what_goes_and_has_a_reason_stays() {
        assert_eq!(stays(&["a", "b"], &[], &["a", "c"], &[]), ["a"]);
    }

    #[test]
    fn a_file_in_the_place_of_a_directory_that_comes_goes() {
        assert_eq!(stays(&["a"], &["a/b"], &["a"], &[]), [""; 0]);
        assert_eq!(stays(&["a"], &[], &["a"], &["a/b"]), [""; 0]);
        assert_eq!(stays(&["a"], &[], &["a"], &["a"]), [""; 0]);
    }

    #[test]
    fn a_file_in_a_directory_whose_place_a_file_takes_goes() {
        assert_eq!(stays(&["a/b"], &["a"], &["a/b"], &[]), [""; 0]);
    }

    #[test]
    fn a_file_in_a_directory_that_is_to_be_empty_stays() {
        assert_eq!(stays(&["a/b"], &[], &["a/b"], &["a"]), ["a/b"]);
    }
}

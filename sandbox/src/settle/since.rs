//! What was made since in the way of what would go back: a file cannot be where a directory is, nor below another file. Pure.

use crate::plan::above;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// What is there now, and as it is now at neither end.
#[derive(Debug, Default)]
pub(super) struct Since {
    pub(super) files: BTreeSet<BString>,
    /// Directories in which nothing is.
    pub(super) empty: BTreeSet<BString>,
}

impl Since {
    /// What of it keeps a file from coming back to this path.
    pub(super) fn in_the_way(&self, path: &BStr) -> BTreeSet<BString> {
        let files = above(path).filter_map(|up| self.files.get(up));
        let directory = self.empty.get(path).into_iter();
        let inside = [&self.files, &self.empty]
            .into_iter()
            .flat_map(|all| below(all, path));
        files.chain(directory).chain(inside).cloned().collect()
    }
}

/// Those of some paths that lie in a directory.
pub(super) fn below<'all>(
    all: &'all BTreeSet<BString>,
    directory: &BStr,
) -> impl Iterator<Item = &'all BString> {
    let top = BString::from([directory.as_bytes(), b"/"].concat());
    all.range(top.clone()..)
        .take_while(move |path| path.starts_with(&top[..]))
}

/// Takes the paths out that cannot go back. The answer is these, and what is in their way: all of them are named.
pub(super) fn keep_blocked(
    since: &Since,
    going: &mut BTreeSet<BString>,
    is_file_then: impl Fn(&BString) -> bool,
) -> BTreeSet<BString> {
    let mut kept = BTreeSet::new();
    going.retain(|path| {
        let ways = if is_file_then(path) {
            since.in_the_way(path.as_bstr())
        } else {
            BTreeSet::new()
        };
        if ways.is_empty() {
            return true;
        }
        kept.extend(ways);
        kept.insert(path.clone());
        false
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(all: &[&str]) -> BTreeSet<BString> {
        all.iter().map(|path| BString::from(*path)).collect()
    }

    fn in_the_way(files: &[&str], empty: &[&str], path: &str) -> BTreeSet<BString> {
        let (files, empty) = (paths(files), paths(empty));
        Since { files, empty }.in_the_way(path.into())
    }

    #[test]
    fn a_file_above_and_whatever_is_below_are_in_the_way_of_a_file() {
        assert_eq!(in_the_way(&["a"], &[], "a/b/c"), paths(&["a"]));
        assert_eq!(in_the_way(&["a/b"], &[], "a/b/c"), paths(&["a/b"]));
        assert_eq!(
            in_the_way(&["a/b/c", "a/d"], &["a/e"], "a"),
            paths(&["a/b/c", "a/d", "a/e"])
        );
        assert_eq!(in_the_way(&[], &["a"], "a"), paths(&["a"]));
    }

    #[test]
    fn what_is_beside_it_is_not_in_its_way() {
        assert_eq!(in_the_way(&["a-b", "a.c/d", "ab"], &["a!"], "a"), paths(&[]));
        assert_eq!(in_the_way(&["a/c"], &["a"], "a/b"), paths(&[]));
    }

    #[test]
    fn what_goes_back_to_no_file_has_nothing_in_its_way() {
        let since = Since {
            files: paths(&["a/mine", "c"]),
            ..Since::default()
        };
        let mut going = paths(&["a", "a/theirs", "b", "c/d"]);
        let kept = keep_blocked(&since, &mut going, |path| path != "a/theirs");
        assert_eq!(kept, paths(&["a", "a/mine", "c", "c/d"]));
        assert_eq!(going, paths(&["a/theirs", "b"]));
    }
}

//! Sets of paths, in which those below a directory are found.

use bstr::{BStr, BString, ByteSlice};

/// Paths, sorted by bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(Vec<BString>);

impl Names {
    pub(crate) fn new(mut paths: Vec<BString>) -> Self {
        paths.sort_unstable();
        paths.dedup();
        Names(paths)
    }

    /// Paths that a command of git wrote, each ended by NUL.
    pub(crate) fn from_list(list: &[u8]) -> Self {
        Names::new(split(list).map(BString::from).collect())
    }

    pub(crate) fn contains(&self, path: &BStr) -> bool {
        self.0.binary_search_by(|one| one.as_bstr().cmp(path)).is_ok()
    }

    /// Whether one of them lies below this directory.
    pub(crate) fn any_below(&self, directory: &BStr) -> bool {
        if directory.is_empty() {
            return !self.0.is_empty();
        }
        let mut start = directory.to_vec();
        start.push(b'/');
        let at = self.0.partition_point(|one| one.as_slice() < start.as_slice());
        self.0.get(at).is_some_and(|one| one.starts_with(&start))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BStr> {
        self.0.iter().map(|path| path.as_bstr())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The parts of a list, each ended by NUL.
pub(crate) fn split(list: &[u8]) -> impl Iterator<Item = &BStr> {
    list.split_str("\0")
        .filter(|part| !part.is_empty())
        .map(|part| part.as_bstr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_lies_below_a_directory_is_found(paths in proptest::collection::vec("[ab.]{1,3}(/[ab.]{1,2}){0,2}", 0..12), directory in "[ab.]{1,3}(/[ab.]{1,2})?") {
            let names = Names::new(paths.iter().map(|path| BString::from(path.as_str())).collect());
            let below = format!("{directory}/");
            prop_assert_eq!(names.any_below(directory.as_bytes().as_bstr()), paths.iter().any(|path| path.starts_with(&below)));
            prop_assert_eq!(names.contains(directory.as_bytes().as_bstr()), paths.contains(&directory));
        }
    }
}

//! Sets of paths, in which those below a directory are found.

use bstr::{BStr, BString, ByteSlice};
use std::ops::Range;

/// Whether a path names something strictly below a directory: no part of it leads elsewhere.
pub(crate) fn is_below(path: &BStr) -> bool {
    path.split_str("/")
        .all(|part| !matches!(part, b"" | b"." | b".."))
}

/// Paths, sorted by bytes, in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    text: Vec<u8>,
    /// Where each path lies in the text.
    places: Vec<Range<usize>>,
}

impl Names {
    pub(crate) fn new(paths: Vec<BString>) -> Self {
        let mut text = Vec::with_capacity(paths.iter().map(|path| path.len()).sum());
        let places = paths.iter().map(|path| {
            let start = text.len();
            text.extend_from_slice(path);
            start..text.len()
        });
        let places = places.collect();
        Names::sorted(text, places)
    }

    /// Paths that a command of git wrote, each ended by NUL.
    pub(crate) fn from_list(list: &[u8]) -> Self {
        let mut start = 0;
        let ends = list.find_iter("\0").chain([list.len()]);
        let places = ends.map(|end| std::mem::replace(&mut start, end + 1)..end);
        let places = places.filter(|place| !place.is_empty()).collect();
        Names::sorted(list.to_vec(), places)
    }

    fn sorted(text: Vec<u8>, mut places: Vec<Range<usize>>) -> Self {
        if !places.is_sorted_by(|one, other| text[one.clone()] < text[other.clone()]) {
            places.sort_unstable_by(|one, other| text[one.clone()].cmp(&text[other.clone()]));
            places.dedup_by(|one, other| text[one.clone()] == text[other.clone()]);
        }
        Names { text, places }
    }

    fn at(&self, place: &Range<usize>) -> &BStr {
        self.text[place.clone()].as_bstr()
    }

    pub(crate) fn contains(&self, path: &BStr) -> bool {
        self.places
            .binary_search_by(|place| self.at(place).cmp(path))
            .is_ok()
    }

    /// Whether one of them lies below this directory.
    pub(crate) fn any_below(&self, directory: &BStr) -> bool {
        if directory.is_empty() {
            return !self.is_empty();
        }
        let mut start = directory.to_vec();
        start.push(b'/');
        let at = self
            .places
            .partition_point(|place| self.at(place) < start.as_bstr());
        self.places
            .get(at)
            .is_some_and(|place| self.at(place).starts_with(&start))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BStr> {
        self.places.iter().map(|place| self.at(place))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
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
            let list: String = paths.iter().map(|path| format!("{path}\0")).collect();
            let listed = Names::from_list(list.as_bytes());
            prop_assert_eq!(listed.iter().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
        }
    }
}

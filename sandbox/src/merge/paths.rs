//! Which paths are asked for. Pure.

use crate::plan::above;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// Files and directories that are asked for by name; without any, everything is.
#[derive(Debug, Default)]
pub(crate) struct Asked(pub(crate) BTreeSet<BString>);

impl Asked {
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is one of them.
    pub(crate) fn names(&self, path: &BStr) -> bool {
        self.0.contains(path.as_bytes().as_bstr())
    }

    /// Whether it is one of them, or lies in one.
    pub(crate) fn holds(&self, path: &BStr) -> bool {
        self.is_all() || self.names(path) || above(path).any(|up| self.names(up))
    }
}

/// These paths and all directories above them.
pub(crate) fn with_above<'path>(paths: impl Iterator<Item = &'path BString>) -> BTreeSet<BString> {
    let mut all = BTreeSet::new();
    for path in paths {
        for one in std::iter::once(path.as_bstr()).chain(above(path.as_bstr())) {
            if !all.insert(one.to_owned()) {
                break;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_directory_is_asked_for_with_it() {
        let asked = Asked([BString::from("a/b"), BString::from("c")].into());
        let holds = |path: &'static str| asked.holds(BStr::new(path));
        assert!(holds("a/b") && holds("a/b/x") && holds("c"));
        assert!(!holds("a") && !holds("a/bc") && !holds(""));
        assert!(Asked::default().holds(BStr::new("")));
    }

    #[test]
    fn every_directory_above_is_named_once() {
        let paths = [BString::from("a/b/c"), BString::from("a/d")];
        let all: Vec<String> = with_above(paths.iter()).iter().map(ToString::to_string).collect();
        assert_eq!(all, ["a", "a/b", "a/b/c", "a/d"]);
    }
}

//! Filters that the files of a new repository need, and that are not set there: settings that name a command do not travel
//! with a capture.

use crate::apply::host::HostMove;
use crate::git::process::Git;
use crate::git::user;
use crate::scan::names::split;
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;

/// Filters that are named.
const NAMED_MOST: usize = 10;
const NAME_LENGTH_MOST: usize = 64;

impl HostMove<'_> {
    /// Names each filter without which git shows files as modified. Nothing is run for this: the settings of the user are not
    /// read, and the new repository has no command in its own.
    pub(crate) fn lost_filters(&self) -> Outcome<Vec<BString>> {
        if !self.host.git.join("index").is_file() || !self.is_converted()? {
            return Ok(Vec::new());
        }
        let asked = self
            .on_own_files()
            .args(["ls-files", "-z", "-m"])
            .run_to_its_end()?;
        let Some(modified) = asked.ok().filter(|list| !list.is_empty()) else {
            return Ok(Vec::new());
        };
        let asked = self
            .on_own_files()
            .args(["check-attr", "-z", "--stdin", "filter"])
            .input(modified.to_vec())
            .run_to_its_end()?;
        let all = by_filter(asked.ok().unwrap_or_default());
        let mut told = Vec::new();
        for (name, (count, first)) in all.into_iter().take(NAMED_MOST) {
            if !user::has_filter(&name) {
                told.push(warning(&name, count, first.as_bstr()));
            }
        }
        Ok(told)
    }

    fn on_own_files(&self) -> Git {
        self.on_host().work_tree(&self.shadow.top)
    }
}

/// How many files each filter is for, and the first one. `PATH filter NAME`, each ended by NUL.
fn by_filter(list: &[u8]) -> BTreeMap<String, (usize, BString)> {
    let mut all: BTreeMap<String, (usize, BString)> = BTreeMap::new();
    let parts: Vec<&BStr> = split(list).collect();
    for one in parts.chunks_exact(3) {
        if let Some(name) = filter_name(one[2]) {
            all.entry(name).or_insert_with(|| (0, one[0].to_owned())).0 += 1;
        }
    }
    all
}

fn filter_name(value: &BStr) -> Option<String> {
    let text = value.to_str().ok()?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_name = text.chars().all(is_plain)
        && text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && text.len() <= NAME_LENGTH_MOST
        && !matches!(text, "unspecified" | "set" | "unset");
    is_name.then(|| text.to_owned())
}

fn warning(name: &str, count: usize, first: &BStr) -> BString {
    let advice = if name == "lfs" {
        "git lfs install --local".to_owned()
    } else {
        format!(
            "git config filter.{name}.clean and filter.{name}.smudge, as it was in the original repository"
        )
    };
    let head =
        format!("the filter {name} is not set here, so git shows {count} of its files as modified, such as ");
    let rest = format!(": set it up with {advice}");
    [head.as_bytes(), &first.replace("\n", " "), rest.as_bytes()]
        .concat()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_filter() {
        let list =
            b"a.bin\0filter\0lfs\0b.bin\0filter\0lfs\0c\0filter\0unset\0d\0filter\0-x\0e\0filter\0my.own\0";
        let found = by_filter(list);
        let all: Vec<(&str, usize)> = found
            .iter()
            .map(|(name, (count, _))| (name.as_str(), *count))
            .collect();
        assert_eq!(all, [("lfs", 2), ("my.own", 1)]);
        assert_eq!(found["lfs"].1, "a.bin");
        let said = warning("lfs", 2, BStr::new("a\nb"));
        assert_eq!(
            said,
            "the filter lfs is not set here, so git shows 2 of its files as modified, such as a b: set it up with git lfs install --local"
        );
    }
}

//! Reads an index of git, versions 2 to 4. Anything that is not certain is no answer, and git is asked: an index that is
//! split or sparse, flags and extensions of later versions, entries that git itself would refuse.

use crate::git::id::{Format, Id};
use bstr::{BString, ByteSlice};

/// Bytes of an entry before its id: times, device, inode, mode, owner and size.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;

const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const NAME_LENGTH: u16 = 0x0fff;
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) path: BString,
    pub(crate) mode: u32,
    pub(crate) id: Id,
    /// 1 to 3 in a conflict, otherwise 0.
    pub(crate) stage: u8,
    pub(crate) is_assumed_valid: bool,
    pub(crate) is_skipped: bool,
    /// `git add -N`: the path is known, its content is not.
    pub(crate) is_intended: bool,
}

/// Takes bytes from the front.
struct Bytes<'bytes>(&'bytes [u8]);

impl<'bytes> Bytes<'bytes> {
    fn take(&mut self, count: usize) -> Option<&'bytes [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// What comes before the next NUL, which is taken too.
    fn text(&mut self) -> Option<&'bytes [u8]> {
        let (text, rest) = self.0.split_once_str("\0")?;
        self.0 = rest;
        Some(text)
    }

    /// A number as packs have it for offsets.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
        }
        Some(number)
    }
}

/// The entries of an index, in its order, by path and stage.
pub(crate) fn parse(index: &[u8], format: Format) -> Option<Vec<IndexEntry>> {
    let placed = placed(index, format)?;
    Some(placed.into_iter().map(|(_, entry)| entry).collect())
}

/// The same, each with the place at which it begins.
pub(super) fn placed(index: &[u8], format: Format) -> Option<Vec<(usize, IndexEntry)>> {
    let end = index.len().checked_sub(format.width())?;
    let mut bytes = Bytes(&index[..end]);
    if bytes.take(4)? != b"DIRC" {
        return None;
    }
    let version = bytes.u32()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = usize::try_from(bytes.u32()?).ok()?;
    // An entry has more bytes than this, so a count that lies reserves no room.
    let mut entries: Vec<(usize, IndexEntry)> = Vec::with_capacity(count.min(index.len() / STAT_BYTES));
    for _ in 0..count {
        let before = entries.last().map(|(_, entry)| entry.path.as_slice());
        let start = end - bytes.0.len();
        let entry = next(&mut bytes, version, format, before.unwrap_or_default())?;
        if let Some((_, last)) = entries.last()
            && !follows(last, &entry)
        {
            return None;
        }
        entries.push((start, entry));
    }
    while !bytes.0.is_empty() {
        let name = bytes.take(4)?;
        let size = usize::try_from(bytes.u32()?).ok()?;
        bytes.take(size)?;
        // Git may not ignore an extension whose name begins otherwise.
        if !name.first()?.is_ascii_uppercase() {
            return None;
        }
    }
    Some(entries)
}

fn next(bytes: &mut Bytes<'_>, version: u32, format: Format, before: &[u8]) -> Option<IndexEntry> {
    let start = bytes.0.len();
    let stat = bytes.take(STAT_BYTES)?;
    let mode = u32::from_be_bytes(stat[MODE_AT..MODE_AT + 4].try_into().ok()?);
    let id = Id::from_bytes(bytes.take(format.width())?)?;
    let flags = bytes.u16()?;
    let more = if flags & EXTENDED == 0 {
        0
    } else if version == 2 {
        return None;
    } else {
        bytes.u16()?
    };
    if more & !(SKIP_WORKTREE | INTENT_TO_ADD) != 0 {
        return None;
    }
    let path = if version == 4 {
        let kept = before.len().checked_sub(bytes.varint()?)?;
        [&before[..kept], bytes.text()?].concat()
    } else {
        let path = bytes.text()?;
        // Entries begin at multiples of eight, and at least one NUL ends the path.
        let length = start - bytes.0.len();
        let padding = length.next_multiple_of(8) - length;
        if bytes.take(padding)?.iter().any(|byte| *byte != 0) {
            return None;
        }
        path.to_vec()
    };
    if path.is_empty() || path.len().min(usize::from(NAME_LENGTH)) != usize::from(flags & NAME_LENGTH) {
        return None;
    }
    Some(IndexEntry {
        path: BString::from(path),
        mode,
        id,
        stage: (flags >> 12 & 3) as u8,
        is_assumed_valid: flags & ASSUME_VALID != 0,
        is_skipped: more & SKIP_WORKTREE != 0,
        is_intended: more & INTENT_TO_ADD != 0,
    })
}

/// Whether git takes these two entries in this order.
fn follows(one: &IndexEntry, next: &IndexEntry) -> bool {
    match one.path.cmp(&next.path) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => one.stage != 0 && one.stage < next.stage,
        std::cmp::Ordering::Greater => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::process::Git;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    fn run(top: &Path, args: &[&str], input: Vec<u8>) -> Vec<u8> {
        let git = Git::new(top).args(args).input(input);
        let said = git.run().expect("git runs");
        said.ok()
            .unwrap_or_else(|| panic!("{args:?}: {}", said.said()))
            .to_vec()
    }

    /// As `git ls-files -s -v -z` writes it.
    fn listed(entries: &[IndexEntry]) -> BString {
        let lines = entries.iter().flat_map(|entry| {
            let letter = match (entry.stage > 0, entry.is_skipped, entry.is_assumed_valid) {
                (true, _, false) => "M",
                (true, _, true) => "m",
                (false, true, false) => "S",
                (false, true, true) => "s",
                (false, false, true) => "h",
                (false, false, false) => "H",
            };
            let head = format!("{letter} {:06o} {} {}\t", entry.mode, entry.id, entry.stage);
            [head.as_bytes(), &entry.path, b"\0"].concat()
        });
        BString::from(lines.collect::<Vec<u8>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn an_index_says_what_git_lists(
            paths in proptest::collection::btree_set("[a-c]{1,2}(/[a-c\u{e9}]{1,3}){0,2}", 0..12),
            kinds in proptest::collection::vec(0_usize..7, 12),
            version in 2_usize..5,
            is_sha1 in any::<bool>(),
        ) {
            let top = tempfile::tempdir().expect("a temporary directory");
            let format = if is_sha1 { Format::Sha1 } else { Format::Sha256 };
            run(top.path(), &["init", "-q", "--object-format", format.name(), "."], Vec::new());
            let blob = run(top.path(), &["hash-object", "-w", "--stdin"], b"x".to_vec()).trim_ascii().to_str_lossy().into_owned();
            let mut lines = String::new();
            let mut flagged: [String; 2] = Default::default();
            for (path, kind) in paths.iter().zip(kinds) {
                match kind {
                    1 => lines.push_str(&format!("120000 {blob} 0\t{path}\0")),
                    2 => lines.push_str(&format!("100755 {blob} 1\t{path}\0100644 {blob} 3\t{path}\0")),
                    _ => lines.push_str(&format!("100644 {blob} 0\t{path}\0")),
                }
                if kind > 4 {
                    flagged[kind - 5].push_str(&format!("{path}\0"));
                }
            }
            run(top.path(), &["update-index", "-z", "--index-info"], lines.into_bytes());
            // A path may have replaced another that needs its place.
            for (option, paths) in ["--skip-worktree", "--assume-unchanged"].iter().zip(flagged) {
                let there = BString::from(run(top.path(), &["ls-files", "-z"], Vec::new()));
                for path in paths.split_terminator('\0').filter(|path| there.split_str("\0").any(|one| one == path.as_bytes())) {
                    run(top.path(), &["update-index", option, path], Vec::new());
                }
            }
            run(top.path(), &["update-index", "--force-write-index", "--index-version", &version.to_string()], Vec::new());
            let index = fs::read(top.path().join(".git/index")).expect("git wrote an index");
            let entries = parse(&index, format).expect("this index is certain");
            prop_assert_eq!(listed(&entries), BString::from(run(top.path(), &["ls-files", "-s", "-v", "-z"], Vec::new())));
            for cut in [0, 11, index.len() / 2, index.len() - 1] {
                prop_assert!(cut >= index.len() || parse(&index[..cut], format).is_none_or(|some| some.len() <= entries.len()));
            }
        }
    }

    #[test]
    fn an_index_that_is_split_is_not_certain() {
        let top = tempfile::tempdir().expect("a temporary directory");
        run(top.path(), &["init", "-q", "."], Vec::new());
        fs::write(top.path().join("a"), "a").expect("a file");
        run(top.path(), &["add", "a"], Vec::new());
        run(top.path(), &["update-index", "--split-index"], Vec::new());
        let index = fs::read(top.path().join(".git/index")).expect("git wrote an index");
        assert_eq!(parse(&index, Format::Sha1), None);
    }
}

//! The stat table as a file: one version, little-endian numbers, a checksum at the end. A file that is not exactly
//! this is no table, and everything is looked at anew.

use crate::fs::stat::Stat;
use crate::git::id::{Format, Id};
use crate::scan::table::{Began, Entry, Folder, Table, Verdict};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, ByteSlice};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// The version is part of it.
const MAGIC: &[u8] = b"walkback stat table 1\n";

const IGNORED: u8 = 1;
const EXCLUDED: u8 = 2;
const SURE: u8 = 4;
const HAS_ID: u8 = 8;
const BORROWED: u8 = 16;

/// Writes the text of a table under another name, syncs and renames it.
pub(crate) fn save(text: &[u8], path: &Path) -> Outcome<()> {
    let temporary = path.with_extension("part");
    let written = || {
        let mut file = File::create(&temporary)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    written().context("the stat table cannot be written", path)
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn signed(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // Names and hashes are far shorter.
        self.0.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }
}

/// The text of the file.
pub(crate) fn compose(table: &Table<'_>) -> Vec<u8> {
    let mut out = Writer(MAGIC.to_vec());
    out.0.push(table.format.width() as u8);
    out.0.push(u8::from(table.began.is_coarse));
    out.signed(table.began.at);
    out.signed(table.began.offset);
    out.number(table.began.boot);
    out.bytes(&table.rules);
    out.bytes(&table.stores);
    out.number(table.folders.len() as u64);
    for (path, folder) in &table.folders {
        out.bytes(path);
        out.bytes(folder.tree.as_ref().map_or(&[], Id::as_bytes));
        out.0.push(u8::from(folder.is_borrowed));
        out.number(folder.entries.len() as u64);
        for entry in &folder.entries {
            compose_entry(entry, &mut out);
        }
    }
    let mut sum = flate2::Crc::new();
    sum.update(&out.0);
    out.number(u64::from(sum.sum()));
    out.0
}

fn compose_entry(entry: &Entry<'_>, out: &mut Writer) {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.0.push(
        flag(entry.verdict.is_ignored, IGNORED)
            | flag(entry.verdict.is_excluded, EXCLUDED)
            | flag(entry.is_sure, SURE)
            | flag(entry.is_borrowed, BORROWED)
            | flag(entry.id.is_some(), HAS_ID),
    );
    out.bytes(entry.name);
    let Stat {
        device,
        inode,
        size,
        mode,
        modified,
        changed,
    } = entry.stat;
    out.number(device);
    out.number(inode);
    out.number(size);
    out.number(u64::from(mode));
    out.signed(modified);
    out.signed(changed);
    if let Some(id) = &entry.id {
        out.0.extend_from_slice(id.as_bytes());
    }
}

struct Reader<'file>(&'file [u8]);

impl<'file> Reader<'file> {
    fn take(&mut self, count: usize) -> Option<&'file [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn signed(&mut self) -> Option<i64> {
        self.take(8)?.try_into().ok().map(i64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'file BStr> {
        let count = self.take(4)?.try_into().ok().map(u32::from_le_bytes)?;
        self.take(count as usize).map(|bytes| bytes.as_bstr())
    }
}

/// The table that such a text has; nothing when it is damaged or of another version.
pub(crate) fn parse(file: &[u8]) -> Option<Table<'_>> {
    let (content, sum) = file.split_at_checked(file.len().checked_sub(8)?)?;
    let mut crc = flate2::Crc::new();
    crc.update(content);
    if u64::from_le_bytes(sum.try_into().ok()?) != u64::from(crc.sum()) {
        return None;
    }
    let mut from = Reader(content.strip_prefix(MAGIC)?);
    let width = from.byte()?;
    let format = [Format::Sha1, Format::Sha256]
        .into_iter()
        .find(|format| format.width() as u8 == width)?;
    let is_coarse = from.byte()? != 0;
    let began = Began {
        is_coarse,
        at: from.signed()?,
        offset: from.signed()?,
        boot: from.number()?,
    };
    let rules = from.bytes()?.to_vec();
    let stores = from.bytes()?.to_vec();
    let count = from.number()?;
    let mut folders = HashMap::with_capacity(usize::try_from(count).ok()?.min(content.len()));
    for _ in 0..count {
        let path = from.bytes()?;
        let tree = Id::from_bytes(from.bytes()?);
        let is_borrowed = from.byte()? != 0;
        let entries = (0..from.number()?)
            .map(|_| parse_entry(&mut from, format))
            .collect::<Option<_>>()?;
        folders.insert(
            path,
            Folder {
                entries,
                tree,
                is_borrowed,
            },
        );
    }
    from.0.is_empty().then_some(Table {
        format,
        began,
        rules,
        stores,
        folders,
    })
}

fn parse_entry<'file>(from: &mut Reader<'file>, format: Format) -> Option<Entry<'file>> {
    let flags = from.byte()?;
    Some(Entry {
        name: from.bytes()?,
        stat: Stat {
            device: from.number()?,
            inode: from.number()?,
            size: from.number()?,
            mode: u32::try_from(from.number()?).ok()?,
            modified: from.signed()?,
            changed: from.signed()?,
        },
        verdict: Verdict {
            is_ignored: flags & IGNORED != 0,
            is_excluded: flags & EXCLUDED != 0,
        },
        id: if flags & HAS_ID == 0 {
            None
        } else {
            Id::from_bytes(from.take(format.width())?)
        },
        is_sure: flags & SURE != 0,
        is_borrowed: flags & BORROWED != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(bytes: Vec<u8>) -> &'static BStr {
        Box::leak(bytes.into_boxed_slice()).as_bstr()
    }

    fn entries() -> impl Strategy<Value = Vec<Entry<'static>>> {
        let entry = (
            proptest::collection::vec(any::<u8>(), 1..30),
            any::<(u64, u64, u64, u32, i64, i64)>(),
            any::<(bool, bool, bool, bool)>(),
            proptest::option::of(any::<[u8; 20]>()),
        );
        let entry = entry.prop_map(
            |(text, (device, inode, size, mode, modified, changed), flags, id)| Entry {
                name: name(text),
                stat: Stat {
                    device,
                    inode,
                    size,
                    mode,
                    modified,
                    changed,
                },
                verdict: Verdict {
                    is_ignored: flags.0,
                    is_excluded: flags.1,
                },
                is_sure: flags.2,
                is_borrowed: flags.3,
                id: id.and_then(|id| Id::from_bytes(&id)),
            },
        );
        proptest::collection::vec(entry, 0..5)
    }

    fn tables() -> impl Strategy<Value = Table<'static>> {
        let folder =
            (entries(), proptest::option::of(any::<[u8; 20]>())).prop_map(|(entries, tree)| Folder {
                entries,
                tree: tree.and_then(|tree| Id::from_bytes(&tree)),
                is_borrowed: false,
            });
        let path = proptest::collection::vec(any::<u8>(), 0..40).prop_map(name);
        let folders = proptest::collection::hash_map(path, folder, 0..4);
        (folders, any::<(i64, i64, u64, bool)>(), any::<[u8; 32]>()).prop_map(|(folders, began, rules)| {
            Table {
                format: Format::Sha1,
                began: Began {
                    at: began.0,
                    offset: began.1,
                    boot: began.2,
                    is_coarse: began.3,
                },
                rules: rules.to_vec(),
                stores: rules[..5].to_vec(),
                folders,
            }
        })
    }

    proptest! {
        #[test]
        fn a_table_comes_back(table in tables()) {
            let text = compose(&table);
            prop_assert_eq!(parse(&text), Some(table));
        }

        #[test]
        fn a_table_that_is_cut_short_or_changed_is_none(table in tables(), at in any::<prop::sample::Index>(), by in 1_u8..) {
            let whole = compose(&table);
            let at = at.index(whole.len());
            prop_assert_eq!(parse(&whole[..at]), None);
            // Whoever can write the file can write its sum, too.
            let content = &whole[..at.min(whole.len() - 9)];
            let mut sum = flate2::Crc::new();
            sum.update(content);
            let summed = [content, &u64::from(sum.sum()).to_le_bytes()].concat();
            prop_assert_eq!(parse(&summed), None);
            let mut changed = whole;
            changed[at] = changed[at].wrapping_add(by);
            prop_assert_eq!(parse(&changed), None);
        }
    }
}

//! The table of the look before, as the walk asks for it.

use crate::fs::kind::Kind;
use crate::scan::names::Names;
use crate::scan::table::{Entry, Table};
use crate::scan::walk::{Item, Known};
use bstr::{BStr, ByteSlice};

pub(super) struct Before<'look> {
    /// Only while the rules are the same.
    pub(super) table: Option<&'look Table<'look>>,
    pub(super) all: Option<&'look Table<'look>>,
    pub(super) trusted_until: Option<i64>,
    pub(super) wanted: [&'look Names; 3],
}

impl Known for Before<'_> {
    fn entries(&self, directory: &BStr) -> &[Entry<'_>] {
        self.all
            .and_then(|table| table.folder(directory))
            .map_or(&[], |folder| &folder.entries)
    }

    fn has_new_rules(&self, directory: &BStr, items: &[Item]) -> bool {
        let Some(folder) = self.table.and_then(|table| table.folder(directory)) else {
            return true;
        };
        let name = BStr::new(".gitignore");
        let now = items
            .binary_search_by(|item| item.name.as_bstr().cmp(name))
            .ok()
            .map(|at| &items[at]);
        match (folder.entry(name), now) {
            (None, None) => false,
            // Git before 2.32 also reads what a link leads to.
            (Some(then), Some(now)) => {
                now.stat.kind() == Kind::Link || !then.holds(&now.stat, self.trusted_until)
            }
            (Some(_), None) | (None, Some(_)) => true,
        }
    }

    fn is_passed_over(&self, directory: &BStr) -> bool {
        let (above, name) = match directory.rfind_byte(b'/') {
            Some(at) => (directory[..at].as_bstr(), directory[at + 1..].as_bstr()),
            None => (BStr::new(""), directory),
        };
        let entry = self.table.and_then(|table| table.folder(above)?.entry(name));
        entry.is_some_and(|entry| entry.verdict.is_ignored && entry.stat.kind() == Kind::Directory)
            && !self.wanted.iter().any(|names| names.any_below(directory))
    }
}

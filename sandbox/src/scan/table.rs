//! The stat table: what a look at a repository found, so that the next look reads only what may have changed.
//!
//! 1. An entry is trusted only when everything that the system says of the file is as it was, and its change time lay
//!    well before the look that read it. A change in the same tick of the clock would not show.
//! 2. Change times say nothing more when the clock was set back to before them, or after the machine started anew.
//! 3. Where something is in doubt, the file is read.

use crate::fs::stat::Stat;
use crate::git::id::{Format, Id};
use bstr::BStr;
use std::collections::HashMap;

/// A change so shortly before the look counts as later. It is more than one tick of the file system's clock.
pub(crate) const MARGIN: i64 = 60_000_000;
/// Where the file system keeps whole seconds, some (FAT) even every second one.
pub(crate) const COARSE_MARGIN: i64 = 3_000_000_000;
/// The clock was set when it is ahead of the time since the start by so much less than before.
const STEP: i64 = 12_000_000;

/// When a look began, by the clocks of the file system and of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Began {
    /// The earlier of both clocks.
    pub(crate) at: i64,
    /// How far the machine's clock is ahead of the time since it started. Nobody can set the latter.
    pub(crate) offset: i64,
    /// The file system keeps whole seconds.
    pub(crate) is_coarse: bool,
    /// Which start of the machine this is.
    pub(crate) boot: u64,
}

impl Began {
    /// Change times from here on are too late to be trusted.
    pub(crate) fn limit(&self) -> i64 {
        self.at - if self.is_coarse { COARSE_MARGIN } else { MARGIN }
    }
}

/// What becomes of a path by the rules, whoever tracks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// A rule of git ignores it, or a directory above it.
    pub(crate) is_ignored: bool,
    /// A pattern of the session excludes it. Known only where it would be captured otherwise.
    pub(crate) is_excluded: bool,
}

/// One path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'text> {
    pub(crate) name: &'text BStr,
    pub(crate) stat: Stat,
    pub(crate) verdict: Verdict,
    /// What is captured of a file or link.
    pub(crate) id: Option<Id>,
    /// Whether the same stat means the same content.
    pub(crate) is_sure: bool,
    /// The object was found in a store, so it may be one of the host, which can lose it.
    pub(crate) is_borrowed: bool,
}

/// One directory, with everything that is directly in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder<'text> {
    /// Sorted by name.
    pub(crate) entries: Vec<Entry<'text>>,
    /// The tree of what is captured of it.
    pub(crate) tree: Option<Id>,
    /// As for a path.
    pub(crate) is_borrowed: bool,
}

impl<'text> Folder<'text> {
    pub(crate) fn entry(&self, name: &BStr) -> Option<&Entry<'text>> {
        let at = self.entries.binary_search_by(|entry| entry.name.cmp(name));
        at.ok().and_then(|at| self.entries.get(at))
    }
}

/// What a look found. Names are those of the walk, or of the file that the table was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table<'text> {
    pub(crate) format: Format,
    pub(crate) began: Began,
    /// Hash of everything but files in the tree that decides what is ignored.
    pub(crate) rules: Vec<u8>,
    /// What the host's stores of objects looked like. Empty when that is not known.
    pub(crate) stores: Vec<u8>,
    pub(crate) folders: HashMap<&'text BStr, Folder<'text>>,
}

impl<'text> Table<'text> {
    pub(crate) fn folder(&self, path: &BStr) -> Option<&Folder<'text>> {
        self.folders.get(path)
    }

    /// Whether anything in this table may be trusted by a look that begins now, and up to which change time.
    pub(crate) fn trusted_until(&self, now: &Began) -> Option<i64> {
        if self.began.boot != now.boot || now.boot == 0 {
            return None;
        }
        // What happened since the clock was set back may have times from here on.
        let back = self.began.offset - now.offset;
        let limit = self.began.limit().min(now.limit());
        Some(if back > STEP { limit - back } else { limit })
    }
}

impl Entry<'_> {
    /// Whether the file there now has the content that was read.
    pub(crate) fn holds(&self, now: &Stat, trusted_until: Option<i64>) -> bool {
        self.is_sure && self.stat == *now && trusted_until.is_some_and(|limit| now.changed < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn began(at: i64, offset: i64) -> Began {
        Began {
            at,
            offset,
            is_coarse: false,
            boot: 1,
        }
    }

    fn holds(changed: i64, then: Began, now: Began) -> bool {
        let stat = Stat {
            changed,
            modified: changed,
            ..Stat::default()
        };
        let table = Table {
            began: then,
            ..Table::default()
        };
        let entry = Entry {
            name: BStr::new("a"),
            stat,
            verdict: Verdict::default(),
            id: None,
            is_sure: true,
            is_borrowed: false,
        };
        entry.holds(&stat, table.trusted_until(&now))
    }

    #[test]
    fn a_file_that_changed_in_the_tick_of_the_look_is_read_again() {
        let (then, now) = (began(100 * SECOND, 0), began(200 * SECOND, 0));
        assert!(holds(99 * SECOND, then, now));
        assert!(!holds(100 * SECOND - MARGIN, then, now));
        assert!(!holds(100 * SECOND, then, now));
        assert!(!holds(
            99 * SECOND,
            Began {
                is_coarse: true,
                ..then
            },
            now
        ));
        assert!(holds(
            97 * SECOND - 1,
            Began {
                is_coarse: true,
                ..then
            },
            now
        ));
    }

    #[test]
    fn a_clock_that_was_set_back_makes_its_times_unsure() {
        let (then, now) = (began(100 * SECOND, 50 * SECOND), began(101 * SECOND, 40 * SECOND));
        assert!(!holds(95 * SECOND, then, now), "the clock was there twice");
        assert!(holds(89 * SECOND, then, now));
        assert!(
            holds(95 * SECOND, then, began(300 * SECOND, 60 * SECOND)),
            "set forward"
        );
    }

    #[test]
    fn another_start_of_the_machine_makes_everything_unsure() {
        let then = began(100 * SECOND, 0);
        assert!(!holds(
            1,
            then,
            Began {
                boot: 2,
                ..began(200 * SECOND, 0)
            }
        ));
        assert!(!holds(
            1,
            Began { boot: 0, ..then },
            Began {
                boot: 0,
                ..began(200 * SECOND, 0)
            }
        ));
    }
}

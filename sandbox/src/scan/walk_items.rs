//! What the names in one directory are.

use crate::fs::directory;
use crate::fs::handle::Handle;
use crate::fs::kind::Kind;
use crate::fs::stat::stat_in;
use crate::scan::table::Entry;
use crate::scan::walk::{Closed, Directory, Item, Known, Plan, below};
use bstr::{BStr, ByteSlice};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;

/// Notes for each item which entry has its name. Both are sorted.
pub(super) fn join(items: &mut [Item], entries: &[Entry<'_>]) {
    let mut at = 0;
    for item in items {
        while entries
            .get(at)
            .is_some_and(|entry| entry.name < item.name.as_bstr())
        {
            at += 1;
        }
        item.then = entries
            .get(at)
            .filter(|entry| entry.name == item.name.as_bstr())
            .map(|_| at);
    }
}

/// What its `.git` is.
pub(super) fn git_among(handle: &Arc<Handle>, entries: &[directory::Entry]) -> Option<Kind> {
    let git = entries.iter().find(|entry| entry.name == ".git")?;
    git.kind.or_else(|| {
        stat_in(handle.open().ok()?, BStr::new(".git"))
            .ok()
            .map(|stat| stat.kind())
    })
}

/// Looks at what these entries are.
pub(super) fn look_at<K: Known>(
    plan: &Plan<'_, K>,
    handle: &Arc<Handle>,
    entries: Vec<directory::Entry>,
    seen: &mut Directory,
) {
    let open = match handle.open() {
        Ok(open) => open,
        Err(why) => {
            seen.closed = Some(Closed::Unread(why));
            return;
        }
    };
    for entry in entries {
        let name = entry.name.as_bstr();
        if name == ".git" || (seen.path.is_empty() && name == ".agent-shadow") {
            continue;
        }
        match stat_in(open.as_fd(), name) {
            Ok(stat) => {
                let is_of_another =
                    stat.kind() == Kind::Directory && plan.others.contains(&below(seen.path.as_bstr(), name));
                if !is_of_another {
                    seen.items.push(Item {
                        name: entry.name,
                        stat,
                        then: None,
                    });
                }
            }
            Err(Errno::NOENT) => {}
            Err(Errno::ACCESS) => {
                seen.closed = Some(Closed::NotEntered);
                seen.items.clear();
                return;
            }
            Err(why) => seen.unseen.push((entry.name, why)),
        }
    }
}

//! Lists what Walkback keeps below a projects root, and removes what no session needs any more.
//!
//! 1. What may hold files of the user's own stays: what restores put aside, and parked repositories.
//! 2. A folder of a call stays until it is old: a call that runs may still read it.
//! 3. What is removed is found by the same walk as what is listed. So a process that is killed leaves what the next finds.

use crate::capture::begun::Begun;
use crate::fs::directory::{Entry, entries};
use crate::fs::handle::{Handle, is_name};
use crate::fs::kind::{Kind, kind};
use crate::fs::removal::{Size, remove, size};
use crate::lock::Lock;
use crate::wire::check::{Fate, Leftover, LeftoversReport, LeftoversRequest};
use crate::wire::error::{Context, Outcome};
use crate::wire::name::Name;
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{AtFlags, statat, unlinkat};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const HOME: &str = ".agent-shadow";
/// How names begin that go when their session is over.
const OF_SESSIONS: [&str; 8] = [
    "session-",
    "taken-",
    "nested-",
    "unversioned-",
    "room-",
    "journal-",
    "begun-",
    "carried-",
];
/// Of folders that hold those of calls.
const OF_CALLS: [&str; 2] = ["run-", "in-"];
/// Of what may hold files of the user's own.
const KEPT: [&str; 3] = ["aside-", "parked-", "replaced-"];

struct Cleaning<'request> {
    request: &'request LeftoversRequest,
    now: u64,
    found: Vec<Leftover>,
    /// Another session may need the program.
    has_others: bool,
}

pub(crate) fn leftovers(root: &Path, request: &LeftoversRequest) -> Outcome<LeftoversReport> {
    // No other command works here meanwhile.
    let _lock = if request.remove && kind(&root.join(HOME)) == Some(Kind::Directory) {
        Some(Lock::take(root, request.lock_wait_seconds)?)
    } else {
        None
    };
    if request.remove {
        for session in request.ended.iter().filter(|id| is_name(BStr::new(id))) {
            // One that cannot be removed is in the way of git, and not of this.
            let _ = Begun::of(root, session).give_locks();
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut cleaning = Cleaning {
        request,
        now: now.map_or(0, |since| since.as_secs()),
        found: Vec::new(),
        has_others: false,
    };
    let top = Handle::top(root).context("it cannot be looked into", root)?;
    let mut homes = Vec::new();
    cleaning
        .find(&top, BStr::new(""), 0, &mut homes)
        .context("it cannot be looked into", root)?;
    for (path, home) in &homes {
        cleaning.look_in(path.as_bstr(), home);
    }
    // A program that somebody needs is sent again.
    if !cleaning.has_others
        && let Some((path, home)) = homes.iter().find(|(path, _)| path == HOME)
    {
        cleaning.entry(path.as_bstr(), home, (BStr::new("bin"), None), Fate::Remove);
    }
    if request.remove {
        for (path, home) in &homes {
            // A folder that holds something else stays.
            let _ = leave(&top, path.as_bstr(), home);
        }
    }
    Ok(LeftoversReport {
        leftovers: cleaning.found,
    })
}

fn join(path: &BStr, name: &BStr) -> BString {
    if path.is_empty() {
        name.to_owned()
    } else {
        [path.as_bytes(), b"/", name.as_bytes()].concat().into()
    }
}

/// The names in a directory, sorted.
fn sorted(directory: &Handle) -> Result<Vec<Entry>, Errno> {
    let mut names = entries(directory.open()?.as_fd())?;
    names.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(names)
}

/// The session that a name is of, when it begins like this.
fn session_in<'name>(name: &'name BStr, beginnings: &[&str]) -> Option<&'name BStr> {
    beginnings
        .iter()
        .find_map(|beginning| name.strip_prefix(beginning.as_bytes()))
        .map(BStr::new)
}

impl Cleaning<'_> {
    /// Folders of ours below a directory. Where not everything can be read, another session may be there.
    fn find(
        &mut self,
        directory: &Arc<Handle>,
        path: &BStr,
        depth: usize,
        homes: &mut Vec<(BString, Arc<Handle>)>,
    ) -> Result<(), Errno> {
        for entry in sorted(directory)? {
            if entry.kind != Some(Kind::Directory) || entry.name == ".git" || entry.name == "node_modules" {
                continue;
            }
            let inner = join(path, entry.name.as_bstr());
            let entered = directory.enter(entry.name.as_bstr());
            let done = match entered {
                Ok(home) if entry.name == HOME => {
                    homes.push((inner, home));
                    Ok(())
                }
                Ok(below) if depth < self.request.max_depth => {
                    self.find(&below, inner.as_bstr(), depth + 1, homes)
                }
                Ok(_) => Ok(()),
                Err(error) => Err(error),
            };
            self.has_others |= done.is_err();
        }
        Ok(())
    }

    fn look_in(&mut self, path: &BStr, home: &Arc<Handle>) {
        let Ok(names) = sorted(home) else {
            self.has_others = true;
            return;
        };
        for Entry { name, .. } in names {
            let name = name.as_bstr();
            if let Some(session) = session_in(name, &OF_SESSIONS) {
                let is_over = self
                    .request
                    .ended
                    .iter()
                    .any(|id| id.as_bytes() == session.as_bytes());
                self.has_others |= !is_over;
                let fate = if is_over { Fate::Remove } else { Fate::Needed };
                self.entry(path, home, (name, Some(session)), fate);
            } else if let Some(session) = session_in(name, &KEPT) {
                self.entry(path, home, (name, Some(session)), Fate::Keep);
            } else if name == "in" {
                self.calls(path, home, name, None);
            } else if let Some(session) = session_in(name, &OF_CALLS) {
                self.calls(path, home, name, Some(session));
            }
        }
    }

    /// Folders of calls that are over.
    fn calls(&mut self, path: &BStr, home: &Arc<Handle>, name: &BStr, session: Option<&BStr>) {
        let Ok(folder) = home.enter(name) else { return };
        let inner = join(path, name);
        for call in sorted(&folder).unwrap_or_default() {
            let call = call.name.as_bstr();
            if self.is_old(&folder, call) {
                self.entry(inner.as_bstr(), &folder, (call, session), Fate::Remove);
            }
        }
        if self.request.remove {
            // It stays while it holds something.
            let _ = home
                .open()
                .and_then(|open| unlinkat(open, name.as_bytes(), AtFlags::REMOVEDIR));
        }
    }

    fn is_old(&self, folder: &Handle, name: &BStr) -> bool {
        let found = folder
            .open()
            .and_then(|open| statat(open, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW));
        found.is_ok_and(|stat| {
            let at = u64::try_from(stat.st_mtime).unwrap_or(0);
            self.now.saturating_sub(at) > self.request.old_seconds
        })
    }

    /// Lists one, and removes it where that is its fate.
    fn entry(
        &mut self,
        path: &BStr,
        directory: &Arc<Handle>,
        (name, session): (&BStr, Option<&BStr>),
        fate: Fate,
    ) {
        let is_there = directory
            .open()
            .and_then(|open| statat(open, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW));
        if is_there.is_err() {
            return;
        }
        let Size { files, bytes } = size(directory, name);
        let is_left = fate == Fate::Remove && self.request.remove && remove(directory, name).is_err();
        self.found.push(Leftover {
            path: Name(join(path, name)),
            session_id: session.map(|id| id.to_str_lossy().into_owned()),
            fate: if is_left { Fate::Keep } else { fate },
            files,
            bytes,
        });
    }
}

/// Removes a folder of ours that holds nothing any more.
fn leave(top: &Arc<Handle>, path: &BStr, home: &Arc<Handle>) -> Result<(), Errno> {
    let names = sorted(home)?;
    if names
        .iter()
        .any(|entry| entry.name != ".gitignore" && entry.name != "lock")
    {
        return Ok(());
    }
    for Entry { name, .. } in names {
        unlinkat(home.open()?, name.as_bytes(), AtFlags::empty())?;
    }
    let (above, name) = path.rsplit_once_str("/").unwrap_or((b"", path));
    let parent = top.descend(above.as_bstr())?;
    unlinkat(parent.open()?, name, AtFlags::REMOVEDIR)
}

//! What this sandbox has. To find out whether a directory can be made it makes one, and removes it again.

use crate::check::ended::run_within;
use crate::fs::directory::entries;
use crate::fs::handle::Handle;
use crate::fs::kind::{Kind, kind};
use crate::fs::programs::place_of;
use crate::fs::scratch::Scratch;
use crate::fs::text::slurp;
use crate::git::user;
use crate::host::place::path_of;
use crate::wire::check::{Need, PreflightReport, PreflightRequest, Root};
use crate::wire::error::Outcome;
use crate::wire::name::Name;
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Access, AtFlags, accessat, statvfs};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files that are named.
const UNREADABLE_MOST: usize = 5;
const LOOK_WITHIN: Duration = Duration::from_secs(20);
const ASK_WITHIN: Duration = Duration::from_secs(10);
const TOLD_MOST: usize = 300;

pub(crate) fn preflight(root: &Path, request: &PreflightRequest) -> Outcome<PreflightReport> {
    let is_there = request.below.0.is_empty();
    // Without room for it, nothing that was asked writes anything.
    let scratch = Scratch::new().ok();
    let room = statvfs(root).ok();
    Ok(PreflightReport {
        git: scratch
            .as_ref()
            .map_or_else(String::new, |at| said(user::version(), at)),
        user: user_name(),
        has_curl: place_of("curl").is_some(),
        needs: request
            .needs
            .iter()
            .map(|tool| Need {
                tool: tool.clone(),
                at: place_of(tool).map(|at| Name(BString::from(at.as_os_str().as_bytes()))),
            })
            .collect(),
        root: if is_there {
            Root::Directory
        } else if kind(&root.join(path_of(request.below.0.clone()))).is_some() {
            Root::Other
        } else {
            Root::Missing
        },
        can_make: !is_there && accessat(rustix::fs::CWD, root, Access::WRITE_OK, AtFlags::EACCESS).is_ok(),
        is_writable: is_there && can_write(root),
        has_temporary: scratch
            .as_ref()
            .is_some_and(|at| fs::write(at.path().join("x"), "x").is_ok()),
        free_bytes: room.as_ref().map(|room| room.f_bavail * room.f_frsize),
        free_inodes: room.as_ref().map(|room| room.f_ffree),
        unreadable: if is_there { unreadable(root) } else { Vec::new() },
    })
}

/// The first line that a program writes; empty when it does not start, fails or takes too long.
fn said(mut command: Command, scratch: &Scratch) -> String {
    let file = scratch.path().join("said");
    let Ok(out) = File::create(&file) else {
        return String::new();
    };
    command.stdin(Stdio::null()).stdout(out).stderr(Stdio::null());
    match run_within(&mut command, ASK_WITHIN, || {}) {
        Ok(0) => {}
        Ok(_) | Err(_) => return String::new(),
    }
    let text = slurp(&file);
    let line = text.lines().next().unwrap_or_default();
    line.to_str_lossy()
        .chars()
        .filter(|letter| !letter.is_control())
        .take(TOLD_MOST)
        .collect()
}

/// The name of this user, or its number where no list names it. A static program has no name services.
fn user_name() -> String {
    let number = rustix::process::geteuid().as_raw().to_string();
    let list = fs::read("/etc/passwd").unwrap_or_default();
    let named = list.lines().find_map(|line| {
        let mut parts = line.split_str(":");
        let (name, _, own) = (parts.next()?, parts.next()?, parts.next()?);
        (own == number.as_bytes()).then(|| name.to_str_lossy().into_owned())
    });
    named.unwrap_or(number)
}

/// Whether the folder of ours can be written.
fn can_write(root: &Path) -> bool {
    let home = root.join(".agent-shadow");
    let made = kind(&home).is_none() && fs::create_dir(&home).is_ok();
    let probe = home.join(format!("preflight-{}", std::process::id()));
    let can = fs::create_dir(&probe).is_ok();
    if can {
        let _ = fs::remove_dir(&probe);
    }
    if made {
        let _ = fs::remove_dir(&home);
    }
    can
}

/// The first paths that this user cannot read. They are missing in every checkpoint.
fn unreadable(root: &Path) -> Vec<Name> {
    let mut found = Vec::new();
    let until = Instant::now() + LOOK_WITHIN;
    if let Ok(top) = Handle::top(root) {
        look_below(&top, BStr::new(""), until, &mut found);
    }
    found
}

fn look_below(directory: &Arc<Handle>, path: &BStr, until: Instant, found: &mut Vec<Name>) {
    let Ok(open) = directory.open() else { return };
    let Ok(names) = entries(rustix::fd::AsFd::as_fd(&open)) else {
        return;
    };
    for entry in names {
        if found.len() >= UNREADABLE_MOST || Instant::now() > until {
            return;
        }
        if entry.name == ".agent-shadow" || entry.kind == Some(Kind::Link) {
            continue;
        }
        let inner: BString = if path.is_empty() {
            entry.name.clone()
        } else {
            [path.as_bytes(), b"/", &entry.name[..]].concat().into()
        };
        let reads = accessat(&open, entry.name.as_bytes(), Access::READ_OK, AtFlags::EACCESS);
        if reads.is_err() {
            found.push(Name(inner.clone()));
        }
        if entry.kind == Some(Kind::Directory)
            && let Ok(below) = directory.enter(entry.name.as_bstr())
        {
            look_below(&below, inner.as_bstr(), until, found);
        }
    }
}

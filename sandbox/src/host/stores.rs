//! What the host's stores of objects look like from outside. While nothing there changes, no object can have gone.

use crate::fs::directory::entries;
use crate::fs::stat::{Stat, stat_in};
use crate::host::place::Host;
use crate::host::waits::stores_of;
use bstr::{BStr, ByteSlice};
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A hash of everything that changes when an object comes or goes. Empty when a change may not show, because it came
/// after `limit`, a change time.
pub(crate) fn fingerprint(host: &Host, limit: i64) -> Vec<u8> {
    let mut hash = Sha256::new();
    for store in stores_of(&host.common.join("objects")) {
        hash.update(store.as_os_str().as_bytes());
        hash.update(b"\0");
        if add_store(&store, limit, &mut hash).is_none() {
            return Vec::new();
        }
    }
    hash.finalize().to_vec()
}

fn add_store(store: &Path, limit: i64, hash: &mut Sha256) -> Option<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = rustix::fs::open(store, flags, Mode::empty()).ok()?;
    add(
        &Stat::of(&rustix::fs::fstat(&open).ok()?),
        BStr::new("."),
        limit,
        hash,
    )?;
    let mut names: Vec<_> = entries(std::os::fd::AsFd::as_fd(&open)).ok()?;
    names.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    for entry in names
        .iter()
        .filter(|entry| entry.name.len() == 2 || entry.name == "pack")
    {
        add(
            &stat_in(&open, entry.name.as_bstr()).ok()?,
            entry.name.as_bstr(),
            limit,
            hash,
        )?;
    }
    Some(())
}

fn add(stat: &Stat, name: &BStr, limit: i64, hash: &mut Sha256) -> Option<()> {
    hash.update(name);
    for number in [stat.device, stat.inode, stat.modified as u64, stat.changed as u64] {
        hash.update(number.to_le_bytes());
    }
    (stat.changed < limit).then_some(())
}

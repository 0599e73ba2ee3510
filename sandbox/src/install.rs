//! Installs this program where it lies under another name: `install DIGEST`.
//!
//! An upload may have been cut short, and two calls may install at once. So the program compares its own bytes with the
//! digest, and takes its name by renaming. What is under that name is always whole.

use crate::wire::error::{Context, Failure, Outcome};
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Builds that nobody started for so long are removed by the next installation.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

fn own_path() -> Outcome<PathBuf> {
    std::env::current_exe().context("the program cannot find itself", "/proc/self/exe")
}

/// Gives this program its name. The directory is the one in which it lies.
pub(crate) fn install(digest: &str) -> Outcome<()> {
    let own = own_path()?;
    let mut file = File::open(&own).context("cannot be read", &own)?;
    let mut hash = Sha256::new();
    io::copy(&mut file, &mut hash).context("cannot be read", &own)?;
    if format!("{:x}", hash.finalize()) != digest {
        return Err(Failure::Fault("the upload did not arrive whole".into()));
    }
    let directory = own.parent().unwrap_or(Path::new("/"));
    hide(directory)?;
    file.sync_all().context("cannot be synced", &own)?;
    fs::rename(&own, directory.join(digest)).context("cannot be renamed", &own)?;
    File::open(directory)
        .and_then(|opened| opened.sync_all())
        .context("cannot be synced", directory)?;
    remove_unused(directory, digest);
    Ok(())
}

/// In the projects root, the host's git does not see our folder.
fn hide(directory: &Path) -> Outcome<()> {
    let Some(home) = directory
        .parent()
        .filter(|above| above.ends_with(".agent-shadow"))
    else {
        return Ok(());
    };
    let ignore = home.join(".gitignore");
    if fs::symlink_metadata(&ignore).is_ok() {
        Ok(())
    } else {
        fs::write(&ignore, "*\n").context("cannot be written", ignore)
    }
}

fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn age(found: &fs::Metadata) -> Duration {
    found
        .modified()
        .ok()
        .and_then(|then| SystemTime::now().duration_since(then).ok())
        .unwrap_or_default()
}

/// Removes other builds that nobody started lately. One that stays does no harm.
fn remove_unused(directory: &Path, digest: &str) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name
            .to_str()
            .is_some_and(|name| is_digest(name) || name.starts_with("part-"));
        if ours
            && name != digest
            && entry
                .metadata()
                .is_ok_and(|found| found.is_file() && age(&found) > UNUSED)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Notes that this build is in use, at most once a day.
pub(crate) fn note_use() {
    let Ok(own) = own_path() else { return };
    let named = own
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(is_digest);
    if !named || !fs::metadata(&own).is_ok_and(|found| age(&found) > DAY) {
        return;
    }
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let same = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_OMIT,
    };
    let times = Timestamps {
        last_access: same,
        last_modification: now,
    };
    // Another user may own it.
    let _ = rustix::fs::utimensat(rustix::fs::CWD, &own, &times, rustix::fs::AtFlags::empty());
}

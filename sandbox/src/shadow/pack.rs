//! Packs the shadow when it has grown. A step of its own after a capture, which never depends on it.
//!
//! 1. An object goes from its file into a pack, whatever refers to it. Git's own `gc` drops what no ref reaches, and
//!    captures need objects without a ref.
//! 2. A file goes when its pack has its name, is on the disk and was read back. So a process that is killed at any instant,
//!    or finds no room, leaves each object in at least one place, and readers find it there.
//! 3. A call packs only so much. What is left is for the next call.

use crate::fs::room::free_bytes;
use crate::git::id::Id;
use crate::git::process::Git;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Git packs when it finds more than gc.auto (6700) objects that lie alone. It counts those of one directory of 256.
const LOOSE_MOST: usize = 27;
/// What one call packs. A larger object stays: its file saves nothing in a pack.
const OBJECTS_MOST: usize = 20_000;
const BYTES_MOST: u64 = 256 << 20;
const OBJECT_MOST: u64 = 8 << 20;
/// Seconds of processor time for each process of git.
const SECONDS_MOST: u64 = 20;
/// After a try that failed, this many objects must lie in that directory before the next one.
const NOTE: &str = "not-packed";
/// What git answers is an id.
const ANSWER_MOST: usize = 1024;

/// An object in a file of its own.
struct Loose {
    id: Id,
    file: PathBuf,
    bytes: u64,
}

/// Packs objects of the shadow when there are many. After a try that failed, it waits until there are many more.
pub(crate) fn pack_grown(shadow: &Shadow) -> Outcome<()> {
    let alone = names_in(&shadow.objects().join("17")).len();
    let note = shadow.file(NOTE);
    if alone <= LOOSE_MOST {
        if note.exists() {
            fs::remove_file(&note).context("it cannot be removed", &note)?;
        }
        return Ok(());
    }
    let waits_for = fs::read_to_string(&note)
        .ok()
        .and_then(|text| text.trim_end().parse::<usize>().ok());
    if waits_for.is_some_and(|count| alone <= count) {
        return Ok(());
    }
    fs::write(&note, format!("{}\n", alone + LOOSE_MOST)).context("it cannot be written", &note)?;
    pack(shadow, &listed(shadow)?)?;
    fs::remove_file(&note).context("it cannot be removed", &note)
}

fn names_in(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

/// What this call packs. Fails where a pack would not have room beside the files.
fn listed(shadow: &Shadow) -> Outcome<Vec<Loose>> {
    let objects = shadow.objects();
    let mut list = Vec::new();
    let mut total = 0;
    'all: for first in names_in(&objects) {
        let first = first.to_string_lossy();
        if first.len() != 2 {
            continue;
        }
        let directory = objects.join(&*first);
        for rest in names_in(&directory) {
            let Some(id) = Id::from_hex(format!("{first}{}", rest.to_string_lossy()).as_bytes()) else {
                continue;
            };
            let file = directory.join(rest);
            // What it takes on the disk.
            let bytes = fs::symlink_metadata(&file)
                .map(|found| found.blocks() * 512)
                .context("it cannot be looked at", &file)?;
            if bytes > OBJECT_MOST {
                continue;
            }
            if list.len() == OBJECTS_MOST || total >= BYTES_MOST {
                break 'all;
            }
            total += bytes;
            list.push(Loose { id, file, bytes });
        }
    }
    let free = free_bytes(&objects).context("its room cannot be told", &objects)?;
    if free <= 2 * list.iter().map(|one| one.bytes).sum::<u64>() {
        return Err(Failure::Fault("a pack would not have room".into()));
    }
    Ok(list)
}

/// Makes the pack, reads it back, and then removes the files.
fn pack(shadow: &Shadow, list: &[Loose]) -> Outcome<()> {
    let directory = shadow.objects().join("pack");
    remove_halves(&directory)?;
    let ids: String = list.iter().map(|one| format!("{}\n", one.id)).collect();
    let git = || Git::on_shadow(&shadow.top, &shadow.git);
    let (packed, _) = git()
        .args(["-c", "core.bigFileThreshold=1m", "-c", "pack.windowMemory=16m"])
        .args(["pack-objects", "-q"])
        .arg(directory.join("pack"))
        .input(ids)
        .run_limited(ANSWER_MOST, SECONDS_MOST)?;
    let name = packed.ok().and_then(|line| Id::from_hex(line.trim_ascii()));
    let name = name.ok_or_else(|| Failure::Fault(format!("git made no pack: {}", packed.said())))?;
    let index = directory.join(format!("pack-{name}.idx"));
    let (read, _) = git()
        .arg("verify-pack")
        .arg(&index)
        .run_limited(ANSWER_MOST, SECONDS_MOST)?;
    if !read.status.success() {
        return Err(Failure::Fault(format!(
            "git cannot read the pack that it made: {}",
            read.said()
        )));
    }
    let store = File::open(&directory).context("it cannot be opened", &directory)?;
    rustix::fs::syncfs(&store).context("it cannot be synced", &directory)?;
    for one in list {
        fs::remove_file(&one.file).context("it cannot be removed", &one.file)?;
    }
    Ok(())
}

/// A pack whose index was never written is none.
fn remove_halves(directory: &Path) -> Outcome<()> {
    for name in names_in(directory) {
        let file = directory.join(&name);
        let is_part = [OsStr::new("pack"), OsStr::new("rev")]
            .into_iter()
            .any(|end| file.extension() == Some(end));
        if is_part && !file.with_extension("idx").exists() {
            fs::remove_file(&file).context("it cannot be removed", &file)?;
        }
    }
    Ok(())
}

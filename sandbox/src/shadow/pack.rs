//! Packs the shadow when it has grown. A step of its own after a capture, which never depends on it.
//!
//! 1. An object goes from its file, or from a small pack, into a larger pack, whatever refers to it. Git's own `gc` drops
//!    what no ref reaches, and captures need objects without a ref.
//! 2. A file goes when its pack has its name, is on the disk and was read back. So a process that is killed at any instant,
//!    or finds no room, leaves each object in at least one place, and readers find it there.
//! 3. A call packs only so much. What is left is for the next call.

use crate::fs::room::free_bytes;
use crate::git::id::Id;
use crate::git::pack_index;
use crate::git::process::Git;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Git packs when it finds more than gc.auto (6700) objects that lie alone. It counts those of one directory of 256.
const LOOSE_MOST: usize = 27;
/// As git's gc.autoPackLimit.
const PACKS_MOST: usize = 50;
/// What one call packs. A larger object stays: its file saves nothing in a pack.
const OBJECTS_MOST: usize = 20_000;
const BYTES_MOST: u64 = 256 << 20;
const OBJECT_MOST: u64 = 8 << 20;
/// Seconds of processor time for each process of git.
const SECONDS_MOST: u64 = 20;
/// What git answers is an id.
const ANSWER_MOST: usize = 1024;

/// What one pack takes in, and the files that go then.
#[derive(Default)]
struct Batch {
    ids: Vec<Id>,
    /// In the order in which they can go.
    files: Vec<PathBuf>,
    bytes: u64,
}

/// Packs objects of the shadow that lie alone when there are many, and joins packs when there are many. After a try that
/// failed, it waits until there are many more.
pub(crate) fn pack_grown(shadow: &Shadow) -> Outcome<()> {
    let alone = names_in(&shadow.objects().join("17")).len();
    when_grown(shadow, ("not-packed", alone, LOOSE_MOST), || {
        pack(shadow, &alone_in(shadow)?)
    })?;
    let packs = packs_in(shadow);
    when_grown(shadow, ("not-joined", packs.len(), PACKS_MOST), || {
        pack(shadow, &joined(shadow, packs)?)
    })
}

/// Does it when there are more than `most`. The note says how many there must be after a try that failed.
fn when_grown(
    shadow: &Shadow,
    (note, count, most): (&str, usize, usize),
    work: impl FnOnce() -> Outcome<()>,
) -> Outcome<()> {
    let note = shadow.file(note);
    let failed_at = fs::read_to_string(&note)
        .ok()
        .and_then(|text| text.trim_end().parse::<usize>().ok());
    if count <= most {
        if note.exists() {
            fs::remove_file(&note).context("it cannot be removed", &note)?;
        }
        return Ok(());
    }
    if failed_at.is_some_and(|failed| count <= failed) {
        return Ok(());
    }
    fs::write(&note, format!("{}\n", count + most)).context("it cannot be written", &note)?;
    work()?;
    fs::remove_file(&note).context("it cannot be removed", &note)
}

fn names_in(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

/// Objects in files of their own, as many as a call packs.
fn alone_in(shadow: &Shadow) -> Outcome<Batch> {
    let objects = shadow.objects();
    let mut batch = Batch::default();
    for first in names_in(&objects) {
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
            if batch.ids.len() == OBJECTS_MOST || batch.bytes >= BYTES_MOST {
                return Ok(batch);
            }
            batch.bytes += bytes;
            batch.ids.push(id);
            batch.files.push(file);
        }
    }
    Ok(batch)
}

/// The packs that have an index, and their bytes.
fn packs_in(shadow: &Shadow) -> Vec<(PathBuf, u64)> {
    let directory = shadow.objects().join("pack");
    let indexes = names_in(&directory)
        .into_iter()
        .map(|name| directory.join(name))
        .filter(|file| file.extension() == Some(OsStr::new("idx")));
    let with_pack = indexes.filter_map(|index| {
        let pack = index.with_extension("pack");
        let bytes = fs::symlink_metadata(&pack).ok()?.len();
        Some((pack, bytes))
    });
    with_pack.collect()
}

/// What the smallest packs hold, as many of them as a call joins.
fn joined(shadow: &Shadow, mut packs: Vec<(PathBuf, u64)>) -> Outcome<Batch> {
    packs.sort_by_key(|(_, bytes)| *bytes);
    let mut batch = Batch::default();
    let mut count = 0;
    for (pack, bytes) in packs {
        if batch.bytes + bytes > BYTES_MOST {
            break;
        }
        let index = pack.with_extension("idx");
        let ids = pack_index::ids(&index, shadow.format).context("it cannot be read", &index)?;
        if batch.ids.len() + ids.len() > OBJECTS_MOST {
            break;
        }
        count += 1;
        batch.ids.extend(ids);
        batch.bytes += bytes;
        // Without its index a pack is none.
        let files = ["idx", "rev", "pack"].map(|end| pack.with_extension(end));
        batch.files.extend(files.into_iter().filter(|file| file.exists()));
    }
    if count < 2 {
        return Err(Failure::Fault("the packs are too large to be joined".into()));
    }
    Ok(batch)
}

/// Makes the pack, reads it back, and then removes the files.
fn pack(shadow: &Shadow, batch: &Batch) -> Outcome<()> {
    let directory = shadow.objects().join("pack");
    let free = free_bytes(&directory).context("its room cannot be told", &directory)?;
    if free <= 2 * batch.bytes {
        return Err(Failure::Fault("a pack would not have room".into()));
    }
    remove_halves(&directory)?;
    let ids: String = batch.ids.iter().map(|id| format!("{id}\n")).collect();
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
    let made: HashSet<Id> = pack_index::ids(&index, shadow.format)
        .context("it cannot be read", &index)?
        .into_iter()
        .collect();
    if !batch.ids.iter().all(|id| made.contains(id)) {
        return Err(Failure::Fault("git left objects out of the pack".into()));
    }
    let store = File::open(&directory).context("it cannot be opened", &directory)?;
    rustix::fs::syncfs(&store).context("it cannot be synced", &directory)?;
    let made = index.file_stem();
    for file in batch.files.iter().filter(|file| file.file_stem() != made) {
        fs::remove_file(file).context("it cannot be removed", file)?;
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

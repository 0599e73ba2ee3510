//! Paths that are captured although rules ignore them: those that the host tracks, and those that the session asks for.

use crate::fs::kind::{Kind, kind};
use crate::fs::stat::{Stat, nanoseconds};
use crate::git::index::parse;
use crate::git::process::Git;
use crate::host::place::{Host, path_of};
use crate::scan::names::Names;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What was listed of the host's index: its stat, as text, a hash of the paths, and the paths.
const FILE: &str = "host-tracked";

/// Every path in the host's index. Git is asked only when the index may have changed since.
pub(crate) fn tracked(shadow: &Shadow, host: Option<&Host>, limit: i64) -> Outcome<Names> {
    let list = shadow.file(FILE);
    let index = host.map(|host| host.git.join("index"));
    let Some((host, index)) = host
        .zip(index)
        .filter(|(_, index)| kind(index) == Some(Kind::File))
    else {
        if kind(&list).is_some() {
            fs::remove_file(&list).context("it cannot be removed", &list)?;
        }
        return Ok(Names::default());
    };
    let stat = stat_of(&index).context("it cannot be looked at", &index)?;
    let key = format!(
        "{} {} {} {} {}",
        stat.device, stat.inode, stat.size, stat.modified, stat.changed
    );
    let kept = fs::read(&list).unwrap_or_default();
    if let Some((known, rest)) = kept.split_once_str("\0")
        && known == key.as_bytes()
        && let Some((hash, paths)) = rest.split_once_str("\0")
        && hash == hash_of(paths).as_bytes()
    {
        return Ok(Names::from_list(paths));
    }
    let paths = list_index(shadow, host, &index)?;
    // An index that was written in the tick of this look may be written once more in it.
    let key = if stat.changed < limit {
        key
    } else {
        String::from("unsure")
    };
    let written = || {
        fs::write(
            shadow.file("host-tracked.part"),
            [key.as_bytes(), b"\0", hash_of(&paths).as_bytes(), b"\0", &paths].concat(),
        )?;
        fs::rename(shadow.file("host-tracked.part"), &list)
    };
    written().context("the list of tracked files cannot be written", &list)?;
    Ok(Names::from_list(&paths))
}

/// A list that was torn has another one.
fn hash_of(paths: &[u8]) -> String {
    format!("{:x}", Sha256::digest(paths))
}

fn stat_of(path: &Path) -> std::io::Result<Stat> {
    let found = fs::metadata(path)?;
    Ok(Stat {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        mode: found.mode(),
        modified: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed: nanoseconds(found.ctime(), found.ctime_nsec()),
    })
}

/// The paths in an index. One that git cannot read counts as none: the capture of the host's state reports it.
fn list_index(shadow: &Shadow, host: &Host, index: &Path) -> Outcome<Vec<u8>> {
    // A process costs more than reading a plain index here.
    if let Some(entries) = fs::read(index)
        .ok()
        .and_then(|bytes| parse(&bytes, shadow.format))
    {
        let paths = entries.iter().flat_map(|entry| [&entry.path[..], b"\0"].concat());
        return Ok(paths.collect());
    }
    // A split index has another part beside it, which git looks for in its git directory.
    for entry in fs::read_dir(&host.git).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_bytes().starts_with(b"sharedindex.") {
            let copy = shadow.git.join(&name);
            if !copy.exists() {
                fs::copy(entry.path(), &copy).context("it cannot be copied", &copy)?;
            }
        }
    }
    let git = Git::on_shadow(&shadow.top, &shadow.git)
        .env("GIT_WORK_TREE", &shadow.top)
        .env("GIT_INDEX_FILE", index);
    let answer = git.args(["ls-files", "-z", "-c"]).run_to_its_end()?;
    Ok(answer.ok().unwrap_or_default().to_vec())
}

/// Every path that the session asks for by name, ignored or not. Our own files are not among them.
pub(crate) fn included(shadow: &Shadow, include: &[BString]) -> Outcome<Names> {
    if include.is_empty() {
        return Ok(Names::default());
    }
    let git = Git::on_shadow(&shadow.top, &shadow.git)
        .env("GIT_WORK_TREE", &shadow.top)
        .env("GIT_INDEX_FILE", shadow.file("no-index"))
        .args(["--glob-pathspecs", "ls-files", "-z", "-o", "--"])
        .args(include.iter().map(|pattern| path_of(pattern.clone())));
    let answer = git.run_to_its_end()?;
    let Some(list) = answer.ok() else {
        return Err(Failure::Fault(format!(
            "git could not look for included files: {}",
            answer.said()
        )));
    };
    let paths = list
        .split_str("\0")
        .filter(|path| !path.is_empty() && !path.starts_with(b".agent-shadow/"));
    Ok(Names::new(paths.map(BString::from).collect()))
}

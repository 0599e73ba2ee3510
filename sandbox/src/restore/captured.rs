//! What is read of captures: their lists, and in what their trees differ.

use crate::capture::tree::TreeMode;
use crate::git::batch::Batch;
use crate::git::id::Id;
use crate::git::process::Git;
use crate::plan::files::{Content, Difference};
use crate::plan::sidecar::Sidecar;
use crate::read::captured::{HostState, host_state, part};
use crate::scan::names::split;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};

/// The host state and the lists of one capture. The default is that of a repository that is not there.
#[derive(Default)]
pub(crate) struct Captured {
    pub(crate) meta: String,
    pub(crate) host: HostState,
    pub(crate) sidecar: Sidecar,
    /// Files that were left out for their size.
    pub(crate) left_out: Vec<BString>,
    /// Git directories of others that lay in it.
    pub(crate) held: Vec<BString>,
}

impl Captured {
    /// Nothing when the shadow does not have it.
    pub(crate) fn read(objects: &mut Batch, meta: &str) -> Outcome<Option<Self>> {
        let Some(host) = host_state(objects, meta)? else {
            return Ok(None);
        };
        let modes = part(objects, &host.parts, "modes")?;
        let empty = part(objects, &host.parts, "empty")?;
        let left_out = part(objects, &host.parts, "left-out")?;
        let (held, left_out) = split(&left_out)
            .map(BString::from)
            .partition::<Vec<_>, _>(|path| path.ends_with(b"/"));
        let without_slash = |path: BString| BString::from(path.strip_suffix(b"/").unwrap_or(&path));
        Ok(Some(Captured {
            meta: meta.to_owned(),
            sidecar: Sidecar::parse(&modes, &empty),
            host,
            left_out,
            held: held.into_iter().map(without_slash).collect(),
        }))
    }

    /// The id of a part of the host state.
    pub(crate) fn part(&self, name: &str) -> Option<&str> {
        self.host.parts.get(name.as_bytes().as_bstr()).map(String::as_str)
    }
}

/// Whether a path is one of these directories, or lies in one.
pub(crate) fn is_in(path: &BStr, directories: &[BString]) -> bool {
    directories.iter().any(|other| {
        path.strip_prefix(&other[..])
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    })
}

/// In what two trees differ. An error of the inner kind is what git says: mostly, it lacks an object.
pub(crate) fn differences(shadow: &Shadow, from: &str, to: &str) -> Outcome<Result<Vec<Difference>, String>> {
    if from == to {
        return Ok(Ok(Vec::new()));
    }
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to])
        .run_to_its_end()?;
    let Some(list) = answer.ok() else {
        return Ok(Err(answer.why()));
    };
    let parts: Vec<&BStr> = split(list).collect();
    let pairs = parts.chunks_exact(2);
    let all: Option<Vec<Difference>> = pairs.map(|pair| difference(pair[0], pair[1])).collect();
    match all {
        Some(all) => Ok(Ok(all)),
        None => Err(Failure::Fault("the trees differ in what no capture holds".into())),
    }
}

/// `:MODE MODE ID ID STATUS`
fn difference(entry: &BStr, path: &BStr) -> Option<Difference> {
    let words: Vec<&[u8]> = entry.strip_prefix(b":")?.split_str(" ").collect();
    let [from_mode, to_mode, from, to, _] = words[..] else {
        return None;
    };
    Some(Difference {
        path: path.to_owned(),
        from: content(from_mode, from)?,
        to: content(to_mode, to)?,
    })
}

/// Nothing of the inner kind: there is none on this side.
fn content(mode: &[u8], id: &[u8]) -> Option<Option<Content>> {
    let mode = match mode {
        b"000000" => return Some(None),
        b"100644" => TreeMode::File,
        b"100755" => TreeMode::Executable,
        b"120000" => TreeMode::Link,
        _ => return None,
    };
    Some(Some(Content {
        mode,
        id: Id::from_hex(id)?,
    }))
}

/// The paths of all files of a tree; nothing when it is not here.
pub(crate) fn files_of(shadow: &Shadow, tree: &str) -> Outcome<Option<Vec<BString>>> {
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["ls-tree", "-r", "-z", "--name-only", tree])
        .run_to_its_end()?;
    Ok(answer.ok().map(|list| split(list).map(BString::from).collect()))
}

/// Which paths of a tree are one of these, or lie in one.
pub(crate) fn paths_in(shadow: &Shadow, tree: &str, directories: &[BString]) -> Outcome<Vec<BString>> {
    if directories.is_empty() {
        return Ok(Vec::new());
    }
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args([
            "--literal-pathspecs",
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            tree,
            "--",
        ])
        .args(
            directories
                .iter()
                .map(|path| crate::host::place::path_of(path.clone())),
        )
        .run_to_its_end()?;
    match answer.ok() {
        Some(list) => Ok(split(list).map(BString::from).collect()),
        None => Err(Failure::Fault(format!(
            "the files of a capture cannot be listed: {}",
            answer.why()
        ))),
    }
}

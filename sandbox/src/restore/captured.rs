//! What is read of captures: their lists, and in what their trees differ.

use crate::capture::tree::TreeMode;
use crate::git::batch::Batch;
use crate::git::id::Id;
use crate::git::process::{Answered, Git};
use crate::git::trees::{Differs, Leaf};
use crate::plan::files::{Content, Difference};
use crate::plan::sidecar::Sidecar;
use crate::read::captured::{HostState, Missing, find_part, host_state};
use crate::scan::names::split;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};

/// The lists of a capture that say more of its files than its tree.
const LISTS: [&str; 3] = ["modes", "empty", "left-out"];

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
    /// The inner error says what of it the shadow does not have.
    pub(crate) fn find(objects: &mut Batch, meta: &str) -> Outcome<Result<Self, Missing>> {
        let host = match host_state(objects, meta)? {
            Ok(host) => host,
            Err(missing) => return Ok(Err(missing)),
        };
        let mut lists = Vec::with_capacity(LISTS.len());
        for name in LISTS {
            match find_part(objects, &host.parts, name)? {
                Ok(list) => lists.push(list),
                Err(missing) => return Ok(Err(missing)),
            }
        }
        let [modes, empty, left_out] = &lists[..] else {
            return Err(Failure::Fault("not all lists of a capture were read".into()));
        };
        let (held, left_out) = split(left_out)
            .map(BString::from)
            .partition::<Vec<_>, _>(|path| path.ends_with(b"/"));
        let without_slash = |path: BString| BString::from(path.strip_suffix(b"/").unwrap_or(&path));
        Ok(Ok(Captured {
            meta: meta.to_owned(),
            sidecar: Sidecar::parse(modes, empty),
            host,
            left_out,
            held: held.into_iter().map(without_slash).collect(),
        }))
    }

    /// The one that the look of this call made.
    pub(crate) fn just_made(objects: &mut Batch, meta: &str) -> Outcome<Self> {
        Captured::find(objects, meta)?.map_err(|missing| {
            Failure::Fault(format!(
                "the host state that was just made cannot be read: {missing}"
            ))
        })
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

/// What of the objects that it was asked about git could not read, in its words. One that failed without a word, or for lack
/// of memory, says nothing about objects.
pub(crate) fn lacking(answer: &Answered) -> Outcome<Option<String>> {
    const NOT_OF_OBJECTS: [&str; 3] = [
        "ut of memory",
        "annot allocate memory",
        "Resource temporarily unavailable",
    ];
    if answer.status.success() {
        return Ok(None);
    }
    let why = answer.why();
    if answer.said().is_empty() || NOT_OF_OBJECTS.iter().any(|text| why.contains(text)) {
        return Err(Failure::Fault(why));
    }
    Ok(Some(why))
}

/// In what two trees differ. An error of the inner kind is what git says: mostly, it lacks an object.
pub(crate) fn differences(shadow: &Shadow, from: &str, to: &str) -> Outcome<Result<Vec<Difference>, String>> {
    if from == to {
        return Ok(Ok(Vec::new()));
    }
    let read = |all: Vec<Differs>| all.into_iter().map(own_difference).collect();
    if let Some(all) = shadow.differences(from, to).and_then(read) {
        return Ok(Ok(all));
    }
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to])
        .run_to_its_end()?;
    if let Some(lacks) = lacking(&answer)? {
        return Ok(Err(lacks));
    }
    let list = answer.ok().unwrap_or_default();
    let parts: Vec<&BStr> = split(list).collect();
    let pairs = parts.chunks_exact(2);
    let all: Option<Vec<Difference>> = pairs.map(|pair| difference(pair[0], pair[1])).collect();
    match all {
        Some(all) => Ok(Ok(all)),
        None => Err(Failure::Fault("the trees differ in what no capture holds".into())),
    }
}

fn own_difference(one: Differs) -> Option<Difference> {
    let content = |leaf: Option<Leaf>| match leaf {
        Some(Leaf { mode, id }) => mode_of(mode).map(|mode| Some(Content { mode, id })),
        None => Some(None),
    };
    Some(Difference {
        path: one.path,
        from: content(one.from)?,
        to: content(one.to)?,
    })
}

fn mode_of(digits: &[u8]) -> Option<TreeMode> {
    match digits {
        b"100644" => Some(TreeMode::File),
        b"100755" => Some(TreeMode::Executable),
        b"120000" => Some(TreeMode::Link),
        _ => None,
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
    if mode == b"000000" {
        return Some(None);
    }
    Some(Some(Content {
        mode: mode_of(mode)?,
        id: Id::from_hex(id)?,
    }))
}

/// The paths of all files of a tree; nothing when it is not here.
pub(crate) fn files_of(shadow: &Shadow, tree: &str) -> Outcome<Option<Vec<BString>>> {
    if let Some(files) = shadow.files(tree) {
        return Ok(Some(files));
    }
    let answer = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["ls-tree", "-r", "-z", "--name-only", tree])
        .run_to_its_end()?;
    if lacking(&answer)?.is_some() {
        return Ok(None);
    }
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

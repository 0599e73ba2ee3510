//! The command that says who wrote the lines of a file.

use crate::blame::history::History;
use crate::blame::objects::{Objects, Place, lacks_object, unsaid};
use crate::blame::porcelain;
use crate::blame::removal::removal;
use crate::blame::tree::{Entry, EntryKind, look_up};
use crate::bundle::incoming::Incoming;
use crate::fs::scratch::Scratch;
use crate::git::batch::{Batch, Bounded};
use crate::git::id::Format;
use crate::host::place::path_of;
use crate::wire::blame::{BlameReport, BlameRequest, ObjectFormat, Source};
use crate::wire::error::{Failure, Outcome};
use crate::wire::progress::Reporter;
use bstr::ByteSlice;
use std::collections::HashSet;
use std::path::Path;

/// Git's own heuristic for binary files looks at so much.
const LOOKED_AT: usize = 8_000;

/// Only a folder of the call is written, and removed.
pub(crate) fn blame(root: &Path, request: &BlameRequest) -> Outcome<BlameReport> {
    let reporter = Reporter::new();
    let incoming = Incoming::arrive(root, (&request.session_id, &request.call), &reporter)?;
    let told = told(root, request, &incoming);
    incoming.leave();
    told
}

fn told(root: &Path, request: &BlameRequest, incoming: &Incoming<'_>) -> Outcome<BlameReport> {
    let scratch = Scratch::new()?;
    let format = match request.object_format {
        ObjectFormat::Sha1 => Format::Sha1,
        ObjectFormat::Sha256 => Format::Sha256,
    };
    let place = Place {
        projects: root,
        repository: &request.path,
        session: &request.session_id,
    };
    let objects = Objects::open(scratch.path().join("git"), format, &place)?;
    if let Err(said) = incoming.bring_apart(&|| objects.git.git(), &request.bundles)? {
        return Err(Failure::Fault(format!("a bundle cannot be read: {said}")));
    }
    let trees = request.nodes.iter().filter_map(|node| node.tree.as_deref());
    let commits = request.nodes.iter().filter_map(|node| node.commit.as_deref());
    let bases = request.bases.iter().map(String::as_str);
    let sought: HashSet<&str> = trees.chain(commits.clone()).chain(bases).collect();
    let kinds = objects.kinds(sought)?;
    let is = |id: &str, kind: &str| kinds.get(id).is_some_and(|found| found == kind);
    let lost: Vec<usize> = places(request, |tree| !is(tree, "tree"));
    if !lost.is_empty() {
        let bases = request.bases.iter().filter(|id| is(id, "commit"));
        return Ok(BlameReport::Missing {
            nodes: lost,
            bases: bases.cloned().collect(),
        });
    }
    let is_cut = request.shallow && !objects.has_boundary;
    let own: HashSet<&str> = commits.filter(|id| !is_cut && is(id, "commit")).collect();
    let asking = Asking {
        request,
        objects: &objects,
        own,
    };
    match asking.answer() {
        Ok(Some(report)) => Ok(report),
        Ok(None) => Ok(all_missing(request)),
        Err(Failure::Fault(said)) if lacks_object(&said) => Ok(all_missing(request)),
        Err(failure) => Err(failure),
    }
}

/// Places of the states whose tree is like this.
fn places(request: &BlameRequest, is_so: impl Fn(&str) -> bool) -> Vec<usize> {
    let all = request.nodes.iter().enumerate();
    all.filter(|(_, node)| node.tree.as_deref().is_some_and(&is_so))
        .map(|(at, _)| at)
        .collect()
}

/// Something below one of the trees is not there, and nobody says below which.
fn all_missing(request: &BlameRequest) -> BlameReport {
    BlameReport::Missing {
        nodes: (0..request.nodes.len()).collect(),
        bases: Vec::new(),
    }
}

/// A question whose trees are all in the sandbox.
struct Asking<'asking> {
    request: &'asking BlameRequest,
    objects: &'asking Objects,
    /// Commits of the repository's own history.
    own: HashSet<&'asking str>,
}

impl Asking<'_> {
    /// Nothing where an object is not there.
    fn answer(&self) -> Outcome<Option<BlameReport>> {
        let (request, git) = (self.request, &self.objects.git);
        let mut batch = Batch::open(git.path(), git.path())?;
        let file = request.file.0.as_bstr();
        let entry = match request.nodes.last().and_then(|node| node.tree.as_deref()) {
            Some(tree) => match look_up(&mut batch, git.format, tree, file)? {
                Ok(entry) => entry,
                Err(_) => return Ok(None),
            },
            None => None,
        };
        let Some(Entry { kind, id }) = entry else {
            return Ok(Some(BlameReport::Absent {
                removed_by: self.removed_by()?,
            }));
        };
        let kind = match kind {
            EntryKind::Directory => BlameReport::Directory,
            EntryKind::Link => BlameReport::Link,
            EntryKind::Submodule => BlameReport::Submodule,
            EntryKind::File => match batch.object_within(&id, request.max_file_bytes)? {
                Some(Bounded::TooLarge(size_bytes)) => BlameReport::TooLarge { size_bytes },
                Some(Bounded::Whole(object)) if object.kind == "blob" => {
                    return self.lines_of(&object.content);
                }
                Some(Bounded::Whole(_)) | None => return Ok(None),
            },
        };
        Ok(Some(kind))
    }

    /// The history with the repository's own, and the one without it: what that lacks, or what is damaged there, says
    /// nothing about the captures.
    fn histories(&self) -> impl Iterator<Item = Outcome<History>> {
        let none = HashSet::new();
        let nodes = &self.request.nodes;
        let with = (!self.own.is_empty()).then(|| self.own.clone());
        with.into_iter()
            .chain([none])
            .map(|own| History::write(&self.objects.git, nodes, &own))
    }

    /// Nobody is named where git cannot tell.
    fn removed_by(&self) -> Outcome<Option<Source>> {
        for history in self.histories() {
            if let Ok(removed_by) = removal(&self.objects.git, &history?, &self.request.file)? {
                return Ok(removed_by);
            }
        }
        Ok(None)
    }

    fn lines_of(&self, content: &[u8]) -> Outcome<Option<BlameReport>> {
        let request = self.request;
        if content[..content.len().min(LOOKED_AT)].contains(&0) {
            return Ok(Some(BlameReport::Binary));
        }
        let total = content.lines().count() as u64;
        let most = request.from.saturating_add(request.most_lines).saturating_sub(1);
        let to = request.to.unwrap_or(total).min(total).min(most);
        if request.from > to {
            return Ok(Some(BlameReport::Lines {
                total,
                lines: Vec::new(),
                sources: Vec::new(),
                own_commits: Vec::new(),
            }));
        }
        let mut said = String::new();
        for history in self.histories() {
            let history = history?;
            let answer = self
                .objects
                .git
                .git()
                .args(["blame", "--porcelain", "-L"])
                .arg(format!("{},{to}", request.from))
                .args([&history.tip, "--"])
                .arg(path_of(request.file.0.clone()))
                .run_to_its_end()?;
            let Some(text) = answer.ok() else {
                said = answer.said();
                continue;
            };
            let blamed = porcelain::read(text, request.from, &history)
                .ok()
                .filter(|blamed| blamed.lines.len() as u64 == to - request.from + 1)
                .ok_or_else(|| unsaid("its answer is not whole"))?;
            return Ok(Some(BlameReport::Lines {
                total,
                lines: blamed.lines,
                sources: blamed.sources,
                own_commits: history.own,
            }));
        }
        if lacks_object(&said) {
            return Ok(None);
        }
        Err(unsaid(&said))
    }
}

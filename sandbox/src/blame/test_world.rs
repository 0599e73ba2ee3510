//! What the tests of these commands ask about.

use crate::blame::command::blame;
use crate::git::process::Git;
use crate::wire::blame::{BlameReport, BlameRequest, Node, ObjectFormat, Source};
use crate::wire::name::Name;
use bstr::{BStr, ByteSlice};
use std::fs;
use std::path::{Path, PathBuf};

/// A projects root with one repository, `app`, and no shadow.
pub(super) struct World {
    top: tempfile::TempDir,
    format: ObjectFormat,
}

impl World {
    pub(super) fn new(format: ObjectFormat) -> Self {
        let top = tempfile::tempdir().expect("a temporary directory");
        let world = World { top, format };
        fs::create_dir(world.app()).expect("a directory");
        let name = match format {
            ObjectFormat::Sha1 => "--object-format=sha1",
            ObjectFormat::Sha256 => "--object-format=sha256",
        };
        world.git(&["init", "-q", "-b", "main", name, "."], "");
        world
    }

    pub(super) fn root(&self) -> &Path {
        self.top.path()
    }

    pub(super) fn app(&self) -> PathBuf {
        self.root().join("app")
    }

    pub(super) fn git(&self, args: &[&str], input: &str) -> String {
        let app = self.app();
        let answer = Git::new(&app).args(args).input(input).run().expect("git runs");
        let text = answer.ok().unwrap_or_else(|| panic!("{}", answer.why()));
        text.to_str_lossy().trim().to_owned()
    }

    pub(super) fn blob(&self, text: &str) -> String {
        self.git(&["hash-object", "-w", "--stdin"], text)
    }

    /// A tree with this file.
    pub(super) fn tree(&self, name: &str, text: &str) -> String {
        let blob = self.blob(text);
        self.git(&["mktree", "-z"], &format!("100644 blob {blob}\t{name}\0"))
    }

    pub(super) fn request(&self, file: &str, nodes: Vec<Node>) -> BlameRequest {
        BlameRequest {
            session_id: "s".into(),
            call: "c".into(),
            path: name("app"),
            object_format: self.format,
            file: name(file),
            nodes,
            bases: Vec::new(),
            shallow: false,
            from: 1,
            to: None,
            most_lines: 100,
            max_file_bytes: 1000,
            bundles: Vec::new(),
        }
    }

    pub(super) fn ask(&self, file: &str, nodes: Vec<Node>) -> BlameReport {
        blame(self.root(), &self.request(file, nodes)).expect("it is told")
    }
}

pub(super) fn name(text: &str) -> Name {
    Name::from(BStr::new(text))
}

/// A state that came after the one before it in the list.
pub(super) fn chain(trees: &[&str]) -> Vec<Node> {
    let all = trees.iter().enumerate();
    all.map(|(at, tree)| Node {
        tree: Some((*tree).to_owned()),
        parents: at.checked_sub(1).into_iter().collect(),
        commit: None,
    })
    .collect()
}

/// The texts of the lines, and the states that they came with.
pub(super) fn lines(report: BlameReport) -> Vec<(String, Option<usize>)> {
    let BlameReport::Lines { lines, sources, .. } = report else {
        panic!("{report:?} has no lines");
    };
    let node = |source: usize| match &sources[source] {
        Source::Node { node, .. } => Some(*node),
        Source::Commit { .. } => None,
    };
    lines
        .into_iter()
        .map(|line| (line.text, node(line.source)))
        .collect()
}

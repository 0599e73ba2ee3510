//! The host's index: staged and conflicted entries, flags, and which files git need not read again.

use crate::apply::fill::Written;
use crate::apply::host::{HostMove, output};
use crate::fs::remove;
use crate::git::index_stats;
use crate::git::process::Git;
use crate::scan::names::split;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BStr, ByteSlice};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

pub(super) const PARTS: [&str; 5] = ["index", "stage1", "stage2", "stage3", "index-flags"];
/// Words of settings with which git may take a file for changed although it holds the bytes of its entry.
const CONVERTS: [&str; 8] = [
    "autocrlf",
    "eol",
    "attributesfile",
    "sparsecheckout",
    "splitindex",
    "trustctime",
    "checkstat",
    "[include",
];
/// What `git init` writes converts nothing.
const CONVERTS_UNLESS: [(&str, &str); 2] = [("symlinks", "symlinks = true"), ("filemode", "filemode = true")];

impl HostMove<'_> {
    /// Brings the index to the captured state. What it knows of the files of equal entries is kept.
    pub(super) fn move_index(&self) -> Outcome<()> {
        if !PARTS.iter().any(|name| self.differs(name)) {
            return self.refresh_index();
        }
        let Some(locked) = self.lock_index()? else {
            return Err(Failure::Fault("another git process holds index.lock".into()));
        };
        let Some(tree) = Self::part(self.to, "index") else {
            return locked.clear();
        };
        let new = self.shadow.file("new-host-index");
        let begun = || {
            remove::file(&new)?;
            remove::file(&self.shadow.file("new-host-index.lock"))?;
            // Flags would stay on entries that do not change, so an index with flags is built from nothing.
            if locked.index.is_file() && Self::part(self.from, "index-flags").is_none() {
                locked.copy(&new)?;
            }
            Ok::<(), io::Error>(())
        };
        begun().context("a new index cannot be written", &new)?;
        self.read_tree(&tree, &new)?;
        for stage in 1..=3 {
            self.add_stage(stage, &new)?;
        }
        self.flag_entries(&new)?;
        if !self.note_written(&new)? {
            self.restat(&new)?;
        }
        if self.is_converted()? {
            self.forget_sizes(&new)?;
        }
        remove::file(&self.shadow.file("new-host-index.lock")).context("a lock cannot be removed", &new)?;
        locked.put(&new)?;
        remove::file(&new).context("it cannot be removed", new)
    }

    /// A command of the shadow on this index. Its own attributes convert nothing, so no filter of the user's runs.
    pub(super) fn on_index(&self, index: &Path) -> Git {
        self.on_shadow().env("GIT_INDEX_FILE", index)
    }

    fn read_tree(&self, tree: &str, new: &Path) -> Outcome<()> {
        if tree == self.shadow.format.empty_tree() {
            // Git would note the empty tree in the index, and the host's repository may not have that tree. Adding an
            // entry and removing it leaves no note.
            remove::file(new).context("it cannot be removed", new)?;
            let blob = self.empty_blob();
            let zero = "0".repeat(blob.len());
            let git = self.on_index(new).args(["update-index", "--index-info"]);
            return self.git_must(git.input(format!("100644 {blob}\tx\n0 {zero}\tx\n")));
        }
        let reset = self
            .on_index(new)
            .args(["read-tree", "--reset", tree])
            .run_to_its_end()?;
        if reset.status.success() {
            return Ok(());
        }
        remove::file(new).context("it cannot be removed", new)?;
        self.git_must(self.on_index(new).args(["read-tree", tree]))
    }

    pub(super) fn empty_blob(&self) -> &'static str {
        match self.shadow.format {
            crate::git::id::Format::Sha1 => "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
            crate::git::id::Format::Sha256 => {
                "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
            }
        }
    }

    fn add_stage(&self, stage: u8, new: &Path) -> Outcome<()> {
        let Some(tree) = Self::part(self.to, &format!("stage{stage}")) else {
            return Ok(());
        };
        let asked = self
            .on_shadow()
            .args(["ls-tree", "-r", "-z", &tree])
            .run_to_its_end()?;
        let list = output(asked, "the conflicts of the checkpoint cannot be listed")?;
        let mut lines = Vec::new();
        // MODE TYPE ID<TAB>PATH
        for line in split(&list) {
            let Some((entry, path)) = line.split_once_str("\t") else {
                continue;
            };
            let words: Vec<&[u8]> = entry.split_str(" ").collect();
            let [mode, _, id] = words[..] else { continue };
            lines.extend([mode, b" ", id, format!(" {stage}\t").as_bytes(), path, b"\0"].concat());
        }
        let git = self.on_index(new).args(["update-index", "-z", "--index-info"]);
        self.git_must(git.input(lines))
    }

    /// The same for files that were just read back. Whether it was possible.
    fn note_written(&self, index: &Path) -> Outcome<bool> {
        let Some(written) = self.written else {
            return Ok(false);
        };
        let files: HashMap<&BStr, &Written> = written.iter().map(|one| (one.path.as_bstr(), one)).collect();
        let mut content = fs::read(index).context("the index cannot be read", index)?;
        let file = |path: &BStr| files.get(path).map(|one| (&one.id, &one.stat));
        if index_stats::note(&mut content, self.shadow.format, file).is_none() {
            return Ok(false);
        }
        fs::write(index, content).context("a new index cannot be written", index)?;
        Ok(true)
    }

    /// Notes the times of all files that hold the exact bytes of their entry. Without this, git would take them for changed
    /// until somebody asks for its status.
    fn restat(&self, index: &Path) -> Outcome<()> {
        let asked = self
            .on_index(index)
            .args(["update-index", "-q", "--unmerged", "--refresh"])
            .run_to_its_end()?;
        match asked.status.code() {
            Some(0 | 1) => Ok(()),
            _ => Err(Failure::Fault(asked.why())),
        }
    }

    /// Git takes a file for changed when its size differs from the one in the index, without asking what it converts to. So
    /// what the index notes of such a file is removed, and the host's git will look at it.
    fn forget_sizes(&self, index: &Path) -> Outcome<()> {
        let asked = self
            .on_index(index)
            .args(["ls-files", "-m", "-s", "-v", "-z"])
            .run_to_its_end()?;
        let list = output(asked, "the index cannot be read")?;
        let mut lines = Vec::new();
        for line in split(&list) {
            // `C MODE ID STAGE<TAB>PATH`. An entry that is only meant to be added names the empty blob; it has no size.
            let Some(entry) = line.strip_prefix(b"C 100") else {
                continue;
            };
            let is_whole = entry
                .split_str("\t")
                .next()
                .is_some_and(|head| head.ends_with(b" 0") && !head.contains_str(self.empty_blob()));
            if is_whole {
                lines.extend([b"100", entry, b"\0"].concat());
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let git = self.on_index(index).args(["update-index", "-z", "--index-info"]);
        self.git_must(git.input(lines))
    }

    /// Whether the host's index may have noted the sizes of files that git converted.
    pub(super) fn is_converted(&self) -> Outcome<bool> {
        if self.summary.has_attributes || self.shadow.file("converted").exists() || self.do_settings_convert()
        {
            return Ok(true);
        }
        self.has_attributes_below()
    }

    fn do_settings_convert(&self) -> bool {
        let settings = self.settings;
        CONVERTS.iter().any(|word| settings.contains_str(word))
            || CONVERTS_UNLESS.iter().any(|(word, usual)| {
                let all = settings.find_iter(word).count();
                all > settings.find_iter(usual).count()
            })
            || [
                self.host.common.join("info/attributes"),
                self.shadow.top.join(".gitattributes"),
            ]
            .iter()
            .any(|file| fs::symlink_metadata(file).is_ok_and(|found| found.len() > 0))
    }

    /// A tree without attributes is remembered.
    fn has_attributes_below(&self) -> Outcome<bool> {
        let note = self.shadow.file("attributes");
        let none = format!("{} none\n", self.tree);
        if fs::read(&note).is_ok_and(|text| text == none.as_bytes()) {
            return Ok(false);
        }
        let is_attributes = |path: &BStr| path.rsplit_str("/").next() == Some(b".gitattributes");
        let has_any = if let Some(files) = self.shadow.files(self.tree) {
            files.iter().any(|path| is_attributes(path.as_bstr()))
        } else {
            let asked = self
                .on_shadow()
                .args(["ls-tree", "-r", "-z", "--name-only", self.tree])
                .run_to_its_end()?;
            let list = output(asked, "the files of the checkpoint cannot be listed")?;
            split(&list).any(is_attributes)
        };
        if has_any {
            return Ok(true);
        }
        fs::write(&note, none).context("it cannot be written", note)?;
        Ok(false)
    }

    /// Where files were written and the index is right already: notes their times, when git would not find out by itself.
    pub(super) fn refresh_index(&self) -> Outcome<()> {
        let index = self.host.git.join("index");
        if self.summary.written == 0 || !index.is_file() {
            return Ok(());
        }
        let is_converted = self.is_converted()?;
        if !is_converted && !self.is_in_operation() {
            return Ok(());
        }
        // Where another process works with the index, git itself would skip this too.
        let Some(locked) = self.lock_index().ok().flatten() else {
            return Ok(());
        };
        let new = self.shadow.file("new-host-index");
        remove::file(&new)
            .and_then(|()| locked.copy(&new))
            .context("a new index cannot be written", &new)?;
        self.restat(&new)?;
        if is_converted {
            self.forget_sizes(&new)?;
        }
        locked.put(&new)?;
        remove::file(&new).context("it cannot be removed", new)
    }
}

//! An index that is split, sparse, damaged or otherwise unusual: git reads a copy of it, and makes its trees.

use crate::capture::tree::{TreeEntry, TreeMode};
use crate::fs::text::first_line;
use crate::git::id::Id;
use crate::git::process::{Answered, Git};
use crate::host::place::Host;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const COPY: &str = "index-copy";
/// An index of ours that is changed on the way.
const CHANGED: &str = "index-copy.changed";

/// What git makes of an index.
pub(crate) enum ByGit {
    /// The trees are in the shadow.
    Read { entries: Vec<TreeEntry>, flags: Vec<u8> },
    /// Git cannot read it, and says why.
    Unreadable(String),
    /// Git does not find what it names.
    LacksObjects,
}

struct Asking<'ask> {
    shadow: &'ask Shadow,
    copy: PathBuf,
    changed: PathBuf,
    /// Whether objects that are not there are taken.
    may_lack: bool,
}

/// Asks git about an index of these bytes.
pub(crate) fn read(shadow: &Shadow, host: &Host, index: &[u8], may_lack: bool) -> Outcome<ByGit> {
    let asking = Asking {
        shadow,
        copy: shadow.file(COPY),
        changed: shadow.file(CHANGED),
        may_lack,
    };
    copy_shared(shadow, host)?;
    fs::write(&asking.copy, index).context("it cannot be written", &asking.copy)?;
    let read = asking.read();
    for file in [&asking.copy, &asking.changed] {
        // What stays is written anew by the next capture.
        let _ = fs::remove_file(file);
    }
    read
}

/// A split index has another part beside it, which git looks for in its git directory.
fn copy_shared(shadow: &Shadow, host: &Host) -> Outcome<()> {
    for entry in fs::read_dir(&host.git).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let copy = shadow.git.join(&name);
        if name.as_bytes().starts_with(b"sharedindex.") && !copy.exists() {
            fs::copy(entry.path(), &copy).context("it cannot be copied", &copy)?;
        }
    }
    Ok(())
}

/// The output of a process that must succeed.
fn output(answer: Answered) -> Outcome<Vec<u8>> {
    match answer.ok() {
        Some(output) => Ok(output.to_vec()),
        None => Err(Failure::Fault(format!(
            "git could not read the index: {}",
            answer.said()
        ))),
    }
}

impl Asking<'_> {
    fn git(&self, index: &Path) -> Git {
        Git::on_shadow(&self.shadow.top, &self.shadow.git)
            .env("GIT_WORK_TREE", &self.shadow.top)
            .env("GIT_INDEX_FILE", index)
    }

    fn read(&self) -> Outcome<ByGit> {
        let listed = self
            .git(&self.copy)
            .args(["ls-files", "-u", "-z"])
            .run_to_its_end()?;
        let Some(unmerged) = listed.ok() else {
            let line = first_line(listed.stderr.as_bstr());
            if line.is_empty() {
                return output(listed).map(|_| ByGit::LacksObjects);
            }
            let why = line.rsplit_once_str(": ").map_or(line.as_bytes(), |(_, why)| why);
            return Ok(ByGit::Unreadable(why.to_str_lossy().into_owned()));
        };
        let mut entries = Vec::new();
        for (stage, name) in [(1, "stage1"), (2, "stage2"), (3, "stage3")] {
            if unmerged.is_empty() {
                break;
            }
            let Some(tree) = self.stage(unmerged, stage)? else {
                return Ok(ByGit::LacksObjects);
            };
            entries.push(entry(name, tree));
        }
        fs::copy(&self.copy, &self.changed).context("it cannot be written", &self.changed)?;
        if !unmerged.is_empty() {
            let paths = unmerged
                .split_str("\0")
                .filter_map(|line| Some(line.split_once_str("\t")?.1));
            let paths: Vec<u8> = paths.flat_map(|path| [path, b"\0"].concat()).collect();
            let git = self.git(&self.changed);
            output(
                git.args(["update-index", "--force-remove", "-z", "--stdin"])
                    .input(paths)
                    .run_to_its_end()?,
            )?;
        }
        let Some(tree) = self.write_tree()? else {
            return Ok(ByGit::LacksObjects);
        };
        entries.push(entry("index", tree));
        let listed = output(
            self.git(&self.copy)
                .args(["ls-files", "-v", "-z"])
                .run_to_its_end()?,
        )?;
        let mut flags: Vec<u8> = listed
            .split_str("\0")
            .filter(|line| {
                line.first()
                    .is_some_and(|letter| letter.is_ascii_lowercase() || *letter == b'S')
            })
            .flat_map(|line| [line, b"\0"].concat())
            .collect();
        flags.extend(self.intended(tree)?);
        Ok(ByGit::Read { entries, flags })
    }

    /// The tree of one stage of the conflicts, which `ls-files -u` listed.
    fn stage(&self, unmerged: &[u8], stage: u8) -> Outcome<Option<Id>> {
        let head = format!(" {stage}");
        let lines = unmerged.split_str("\0").filter_map(|line| {
            let (entry, path) = line.split_once_str("\t")?;
            let entry = entry.strip_suffix(head.as_bytes())?;
            Some([entry, b" 0\t", path, b"\0"].concat())
        });
        let lines: Vec<u8> = lines.flatten().collect();
        match fs::remove_file(&self.changed) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).context("it cannot be removed", &self.changed);
            }
            Ok(()) | Err(_) => {}
        }
        let git = self.git(&self.changed);
        output(
            git.args(["update-index", "-z", "--index-info"])
                .input(lines)
                .run_to_its_end()?,
        )?;
        self.write_tree()
    }

    /// The tree of the changed index; nothing when it names objects that must be there and are not.
    fn write_tree(&self) -> Outcome<Option<Id>> {
        let git = self.git(&self.changed).arg("write-tree");
        let git = if self.may_lack {
            git.arg("--missing-ok")
        } else {
            git
        };
        let answer = git.run_to_its_end()?;
        if !self.may_lack && !answer.status.success() {
            return Ok(None);
        }
        let id = output(answer)?;
        match Id::from_hex(id.trim_ascii()) {
            Some(id) => Ok(Some(id)),
            None => Err(Failure::Fault("git named no tree of the index".into())),
        }
    }

    /// Paths that are intended to be added (`git add -N`), which the index has and its tree leaves out.
    fn intended(&self, tree: Id) -> Outcome<Vec<u8>> {
        let git = self.git(&self.changed).args([
            "diff-index",
            "--cached",
            "--diff-filter=A",
            "-z",
            "--raw",
            "--ita-visible-in-index",
        ]);
        let listed = output(git.arg(tree.to_string()).run_to_its_end()?)?;
        let mut list = Vec::new();
        let mut fields = listed.split_str("\0");
        while let (Some(entry), Some(path)) = (fields.next(), fields.next()) {
            list.extend_from_slice(&[b"N ", path, b"\0"].concat());
            if entry.starts_with(b":000000 100755 ") {
                list.extend_from_slice(&[b"X ", path, b"\0"].concat());
            } else if entry.starts_with(b":000000 120000 ") {
                list.extend_from_slice(&[b"L ", path, b"\0"].concat());
            }
        }
        Ok(list)
    }
}

fn entry(name: &str, id: Id) -> TreeEntry {
    TreeEntry {
        name: BString::from(name),
        mode: TreeMode::Directory,
        id,
    }
}

//! Objects that the host's repository needs and lacks: those of commits and of the index, which the shadow has.

use crate::apply::host::{HostMove, output};
use crate::git::process::Git;
use crate::read::captured::HostState;
use crate::wire::error::{Context, Outcome};
use bstr::ByteSlice;
use std::collections::HashSet;
use std::fs::{self, File};

/// Refs of the host from which its own objects are told.
const KNOWN_MOST: &str = "--count=500";
const STAGES: [&str; 4] = ["index", "stage1", "stage2", "stage3"];

impl HostMove<'_> {
    /// The host's git. A commit graph still lists commits that are gone.
    fn on_host_objects(&self) -> Git {
        self.on_host().args(["-c", "core.commitGraph=false"])
    }

    /// The parents of a host state: the commits that its repository held.
    fn commits(&self, meta: &str) -> Outcome<Vec<String>> {
        let asked = self
            .on_shadow()
            .args(["cat-file", "commit", meta])
            .run_to_its_end()?;
        let text = output(asked, "a host state cannot be read")?;
        let head = text.lines().take_while(|line| !line.is_empty());
        Ok(head
            .filter_map(|line| line.strip_prefix(b"parent "))
            .map(|id| id.to_str_lossy().into_owned())
            .collect())
    }

    fn objects(&self, state: (&str, &HostState)) -> Outcome<Vec<String>> {
        let mut all = self.commits(state.0)?;
        all.extend(STAGES.iter().filter_map(|name| Self::part(state, name)));
        Ok(all)
    }

    /// Copies what the host lacks.
    pub(super) fn lend(&self) -> Outcome<()> {
        // The host has everything that it held at the capture just made.
        let mut held: HashSet<String> = self.objects(self.from)?.into_iter().collect();
        if Self::part(self.from, "state").is_some() {
            // But git may have pruned what only an operation names (ORIG_HEAD), and the shadow still has it.
            for id in self.missing(&self.commits(self.from.0)?)? {
                held.remove(&id);
            }
        }
        let wanted: Vec<String> = self
            .objects(self.to)?
            .into_iter()
            .filter(|id| !held.contains(id))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let listed = self
            .on_host_objects()
            .args(["for-each-ref", "--format=%(objectname)", KNOWN_MOST])
            .args(["refs/heads", "refs/remotes", "refs/tags"])
            .run_to_its_end()?;
        let known: Vec<String> = output(listed, "the refs of the repository cannot be listed")?
            .lines()
            .map(|line| line.to_str_lossy().into_owned())
            .collect();
        if !self.is_partial && self.has_all(&wanted, &known)? {
            return Ok(());
        }
        self.copy(&wanted, &known)
    }

    fn missing(&self, ids: &[String]) -> Outcome<Vec<String>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let asked = self
            .on_host_objects()
            .args(["cat-file", "--batch-check=%(objectname)"])
            .input(format!("{}\n", ids.join("\n")))
            .run_to_its_end()?;
        let lines = output(asked, "the objects of the repository cannot be looked at")?;
        let gone = lines.lines().filter_map(|line| line.strip_suffix(b" missing"));
        Ok(gone.map(|id| id.to_str_lossy().into_owned()).collect())
    }

    /// Whether the host can read all of it. If git refuses for any reason, the objects are copied.
    fn has_all(&self, wanted: &[String], known: &[String]) -> Outcome<bool> {
        let revisions: String = wanted
            .iter()
            .map(|id| format!("{id}\n"))
            .chain(known.iter().map(|id| format!("^{id}\n")))
            .collect();
        let asked = self
            .on_host_objects()
            .args(["rev-list", "--objects", "--quiet", "--stdin"])
            .input(revisions)
            .run_to_its_end()?;
        Ok(asked.status.success())
    }

    fn copy(&self, wanted: &[String], known: &[String]) -> Outcome<()> {
        let asked = self
            .on_shadow()
            .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
            .input(format!("{}\n", known.join("\n")))
            .run_to_its_end()?;
        let here = output(asked, "the commits of the repository cannot be looked for")?;
        let here = here.lines().filter_map(|line| {
            let (id, kind) = line.split_once_str(" ")?;
            (kind != b"missing").then(|| format!("^{}\n", id.to_str_lossy()))
        });
        let revisions: String = wanted.iter().map(|id| format!("{id}\n")).chain(here).collect();
        let file = self.shadow.file("lend.pack");
        let mut pack = File::create(&file).context("it cannot be written", &file)?;
        let git = self.on_shadow();
        let packed = if self.is_partial {
            // Only rev-list allows that trees are missing.
            let listed = git
                .args(["rev-list", "--objects", "--missing=allow-any", "--stdin"])
                .input(revisions)
                .run_to_its_end()?;
            let objects = output(listed, "the objects of the checkpoint cannot be listed")?;
            self.on_shadow()
                .args(["pack-objects", "--stdout", "--delta-base-offset", "-q"])
                .input(objects)
                .run_into(&mut pack)?
        } else {
            git.args([
                "pack-objects",
                "--revs",
                "--thin",
                "--stdout",
                "--delta-base-offset",
                "-q",
            ])
            .input(revisions)
            .run_into(&mut pack)?
        };
        output(packed, "the objects of the checkpoint cannot be packed")?;
        let git = self
            .on_host_objects()
            .args(["index-pack", "--stdin", "--fix-thin"]);
        let git = if self.is_partial {
            git.arg("--promisor")
        } else {
            git
        };
        let read = File::open(&file).context("it cannot be read", &file)?;
        let taken = git.input_file(read).run_to_its_end()?;
        output(
            taken,
            "the repository does not take the objects of the checkpoint",
        )?;
        fs::remove_file(&file).context("it cannot be removed", file)
    }
}

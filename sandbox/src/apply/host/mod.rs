//! Brings the user's repository itself from one captured state to another: objects, branches, HEAD, index, the rules of a
//! partial checkout, and the operation in progress. Git writes what it has a command for.

mod broken;
mod filters;
mod index;
mod index_flags;
mod index_lock;
mod locks;
pub(crate) mod new;
mod objects;
mod operation;
mod outside;
pub(crate) mod refs;
mod sparse;

use crate::apply::fill::Written;
use crate::fs::remove;
use crate::git::process::{Answered, Git};
use crate::host::place::Host;
use crate::plan::files::Summary;
use crate::read::captured::HostState;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    pub(crate) warnings: Vec<BString>,
    /// Branches that stayed where they were.
    pub(crate) left: BTreeSet<BString>,
    /// The rules of a partial checkout stayed as they were.
    pub(crate) keeps_rules: bool,
}

/// One repository on its way from one host state to another.
pub(crate) struct HostMove<'way> {
    pub(crate) projects: &'way Path,
    pub(crate) session: &'way str,
    pub(crate) shadow: &'way Shadow,
    pub(crate) host: &'way Host,
    /// The settings of the repository, and those of the user, in lower case.
    pub(crate) settings: &'way [u8],
    /// Git reads settings of this worktree alone.
    pub(crate) has_own_settings: bool,
    pub(crate) is_partial: bool,
    /// The host states, and the commits that hold them.
    pub(crate) from: (&'way str, &'way HostState),
    pub(crate) to: (&'way str, &'way HostState),
    /// The tree to come to, and how the files differ from it.
    pub(crate) tree: &'way str,
    pub(crate) summary: Summary,
    /// All files, where they were just written and read back.
    pub(crate) written: Option<&'way [Written]>,
    /// Branches about which another linked worktree decides.
    pub(crate) left: &'way BTreeSet<BString>,
    /// The boundary of a shallow clone, where the repository lost it.
    pub(crate) boundary: Option<&'way [u8]>,
}

impl HostMove<'_> {
    fn part(state: (&str, &HostState), name: &str) -> Option<String> {
        state.1.parts.get(name.as_bytes().as_bstr()).cloned()
    }

    fn differs(&self, name: &str) -> bool {
        Self::part(self.from, name) != Self::part(self.to, name)
    }

    fn on_host(&self) -> Git {
        Git::on_host(&self.shadow.top, &self.host.git)
    }

    fn on_shadow(&self) -> Git {
        Git::on_shadow(&self.shadow.top, &self.shadow.git).env("GIT_WORK_TREE", &self.shadow.top)
    }

    /// Moves everything.
    pub(crate) fn all(&self) -> Outcome<Moved> {
        if !self.to.1.head.is_known() {
            return Ok(Moved {
                warnings: vec![
                    "the host state of this repository was not captured, so branch, HEAD and index stay"
                        .into(),
                ],
                ..Moved::default()
            });
        }
        self.bring_boundary()?;
        let told = self.mend_head()?;
        self.lend()?;
        let mut moved = self.move_refs()?;
        moved.warnings.extend(told);
        let rules = self.move_sparse()?;
        moved.keeps_rules = rules.is_some();
        moved.warnings.extend(rules);
        self.move_index()?;
        self.move_operation()?;
        Ok(moved)
    }

    /// Without it, git looks for the history that it does not have.
    fn bring_boundary(&self) -> Outcome<()> {
        let Some(boundary) = self.boundary else {
            return Ok(());
        };
        let file = self.host.common.join("shallow");
        fs::write(&file, boundary).context("it cannot be written", file)?;
        // It says that the history is not whole (meta/history.rs).
        let note = self.shadow.file("no-history");
        remove::file(&note).context("it cannot be removed", note)
    }

    /// Where files were written and the index stays: lets it know them, where git would not find out by itself.
    pub(crate) fn files_only(&self) -> Outcome<()> {
        self.refresh_index()
    }
}

/// The output of a process that must succeed.
fn output(answer: Answered, doing: &str) -> Outcome<Vec<u8>> {
    match answer.ok() {
        Some(output) => Ok(output.to_vec()),
        None => Err(Failure::Fault(format!("{doing}: {}", answer.why()))),
    }
}

//! The checks of all repositories, before anything of the user's is written.

use crate::capture::held::relative;
use crate::fs::kind::kind;
use crate::fs::remove;
use crate::parallel;
use crate::restore::captured::files_of;
use crate::restore::check::{Checked, Way, check};
use crate::restore::check_coming::check_coming;
use crate::restore::command::Restore;
use crate::restore::free::LeavesInside;
use crate::restore::inner::outer;
use crate::restore::look_all::{Looks, Seen, When};
use crate::restore::problem::{failed, kind_of, problem};
use crate::restore::report::refused;
use crate::scan::names::Names;
use crate::shadow::open::{Shadow, known_shadow};
use crate::shadow::sound;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Work;
use crate::wire::restore::ProblemKind;
use bstr::{BStr, ByteSlice};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Whether objects may be missing, or cannot be read.
fn lacks(one: &Checked) -> bool {
    one.problems.iter().any(|problem| match problem.kind {
        ProblemKind::MissingObjects => true,
        ProblemKind::Failed => one.stand.is_none(),
        ProblemKind::Conflict | ProblemKind::Changed | ProblemKind::UnsafePath | ProblemKind::Interrupted => {
            false
        }
    })
}

impl Restore<'_> {
    pub(super) fn check_all(&self) -> Outcome<BTreeMap<usize, Checked>> {
        let all: Vec<usize> = (0..self.request.repositories.len()).collect();
        let mut checked = self.check_these(&all)?;
        let lacking: Vec<usize> = checked
            .iter()
            .filter(|(_, one)| lacks(one))
            .map(|(at, _)| *at)
            .collect();
        if !lacking.is_empty() {
            self.check_again(&mut checked, &lacking)?;
        }
        self.check_coming_all(&mut checked)?;
        if checked.values().all(|one| one.problems.is_empty()) {
            self.decide_leaving_all(&mut checked)?;
            self.refuse_mounted(&mut checked);
        }
        Ok(checked)
    }

    fn check_again(&self, checked: &mut BTreeMap<usize, Checked>, lacking: &[usize]) -> Outcome<()> {
        // Git reports the loss of objects of the present state in the same way. Those are made again from the files.
        for at in lacking {
            if let Some(shadow) = self.shadow_of(*at) {
                sound::forget(&shadow)?;
            }
        }
        for (at, again) in self.check_these(lacking)? {
            if let Some(stand) = again.stand.as_ref().filter(|_| !lacks(&again)) {
                let mark = stand.shadow.file("damaged");
                remove::file(&mark).context("it cannot be removed", mark)?;
            }
            checked.insert(at, again);
        }
        Ok(())
    }

    /// What comes is checked when it is known what the repository around it puts aside.
    fn check_coming_all(&self, checked: &mut BTreeMap<usize, Checked>) -> Outcome<()> {
        for (at, wanted) in self.request.repositories.iter().enumerate() {
            let Some(target) = &wanted.target else { continue };
            if !checked
                .get(&at)
                .is_some_and(|one| matches!(one.way, Way::Comes(_)))
            {
                continue;
            }
            let outer = outer(self.request, at);
            let plan = outer
                .as_ref()
                .and_then(|(around, _)| checked.get(around)?.plan.as_ref());
            let goes = |bar: &BStr| {
                let Some((around, _)) = &outer else { return false };
                let path = relative(bar, self.request.repositories[*around].path.0.as_bstr());
                // Without a plan, the one around it is refused.
                plan.is_none_or(|plan| path.is_some_and(|path| plan.takes_away(path)))
            };
            let one = check_coming(&self.moving, wanted, target, goes);
            checked.insert(at, one);
        }
        Ok(())
    }

    /// The shadow of a repository, where it has one.
    fn shadow_of(&self, at: usize) -> Option<Shadow> {
        known_shadow(&self.top_of(at), self.moving.session)
    }

    /// An empty directory is no repository that appeared.
    fn may_be_there(&self, at: usize) -> bool {
        self.request.repositories[at].now.is_some() || kind(&self.top_of(at).join(".git")).is_some()
    }

    fn check_these(&self, which: &[usize]) -> Outcome<BTreeMap<usize, Checked>> {
        let there: Vec<usize> = which
            .iter()
            .copied()
            .filter(|at| self.may_be_there(*at))
            .collect();
        let seen = Looks {
            projects: self.projects,
            request: self.request,
            when: When::Now,
            umask: None,
            which: &there,
            target: |one| one.target.as_ref(),
            reads: self.moving.reporter.reads(Work::Files),
        }
        .all()?;
        let leaving = self.leaving_files(&seen)?;
        let seen = Mutex::new(seen);
        let checked = parallel::map(which, |at| {
            let stand = seen.lock().ok().and_then(|mut seen| seen.remove(at));
            Ok((*at, self.check_one(*at, stand, &leaving)?))
        })?;
        Ok(checked.into_iter().collect())
    }

    /// What was captured of each repository that leaves from inside another one, by its place in the request.
    fn leaving_files(&self, seen: &BTreeMap<usize, Seen>) -> Outcome<BTreeMap<usize, Names>> {
        let mut all = BTreeMap::new();
        for (at, stand) in seen {
            let Ok(stand) = stand else { continue };
            if self.request.repositories[*at].target.is_none() && outer(self.request, *at).is_some() {
                let files = files_of(&stand.shadow, &stand.tree.to_string())?;
                all.insert(*at, Names::new(files.unwrap_or_default()));
            }
        }
        Ok(all)
    }

    fn check_one(
        &self,
        at: usize,
        stand: Option<Seen>,
        leaving: &BTreeMap<usize, Names>,
    ) -> Outcome<Checked> {
        let wanted = &self.request.repositories[at];
        // One of which only a directory of ours stands is not there.
        let stand = stand.filter(|_| wanted.now.is_some() || kind(&self.top_of(at).join(".git")).is_some());
        Ok(match (stand, &wanted.now, &wanted.target) {
            (None, None, Some(_)) => Checked::without_look(Way::Comes(None)),
            (None, None, None) => Checked::without_look(Way::Absent),
            (None, Some(_), _) => refused(problem(
                ProblemKind::Changed,
                "the repository vanished after the capture",
            )),
            (Some(Err(why)), _, _) => refused(problem(
                kind_of(&why),
                format!("the repository cannot be read as it is now: {why}"),
            )),
            (Some(Ok(_)), None, _) => refused(problem(
                ProblemKind::Changed,
                "a repository appeared here after the capture; stop what still works here",
            )),
            (Some(Ok(stand)), Some(now), _) => {
                let inside = leaving.iter().filter_map(|(inner, files)| {
                    let path = self.request.repositories[*inner].path.0.as_bstr();
                    Some(LeavesInside {
                        path: relative(path, stand.path.as_bstr())?.to_owned(),
                        files: files.clone(),
                    })
                });
                let inside: Vec<LeavesInside> = inside.collect();
                let with = (&self.moving, self.request, &self.incoming);
                match check(with, wanted, now, (stand, &inside)) {
                    Ok(checked) => checked,
                    Err(refusal @ Failure::Refused { .. }) => return Err(refusal),
                    Err(failure) => refused(failed(&failure)),
                }
            }
        })
    }
}

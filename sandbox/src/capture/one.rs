//! The capture of one repository.

use crate::bundle::folder::Folder;
use crate::bundle::leave::Leaving;
use crate::capture::again::{Ailing, Next};
use crate::capture::call::Call;
use crate::capture::ids::ids;
use crate::capture::outline::{failed, info};
use crate::capture::record::{Between, Place, packed, record};
use crate::capture::repository::{Repository, Sighted, host_part, uncaptured};
use crate::capture::tag::tag;
use crate::capture::targets::note_sought;
use crate::git::heard;
use crate::git::id::Id;
use crate::git::present::present;
use crate::git::store::ObjectStore;
use crate::host::place::path_of;
use crate::meta::history;
use crate::shadow::pack::pack_grown;
use crate::wire::capture::{CaptureRequest, CaptureTarget, FailedName, RepositoryReport, RepositoryState};
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use bstr::{BStr, BString, ByteSlice};
use std::time::{Duration, Instant};

const TRIES: usize = 3;
/// A call that took longer packs no shadow.
const PACK_WITHIN: Duration = Duration::from_secs(60);

/// What every repository of a capture needs.
pub(crate) struct Capturing<'call> {
    pub(crate) request: &'call CaptureRequest,
    pub(crate) folder: &'call Folder,
    pub(crate) now: i64,
    pub(crate) began: Instant,
}

/// A repository, and what leaves the sandbox of it.
pub(crate) struct Captured {
    pub(crate) report: RepositoryReport,
    pub(crate) leaving: Leaving,
}

impl Captured {
    /// What nothing leaves the sandbox of.
    fn only(report: RepositoryReport) -> Self {
        Captured {
            report,
            leaving: Leaving::default(),
        }
    }
}

/// What git warned of in this repository, and nobody knows.
fn warned(repository: &Repository<'_>) -> impl Iterator<Item = FailedName> + use<> {
    let (top, ours) = (&repository.top, repository.top.join(".agent-shadow"));
    let texts = heard::take(|at| at == top || at.starts_with(&ours));
    texts.into_iter().map(|text| FailedName {
        path: Name(BString::from(".")),
        reason: format!(
            "git warned of what Walkback does not know: {}",
            text.to_str_lossy()
        ),
    })
}

impl Capturing<'_> {
    /// Captures a repository. Nothing: another one is in it that nobody knew. A process that was killed each time fails the
    /// call: it says nothing about the repository.
    pub(crate) fn capture(&self, call: &Call<'_>, root: &BStr, is_last: bool) -> Outcome<Option<Captured>> {
        let top = call.asked.projects.join(path_of(root.to_owned()));
        let ailing = Ailing::new(&top, call.asked.session);
        let mut attempt = 0;
        let last = loop {
            attempt += 1;
            let failure = match self.once(call, root, is_last) {
                Ok(captured) => return Ok(captured),
                Err(refused @ Failure::Refused { .. }) => return Err(refused),
                Err(failure) => failure,
            };
            if attempt == TRIES {
                break failure;
            }
            // Without its history, HEAD and branches are not captured, and the files are.
            let may_be_history = attempt == 1
                && matches!(failure, Failure::Fault(_) | Failure::Io { .. })
                && !ailing.is_full(&failure);
            if may_be_history && self.is_history_lost(call, root) {
                continue;
            }
            match ailing.mend(attempt, &failure) {
                Ok(Next::Again) => {}
                Ok(Next::Never) => break failure,
                Err(unmended) => break unmended,
            }
        };
        if matches!(last, Failure::Killed { .. }) {
            return Err(Failure::Fault(format!("{root}: {last}")));
        }
        Ok(Some(Captured::only(failed(root, ailing.reason(&last)))))
    }

    /// Whether a commit that HEAD or a branch comes from cannot be read. A note in the shadow says so to the next look.
    fn is_history_lost(&self, call: &Call<'_>, root: &BStr) -> bool {
        Repository::open(call, root, None)
            .and_then(|repository| history::lost(&repository.reading, &repository.shadow))
            .is_ok_and(|said| said.is_some())
    }

    fn once(&self, call: &Call<'_>, root: &BStr, is_last: bool) -> Outcome<Option<Captured>> {
        let known = self.request.known.iter().find(|known| known.path.0 == root);
        let target = self.request.targets.iter().find(|target| target.path.0 == root);
        let before = known
            .map(|known| &known.commit[..])
            .or(target.map(|target| &target.tree[..]));
        let repository = Repository::open(call, root, before)?;
        // Of a try that failed.
        let _ = warned(&repository);
        let format = repository.shadow.format;
        // The repository was made again in another object format, so nothing from before can be built upon or compared.
        let is_of = |id: &str| id.len() == 2 * format.width();
        let stored = known.filter(|known| is_of(&known.commit));
        let target = target.filter(|target| is_of(&target.tree));
        let store = ObjectStore::new(repository.shadow.objects(), format);
        let wanted = target.map(|target| &target.tree[..]);
        let mut sighted = repository.look(call, is_last, wanted, &store)?;
        if sighted.looked.state.has_unknown_root {
            return Ok(None);
        }
        let (_, mut host) = host_part(&repository, &sighted.looked.state, &store)?;
        let tree = sighted.looked.state.tree;
        let since = sighted.looked.since.take();
        let new = (stored, since.as_ref());
        let linking = self.linking(call, (&repository, &store), (tree, host.meta), new);
        // With the first commit that is tried, one sync makes all of this durable.
        if let Some((linking, next)) = &linking {
            linking.stage(*next)?;
        }
        store.commit()?;
        sighted.looked.keep(&repository.shadow)?;
        host.keep(&repository.shadow)?;
        if let Some(target) = target {
            self.note_target(&repository, &sighted, target)?;
        }
        let (failures, skipped) = uncaptured(&mut sighted.looked.state, &mut host);
        let mut captured = Captured::only(RepositoryReport {
            path: Name(root.to_owned()),
            state: RepositoryState::Captured,
            capture: None,
            info: None,
            changes: None,
            failures,
            skipped,
        });
        let mut ids = ids(&repository, (tree, host.meta), stored, linking, &mut captured)?;
        ids.missing_target = self.lacks(&repository, &ids.commit, target)?;
        if ids.chain.is_some() && self.request.changes {
            let from = known.filter(|known| !known.is_gone).and(stored);
            let (list, said) = record(
                &Place {
                    path: root,
                    top: &repository.top,
                    shadow: &repository.shadow,
                    nested: &repository.nested,
                },
                &Between {
                    from: from.map(|known| &known.tree[..]),
                    from_meta: from.map(|known| &known.meta[..]),
                    tree: &ids.tree,
                    meta: &ids.meta,
                },
            );
            captured.report.changes = Some(said);
            captured.leaving.record = (!list.is_empty()).then(|| packed(list));
        }
        captured.report.failures.extend(warned(&repository));
        tag(&repository, &store, &ids.commit, &self.request.tag);
        if self.began.elapsed() < PACK_WITHIN {
            // No capture depends on it.
            let _ = pack_grown(&repository.shadow);
        }
        captured.report.capture = Some(ids);
        captured.report.info = Some(info(&repository));
        Ok(Some(captured))
    }

    /// Notes for the restore that nothing uncaptured stands where the target has more: what stood there is captured now.
    fn note_target(
        &self,
        repository: &Repository<'_>,
        sighted: &Sighted,
        target: &CaptureTarget,
    ) -> Outcome<()> {
        match &sighted.target {
            Some(compared) if compared.has_more && !compared.is_barred && sighted.looked.has_forced => {
                note_sought(&repository.shadow, &self.request.tag, &target.tree)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the sandbox lacks the target. This is a quick look: a restore checks every object before it writes.
    fn lacks(
        &self,
        repository: &Repository<'_>,
        commit: &str,
        target: Option<&CaptureTarget>,
    ) -> Outcome<bool> {
        let Some(target) = target.filter(|target| target.commit != commit) else {
            return Ok(false);
        };
        let wanted: Option<Vec<Id>> = [&target.commit, &target.tree, &target.meta]
            .into_iter()
            .map(|id| Id::from_hex(id.as_bytes()))
            .collect();
        let Some(mut wanted) = wanted else { return Ok(true) };
        let mut objects = repository.shadow.objects_at_hand();
        wanted.retain(|id| objects.read(id).is_none());
        let there = present(&repository.shadow.git, wanted.iter().copied())?;
        Ok(!wanted.iter().all(|id| there.contains(id)))
    }
}

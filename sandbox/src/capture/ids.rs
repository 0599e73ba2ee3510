//! The ids of a capture: those that the store has when it is the same, else those of a new one with its bundles.

use crate::capture::call::Call;
use crate::capture::chain::{About, Linking, base_serves};
use crate::capture::look::Since;
use crate::capture::one::{Captured, Capturing};
use crate::capture::repository::Repository;
use crate::git::id::Id;
use crate::git::store::ObjectStore;
use crate::host::stash;
use crate::wire::capture::{CaptureIds, Chain, KnownRepository};
use crate::wire::error::Outcome;

impl Capturing<'_> {
    /// What a new capture is made of; nothing when the store has the same one.
    pub(super) fn linking<'link>(
        &'link self,
        call: &'link Call<'_>,
        (repository, store): (&'link Repository<'_>, &'link ObjectStore),
        (tree, meta): (Id, Id),
        (stored, since): (Option<&'link KnownRepository>, Option<&'link Since>),
    ) -> Option<(Linking<'link>, Chain)> {
        if stored.is_some_and(|known| known.tree == tree.to_string() && known.meta == meta.to_string()) {
            return None;
        }
        let reading = &repository.reading;
        let base = reading.base.as_ref().map(|base| &base.name[..]);
        let next = match stored {
            Some(known) if base_serves(known.base.as_deref(), base) => known.next,
            Some(_) | None => Chain::Rebase,
        };
        let is_partial = reading.base.as_ref().is_some_and(|base| base.partial);
        let linking = Linking {
            shadow: &repository.shadow,
            store,
            folder: self.folder,
            about: About {
                session: &self.request.session_id,
                message: &self.request.message,
                reason: &self.request.reason,
                tag: &self.request.tag,
                known_bases: &self.request.known_bases,
            },
            number: call
                .roots
                .iter()
                .position(|root| root == repository.path)
                .unwrap_or_default(),
            now: self.now,
            tree,
            meta,
            previous: stored.map(|known| &known.commit[..]),
            base_commit: stored.and_then(|known| known.base_commit.as_deref()),
            head: reading.commit.as_deref(),
            base,
            is_partial,
            reporter: call.asked.reads.reporter,
            since: since
                .filter(|since| {
                    // The host state has nothing new then, and all that the tree had is in the store.
                    !is_partial
                        && stored.is_some_and(|known| {
                            known.tree == since.tree.to_string() && known.meta == meta.to_string()
                        })
                })
                .map(|since| &since.objects[..]),
        };
        Some((linking, next))
    }
}

/// The ids of what was looked at. A new capture is made, and its bundles.
pub(super) fn ids(
    repository: &Repository<'_>,
    (tree, meta): (Id, Id),
    stored: Option<&KnownRepository>,
    linking: Option<(Linking<'_>, Chain)>,
    captured: &mut Captured,
) -> Outcome<CaptureIds> {
    let reading = &repository.reading;
    let mut ids = CaptureIds {
        commit: stored.map(|known| known.commit.clone()).unwrap_or_default(),
        tree: tree.to_string(),
        meta: meta.to_string(),
        chain: None,
        base: stored.and_then(|known| known.base.clone()),
        base_commit: stored.and_then(|known| known.base_commit.clone()),
        missing_target: false,
        stash: reading.host.as_ref().map(stash::newest).unwrap_or_default(),
    };
    let Some((linking, next)) = linking else {
        return Ok(ids);
    };
    let linked = linking.link(next)?;
    ids.commit = linked.commit.to_string();
    ids.chain = Some(linked.chain);
    if linked.chain == Chain::Rebase {
        ids.base = reading.base.as_ref().map(|base| base.name.clone());
        ids.base_commit = reading.commit.clone();
    }
    captured.leaving.link = Some(linked.link);
    captured.leaving.base = linked.base;
    Ok(ids)
}

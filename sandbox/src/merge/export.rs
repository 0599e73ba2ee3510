//! The commit of a composed state, its bundles, and what is told of it.

use crate::bundle::leave::Leaving;
use crate::capture::chain::{About, Linking};
use crate::capture::record::{Between, Place, packed, record};
use crate::merge::one::Composed;
use crate::merge::steps::{Made, One};
use crate::merge::trouble::Done;
use crate::wire::capture::{CaptureIds, Chain};
use bstr::ByteSlice;

impl<'one> One<'one> {
    /// The commit and its bundles, unless the store has this state.
    pub(super) fn export(&mut self) -> Done<Made> {
        let known = &self.repository.known;
        let request = self.composing.request;
        let is_new = self.repository.is_new;
        let (tree, meta) = (self.tree.to_string(), self.meta.to_string());
        if !is_new && tree == known.tree && meta == known.meta {
            return Ok(Made::default());
        }
        let set = |text: &'one Option<String>| text.as_deref().filter(|text| !text.is_empty());
        let (base, base_commit) = (set(&known.base), set(&known.base_commit));
        let linking = Linking {
            shadow: &self.scratch.shadow,
            store: &self.scratch.store,
            folder: self.composing.folder,
            about: About {
                session: &request.session_id,
                message: &request.message,
                reason: &request.reason,
                tag: &request.tag,
                known_bases: &request.known_bases,
            },
            number: self.number,
            now: self.composing.now,
            tree: self.tree,
            meta: self.meta,
            previous: (!is_new).then_some(&known.commit[..]),
            base_commit: base_commit.filter(|_| !is_new),
            head: base_commit.filter(|_| is_new),
            base: base.filter(|_| is_new),
            is_partial: self.repository.is_partial,
            since: None,
            reporter: self.composing.incoming.reporter,
        };
        let next = if is_new { Chain::Rebase } else { known.next };
        let linked = linking.link(next)?;
        let between = Between {
            from: (!is_new).then_some(&known.tree[..]),
            from_meta: (!is_new).then_some(&known.meta[..]),
            tree: &tree,
            meta: &meta,
        };
        // Nothing is in this directory, so no file of the record still exists.
        let place = Place {
            path: known.path.0.as_bstr(),
            top: &self.scratch.shadow.top,
            shadow: &self.scratch.shadow,
            nested: &[],
        };
        Ok(Made {
            linked: Some(linked),
            changes: Some(record(&place, &between)),
        })
    }

    pub(super) fn composed(self, made: Made) -> Composed {
        let known = &self.repository.known;
        let mut report = self.report;
        let (commit, chain, link, base) = match made.linked {
            Some(linked) => (
                linked.commit.to_string(),
                Some(linked.chain),
                Some(linked.link),
                linked.base,
            ),
            None => (known.commit.clone(), None, None, None),
        };
        // A chain on a new base is not on the one that is stored.
        let is_on_base = chain != Some(Chain::Rebase) || self.repository.is_new;
        let on_base = |text: &Option<String>| text.clone().filter(|text| is_on_base && !text.is_empty());
        let name = on_base(&known.base);
        report.capture = Some(CaptureIds {
            commit,
            tree: self.tree.to_string(),
            meta: self.meta.to_string(),
            chain,
            base_commit: on_base(&known.base_commit).filter(|_| name.is_some()),
            base: name,
            missing_target: false,
            stash: Vec::new(),
        });
        report.conflicts = self.conflicts.into_iter().map(Into::into).collect();
        let record = made.changes.and_then(|(bytes, changes)| {
            report.changes = Some(changes);
            (!bytes.is_empty()).then(|| packed(bytes))
        });
        Composed {
            report,
            leaving: Leaving { link, base, record },
        }
    }
}

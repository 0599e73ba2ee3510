//! Why files stay that the target does not have: it may not have seen them. Only git says what rules ignore.

use crate::capture::wanted;
use crate::plan::files::{Difference, Summary};
use crate::plan::keep::{Why, removed};
use crate::restore::captured::{Captured, files_of, is_in, paths_in};
use crate::restore::rules_then::RulesThen;
use crate::restore::stand::Stand;
use crate::scan::ignored;
use crate::scan::names::Names;
use crate::wire::error::{Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub(crate) struct Asking<'ask> {
    pub(crate) stand: &'ask Stand,
    pub(crate) differences: &'ask [Difference],
    pub(crate) summary: Summary,
    pub(crate) target_tree: &'ask str,
    pub(crate) target: &'ask Captured,
    /// Files that the caller knows to have been left out for their size.
    pub(crate) skipped: &'ask [BString],
    pub(crate) include: &'ask [BString],
    /// The checkpoint of the target.
    pub(crate) tag: Option<&'ask str>,
}

impl Asking<'_> {
    pub(crate) fn reasons(&self) -> Outcome<BTreeMap<BString, Why>> {
        let gone: Vec<BString> = removed(self.differences).map(BString::from).collect();
        let mut reasons = BTreeMap::new();
        if gone.is_empty() {
            return Ok(reasons);
        }
        let then = self.skipped.iter().chain(&self.target.left_out);
        reasons.extend(then.map(|path| (path.clone(), Why::TooLarge)));
        let held = gone
            .iter()
            .filter(|path| is_in(path.as_bstr(), &self.target.held));
        reasons.extend(held.map(|path| (path.clone(), Why::Held)));
        let now = ignored::by_all_rules(&self.stand.shadow, &gone)?.ignored;
        if !self.summary.has_rules && now.is_empty() {
            return Ok(reasons);
        }
        let shadow = &self.stand.shadow;
        let included = wanted::included(shadow, self.include)?;
        let sought = self.sought()?;
        let then = self.ignored_then(&gone)?;
        for path in then {
            // The capture before a restore looked for it, ignored or not.
            if !included.contains(path.as_bstr()) && !sought.contains(&path) {
                reasons.insert(path, Why::IgnoredThen);
            }
        }
        if !now.is_empty() {
            // The list was just made for the look.
            let tracked = wanted::tracked(shadow, self.stand.reading.host.as_ref(), 0)?;
            let stays = now
                .into_iter()
                .filter(|path| !tracked.contains(path.as_bstr()) && !included.contains(path.as_bstr()));
            reasons.extend(stays.map(|path| (path, Why::IgnoredNow)));
        }
        Ok(reasons)
    }

    /// What would have been captured in the target, whatever its rules say.
    fn sought(&self) -> Outcome<HashSet<BString>> {
        let text = crate::fs::text::slurp(&self.stand.shadow.file("sought"));
        let mut found = HashSet::new();
        for line in text.lines() {
            let Some((tag, tree)) = line.split_once_str(" ") else {
                continue;
            };
            if self.tag.is_some_and(|wanted| wanted.as_bytes() == tag) {
                // It may be of a shadow that was made anew since.
                found.extend(files_of(&self.stand.shadow, &tree.to_str_lossy())?.unwrap_or_default());
            }
        }
        Ok(found)
    }

    /// Those of these paths that the rules of the target ignore. What its index tracks is not ignored.
    fn ignored_then(&self, gone: &[BString]) -> Outcome<HashSet<BString>> {
        let rules = RulesThen::of(self.stand, self.target_tree)?;
        rules.add_hiding(self.differences)?;
        let mut ignored = rules.ignored(gone)?;
        if ignored.is_empty() {
            return Ok(ignored);
        }
        if let Some(index) = self.target.part("index") {
            let tracked = files_of(&self.stand.shadow, index)?
                .ok_or_else(|| Failure::Fault("the index of the checkpoint cannot be listed".into()))?;
            let tracked = Names::new(tracked);
            ignored.retain(|path| !tracked.contains(path.as_bstr()));
        }
        Ok(ignored)
    }
}

/// Which of the paths of a sidecar the rules hide by now. A directory that holds captured files is not hidden.
pub(crate) fn hidden(stand: &Stand, tree: &str, paths: Vec<BString>) -> Outcome<BTreeSet<BString>> {
    let mut hidden: BTreeSet<BString> = ignored::by_all_rules(&stand.shadow, &paths)?
        .ignored
        .into_iter()
        .collect();
    if !hidden.is_empty() {
        let asked: Vec<BString> = hidden.iter().cloned().collect();
        for path in paths_with_files(stand, tree, &asked)? {
            hidden.remove(&path);
        }
    }
    Ok(hidden)
}

fn paths_with_files(stand: &Stand, tree: &str, paths: &[BString]) -> Outcome<Vec<BString>> {
    let files = paths_in(&stand.shadow, tree, paths)?;
    let holds = |path: &BString| {
        files
            .iter()
            .any(|file| is_in(file.as_bstr(), std::slice::from_ref(path)))
    };
    Ok(paths.iter().filter(|path| holds(path)).cloned().collect())
}

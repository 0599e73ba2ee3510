//! The capture commit, and the bundle that joins it to what the store has.

use crate::bundle::folder::Folder;
use crate::bundle::make::{Content, Made, make};
use crate::bundle::small::{self, small};
use crate::bundle::spool::Spooled;
use crate::git::id::{Id, ObjectKind};
use crate::git::process::{Answered, Git};
use crate::git::store::{ObjectStore, Small};
use crate::shadow::open::Shadow;
use crate::wire::capture::Chain;
use crate::wire::error::{Failure, Outcome};
use crate::wire::progress::Reporter;
use std::collections::BTreeSet;

/// What the commit says, and what the store has beside the repository.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'call> {
    pub(crate) session: &'call str,
    pub(crate) message: &'call str,
    pub(crate) reason: &'call str,
    /// Names the checkpoint.
    pub(crate) tag: &'call str,
    /// Names of bases that are stored.
    pub(crate) known_bases: &'call [String],
}

/// What a link is made of.
pub(crate) struct Linking<'link> {
    pub(crate) shadow: &'link Shadow,
    pub(crate) store: &'link ObjectStore,
    pub(crate) folder: &'link Folder,
    pub(crate) about: About<'link>,
    /// Number of the repository in the answer. Its files have that name.
    pub(crate) number: usize,
    /// Seconds since the epoch.
    pub(crate) now: i64,
    pub(crate) tree: Id,
    pub(crate) meta: Id,
    /// What the store has.
    pub(crate) previous: Option<&'link str>,
    pub(crate) base_commit: Option<&'link str>,
    /// The host's HEAD now, and the name of the base that would be made of it.
    pub(crate) head: Option<&'link str>,
    pub(crate) base: Option<&'link str>,
    pub(crate) is_partial: bool,
    /// What may be new since the capture that the store has, without the commit; nothing when that is not certain.
    pub(crate) since: Option<&'link [Id]>,
    pub(crate) reporter: &'link Reporter,
}

/// A capture that the store does not have.
pub(crate) struct Linked {
    pub(crate) commit: Id,
    pub(crate) chain: Chain,
    pub(crate) link: Spooled,
    pub(crate) base: Option<Spooled>,
}

impl Linking<'_> {
    /// Makes the link: append, else restart, else rebase, whichever the objects in the sandbox still allow. Packing shows
    /// which of them it no longer has.
    pub(crate) fn link(&self, next: Chain) -> Outcome<Linked> {
        let mut chain = next;
        loop {
            if chain == Chain::Restart && !self.can_restart()? {
                chain = Chain::Rebase;
            }
            let prerequisite = match chain {
                Chain::Append => self.previous,
                Chain::Restart => self.base_commit,
                Chain::Rebase => self.head,
            };
            let commit = self.stage(chain)?;
            self.store.commit()?;
            let tip = commit.to_string();
            let file = format!("{}.link", self.number);
            let content = Content {
                tip: &tip,
                name: "refs/walkback/capture",
                prerequisite,
                is_partial: self.is_partial,
                more: self.more(chain),
            };
            let few = (chain == Chain::Append).then(|| self.few(commit)).flatten();
            let made = match few {
                Some(objects) => {
                    Made::Bundle(small(self.store.format, self.folder, file, &content, &objects)?)
                }
                None => make(self.shadow, (self.folder, self.reporter), file, &content)?,
            };
            match made {
                Made::Bundle(link) => {
                    let base = match chain {
                        Chain::Rebase => self.base_bundle()?,
                        Chain::Append | Chain::Restart => None,
                    };
                    return Ok(Linked {
                        commit,
                        chain,
                        link,
                        base,
                    });
                }
                Made::Impossible(answer) => {
                    let why = impossible(&answer);
                    // Each of these says nothing about the objects that are here.
                    if matches!(why, Failure::Killed { .. }) || why.is_full() {
                        return Err(why);
                    }
                    chain = match chain {
                        Chain::Append => Chain::Restart,
                        Chain::Restart if self.head.is_some() => Chain::Rebase,
                        Chain::Restart | Chain::Rebase => return Err(why),
                    };
                }
            }
        }
    }

    /// Stages the commit that such a link ends with.
    pub(crate) fn stage(&self, chain: Chain) -> Outcome<Id> {
        let parent = match chain {
            Chain::Append => self.previous,
            Chain::Restart | Chain::Rebase => None,
        };
        self.store.put(ObjectKind::Commit, self.text(parent).as_bytes())
    }

    /// All objects of an appended link, where they are few and this call stored each of them.
    fn few(&self, commit: Id) -> Option<Vec<Small>> {
        let ids = [&[commit], self.since?].concat();
        let objects: Vec<Small> = ids
            .iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|id| self.store.recent(id))
            .collect::<Option<_>>()?;
        let bytes: usize = objects.iter().map(|object| object.content.len()).sum();
        (bytes <= small::MOST).then_some(objects)
    }

    /// Whether the commit of the base is here. Without a base and without commits, a chain restarts on nothing.
    fn can_restart(&self) -> Outcome<bool> {
        let Some(commit) = self.base_commit else {
            return Ok(self.head.is_none());
        };
        let answer = Git::on_shadow(&self.shadow.top, &self.shadow.git)
            .args(["cat-file", "-e"])
            .arg(format!("{commit}^{{tree}}"))
            .run_to_its_end()?;
        Ok(answer.status.success())
    }

    fn is_base_stored(&self) -> bool {
        self.base
            .is_some_and(|base| self.about.known_bases.iter().any(|known| known == base))
    }

    /// The objects of a partial clone that are listed, too: the tree of the files, and the tree before it that the store
    /// has complete. A base that is made now contains everything that is here.
    fn more(&self, chain: Chain) -> Vec<String> {
        let tree = self.tree.to_string();
        match (chain, self.previous) {
            _ if !self.is_partial => Vec::new(),
            (Chain::Append, Some(previous)) => vec![tree, format!("^{previous}^{{tree}}")],
            (Chain::Rebase, _) if !self.is_base_stored() => Vec::new(),
            (Chain::Append | Chain::Restart | Chain::Rebase, _) => vec![tree],
        }
    }

    /// The host's commit with its history, unless the store has it.
    fn base_bundle(&self) -> Outcome<Option<Spooled>> {
        let Some(head) = self.head.filter(|_| !self.is_base_stored()) else {
            return Ok(None);
        };
        let made = make(
            self.shadow,
            (self.folder, self.reporter),
            format!("{}.base", self.number),
            &Content {
                tip: head,
                name: "refs/walkback/base",
                prerequisite: None,
                is_partial: self.is_partial,
                more: Vec::new(),
            },
        )?;
        match made {
            Made::Bundle(base) => Ok(Some(base)),
            Made::Impossible(answer) => Err(impossible(&answer)),
        }
    }

    fn text(&self, parent: Option<&str>) -> String {
        let About {
            session,
            message,
            reason,
            tag,
            ..
        } = self.about;
        let parent = parent.map(|id| format!("parent {id}\n")).unwrap_or_default();
        let who = format!("Walkback <capture@walkback.invalid> {} +0000", self.now);
        format!(
            "tree {}\n{parent}parent {}\nauthor {who}\ncommitter {who}\n\n{reason}\n\nSession: {session}\nMessage: {message}\nTool-Execution: {tag}\n",
            self.tree, self.meta
        )
    }
}

/// Why git made no bundle.
fn impossible(answer: &Answered) -> Failure {
    answer
        .killed()
        .unwrap_or_else(|| Failure::Fault(format!("git could not make the bundle: {}", answer.said())))
}

/// Whether the stored base can be built upon, when the base made now would be `now`. Its history must end at the same
/// commits: those that came below the boundary of a shallow clone are in no bundle, although they are ancestors of the
/// base. And it must not come from a partial clone when the clone is complete now.
pub(crate) fn base_serves(stored: Option<&str>, now: Option<&str>) -> bool {
    let (Some(stored), Some(now)) = (stored.filter(|name| !name.is_empty()), now) else {
        return true;
    };
    let part = |name: &str, letter: char| {
        name.split('-')
            .skip(2)
            .find(|part| part.starts_with(letter))
            .map(str::to_owned)
    };
    let lacked = part(stored, 'p');
    lacked.as_deref() != Some("p")
        && (lacked.is_none() || part(now, 'p').is_some())
        && part(stored, 's') == part(now, 's')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_serves_while_its_history_ends_where_the_present_one_does() {
        let whole = "sha1-0123";
        let shallow = "sha1-0123-s0011223344556677";
        let partial = "sha1-0123-p8899aabbccddeeff";
        let cases = [
            (None, Some(whole), true),
            (Some(whole), None, true),
            (Some(whole), Some("sha1-4567"), true),
            (Some(shallow), Some(shallow), true),
            (Some(shallow), Some(whole), false),
            (Some(whole), Some(shallow), false),
            (Some(partial), Some(whole), false),
            (Some(whole), Some(partial), true),
            (Some(partial), Some("sha1-0123-p0000000000000000"), true),
        ];
        for (stored, now, serves) in cases {
            assert_eq!(base_serves(stored, now), serves, "{stored:?} {now:?}");
        }
    }
}

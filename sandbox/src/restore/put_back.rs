//! What of a repository may be overwritten or deleted on the way back: what this restore wrote, and nothing else. Other
//! files appeared meanwhile. They stay, and are named.

use crate::plan::files::{Content, Difference};
use crate::restore::plan_of::Plan;
use bstr::BString;
use std::collections::{BTreeMap, BTreeSet};

/// Removes from the plan of the way back what is not ours to touch. The answer is what that is.
pub(crate) fn leave_late(back: &mut Plan, forward: &Plan) -> BTreeSet<BString> {
    let (own, late) = sorted(std::mem::take(&mut back.differences), &forward.differences);
    back.differences = own;
    late
}

fn sorted(all: Vec<Difference>, forward: &[Difference]) -> (Vec<Difference>, BTreeSet<BString>) {
    let written: BTreeMap<&BString, Option<Content>> =
        forward.iter().map(|one| (&one.path, one.to)).collect();
    let is_ours =
        |one: &Difference| one.from.is_none() || written.get(&one.path).is_some_and(|to| *to == one.from);
    let (own, late): (Vec<_>, Vec<_>) = all.into_iter().partition(is_ours);
    (own, late.into_iter().map(|one| one.path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::tree::TreeMode;
    use crate::git::id::{Format, ObjectKind, id_of};

    fn difference(path: &str, from: Option<&str>, to: Option<&str>) -> Difference {
        let content = |text: &str| Content {
            mode: TreeMode::File,
            id: id_of(Format::Sha1, ObjectKind::Blob, text.as_bytes()).expect("no attack"),
        };
        Difference {
            path: path.into(),
            from: from.map(content),
            to: to.map(content),
        }
    }

    #[test]
    fn only_what_this_restore_wrote_or_took_away_goes_back() {
        let forward = [
            difference("replaced", Some("old"), Some("new")),
            difference("written", None, Some("new")),
            difference("removed", Some("old"), None),
            difference("written over", Some("old"), Some("new")),
        ];
        let back = vec![
            difference("replaced", Some("new"), Some("old")),
            difference("written", Some("new"), None),
            difference("removed", None, Some("old")),
            difference("written over", Some("other"), Some("old")),
            difference("appeared", Some("other"), None),
        ];
        let (own, late) = sorted(back, &forward);
        let own: Vec<String> = own.iter().map(|one| one.path.to_string()).collect();
        assert_eq!(own, ["replaced", "written", "removed"]);
        let late: Vec<String> = late.iter().map(ToString::to_string).collect();
        assert_eq!(late, ["appeared", "written over"]);
    }
}

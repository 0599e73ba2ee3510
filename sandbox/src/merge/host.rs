//! Which side has HEAD, branches, index and operation in progress. The two are never mixed. Pure.

use crate::git::id::Id;

/// The parts of a host state that are about the host's repository.
pub(crate) const PARTS: [&str; 12] = [
    "host",
    "index",
    "stage1",
    "stage2",
    "stage3",
    "index-flags",
    "state",
    "shallow",
    "remotes",
    "sparse",
    "settings",
    "attributes",
];

/// Ids of these parts, in their order.
pub(crate) type Parts = [Option<Id>; PARTS.len()];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostSide {
    /// The other side did not change it, or both are the same.
    Now,
    /// That of now stays, although the other side changed it.
    Kept,
    /// All of it comes from the other side.
    Taken,
}

/// What each part decides is the same for all: the state of the repository is one.
pub(crate) fn side(base: &Parts, ours: &Parts, theirs: &Parts) -> HostSide {
    if theirs == base || theirs == ours {
        return HostSide::Now;
    }
    let shallow = |parts: &Parts| {
        let found = PARTS.iter().zip(parts).find(|(name, _)| **name == "shallow");
        found.and_then(|(_, id)| *id)
    };
    // A link on the chain of now cannot hold what lies below the boundary of a shallow clone.
    let reaches = shallow(ours).is_none() || shallow(ours) == shallow(theirs);
    if ours == base && reaches {
        HostSide::Taken
    } else {
        HostSide::Kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::{Format, ObjectKind, id_of};

    fn parts(pairs: &[(&str, &str)]) -> Parts {
        PARTS.map(|name| {
            let (_, text) = pairs.iter().find(|(one, _)| *one == name)?;
            id_of(Format::Sha1, ObjectKind::Blob, text.as_bytes()).ok()
        })
    }

    #[test]
    fn all_or_nothing_of_the_other_side_comes() {
        let base = parts(&[("host", "a"), ("index", "a")]);
        let theirs = parts(&[("host", "b"), ("index", "a"), ("state", "merge")]);
        let ours = parts(&[("host", "a"), ("index", "b")]);
        assert_eq!(side(&base, &base, &theirs), HostSide::Taken);
        assert_eq!(side(&base, &ours, &theirs), HostSide::Kept);
        assert_eq!(side(&base, &ours, &base), HostSide::Now);
        assert_eq!(side(&base, &theirs, &theirs), HostSide::Now);
    }

    #[test]
    fn a_shallow_clone_takes_nothing_from_below_its_boundary() {
        let base = parts(&[("host", "a"), ("shallow", "x")]);
        let deeper = parts(&[("host", "b")]);
        let same = parts(&[("host", "b"), ("shallow", "x")]);
        assert_eq!(side(&base, &base, &deeper), HostSide::Kept);
        assert_eq!(side(&base, &base, &same), HostSide::Taken);
        let whole = parts(&[("host", "a")]);
        assert_eq!(side(&whole, &whole, &same), HostSide::Taken);
    }
}

//! Repositories inside others, and the order in which they are moved.

use crate::capture::call::below;
use crate::capture::held::relative;
use crate::restore::look_all::When;
use crate::wire::restore::{RestoreRepository, RestoreRequest};
use bstr::{BStr, BString, ByteSlice};

/// The repositories strictly inside one, by paths relative to it.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    /// Those that are there at the state to come to.
    pub(crate) goal: Vec<BString>,
    /// Those that are not.
    pub(crate) leave: Vec<BString>,
}

impl Inner {
    pub(crate) fn of(request: &RestoreRequest, path: &BStr, when: When) -> Self {
        let inside = |is_goal: bool| {
            let those = request
                .repositories
                .iter()
                .filter(|one| when.is_goal(one) == is_goal);
            below(path, those.map(|one| &one.path.0))
        };
        Inner {
            goal: inside(true),
            leave: inside(false),
        }
    }
}

/// The nearest repository of the target around one: its place in the request, and the path of this one in it.
pub(crate) fn outer(request: &RestoreRequest, at: usize) -> Option<(usize, BString)> {
    let path = request.repositories[at].path.0.as_bstr();
    let around = request
        .repositories
        .iter()
        .enumerate()
        .filter_map(|(place, one)| {
            let inside = one
                .target
                .as_ref()
                .and_then(|_| relative(path, one.path.0.as_bstr()))?;
            Some((place, inside.to_owned()))
        });
    around.min_by_key(|(_, inside)| inside.len())
}

/// Whether one of these repositories, by their places in the request, is inside another.
pub(crate) fn holds_any(request: &RestoreRequest, at: usize, those: &[usize]) -> bool {
    let path = |place: usize| request.repositories[place].path.0.as_bstr();
    those.iter().any(|one| relative(path(*one), path(at)).is_some())
}

/// How deep below the projects root a repository is. What is inside another one leaves first, and comes last.
pub(crate) fn depth(one: &RestoreRepository) -> usize {
    if one.path.0 == "." {
        0
    } else {
        one.path.0.split_str("/").count()
    }
}

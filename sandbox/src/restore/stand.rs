//! A repository as it is now: the same look as that of a capture, so that its ids can be compared.

use crate::capture::call::Call;
use crate::capture::held::HeldDirectory;
use crate::capture::repository::{Repository, host_part};
use crate::git::id::Id;
use crate::git::store::ObjectStore;
use crate::host::reading::HostReading;
use crate::scan::ignored::Said;
use crate::shadow::open::Shadow;
use crate::wire::error::{Failure, Outcome};
use bstr::{BStr, BString};

/// How often a look is tried. What changes meanwhile may make one fail.
const TRIES: usize = 3;

#[derive(Debug)]
pub(crate) struct Stand {
    pub(crate) path: BString,
    pub(crate) shadow: Shadow,
    pub(crate) reading: HostReading,
    /// Repositories in it. What lies in them is not its own.
    pub(crate) nested: Vec<BString>,
    /// Git directories of others in it, and the repositories that use them.
    pub(crate) held: Vec<HeldDirectory>,
    pub(crate) tree: Id,
    pub(crate) meta: Id,
    /// Files and directories that could not be read. What they hold is in no capture.
    pub(crate) unread: Vec<Said>,
}

/// Looks at a repository. Nothing: another one is in it that nobody knew. With a target, what is in the way of it is
/// captured although it is ignored, as in the capture that the restore begins from.
pub(crate) fn stand(
    call: &Call<'_>,
    root: &BStr,
    is_last: bool,
    target: Option<&str>,
) -> Outcome<Option<Stand>> {
    let mut last = None;
    for _ in 0..TRIES {
        match once(call, root, is_last, target) {
            Ok(found) => return Ok(found),
            Err(refused @ Failure::Refused { .. }) => return Err(refused),
            Err(failure) => last = Some(failure),
        }
    }
    Err(last.unwrap_or_else(|| Failure::Fault("the repository could not be looked at".into())))
}

fn once(call: &Call<'_>, root: &BStr, is_last: bool, target: Option<&str>) -> Outcome<Option<Stand>> {
    let repository = Repository::open(call, root, target)?;
    let store = ObjectStore::new(repository.shadow.objects(), repository.shadow.format);
    let is_comparable = |target: &&str| target.len() == 2 * repository.shadow.format.width();
    let looked = repository
        .look(call, is_last, target.filter(is_comparable), &store)?
        .looked;
    if looked.state.has_unknown_root {
        return Ok(None);
    }
    let (_, mut host) = host_part(&repository, &looked.state, &store)?;
    store.commit()?;
    looked.keep(&repository.shadow)?;
    host.keep(&repository.shadow)?;
    let held = call.held_in(root, &repository.nested);
    Ok(Some(Stand {
        path: root.to_owned(),
        nested: repository.nested,
        held,
        tree: looked.state.tree,
        meta: host.meta,
        unread: looked.state.failures,
        reading: repository.reading,
        shadow: repository.shadow,
    }))
}

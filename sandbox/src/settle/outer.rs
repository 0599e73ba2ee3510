//! Files that a restore wrote into the place of a repository that the target does not have.

use crate::host::place::path_of;
use crate::plan::files::Content;
use crate::restore::captured::differences;
use crate::restore::inner::outer;
use crate::shadow::open::known_shadow;
use crate::wire::error::Outcome;
use crate::wire::restore::RestoreRequest;
use bstr::{BStr, BString};
use std::collections::BTreeMap;
use std::path::Path;

/// What the repository around one has in the target below it. The restore wrote that where the target does not have this one.
pub(super) fn files_of_the_outer(
    projects: &Path,
    request: &RestoreRequest,
    path: &BStr,
) -> Outcome<BTreeMap<BString, Content>> {
    let at = request.repositories.iter().position(|one| one.path.0 == path);
    let Some((outer, inside)) = at.and_then(|at| outer(request, at)) else {
        return Ok(BTreeMap::new());
    };
    let outer = &request.repositories[outer];
    let shadow = known_shadow(&projects.join(path_of(outer.path.0.clone())), &request.session_id);
    let (Some(shadow), Some(target)) = (shadow, &outer.target) else {
        return Ok(BTreeMap::new());
    };
    // Where objects of the one around are missing, its files count as work of others, and stay.
    let all = differences(&shadow, shadow.format.empty_tree(), &target.tree)?.unwrap_or_default();
    let below = [inside.as_slice(), b"/"].concat();
    Ok(all
        .into_iter()
        .filter_map(|one| Some((one.path.strip_prefix(below.as_slice())?.into(), one.to?)))
        .collect())
}

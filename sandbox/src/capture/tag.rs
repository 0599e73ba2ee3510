//! Tags of captures.

use crate::capture::repository::Repository;
use crate::git::id::Id;
use crate::git::present::present;
use crate::git::process::Git;
use crate::git::store::ObjectStore;
use crate::wire::error::{Context, Outcome};
use std::fs;

/// Tags the checkpoint, so that a person in the sandbox finds it with plain git. An earlier capture that is reused as
/// this one may be gone, together with the shadow that had it.
pub(crate) fn tag(repository: &Repository<'_>, store: &ObjectStore, commit: &str, tag: &str) {
    let shadow = &repository.shadow;
    let is_here = Id::from_hex(commit.as_bytes()).is_some_and(|id| {
        store.stands(&id) || present(&shadow.git, [id]).is_ok_and(|there| there.contains(&id))
    });
    if !is_here {
        return;
    }
    let tags = shadow.file("refs/tags/chkpt");
    let write = || -> Outcome<()> {
        fs::create_dir_all(&tags).context("it cannot be made", &tags)?;
        // Packing objects opens every tag, so from time to time the tags become one file.
        if fs::read_dir(&tags).into_iter().flatten().count() >= 64 {
            Git::on_shadow(&repository.top, &shadow.git)
                .args(["pack-refs", "--all"])
                .run()?;
            fs::create_dir_all(&tags).context("it cannot be made", &tags)?;
        }
        fs::write(tags.join(tag), format!("{commit}\n")).context("it cannot be written", &tags)
    };
    // No capture depends on it.
    let _ = write();
}

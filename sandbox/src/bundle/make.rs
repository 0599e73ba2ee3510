//! Makes bundles. `git bundle create` is not used: it cannot leave out objects that a partial clone never had, and starts
//! three processes where one is enough.

use crate::bundle::folder::Folder;
use crate::bundle::spool::{Spool, Spooled};
use crate::git::id::Format;
use crate::git::process::{Answered, Git};
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use crate::wire::progress::{Reporter, Work};
use std::io::Write;

/// What a bundle is to hold.
pub(crate) struct Content<'content> {
    pub(crate) tip: &'content str,
    pub(crate) name: &'static str,
    /// A commit that whoever reads the bundle has.
    pub(crate) prerequisite: Option<&'content str>,
    /// The clone lacks objects, so only those that are here are packed.
    pub(crate) is_partial: bool,
    /// For a partial clone: arguments of `git rev-list` for objects that are listed, too. What it fetched since the
    /// prerequisite was stored is in no bundle, although the prerequisite names it.
    pub(crate) more: Vec<String>,
}

/// A bundle, or what git said why it cannot make it.
pub(crate) enum Made {
    Bundle(Spooled),
    Impossible(Answered),
}

pub(crate) fn make(
    shadow: &Shadow,
    (folder, reporter): (&Folder, &Reporter),
    file: String,
    content: &Content<'_>,
) -> Outcome<Made> {
    let mut out = reporter
        .count(Work::Packed, None)
        .through(Spool::new(folder, file));
    out.write_all(header(shadow.format, content).as_bytes())
        .context("the bundle cannot be written", folder.path())?;
    let git = || Git::on_shadow(&shadow.top, &shadow.git);
    let packed = if content.is_partial {
        let listed = git()
            .args(["rev-list", "--objects", "--missing=allow-any", content.tip])
            .args(content.prerequisite.map(|id| format!("^{id}")))
            .run()?;
        let Some(list) = listed.ok() else {
            return Ok(Made::Impossible(listed));
        };
        let mut list = list.to_vec();
        if !content.more.is_empty() {
            let listed = git().args(["rev-list", "--objects"]).args(&content.more).run()?;
            match listed.ok() {
                Some(more) => list.extend_from_slice(more),
                None => return Ok(Made::Impossible(listed)),
            }
        }
        git()
            .args(["pack-objects", "--stdout", "--delta-base-offset", "-q"])
            .input(list)
            .run_into(&mut out)?
    } else {
        let mut revisions = format!("{}\n", content.tip);
        if let Some(id) = content.prerequisite {
            revisions.push_str(&format!("^{id}\n"));
        }
        git()
            .args([
                "pack-objects",
                "--revs",
                "--thin",
                "--stdout",
                "--delta-base-offset",
                "-q",
            ])
            // The object before lies beside the one that replaces it. Without one, deltas are looked for further away.
            .args(content.prerequisite.map(|_| "--window=3"))
            .input(revisions)
            .run_into(&mut out)?
    };
    Ok(if packed.status.success() {
        Made::Bundle(out.into_inner().finish())
    } else {
        Made::Impossible(packed)
    })
}

/// What stands before the pack.
pub(super) fn header(format: Format, content: &Content<'_>) -> String {
    let mut text = String::from(match format {
        Format::Sha1 => "# v2 git bundle\n",
        Format::Sha256 => "# v3 git bundle\n@object-format=sha256\n",
    });
    if let Some(id) = content.prerequisite {
        text.push_str(&format!("-{id}\n"));
    }
    text.push_str(&format!("{} {}\n\n", content.tip, content.name));
    text
}

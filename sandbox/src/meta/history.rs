//! A commit that HEAD or a branch comes from may be gone. Then no bundle can be made, and HEAD and all branches count as
//! unreadable, until the commit is back. A note in the shadow says for which HEAD and branches that was found.

use crate::fs::text::slurp;
use crate::git::process::Git;
use crate::host::head::Branches;
use crate::host::reading::{HeadKind, HostReading};
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use bstr::BString;
use std::fs;

const NOTE: &str = "no-history";

/// What the note holds while this HEAD and these branches count as unreadable.
fn noted(reading: &HostReading) -> BString {
    let mut text = BString::from(reading.commit.as_deref().unwrap_or_default());
    text.push(b' ');
    text.extend_from_slice(&reading.branches.lines());
    text
}

/// Looks whether the history can be read, and if not, notes it. The answer is what git says.
pub(crate) fn lost(reading: &HostReading, shadow: &Shadow) -> Outcome<Option<String>> {
    let Some(host) = &reading.host else {
        return Ok(None);
    };
    let tips: Vec<&str> = reading
        .commit
        .as_deref()
        .into_iter()
        .chain(reading.branches.commits())
        .collect();
    if tips.is_empty() {
        return Ok(None);
    }
    let asked = Git::on_host(&shadow.top, &host.git)
        .args(["-c", "core.commitGraph=false"])
        .args(["rev-list", "--quiet", "--ignore-missing", "--stdin"])
        .input(format!("{}\n", tips.join("\n")))
        .run_to_its_end()?;
    if asked.status.success() {
        return Ok(None);
    }
    let file = shadow.file(NOTE);
    fs::write(&file, noted(reading)).context("it cannot be written", &file)?;
    Ok(Some(asked.said()))
}

/// Where a capture found that before: looks again.
pub(crate) fn look_again(reading: &mut HostReading, shadow: &Shadow) -> Outcome<()> {
    let file = shadow.file(NOTE);
    if !file.exists() {
        return Ok(());
    }
    match lost(reading, shadow)? {
        Some(said) => {
            without(reading, shadow, &said);
            Ok(())
        }
        None => fs::remove_file(&file).context("it cannot be removed", &file),
    }
}

/// HEAD and branches count as unreadable when the note is about them.
pub(crate) fn without(reading: &mut HostReading, shadow: &Shadow, said: &str) {
    if slurp(&shadow.file(NOTE)) != noted(reading) {
        return;
    }
    reading.kind = HeadKind::Unreadable;
    reading.commit = None;
    reading.branches = Branches {
        broken: std::mem::take(&mut reading.branches.broken),
        ..Branches::default()
    };
    reading.base = None;
    reading.problem = Some(format!(
        "the history of HEAD or of a branch cannot be read: {said}"
    ));
}

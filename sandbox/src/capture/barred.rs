//! Files of rules for which git would wait for ever. They are met before git is asked anything.

use crate::fs::kind::{Kind, kind_behind, waits};
use crate::host::place::path_of;
use crate::scan::ignored;
use crate::scan::names::Names;
use crate::scan::walk::{Item, Walked, below};
use crate::shadow::open::Shadow;
use crate::shadow::rules;
use crate::wire::error::Outcome;
use bstr::{BStr, BString, ByteSlice};

/// Fails when git would wait for a file of rules or attributes in a directory whose rules it reads.
pub(crate) fn check(shadow: &Shadow, walked: &Walked, wanted: &[&Names]) -> Outcome<()> {
    for directory in &walked.directories {
        for item in directory
            .items
            .iter()
            .filter(|item| item.name == ".gitignore" || item.name == ".gitattributes")
        {
            let path = below(directory.path.as_bstr(), item.name.as_bstr());
            if would_wait(shadow, item, path.as_bstr()) && is_read(shadow, directory.path.as_bstr(), wanted)?
            {
                return Err(rules::barred(path));
            }
        }
    }
    Ok(())
}

fn would_wait(shadow: &Shadow, item: &Item, path: &BStr) -> bool {
    match item.stat.kind() {
        Kind::Waits => true,
        Kind::Link => kind_behind(&shadow.top.join(path_of(path.to_owned()))) == Some(Kind::Waits),
        Kind::File | Kind::Directory | Kind::Socket => false,
    }
}

/// Whether git reads rules in a directory: not below one that is ignored and holds nothing that is captured.
fn is_read(shadow: &Shadow, directory: &BStr, wanted: &[&Names]) -> Outcome<bool> {
    if directory.is_empty() {
        return Ok(true);
    }
    let ends = directory.find_iter("/").chain([directory.len()]);
    let mut above = BStr::new("");
    for end in ends {
        if waits(&shadow.top.join(path_of(below(above, BStr::new(".gitignore"))))) {
            return Ok(true);
        }
        above = directory[..end].as_bstr();
        let answer = ignored::by_all_rules(shadow, &[BString::from(above)])?;
        if !answer.ignored.is_empty() && !wanted.iter().any(|names| names.any_below(above)) {
            return Ok(false);
        }
    }
    Ok(true)
}

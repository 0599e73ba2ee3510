//! Which paths the rules of a captured tree ignore. Only git says so: the rules are files in a directory of their own. Beside
//! them count the rules of now that lie in no file of the tree, because no capture holds those.

use crate::capture::tree::TreeMode;
use crate::fs::remove;
use crate::fs::text::slurp;
use crate::git::id::Id;
use crate::host::place::path_of;
use crate::merge::edit::Entry;
use crate::merge::objects::Objects;
use crate::merge::trouble::{Done, Trouble};
use crate::restore::captured::files_of;
use crate::scan::ignored::by_all_rules;
use crate::shadow::open::Shadow;
use crate::shadow::scratch::Scratch;
use crate::wire::error::Context;
use bstr::{BString, ByteSlice};
use std::collections::HashSet;
use std::fs;

/// The rules of one tree.
pub(crate) struct Rules {
    /// The directory of the rules, seen from the scratch.
    place: Shadow,
}

fn is_rules(path: &BString) -> bool {
    path.rsplit_str("/").next() == Some(b".gitignore")
}

impl Rules {
    pub(crate) fn of(scratch: &Scratch, objects: &mut Objects, tree: &Id) -> Done<Self> {
        let mut place = scratch.shadow.clone();
        place.top = scratch.shadow.file("rules");
        let made = remove::directory(&place.top).and_then(|()| fs::create_dir(&place.top));
        made.context("it cannot be written", &place.top)?;
        if let Some(own) = scratch.of_repository() {
            let of_now = ["info/exclude-global", "info/exclude"].map(|name| slurp(&own.file(name)));
            let file = scratch.shadow.file("info/exclude");
            fs::write(&file, [&of_now[0][..], b"\n", &of_now[1], b"\n"].concat())
                .context("it cannot be written", file)?;
        }
        let rules = Rules { place };
        let files = files_of(&scratch.shadow, &tree.to_string())?
            .ok_or_else(|| Trouble::Missing(format!("the tree {tree}")))?;
        for path in files.iter().filter(|path| is_rules(path)) {
            rules.write(objects, tree, path)?;
        }
        Ok(rules)
    }

    /// Git reads no rules through a link.
    fn write(&self, objects: &mut Objects, tree: &Id, path: &BString) -> Done<()> {
        let Some(Entry {
            mode: TreeMode::File | TreeMode::Executable,
            id,
        }) = objects.at(tree, path.as_bstr())?
        else {
            return Ok(());
        };
        let content = objects.blob(&id)?;
        let file = self.place.top.join(path_of(path.clone()));
        let written = || {
            if let Some(above) = file.parent() {
                fs::create_dir_all(above)?;
            }
            fs::write(&file, content)
        };
        Ok(written().context("it cannot be written", &file)?)
    }

    /// Adds the rules among these paths that ignore themselves, as in a Python environment, whose `.gitignore` holds `*`: no
    /// capture has them until git is told to track them. `tree` has their content.
    pub(crate) fn add_hiding(&self, objects: &mut Objects, tree: &Id, paths: &[BString]) -> Done<()> {
        let mut own: Vec<BString> = paths.iter().filter(|path| is_rules(path)).cloned().collect();
        for path in &own {
            self.write(objects, tree, path)?;
        }
        // When one of them goes, another one may no longer be ignored.
        while !own.is_empty() {
            let ignored = self.ignored(&own)?;
            let (stays, goes): (Vec<BString>, Vec<BString>) =
                own.into_iter().partition(|path| ignored.contains(path));
            for path in &goes {
                let file = self.place.top.join(path_of(path.clone()));
                remove::file(&file).context("it cannot be removed", file)?;
            }
            if goes.is_empty() {
                break;
            }
            own = stays;
        }
        Ok(())
    }

    /// Which of these paths they ignore, whoever tracks them.
    pub(crate) fn ignored(&self, paths: &[BString]) -> Done<HashSet<BString>> {
        Ok(by_all_rules(&self.place, paths)?.ignored)
    }
}

//! The rules of a captured tree, in a directory of their own, where git can be asked what they ignore. Beside them count the
//! rules of now that lie in no file of the tree: no capture holds those.

use crate::fs::remove;
use crate::git::batch::Batch;
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::plan::files::Difference;
use crate::plan::keep::removed;
use crate::restore::captured::files_of;
use crate::restore::stand::Stand;
use crate::scan::ignored;
use crate::scan::names::split;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

pub(crate) struct RulesThen<'stand> {
    stand: &'stand Stand,
    top: PathBuf,
    objects: Batch,
}

impl Drop for RulesThen<'_> {
    fn drop(&mut self) {
        // What is left is removed by the next call that needs it.
        let _ = remove::directory(&self.top);
    }
}

fn is_rules(path: &BString) -> bool {
    path.rsplit_str("/").next() == Some(b".gitignore")
}

impl<'stand> RulesThen<'stand> {
    /// Those of this tree.
    pub(crate) fn of(stand: &'stand Stand, tree: &str) -> Outcome<Self> {
        let shadow = &stand.shadow;
        let mut rules = RulesThen {
            stand,
            top: shadow.file("rules-then"),
            objects: Batch::open(&shadow.top, &shadow.git)?,
        };
        let made = remove::directory(&rules.top).and_then(|()| fs::create_dir(&rules.top));
        made.context("it cannot be written", &rules.top)?;
        let all = files_of(shadow, tree)?
            .ok_or_else(|| Failure::Fault("the files of the checkpoint cannot be listed".into()))?;
        let files: Vec<BString> = all.into_iter().filter(is_rules).collect();
        rules.write(tree, &files)?;
        Ok(rules)
    }

    fn write(&mut self, tree: &str, files: &[BString]) -> Outcome<()> {
        if files.is_empty() {
            return Ok(());
        }
        let shadow = &self.stand.shadow;
        let answer = Git::on_shadow(&shadow.top, &shadow.git)
            .args(["--literal-pathspecs", "ls-tree", "-r", "-z", tree, "--"])
            .args(files.iter().map(|path| path_of(path.clone())))
            .run_to_its_end()?;
        let list = answer.ok().ok_or_else(|| {
            Failure::Fault(format!(
                "rules of the checkpoint cannot be listed: {}",
                answer.why()
            ))
        })?;
        for line in split(list) {
            // MODE TYPE ID<TAB>PATH. Git does not read rules through a link.
            let Some((entry, path)) = line.split_once_str("\t") else {
                continue;
            };
            let words: Vec<&[u8]> = entry.split_str(" ").collect();
            let [mode, _, id] = words[..] else { continue };
            if !mode.starts_with(b"100") {
                continue;
            }
            let content = self
                .objects
                .object(&id.to_str_lossy())?
                .ok_or_else(|| Failure::Fault(format!("the rules in {} are not here", path.as_bstr())))?;
            let file = self.top.join(path_of(path.into()));
            let written = || {
                if let Some(above) = file.parent() {
                    fs::create_dir_all(above)?;
                }
                fs::write(&file, &content.content)
            };
            written().context("it cannot be written", &file)?;
        }
        Ok(())
    }

    /// Adds the rules that go and that ignore themselves, as in a Python environment, whose `.gitignore` holds `*`: no
    /// capture has them until git is told to track them. They count as having been there.
    pub(crate) fn add_hiding(&mut self, differences: &[Difference]) -> Outcome<()> {
        let gone = removed(differences).map(BString::from);
        let mut own: Vec<BString> = gone.filter(is_rules).collect();
        self.write(&self.stand.tree.to_string(), &own)?;
        // When one of them goes, another one may no longer be ignored.
        while !own.is_empty() {
            let ignored = self.ignored(&own)?;
            let (stays, goes): (Vec<BString>, Vec<BString>) =
                own.into_iter().partition(|path| ignored.contains(path));
            for path in &goes {
                let file = self.top.join(path_of(path.clone()));
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
    pub(crate) fn ignored(&self, paths: &[BString]) -> Outcome<HashSet<BString>> {
        let mut alone = self.stand.shadow.clone();
        self.top.clone_into(&mut alone.top);
        Ok(ignored::by_all_rules(&alone, paths)?.ignored)
    }
}

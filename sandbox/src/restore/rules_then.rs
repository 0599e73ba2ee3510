//! The rules of a captured tree, in a directory of their own, where git can be asked what they ignore. Beside them count the
//! rules of now that lie in no file of the tree: no capture holds those.

use crate::fs::remove;
use crate::fs::text::slurp;
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::plan::files::Difference;
use crate::plan::keep::removed;
use crate::restore::captured::files_of;
use crate::restore::stand::Stand;
use crate::scan::ignored;
use crate::scan::names::split;
use crate::shadow::open::Shadow;
use crate::shadow::rules::without_ours;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

pub(crate) struct RulesThen<'stand> {
    stand: &'stand Stand,
    top: PathBuf,
    /// The git directory that has the rules which lie in no file.
    git: PathBuf,
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
        let rules = RulesThen {
            stand,
            top: shadow.file("rules-then"),
            git: shadow.git.clone(),
        };
        let made = remove::directory(&rules.top).and_then(|()| fs::create_dir(&rules.top));
        made.context("it cannot be written", &rules.top)?;
        let all = files_of(shadow, tree)?
            .ok_or_else(|| Failure::Fault("the files of the checkpoint cannot be listed".into()))?;
        let files: Vec<BString> = all.into_iter().filter(is_rules).collect();
        rules.write(shadow, tree, &files, BStr::new(""))?;
        Ok(rules)
    }

    /// The same also for what lies in repositories inside this one. Their places are ignored in it, as long as they are there.
    pub(crate) fn with_inner(stand: &'stand Stand, tree: &str) -> Outcome<Self> {
        let mut rules = RulesThen::of(stand, tree)?;
        let git = rules.top.join(".git-of-rules");
        let exclude = without_ours(slurp(&stand.shadow.file("info/exclude")).as_bstr());
        let made = || {
            for directory in ["objects", "refs", "info"] {
                fs::create_dir_all(git.join(directory))?;
            }
            fs::write(git.join("HEAD"), "ref: refs/heads/none\n")?;
            fs::copy(stand.shadow.file("config"), git.join("config"))?;
            fs::write(git.join("info/exclude"), &exclude)
        };
        made().context("it cannot be written", &git)?;
        rules.git = git;
        Ok(rules)
    }

    /// Writes those of these rules files of a tree that are read from this shadow, below a directory that ends with a slash, or
    /// at the top.
    fn write(&self, shadow: &Shadow, tree: &str, files: &[BString], below: &BStr) -> Outcome<()> {
        if files.is_empty() {
            return Ok(());
        }
        let mut objects = shadow.batch();
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
            let content = objects
                .object(&id.to_str_lossy())?
                .ok_or_else(|| Failure::Fault(format!("the rules in {} are not here", path.as_bstr())))?;
            let file = self.top.join(path_of([below.as_bytes(), path].concat().into()));
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
    pub(crate) fn add_hiding(&self, differences: &[Difference]) -> Outcome<()> {
        self.add_hiding_of(self.stand, differences, BStr::new(""))
    }

    /// The same for those of another repository, which lies in this directory.
    pub(crate) fn add_hiding_of(
        &self,
        inner: &Stand,
        differences: &[Difference],
        below: &BStr,
    ) -> Outcome<()> {
        let gone = removed(differences).map(BString::from);
        let files: Vec<BString> = gone.filter(is_rules).collect();
        self.write(&inner.shadow, &inner.tree.to_string(), &files, below)?;
        let whole = |path: BString| BString::from([below.as_bytes(), &path[..]].concat());
        let mut own: Vec<BString> = files.into_iter().map(whole).collect();
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
        self.git.clone_into(&mut alone.git);
        Ok(ignored::by_all_rules(&alone, paths)?.ignored)
    }
}

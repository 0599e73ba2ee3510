//! The rules of a partial checkout (`git sparse-checkout`). The setting that makes the rules count comes last, so a restore
//! that is killed leaves the old rules in force, or parts of both.

use crate::apply::host::{HostMove, locks, output};
use crate::fs::copy::move_over;
use crate::fs::kind::{Kind, kind};
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BString, ByteSlice};
use std::fs;
use std::path::Path;

impl HostMove<'_> {
    pub(super) fn move_sparse(&self) -> Outcome<Option<BString>> {
        if !self.differs("sparse") {
            return Ok(None);
        }
        let config = if self.has_own_settings {
            self.host.git.join("config.worktree")
        } else {
            self.host.common.join("config")
        };
        let info = self.host.git.join("info");
        if [&config, &info].iter().any(|path| kind(path) == Some(Kind::Link)) {
            let shown = |path: &Path| path.strip_prefix(&self.shadow.top).unwrap_or(path).to_owned();
            return Ok(Some(
                format!(
                    "the rules of the partial checkout stay as they are now, because {} or {} is a symlink",
                    shown(&config).display(),
                    shown(&info).display()
                )
                .into(),
            ));
        }
        let lock = config.with_file_name(if self.has_own_settings {
            "config.worktree.lock"
        } else {
            "config.lock"
        });
        if !locks::free(&lock, &self.shadow.top).context("a lock cannot be removed", &lock)? {
            return Err(Failure::Fault(format!(
                "another git process holds {}",
                lock.display()
            )));
        }
        let Some(id) = Self::part(self.to, "sparse") else {
            self.set(&config, "core.sparseCheckout", "false")?;
            return Ok(None);
        };
        let asked = self
            .on_shadow()
            .args(["cat-file", "blob", &id])
            .run_to_its_end()?;
        let text = output(asked, "the rules of the partial checkout cannot be read")?;
        let (first, rules) = text.split_once_str("\n").unwrap_or((&text, b""));
        let is_cone = first.strip_prefix(b"cone ").unwrap_or(b"false").to_str_lossy();
        let part = self.shadow.file("sparse-checkout");
        let file = info.join("sparse-checkout");
        let written = || {
            fs::create_dir_all(&info)?;
            fs::write(&part, rules)?;
            move_over(&part, &file)
        };
        written().context("the rules of the partial checkout cannot be written", &file)?;
        self.set(&config, "core.sparseCheckoutCone", &is_cone)?;
        self.set(&config, "core.sparseCheckout", "true")?;
        Ok(None)
    }

    fn set(&self, config: &Path, name: &str, value: &str) -> Outcome<()> {
        let git = self.on_host().args(["config", "--file"]).arg(config);
        self.git_must(git.args(["--replace-all", name, value]))
    }
}

//! Flags of entries of the index: assume-unchanged, skip-worktree, and intent to add.

use crate::apply::host::{HostMove, output};
use crate::fs::remove;
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::scan::names::split;
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, BString, ByteSlice};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Paths that one process is given.
const AT_ONCE: usize = 200;

/// What the list says: a letter and a path. Lower case is assume-unchanged, `s` is skip-worktree, `N` is intent to add, and
/// `X` and `L` say that this entry is executable or a link.
#[derive(Default)]
struct Flags {
    assumed: Vec<u8>,
    skipped: Vec<u8>,
    meant: Vec<BString>,
    executable: Vec<BString>,
    links: Vec<BString>,
}

fn flags(list: &[u8]) -> Flags {
    let mut flags = Flags::default();
    for line in split(list) {
        let (Some(letter), Some(path)) = (line.first(), line.get(2..)) else {
            continue;
        };
        let item = [path, b"\0"].concat();
        match letter {
            b'N' => flags.meant.push(path.into()),
            b'X' => flags.executable.push(path.into()),
            b'L' => flags.links.push(path.into()),
            _ => {
                if letter.is_ascii_lowercase() {
                    flags.assumed.extend(&item);
                }
                if letter.eq_ignore_ascii_case(&b's') {
                    flags.skipped.extend(&item);
                }
            }
        }
    }
    flags
}

impl HostMove<'_> {
    pub(super) fn flag_entries(&self, index: &Path) -> Outcome<()> {
        let Some(id) = Self::part(self.to, "index-flags") else {
            return Ok(());
        };
        let asked = self
            .on_shadow()
            .args(["cat-file", "blob", &id])
            .run_to_its_end()?;
        let flags = flags(&output(asked, "the flags of the index cannot be read")?);
        if !flags.meant.is_empty() {
            self.intend(index, &flags)?;
        }
        for (option, list) in [
            ("--assume-unchanged", flags.assumed),
            ("--skip-worktree", flags.skipped),
        ] {
            if !list.is_empty() {
                let git = self
                    .on_index(index)
                    .args(["update-index", option, "-z", "--stdin"]);
                self.git_must(git.input(list))?;
            }
        }
        Ok(())
    }

    /// Git adds an intent only for a file that is there. So an empty one is made in another directory, whatever is at that
    /// path here.
    fn intend(&self, index: &Path, flags: &Flags) -> Outcome<()> {
        let top = self.shadow.file("meant");
        let made = || {
            remove::directory(&top)?;
            fs::create_dir(&top)?;
            for path in &flags.meant {
                make(&top, path.as_bstr(), flags)?;
            }
            Ok::<(), std::io::Error>(())
        };
        made().context("a new index cannot be written", &top)?;
        // These entries name the empty blob, which no bundle needs to hold.
        self.git_must(self.on_host().args(["hash-object", "-w", "/dev/null"]))?;
        let added = flags.meant.chunks(AT_ONCE).try_for_each(|paths| {
            let git = Git::on_shadow(&top, &self.shadow.git)
                .env("GIT_WORK_TREE", &top)
                .env("GIT_INDEX_FILE", index)
                .args(["--literal-pathspecs", "add", "-N", "-f", "--"]);
            self.git_must(git.args(paths.iter().map(|path| path_of(path.clone()))))
        });
        remove::directory(&top).context("it cannot be removed", top)?;
        added
    }
}

fn make(top: &Path, path: &BStr, flags: &Flags) -> std::io::Result<()> {
    let file = top.join(path_of(path.to_owned()));
    // Beside a conflict, an entry may be listed twice.
    if fs::symlink_metadata(&file).is_ok() {
        return Ok(());
    }
    if let Some(above) = file.parent() {
        fs::create_dir_all(above)?;
    }
    let is_one = |list: &[BString]| list.iter().any(|one| one == path);
    if is_one(&flags.links) {
        return symlink(path_of(path.to_owned()), &file);
    }
    fs::write(&file, b"")?;
    let mode = if is_one(&flags.executable) { 0o755 } else { 0o644 };
    fs::set_permissions(&file, fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_flags_is_read_by_its_letters() {
        let read = flags(b"h a\0S b c\0s d\0N e\0X e\0");
        assert_eq!(read.assumed, b"a\0d\0");
        assert_eq!(read.skipped, b"b c\0d\0");
        assert_eq!(
            (read.meant, read.executable),
            (vec!["e".into()], vec!["e".into()])
        );
    }
}

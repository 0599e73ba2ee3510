//! A git directory that only this call has: no settings of others, no refs, and the objects of stores that it reads.

use crate::git::id::Format;
use crate::git::process::Git;
use crate::wire::error::{Context, Outcome};
use std::fs;
use std::path::{Path, PathBuf};

const HEAD: &str = "ref: refs/heads/none\n";
const SETTINGS: &str = "\tbare = true\n\tcommitGraph = false\n\tprotectNTFS = false\n\tprotectHFS = false\n\thooksPath = /dev/null\n[pack]\n\tthreads = 1\n[gc]\n\tauto = 0\n";

/// The directory goes with the directory that it is made in.
#[derive(Debug)]
pub(crate) struct PrivateGit {
    directory: PathBuf,
    pub(crate) format: Format,
}

impl PrivateGit {
    /// Makes it. `alternates` is the text of its list of stores.
    pub(crate) fn make(directory: PathBuf, format: Format, alternates: &[u8]) -> Outcome<Self> {
        for name in ["objects/info", "objects/pack", "refs/heads"] {
            let place = directory.join(name);
            fs::create_dir_all(&place).context("it cannot be made", place)?;
        }
        let begin = match format {
            Format::Sha1 => "[core]\n\trepositoryformatversion = 0\n",
            Format::Sha256 => {
                "[extensions]\n\tobjectFormat = sha256\n[core]\n\trepositoryformatversion = 1\n"
            }
        };
        let settings = [begin, SETTINGS].concat();
        let files: [(&str, &[u8]); 3] = [
            ("HEAD", HEAD.as_bytes()),
            ("config", settings.as_bytes()),
            ("objects/info/alternates", alternates),
        ];
        for (name, text) in files {
            let file = directory.join(name);
            fs::write(&file, text).context("it cannot be written", file)?;
        }
        Ok(PrivateGit { directory, format })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// A command on it. Paths are no patterns.
    pub(crate) fn git(&self) -> Git {
        Git::on_shadow(&self.directory, &self.directory).env("GIT_LITERAL_PATHSPECS", "1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_takes_it_for_an_empty_repository_of_its_format() {
        for format in [Format::Sha1, Format::Sha256] {
            let top = tempfile::tempdir().expect("a temporary directory");
            let made = PrivateGit::make(top.path().join("git"), format, b"").expect("it is made");
            let run = |args: &[&str]| made.git().args(args).run().expect("git runs");
            assert_eq!(
                run(&["rev-parse", "--show-object-format"]).ok(),
                Some(format!("{}\n", format.name()).as_bytes())
            );
            assert_eq!(run(&["for-each-ref"]).ok(), Some(&b""[..]));
        }
    }
}

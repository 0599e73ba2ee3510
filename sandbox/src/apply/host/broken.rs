//! Files of HEAD and of branches that git does not understand. Git would refuse to write there, so they are replaced, and
//! the old files are kept.

use crate::apply::host::HostMove;
use crate::apply::host::refs::Expected;
use crate::fs::kind::{Kind, kind};
use crate::fs::rename::rename_new;
use crate::fs::text::{first_line, slurp};
use crate::host::head::{Target, head_line, is_object_id};
use crate::host::place::path_of;
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// How many files are kept there.
const PLACES_MOST: usize = 10_000;

impl HostMove<'_> {
    /// Whether git would refuse to do anything in the repository.
    pub(crate) fn is_head_broken(&self) -> bool {
        head_line(&self.host.git.join("HEAD"))
            .is_none_or(|line| !line.starts_with(b"ref: refs/") && !is_object_id(&line))
    }

    /// Whether git would refuse to write the branch: its file holds no commit.
    fn is_ref_broken(&self, name: &BStr) -> bool {
        let file = self.host.common.join(path_of(name.to_owned()));
        if kind(&file) != Some(Kind::File) {
            return false;
        }
        let text = slurp(&file);
        let line = first_line(text.as_bstr());
        !is_object_id(line) && line.strip_prefix(b"ref: ").is_none_or(<[u8]>::is_empty)
    }

    /// The branches whose files are replaced.
    pub(super) fn broken_refs<'name>(&self, expected: &'name Expected) -> Vec<&'name BString> {
        let comes = expected.want.iter().filter(|(name, target)| {
            matches!(target, Target::Commit(_)) && !expected.have.contains_key(*name)
        });
        comes
            .map(|(name, _)| name)
            .filter(|name| self.is_ref_broken(name.as_bstr()))
            .collect()
    }

    /// What a person is told of all files that are replaced.
    pub(crate) fn told_of_broken(&self, expected: &Expected) -> Vec<BString> {
        let head = self.is_head_broken().then(|| self.told(BStr::new("HEAD")));
        let refs = self.broken_refs(expected);
        head.into_iter()
            .chain(refs.into_iter().map(|name| self.told(branch(name).as_bstr())))
            .collect()
    }

    fn place(&self) -> PathBuf {
        self.projects
            .join(".agent-shadow")
            .join(format!("parked-{}", self.session))
            .join("broken")
    }

    fn told(&self, what: &BStr) -> BString {
        let place = self.place();
        let parts: [&[u8]; 4] = [
            b"the file of ",
            what,
            b" cannot be read and is replaced; the old one is put into ",
            place.as_os_str().as_bytes(),
        ];
        parts.concat().into()
    }

    /// Replaces a HEAD that git does not understand.
    pub(super) fn mend_head(&self) -> Outcome<Option<BString>> {
        if !self.is_head_broken() {
            return Ok(None);
        }
        let head = self.host.git.join("HEAD");
        self.set_aside(&head)?;
        let name = &self.to.1.head.name;
        let name: &[u8] = if self.host.common.join("reftable").is_dir() {
            b"refs/heads/.invalid"
        } else if name.is_empty() {
            b"refs/heads/main"
        } else {
            name
        };
        fs::write(&head, [b"ref: ", name, b"\n"].concat()).context("it cannot be written", head)?;
        Ok(Some(self.told(BStr::new("HEAD"))))
    }

    /// Takes away the files of these branches. The answer is what a person is told.
    pub(super) fn mend_branches(&self, names: &[&BString]) -> Outcome<Vec<BString>> {
        let mut told = Vec::new();
        for name in names {
            self.set_aside(&self.host.common.join(path_of((*name).clone())))?;
            told.push(self.told(branch(name).as_bstr()));
        }
        Ok(told)
    }

    fn set_aside(&self, file: &Path) -> Outcome<()> {
        let place = self.place();
        let kept = || {
            fs::create_dir_all(&place)?;
            let name = file.file_name().unwrap_or_default();
            for number in 1..=PLACES_MOST {
                let own = place.join(number.to_string());
                match fs::create_dir(&own) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                    Ok(()) => return carry(file, &own.join(name)),
                }
            }
            Err(io::ErrorKind::AlreadyExists.into())
        };
        if kind(file).is_none() {
            return Err(Failure::Fault(format!("{} vanished", file.display())));
        }
        kept().context("it cannot be put aside", file)
    }
}

fn branch(name: &BString) -> BString {
    let short = name.strip_prefix(b"refs/heads/").unwrap_or(name);
    [b"branch ", short].concat().into()
}

/// Renames a file, or copies it to another file system and removes it then.
fn carry(from: &Path, to: &Path) -> io::Result<()> {
    match rename_new(from, to) {
        Err(Errno::XDEV) => {
            if kind(from) == Some(Kind::Link) {
                symlink(fs::read_link(from)?, to)?;
            } else {
                fs::copy(from, to)?;
                fs::File::open(to)?.sync_all()?;
            }
            fs::remove_file(from)
        }
        other => Ok(other?),
    }
}

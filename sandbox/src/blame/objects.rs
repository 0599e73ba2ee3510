//! The objects that a question about one repository can be answered from.

use crate::fs::text::slurp;
use crate::git::id::{Format, Id};
use crate::git::private::PrivateGit;
use crate::host::place::path_of;
use crate::host::waits;
use crate::shadow::open::quoted;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::name::Name;
use bstr::{BString, ByteSlice};
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where a repository is, and whose shadow of it is read.
pub(crate) struct Place<'place> {
    pub(crate) projects: &'place Path,
    pub(crate) repository: &'place Name,
    pub(crate) session: &'place str,
}

/// A git directory that reads the shadow's objects and the repository's.
pub(crate) struct Objects {
    pub(crate) git: PrivateGit,
    /// Whether it has the boundary of a shallow clone.
    pub(crate) has_boundary: bool,
}

impl Objects {
    pub(crate) fn open(directory: PathBuf, format: Format, place: &Place<'_>) -> Outcome<Self> {
        let top = place.projects.join(path_of(place.repository.0.clone()));
        let shadow = top
            .join(".agent-shadow")
            .join(format!("session-{}", place.session));
        let mut alternates = BString::default();
        for store in [shadow.join("objects"), top.join(".git/objects")] {
            // Git would wait for a pipe.
            if store.is_dir() && waits::in_stores(&store).is_none() {
                alternates.extend_from_slice(&quoted(store.as_os_str().as_bytes().as_bstr()));
                alternates.push(b'\n');
            }
        }
        let git = PrivateGit::make(directory, format, &alternates)?;
        let boundary = boundary(&slurp(&shadow.join("shallow")), format);
        if !boundary.is_empty() {
            let file = git.path().join("shallow");
            fs::write(&file, &boundary).context("it cannot be written", file)?;
        }
        Ok(Objects {
            git,
            has_boundary: !boundary.is_empty(),
        })
    }

    /// The kinds of the objects that are there.
    pub(crate) fn kinds<'ids>(
        &self,
        ids: impl IntoIterator<Item = &'ids str>,
    ) -> Outcome<HashMap<&'ids str, String>> {
        let ids: Vec<&str> = ids.into_iter().filter(|id| self.is_id(id)).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let answer = self
            .git
            .git()
            .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
            .input([ids.join("\n").as_bytes(), b"\n"].concat())
            .run_to_its_end()?;
        let Some(lines) = answer.ok() else {
            return Err(Failure::Fault(format!(
                "git cannot look for the captures: {}",
                answer.why()
            )));
        };
        let found = ids.into_iter().zip(lines.lines()).filter_map(|(id, line)| {
            let kind = line.strip_prefix(id.as_bytes())?.strip_prefix(b" ")?;
            Some((id, kind.to_str().ok()?.to_owned()))
        });
        Ok(found.filter(|(_, kind)| kind != "missing").collect())
    }

    fn is_id(&self, text: &str) -> bool {
        Id::from_hex(text.as_bytes()).is_some_and(|id| id.as_bytes().len() == self.git.format.width())
    }
}

/// The lines that are ids.
fn boundary(text: &[u8], format: Format) -> Vec<u8> {
    let is_id = |line: &&[u8]| Id::from_hex(line).is_some_and(|id| id.as_bytes().len() == format.width());
    text.lines()
        .filter(is_id)
        .flat_map(|line| [line, b"\n"].concat())
        .collect()
}

/// What git says when it lacks an object. Any other error may not happen next time.
const LACKS: [&str; 12] = [
    "bad object",
    "unable to read",
    "not a tree",
    "bad tree",
    "could not read",
    "cannot read",
    "missing",
    "not found",
    "corrupt",
    "parse commit",
    "unable to unpack",
    "inflate",
];

/// Whether git says that it lacks an object, or that one is damaged.
pub(crate) fn lacks_object(said: &str) -> bool {
    let said = said.to_lowercase();
    LACKS.iter().any(|words| said.contains(words))
}

/// Git did not say what was asked, and why. The same call may succeed later.
pub(crate) fn unsaid(why: &str) -> Failure {
    let why = if why.is_empty() {
        "git failed and said nothing"
    } else {
        why
    };
    Failure::unavailable(format!(
        "The sandbox did not say who wrote the file: {why}. Call again."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_the_format_are_a_boundary() {
        let id = "a".repeat(40);
        let text = format!("{id}\nnonsense\n{}\n{id} more\n", "b".repeat(64));
        assert_eq!(
            boundary(text.as_bytes(), Format::Sha1),
            format!("{id}\n").as_bytes()
        );
    }

    #[test]
    fn a_lost_object_is_told_from_other_errors() {
        assert!(lacks_object(
            "fatal: unable to read tree (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)"
        ));
        assert!(lacks_object("fatal: Cannot read blob 1 for path a"));
        assert!(!lacks_object("fatal: out of memory"));
    }
}

//! Reads objects of one git directory: from its files, where that is possible, or through one process of git.

use crate::git::id::{Format, Id, ObjectKind};
use crate::git::objects::Objects;
use crate::git::talk::Talk;
use crate::wire::error::Outcome;
use std::path::{Path, PathBuf};

/// An object, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// `blob`, `tree`, `commit` or `tag`.
    pub(crate) kind: String,
    pub(crate) content: Vec<u8>,
}

/// An object, or the size of one that was not to be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bounded {
    Whole(Object),
    TooLarge(u64),
}

/// Objects are asked for one by one. A process of git ends with this value.
pub(crate) struct Batch {
    /// Reads what needs no git.
    objects: Option<Objects>,
    talk: Option<Talk>,
    directory: PathBuf,
    git_directory: PathBuf,
}

impl Batch {
    /// Reads objects of this git directory through git alone.
    pub(crate) fn open(directory: &Path, git_directory: &Path) -> Outcome<Self> {
        Ok(Batch {
            objects: None,
            talk: Some(Talk::open(directory, git_directory)?),
            directory: directory.to_owned(),
            git_directory: git_directory.to_owned(),
        })
    }

    /// Reads objects of a git directory of ours. Git is started for the first one that is not at hand.
    pub(crate) fn of(directory: &Path, git_directory: &Path, format: Format) -> Self {
        Batch {
            objects: Some(Objects::of(&git_directory.join("objects"), format)),
            talk: None,
            directory: directory.to_owned(),
            git_directory: git_directory.to_owned(),
        }
    }

    /// The content of a blob that can be read without git, and has this id.
    pub(crate) fn blob_at_hand(&mut self, id: &Id) -> Option<Vec<u8>> {
        let (kind, content) = self.objects.as_mut()?.read(id)?;
        (kind == ObjectKind::Blob).then_some(content)
    }

    /// The object of this id; nothing when it is not there. An object that is there and cannot be read is a fault,
    /// since git then ends.
    pub(crate) fn object(&mut self, id: &str) -> Outcome<Option<Object>> {
        Ok(match self.object_within(id, usize::MAX)? {
            Some(Bounded::Whole(object)) => Some(object),
            Some(Bounded::TooLarge(_)) | None => None,
        })
    }

    /// The same, of an object with at most so many bytes.
    pub(crate) fn object_within(&mut self, id: &str, most: usize) -> Outcome<Option<Bounded>> {
        let read = |objects: &mut Objects| objects.read(&Id::from_hex(id.as_bytes())?);
        if let Some((kind, content)) = self.objects.as_mut().and_then(read) {
            return Ok(Some(if content.len() > most {
                Bounded::TooLarge(content.len() as u64)
            } else {
                Bounded::Whole(Object {
                    kind: kind.name().to_owned(),
                    content,
                })
            }));
        }
        match &mut self.talk {
            Some(talk) => talk.object_within(id, most),
            none => none
                .insert(Talk::open(&self.directory, &self.git_directory)?)
                .object_within(id, most),
        }
    }
}

//! Contents of many blobs, in the order in which they are asked for. Git is asked for those that were not read before.

use crate::apply::asked::Asked;
use crate::apply::contents::{Lacking, unwritten};
use crate::git::id::Id;
use crate::git::spool::Spooled;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use std::io::Write;
use std::path::Path;

pub(super) struct Blobs<'fill> {
    top: &'fill Path,
    spooled: Option<&'fill Spooled>,
    /// Tells the others.
    others: Option<Asked>,
    /// The content whose size was told, when it was read before.
    room: Vec<u8>,
    is_read: bool,
}

impl<'fill> Blobs<'fill> {
    /// Of these, which must then be read in this order.
    pub(super) fn of(
        shadow: &'fill Shadow,
        spooled: Option<&'fill Spooled>,
        ids: impl Iterator<Item = Id>,
    ) -> Outcome<Self> {
        let is_other = |id: &Id| !spooled.is_some_and(|spooled| spooled.has(id));
        let others: Vec<Id> = ids.filter(is_other).collect();
        let others = (!others.is_empty()).then(|| Asked::of(shadow, others));
        Ok(Blobs {
            top: &shadow.top,
            spooled,
            others: others.transpose()?,
            room: Vec::new(),
            is_read: false,
        })
    }

    /// The size of the next one.
    pub(super) fn size(&mut self, id: Id) -> Outcome<Result<u64, Lacking>> {
        let read = self
            .spooled
            .map_or(Ok(false), |spooled| spooled.read(&id, &mut self.room));
        self.is_read = read.context("a content of this repository cannot be read", self.top)?;
        if self.is_read {
            return Ok(Ok(self.room.len() as u64));
        }
        self.others()?.size(id)
    }

    /// Writes the content whose size was just told.
    pub(super) fn copy(&mut self, id: Id, size: u64, out: &mut impl Write) -> Outcome<Result<(), Lacking>> {
        if !self.is_read {
            return self.others()?.copy(id, size, out);
        }
        out.write_all(&self.room)
            .map_err(|error| unwritten(self.top, error))?;
        Ok(Ok(()))
    }

    fn others(&mut self) -> Outcome<&mut Asked> {
        let others = self.others.as_mut();
        others.ok_or_else(|| Failure::Fault("a content was not asked for".into()))
    }
}

//! A bundle of a few objects that are in memory. It needs no process of git, which costs more than all the rest of a capture
//! in which one file changed.

use crate::bundle::folder::Folder;
use crate::bundle::make::{Content, header};
use crate::bundle::spool::{Spool, Spooled};
use crate::git::deflate::deflate;
use crate::git::id::{Format, Sum};
use crate::git::pack_writer::{entry_header, start};
use crate::git::store::Small;
use crate::wire::error::{Context, Outcome};
use std::io::{self, Write};

/// More bytes than this are left to git, which finds what they have in common with the objects before them.
pub(crate) const MOST: usize = 32 * 1024;

/// Makes the bundle of these objects, which are all that the reader lacks.
pub(crate) fn small(
    format: Format,
    folder: &Folder,
    file: String,
    content: &Content<'_>,
    objects: &[Small],
) -> Outcome<Spooled> {
    let mut out = Spool::new(folder, file);
    out.write_all(header(format, content).as_bytes())
        .and_then(|()| out.write_all(&pack(format, objects)?))
        .context("the bundle cannot be written", folder.path())?;
    Ok(out.finish())
}

fn pack(format: Format, objects: &[Small]) -> io::Result<Vec<u8>> {
    let count = u32::try_from(objects.len()).map_err(io::Error::other)?;
    let mut pack = start(count).to_vec();
    for object in objects {
        pack.extend_from_slice(&entry_header(object.kind, object.content.len() as u64));
        pack.extend_from_slice(&deflate(&[&object.content])?);
    }
    let mut sum = Sum::new(format);
    sum.update(&pack);
    pack.extend_from_slice(sum.finish().as_bytes());
    Ok(pack)
}

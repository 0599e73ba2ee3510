//! Small files of git and of ours.

use crate::fs::kind::{Kind, kind_behind};
use bstr::{BStr, BString, ByteSlice};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most bytes that are read of a file that should be small.
pub(crate) const SMALL: u64 = 16 * 1024 * 1024;

/// The content of a regular file, or nothing when there is none. A larger file than `SMALL` is an error.
pub(crate) fn read_small(path: &Path) -> io::Result<Option<BString>> {
    if kind_behind(path) != Some(Kind::File) {
        return Ok(None);
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut content = Vec::new();
    file.take(SMALL + 1).read_to_end(&mut content)?;
    if content.len() as u64 > SMALL {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the file is larger than 16 MiB",
        ));
    }
    Ok(Some(BString::from(content)))
}

/// The same, where a file that cannot be read counts as empty.
pub(crate) fn slurp(path: &Path) -> BString {
    read_small(path).ok().flatten().unwrap_or_default()
}

/// The first line, without its end.
pub(crate) fn first_line(text: &BStr) -> &BStr {
    text.lines().next().unwrap_or_default().as_bstr()
}

/// A path that git wrote into a file. Line ends at its end are not part of it.
pub(crate) fn path_in(file: &Path) -> Option<BString> {
    let text = slurp(file);
    let end = text
        .trim_end_with(|letter| letter == '\n' || letter == '\r')
        .len();
    (end > 0).then(|| BString::from(&text[..end]))
}

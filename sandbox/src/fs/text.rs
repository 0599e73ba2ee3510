//! Small files of git and of ours.

use crate::fs::kind::{Kind, kind_behind};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Most bytes that are read of a file that should be small.
pub(crate) const SMALL: u64 = 16 * 1024 * 1024;

/// What stands at a path that should be a regular file.
pub(crate) enum Bounded {
    Whole(Vec<u8>),
    TooLarge,
    /// Something else.
    Other,
}

/// Reads a regular file of at most so many bytes. It waits for nothing that took the place of the file.
pub(crate) fn read_bounded(path: &Path, follows_link: bool, most: u64) -> io::Result<Bounded> {
    let mut flags = OFlags::NONBLOCK;
    if !follows_link {
        flags |= OFlags::NOFOLLOW;
    }
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path);
    let file = match opened {
        Err(error) if !follows_link && Errno::from_io_error(&error) == Some(Errno::LOOP) => {
            return Ok(Bounded::Other);
        }
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Ok(Bounded::Other);
    }
    let mut content = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Ok(Bounded::TooLarge);
    }
    Ok(Bounded::Whole(content))
}

/// The content of a regular file, or nothing when there is none. A larger file than `SMALL` is an error.
pub(crate) fn read_small(path: &Path) -> io::Result<Option<BString>> {
    if kind_behind(path) != Some(Kind::File) {
        return Ok(None);
    }
    match read_bounded(path, true, SMALL) {
        Ok(Bounded::Whole(content)) => Ok(Some(BString::from(content))),
        Ok(Bounded::TooLarge) => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the file is larger than 16 MiB",
        )),
        Ok(Bounded::Other) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_regular_file_that_is_small_enough_is_read() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| top.path().join(name);
        fs::write(at("file"), "1234").expect("a file");
        symlink("file", at("link")).expect("a link");
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), pipe, 0o600.into(), 0).expect("a pipe");
        let read = |name: &str, follows_link, most| {
            read_bounded(&at(name), follows_link, most).expect("it can be opened")
        };
        for (name, follows_link) in [("file", false), ("link", true)] {
            assert!(matches!(read(name, follows_link, 4), Bounded::Whole(content) if content == b"1234"));
            assert!(matches!(read(name, follows_link, 3), Bounded::TooLarge));
        }
        assert!(matches!(read("link", false, 4), Bounded::Other));
        assert!(matches!(read("pipe", true, 4), Bounded::Other));
        assert!(matches!(read(".", false, 4), Bounded::Other));
    }
}

//! Lets git take the pack of a bundle into an object store.

use crate::fs::remove;
use crate::git::process::{Answered, Git};
use crate::wire::error::{Context, Outcome};
use crate::wire::progress::{Reporter, Work};
use bstr::{BString, ByteSlice};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// A header is longer only where it names very many commits.
const HEADER_MOST: u64 = 64 * 1024 * 1024;

/// What git said, when it did not take something.
pub(super) type Refusal = String;

pub(super) fn indexing(git: Git) -> Git {
    git.args(["index-pack", "--stdin", "--fix-thin"])
}

/// Runs git on a pack that it reads, and tells how far it has read.
pub(super) fn fed(reporter: &Reporter, git: Git, pack: File) -> Outcome<Answered> {
    let sized = || -> io::Result<_> {
        let start = (&pack).stream_position()?;
        // Git has the same open file, so both are at the same place in it.
        Ok((pack.metadata()?.len() - start, pack.try_clone()?, start))
    };
    let Ok((size, same, start)) = sized() else {
        return git.input_file(pack).run_to_its_end();
    };
    let read = || (&same).stream_position().unwrap_or(start).saturating_sub(start);
    let run = || git.input_file(pack).run_to_its_end();
    reporter.count(Work::Unpacked, size).during(size, read, run)
}

pub(super) fn answered(answer: Answered) -> Result<(), Refusal> {
    if answer.status.success() {
        Ok(())
    } else {
        Err(answer.why())
    }
}

pub(super) fn index_pack(reporter: &Reporter, git: Git, file: &Path) -> Outcome<Result<(), Refusal>> {
    fed(reporter, indexing(git), pack_of(file)?).map(answered)
}

/// As with git's own fetch: many packs would make every later command slower.
pub(super) fn loose(reporter: &Reporter, git: Git, file: &Path) -> Outcome<Result<(), Refusal>> {
    fed(reporter, git.args(["unpack-objects", "-q"]), pack_of(file)?).map(answered)
}

/// Keeps joined links as one pack. It cannot when an object is in it twice: the deltas of such a pack may form a circle. Until
/// this is checked, git does not see the pack.
pub(super) fn pack_joined(
    reporter: &Reporter,
    git: &dyn Fn() -> Git,
    objects: &Path,
    file: &Path,
) -> Outcome<Result<(), Refusal>> {
    let packs = objects.join("pack");
    let (pack, index) = (packs.join("tmp_joined.pack"), packs.join("tmp_joined.index"));
    let clear = || remove::file(&pack).and_then(|()| remove::file(&index));
    clear().context("it cannot be removed", &pack)?;
    let indexing = git()
        .args([
            "-c",
            "pack.writeReverseIndex=false",
            "index-pack",
            "--stdin",
            "--fix-thin",
            "-o",
        ])
        .arg(&index)
        .arg(&pack);
    let answer = fed(reporter, indexing, pack_of(file)?)?;
    let Some(said) = answer.ok() else {
        clear().context("it cannot be removed", &pack)?;
        return Ok(Err(answer.why()));
    };
    // `pack<TAB>ID`
    let name = said
        .trim_ascii()
        .rsplit_str("\t")
        .next()
        .unwrap_or_default()
        .to_str_lossy()
        .into_owned();
    let read = File::open(&index).context("it cannot be read", &index)?;
    let listed = git().arg("show-index").input_file(read).run_to_its_end()?;
    // Sorted by id: `OFFSET ID (CHECKSUM)`
    let ids: Vec<BString> = listed
        .ok()
        .unwrap_or_default()
        .lines()
        .filter_map(|line| Some(line.split_str(" ").nth(1)?.into()))
        .collect();
    let is_twice = ids.windows(2).any(|pair| pair[0] == pair[1]);
    if is_twice || ids.is_empty() || name.is_empty() {
        clear().context("it cannot be removed", &pack)?;
        return Ok(Err("an object is in the joined links twice".into()));
    }
    let named = |end: &str| packs.join(format!("pack-{name}.{end}"));
    let kept = fs::rename(&pack, named("pack")).and_then(|()| fs::rename(&index, named("idx")));
    kept.context("it cannot be renamed", &pack)?;
    Ok(Ok(()))
}

/// The pack of a bundle: it begins after the first empty line.
pub(super) fn pack_of(file: &Path) -> Outcome<File> {
    let found = || -> io::Result<File> {
        let mut open = File::open(file)?;
        let mut head = Vec::new();
        let mut part = vec![0; 4096];
        loop {
            let count = open.read(&mut part)?;
            head.extend_from_slice(&part[..count]);
            if let Some(at) = head.find("\n\n") {
                open.seek(SeekFrom::Start(at as u64 + 2))?;
                return Ok(open);
            }
            if count == 0 || head.len() as u64 > HEADER_MOST {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    };
    found().context("it is no bundle that can be read", file)
}

/// The bytes that `\xNN...` names.
pub(super) fn bytes_of(text: &[u8]) -> Option<Vec<u8>> {
    let parts = text.split_str("\\x");
    let bytes = parts
        .skip(1)
        .map(|digits| u8::from_str_radix(digits.to_str().ok()?, 16).ok());
    text.starts_with(b"\\x").then(|| bytes.collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_printf_writes_them() {
        assert_eq!(bytes_of(b"\\x50\\x41\\x00\\xff"), Some(vec![0x50, 0x41, 0, 0xff]));
        assert_eq!(bytes_of(b""), None);
        assert_eq!(bytes_of(b"\\xzz"), None);
    }

    #[test]
    fn the_pack_begins_after_the_header() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let file = top.path().join("bundle");
        fs::write(&file, b"# v2 git bundle\nabc refs/x\n\nPACK\n\nmore").expect("a file");
        let mut text = String::new();
        pack_of(&file)
            .expect("it is a bundle")
            .read_to_string(&mut text)
            .expect("text");
        assert_eq!(text, "PACK\n\nmore");
    }
}

//! The name of the bundle with the whole history of a host commit. Equal names mean equal history.

use crate::fs::text::slurp;
use crate::git::id::Format;
use crate::host::place::Host;
use bstr::{BString, ByteSlice};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// What of a repository's history is here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) shallow: bool,
    pub(crate) partial: bool,
}

/// The first 16 digits of the SHA-256 of these lines.
fn digest(lines: &[BString]) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line);
        hash.update(b"\n");
    }
    format!("{:x}", hash.finalize())[..16].to_owned()
}

pub(crate) fn base_of(host: &Host, format: Format, commit: &str) -> Base {
    let mut name = format!("{}-{commit}", format.name());
    let boundary = slurp(&host.common.join("shallow"));
    let shallow = !boundary.is_empty();
    if shallow {
        let mut lines: Vec<BString> = boundary.lines().map(BString::from).collect();
        lines.sort();
        name.push_str(&format!("-s{}", digest(&lines)));
    }
    let entries = fs::read_dir(host.common.join("objects/pack"))
        .into_iter()
        .flatten()
        .flatten();
    let mut packs: Vec<BString> = entries
        .map(|entry| BString::from(entry.file_name().as_bytes()))
        .filter(|name| name.ends_with(b".promisor") && !name.starts_with(b"."))
        .collect();
    packs.sort();
    let partial = !packs.is_empty();
    if partial {
        // Each fetch of missing objects makes a pack. So clones with the same packs lack the same objects.
        name.push_str(&format!(
            "-p{}",
            digest(&[BString::from(bstr::join(" ", &packs))])
        ));
    }
    Base {
        name,
        shallow,
        partial,
    }
}

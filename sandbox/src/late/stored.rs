//! The command that hears that a capture of late files is durable: what it holds need not be kept here.

use crate::fs::remove;
use crate::fs::text::slurp;
use crate::lock::Lock;
use crate::restore::asides::look_after;
use crate::restore::put_aside::{all_of, places};
use crate::wire::error::{Context, Outcome};
use crate::wire::late::{LateStoredReport, LateStoredRequest};
use bstr::ByteSlice;
use std::fs;
use std::path::Path;

pub(crate) fn stored(projects: &Path, request: &LateStoredRequest) -> Outcome<LateStoredReport> {
    let _lock = Lock::take(projects, request.lock_wait_seconds)?;
    for place in places(&all_of(projects, &request.session_id)) {
        forget(&place, &request.tag).context("what is stored cannot be noted", place)?;
    }
    // The caller knows what stays.
    let _ = look_after(projects, &request.session_id);
    Ok(LateStoredReport {})
}

/// Moves what the capture of this tag took from a place to what is stored. After a power loss a list may be cut: what has no
/// end does not count.
fn forget(place: &Path, tag: &str) -> std::io::Result<()> {
    let taken = slurp(&place.join("storing"));
    let Some(contents) = taken.strip_prefix([tag.as_bytes(), b"\0"].concat().as_slice()) else {
        return Ok(());
    };
    let all = slurp(&place.join("stored"));
    let part = place.join("stored.part");
    fs::write(&part, [ended(&all), ended(contents)].concat())?;
    fs::rename(&part, place.join("stored"))?;
    remove::file(&place.join("storing"))
}

/// The names that have their end.
fn ended(list: &[u8]) -> &[u8] {
    list.rfind_byte(0).map_or(&[], |at| &list[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_capture_took_is_not_stored() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let place = top.path();
        fs::write(place.join("storing"), b"tag\0id f\0").expect("a file");
        forget(place, "ta").expect("it is looked at");
        assert!(!place.join("stored").exists());
        forget(place, "tag").expect("it is noted");
        assert_eq!(slurp(&place.join("stored")), "id f\0");
        assert!(!place.join("storing").exists());
        fs::write(place.join("storing"), b"tag\0id g\0").expect("a file");
        forget(place, "tag").expect("it is noted");
        assert_eq!(slurp(&place.join("stored")), "id f\0id g\0");
        fs::write(place.join("storing"), b"tag\0id h\0id").expect("a file");
        forget(place, "tag").expect("it is noted");
        assert_eq!(slurp(&place.join("stored")), "id f\0id g\0id h\0");
    }
}

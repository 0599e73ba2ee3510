//! What git warned of while it did its work. A warning that nobody knows may be about what is captured, so it makes the
//! capture of its repository incomplete (C5).

use bstr::{BStr, BString, ByteSlice};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Directories in which git ran, and what it warned of there.
static HEARD: Mutex<Vec<(PathBuf, BString)>> = Mutex::new(Vec::new());

/// Keeps the warnings among these messages.
pub(crate) fn note(directory: Option<&Path>, messages: &BStr) {
    let unknown = messages.lines().filter_map(|line| unknown(line.as_bstr()));
    let found: Vec<_> = directory
        .into_iter()
        .flat_map(|at| unknown.clone().map(|text| (at.to_owned(), text.to_owned())))
        .collect();
    if let Ok(mut heard) = HEARD.lock() {
        heard.extend(found);
    }
}

/// What was warned of in directories that are asked for, each once. It is forgotten then.
pub(crate) fn take(is_of: impl Fn(&Path) -> bool) -> Vec<BString> {
    let Ok(mut heard) = HEARD.lock() else {
        return Vec::new();
    };
    let (own, others): (Vec<_>, Vec<_>) = heard.drain(..).partition(|(at, _)| is_of(at));
    *heard = others;
    let mut texts: Vec<BString> = own.into_iter().map(|(_, text)| text).collect();
    texts.sort();
    texts.dedup();
    texts
}

/// What a message warns of, unless it is known and says nothing about what is captured.
fn unknown(line: &BStr) -> Option<&BStr> {
    let text = line.strip_prefix(b"warning: ")?;
    let harmless: [&[u8]; 7] = [
        // The walk met these directories and files, and named them.
        b"could not open directory '",
        b"unable to access '",
        // The user's git ignores such rules as well.
        b"ignoring excessively large pattern file: ",
        // Attributes of the shadow have priority over all of these.
        b"ignoring overly large gitattributes ",
        b"ignoring overly long attributes ",
        b"Negative patterns are ignored in git attributes",
        b"adding embedded git repository: ",
    ];
    let is_known = harmless.iter().any(|beginning| text.starts_with(beginning));
    (!is_known).then(|| BStr::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_of_its_directory_and_told_once() {
        let said = BStr::new("warning: one\nwarning: unable to access 'x': no\nhint: two\nwarning: one\n");
        note(Some(Path::new("/heard/app")), said);
        note(Some(Path::new("/heard/web")), BStr::new("warning: three\n"));
        note(None, said);
        assert_eq!(take(|at| at == Path::new("/heard/app")), ["one"]);
        assert_eq!(take(|at| at == Path::new("/heard/app")), [""; 0]);
        assert_eq!(take(|at| at.starts_with("/heard")), ["three"]);
    }
}

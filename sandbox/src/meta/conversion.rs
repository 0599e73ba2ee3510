//! What git's own reading of the files depends on, in the settings of the repository alone. Without it, a copy shows
//! files as modified that nobody touched. A command never travels, and neither does a path: only these names, each with
//! one of these values.

use crate::fs::kind::{Kind, kind};
use crate::host::place::Host;
use crate::host::reading::HostReading;
use crate::meta::lists::settings_of;
use crate::wire::error::{Context, Outcome};
use bstr::ByteSlice;
use std::collections::BTreeMap;
use std::{fs, io};

const PATTERN: &str = r"^core\.(autocrlf|eol|filemode|ignorecase|symlinks)$";
/// Each with the value that says nothing.
const NAMES: [(&str, &str); 5] = [
    ("core.autocrlf", ""),
    ("core.eol", ""),
    ("core.filemode", "true"),
    ("core.ignorecase", "false"),
    ("core.symlinks", "true"),
];
/// A larger file of attributes stays behind.
const ATTRIBUTES_MOST: u64 = 1024 * 1024;

/// Each setting that differs from what `git init` writes: `NAME`, a line end and its value, ended by NUL. An error is
/// what git says.
pub(crate) fn settings(reading: &HostReading, host: &Host) -> Outcome<Result<Vec<u8>, String>> {
    if !may_say(&reading.settings.text) {
        return Ok(Ok(Vec::new()));
    }
    let mut values = BTreeMap::new();
    let listed = match settings_of(reading, host, PATTERN)? {
        Ok(listed) => listed,
        Err(said) => return Ok(Err(said)),
    };
    for entry in listed.split_str("\0").filter(|entry| !entry.is_empty()) {
        let (name, value) = match entry.split_once_str("\n") {
            Some((name, value)) => (name, Some(value)),
            None => (entry, None),
        };
        if let Some(value) = understood(name, value) {
            values.insert(name, value);
        }
    }
    let told = NAMES.iter().filter_map(|(name, usual)| {
        let value = values.get(name.as_bytes())?;
        (value != usual).then(|| format!("{name}\n{value}\0").into_bytes())
    });
    Ok(Ok(told.flatten().collect()))
}

/// Whether the settings hold such a name, other than as git writes it into each new repository.
fn may_say(text: &[u8]) -> bool {
    let text = text
        .to_ascii_lowercase()
        .replace("filemode = true", "")
        .replace("ignorecase = false", "");
    ["autocrlf", "eol", "filemode", "ignorecase", "symlinks"]
        .iter()
        .any(|name| text.contains_str(name))
}

/// The value as git understands it; nothing for any other name or value.
pub(crate) fn understood(name: &[u8], value: Option<&[u8]>) -> Option<&'static str> {
    let text = value.unwrap_or_default().to_ascii_lowercase();
    let one_of = |words: &[&'static str]| words.iter().find(|word| text == word.as_bytes()).copied();
    match name {
        b"core.eol" => return one_of(&["lf", "crlf", "native"]),
        b"core.autocrlf" if text == b"input" => return Some("input"),
        b"core.autocrlf" | b"core.filemode" | b"core.ignorecase" | b"core.symlinks" => {}
        _ => return None,
    }
    if one_of(&["true", "yes", "on", "1"]).is_some() {
        Some("true")
    } else if one_of(&["false", "no", "off", "0"]).is_some() {
        Some("false")
    } else if text.is_empty() {
        // A name without a value is true, and one with an empty value is false.
        Some(if value.is_none() { "true" } else { "false" })
    } else {
        None
    }
}

/// The attributes of the repository alone; nothing where this user may not read them.
pub(crate) fn attributes(host: &Host) -> Outcome<Vec<u8>> {
    let folder = host.common.join("info");
    let file = folder.join("attributes");
    if kind(&folder) == Some(Kind::Link) || kind(&file) != Some(Kind::File) {
        return Ok(Vec::new());
    }
    let read = || {
        if fs::metadata(&file)?.len() > ATTRIBUTES_MOST {
            return Ok(Vec::new());
        }
        fs::read(&file)
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Vec::new()),
        read => read.context("it cannot be read", file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_git_understands() {
        let cases: [(&str, Option<&str>, Option<&str>); 12] = [
            ("core.autocrlf", Some("Input"), Some("input")),
            ("core.autocrlf", Some("YES"), Some("true")),
            ("core.autocrlf", None, Some("true")),
            ("core.autocrlf", Some(""), Some("false")),
            ("core.eol", Some("CRLF"), Some("crlf")),
            ("core.eol", None, None),
            ("core.eol", Some("true"), None),
            ("core.filemode", Some("0"), Some("false")),
            ("core.filemode", Some("input"), None),
            ("core.symlinks", Some("off"), Some("false")),
            ("core.symlinks", Some("2"), None),
            ("core.pager", Some("true"), None),
        ];
        for (name, value, expected) in cases {
            let found = understood(name.as_bytes(), value.map(str::as_bytes));
            assert_eq!(found, expected, "{name} {value:?}");
        }
    }

    #[test]
    fn git_is_not_asked_about_a_new_repository() {
        assert!(!may_say(
            b"[core]\n\tfilemode = true\n\tignorecase = false\n\tbare = false\n"
        ));
        assert!(may_say(b"[core]\n\tfileMode = false\n"));
        assert!(may_say(b"[core]\n\tAutoCRLF\n"));
    }
}

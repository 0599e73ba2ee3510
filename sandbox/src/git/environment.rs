//! What processes of git are told: their variables, and settings that start nothing.

use std::ffi::OsString;
use std::path::PathBuf;

/// Settings that keep the host's repository from starting anything. `core.fsmonitor` is empty, because git before
/// 2.36 ran the command that it names, even when it is `false`.
pub(super) const HOST_SETTINGS: [&str; 5] = [
    "safe.directory=*",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=",
    "core.untrackedCache=false",
    "core.preferSymlinkRefs=false",
];

/// The variables of every process of git.
pub(super) fn environment() -> Vec<(&'static str, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let fixed = [
        ("HOME", "/dev/null"),
        ("XDG_CONFIG_HOME", "/dev/null"),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_ADVICE", "0"),
        // Git before 2.39.4 does not know GIT_NO_LAZY_FETCH. With this setting a fetch finds no allowed protocol.
        ("GIT_ALLOW_PROTOCOL", ""),
        ("GIT_AUTHOR_NAME", "Walkback"),
        ("GIT_AUTHOR_EMAIL", "capture@walkback.invalid"),
        ("GIT_COMMITTER_NAME", "Walkback"),
        ("GIT_COMMITTER_EMAIL", "capture@walkback.invalid"),
    ];
    let fixed = fixed.map(|(name, value)| (name, OsString::from(value)));
    std::iter::once(("PATH", path)).chain(fixed).collect()
}

/// The user's home directory; empty when nobody says which.
pub(crate) fn home() -> PathBuf {
    PathBuf::from(std::env::var_os("HOME").unwrap_or_default())
}

//! Settings of a repository that decide how it is read.

use crate::fs::text::slurp;
use crate::git::id::Format;
use crate::host::place::Host;
use crate::host::plain_settings;
use bstr::{BStr, BString, ByteSlice};

/// The text of the settings, and what follows from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Git reads it from the settings that all worktrees share.
    pub(crate) format: Format,
    /// The settings of the repository, and those of this worktree alone where git reads them.
    pub(crate) text: BString,
    /// Git reads settings of this worktree alone.
    pub(crate) has_own: bool,
    /// Git certainly takes all of them.
    pub(crate) are_plain: bool,
}

pub(crate) fn read(host: &Host) -> Settings {
    let mut text = slurp(&host.common.join("config"));
    let lower = text.to_ascii_lowercase();
    let is_sha256 = values(lower.as_bstr(), "objectformat").any(|value| {
        value
            .trim_start_with(|letter| letter == '"')
            .starts_with(b"sha256")
    });
    let own = values(lower.as_bstr(), "worktreeconfig").any(|value| {
        let digit = value.first().is_some_and(|byte| (b'1'..=b'9').contains(byte));
        value.is_empty()
            || digit
            || ["true", "yes", "on"]
                .iter()
                .any(|word| value.starts_with_str(word))
    });
    if own {
        text.push(b'\n');
        text.extend_from_slice(&slurp(&host.git.join("config.worktree")));
    }
    Settings {
        format: if is_sha256 { Format::Sha256 } else { Format::Sha1 },
        are_plain: plain_settings::are_plain(text.as_bstr()),
        text,
        has_own: own,
    }
}

/// The values of a setting in lower case, empty where there is none. The name must stand at the start of a line or
/// after the head of a section, since other names end in the same way (`init.defaultObjectFormat`).
fn values<'text>(text: &'text BStr, name: &'text str) -> impl Iterator<Item = &'text [u8]> {
    text.lines().filter_map(move |line| {
        let after_head = line.rfind_byte(b']').map_or(line, |at| &line[at + 1..]);
        let found = [line, after_head]
            .into_iter()
            .find_map(|part| part.trim_ascii_start().strip_prefix(name.as_bytes()));
        let rest = found?.trim_ascii();
        if rest.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix(b"=").map(|value| value.trim_ascii_start())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, name: &'static str) -> Vec<String> {
        values(text.as_bytes().as_bstr(), name)
            .map(|value| value.to_str_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_setting_is_found_on_its_own_line_and_behind_its_section() {
        assert_eq!(
            found("[extensions]\n\tobjectformat = sha256\n", "objectformat"),
            ["sha256"]
        );
        assert_eq!(
            found("[extensions] objectformat=sha256", "objectformat"),
            ["sha256"]
        );
        assert_eq!(found("[extensions]\nworktreeconfig\n", "worktreeconfig"), [""]);
    }

    #[test]
    fn a_name_that_only_ends_like_it_is_another_setting() {
        assert!(found("[init]\n\tdefaultobjectformat = sha256\n", "objectformat").is_empty());
        assert!(found("[extensions]\n\tobjectformats = sha256\n", "objectformat").is_empty());
    }
}

//! Symlinks in a git directory. Git and a restore write through them, so one that leads elsewhere is refused.

use crate::host::place::Host;
use crate::host::waits::{STATE_DIRECTORIES, STATE_FILES};
use std::fs;
use std::path::{Component, Path, PathBuf};

const NAMES: [&str; 4] = ["logs", "objects", "reftable", "packed-refs"];

/// What is told of the first link through which a restore of the host state would write to a place that is not in the git
/// directory. A branch, a HEAD or an index that is a link does not count: a file takes its place. Neither does a link to the
/// same name in another git directory below the projects root (git-new-workdir makes such links).
pub(crate) fn leads_away(host: &Host, projects: &Path) -> Option<String> {
    let mut places = vec![&host.common];
    if host.git != host.common {
        places.push(&host.git);
    }
    let seeking = Seeking {
        inside: [whole(&host.git), whole(&host.common)],
        projects: whole(projects),
    };
    places.into_iter().find_map(|place| seeking.in_place(place))
}

struct Seeking {
    inside: [PathBuf; 2],
    projects: PathBuf,
}

impl Seeking {
    fn in_place(&self, place: &Path) -> Option<String> {
        let names = NAMES.iter().chain(&STATE_FILES).chain(&STATE_DIRECTORIES);
        for name in names {
            let away = self.away(place, &place.join(name));
            if away.is_some() {
                return away;
            }
        }
        for entry in entries(&place.join("objects")) {
            let away = self.away(place, &entry);
            if away.is_some() {
                return away;
            }
        }
        for name in ["logs", "reftable"].iter().chain(&STATE_DIRECTORIES) {
            let away = self.below(place, &place.join(name), false);
            if away.is_some() {
                return away;
            }
        }
        for name in ["refs", "index"] {
            let path = place.join(name);
            if path.is_dir() {
                let away = self.away(place, &path).or_else(|| self.below(place, &path, true));
                if away.is_some() {
                    return away;
                }
            }
        }
        None
    }

    fn below(&self, place: &Path, directory: &Path, directories_only: bool) -> Option<String> {
        if fs::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
            return None;
        }
        for entry in entries(directory) {
            let counts = !directories_only || entry.is_dir();
            let away = if counts { self.away(place, &entry) } else { None };
            let away = away.or_else(|| self.below(place, &entry, directories_only));
            if away.is_some() {
                return away;
            }
        }
        None
    }

    fn away(&self, place: &Path, file: &Path) -> Option<String> {
        let text = fs::read_link(file).ok()?;
        let beside = whole(file.parent().unwrap_or(place));
        let to = whole(&beside.join(text));
        let is_inside = self.inside.iter().any(|top| to.starts_with(top) && to != *top);
        if is_inside || self.is_same_in_another(place, file, &to) {
            return None;
        }
        Some(format!(
            "{} is a symlink to {}, and a rollback would write there: remove the link, or put what it leads to in its place",
            file.display(),
            to.display()
        ))
    }

    fn is_same_in_another(&self, place: &Path, file: &Path, to: &Path) -> bool {
        let Ok(name) = file.strip_prefix(place) else {
            return false;
        };
        if !to.starts_with(&self.projects) || !to.ends_with(name) {
            return false;
        }
        let depth = name.components().count();
        to.ancestors()
            .nth(depth)
            .is_some_and(|other| other.join("HEAD").exists() && other.join("objects").is_dir())
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(directory).into_iter().flatten().flatten();
    all.map(|entry| entry.path()).collect()
}

/// The path without links, as far as it is there.
fn whole(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

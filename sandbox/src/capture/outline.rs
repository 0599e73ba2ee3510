//! What a capture tells of a repository beside its ids.

use crate::capture::repository::Repository;
use crate::host::reading::HeadKind;
use crate::wire::capture::{FailedName, HostInfo, RepositoryReport, RepositoryState};
use crate::wire::name::Name;
use crate::wire::read as wire;
use bstr::{BStr, BString};

/// The host's repository, for people. There is one word for a HEAD that cannot be read and for none.
pub(crate) fn info(repository: &Repository<'_>) -> HostInfo {
    let reading = &repository.reading;
    let base = reading.base.as_ref();
    HostInfo {
        head_kind: match reading.kind {
            HeadKind::None | HeadKind::Unreadable => wire::HeadKind::Unreadable,
            HeadKind::Unborn => wire::HeadKind::Unborn,
            HeadKind::Branch => wire::HeadKind::Branch,
            HeadKind::Detached => wire::HeadKind::Detached,
        },
        branch: reading
            .name
            .as_ref()
            .map(|name| Name(name.strip_prefix(b"refs/heads/").unwrap_or(name).into())),
        head: reading.commit.clone(),
        shallow: base.is_some_and(|base| base.shallow),
        partial: base.is_some_and(|base| base.partial),
        object_format: repository.shadow.format.name(),
    }
}

/// The report of a repository that is not there any more.
pub(crate) fn absent(path: &Name) -> RepositoryReport {
    RepositoryReport {
        path: path.clone(),
        state: RepositoryState::Absent,
        capture: None,
        info: None,
        changes: None,
        failures: Vec::new(),
        skipped: Vec::new(),
    }
}

/// A repository that is not captured.
pub(crate) fn failed(root: &BStr, reason: String) -> RepositoryReport {
    RepositoryReport {
        path: Name(root.to_owned()),
        state: RepositoryState::Failed,
        capture: None,
        info: None,
        changes: None,
        failures: vec![FailedName {
            path: Name(BString::from(".")),
            reason,
        }],
        skipped: Vec::new(),
    }
}

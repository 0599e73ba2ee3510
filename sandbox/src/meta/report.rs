//! What a capture reports of the host's repository.

use crate::host::reading::HostReading;
use crate::host::stash;
use crate::meta::HostState;
use crate::wire::capture::HostStateReport;
use crate::wire::name::Name;
use bstr::ByteSlice;

pub(crate) fn report(reading: &HostReading, state: &HostState) -> HostStateReport {
    let base = reading.base.as_ref();
    HostStateReport {
        meta: state.meta.to_string(),
        tips: state.tips.clone(),
        head_kind: reading.kind.name(),
        branch: reading.name.as_ref().map(|name| {
            let short = name.strip_prefix(b"refs/heads/").unwrap_or(name);
            Name::from(short.as_bstr())
        }),
        head: reading.commit.clone(),
        shallow: base.is_some_and(|base| base.shallow),
        partial: base.is_some_and(|base| base.partial),
        base: base.map(|base| base.name.clone()),
        stash: reading.host.as_ref().map(stash::newest).unwrap_or_default(),
    }
}

//! The command that captures every repository.

use crate::bundle::carry::{carry_bundles, share_records};
use crate::bundle::folder::Folder;
use crate::bundle::spool::Spooled;
use crate::capture::call::{Asked, Call};
use crate::capture::one::{Captured, Capturing};
use crate::capture::outline::absent;
use crate::capture::parking::finish_parking;
use crate::fs::clock;
use crate::lock::Lock;
use crate::scan::beside::note_beside;
use crate::wire::capture::{
    AnnouncedBundle, AnnouncedRecord, BundleKind, CaptureReport, CaptureRequest, Carry, RepositoryReport,
};
use crate::wire::error::{Context, Outcome};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Instant;

/// A capture that is ready to be told.
pub(crate) struct Told {
    pub(crate) report: CaptureReport,
    /// Bundles and records that travel in the answer, in the order of the report.
    pub(crate) frames: Vec<(&'static str, Vec<u8>)>,
    pub(crate) rest: Rest,
}

/// What is to be done when the report is told.
pub(crate) struct Rest {
    folder: Folder,
    pub(crate) uploads_within: Option<u64>,
    is_read_later: bool,
}

impl Rest {
    pub(crate) fn upload(&self, seconds: u64) -> Outcome<Option<String>> {
        crate::bundle::curl::upload_all(&self.folder, seconds)
    }

    /// Removes what nobody reads.
    pub(crate) fn end(self) {
        if !self.is_read_later {
            self.folder.remove();
        }
    }
}

pub(crate) fn capture(projects: &Path, request: &CaptureRequest) -> Outcome<Told> {
    // It goes before the answer: an answer that no one reads must not block the next command.
    let lock = Lock::take(projects, request.lock_wait_seconds)?;
    finish_parking(projects, &request.session_id)?;
    let folder = Folder::new(projects, &request.session_id, &request.call);
    let mut call = Call::new(Asked {
        projects,
        session: &request.session_id,
        max_file_bytes: request.max_file_bytes,
        max_depth: request.max_depth,
        include: &request.include,
        exclude: &request.exclude,
        known: request.known.iter().map(|known| &known.path.0).collect(),
        targets: request.targets.iter().map(|target| &target.path.0).collect(),
    });
    let capturing = Capturing {
        request,
        folder: &folder,
        now: clock::now() / 1_000_000_000,
        began: Instant::now(),
    };
    let (captured, skipped) = call.on_each(|call, root, is_last| capturing.capture(call, root, is_last))?;
    // Without it, restores leave what lies in no repository where it is.
    let _ = note_beside(projects, &request.session_id, &request.tag, &call.roots);
    let mut told = tell(captured, folder, request)?;
    told.report.skipped = skipped;
    let known = request.known.iter().map(|known| &known.path);
    let gone: Vec<RepositoryReport> = known
        .chain(&request.mentioned)
        .filter(|path| !call.roots.contains(&path.0))
        .map(absent)
        .collect();
    told.report.repositories.extend(gone);
    drop(lock);
    Ok(told)
}

/// Announces the bundles and records, and brings each to where it leaves.
fn tell(captured: Vec<Captured>, folder: Folder, request: &CaptureRequest) -> Outcome<Told> {
    let mut report = CaptureReport {
        repositories: Vec::with_capacity(captured.len()),
        skipped: Vec::new(),
        bundles: Vec::new(),
        records: Vec::new(),
    };
    let (mut bundles, mut records) = (Vec::new(), Vec::new());
    for (number, one) in captured.into_iter().enumerate() {
        report.repositories.push(one.report);
        let pairs = [(BundleKind::Base, one.base), (BundleKind::Link, one.link)];
        bundles.extend(
            pairs
                .into_iter()
                .filter_map(|(kind, bundle)| Some((number, kind, bundle?))),
        );
        records.extend(one.record.map(|(bytes, is_packed)| (number, bytes, is_packed)));
    }
    let mut frames = Vec::new();
    let carries = carry_all(bundles, &folder, request, &mut report, &mut frames)?;
    let is_filed = carries.contains(&Carry::File);
    let is_recorded_later = carry_records(records, is_filed, (&folder, request), &mut report, &mut frames)?;
    Ok(Told {
        report,
        frames,
        rest: Rest {
            folder,
            uploads_within: carries
                .contains(&Carry::Upload)
                .then_some(request.limits.upload_wait_seconds),
            is_read_later: is_filed || is_recorded_later,
        },
    })
}

fn create(folder: &Folder, name: &str) -> Outcome<File> {
    let path = folder.file(name)?;
    let open = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    open.context("it cannot be written", path)
}

fn carry_all(
    bundles: Vec<(usize, BundleKind, Spooled)>,
    folder: &Folder,
    request: &CaptureRequest,
    report: &mut CaptureReport,
    frames: &mut Vec<(&'static str, Vec<u8>)>,
) -> Outcome<Vec<Carry>> {
    let sizes: Vec<u64> = bundles.iter().map(|(_, _, bundle)| bundle.size).collect();
    let carries = carry_bundles(&sizes, &request.limits);
    // One file, so that one read fetches any number of bundles.
    let mut file = None;
    for ((repository, kind, mut bundle), carry) in bundles.into_iter().zip(carries.iter().copied()) {
        report.bundles.push(AnnouncedBundle {
            repository,
            kind,
            size_bytes: bundle.size,
            sha256: bundle.sha256.clone(),
            carry,
        });
        match carry {
            Carry::Inline => frames.push(("bundle", bundle.into_bytes()?)),
            Carry::File => {
                if file.is_none() {
                    file = Some(create(folder, "bundles")?);
                }
                if let Some(file) = &mut file {
                    bundle.append_to(file)?;
                }
            }
            Carry::Upload => bundle.settle(folder)?,
        }
    }
    Ok(carries)
}

/// Whether some of the records are in a file.
fn carry_records(
    records: Vec<(usize, Vec<u8>, bool)>,
    is_filed: bool,
    (folder, request): (&Folder, &CaptureRequest),
    report: &mut CaptureReport,
    frames: &mut Vec<(&'static str, Vec<u8>)>,
) -> Outcome<bool> {
    let sizes: Vec<u64> = records.iter().map(|(_, bytes, _)| bytes.len() as u64).collect();
    let mut file = None;
    for share in share_records(&sizes, is_filed, &request.limits) {
        let (repository, bytes, is_packed) = &records[share.at];
        let sent = &bytes[..usize::try_from(share.size).unwrap_or(bytes.len())];
        report.records.push(AnnouncedRecord {
            repository: *repository,
            size_bytes: share.size,
            is_packed: *is_packed,
            is_cut: sent.len() < bytes.len(),
            carry: share.carry,
        });
        if share.carry == Carry::Inline {
            frames.push(("record", sent.to_vec()));
            continue;
        }
        if file.is_none() {
            file = Some(create(folder, "changes")?);
        }
        if let Some(file) = &mut file {
            std::io::Write::write_all(file, sent).context("it cannot be written", folder.path())?;
        }
    }
    Ok(file.is_some())
}

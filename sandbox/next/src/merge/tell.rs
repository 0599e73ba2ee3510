//! Announces bundles and records, and brings each to where it leaves, as `capture/checkpoint.rs` does for a capture. Both are
//! one when this folder lies beside it.

use crate::bundle::carry::{carry_bundles, share_records};
use crate::bundle::curl::upload_all;
use crate::bundle::folder::Folder;
use crate::bundle::spool::Spooled;
use crate::merge::one::Composed;
use crate::merge::report::ComposeReport;
use crate::wire::capture::{AnnouncedBundle, AnnouncedRecord, BundleKind, Carry, CarryLimits};
use crate::wire::error::{Context, Outcome};
use std::fs::{File, OpenOptions};
use std::io::Write;

/// A composition that is ready to be told.
pub(crate) struct Told {
    pub(crate) report: ComposeReport,
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
        upload_all(&self.folder, seconds)
    }

    /// Removes what nobody reads.
    pub(crate) fn end(self) {
        if !self.is_read_later {
            self.folder.remove();
        }
    }
}

struct Telling<'tell> {
    folder: &'tell Folder,
    limits: &'tell CarryLimits,
    report: ComposeReport,
    frames: Vec<(&'static str, Vec<u8>)>,
}

pub(crate) fn tell(composed: Vec<Composed>, folder: Folder, limits: &CarryLimits) -> Outcome<Told> {
    let mut telling = Telling {
        folder: &folder,
        limits,
        report: ComposeReport::default(),
        frames: Vec::new(),
    };
    let (mut bundles, mut records) = (Vec::new(), Vec::new());
    for (number, one) in composed.into_iter().enumerate() {
        telling.report.repositories.push(one.report);
        let pairs = [(BundleKind::Base, one.base), (BundleKind::Link, one.link)];
        let made = pairs
            .into_iter()
            .filter_map(|(kind, bundle)| Some((number, kind, bundle?)));
        bundles.extend(made);
        records.extend(one.record.map(|(bytes, is_packed)| (number, bytes, is_packed)));
    }
    let carries = telling.bundles(bundles)?;
    let is_filed = carries.contains(&Carry::File);
    let is_recorded_later = telling.records(&records, is_filed)?;
    let Telling { report, frames, .. } = telling;
    Ok(Told {
        report,
        frames,
        rest: Rest {
            uploads_within: carries
                .contains(&Carry::Upload)
                .then_some(limits.upload_wait_seconds),
            is_read_later: is_filed || is_recorded_later,
            folder,
        },
    })
}

impl Telling<'_> {
    fn create(&self, name: &str) -> Outcome<File> {
        let path = self.folder.file(name)?;
        let open = OpenOptions::new().append(true).create(true).open(&path);
        open.context("it cannot be written", path)
    }

    fn bundles(&mut self, bundles: Vec<(usize, BundleKind, Spooled)>) -> Outcome<Vec<Carry>> {
        let sizes: Vec<u64> = bundles.iter().map(|(_, _, bundle)| bundle.size).collect();
        let carries = carry_bundles(&sizes, self.limits);
        for ((repository, kind, mut bundle), carry) in bundles.into_iter().zip(carries.iter().copied()) {
            self.report.bundles.push(AnnouncedBundle {
                repository,
                kind,
                size_bytes: bundle.size,
                sha256: bundle.sha256.clone(),
                carry,
            });
            match carry {
                Carry::Inline => self.frames.push(("bundle", bundle.into_bytes()?)),
                // One file, so that one read fetches any number of bundles.
                Carry::File => bundle.append_to(&mut self.create("bundles")?)?,
                Carry::Upload => bundle.settle(self.folder)?,
            }
        }
        Ok(carries)
    }

    /// Whether some of the records are in a file.
    fn records(&mut self, records: &[(usize, Vec<u8>, bool)], is_filed: bool) -> Outcome<bool> {
        let sizes: Vec<u64> = records.iter().map(|(_, bytes, _)| bytes.len() as u64).collect();
        let mut is_any_filed = false;
        for share in share_records(&sizes, is_filed, self.limits) {
            let (repository, bytes, is_packed) = &records[share.at];
            let sent = &bytes[..usize::try_from(share.size).unwrap_or(bytes.len())];
            self.report.records.push(AnnouncedRecord {
                repository: *repository,
                size_bytes: share.size,
                is_packed: *is_packed,
                is_cut: sent.len() < bytes.len(),
                carry: share.carry,
            });
            if share.carry == Carry::Inline {
                self.frames.push(("record", sent.to_vec()));
                continue;
            }
            is_any_filed = true;
            let mut file = self.create("changes")?;
            file.write_all(sent)
                .context("it cannot be written", self.folder.path())?;
        }
        Ok(is_any_filed)
    }
}

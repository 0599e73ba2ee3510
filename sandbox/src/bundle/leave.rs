//! Announces bundles and records, and brings each to where it leaves: into the answer, into a file that the caller reads, or
//! to an address that the caller names. Without curl, the caller reads what is too large for one file.

use crate::bundle::carry::{carry_bundles, share_records};
use crate::bundle::curl::upload_all;
use crate::bundle::folder::Folder;
use crate::bundle::spool::Spooled;
use crate::fs::programs::place_of;
use crate::wire::capture::{AnnouncedBundle, AnnouncedRecord, BundleKind, Carry, CarryLimits};
use crate::wire::error::{Context, Outcome};
use std::fs::{File, OpenOptions};
use std::io::Write;

/// What leaves the sandbox of one repository.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    pub(crate) link: Option<Spooled>,
    pub(crate) base: Option<Spooled>,
    /// Empty when no file differs, and whether it is compressed.
    pub(crate) record: Option<(Vec<u8>, bool)>,
}

/// A report that is ready to be told.
pub(crate) struct Told<Report> {
    pub(crate) report: Report,
    /// Bundles and records that travel in the answer, in the order of the report.
    pub(crate) frames: Vec<Frame>,
    pub(crate) rest: Rest,
}

/// A kind of frame, and its bytes.
type Frame = (&'static str, Vec<u8>);

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

/// Brings everything to where it leaves. `all` is in the order of the report; `report` makes it from what is announced.
pub(crate) fn leave<Report>(
    all: Vec<Leaving>,
    (folder, limits): (Folder, &CarryLimits),
    report: impl FnOnce(Vec<AnnouncedBundle>, Vec<AnnouncedRecord>) -> Report,
) -> Outcome<Told<Report>> {
    let mut carrying = Carrying {
        folder: &folder,
        limits,
        bundles: Vec::new(),
        records: Vec::new(),
        frames: Vec::new(),
    };
    let (mut bundles, mut records) = (Vec::new(), Vec::new());
    for (number, one) in all.into_iter().enumerate() {
        let pairs = [(BundleKind::Base, one.base), (BundleKind::Link, one.link)];
        let made = pairs
            .into_iter()
            .filter_map(|(kind, bundle)| Some((number, kind, bundle?)));
        bundles.extend(made);
        records.extend(one.record.map(|(bytes, is_packed)| (number, bytes, is_packed)));
    }
    let carries = carrying.bundles(bundles)?;
    let is_filed = carries.contains(&Carry::File);
    let is_recorded_later = carrying.records(&records, is_filed)?;
    let Carrying {
        bundles,
        records,
        frames,
        ..
    } = carrying;
    Ok(Told {
        report: report(bundles, records),
        frames,
        rest: Rest {
            uploads_within: carries
                .contains(&Carry::Upload)
                .then_some(limits.upload_wait_seconds),
            is_read_later: is_filed || is_recorded_later || carries.contains(&Carry::Stream),
            folder,
        },
    })
}

struct Carrying<'carry> {
    folder: &'carry Folder,
    limits: &'carry CarryLimits,
    bundles: Vec<AnnouncedBundle>,
    records: Vec<AnnouncedRecord>,
    frames: Vec<Frame>,
}

impl Carrying<'_> {
    fn create(&self, name: &str) -> Outcome<File> {
        let path = self.folder.file(name)?;
        let open = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        open.context("it cannot be written", path)
    }

    fn bundles(&mut self, bundles: Vec<(usize, BundleKind, Spooled)>) -> Outcome<Vec<Carry>> {
        let sizes: Vec<u64> = bundles.iter().map(|(_, _, bundle)| bundle.size).collect();
        let large = match place_of("curl") {
            Some(_) => Carry::Upload,
            None => Carry::Stream,
        };
        let carries = carry_bundles(&sizes, large, self.limits);
        // One file, so that one read fetches any number of bundles.
        let mut file = None;
        for ((repository, kind, mut bundle), carry) in bundles.into_iter().zip(carries.iter().copied()) {
            self.bundles.push(AnnouncedBundle {
                repository,
                kind,
                size_bytes: bundle.size,
                sha256: bundle.sha256.clone(),
                carry,
            });
            match carry {
                Carry::Inline => self.frames.push(("bundle", bundle.into_bytes()?)),
                Carry::File => {
                    if file.is_none() {
                        file = Some(self.create("bundles")?);
                    }
                    if let Some(file) = &mut file {
                        bundle.append_to(file)?;
                    }
                }
                Carry::Upload | Carry::Stream => bundle.settle(self.folder)?,
            }
        }
        Ok(carries)
    }

    /// Whether some of the records are in a file.
    fn records(&mut self, records: &[(usize, Vec<u8>, bool)], is_filed: bool) -> Outcome<bool> {
        let sizes: Vec<u64> = records.iter().map(|(_, bytes, _)| bytes.len() as u64).collect();
        let mut file = None;
        for share in share_records(&sizes, is_filed, self.limits) {
            let (repository, bytes, is_packed) = &records[share.at];
            let sent = &bytes[..usize::try_from(share.size).unwrap_or(bytes.len())];
            self.records.push(AnnouncedRecord {
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
            if file.is_none() {
                file = Some(self.create("changes")?);
            }
            if let Some(file) = &mut file {
                file.write_all(sent)
                    .context("it cannot be written", self.folder.path())?;
            }
        }
        Ok(file.is_some())
    }
}

//! Fills a repository where nothing is, and notes in the stat table what was written and read back, so that the proof and
//! later looks need not read it again.

use crate::apply::fill::Filled;
use crate::apply::host::Moved;
use crate::capture::look::{TABLE, begin};
use crate::host::stores;
use crate::plan::files::Change;
use crate::restore::coming::Stopped;
use crate::restore::command::Restore;
use crate::restore::plan_of::Plan;
use crate::restore::ready::Ready;
use crate::restore::stand::Stand;
use crate::scan::table::{Entry, Folder, MARGIN, Table, Verdict};
use crate::scan::table_file;
use crate::wire::error::Outcome;
use bstr::{BStr, ByteSlice};
use std::collections::HashMap;
use std::thread::sleep;
use std::time::Duration;

/// Fewer files are read again sooner than the clock goes on.
const FEW: usize = 500;
/// How often it is looked whether the clock went on.
const LOOKS: usize = 4;

/// Waits until a change by another process would have a later time than the last one of ours. To be called before the files
/// get their names. Where the clock is too coarse for that, nothing is noted, and all of it is read.
fn note_filled(stand: &Stand, filled: &Filled) -> Outcome<()> {
    let shadow = &stand.shadow;
    if filled.written.len() < FEW {
        return Ok(());
    }
    let last = filled.changed();
    for _ in 0..LOOKS {
        let began = begin(shadow)?;
        if began.is_coarse {
            return Ok(());
        }
        if last < began.limit() {
            let host = stand.reading.host.as_ref();
            let table = Table {
                format: shadow.format,
                began,
                // What is ignored is asked anew.
                rules: Vec::new(),
                stores: host
                    .map(|host| stores::fingerprint(host, began.limit()))
                    .unwrap_or_default(),
                folders: folders(filled),
            };
            return table_file::save(&table_file::compose(&table), &shadow.file(TABLE));
        }
        let more = (last - began.limit()).clamp(0, 2 * MARGIN) as u64;
        sleep(Duration::from_nanos(more + 1_000_000));
    }
    Ok(())
}

impl Restore<'_> {
    /// Writes all files of a repository where nothing is.
    pub(super) fn fill(&self, one: &mut Ready, stand: Stand, plan: Plan) -> Result<Moved, Stopped> {
        let files: Vec<_> = plan.changes.iter().filter_map(Change::written).collect();
        let reporter = self.moving.reporter;
        let modes = &plan.to.sidecar;
        let filled = Filled::write(&stand.shadow, &files, modes, one.spooled.take(), reporter)?
            .map_err(|lacking| Stopped::Lacks(lacking.to_string()))?;
        note_filled(&stand, &filled)?;
        // From here on the way back knows what may have been written.
        let plan = one.checked.plan.insert(plan);
        let stand = one.checked.stand.insert(stand);
        let mut moved = self.moving.reach_vacant(stand, plan, filled)?;
        if one.is_made {
            moved.warnings.extend(self.moving.lost_filters(stand, plan)?);
        }
        Ok(moved)
    }
}

fn folders(filled: &Filled) -> HashMap<&BStr, Folder<'_>> {
    let mut folders: HashMap<&BStr, Folder<'_>> = HashMap::new();
    for one in &filled.written {
        // A file at the top gets other times with its name.
        let Some(at) = one.path.rfind_byte(b'/') else {
            continue;
        };
        let folder = folders.entry(one.path[..at].as_bstr()).or_default();
        folder.entries.push(Entry {
            name: one.path[at + 1..].as_bstr(),
            stat: one.stat.stat,
            verdict: Verdict::default(),
            id: Some(one.id),
            is_sure: true,
            // The host may have it, and lose it.
            is_borrowed: true,
        });
    }
    for folder in folders.values_mut() {
        folder.entries.sort_unstable_by_key(|entry| entry.name);
    }
    folders
}

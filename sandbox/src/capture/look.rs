//! One look at the working files of a repository: walk, decide, read, and make the tree and the sidecar.

use crate::capture::look_before::Before;
use crate::capture::look_result::unknown_root;
use crate::capture::sort::{Sorting, sort};
use crate::capture::state::{SkippedPath, WorkingState};
use crate::capture::trees::TreeMaker;
use crate::capture::{barred, targets, wanted};
use crate::fs::clock;
use crate::fs::kind::Kind;
use crate::git::id::Id;
use crate::git::store::ObjectStore;
use crate::host::place::Host;
use crate::host::stores;
use crate::scan::decide::{Deciding, decide};
use crate::scan::discover::in_dependency_folder;
use crate::scan::embedded::embedded;
use crate::scan::names::Names;
use crate::scan::table::{Began, Table};
use crate::scan::walk::{Item, Plan, Walked, walk};
use crate::scan::{discover, table_file};
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Outcome};
use crate::wire::progress::Reads;
use bstr::{BStr, BString, ByteSlice, Finder};
use std::collections::HashSet;
use std::fs;

/// The file of the table in the shadow.
pub(crate) const TABLE: &str = "stat-table";
/// A clock that was set back by less is not worth a new table.
const OFFSET_STEP: i64 = 1_000_000;
const OWN_TRACKED: &str =
    "Walkback's own files, which git was told to track: take them out with git rm -r --cached .agent-shadow";

/// What a look needs to know.
pub(crate) struct Looking<'look> {
    pub(crate) shadow: &'look Shadow,
    pub(crate) host: Option<&'look Host>,
    /// Where the repository lies below the projects root; `.` is the root.
    pub(crate) path: &'look BStr,
    /// Hash of the rules that lie in no file of the tree.
    pub(crate) rules: &'look [u8],
    pub(crate) include: &'look [BString],
    pub(crate) exclude: &'look [BString],
    /// Roots of other repositories below this one, relative to it.
    pub(crate) nested: &'look [BString],
    /// Git directories of others in it, and the repositories that use them.
    pub(crate) held: &'look [(BString, BString)],
    /// Paths that are captured this once, whatever ignores them.
    pub(crate) forced: &'look Names,
    /// Contents that this call has read from a store since the look before.
    pub(crate) taken: &'look HashSet<Id>,
    pub(crate) max_bytes: u64,
    pub(crate) max_depth: usize,
    /// A repository that discovery does not know ends the look.
    pub(crate) seeks_roots: bool,
    pub(crate) umask: u32,
    /// Inode numbers of files that some process may write through memory.
    pub(crate) mapped: &'look HashSet<u64>,
    pub(crate) reads: Reads<'look>,
}

/// When this look begins. The file system's clock may be behind the machine's, and both say when.
pub(crate) fn begin(shadow: &Shadow) -> Outcome<Began> {
    let mark = shadow.file("looked.mark");
    let of_files = clock::time_of_files(&mark).context("a file cannot be written", &mark)?;
    Ok(Began {
        at: of_files.min(clock::now()),
        offset: clock::offset(),
        is_coarse: of_files % 1_000_000_000 == 0,
        boot: clock::boot(),
    })
}

pub(super) struct Look<'look> {
    pub(super) looking: &'look Looking<'look>,
    pub(super) began: Began,
    pub(super) before: Option<&'look Table<'look>>,
    pub(super) trusted_until: Option<i64>,
    pub(super) store: &'look ObjectStore,
}

/// What a look found that the one before did not have.
#[derive(Debug)]
pub(crate) struct Since {
    /// The tree of the look before.
    pub(crate) tree: Id,
    /// Trees and contents that it may not have.
    pub(crate) objects: Vec<Id>,
}

/// A look, whose objects are not on the disk yet.
pub(crate) struct Looked {
    pub(crate) state: WorkingState,
    /// Whether all that was forced was captured.
    pub(crate) has_forced: bool,
    /// What is new since the look before; nothing when that is not certain.
    pub(crate) since: Option<Since>,
    /// The text of the table for the next look, where it says more than the one before.
    pub(super) table: Option<Vec<u8>>,
}

impl Looked {
    /// Keeps what the look found. Every object is on the disk by now: the next look relies on them.
    pub(crate) fn keep(&self, shadow: &Shadow) -> Outcome<()> {
        match &self.table {
            Some(text) => table_file::save(text, &shadow.file(TABLE)),
            None => Ok(()),
        }
    }
}

/// Looks once. Objects are staged in the store.
pub(crate) fn look(looking: &Looking<'_>, store: &ObjectStore) -> Outcome<Looked> {
    let shadow = looking.shadow;
    let began = begin(shadow)?;
    let file = fs::read(shadow.file(TABLE)).unwrap_or_default();
    let before = table_file::parse(&file).filter(|table| table.format == shadow.format);
    let trusted_until = before.as_ref().and_then(|table| table.trusted_until(&began));
    let look = Look {
        looking,
        began,
        before: before.as_ref(),
        trusted_until,
        store,
    };
    look.run()
}

/// Whether the table says more than the one before. When the look began is no news: an entry that was sure then stays so.
fn differs(before: &Table<'_>, now: &Table<'_>) -> bool {
    before.rules != now.rules
        || before.stores != now.stores
        || before.began.boot != now.began.boot
        || before.began.offset - now.began.offset > OFFSET_STEP
        || before.folders != now.folders
}

impl Look<'_> {
    fn run(&self) -> Outcome<Looked> {
        let looking = self.looking;
        let shadow = looking.shadow;
        let mut tracked = wanted::tracked(shadow, looking.host, self.began.limit())?;
        let included = wanted::included(shadow, looking.include)?;
        let own = own_files(&mut tracked);
        let rules_are_new = self.before.is_none_or(|table| table.rules != looking.rules);
        let with_rules = self.before.filter(|_| !rules_are_new);
        let known = Before {
            table: with_rules,
            all: self.before,
            trusted_until: self.trusted_until,
            wanted: [&tracked, &included, looking.forced],
        };
        let held = looking.held.iter().map(|(path, _)| path);
        let others: HashSet<BString> = looking.nested.iter().chain(held).cloned().collect();
        let depth = if looking.path == "." {
            0
        } else {
            looking.path.split_str("/").count()
        };
        let walked = walk(&Plan {
            top: &shadow.top,
            others: &others,
            depth_of_roots: looking.max_depth.saturating_sub(depth),
            known: &known,
            rules_are_new,
        })?;
        if looking.seeks_roots && self.has_unknown_root(&walked) {
            return unknown_root(shadow);
        }
        barred::check(shadow, &walked, &known.wanted)?;
        let embedded = embedded(&shadow.top, &walked);
        let decisions = decide(
            &Deciding {
                shadow,
                table: with_rules,
                exclude: looking.exclude,
                wanted: &known.wanted,
                embedded: &embedded,
            },
            &walked,
        )?;
        let sorting = Sorting {
            tracked: &tracked,
            included: &included,
            forced: looking.forced,
            max_bytes: looking.max_bytes,
            max_depth: looking.max_depth,
            before: self.before,
        };
        let mut sorted = sort(&sorting, &walked, &decisions);
        if own {
            sorted.skipped.push(SkippedPath {
                path: BString::from(".agent-shadow"),
                reason: OWN_TRACKED.to_owned(),
                size: None,
            });
        }
        let stores = looking
            .host
            .map(|host| stores::fingerprint(host, self.began.limit()))
            .unwrap_or_default();
        let lost = self.lost_objects(&stores)?;
        let rows = self.contents(&walked, &decisions, &mut sorted, (&lost, &stores))?;
        let inside = self.inside()?;
        let mut outlawed = self.outlawed(&walked, &decisions, &rows);
        outlawed.extend(self.outlawed_inside());
        outlawed.extend(inside.iter().map(|one| one.path.clone()));
        targets::remember_outlawed(shadow, outlawed)?;
        let before = self.before.filter(|_| lost.is_empty());
        let trees = TreeMaker {
            shadow,
            store: self.store,
            directories: &walked.directories,
            rows: &rows,
            inside: &inside,
            before,
        }
        .make()?;
        let table = self.table(&walked, &decisions, (&rows, &trees, &inside), &stores);
        let is_news = self.before.is_none_or(|before| differs(before, &table));
        let has_forced = self.has_forced(&walked, &sorted, &inside);
        Ok(Looked {
            table: is_news.then(|| table_file::compose(&table)),
            state: self.state(&walked, &decisions, sorted, &trees, stores)?,
            since: self.since(&walked, &rows, &trees, inside.is_empty() && lost.is_empty()),
            has_forced,
        })
    }

    /// Whether a repository is in it that discovery would find and does not know.
    fn has_unknown_root(&self, walked: &Walked) -> bool {
        let looking = self.looking;
        walked.with_git.iter().any(|(path, kind)| {
            let whole = discover::join(looking.path, path.as_bstr());
            let is_root = match kind {
                Kind::Directory | Kind::File => true,
                Kind::Link | Kind::Socket | Kind::Waits => false,
            };
            is_root
                && whole.split_str("/").count() <= looking.max_depth
                && !in_dependency_folder(whole.as_bstr())
                && !looking.nested.contains(path)
        })
    }

    pub(super) fn is_mapped(&self, item: &Item) -> bool {
        self.looking.mapped.contains(&item.stat.inode)
    }

    /// Whether the stat of something that is not captured says whether it changed since.
    pub(super) fn is_settled(&self, item: &Item) -> bool {
        item.stat.changed < self.began.limit() && !self.is_mapped(item)
    }
}

/// Takes our own files out of what the host tracks, and answers whether there are any.
fn own_files(tracked: &mut Names) -> bool {
    let inner = Finder::new("/.agent-shadow/");
    let is_own = |path: &BStr| path.starts_with(b".agent-shadow/") || inner.find(path).is_some();
    if !tracked.iter().any(is_own) {
        return false;
    }
    *tracked = Names::new(
        tracked
            .iter()
            .filter(|path| !is_own(path))
            .map(BString::from)
            .collect(),
    );
    true
}

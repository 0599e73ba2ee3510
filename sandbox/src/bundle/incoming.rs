//! Bundles that were brought into the sandbox for this call, in `.agent-shadow/in-SESSION/CALL`. They are named by their
//! SHA-256, and checked before git sees them.

use crate::bundle::curl;
use crate::bundle::unpack::{
    Refusal, answered, bytes_of, fed, index_pack, indexing, loose, pack_joined, pack_of,
};
use crate::fs::copy::move_over;
use crate::fs::kind::{Kind, kind};
use crate::fs::remove;
use crate::git::id::Format;
use crate::git::pack_take::take;
use crate::git::process::Git;
use crate::git::spool::Spooled;
use crate::host::place::Host;
use crate::shadow::open::Shadow;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::Reporter;
use crate::wire::restore::{Bundle, How};
use bstr::ByteSlice;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub(crate) struct Incoming<'call> {
    directory: PathBuf,
    /// A private directory of this call, for packs on their way.
    scratch: PathBuf,
    /// Names in it: several repositories are worked on at once.
    count: AtomicUsize,
    pub(crate) reporter: &'call Reporter,
}

impl<'call> Incoming<'call> {
    /// Fetches those that are not here yet, and checks all of them.
    pub(crate) fn arrive(
        projects: &Path,
        (session, call): (&str, &str),
        reporter: &'call Reporter,
    ) -> Outcome<Self> {
        let home = projects.join(".agent-shadow");
        let incoming = Incoming {
            directory: home.join(format!("in-{session}")).join(call),
            scratch: home.join(format!("run-{session}")).join(call),
            count: AtomicUsize::new(0),
            reporter,
        };
        if kind(&incoming.directory) == Some(Kind::Directory) {
            incoming.fetch()?;
            incoming.check()?;
        }
        Ok(incoming)
    }

    fn fetch(&self) -> Outcome<()> {
        let file = self.directory.join("sources");
        if kind(&file) != Some(Kind::File) {
            return Ok(());
        }
        let text = fs::read(&file).context("it cannot be read", &file)?;
        let problem = if curl::is_whole(&text) {
            curl::fetch_all(&self.directory, &text, self.reporter)?
        } else {
            Some("the list of transfers is not whole".into())
        };
        match problem {
            None => fs::remove_file(&file).context("it cannot be removed", file),
            Some(said) => Err(Failure::unavailable(format!(
                "A bundle could not be fetched into the sandbox: {said}. Check that the sandbox may reach the bucket, then call again."
            ))),
        }
    }

    fn check(&self) -> Outcome<()> {
        let unread = |error: io::Error| {
            Failure::unavailable(format!(
                "The bundles that arrived in the sandbox could not be looked at: {error}. Call again."
            ))
        };
        for entry in fs::read_dir(&self.directory).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let mut hasher = Sha256::new();
            let mut file = File::open(entry.path()).map_err(unread)?;
            io::copy(&mut file, &mut hasher).map_err(unread)?;
            let digest = format!("{:x}", hasher.finalize());
            if name.split('.').next() != Some(&*digest) {
                return Err(Failure::refused(
                    "BundleCorrupt",
                    format!(
                        "A bundle that arrived in the sandbox does not have its SHA-256: {name}. Nothing was changed. Choose another checkpoint."
                    ),
                ));
            }
        }
        Ok(())
    }

    /// They are good for one call.
    pub(crate) fn leave(&self) {
        // What is left behind, a later call removes.
        let _ = remove::directory(&self.directory);
    }

    fn new_name(&self, what: &str) -> String {
        format!("{what}.{}", self.count.fetch_add(1, Ordering::Relaxed))
    }

    fn file(&self, sha256: &str, end: &str) -> PathBuf {
        self.directory.join(format!("{sha256}.{end}"))
    }

    /// Brings the objects of these bundles into a shadow, the base first. Where the shadow holds damaged objects, they come
    /// in packs from a store of their own: git does not write an object that it seems to have, and reads packs first.
    pub(crate) fn bring(&self, shadow: &Shadow, bundles: &[Bundle]) -> Outcome<Result<(), Refusal>> {
        let damaged = shadow.file("damaged");
        if kind(&damaged).is_none() {
            for bundle in bundles {
                let taken = self.take(
                    &|| Git::on_shadow(&shadow.top, &shadow.git),
                    &shadow.objects(),
                    bundle,
                )?;
                if taken.is_err() {
                    return Ok(taken);
                }
            }
            return Ok(Ok(()));
        }
        let apart = self.scratch.join(self.new_name("objects"));
        let made = || {
            remove::directory(&apart)?;
            fs::create_dir_all(apart.join("pack"))
        };
        made().context("objects cannot be written", &apart)?;
        let git = || Git::on_shadow(&shadow.top, &shadow.git).env("GIT_OBJECT_DIRECTORY", &apart);
        for bundle in bundles {
            let whole = Bundle {
                how: How::Link,
                ..bundle.clone()
            };
            let taken = match &bundle.cuts {
                Some(cuts) => self.each_link(&git, &bundle.sha256, cuts)?,
                None => self.take(&git, &apart, &whole)?,
            };
            if taken.is_err() {
                return Ok(taken);
            }
        }
        // The index of a pack comes last, because git does not see a pack without it.
        let packs = || -> io::Result<()> {
            for end in ["pack", "idx"] {
                for entry in fs::read_dir(apart.join("pack"))? {
                    let path = entry?.path();
                    if path.extension().is_some_and(|found| found == end)
                        && let Some(name) = path.file_name()
                    {
                        move_over(&path, &shadow.objects().join("pack").join(name))?;
                    }
                }
            }
            remove::directory(&apart)?;
            remove::file(&damaged)
        };
        packs().context("objects cannot be brought", &apart)?;
        Ok(Ok(()))
    }

    /// Brings whole bundles into a git directory that only this call has.
    pub(crate) fn bring_apart(
        &self,
        git: &dyn Fn() -> Git,
        digests: &[String],
    ) -> Outcome<Result<(), Refusal>> {
        for sha256 in digests {
            let taken = index_pack(self.reporter, git(), &self.file(sha256, "bundle"))?;
            if taken.is_err() {
                return Ok(taken);
            }
        }
        Ok(Ok(()))
    }

    /// Brings the objects of a repository that is being made: the base becomes its own. The answer is the contents that were
    /// read on the way.
    pub(crate) fn bring_new(
        &self,
        shadow: &Shadow,
        (host, is_partial): (&Host, bool),
        bundles: &[Bundle],
    ) -> Outcome<Result<Option<Spooled>, Refusal>> {
        if kind(&shadow.file("damaged")).is_some() {
            return Ok(self.bring(shadow, bundles)?.map(|()| None));
        }
        let mut spooled = None;
        for bundle in bundles {
            let taken = if bundle.how == How::Base {
                let pack = || pack_of(&self.file(&bundle.sha256, "bundle"));
                if !is_partial && let Some(contents) = self.spool(pack()?, host, shadow.format) {
                    spooled = Some(contents);
                    continue;
                }
                let git = indexing(Git::on_host(&host.git, &host.git));
                let git = if is_partial { git.arg("--promisor") } else { git };
                answered(fed(self.reporter, git, pack()?)?)
            } else {
                self.take(
                    &|| Git::on_shadow(&shadow.top, &shadow.git),
                    &shadow.objects(),
                    bundle,
                )?
            };
            if let Err(refusal) = taken {
                return Ok(Err(refusal));
            }
        }
        Ok(Ok(spooled))
    }

    /// Takes a pack without git. Where that cannot be, git takes it, or says why it cannot.
    fn spool(&self, pack: File, host: &Host, format: Format) -> Option<Spooled> {
        fs::create_dir_all(&self.scratch).ok()?;
        let scratch = self.scratch.join(self.new_name("contents"));
        let packs = host.common.join("objects/pack");
        take(pack, &packs, &scratch, format, self.reporter).ok()?
    }

    /// Brings one into the store of a git directory.
    fn take(&self, git: &dyn Fn() -> Git, objects: &Path, bundle: &Bundle) -> Outcome<Result<(), Refusal>> {
        let file = self.file(&bundle.sha256, "bundle");
        let reporter = self.reporter;
        let taken = match bundle.how {
            How::Base | How::Link => return index_pack(reporter, git(), &file),
            How::Small => loose(reporter, git(), &file)?,
            How::Many => match pack_joined(reporter, git, objects, &file) {
                Ok(Ok(())) => return Ok(Ok(())),
                Ok(Err(_)) => loose(reporter, git(), &file)?,
                // A process that was ended says nothing about the bundle.
                Err(Failure::Killed { .. }) => Err(Refusal::new()),
                Err(failure) => return Err(failure),
            },
        };
        // Links were joined, or made into loose objects, for speed. Git may still take them as they were made.
        match (taken, &bundle.cuts) {
            (Ok(()), _) => Ok(Ok(())),
            (Err(_), Some(cuts)) => self.each_link(git, &bundle.sha256, cuts),
            (Err(_), None) => index_pack(reporter, git(), &file),
        }
    }

    /// The links of a joined bundle, each as its own pack: lines `OFFSET SIZE START TRAILER`, both as `printf` writes bytes.
    fn each_link(&self, git: &dyn Fn() -> Git, sha256: &str, cuts: &str) -> Outcome<Result<(), Refusal>> {
        let file = self.file(sha256, "bundle");
        let list = self.file(cuts, "cuts");
        let text = fs::read(&list).context("it cannot be read", &list)?;
        let pack = self.scratch.join(self.new_name("link"));
        for line in text.lines() {
            let words: Vec<&[u8]> = line.split_str(" ").collect();
            let parsed = || {
                let [offset, size, start, trailer] = words[..] else {
                    return None;
                };
                let number = |word: &[u8]| word.to_str().ok()?.parse::<u64>().ok();
                Some((
                    number(offset)?,
                    number(size)?,
                    bytes_of(start)?,
                    bytes_of(trailer)?,
                ))
            };
            let Some((offset, size, start, trailer)) = parsed() else {
                return Err(Failure::Fault(format!("{} is no list of links", list.display())));
            };
            let written = || -> io::Result<()> {
                fs::create_dir_all(&self.scratch)?;
                let mut out = File::create(&pack)?;
                let mut from = File::open(&file)?;
                from.seek(SeekFrom::Start(offset))?;
                out.write_all(&start)?;
                io::copy(&mut from.take(size), &mut out)?;
                out.write_all(&trailer)
            };
            written().context("a link cannot be written", &pack)?;
            let read = File::open(&pack).context("it cannot be read", &pack)?;
            let taken = indexing(git()).input_file(read).run_to_its_end()?;
            if !taken.status.success() {
                return Ok(Err(taken.why()));
            }
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_that_is_not_what_its_name_says_is_refused() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let place = top.path().join(".agent-shadow/in-s/c");
        fs::create_dir_all(&place).expect("a directory");
        fs::write(place.join("abc.bundle"), "other").expect("a file");
        let refused =
            Incoming::arrive(top.path(), ("s", "c"), &Reporter::new()).expect_err("it has another digest");
        assert!(
            matches!(
                refused,
                Failure::Refused {
                    name: "BundleCorrupt",
                    ..
                }
            ),
            "{refused}"
        );
    }
}

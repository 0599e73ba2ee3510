//! A git directory of this call beside the shadow, for work that does not look at working files. It reads the objects of the
//! repository wherever a restore left them: in place, or parked. What it makes goes to the shadow when all of it is made.

use crate::fs::copy::move_over;
use crate::fs::kind::{Kind, kind};
use crate::fs::text::slurp;
use crate::git::id::Format;
use crate::git::process::Git;
use crate::git::store::ObjectStore;
use crate::host::place::path_of;
use crate::shadow::home::{all_without_odd, deep_without_odd, without_odd};
use crate::shadow::open::{Shadow, quoted};
use crate::wire::error::{Context, Outcome};
use bstr::{BStr, ByteSlice};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Git finds no attributes but these.
const ATTRIBUTES: &str = "* -text -filter -ident -working-tree-encoding -eol -crlf merge\n";
const SETTINGS: &str = "\tbare = true\n\tfilemode = true\n\tcommitgraph = false\n\tprotectNTFS = false\n\tprotectHFS = false\n[pack]\n\tthreads = 1\n";

pub(crate) struct Scratch {
    /// The git directory, in the folder of the call.
    pub(crate) shadow: Shadow,
    pub(crate) store: ObjectStore,
    /// The shadow of the repository, where it has one.
    own: Option<PathBuf>,
}

/// The repository that it is for.
pub(crate) struct Place<'place> {
    pub(crate) projects: &'place Path,
    pub(crate) session: &'place str,
    pub(crate) path: &'place BStr,
}

/// Where the shadow of a repository is. Nothing behind a link is ours.
pub(crate) fn shadow_of(place: &Place<'_>) -> Option<PathBuf> {
    let top = place.projects.join(path_of(place.path.to_owned()));
    let git = top
        .join(".agent-shadow")
        .join(format!("session-{}", place.session));
    let above = git.ancestors().skip(1).take_while(|path| *path != place.projects);
    let is_straight = above
        .collect::<Vec<_>>()
        .into_iter()
        .all(|path| kind(path) != Some(Kind::Link));
    is_straight.then_some(git)
}

/// Shadows and git directories that are parked.
fn parked(place: &Place<'_>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let name = format!("{:x}", Sha256::digest(place.path));
    let home = place
        .projects
        .join(".agent-shadow")
        .join(format!("parked-{}", place.session))
        .join(&name[..16]);
    let mut numbers: Vec<PathBuf> = fs::read_dir(home)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    numbers.sort();
    let inner = |name: &str| {
        let all = numbers.iter().map(|place| place.join(name));
        all.filter(|path| path.join("objects").is_dir()).collect()
    };
    (inner("shadow"), inner("git"))
}

impl Scratch {
    /// Makes it. `directory` is in the folder of the call, and not there yet.
    pub(crate) fn make(place: &Place<'_>, format: Format, directory: PathBuf) -> Outcome<Self> {
        let made = || Scratch::written(place, format, &directory);
        let own = made().context("it cannot be written", &directory)?;
        let shadow = Shadow {
            top: directory.join("nothing"),
            git: directory,
            format,
        };
        Ok(Scratch {
            store: ObjectStore::new(shadow.objects(), format),
            shadow,
            own,
        })
    }

    fn written(place: &Place<'_>, format: Format, directory: &Path) -> io::Result<Option<PathBuf>> {
        for name in ["objects/info", "objects/pack", "refs/heads", "info", "nothing"] {
            fs::create_dir_all(directory.join(name))?;
        }
        let (version, extension) = match format {
            Format::Sha1 => (0, ""),
            Format::Sha256 => (1, "[extensions]\n\tobjectformat = sha256\n"),
        };
        fs::write(directory.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(directory.join("info/attributes"), ATTRIBUTES)?;
        fs::write(
            directory.join("config"),
            format!("[core]\n\trepositoryformatversion = {version}\n{SETTINGS}{extension}"),
        )?;
        let own = shadow_of(place);
        if let Some(own) = &own {
            clean(own)?;
        }
        let own = own.filter(|own| kind(&own.join("objects")) == Some(Kind::Directory));
        let (shadows, hosts) = parked(place);
        let mut boundaries = own
            .iter()
            .chain(&shadows)
            .map(|from| slurp(&from.join("shallow")));
        if let Some(boundary) = boundaries.rfind(|text| !text.is_empty()) {
            fs::write(directory.join("shallow"), boundary)?;
        }
        let mut alternates = Vec::new();
        for from in own.iter().chain(&shadows).chain(&hosts) {
            let objects = from.join("objects");
            alternates.extend_from_slice(&quoted(objects.as_os_str().as_bytes().as_bstr()));
            alternates.push(b'\n');
        }
        fs::write(directory.join("objects/info/alternates"), alternates)?;
        Ok(own)
    }

    pub(crate) fn git(&self) -> Git {
        Git::on_shadow(&self.shadow.top, &self.shadow.git)
    }

    /// The shadow of the repository, where it has one.
    pub(crate) fn of_repository(&self) -> Option<Shadow> {
        let git = self.own.clone()?;
        Some(Shadow {
            top: self.shadow.top.clone(),
            git,
            format: self.shadow.format,
        })
    }

    /// Gives the objects to the shadow of the repository, where they can be compared with other captures. They are on the
    /// disk before they have their names there.
    pub(crate) fn keep(&self) -> Outcome<()> {
        let Some(own) = &self.own else { return Ok(()) };
        let objects = self.shadow.objects();
        let store = File::open(&objects).context("it cannot be opened", &objects)?;
        rustix::fs::syncfs(&store).context("it cannot be synced", &objects)?;
        move_all(&objects, &own.join("objects")).context("objects cannot be kept", own)
    }

    /// Notes in the shadow of the repository what was captured and may not be in the result.
    pub(crate) fn note_sought(&self, line: &str) -> Outcome<()> {
        let Some(own) = &self.own else { return Ok(()) };
        let sought = own.join("sought");
        let noted = || -> io::Result<()> {
            without_odd(&sought)?;
            let mut file = OpenOptions::new().append(true).create(true).open(&sought)?;
            file.write_all(line.as_bytes())
        };
        noted().context("it cannot be written", &sought)
    }
}

/// Removes what is not ours, as whoever opens the shadow does.
fn clean(git: &Path) -> io::Result<()> {
    without_odd(git)?;
    for directory in ["", "info", "objects", "objects/info", "objects/pack"] {
        without_odd(&git.join(directory))?;
        all_without_odd(&git.join(directory))?;
    }
    deep_without_odd(&git.join("refs"))
}

/// The index of a pack comes last, because git does not see a pack without it.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_pack = name == OsStr::new("pack");
        let is_loose = name.len() == 2;
        if !is_pack && !is_loose {
            continue;
        }
        let mut files: Vec<PathBuf> = fs::read_dir(entry.path())?
            .map(|file| file.map(|file| file.path()))
            .collect::<io::Result<_>>()?;
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default().as_bytes();
            !name.starts_with(b"tmp_")
        });
        if files.is_empty() {
            continue;
        }
        let is_index = |file: &PathBuf| file.extension() == Some(OsStr::new("idx"));
        files.sort_by_key(is_index);
        let target = to.join(&name);
        fs::create_dir_all(&target)?;
        for file in files {
            move_over(&file, &target.join(file.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::id::ObjectKind;

    #[test]
    fn what_is_made_goes_to_the_shadow_at_the_end() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let place = Place {
            projects: top.path(),
            session: "s",
            path: BStr::new("r"),
        };
        let own = top.path().join("r/.agent-shadow/session-s");
        fs::create_dir_all(own.join("objects/pack")).expect("directories");
        let parked = top
            .path()
            .join(".agent-shadow/parked-s")
            .join(&format!("{:x}", Sha256::digest("r"))[..16])
            .join("1/git/objects");
        fs::create_dir_all(&parked).expect("directories");
        let scratch =
            Scratch::make(&place, Format::Sha1, top.path().join("run/0.git")).expect("it can be made");
        let blob = scratch.store.put(ObjectKind::Blob, b"x").expect("it is stored");
        scratch.store.commit().expect("it is stored");
        scratch.keep().expect("it is kept");
        scratch.note_sought("tag tree\n").expect("it is noted");
        let digits = blob.to_string();
        assert!(
            own.join("objects")
                .join(&digits[..2])
                .join(&digits[2..])
                .is_file()
        );
        assert_eq!(slurp(&own.join("sought")), "tag tree\n");
        let alternates = slurp(&scratch.shadow.file("objects/info/alternates"));
        let expected = format!("{}\n{}\n", own.join("objects").display(), parked.display());
        assert_eq!(alternates, expected);
    }

    #[test]
    fn nothing_behind_a_link_is_ours() {
        let top = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir_all(top.path().join("real/r")).expect("directories");
        std::os::unix::fs::symlink("real", top.path().join("link")).expect("a link");
        let of = |path: &'static str| {
            shadow_of(&Place {
                projects: top.path(),
                session: "s",
                path: BStr::new(path),
            })
        };
        assert!(of("real/r").is_some() && of(".").is_some());
        assert_eq!(of("link/r"), None);
    }
}

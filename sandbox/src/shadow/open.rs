//! Opens the shadow of a repository: our own git directory, with our own settings.
//!
//! Its settings and attributes are compared each time, so that changes by the agent do not last. Where a link or
//! something else stands in the place of a file of ours, it is removed: we make no such things.

use crate::fs::kind::{Kind, kind};
use crate::fs::text::{first_line, slurp};
use crate::git::id::Format;
use crate::host::place::Host;
use crate::shadow::home::{all_without_odd, deep_without_odd, make_home, write_if_other};
use crate::wire::error::{Context, Failure, Outcome};
use bstr::{BStr, BString, ByteSlice};
use rustix::fs::Access;
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const SETTINGS: &str = "[core]\n\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tignorecase = false\n\tautocrlf = false\n\tsafecrlf = false\n\tquotepath = false\n\ttrustctime = true\n\tcheckstat = default\n\tfsmonitor =\n\tcommitgraph = false\n\tsplitindex = false\n\tsparsecheckout = false\n\thookspath = /dev/null\n\tattributesfile = /dev/null\n\tlooseCompression = 1\n\tprotectNTFS = false\n\tprotectHFS = false\n\texcludesfile = \"%s\"\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[index]\n\tversion = 4\n[pack]\n\tthreads = 1\n[protocol]\n\tallow = never\n[advice]\n\taddEmbeddedRepo = false\n";
const ATTRIBUTES: &str = "* -text -filter -ident -working-tree-encoding -eol -crlf\n";
const HEAD: &str = "ref: refs/heads/walkback\n";

/// The directories of a shadow. A link in the place of one was removed.
const PLACES: [&str; 5] = [
    "objects/info",
    "objects/pack",
    "refs/heads",
    "refs/tags/chkpt",
    "info",
];

/// The shadow of one repository.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    /// The working tree.
    pub(crate) top: PathBuf,
    /// The git directory.
    pub(crate) git: PathBuf,
    pub(crate) format: Format,
}

impl Shadow {
    pub(crate) fn objects(&self) -> PathBuf {
        self.git.join("objects")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.git.join(name)
    }
}

/// Fails when this user can neither write the shadow nor make one, and says what is to be permitted. Files of this
/// user's own that lost their write permission (`chmod -R a-w`) get it again.
fn require_writable(top: &Path, git: &Path) -> Outcome<()> {
    let home = top.join(".agent-shadow");
    let places = [git, &home, top];
    let Some(place) = places.into_iter().find(|place| place.is_dir()) else {
        return Ok(());
    };
    let writes = || rustix::fs::access(place, Access::WRITE_OK);
    let user = rustix::process::geteuid();
    let Err(mut why) = writes() else { return Ok(()) };
    if place != top && fs::metadata(place).is_ok_and(|found| found.uid() == user.as_raw()) {
        permit(&home);
        match writes() {
            Ok(()) => return Ok(()),
            Err(still) => why = still,
        }
    }
    let (why, what) = if why == Errno::ROFS {
        (": it is mounted read-only", "mount it read-write")
    } else {
        ("", "give that user the permission")
    };
    Err(Failure::Obstacle(format!(
        "{} cannot be written by user {}{why}. Walkback keeps its own git directories there: {what}, then call again.",
        place.display(),
        user.as_raw()
    )))
}

/// Gives the user all permissions on a directory of ours and on what is in it, as far as that is possible.
fn permit(directory: &Path) {
    let add = |path: &Path, bits: u32| {
        if let Ok(found) = fs::symlink_metadata(path) {
            let mode = found.permissions().mode() | bits;
            // What cannot be permitted is named by the caller.
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        }
    };
    add(directory, 0o700);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match kind(&entry.path()) {
            Some(Kind::Directory) => permit(&entry.path()),
            Some(Kind::File) => add(&entry.path(), 0o600),
            Some(Kind::Link | Kind::Socket | Kind::Waits) | None => {}
        }
    }
}

/// Makes or repairs the shadow of the repository at `top`.
pub(crate) fn open(top: &Path, session: &str, format: Format, host: Option<&Host>) -> Outcome<Shadow> {
    let name = format!("session-{session}");
    require_writable(top, &top.join(".agent-shadow").join(&name))?;
    let shadow = Shadow {
        top: top.to_owned(),
        git: make_home(top)?.join(name),
        format,
    };
    make(&shadow, host).context("the shadow cannot be written", &shadow.git)?;
    Ok(shadow)
}

fn make(shadow: &Shadow, host: Option<&Host>) -> io::Result<()> {
    let git = &shadow.git;
    for directory in ["", "info", "objects", "objects/info", "objects/pack"] {
        all_without_odd(&git.join(directory))?;
    }
    deep_without_odd(&git.join("refs"))?;
    let is_whole = ["objects", "refs"]
        .iter()
        .all(|name| kind(&git.join(name)) == Some(Kind::Directory));
    if !is_whole || format_of(git) != Some(shadow.format) {
        match fs::remove_dir_all(git) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    for directory in PLACES {
        let place = git.join(directory);
        if kind(&place) != Some(Kind::Directory) {
            fs::create_dir_all(place)?;
        }
    }
    write_if_other(
        &git.join("format"),
        format!("{}\n", shadow.format.name()).as_bytes(),
    )?;
    write_if_other(&git.join("HEAD"), HEAD.as_bytes())?;
    write_if_other(&git.join("config"), &settings(shadow))?;
    write_if_other(&git.join("info/attributes"), ATTRIBUTES.as_bytes())?;
    remove_leftovers(git)?;
    borrow(shadow, host)
}

/// The shadow of the repository at `top`, where it has one.
pub(crate) fn known_shadow(top: &Path, session: &str) -> Option<Shadow> {
    let git = top.join(".agent-shadow").join(format!("session-{session}"));
    let format = format_of(&git)?;
    Some(Shadow {
        top: top.to_owned(),
        git,
        format,
    })
}

/// The format of the objects in a shadow. Where the note of it was torn, the settings beside it name the format as well.
pub(crate) fn format_of(git: &Path) -> Option<Format> {
    let named = |text: &BStr| {
        [Format::Sha1, Format::Sha256]
            .into_iter()
            .find(|format| text == format.name())
    };
    let settings = || {
        let text = slurp(&git.join("config"));
        let is_whole = text.starts_with(b"[core]") && text.contains_str("[advice]");
        let is_sha256 = text.contains_str("objectformat = sha256");
        is_whole.then_some(if is_sha256 { Format::Sha256 } else { Format::Sha1 })
    };
    named(first_line(slurp(&git.join("format")).as_bstr())).or_else(settings)
}

/// Left behind when a process of ours or the sandbox crashed. We hold the lock, so no other process uses these files.
fn remove_leftovers(git: &Path) -> io::Result<()> {
    let is_lock = |name: &[u8]| name.ends_with(b".lock");
    let is_part = |name: &[u8]| name.starts_with(b"tmp_");
    remove_named(git, is_lock)?;
    remove_named(&git.join("refs/tags/chkpt"), is_lock)?;
    remove_named(&git.join("objects"), is_part)?;
    remove_named(&git.join("objects/pack"), is_part)?;
    match fs::remove_dir_all(git.join("stage")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn remove_named(directory: &Path, is_left: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if is_left(entry.file_name().as_bytes()) && kind(&entry.path()) == Some(Kind::File) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn settings(shadow: &Shadow) -> BString {
    let begin = match shadow.format {
        Format::Sha1 => "[core]\n\trepositoryformatversion = 0\n",
        Format::Sha256 => "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
    };
    let global = shadow.file("info/exclude-global");
    let global = global
        .as_os_str()
        .as_bytes()
        .replace("\\", "\\\\")
        .replace("\"", "\\\"")
        .replace("\n", "\\n");
    let mut text = BString::from(begin);
    text.extend_from_slice(&SETTINGS.as_bytes().replace("%s", global));
    text
}

/// Lets the shadow read the host's objects, and see its shallow boundary.
pub(crate) fn borrow(shadow: &Shadow, host: Option<&Host>) -> io::Result<()> {
    let alternates = shadow.git.join("objects/info/alternates");
    let boundary = shadow.git.join("shallow");
    let Some(host) = host else {
        for file in [alternates, boundary] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        return Ok(());
    };
    let objects = host.common.join("objects");
    let mut line = quoted(objects.as_os_str().as_bytes().as_bstr());
    line.push(b'\n');
    write_if_other(&alternates, &line)?;
    let shallow = slurp(&host.common.join("shallow"));
    if !shallow.is_empty() {
        write_if_other(&boundary, &shallow)
    } else if kind(&boundary).is_some() {
        fs::remove_file(&boundary)
    } else {
        Ok(())
    }
}

/// The name of a directory as a list of object directories writes it.
pub(crate) fn quoted(directory: &BStr) -> BString {
    let is_odd = directory.contains(&b'\n')
        || directory.contains(&b':')
        || directory.starts_with(b"\"")
        || directory.starts_with(b"#");
    if !is_odd {
        return directory.to_owned();
    }
    let text = directory
        .replace("\\", "\\\\")
        .replace("\n", "\\n")
        .replace("\"", "\\\"");
    let mut quoted = BString::from("\"");
    quoted.extend_from_slice(&text);
    quoted.push(b'"');
    quoted
}

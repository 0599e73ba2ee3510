//! The command that counts the files of a projects root that lie in no repository, and that git would not ignore, before
//! they are captured. Git lists them: only its own words count about rules.

use crate::fs::scratch::Scratch;
use crate::git::id::Format;
use crate::git::private::PrivateGit;
use crate::git::process::Git;
use crate::host::place::path_of;
use crate::wire::error::{Failure, Outcome};
use crate::wire::read::{LooseFilesReport, LooseFilesRequest};
use bstr::BString;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// After so long, they are too many to be counted.
const LIST_WITHIN: Duration = Duration::from_secs(20);

pub(crate) fn count(root: &Path, request: &LooseFilesRequest) -> Outcome<LooseFilesReport> {
    count_within(LIST_WITHIN, root, request)
}

fn count_within(limit: Duration, root: &Path, request: &LooseFilesRequest) -> Outcome<LooseFilesReport> {
    let scratch = Scratch::new()?;
    let git = PrivateGit::make(scratch.path().join("git"), Format::Sha1, b"")?;
    let mut listed = Listed {
        most: request.most_files,
        files: 0,
        names: Vec::new(),
    };
    let is_all = list(&git, root, request, limit, &mut listed)?;
    if !is_all {
        return Ok(LooseFilesReport::default());
    }
    let is_few = listed.files <= listed.most;
    Ok(LooseFilesReport {
        files: Some(listed.files),
        bytes: is_few.then(|| size_of(root, &listed.names, request.max_file_bytes)),
    })
}

/// Files that were listed. Their names are kept while they are few.
struct Listed {
    most: u64,
    files: u64,
    names: Vec<BString>,
}

impl Listed {
    fn read(&mut self, list: impl Read) -> io::Result<()> {
        let mut list = BufReader::new(list);
        let mut name = Vec::new();
        while list.read_until(0, &mut name)? > 0 {
            let path = name.strip_suffix(b"\0").unwrap_or(&name);
            // Another repository is listed as a directory.
            if !path.ends_with(b"/") {
                self.files += 1;
                if self.files <= self.most {
                    self.names.push(path.into());
                }
            }
            name.clear();
        }
        Ok(())
    }
}

/// False when they are too many.
fn list(
    git: &PrivateGit,
    root: &Path,
    request: &LooseFilesRequest,
    limit: Duration,
    listed: &mut Listed,
) -> Outcome<bool> {
    let mut untracked: Vec<OsString> = [
        "ls-files",
        "-z",
        "-o",
        "--exclude-standard",
        "-x",
        ".agent-shadow",
    ]
    .map(OsString::from)
    .into();
    for pattern in &request.exclude {
        untracked.extend(["-x".into(), OsStr::from_bytes(&pattern.0).to_owned()]);
    }
    let mut lists = vec![untracked];
    // Ignored files that the session asks for by name.
    if !request.include.is_empty() {
        let options = [
            "--glob-pathspecs",
            "ls-files",
            "-z",
            "-o",
            "-i",
            "--exclude-standard",
            "--",
        ];
        let mut included: Vec<OsString> = options.map(OsString::from).into();
        included.extend(
            request
                .include
                .iter()
                .map(|pattern| OsStr::from_bytes(&pattern.0).to_owned()),
        );
        lists.push(included);
    }
    for args in lists {
        let answer = Git::on_shadow(root, git.path())
            .work_tree(root)
            .args(args)
            .run_within(limit, |stdout| listed.read(stdout))?;
        let Some(answer) = answer else { return Ok(false) };
        if let Some(killed) = answer.killed() {
            return Err(killed);
        }
        if answer.ok().is_none() {
            return Err(Failure::Fault(format!(
                "git cannot list the files: {}",
                answer.why()
            )));
        }
    }
    Ok(true)
}

/// Bytes of those that are not too large to be captured. What is gone meanwhile has none.
fn size_of(root: &Path, names: &[BString], most: u64) -> u64 {
    let sizes = names
        .iter()
        .filter_map(|name| fs::symlink_metadata(root.join(path_of(name.clone()))).ok());
    sizes.map(|found| found.len()).filter(|size| *size <= most).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::name::Name;
    use bstr::BStr;

    fn request(include: &[&str], exclude: &[&str]) -> LooseFilesRequest {
        let names = |all: &[&str]| all.iter().map(|text| Name::from(BStr::new(text))).collect();
        LooseFilesRequest {
            include: names(include),
            exclude: names(exclude),
            most_files: 3,
            max_file_bytes: 10,
        }
    }

    fn write(root: &Path, names: &[&str], text: &str) {
        for name in names {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("it lies in a directory")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
    }

    fn told(root: &Path, request: &LooseFilesRequest) -> (Option<u64>, Option<u64>) {
        let report = count(root, request).expect("it is counted");
        (report.files, report.bytes)
    }

    #[test]
    fn files_that_git_would_list_are_counted_and_no_others() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let root = top.path();
        assert_eq!(told(root, &request(&[], &[])), (Some(0), Some(0)));
        write(root, &["it's -x", "d/new\nline"], "four");
        write(root, &["large"], "more than ten");
        write(root, &[".agent-shadow/own"], "own");
        Git::new(root)
            .args(["init", "-q", "app"])
            .run()
            .expect("git runs");
        write(root, &["app/a"], "of a repository");
        assert_eq!(told(root, &request(&[], &[])), (Some(3), Some(8)));
        assert_eq!(told(root, &request(&[], &["d/*"])), (Some(2), Some(4)));
        write(root, &[".gitignore"], "d\n");
        assert_eq!(told(root, &request(&[], &[])), (Some(3), Some(6)));
        // Ignored files that are asked for, and too many for their sizes.
        assert_eq!(told(root, &request(&["d/**"], &[])), (Some(4), None));
    }

    #[test]
    fn what_git_does_not_list_in_time_is_too_many() {
        let top = tempfile::tempdir().expect("a temporary directory");
        // Git waits for what nobody writes.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            top.path().join(".gitignore"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a named pipe");
        let told = count_within(Duration::from_millis(50), top.path(), &request(&[], &[]));
        assert_eq!(told.expect("it is told"), LooseFilesReport::default());
    }

    #[test]
    fn what_git_refuses_is_a_fault() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let refused = count(top.path(), &request(&["../outside"], &[])).expect_err("git refuses it");
        assert!(
            refused.to_string().starts_with("git cannot list the files: "),
            "{refused}"
        );
    }

    #[test]
    fn names_are_kept_while_they_are_few() {
        let mut listed = Listed {
            most: 2,
            files: 0,
            names: Vec::new(),
        };
        listed.read(&b"a\0app/\0b\0c\0"[..]).expect("bytes are read");
        assert_eq!((listed.files, listed.names), (3, vec!["a".into(), "b".into()]));
    }
}

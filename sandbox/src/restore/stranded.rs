//! Processes whose working directory was removed. They go on, and see nothing of what is at its path by now.

use bstr::ByteSlice;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const GONE: &[u8] = b" (deleted)";

/// What a person is told of each. Processes of other users are not seen, unless this program runs as root.
pub(crate) fn warnings(projects: &Path) -> Vec<String> {
    let projects = fs::canonicalize(projects).unwrap_or_else(|_| projects.to_owned());
    let below = [projects.as_os_str().as_bytes(), b"/"].concat();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<(u64, String)> = processes
        .filter_map(|process| {
            let number: u64 = process.file_name().to_str()?.parse().ok()?;
            // It may have ended, or be another user's.
            let stands_in = fs::read_link(process.path().join("cwd")).ok()?;
            let path = stands_in.as_os_str().as_bytes().strip_suffix(GONE)?;
            path.starts_with(&below).then(|| {
                let said = format!(
                    "process {number} stands in {}, which is not there any more: a shell has to change its directory",
                    path.as_bstr()
                );
                (number, said)
            })
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, said)| said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_processes_in_a_directory_that_went_are_named() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let start = |name: &str| {
            let directory = top.path().join(name);
            fs::create_dir(&directory).expect("a directory");
            Command::new("sleep")
                .arg("60")
                .current_dir(directory)
                .spawn()
                .expect("it runs")
        };
        let mut all = [start("stays"), start("goes")];
        fs::remove_dir(top.path().join("goes")).expect("it is empty");
        let told = warnings(top.path());
        for one in &mut all {
            one.kill().expect("it runs");
            one.wait().expect("it ends");
        }
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with(&format!("process {} stands in ", all[1].id())),
            "{told:?}"
        );
        assert!(told[0].contains("/goes, which is not there any more"), "{told:?}");
    }
}

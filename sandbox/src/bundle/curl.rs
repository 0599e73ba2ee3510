//! Sends large bundles to the addresses that the caller writes into a file, and fetches them from such. Addresses are secret, and the contents of
//! files are the only input that the sandbox's daemon does not log. So this waits for a file.

use crate::bundle::folder::Folder;
use crate::fs::programs::place_of;
use crate::git::watch;
use crate::wire::error::{Context, Failure, Outcome};
use crate::wire::progress::{Reporter, Work};
use bstr::ByteSlice;
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LOOK_AGAIN: Duration = Duration::from_millis(50);
const END: &[u8] = b"# end\n";
const LIST: &str = "# list\n";
/// The caller then brings the bundles itself. `adapters/git/program/bring-in.ts` knows this name.
const NO_CURL: &str = "CurlMissing";

/// Waits for the addresses, and sends. The answer says what went wrong.
pub(crate) fn upload_all(folder: &Folder, wait_seconds: u64) -> Outcome<Option<String>> {
    let Some(text) = addresses(folder, wait_seconds)? else {
        return Ok(Some(format!(
            "nobody said where to upload to within {wait_seconds} seconds"
        )));
    };
    transfer(folder.path(), &text)
}

/// Fetches what a list names into this directory, and tells how much of it has come. The answer says what went wrong.
pub(crate) fn fetch_all(directory: &Path, text: &[u8], reporter: &Reporter) -> Outcome<Option<String>> {
    let (of, before) = (announced(text), bytes_in(directory));
    let come = || bytes_in(directory).saturating_sub(before);
    let fetch = || transfer(directory, text);
    reporter.count(Work::Download, of).during(of, come, fetch)
}

/// How many bytes a list brings: its first line says so.
fn announced(text: &[u8]) -> u64 {
    let number = || {
        let line = text.lines().next()?.strip_prefix(b"# bytes ")?;
        line.to_str().ok()?.parse().ok()
    };
    number().unwrap_or_default()
}

fn bytes_in(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    sizes.sum()
}

/// Whether a list of transfers was written to its end.
pub(crate) fn is_whole(text: &[u8]) -> bool {
    text.ends_with(END)
}

/// Makes all transfers of a list, in this directory. The answer says what went wrong.
fn transfer(directory: &Path, text: &[u8]) -> Outcome<Option<String>> {
    let mut started = Vec::new();
    // All lists at once. Their end is a comment of curl.
    let lists: Vec<&[u8]> = text
        .split_str(LIST)
        .filter(|list| list.contains_str("url "))
        .collect();
    if !lists.is_empty() && place_of("curl").is_none() {
        return Err(Failure::refused(
            NO_CURL,
            "A bundle could not be fetched into the sandbox, which has no curl. Call again.",
        ));
    }
    for list in lists {
        started.push(
            start(directory, list)
                .map_err(|error| Failure::Fault(format!("curl cannot be started: {error}")))?,
        );
    }
    let mut problem = None;
    for mut child in started {
        let id = child.id();
        let mut said = Vec::new();
        if let Some(mut stderr) = child.stderr.take() {
            // Its exit says enough.
            let _ = io::Read::read_to_end(&mut stderr, &mut said);
        }
        let status = child.wait();
        watch::ended(id);
        let code = status.ok().and_then(|status| status.code());
        if code != Some(0) {
            // Curl's messages name at most the host, not the address itself.
            let said: String = said.to_str_lossy().chars().take(300).collect();
            let code = code.map_or(String::from("a signal"), |code| code.to_string());
            problem = Some(format!("curl ended with {code}: {said}"));
        }
    }
    Ok(problem)
}

fn addresses(folder: &Folder, wait_seconds: u64) -> Outcome<Option<Vec<u8>>> {
    let file = folder.file("uploads")?;
    let began = Instant::now();
    loop {
        let text = fs::read(&file).unwrap_or_default();
        if is_whole(&text) {
            fs::remove_file(&file).context("it cannot be removed", &file)?;
            return Ok(Some(text));
        }
        if began.elapsed() >= Duration::from_secs(wait_seconds) {
            return Ok(None);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Starts curl on a list, in the directory of the bundles. Arguments of a process are visible to everybody.
fn start(directory: &Path, list: &[u8]) -> io::Result<Child> {
    let mut child = Command::new("curl")
        .args(["--disable", "-K", "-"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/dev/null")
        .env("LC_ALL", "C")
        .current_dir(directory)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    watch::started(child.id());
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends early says why with its exit.
        let _ = stdin.write_all(list);
    }
    Ok(child)
}

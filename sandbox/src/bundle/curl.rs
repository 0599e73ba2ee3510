//! Sends large bundles to the addresses that the caller writes into a file, and fetches them from such. Addresses are secret, and the contents of
//! files are the only input that the sandbox's daemon does not log. So this waits for a file.

use crate::bundle::folder::Folder;
use crate::git::watch;
use crate::wire::error::{Context, Failure, Outcome};
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

/// Waits for the addresses, and sends. The answer says what went wrong.
pub(crate) fn upload_all(folder: &Folder, wait_seconds: u64) -> Outcome<Option<String>> {
    let Some(text) = addresses(folder, wait_seconds)? else {
        return Ok(Some(format!(
            "nobody said where to upload to within {wait_seconds} seconds"
        )));
    };
    transfer(folder.path(), &text)
}

/// Whether a list of transfers was written to its end.
pub(crate) fn is_whole(text: &[u8]) -> bool {
    text.ends_with(END)
}

/// Makes all transfers of a list, in this directory. The answer says what went wrong.
pub(crate) fn transfer(directory: &Path, text: &[u8]) -> Outcome<Option<String>> {
    let mut started = Vec::new();
    // All lists at once. Their end is a comment of curl.
    for list in text.split_str(LIST).filter(|list| list.contains_str("url ")) {
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

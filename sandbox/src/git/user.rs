//! Git as the user starts it: with the user's own settings and environment, for what only these can tell. It is never
//! started inside a repository whose settings could start something.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// Which git this is.
pub(crate) fn version() -> Command {
    let mut command = Command::new("git");
    command.arg("--version");
    command
}

/// Prints the address of the repository's origin. Of its settings, nothing else is read.
pub(crate) fn origin(repository: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "safe.directory=*", "-C"])
        .arg(repository)
        .args(["config", "--no-includes", "--local", "--get", "remote.origin.url"]);
    command
}

/// Prints the user's own command for ssh.
pub(crate) fn ssh_command() -> Command {
    let mut command = Command::new("git");
    command
        .current_dir("/")
        .args(["config", "--global", "--get", "core.sshCommand"]);
    command
}

/// Asks a remote for its branches. Neither git nor ssh asks a person for anything.
pub(crate) fn branches_of(url: &OsStr, ssh: &OsStr) -> Command {
    let own = std::env::var_os("GIT_SSH_COMMAND").filter(|text| !text.is_empty());
    let mut by = own.unwrap_or_else(|| {
        if ssh.is_empty() {
            OsString::from("ssh")
        } else {
            ssh.to_owned()
        }
    });
    by.push(" -o BatchMode=yes -o ConnectTimeout=5");
    let mut command = Command::new("git");
    command
        .current_dir("/")
        .env_remove("SSH_ASKPASS")
        .env("GIT_SSH_COMMAND", by)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
        .env("LC_ALL", "C")
        .args(["ls-remote", "--heads", "--"])
        .arg(url)
        .arg("HEAD");
    command
}

/// Whether the user's own settings name a command for this filter.
pub(crate) fn has_filter(name: &str) -> bool {
    let names = format!("^filter\\.{}\\.(clean|smudge|process)$", name.replace('.', "\\."));
    let asked = Command::new("git")
        .current_dir("/")
        .args(["config", "--get-regexp", &names])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

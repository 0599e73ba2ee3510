//! Programs of the sandbox.

use rustix::fs::Access;
use std::path::PathBuf;

/// The program of this name, as a shell finds it.
pub(crate) fn place_of(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(tool))
        .find(|at| at.is_file() && rustix::fs::access(at, Access::EXEC_OK).is_ok())
}

//! `walkback-faults SPEC -- PROGRAM ARGUMENTS`: runs a program as it ships, and lets a fault happen at one of its writing calls
//! of the system below a directory. SPEC is a file (`spec.rs`). It ends as the program ended.
//!
//! 1. The program and its threads are traced. The processes that it starts are not.
//! 2. A call counts when one of the paths that it is about is below the directory. So what goes to pipes does not count.
//! 3. After the run, one line of JSON is appended to the report: how many calls there were, and what was done.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("the tracer reads the registers of x86_64 on Linux");

mod calls;
mod contents;
mod disk;
mod faults;
mod lacks;
mod names;
mod random;
mod spec;
mod trace;
mod tracee;

use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use std::error::Error;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use trace::Ended;

/// The tracer starts itself with this word, to be traced from the start of the program.
const TRACED: &str = "--traced";
const USAGE: &str = "usage: walkback-faults SPEC -- PROGRAM [ARGUMENT]...";

fn become_traced(words: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let (program, arguments) = words.split_first().ok_or(USAGE)?;
    ptrace::traceme()?;
    Err(Command::new(program).args(arguments).exec().into())
}

fn run(words: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    match words {
        [first, rest @ ..] if first == TRACED => become_traced(rest),
        [spec, dashes, rest @ ..] if dashes == "--" && !rest.is_empty() => {
            let spec = spec::read(spec.as_ref())?;
            let mut traced = Command::new(std::env::current_exe()?);
            traced.arg(TRACED).args(rest);
            match trace::trace(&spec, &mut traced)? {
                Ended::Exited(code) => Ok(ExitCode::from(code)),
                Ended::Killed(signal) => {
                    raise(signal)?;
                    // Of a signal that this process does not die of.
                    raise(Signal::SIGKILL)?;
                    Ok(ExitCode::FAILURE)
                }
            }
        }
        _ => Err(USAGE.into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    run(&words).unwrap_or_else(|error| {
        eprintln!("walkback-faults: {error}");
        ExitCode::from(125)
    })
}

//! The program of the sandbox with the command that its committed build does not have yet: `compose`. It is built from the
//! sources of the program, and from `merge`, which moves to them when the binaries are next built (sandbox/README.md).

#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/apply/mod.rs"]
mod apply;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/bundle/mod.rs"]
mod bundle;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/capture/mod.rs"]
mod capture;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/fs/mod.rs"]
mod fs;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/git/mod.rs"]
mod git;
#[path = "../../src/heap.rs"]
mod heap;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/host/mod.rs"]
mod host;
#[path = "../../src/lock.rs"]
mod lock;
mod merge;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/meta/mod.rs"]
mod meta;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/parallel.rs"]
mod parallel;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/plan/mod.rs"]
mod plan;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/read/mod.rs"]
mod read;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/restore/mod.rs"]
mod restore;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/scan/mod.rs"]
mod scan;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/shadow/mod.rs"]
mod shadow;
#[allow(dead_code, reason = "only what a composition needs is used here")]
#[path = "../../src/wire/mod.rs"]
mod wire;

use merge::request::{Call, Command};
use merge::tell::Rest;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;
use wire::answer::Answer;
use wire::capture::UploadReport;
use wire::error::{Context, Failure, Outcome};
use wire::read::Hello;

/// SHA-256 of the sources.
const BUILD: &str = env!("WALKBACK_BUILD");
/// The exit status of a call that has no answer, because something outside of this program failed.
const FAULT_EXIT: u8 = 75;

#[derive(serde::Serialize)]
struct Refusal<'text> {
    name: &'text str,
    message: &'text str,
}

fn main() -> ExitCode {
    let mut text = Vec::new();
    let read = io::stdin()
        .lock()
        .read_to_end(&mut text)
        .map_err(|error| error.to_string());
    let call = read.and_then(|_| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    match call {
        Ok(call) => answer(&call),
        Err(why) => {
            let _ = writeln!(io::stderr(), "the request cannot be read: {why}");
            ExitCode::from(64)
        }
    }
}

fn answer(call: &Call) -> ExitCode {
    git::watch::begin(Duration::from_millis(call.timeout_ms));
    let done = Answer::begin(io::stdout().lock(), &call.mark)
        .map_err(answer_lost)
        .and_then(|mut answer| match run(&call.command, &mut answer) {
            Err(Failure::Refused { name, message }) => {
                let refusal = Refusal {
                    name,
                    message: &message,
                };
                answer.json("error", &refusal).map_err(answer_lost)?;
                answer.end().map_err(answer_lost)
            }
            Err(failure) => Err(failure),
            Ok(rest) => {
                answer.end().map_err(answer_lost)?;
                rest.map_or(Ok(()), |rest| finish(rest, &call.mark))
            }
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "{failure}");
            ExitCode::from(FAULT_EXIT)
        }
    }
}

/// Sends what is too large for the answer. What came of it is a second answer.
fn finish(rest: Rest, mark: &str) -> Outcome<()> {
    if let Some(seconds) = rest.uploads_within {
        let problem = rest.upload(seconds)?;
        let mut answer = Answer::begin(io::stdout().lock(), mark).map_err(answer_lost)?;
        report(&mut answer, &UploadReport { problem })?;
        answer.end().map_err(answer_lost)?;
    }
    rest.end();
    Ok(())
}

fn answer_lost(error: io::Error) -> Failure {
    Failure::Fault(format!("the answer could not be written: {error}"))
}

/// The answer is what is left to do when it is told.
fn run(command: &Command, answer: &mut Answer<impl Write>) -> Outcome<Option<Rest>> {
    match command {
        Command::Hello => {
            report(
                answer,
                &Hello {
                    build: BUILD,
                    architecture: std::env::consts::ARCH,
                },
            )?;
            Ok(None)
        }
        Command::Compose(request) => {
            let root = std::env::current_dir().context("the working directory cannot be told", ".")?;
            let told = merge::command::compose(&root, request)?;
            report(answer, &told.report)?;
            for (kind, bytes) in &told.frames {
                answer.bytes(kind, bytes).map_err(answer_lost)?;
            }
            Ok(Some(told.rest))
        }
    }
}

fn report(answer: &mut Answer<impl Write>, report: &impl serde::Serialize) -> Outcome<()> {
    answer.json("report", report).map_err(answer_lost)
}

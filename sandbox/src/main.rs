//! The program that Walkback runs inside a sandbox (docs/design.md, sandbox/README.md). One call is one process:
//! it reads a request, does it in the working directory, which is the projects root, and writes an answer.

mod apply;
mod blame;
mod bundle;
mod capture;
mod check;
mod fs;
mod git;
mod heap;
mod host;
mod install;
mod late;
mod lock;
mod merge;
mod meta;
mod parallel;
mod plan;
mod read;
mod restore;
mod scan;
mod settle;
mod shadow;
mod wire;

use bundle::leave::{Rest, Told};
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;
use wire::answer::Answer;
use wire::capture::UploadReport;
use wire::error::{Context, Failure, Outcome};
use wire::request::{Command, Request};

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
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref(), words.next()) {
        (None, _) => answer_request(),
        (Some("install"), Some(digest)) => ended(install::install(&digest)),
        (Some(other), _) => ended(Err(Failure::Fault(format!(
            "{other} is not known: the program reads its request from standard input"
        )))),
    }
}

/// A fault has its reason on standard error.
fn ended(done: Outcome<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "{failure}");
            ExitCode::from(FAULT_EXIT)
        }
    }
}

fn answer_request() -> ExitCode {
    let Some(request) = request() else {
        return ExitCode::from(64);
    };
    git::watch::begin(Duration::from_millis(request.timeout_ms));
    let done = Answer::begin(io::stdout().lock(), &request.mark)
        .map_err(answer_lost)
        .and_then(|mut answer| match run(request.command, &mut answer) {
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
                rest.map_or(Ok(()), |rest| finish(rest, &request.mark))
            }
        });
    install::note_use();
    ended(done)
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

/// The request on standard input. Without one, what is wrong is on standard error.
fn request() -> Option<Request> {
    let mut text = Vec::new();
    let read = io::stdin()
        .lock()
        .read_to_end(&mut text)
        .map_err(|error| error.to_string());
    match read.and_then(|_| serde_json::from_slice(&text).map_err(|error| error.to_string())) {
        Ok(request) => Some(request),
        Err(why) => {
            let _ = writeln!(io::stderr(), "the request cannot be read: {why}");
            None
        }
    }
}

/// The answer is what is left to do when it is told.
fn run(command: Command, answer: &mut Answer<impl Write>) -> Outcome<Option<Rest>> {
    let root = std::env::current_dir().context("the working directory cannot be told", ".")?;
    match command {
        Command::Hello => report(
            answer,
            &wire::read::Hello {
                build: BUILD,
                architecture: std::env::consts::ARCH,
            },
        )?,
        Command::Survey(request) => report(answer, &read::survey::survey(&root, &request)?)?,
        Command::Directories(request) => report(answer, &read::directories::directories(&root, &request)?)?,
        Command::CaptureWorkingTree(request) => {
            report(answer, &capture::command::working_trees(&root, &request)?)?;
        }
        Command::Capture(request) => return tell(answer, capture::checkpoint::capture(&root, &request)?),
        Command::CaptureLate(request) => return tell(answer, late::command::capture(&root, &request)?),
        Command::LateStored(request) => report(answer, &late::stored::stored(&root, &request)?)?,
        Command::Compose(request) => return tell(answer, merge::command::compose(&root, &request)?),
        Command::Preflight(request) => report(answer, &check::preflight::preflight(&root, &request)?)?,
        Command::AskRemotes(request) => report(answer, &check::remotes::ask(&root, &request)?)?,
        Command::Run(request) => report(answer, &check::run::run(&root, &request)?)?,
        Command::Leftovers(request) => report(answer, &check::leftovers::leftovers(&root, &request)?)?,
        Command::Restore(request) if request.settle => {
            report(answer, &settle::command::settle(&root, &request)?)?;
        }
        Command::Restore(request) => report(answer, &restore::command::restore(&root, &request)?)?,
        Command::Diff(request) => report(answer, &read::diff::diff(&root, &request)?)?,
        Command::Blame(request) => report(answer, &blame::command::blame(&root, &request)?)?,
        Command::FindFile(request) => report(answer, &blame::find::find_file(&root, &request)?)?,
        Command::CountLooseFiles(request) => report(answer, &read::loose::count(&root, &request)?)?,
    }
    Ok(None)
}

/// The report, and the bytes that it announces.
fn tell(answer: &mut Answer<impl Write>, told: Told<impl serde::Serialize>) -> Outcome<Option<Rest>> {
    report(answer, &told.report)?;
    for (kind, bytes) in &told.frames {
        answer.bytes(kind, bytes).map_err(answer_lost)?;
    }
    Ok(Some(told.rest))
}

fn report(answer: &mut Answer<impl Write>, report: &impl serde::Serialize) -> Outcome<()> {
    answer.json("report", report).map_err(answer_lost)
}

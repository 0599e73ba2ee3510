//! Requests, as JSON on standard input.

use crate::wire::blame::{BlameRequest, FindFileRequest};
use crate::wire::capture::{CaptureRequest, WorkingTreeRequest};
use crate::wire::check::{AskRemotesRequest, LeftoversRequest, PreflightRequest, RunRequest};
use crate::wire::compose::ComposeRequest;
use crate::wire::late::{LateRequest, LateStoredRequest};
use crate::wire::read::{DiffRequest, DirectoriesRequest, LooseFilesRequest, SurveyRequest};
use crate::wire::restore::RestoreRequest;
use serde::Deserialize;

/// One call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Request {
    /// Stands around the answer, and nowhere else in the output.
    pub(crate) mark: String,
    /// The call ends itself, and every process that it started, after this time.
    pub(crate) timeout_ms: u64,
    pub(crate) command: Command,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Command {
    /// Says which program this is.
    Hello,
    Survey(SurveyRequest),
    Directories(DirectoriesRequest),
    Diff(DiffRequest),
    /// Says who wrote the lines of a file.
    Blame(BlameRequest),
    /// Looks for a path in the trees of repositories.
    FindFile(FindFileRequest),
    /// Counts the files that lie in no repository.
    CountLooseFiles(LooseFilesRequest),
    /// Looks at the working files of every repository.
    CaptureWorkingTree(WorkingTreeRequest),
    /// Captures every repository.
    Capture(CaptureRequest),
    /// Captures what other processes wrote into files that restores put aside.
    CaptureLate(LateRequest),
    /// Says that such a capture is durable.
    LateStored(LateStoredRequest),
    /// Makes captures from captures.
    Compose(Box<ComposeRequest>),
    /// Says what the sandbox has.
    Preflight(PreflightRequest),
    /// Asks the origins of repositories, without a person.
    AskRemotes(AskRemotesRequest),
    /// Runs a command like the agent's own.
    Run(RunRequest),
    /// Lists what Walkback keeps, and removes what no session needs.
    Leftovers(LeftoversRequest),
    /// Brings repositories that are there to an earlier state, all or none.
    Restore(RestoreRequest),
}

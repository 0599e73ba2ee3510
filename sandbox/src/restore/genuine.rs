//! Refuses a target that no capture made: its objects come from a sandbox that nobody trusts.

use crate::capture::tree::{TreeMode, is_forbidden_link};
use crate::git::batch::Batch;
use crate::git::process::Git;
use crate::host::waits::{STATE_DIRECTORIES, STATE_FILES};
use crate::plan::genuine::{Operation, is_branch, is_of_remote, is_ref, odd_compared, odd_file, odd_listed};
use crate::read::captured::{CapturedRef, Entries, HostState, part};
use crate::restore::captured::Captured;
use crate::restore::plan_of::Plan;
use crate::restore::stand::Stand;
use crate::scan::names::{is_below, split};
use crate::wire::error::{Failure, Outcome};
use crate::wire::name::Name;
use crate::wire::restore::RestoreRequest;
use bstr::{BStr, ByteSlice};

/// Names one thing in a target that is not of a repository.
pub(crate) type Forged = String;

fn forged(what: &str, name: &BStr) -> Forged {
    // It may be long, and may hold anything.
    let shown: String = name.to_str_lossy().chars().take(200).collect();
    format!("the checkpoint was not made by a capture: it has {what} {shown:?}")
}

/// The first place of a repository that does not lie below the projects root.
pub(crate) fn odd_place(request: &RestoreRequest) -> Option<Forged> {
    request.repositories.iter().find_map(|one| odd_path(&one.path))
}

fn odd_path(path: &Name) -> Option<Forged> {
    let path = path.0.as_bstr();
    let is_ours = path
        .split_str("/")
        .any(|part| matches!(part, b".agent-shadow" | b".git"));
    (path != "." && (!is_below(path) || is_ours)).then(|| forged("a repository at", path))
}

/// What in the target of a plan no capture holds.
pub(crate) fn of_plan(stand: &Stand, plan: &Plan) -> Outcome<Option<Forged>> {
    if let Some(path) = odd_file(&plan.differences) {
        return Ok(Some(forged("the path", path)));
    }
    let link = plan.differences.iter().find(|one| {
        let is_link = one.to.is_some_and(|to| to.mode == TreeMode::Link);
        is_link && is_forbidden_link(one.path.rsplit_str("/").next().unwrap_or_default().as_bstr())
    });
    if let Some(one) = link {
        return Ok(Some(forged("the link", one.path.as_bstr())));
    }
    if let Some(said) = of_lists(&plan.to) {
        return Ok(Some(said));
    }
    of_operation(stand, &plan.from, &plan.to)
}

fn of_lists(to: &Captured) -> Option<Forged> {
    if let Some(path) = odd_listed(to.sidecar.modes.keys().chain(&to.sidecar.empty)) {
        return Some(forged("in its lists the path", path.as_bstr()));
    }
    if let Some(path) = odd_compared(to.left_out.iter().chain(&to.held)) {
        return Some(forged("in its lists the path", path.as_bstr()));
    }
    of_refs(&to.host)
}

fn of_refs(host: &HostState) -> Option<Forged> {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    for (name, target) in &host.refs {
        let is_well = is_branch(name.as_bstr())
            && match target {
                CapturedRef::Commit(id) => is_id(id),
                CapturedRef::Symbolic(name) => is_ref(name.as_bstr()),
            };
        if !is_well {
            return Some(forged("the branch", name.as_bstr()));
        }
    }
    let head = &host.head;
    let names = matches!(head.kind.as_str(), "branch" | "unborn");
    let is_well = (!names || is_ref(head.name.as_bstr())) && (head.commit.is_empty() || is_id(&head.commit));
    (head.is_known() && !is_well).then(|| forged("as HEAD", head.name.as_bstr()))
}

/// The files of an operation in progress are written into the git directory.
fn of_operation(stand: &Stand, from: &Captured, to: &Captured) -> Outcome<Option<Forged>> {
    let Some(tree) = to.part("state").filter(|tree| from.part("state") != Some(tree)) else {
        return Ok(None);
    };
    let shadow = &stand.shadow;
    let asked = Git::on_shadow(&shadow.top, &shadow.git)
        .args(["ls-tree", "-r", "-z", "--name-only", tree])
        .run_to_its_end()?;
    let Some(list) = asked.ok() else {
        return Err(Failure::Fault(format!(
            "the operation in progress cannot be listed: {}",
            asked.why()
        )));
    };
    let operation = Operation {
        files: &STATE_FILES,
        directories: &STATE_DIRECTORIES,
    };
    Ok(operation
        .odd(split(list))
        .map(|name| forged("in its operation the file", name)))
}

/// Settings that a new repository would get, and that no capture takes along: they may name a command.
pub(super) fn of_settings(objects: &mut Batch, parts: &Entries) -> Outcome<Option<Forged>> {
    let list = part(objects, parts, "remotes")?;
    let mut names = split(&list).map(|entry| entry.split_str("\n").next().unwrap_or_default().as_bstr());
    let odd = names.find(|name| !is_of_remote(name));
    Ok(odd.map(|name| forged("among its remotes the setting", name)))
}

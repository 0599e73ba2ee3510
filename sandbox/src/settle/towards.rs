//! The restore that settles: to which states it goes, and from which.

use crate::parallel;
use crate::restore::look_all::{Looks, Seen as Stands, When};
use crate::restore::problem::kind_of;
use crate::settle::found::{Found, look};
use crate::settle::goal::Goal;
use crate::wire::error::Outcome;
use crate::wire::progress::{Reporter, Work};
use crate::wire::restore::{ProblemKind, RestoreRepository, RestoreRequest, State};
use std::collections::BTreeMap;
use std::path::Path;

/// How often it is decided anew where a repository goes, while other processes go on writing.
const LOOKS_MOST: usize = 3;

/// What is known of a repository of the request.
pub(super) enum Seen {
    Found(Box<Found>),
    /// Nothing is there by now.
    Gone,
    Problem(ProblemKind, String),
}

type AllSeen = BTreeMap<usize, Seen>;

pub(super) fn has_problem(seen: &AllSeen) -> bool {
    seen.values().any(|one| matches!(one, Seen::Problem(..)))
}

/// A request to restore to the states that are to be there, and what was found when it was made.
///
/// What lies in the way there is captured although it is ignored, and another process may have written since the look before.
/// So it is looked once more, and where a repository stands otherwise, it is decided anew.
pub(super) fn towards(
    (projects, request): (&Path, &RestoreRequest),
    mut seen: AllSeen,
    reporter: &Reporter,
) -> Outcome<(RestoreRequest, AllSeen)> {
    let mut looks = 0;
    loop {
        let (mut inner, mut places) = with_goals(request, &seen)?;
        let which: Vec<usize> = (0..places.len()).collect();
        let mut stands = Looks {
            projects,
            request: &inner,
            when: When::Now,
            umask: None,
            which: &which,
            target: |one| one.target.as_ref(),
            reads: reporter.reads(Work::Files),
        }
        .all()?;
        looks += 1;
        let mut is_other = false;
        for (number, at) in places.iter().enumerate() {
            is_other |= again((projects, request), (*at, stands.remove(&number)), &mut seen)?;
        }
        if is_other && looks < LOOKS_MOST && !has_problem(&seen) {
            continue;
        }
        if is_other {
            // The goals are of what was found last.
            (inner, places) = with_goals(request, &seen)?;
        }
        for (one, at) in inner.repositories.iter_mut().zip(&places) {
            let now = state_of(seen.get(at));
            if now.is_some() {
                // They were brought for the comparison.
                one.bundles.clear();
            }
            (one.now, one.undo) = (now.clone(), now);
        }
        return Ok((inner, seen));
    }
}

/// Notes how a repository stands, and answers whether that is other than it was.
fn again(
    (projects, request): (&Path, &RestoreRequest),
    (at, stand): (usize, Option<Stands>),
    seen: &mut AllSeen,
) -> Outcome<bool> {
    let one = &request.repositories[at];
    let (found, stand) = match (seen.get(&at), stand) {
        (Some(Seen::Found(found)), Some(stand)) => (found, stand),
        (Some(Seen::Found(_)), None) => {
            seen.insert(at, Seen::Gone);
            return Ok(true);
        }
        // It was not there, and the restore looks whether it still is not.
        _ => return Ok(false),
    };
    let stand = match stand {
        Ok(stand) if (stand.tree, stand.meta) == (found.stand.tree, found.stand.meta) => return Ok(false),
        Ok(stand) => stand,
        Err(why) => {
            let said = format!("the repository cannot be read as it is now: {why}");
            seen.insert(at, Seen::Problem(kind_of(&why), said));
            return Ok(true);
        }
    };
    let ends = (one.undo.as_ref(), one.target.as_ref());
    let next = match look(stand, ends, (projects, request))? {
        Ok(found) => Seen::Found(Box::new(found)),
        Err(lacks) => Seen::Problem(ProblemKind::MissingObjects, lacks),
    };
    seen.insert(at, next);
    Ok(true)
}

fn state_of(seen: Option<&Seen>) -> Option<State> {
    match seen {
        Some(Seen::Found(found)) => Some(State {
            tree: found.stand.tree.to_string(),
            meta: found.stand.meta.to_string(),
        }),
        _ => None,
    }
}

/// The request with the states that are to be there, and for each of its repositories its place in the request that was made.
fn with_goals(request: &RestoreRequest, seen: &AllSeen) -> Outcome<(RestoreRequest, Vec<usize>)> {
    let all: Vec<(usize, &Seen)> = seen.iter().map(|(at, seen)| (*at, seen)).collect();
    let goals = parallel::map(&all, |(at, seen)| {
        let one = &request.repositories[*at];
        let goal = match seen {
            Seen::Found(found) => Some(Goal::of(found).make()?),
            // Where both states have it, somebody removed it since.
            Seen::Gone if one.undo.is_some() && one.target.is_some() => None,
            Seen::Gone => Some(one.undo.clone()),
            Seen::Problem(..) => None,
        };
        let is_there = matches!(seen, Seen::Found(_));
        Ok((*at, goal.filter(|goal| is_there || goal.is_some())))
    })?;
    let (mut repositories, mut places) = (Vec::new(), Vec::new());
    for (at, goal) in goals {
        if let Some(target) = goal {
            repositories.push(RestoreRepository {
                target,
                ..request.repositories[at].clone()
            });
            places.push(at);
        }
    }
    let request = RestoreRequest {
        repositories,
        ..request.clone()
    };
    Ok((request, places))
}

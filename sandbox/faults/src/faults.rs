//! What happens at which call: pure.

use crate::calls::Call;
use crate::spec::{Fault, Keeps, Planned, Reason, Report, Spec, When};
use nix::libc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Pass,
    Fail(Reason, When),
    /// Half of it is written.
    Shorten,
    Kill(When),
    Lose(When, Keeps, u64),
}

impl Reason {
    pub(crate) fn errno(self) -> i32 {
        match self {
            Reason::Enospc => libc::ENOSPC,
            Reason::Eio => libc::EIO,
            Reason::Erofs => libc::EROFS,
        }
    }
}

/// Counts calls, and says what happens at each.
pub(crate) struct Faults<'spec> {
    spec: &'spec Spec,
    pub(crate) report: Report,
    /// The next chosen call fails.
    is_next: Option<Reason>,
}

impl<'spec> Faults<'spec> {
    pub(crate) fn new(spec: &'spec Spec) -> Self {
        Faults {
            spec,
            report: Report::default(),
            is_next: None,
        }
    }

    pub(crate) fn meet(&mut self, call: &Call) -> Act {
        *self.report.calls.entry(call.kind).or_default() += 1;
        let Spec { kinds, about, .. } = self.spec;
        let is_chosen = kinds.as_ref().is_none_or(|kinds| kinds.contains(&call.kind))
            && about
                .as_ref()
                .is_none_or(|about| call.paths.iter().any(|path| path.ends_with(about)));
        if !is_chosen {
            return Act::Pass;
        }
        self.report.chosen += 1;
        let act = self.act(call);
        if act != Act::Pass {
            let named: Vec<String> = call.paths.iter().map(|path| path.display().to_string()).collect();
            self.report
                .done
                .push(format!("{act:?}: {} {}", call.name, named.join(" ")));
        }
        act
    }

    fn act(&mut self, call: &Call) -> Act {
        if let Some(reason) = self.is_next.take() {
            return Act::Fail(reason, When::Before);
        }
        let Some(Planned { at, does }) = self.spec.fault else {
            return Act::Pass;
        };
        let now = self.report.chosen;
        match does {
            Fault::Fail { errno, when, lasts } if now == at || (lasts && now > at) => Act::Fail(errno, when),
            Fault::Shorten { errno } if now == at => {
                if call.length.is_none() {
                    return Act::Fail(errno, When::Before);
                }
                self.is_next = Some(errno);
                Act::Shorten
            }
            Fault::Kill { when } if now == at => Act::Kill(when),
            Fault::Lose { when, keeps, seed } if now == at => Act::Lose(when, keeps, seed),
            Fault::Fail { .. }
            | Fault::Shorten { .. }
            | Fault::Kill { .. }
            | Fault::Lose { .. }
            | Fault::LoseAtEnd { .. } => Act::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Kind;

    fn acts(fault: &str, kinds: &[Kind]) -> Vec<Act> {
        let spec: Spec = serde_json::from_str(&format!(
            r#"{{"root":"/r","report":"/o","kinds":["writes","renames"],"fault":{fault}}}"#
        ))
        .expect("a spec");
        let mut faults = Faults::new(&spec);
        let call = |kind: &Kind| Call {
            kind: *kind,
            name: "call",
            paths: Vec::new(),
            descriptor: None,
            flags: 0,
            length: (*kind == Kind::Writes).then_some(2),
        };
        kinds.iter().map(|kind| faults.meet(&call(kind))).collect()
    }

    const FOUR: [Kind; 4] = [Kind::Writes, Kind::Syncs, Kind::Writes, Kind::Renames];

    #[test]
    fn the_chosen_call_fails_alone_or_with_all_later_ones() {
        let fail = Act::Fail(Reason::Enospc, When::Before);
        let once = r#"{"at":2,"does":{"kind":"fail","errno":"ENOSPC","when":"before"}}"#;
        assert_eq!(acts(once, &FOUR), [Act::Pass, Act::Pass, fail, Act::Pass]);
        let lasting = r#"{"at":1,"does":{"kind":"fail","errno":"ENOSPC","when":"before","lasts":true}}"#;
        assert_eq!(acts(lasting, &FOUR), [fail, Act::Pass, fail, fail]);
    }

    #[test]
    fn after_a_short_write_the_next_call_fails() {
        let short = r#"{"at":1,"does":{"kind":"shorten","errno":"EIO"}}"#;
        let fail = Act::Fail(Reason::Eio, When::Before);
        assert_eq!(acts(short, &FOUR), [Act::Shorten, Act::Pass, fail, Act::Pass]);
    }

    #[test]
    fn what_has_no_length_fails_instead_of_being_short() {
        let short = r#"{"at":1,"does":{"kind":"shorten","errno":"EIO"}}"#;
        let fail = Act::Fail(Reason::Eio, When::Before);
        assert_eq!(acts(short, &[Kind::Renames, Kind::Writes]), [fail, Act::Pass]);
    }
}

//! Files, repository, exit code and screen: checked by the player at the end of its run, read here.

use serde_json::json;

use super::words::{brief, evidence};
use super::{Finding, Verdict, View};
use cuecard_trace::{Assertion as Checked, Event, EventData};

/// What the player said of the assertion `id` of the type `kind`. If it said it of several runs, all must hold.
pub(super) fn player_check(id: &str, kind: &str, view: &View<'_>) -> Finding {
    let checked: Vec<(&Event, &Checked)> = view
        .events()
        .filter_map(|event| match &event.data {
            EventData::Assertion(checked) if checked.kind == kind && checked.id == id => {
                Some((event, checked))
            }
            _ => None,
        })
        .collect();
    let refs = checked.iter().map(|(event, _)| event.event_id.as_str());
    let worst = checked
        .iter()
        .min_by_key(|(_, checked)| match checked.status.as_str() {
            "fail" => 0,
            "skip" => 2,
            "pass" => 3,
            _ => 1,
        });
    let Some((event, checked)) = worst else {
        return Finding::new(
            Verdict::Skipped,
            format!("no player checked it: the trace has no `assertion` event with the id `{id}` and the type `{kind}`"),
        )
        .help("only a run that this test case starts can check it, not a trace made before");
    };
    let why = match &checked.evidence {
        Some(evidence) => format!(": {}", cuecard_source::value::cut(evidence, 300)),
        None => String::new(),
    };
    let finding = match checked.status.as_str() {
        "pass" => Finding::holds(format!(
            "checked by the player: it holds (event {})",
            event.seq
        )),
        "fail" => Finding::fails(format!("checked by the player: it does not hold{why}")).help(
            format!("event {} observed {}", event.seq, brief(&checked.observed)),
        ),
        "skip" => Finding::new(
            Verdict::Skipped,
            format!("the player could not check it{why}"),
        ),
        other => Finding::new(
            Verdict::Undecided,
            format!("the player reported `{other}`, which is neither `pass` nor `fail`{why}"),
        ),
    };
    finding
        .observed(json!({"status": checked.status, "observed": evidence(&checked.observed)}))
        .refs(refs)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fails, Holds, Skipped, Undecided};
    use super::super::samples::{Events, judged};
    use super::*;
    use crate::model::AssertionCheck;

    #[test]
    fn the_player_is_believed_about_its_own_check() {
        let params = || json!({"path": "a.txt"});
        for (said, expected) in [
            (&[("a1", "file", "pass")][..], Holds),
            (&[("a1", "file", "fail")], Fails),
            (&[("a1", "file", "skip")], Skipped),
            (&[("a1", "file", "perhaps")], Undecided),
            (
                &[
                    ("a1", "file", "pass"),
                    ("a1", "file", "fail"),
                    ("a1", "file", "pass"),
                ],
                Fails,
            ),
            (&[("a1", "file", "pass"), ("a1", "file", "skip")], Skipped),
            (&[("a1", "git", "pass")], Skipped),
            (&[("a2", "file", "fail")], Skipped),
            (&[], Skipped),
        ] {
            let trace = said
                .iter()
                .fold(Events::new(), |events, (id, kind, status)| {
                    events.event(EventData::Assertion(Checked {
                        id: (*id).into(),
                        kind: (*kind).into(),
                        status: (*status).into(),
                        observed: json!("nothing"),
                        evidence: Some("a.txt is not there".into()),
                    }))
                })
                .trace();
            let finding = judged(AssertionCheck::File { params: params() }, &trace);
            assert_eq!(finding.verdict, expected, "{said:?}");
            if expected == Fails {
                assert_eq!(
                    finding.message,
                    "checked by the player: it does not hold: a.txt is not there"
                );
            }
        }
        let trace = Events::new().trace();
        for check in [
            AssertionCheck::Git { params: params() },
            AssertionCheck::ExitCode { params: params() },
            AssertionCheck::Screen { params: params() },
        ] {
            assert_eq!(judged(check, &trace).verdict, Skipped);
        }
    }
}

//! Files, repository, exit code and screen: checked by the player at the end of its run, read here.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::Assert;
use super::parts::free;
use crate::mutate::Mutation;
use crate::test_case::Params;
use crate::words::{brief, evidence};
use crate::{Finding, Verdict, View};
use cuecard_source::decode::by_hand;
use cuecard_trace::{Assertion as Checked, Event, EventData};

macro_rules! player_checks {
    ($($(#[$meta:meta])* $name:ident = $type:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub PlayerParams);

        impl Assert for $name {
            const TYPE: &'static str = $type;

            fn check(&mut self, params: &mut Params<'_, '_>) {
                self.0.id = params.id.to_owned();
                if params.is_nothing() {
                    let help = "specify in `params` what the player should check";
                    params.conflict("", "no check is specified", help);
                }
            }

            fn judge(&self, view: &View<'_>) -> Finding {
                player_check(&self.0.id, $type, view)
            }

            fn watches(&self, _: Mutation) -> bool {
                false
            }
        }
    )*};
}

player_checks! {
    /// A file is as it should at the end of the run.
    File = "file";
    /// The repository is as it should at the end of the run.
    Git = "git";
    /// The program ended as it should.
    ExitCode = "exit_code";
    /// The screen shows what it should at the end of the run.
    Screen = "screen";
}

/// Parameters of which the player knows the meaning.
#[derive(Debug, Clone, Default)]
pub struct PlayerParams {
    /// The id of the assertion, under which the player reports.
    pub id: String,
}

impl<'de> Deserialize<'de> for PlayerParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(
            deserializer,
            Some(Self::default()),
            |reader, node, pointer| {
                free(reader, node, pointer);
                Some(Self::default())
            },
        )
    }
}

impl JsonSchema for PlayerParams {
    fn schema_name() -> Cow<'static, str> {
        "player_params".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// What the player said of the assertion `id` of the type `kind`. If it said it of several runs, all must hold.
fn player_check(id: &str, kind: &str, view: &View<'_>) -> Finding {
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
    use super::*;
    use crate::Verdict::{Fails, Holds, Skipped, Undecided};
    use crate::assertions::AssertionCheck;
    use crate::samples::{Events, judged};

    #[test]
    fn the_player_is_believed_about_its_own_check() {
        let params = || PlayerParams {
            id: "a1".to_owned(),
        };
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
            let finding = judged(AssertionCheck::File(File(params())), &trace);
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
            AssertionCheck::Git(Git(params())),
            AssertionCheck::ExitCode(ExitCode(params())),
            AssertionCheck::Screen(Screen(params())),
        ] {
            assert_eq!(judged(check, &trace).verdict, Skipped);
        }
    }
}

//! What holds of any run, value and condition.

use proptest::prelude::*;
use serde_json::json;

use super::super::{CallOutcome, CallRequest, Failure, FailureKind, Options, Verdict};
use super::{given, play_with, resume_with, returned, scenario};
use cuecard_source::diagnostic::any_error;
use cuecard_source::value::{Json, Origin};
use cuecard_trace::StepStatus;

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1.0e9..1.0e9_f64).prop_map(Json::from),
        ".{0,16}".prop_map(Json::from),
        Just(json!("{{a.v}}")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[a-z~/{}]{1,5}", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn types_and_provenance_survive_substitution(output in any_json(), variable in any_json(), literal in "[^{}]{0,12}") {
        // An empty text would be a required variable, which this is not about.
        prop_assume!(variable != json!(""));
        let steps = json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
            {"step": 2, "tool": "mcp__s__t", "params": {"w": "{{a.v}}", "u": "{{V}}", "t": format!("{literal}{{{{a.v}}}}{literal}{{{{V}}}}"), "l": [literal.clone()]}}
        ]);
        let run = play_with(&scenario(steps, json!({"V": 0})), &[given("V", variable.clone())], Options::default(), |_| returned(output.clone()));
        let params = &run.calls[1].0.params;
        prop_assert_eq!(&params.json["w"], &output);
        prop_assert_eq!(&params.json["u"], &variable);
        let as_text = |json: &Json| cuecard_source::value::as_text(json).into_owned();
        let wanted = format!("{literal}{}{literal}{}", as_text(&output), as_text(&variable));
        prop_assert_eq!(params.json["t"].as_str(), Some(wanted.as_str()));
        let text = params.text("/t").expect("a text");
        prop_assert_eq!(text.to_string(), wanted);
        let from = |origin: Origin| text.pieces().iter().filter(|piece| piece.origin == origin).map(|piece| piece.text.clone()).collect::<String>();
        prop_assert_eq!(from(Origin::Peer), as_text(&output));
        prop_assert_eq!(from(Origin::User), as_text(&variable));
        prop_assert!(params.text("/l/0").is_some_and(|text| text.is_trusted()));
    }

    /// Whatever tools answer, the machine ends, calls nothing after a stop, and never calls a step more
    /// often than its retry rule says.
    #[test]
    fn every_run_ends_and_keeps_its_rules(plan in prop::collection::vec((0_u8..4, 0_u8..3, any::<bool>(), 0_u32..3), 1..8), answers in prop::collection::vec(0_u8..4, 40)) {
        let steps: Vec<Json> = plan.iter().zip(1..).map(|(&(on_error, condition, optional, count), number)| {
            let mut step = json!({
                "step": number, "id": format!("s{number}"), "tool": "mcp__s__t", "params": {},
                "output": {"v": "$.v"}, "output_optional": optional, "wait_after": 0.5,
                "on_error": (["stop", "skip", "retry", "retry"][on_error as usize]),
                "condition": (["true", "1 == 1", "false"][condition as usize]),
            });
            if on_error >= 2 {
                step["retry"] = json!({"count": count, "delay": 100, "then": (["stop", "skip"][usize::from(on_error - 2)])});
            }
            step
        }).collect();
        let mut answers = answers.into_iter().cycle();
        let run = play_with(&scenario(steps.into(), json!({})), &[], Options::default(), |_| match answers.next() {
            Some(0) => returned(json!({"v": 1})),
            Some(1) => returned(json!({})),
            Some(2) => CallOutcome::failed(FailureKind::Timeout, "late"),
            _ => Failure::new(FailureKind::RefusedPath, "no").into(),
        });
        let summary = run.script.summary();
        prop_assert_eq!(summary.passed + summary.tolerated + summary.skipped + summary.failed, run.steps.len());
        prop_assert_eq!(run.verdict == Verdict::Passed, summary.failed == 0);
        prop_assert!(run.verdict != Verdict::Passed || run.steps.len() == plan.len());
        prop_assert_eq!(summary.calls as usize, run.calls.len());
        for (step, &(on_error, _, _, count)) in run.steps.iter().zip(&plan) {
            let most = if on_error >= 2 { count as usize + 1 } else { 1 };
            prop_assert!(step.attempts.len() <= most);
            prop_assert_eq!(step.attempts.is_empty(), step.status == StepStatus::Skipped);
        }
        for pair in run.calls.windows(2) {
            prop_assert!(pair[0].1 < pair[1].1 && pair[0].0.step <= pair[1].0.step);
        }
        if let Some(position) = run.steps.iter().position(|step| step.status == StepStatus::Failed) {
            prop_assert_eq!(position, run.steps.len() - 1);
        }
    }
}

proptest! {
    /// Behind the steps that an earlier run has done, the same calls with the same parameters and marks follow.
    #[test]
    fn a_resumed_run_goes_on_as_the_first_did(kinds in prop::collection::vec(0_u8..4, 2..8), output in any_json(), at in any::<prop::sample::Index>()) {
        let steps: Vec<Json> = kinds.iter().zip(1..).map(|(&kind, number)| {
            let before: Vec<String> = (1..number).map(|step| format!("{{{{s{step}.v | default('none')}}}}")).collect();
            json!({
                "step": number, "id": format!("s{number}"), "tool": "mcp__s__t", "params": {"before": before, "text": before.concat()},
                "output": {"v": "$.v", "w": "$.w"}, "output_optional": true, "wait_after": 0.5,
                "effect": (if kind == 2 { Json::Null } else { "once".into() }),
                "on_error": (["stop", "skip", "retry", "stop"][kind as usize]),
                "condition": (if kind == 3 { "'{{s1.v | default(1)}}' == 'no'" } else { "true" }),
            })
        }).collect();
        let scenario = scenario(steps.into(), json!({}));
        let mut answer = |request: &CallRequest| match kinds[request.step as usize - 1] {
            1 => CallOutcome::failed(FailureKind::Timeout, "late"),
            2 if request.attempt == 1 => CallOutcome::failed(FailureKind::ToolError, "try again"),
            _ => returned(json!({"v": output, "n": request.step})),
        };
        let first = play_with(&scenario, &[], Options::default(), &mut answer);
        prop_assert_eq!(first.verdict, Verdict::Passed);
        let n_done = at.index(kinds.len() + 1);
        let second = resume_with(&scenario, &[], Options::default(), first.steps[..n_done].to_vec(), &mut answer);
        prop_assert_eq!(second.verdict, Verdict::Passed);
        let called = |run: &super::Run| -> Vec<_> {
            let calls = run.calls.iter().filter(|(call, _)| call.step as usize > n_done);
            calls.map(|(call, _)| (call.step, call.attempt, call.params.clone())).collect()
        };
        prop_assert_eq!(called(&second).len(), second.calls.len());
        prop_assert_eq!(called(&second), called(&first));
        let ended = |run: &super::Run| -> Vec<_> { run.steps.iter().map(|step| (step.step, step.status, step.outputs.clone())).collect() };
        prop_assert_eq!(ended(&second), ended(&first));
        prop_assert_eq!(second.script.summary().restored, n_done);
        prop_assert_eq!(second.steps.iter().filter(|step| step.restored.is_some()).count(), n_done);
    }
}

/// A condition as a tree, with what it must come to.
#[derive(Debug, Clone)]
enum Wanted {
    Compare(i64, &'static str, i64),
    Truth(bool),
    Not(Box<Wanted>),
    And(Box<Wanted>, Box<Wanted>),
    Or(Box<Wanted>, Box<Wanted>),
}

impl Wanted {
    fn holds(&self) -> bool {
        match self {
            Self::Compare(left, operator, right) => match *operator {
                "==" => left == right,
                "!=" => left != right,
                "<" => left < right,
                "<=" => left <= right,
                ">" => left > right,
                _ => left >= right,
            },
            Self::Truth(truth) => *truth,
            Self::Not(inner) => !inner.holds(),
            Self::And(left, right) => left.holds() && right.holds(),
            Self::Or(left, right) => left.holds() || right.holds(),
        }
    }

    /// With as few parentheses as the grammar needs: `!` binds closest, then `&&`, then `||`.
    fn written(&self, outer: u8) -> String {
        let (own, text) = match self {
            // One side is a number, the other a reference to a text that spells one.
            Self::Compare(left, operator, right) => {
                (3, format!("{left} {operator} {{{{N{right}}}}}"))
            }
            Self::Truth(truth) => (3, truth.to_string()),
            Self::Not(inner) => (3, format!("!{}", inner.written(4))),
            Self::And(left, right) => (2, format!("{} && {}", left.written(2), right.written(3))),
            Self::Or(left, right) => (1, format!("{}||{}", left.written(1), right.written(2))),
        };
        if own < outer {
            format!("( {text})")
        } else {
            text
        }
    }
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let operator = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        (0..4_i64, operator, 0..4_i64)
            .prop_map(|(left, operator, right)| Wanted::Compare(left, operator, right)),
        any::<bool>().prop_map(Wanted::Truth),
    ];
    leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Wanted::Not(Box::new(inner))),
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Wanted::And(Box::new(left), Box::new(right))),
            (inner.clone(), inner)
                .prop_map(|(left, right)| Wanted::Or(Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #[test]
    fn a_condition_means_what_its_tree_means(wanted in wanted()) {
        let variables = json!({"N0": "0", "N1": "1.0", "N2": 2, "N3": "3"});
        let steps = json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "condition": wanted.written(0)}]);
        let run = play_with(&scenario(steps, variables), &[], Options::default(), |_| returned(json!(1)));
        prop_assert_eq!(run.calls.len() == 1, wanted.holds(), "{}", wanted.written(0));
    }

    #[test]
    fn any_text_is_a_condition_or_an_error(text in "[a-z0-9 {}()!=<>&|\"'\\\\.é-]{0,30}") {
        // It must not panic, and what is wrong must have words.
        if let Err(diagnostics) = crate::format::read_condition(&text) {
            prop_assert!(any_error(&diagnostics));
        }
    }
}

//! Looks at a step's result: its expectations, and the outputs it gives to later steps.

use std::time::Duration;

use super::resolve::Resolver;
use super::{Failure, FailureKind};
use crate::matching::Predicate;
use crate::scenario::{ExpectedTest, OutputRule, Step};
use crate::trace::Assertion;
use crate::value::{Json, cut};

/// What a JSONPath gives: one value for a path that can match one at most, else the array of all matches.
/// `None` if it matched nothing.
fn select(rule: &OutputRule, result: &Json) -> Option<Json> {
    let matches = rule.path.query(result).all();
    if rule.singular {
        return matches.first().map(|&json| json.clone());
    }
    (!matches.is_empty()).then(|| Json::Array(matches.into_iter().cloned().collect()))
}

/// The outputs of a step, in the order of its rules. An optional output that matched nothing is absent if
/// its path names one value, and the empty array if it names all matches.
pub(super) fn outputs(step: &Step, result: &Json) -> Result<Vec<Option<Json>>, Failure> {
    step.outputs
        .iter()
        .map(|rule| match select(rule, result) {
            Some(value) => Ok(Some(value)),
            None if step.output_optional => Ok((!rule.singular).then(|| Json::Array(Vec::new()))),
            None => {
                let mut failure = Failure::new(
                    FailureKind::Output,
                    format!(
                        "the output `{}` matched nothing: `{}`",
                        rule.name, rule.path
                    ),
                )
                .at(rule.span);
                failure
                    .notes
                    .push(format!("the result was {}", cut(&result.to_string(), 300)));
                failure.result = Some(result.clone());
                failure.help =
                    Some("correct the path, or set \"output_optional\": true".to_owned());
                Err(failure)
            }
        })
        .collect()
}

/// Evaluates every expectation; the first failure is the step's.
pub(super) fn expectations(
    step: &Step,
    resolver: &Resolver,
    result: &Json,
    took: Duration,
    record: &mut impl FnMut(Assertion),
) -> Result<(), Failure> {
    let mut first_failure = None;
    for (number, expectation) in (1..).zip(&step.expectations) {
        let subject = match &expectation.json_path {
            None => Some(result.clone()),
            Some(rule) => select(rule, result),
        };
        for test in &expectation.tests {
            let (name, observed, reason) = evaluate(
                test,
                resolver,
                subject.as_ref(),
                took,
                expectation.json_path.as_ref(),
            )?;
            record(Assertion {
                id: format!("step{}.expect{number}.{name}", step.number),
                kind: name.to_owned(),
                status: if reason.is_none() { "pass" } else { "fail" }.to_owned(),
                observed,
                evidence: reason.clone(),
            });
            if let Some(reason) = reason {
                let place = expectation
                    .json_path
                    .as_ref()
                    .map_or(String::new(), |rule| format!(" at `{}`", rule.path));
                first_failure.get_or_insert_with(|| {
                    let mut failure = Failure::new(
                        FailureKind::Expectation,
                        format!("`{name}`{place}: {reason}"),
                    )
                    .at(expectation.span);
                    failure.result = Some(result.clone());
                    failure
                });
            }
        }
    }
    first_failure.map_or(Ok(()), Err)
}

fn evaluate(
    test: &ExpectedTest,
    resolver: &Resolver,
    subject: Option<&Json>,
    took: Duration,
    path: Option<&OutputRule>,
) -> Result<(&'static str, Json, Option<String>), Failure> {
    let wanted;
    let predicate = match test {
        ExpectedTest::Equals(template) => {
            wanted = resolver.value(template)?.json;
            Predicate::Equals(&wanted)
        }
        ExpectedTest::Contains(template) => {
            wanted = resolver.value(template)?.json;
            Predicate::Contains(&wanted)
        }
        ExpectedTest::Matches(regex) => Predicate::Matches(regex),
        ExpectedTest::JsonSchema(schema) => Predicate::JsonSchema(schema),
        ExpectedTest::MaxMilliseconds(limit) => Predicate::MaxMilliseconds(*limit),
    };
    if let Predicate::MaxMilliseconds(_) = predicate {
        let took = Json::from(took.as_micros() as f64 / 1000.0);
        let reason = predicate.failure(&took);
        return Ok((predicate.name(), took, reason));
    }
    let Some(subject) = subject else {
        let path = path.map_or(String::new(), |rule| format!("`{}` ", rule.path));
        return Ok((
            predicate.name(),
            Json::Null,
            Some(format!("{path}matched nothing")),
        ));
    };
    Ok((
        predicate.name(),
        subject.clone(),
        predicate.failure(subject),
    ))
}

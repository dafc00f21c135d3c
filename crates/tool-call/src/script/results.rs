//! Looks at a step's result: its expectations, and the outputs it gives to later steps.

use std::borrow::Cow;
use std::time::Duration;

use super::page_check::{self, Seen};
use super::resolve::Resolver;
use super::{Failure, FailureKind};
use crate::model::{Expectation, ExpectedTest, OutputRule, Step};
use cuecard_page::Snapshot;
use cuecard_source::matching::Predicate;
use cuecard_source::value::{Json, cut};
use cuecard_source::values::before_wildcard;
use cuecard_trace::Assertion;
use serde_json_path::JsonPath;

/// What a JSONPath gives: one value for a path that can match one at most, else the array of all matches. `None` if it
/// matched nothing, and what its first wildcard stands behind isn't there. With a regular expression: what that finds in the first match that has it.
fn select(rule: &OutputRule, result: &Json) -> Option<Json> {
    let matches = rule.path.query(result).all();
    if let Some(regex) = &rule.regex {
        let find = |json: &Json| {
            let text = searched(json);
            let found = regex.captures(&text)?;
            let group = found
                .get(1)
                .or_else(|| found.get(0).filter(|_| found.len() == 1))?;
            Some(Json::String(group.as_str().to_owned()))
        };
        return matches.into_iter().find_map(find);
    }
    if rule.singular {
        return matches.first().map(|&json| json.clone());
    }
    let has_value = !matches.is_empty() || may_hold_nothing(&rule.path, result);
    has_value.then(|| Json::Array(matches.into_iter().cloned().collect()))
}

/// Whether what stands before the first wildcard of a path is there, and can have parts: a day without items is a day.
/// Null is how some programs write an empty list.
fn may_hold_nothing(path: &JsonPath, result: &Json) -> bool {
    let before = before_wildcard(path).query(result).all();
    matches!(
        before.first(),
        Some(Json::Array(_) | Json::Object(_) | Json::Null)
    )
}

/// What a regular expression is looked for in.
fn searched(json: &Json) -> Cow<'_, str> {
    match json {
        Json::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(other.to_string()),
    }
}

/// Why an output that must have a value has none, and what to do.
fn without_value(rule: &OutputRule, result: &Json) -> (String, &'static str) {
    let name = &rule.name;
    let Some(regex) = &rule.regex else {
        let message = format!("the output `{name}` matched nothing: `{}`", rule.path);
        return (message, "fix the path, or set \"output_optional\": true");
    };
    let matches = rule.path.query(result).all();
    match matches
        .into_iter()
        .any(|json| regex.is_match(&searched(json)))
    {
        true => (
            format!(
                "the output `{name}` has no value: the first group of /{regex}/ took no part in the match"
            ),
            "write `(?:…)` for a group that is not the value, or set \"output_optional\": true",
        ),
        false => (
            format!(
                "the output `{name}` matched nothing: /{regex}/ in `{}`",
                rule.path
            ),
            "fix the regular expression or its `from`, or set \"output_optional\": true",
        ),
    }
}

/// The outputs of a step, in the order of its rules. An optional output that matched nothing is absent if
/// its path names one value, and the empty array if it names all matches.
pub(super) fn outputs(step: &Step, result: &Json) -> Result<Vec<Option<Json>>, Failure> {
    step.outputs
        .iter()
        .map(|rule| match select(rule, result) {
            Some(value) => Ok(Some(value)),
            None if step.output_optional => {
                let is_array = !rule.singular && rule.regex.is_none();
                Ok(is_array.then(|| Json::Array(Vec::new())))
            }
            None => {
                let (message, help) = without_value(rule, result);
                let mut failure = Failure::new(FailureKind::Output, message).at(rule.span);
                failure.notes.push(result_was(result));
                failure.result = Some(result.clone());
                failure.help = Some(help.to_owned());
                Err(failure)
            }
        })
        .collect()
}

/// Notes about further checks that failed, beside the first.
const MOST_NOTES: usize = 10;

/// Evaluates every expectation; the first that fails is the step's message, the others are its notes.
pub(super) fn expectations(
    step: &Step,
    resolver: &Resolver,
    result: &Json,
    took: Duration,
    record: &mut impl FnMut(Assertion),
) -> Result<(), Failure> {
    let mut misses: Vec<String> = Vec::new();
    let mut place = None;
    // Whether the misses leave open what the whole result was.
    let mut hides_result = false;
    for (number, expectation) in (1..).zip(&step.expectations) {
        let subject = Subject::of(expectation, result);
        for test in expectation.tests() {
            let is_strict = expectation.is_strict;
            let checked = check(test, is_strict, resolver, &subject, took)?;
            let is_met = checked.misses.is_empty();
            record(Assertion {
                id: format!("step{}.expect{number}.{}", step.number, checked.name),
                kind: checked.name.to_owned(),
                status: if is_met { "pass" } else { "fail" }.to_owned(),
                observed: checked.observed,
                evidence: (!is_met).then(|| checked.misses.join("; ")),
            });
            if !is_met {
                place.get_or_insert(expectation.span);
                hides_result |= checked.hides_result;
            }
            for miss in checked.misses {
                if !misses.contains(&miss) {
                    misses.push(miss);
                }
            }
        }
    }
    let Some(place) = place else { return Ok(()) };
    let mut misses = misses.into_iter();
    let message = misses.next().unwrap_or_default();
    let mut failure = Failure::new(FailureKind::Expectation, message).at(place);
    let notes = misses.by_ref().take(MOST_NOTES);
    failure
        .notes
        .extend(notes.map(|text| format!("also {text}")));
    if misses.len() > 0 {
        failure.notes.push(format!("and {} more", misses.len()));
    }
    if hides_result {
        failure.notes.push(result_was(result));
    }
    failure.result = Some(result.clone());
    Err(failure)
}

fn result_was(result: &Json) -> String {
    format!("the result was {}", cut(&result.to_string(), 300))
}

/// What an expectation looks at.
struct Subject<'a> {
    rule: Option<&'a OutputRule>,
    value: Option<Cow<'a, Json>>,
}

impl<'a> Subject<'a> {
    fn of(expectation: &'a Expectation, result: &'a Json) -> Self {
        match &expectation.json_path {
            None => Self {
                rule: None,
                value: Some(Cow::Borrowed(result)),
            },
            Some(rule) => Self {
                rule: Some(rule),
                value: select(rule, result).map(Cow::Owned),
            },
        }
    }

    /// `` at `$.a[0]` `` for a place inside it, or nothing if that is the whole result.
    fn place(&self, inside: &str) -> String {
        match self.rule {
            None if inside.is_empty() => String::new(),
            None => format!(" at `${inside}`"),
            Some(rule) if rule.singular => format!(" at `{}{inside}`", rule.name.trim()),
            Some(rule) if inside.is_empty() => format!(" at `{}`", rule.name.trim()),
            Some(rule) => format!(" at `{}`, at `{inside}` of its matches", rule.name.trim()),
        }
    }

    /// What comes of a check of a snapshot of a page.
    fn page(&self, name: &'static str, judge: impl FnOnce(&Snapshot) -> Seen) -> Checked {
        let Some(value) = self.value.as_deref() else {
            return self.absent(name);
        };
        let (observed, miss) = page_check::on_page(value, judge);
        Checked {
            name,
            observed,
            hides_result: miss.is_some(),
            misses: miss
                .map(|miss| format!("`{name}`{}: {miss}", self.place("")))
                .into_iter()
                .collect(),
        }
    }

    /// That there is nothing to look at.
    fn absent(&self, name: &'static str) -> Checked {
        let path = self.rule.map_or("", |rule| rule.name.trim());
        Checked {
            name,
            observed: Json::Null,
            misses: vec![format!("`{path}` matched nothing")],
            hides_result: true,
        }
    }
}

/// An empty text is in every text: a check for it holds whatever the result is.
pub(super) fn is_something(check: &str, wanted: &Json) -> Result<(), Failure> {
    if wanted.as_str().is_none_or(|text| !text.is_empty()) {
        return Ok(());
    }
    let message =
        format!("`{check}` is empty with its references filled in: it matches everything");
    let mut failure = Failure::new(FailureKind::Expectation, message);
    failure.help = Some("give the variable or the output a value".to_owned());
    Err(failure)
}

/// What came of one check.
struct Checked {
    name: &'static str,
    observed: Json,
    misses: Vec<String>,
    hides_result: bool,
}

fn check(
    test: ExpectedTest<'_>,
    is_strict: bool,
    resolver: &Resolver,
    subject: &Subject<'_>,
    took: Duration,
) -> Result<Checked, Failure> {
    let wanted;
    let predicate = match test {
        ExpectedTest::Equals(template) => {
            wanted = resolver.json(template)?;
            match is_strict {
                true => Predicate::EqualsStrictly(&wanted),
                false => Predicate::Equals(&wanted),
            }
        }
        ExpectedTest::Contains(template) => {
            wanted = resolver.json(template)?;
            is_something("contains", &wanted)?;
            match is_strict {
                true => Predicate::ContainsStrictly(&wanted),
                false => Predicate::Contains(&wanted),
            }
        }
        ExpectedTest::Matches(regex) => Predicate::Matches(regex),
        ExpectedTest::JsonSchema(schema) => Predicate::JsonSchema(schema),
        ExpectedTest::MaxMilliseconds(limit) => Predicate::MaxMilliseconds(limit),
        ExpectedTest::Shows(template) | ExpectedTest::Lacks(template) => {
            let must_show = matches!(test, ExpectedTest::Shows(_));
            let name = if must_show { "shows" } else { "lacks" };
            let text = resolver.text(template)?;
            is_something(name, &Json::from(text.trim()))?;
            return Ok(subject.page(name, |page| page_check::text(page, &text, must_show)));
        }
        ExpectedTest::Elements(expected) => {
            let wanted = page_check::wanted(&expected.target(), resolver)?;
            return Ok(subject.page("elements", |page| {
                page_check::elements(page, &wanted, expected.count)
            }));
        }
    };
    let name = predicate.name();
    let Some(value) = subject.value.as_deref() else {
        return Ok(subject.absent(name));
    };
    if let Predicate::MaxMilliseconds(_) = predicate {
        let took = Json::from(took.as_micros() as f64 / 1000.0);
        let misses = predicate.misfits(&took);
        return Ok(Checked {
            name,
            misses: misses
                .into_iter()
                .map(|misfit| format!("`{name}`: {}", misfit.reason))
                .collect(),
            observed: took,
            hides_result: false,
        });
    }
    let misfits = predicate.misfits(value);
    let shows_result = subject.rule.is_none()
        && !matches!(predicate, Predicate::JsonSchema(_))
        && misfits.iter().all(|misfit| misfit.place.is_empty())
        && !matches!(value, Json::Array(_) | Json::Object(_));
    Ok(Checked {
        name,
        observed: value.clone(),
        hides_result: !misfits.is_empty() && !shows_result,
        misses: misfits
            .into_iter()
            .map(|misfit| {
                format!(
                    "`{name}`{}: {}",
                    subject.place(&misfit.place),
                    misfit.reason
                )
            })
            .collect(),
    })
}

//! Fills in references. One pass: what is filled in is never read for references again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Failure, FailureKind};
use crate::model::{
    Comparison, Condition, DuplicateKey, PathSegment, Placeholder, Template, ToolCallScenario,
};
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::value::{Json, Origin, Value, as_text, cut, kind_name, secret_texts};

/// The values of a scenario's variables, and where its relative paths begin.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    variables: HashMap<String, Bound>,
    working_directory: PathBuf,
}

impl Bindings {
    pub(super) fn new(variables: HashMap<String, Bound>) -> Self {
        Self {
            variables,
            working_directory: PathBuf::new(),
        }
    }

    /// The same in a working directory, an absolute path.
    #[must_use]
    pub fn in_directory(self, working_directory: &Path) -> Self {
        Self {
            working_directory: working_directory.to_owned(),
            ..self
        }
    }

    /// The names of all variables that have a value.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.variables.keys().cloned().collect();
        names.sort();
        names
    }

    /// The name and value of each variable, and whether it is a secret.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json, bool)> {
        let variables = self.variables.iter();
        variables.map(|(name, bound)| (&**name, &bound.value, bound.origin == Origin::Secret))
    }

    /// What a reference to a variable stands for; `None` for anything else.
    pub fn value(&self, reference: &crate::model::Reference) -> Option<&Json> {
        let bound = self.variables.get(&reference.name)?;
        descend(&bound.value, &reference.path, reference).ok()
    }

    /// What a reference stands for, if variables tell, or its own default.
    pub fn known_value<'a>(&'a self, placeholder: &'a Placeholder) -> Option<&'a Json> {
        let reference = &placeholder.reference;
        // A path may lead into an output as well.
        let default = placeholder.default.as_ref();
        self.value(reference)
            .or(default.filter(|_| reference.path.is_empty()))
    }

    /// A template as far as variables fill it in: what only the run can tell stays as it is written.
    pub fn known(&self, template: &Template) -> Json {
        let filled = template.fill::<DuplicateKey>(|placeholder| {
            let written = || format!("{{{{{}}}}}", placeholder.reference.text).into();
            let value = self.known_value(placeholder).map(Cow::Borrowed);
            Ok((
                value.unwrap_or_else(|| Cow::Owned(written())),
                Origin::Author,
            ))
        });
        let filled = filled.map(|value| Arc::unwrap_or_clone(value.json));
        filled.unwrap_or_default()
    }

    /// The texts that must not be shown.
    pub fn secrets(&self) -> impl Iterator<Item = String> + '_ {
        self.variables
            .values()
            .filter(|bound| bound.origin == Origin::Secret)
            .flat_map(|bound| {
                let mut texts = vec![as_text(&bound.value).into_owned()];
                secret_texts(&bound.value, &mut texts);
                texts
            })
    }
}

#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub value: Json,
    pub origin: Origin,
    pub from: String,
}

/// What a step left behind for references.
#[derive(Debug, Clone, Default)]
pub(super) enum Left {
    /// It has not run.
    #[default]
    Nothing,
    /// Its condition was false.
    Skipped,
    /// It failed, and the run went on.
    Tolerated,
    /// Its outputs, in the order of its rules; `None` for one that was optional and matched nothing.
    Outputs(Vec<Option<Json>>),
}

/// An element of the list of `for_each`.
#[derive(Debug)]
pub(super) struct Element {
    pub value: Json,
    pub origin: Origin,
    /// Its place in the list, from 0.
    pub index: Json,
}

/// Looks references up.
#[derive(Debug)]
pub(super) struct Resolver {
    /// The element that the step at a place runs for.
    pub element: Option<(usize, Element)>,
    scenario: Arc<ToolCallScenario>,
    bindings: Bindings,
    by_id: HashMap<String, usize>,
    left: Vec<Left>,
}

impl Resolver {
    pub(super) fn new(scenario: Arc<ToolCallScenario>, bindings: Bindings) -> Self {
        Self {
            element: None,
            by_id: scenario
                .steps
                .iter()
                .enumerate()
                .filter_map(|(idx, step)| Some((step.id.clone()?, idx)))
                .collect(),
            left: vec![Left::Nothing; scenario.steps.len()],
            scenario,
            bindings,
        }
    }

    pub(super) fn leave(&mut self, idx: usize, left: Left) {
        self.left[idx] = left;
    }

    /// A description as it is known before the elements of `for_each`.
    pub(super) fn known_text(&self, template: &Template) -> String {
        as_text(&self.bindings.known(template)).into_owned()
    }

    pub(super) fn working_directory(&self) -> &Path {
        &self.bindings.working_directory
    }

    /// The value of a template with its marks.
    pub(super) fn value(&self, template: &Template) -> Result<Value, Failure> {
        template.fill(|placeholder| {
            let (value, origin) = self.look_up(placeholder)?;
            Ok((Cow::Borrowed(value), origin))
        })
    }

    /// The value of a template.
    pub(super) fn json(&self, template: &Template) -> Result<Json, Failure> {
        Ok(Arc::unwrap_or_clone(self.value(template)?.json))
    }

    /// The value of a template as text.
    pub(super) fn text(&self, template: &Template) -> Result<String, Failure> {
        Ok(as_text(&self.json(template)?).into_owned())
    }

    /// The value of a template as a number from 0 to `most`, which data may not exceed either.
    pub(super) fn number(
        &self,
        template: &Template,
        what: &str,
        most: f64,
    ) -> Result<f64, Failure> {
        let json = self.json(template)?;
        let number = match &json {
            Json::Number(number) => number.as_f64(),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number
            .filter(|number| (0.0..=most).contains(number))
            .ok_or_else(|| {
                let shown = cut(&json.to_string(), 60).into_owned();
                Failure::new(
                    FailureKind::BadParameters,
                    format!("`{what}` must be a number from 0 to {most}, got {shown}"),
                )
            })
    }

    /// Whether a condition holds.
    pub(super) fn holds(&self, condition: &Condition) -> Result<bool, Failure> {
        Ok(match condition {
            Condition::Truth(operand) => cuecard_source::matching::is_true(&self.json(operand)?),
            Condition::Compare {
                left,
                comparison,
                right,
                regex,
            } => {
                let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
                // Commands print a line end behind a value. The author's part of a text has what is written.
                let side = |operand: &Template| {
                    let is_literal = matches!(operand, Template::Literal(_));
                    Ok::<_, Failure>(match self.json(operand)? {
                        // A line end alone is the value: everything contains an empty text.
                        Json::String(text)
                            if is_equality || !(is_literal || matches!(&*text, "\n" | "\r\n")) =>
                        {
                            without_line_end(text)
                        }
                        Json::Array(items) if *comparison == Comparison::Contains => {
                            let texts = items.into_iter().map(|item| match item {
                                Json::String(text) => without_line_end(text),
                                item => item,
                            });
                            texts.collect()
                        }
                        value => value,
                    })
                };
                let (left, right) = (side(left)?, side(right)?);
                cuecard_source::matching::compare(&left, *comparison, &right, regex.as_ref())
                    .map_err(|error| {
                        Failure::new(
                            FailureKind::Condition,
                            format!("its condition can't be evaluated: {error}"),
                        )
                    })?
            }
            Condition::Not(inner) => !self.holds(inner)?,
            Condition::And(left, right) => self.holds(left)? && self.holds(right)?,
            Condition::Or(left, right) => self.holds(left)? || self.holds(right)?,
        })
    }

    fn look_up<'a>(&'a self, placeholder: &'a Placeholder) -> Result<(&'a Json, Origin), Failure> {
        match (self.find(placeholder), &placeholder.default) {
            (Ok(found), _) => Ok(found),
            (Err(_), Some(default)) => Ok((default, Origin::Author)),
            (Err(failure), None) => Err(failure.at(placeholder.span)),
        }
    }

    fn find<'a>(&'a self, placeholder: &'a Placeholder) -> Result<(&'a Json, Origin), Failure> {
        let reference = &placeholder.reference;
        if let Some((idx, element)) = &self.element
            && self.scenario.steps[*idx].is_element(placeholder)
        {
            let for_each = self.scenario.steps[*idx].for_each.as_ref();
            return match for_each.is_some_and(|it| it.name == reference.name) {
                true => Ok((
                    descend(&element.value, &reference.path, reference)?,
                    element.origin,
                )),
                false => Ok((
                    descend(&element.index, &reference.path, reference)?,
                    Origin::Author,
                )),
            };
        }
        let absent = |message: String| Failure::new(FailureKind::Reference, message);
        let default_help = || {
            format!(
                "add a default if it may be absent: {{{{{} | default(\"\")}}}}",
                reference.text
            )
        };
        if let (Some(PathSegment::Key(output)), Some(&idx)) =
            (reference.path.first(), self.by_id.get(&reference.name))
        {
            let step = &self.scenario.steps[idx];
            let why = match &self.left[idx] {
                Left::Outputs(_) => "",
                Left::Skipped => "was skipped",
                Left::Tolerated => "failed, which was tolerated",
                Left::Nothing => "has not run",
            };
            let Left::Outputs(outputs) = &self.left[idx] else {
                let message = format!("`{}` has no value: {} {why}", reference.text, step.label());
                return Err(absent(message).with_help(default_help()));
            };
            let value = step
                .outputs
                .iter()
                .position(|rule| rule.name == *output)
                .and_then(|position| outputs.get(position))
                .ok_or_else(|| absent(format!("{} has no output `{output}`", step.label())))?;
            let Some(value) = value else {
                let message = format!(
                    "`{}` has no value: the output `{output}` is optional and matched nothing",
                    reference.text
                );
                return Err(absent(message).with_help(default_help()));
            };
            return Ok((
                descend(value, &reference.path[1..], reference)?,
                Origin::Peer,
            ));
        }
        let Some(bound) = self.bindings.variables.get(&reference.name) else {
            let mut failure = absent(format!("`{}` is not defined", reference.text));
            let names = self.bindings.names();
            failure.help = did_you_mean(&reference.name, names.iter().map(String::as_str))
                .map(|name| format!("did you mean `{name}`?"));
            return Err(failure);
        };
        Ok((
            descend(&bound.value, &reference.path, reference)?,
            bound.origin,
        ))
    }

    /// What the references of a template stand for, in words, for the message of a failed step.
    pub(super) fn explain(&self, template: &Template, limit: usize) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        template.for_each_placeholder(&mut |placeholder| {
            let Ok((value, origin)) = self.look_up(placeholder) else {
                return;
            };
            let text = &placeholder.reference.text;
            let from = match origin {
                Origin::Peer => String::new(),
                _ => self
                    .bindings
                    .variables
                    .get(&placeholder.reference.name)
                    .map_or(String::new(), |bound| format!(" ({})", bound.from)),
            };
            let note = match origin {
                Origin::Secret => format!("`{{{{{text}}}}}` is a secret{from}"),
                _ => format!(
                    "`{{{{{text}}}}}` was {}{from}",
                    cut(&value.to_string(), 120)
                ),
            };
            if notes.len() < limit && !notes.contains(&note) {
                notes.push(note);
            }
        });
        notes
    }
}

fn without_line_end(text: String) -> Json {
    let value = text.strip_suffix('\n').unwrap_or(&text);
    value.strip_suffix('\r').unwrap_or(value).into()
}

fn descend<'a>(
    mut value: &'a Json,
    path: &[PathSegment],
    reference: &crate::model::Reference,
) -> Result<&'a Json, Failure> {
    for segment in path {
        let next = match (segment, value) {
            (PathSegment::Key(key), Json::Object(members)) => members.get(key),
            (PathSegment::Index(index), Json::Array(items)) => items.get(*index),
            (PathSegment::FromEnd(index), Json::Array(items)) => {
                items.len().checked_sub(*index).map(|idx| &items[idx])
            }
            // `{{a.items.0}}` is how some write an index.
            (PathSegment::Key(key), Json::Array(items)) => {
                key.parse::<usize>().ok().and_then(|index| items.get(index))
            }
            _ => None,
        };
        value = next.ok_or_else(|| {
            let wanted = match (segment, value) {
                (PathSegment::Key(key), Json::Array(_))
                    if key.bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    format!("no element {key}")
                }
                (PathSegment::Key(key), _) => format!("no `{key}`"),
                (PathSegment::Index(index), _) => format!("no element {index}"),
                (PathSegment::FromEnd(index), _) => format!("no element -{index}"),
            };
            let whole = match value {
                Json::Array(_) => "the array",
                Json::Object(_) => "the object",
                other => kind_name(other),
            };
            let mut failure = Failure::new(
                FailureKind::Reference,
                format!("`{}` has no value: {whole} has {wanted}", reference.text),
            );
            match value {
                Json::Object(members) => {
                    const SHOWN: usize = 12;
                    let keys: Vec<&str> = members.keys().map(String::as_str).take(SHOWN).collect();
                    failure.notes.push(match members.len() {
                        0 => "it is empty".to_owned(),
                        count if count > SHOWN => {
                            format!("it has: {} and {} more", keys.join(", "), count - SHOWN)
                        }
                        _ => format!("it has: {}", keys.join(", ")),
                    });
                    if let PathSegment::Key(key) = segment {
                        failure.help =
                            did_you_mean(key, keys).map(|key| format!("did you mean `{key}`?"));
                    }
                }
                Json::Array(items) => failure.notes.push(match items.len() {
                    0 => "it is empty".to_owned(),
                    1 => "it has 1 element, number 0".to_owned(),
                    count => format!("it has {count} elements, counted from 0"),
                }),
                _ => {}
            }
            failure
        })?;
    }
    Ok(value)
}

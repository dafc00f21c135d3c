//! Checks every reference that can be known to fail before the run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use super::pieces::DEFAULT_NAME;
use super::template::BRACES_MEANT;
use crate::model::{AnswerEntry, PathSegment, Placeholder, Reply, ToolCallScenario};
use cuecard_source::diagnostic::{Code, Diagnostic, codes, did_you_mean};
use cuecard_source::matching::push_key;

/// What a check may take for granted.
#[derive(Debug, Clone)]
pub struct Scope<'a> {
    /// Variables that the user gives beside the declared ones.
    pub given: &'a [String],
    /// Numbers of the steps that are played.
    pub range: RangeInclusive<u64>,
    /// Names of which nothing can be said, since their steps have errors.
    pub unreliable_names: &'a [String],
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Self {
            given: &[],
            range: 0..=u64::MAX,
            unreliable_names: &[],
        }
    }
}

/// Everything wrong with the references of the steps in range.
pub fn check_references(scenario: &ToolCallScenario, scope: &Scope<'_>) -> Vec<Diagnostic> {
    let checker = Checker {
        scenario,
        scope,
        by_id: scenario
            .steps
            .iter()
            .enumerate()
            .filter_map(|(idx, step)| Some((step.id.as_deref()?, idx)))
            .collect(),
        unreliable: scope.unreliable_names.iter().map(String::as_str).collect(),
    };
    let mut diagnostics = Vec::new();
    for entry in &scenario.answers {
        entry.for_each_placeholder(&mut |placeholder| {
            diagnostics.extend(checker.check_in_answer(entry, placeholder));
        });
    }
    for (idx, step) in scenario.steps.iter().enumerate() {
        if scope.range.contains(&step.number) {
            step.for_each_placeholder(&mut |placeholder| {
                diagnostics.extend(checker.check(idx, placeholder));
            });
        }
    }
    diagnostics
}

/// References, in the answers and the steps that are not `done`, to outputs that a resumed run does not know: `withheld`
/// has their names by the number of their step. The steps `assumed` to be done have none, so that defaults stand in for
/// them; no default is what a secret was.
pub fn check_withheld(
    scenario: &ToolCallScenario,
    done: &HashSet<u64>,
    withheld: &BTreeMap<u64, Vec<String>>,
    assumed: &HashSet<u64>,
) -> Vec<Diagnostic> {
    let steps = scenario.steps.iter();
    let unknown = steps.filter_map(|step| {
        let names = withheld.get(&step.number)?;
        Some((step.id.as_deref()?, (names, assumed.contains(&step.number))))
    });
    let unknown: HashMap<&str, (&Vec<String>, bool)> = unknown.collect();
    let mut diagnostics = Vec::new();
    let mut check = |placeholder: &Placeholder| {
        let reference = &placeholder.reference;
        let step = unknown.get(reference.name.as_str());
        if let (Some((names, is_assumed)), Some(PathSegment::Key(output))) =
            (step, reference.path.first())
            && names.contains(output)
            && !(*is_assumed && placeholder.default.is_some())
        {
            let message = format!(
                "`{}` is not known: a journal keeps no secrets, and no outputs of a step that is assumed done",
                reference.text
            );
            let error = Diagnostic::error(codes::RESUME_VALUE, message);
            diagnostics.push(
                error
                    .at(&scenario.source, placeholder.span)
                    .with_help("play the scenario from the beginning, without `--resume`"),
            );
        }
    };
    for entry in &scenario.answers {
        entry.for_each_placeholder(&mut check);
    }
    for step in scenario
        .steps
        .iter()
        .filter(|step| !done.contains(&step.number))
    {
        step.for_each_placeholder(&mut check);
    }
    diagnostics
}

struct Checker<'a> {
    scenario: &'a ToolCallScenario,
    scope: &'a Scope<'a>,
    by_id: HashMap<&'a str, usize>,
    unreliable: HashSet<&'a str>,
}

impl Checker<'_> {
    /// An answer may be needed during any step, so it may refer to every output: whether there is one is known
    /// only when a server asks. Servers ask for roots when they start, and no data may say which these are.
    fn check_in_answer(
        &self,
        entry: &AnswerEntry,
        placeholder: &Placeholder,
    ) -> Option<Diagnostic> {
        let reference = &placeholder.reference;
        let is_output =
            !reference.path.is_empty() && self.by_id.contains_key(reference.name.as_str());
        if is_output && matches!(entry.reply, Reply::Roots(_)) {
            let message = format!(
                "`{}` is an output, which no root can refer to",
                reference.text
            );
            let error = self.error(codes::REFERENCE_LATER, placeholder, message);
            return Some(
                error.with_help("use a variable: servers ask for the roots when they start"),
            );
        }
        let diagnostic = self.check(self.scenario.steps.len(), placeholder)?;
        (diagnostic.code != codes::REFERENCE_LEFT_OUT).then_some(diagnostic)
    }

    fn check(&self, idx: usize, placeholder: &Placeholder) -> Option<Diagnostic> {
        let reference = &placeholder.reference;
        if self.unreliable.contains(reference.name.as_str()) {
            return None;
        }
        let here = self.scenario.steps.get(idx);
        if here.is_some_and(|step| step.is_element(placeholder)) {
            return None;
        }
        let has_default = placeholder.default.is_some();
        let step = self
            .by_id
            .get(reference.name.as_str())
            .map(|&target| (target, &self.scenario.steps[target]));
        match (reference.path.first(), step) {
            (Some(PathSegment::Key(output)), Some((target, step))) => {
                let group = here.filter(|here| here.is_grouped_with(step));
                if let Some(group) = group.and_then(|here| here.group.as_deref()) {
                    let message = format!(
                        "`{}` refers to {}, which starts at the same time: both are in the group `{group}`",
                        reference.text,
                        step.label()
                    );
                    let later = self.error(codes::REFERENCE_LATER, placeholder, message);
                    return Some(later.with_help("take this step out of the group"));
                }
                if target >= idx {
                    let what = if target == idx {
                        "to the step it is in".to_owned()
                    } else {
                        format!("to {}, which runs later", step.label())
                    };
                    let later = self.error(
                        codes::REFERENCE_LATER,
                        placeholder,
                        format!("`{}` refers {what}", reference.text),
                    );
                    return Some(later.with_help("outputs are available to later steps only"));
                }
                if !step.outputs.iter().any(|rule| rule.name == *output) {
                    let mut unknown = self.unknown(
                        idx,
                        placeholder,
                        &format!("{} has no output `{output}`", step.label()),
                    );
                    if unknown.label.is_none() {
                        // The part of the result that is probably meant.
                        let mut path = "$".to_owned();
                        push_key(&mut path, output);
                        let number = step.number;
                        unknown.help = Some(match step.outputs.is_empty() {
                            true => format!(
                                "add \"output\": {{\"{output}\": \"{path}\"}} to step {number}"
                            ),
                            false => {
                                format!(
                                    "add \"{output}\": \"{path}\" to the output of step {number}"
                                )
                            }
                        });
                    }
                    return Some(unknown);
                }
                if let (Some(_), Some(PathSegment::Key(key))) =
                    (&step.for_each, reference.path.get(1))
                    && key.parse::<usize>().is_err()
                {
                    let message = format!(
                        "`{}.{output}` is an array, with a value for each element of `for_each`",
                        reference.name
                    );
                    let help = format!("name one: {{{{{}.{output}[0].{key}}}}}", reference.name);
                    let error = self.error(codes::REFERENCE_UNKNOWN, placeholder, message);
                    return Some(error.with_help(help));
                }
                if !self.scope.range.contains(&step.number) && !has_default {
                    let help = format!(
                        "start at step {} or earlier, or give a default: {{{{{} | default(\"…\")}}}}",
                        step.number, reference.text
                    );
                    return Some(
                        self.error(
                            codes::REFERENCE_LEFT_OUT,
                            placeholder,
                            format!(
                                "`{}` refers to {}, which is not part of this run",
                                reference.text,
                                step.label()
                            ),
                        )
                        .with_help(help),
                    );
                }
                None
            }
            _ if self.is_variable(&reference.name) || has_default => None,
            (None, Some((_, step))) => {
                let help = match step.outputs.first() {
                    Some(rule) => format!(
                        "name one of its outputs: {{{{{}.{}}}}}",
                        reference.name, rule.name
                    ),
                    None => format!(
                        "give it an output: \"output\": {{ \"result\": \"$\" }}, then {{{{{}.result}}}}",
                        reference.name
                    ),
                };
                Some(
                    self.unknown(
                        idx,
                        placeholder,
                        &format!("`{}` is the id of a step, not a value", reference.name),
                    )
                    .with_help(help),
                )
            }
            _ => {
                let message = format!("`{}` is not defined", reference.text);
                let mut unknown = self.unknown(idx, placeholder, &message);
                let mut loops = self
                    .scenario
                    .steps
                    .iter()
                    .filter_map(|it| it.for_each.as_ref());
                let name = reference.name.as_str();
                let is_default = name.strip_suffix("_index").unwrap_or(name) == DEFAULT_NAME;
                if is_default || loops.any(|it| it.defines(name)) {
                    unknown.label = None;
                    unknown.help = Some(format!(
                        "`{}` has a value only within a step with `for_each`",
                        reference.name
                    ));
                // Other template languages have double braces too.
                } else if unknown.label.is_none() {
                    let declare = match reference.path.is_empty() {
                        true => "declare it in `variables`; ",
                        false => "",
                    };
                    unknown.help = Some(format!("{declare}{BRACES_MEANT}"));
                }
                Some(unknown)
            }
        }
    }

    fn is_variable(&self, name: &str) -> bool {
        self.scenario
            .variables
            .iter()
            .any(|variable| variable.name == name)
            || self.scope.given.iter().any(|given| given == name)
    }

    fn error(&self, code: Code, placeholder: &Placeholder, message: String) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.scenario.source, placeholder.span)
    }

    fn unknown(&self, idx: usize, placeholder: &Placeholder, message: &str) -> Diagnostic {
        const SHOWN: usize = 12;
        let visible = self.visible(idx);
        let wanted = &placeholder.reference;
        let short = match wanted.path.first() {
            Some(PathSegment::Key(output)) => format!("{}.{output}", wanted.name),
            _ => wanted.name.clone(),
        };
        let mut diagnostic = self.error(codes::REFERENCE_UNKNOWN, placeholder, message.to_owned());
        diagnostic.label = did_you_mean(&short, visible.iter().map(String::as_str))
            .map(|name| format!("did you mean `{name}`?"));
        let who = match self.scenario.steps.get(idx) {
            Some(step) => format!("step {}", step.number),
            None => "an answer".to_owned(),
        };
        diagnostic.notes.push(if visible.is_empty() {
            format!("{who} can see no variables and no outputs")
        } else {
            let more = visible.len().saturating_sub(SHOWN);
            let listed = visible[..visible.len() - more].join(", ");
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("{who} can see: {listed}{more}")
        });
        diagnostic
    }

    fn visible(&self, idx: usize) -> Vec<String> {
        let here = self.scenario.steps.get(idx);
        let outputs = self.scenario.steps[..idx]
            .iter()
            .filter(|step| self.scope.range.contains(&step.number))
            .filter(|step| here.is_none_or(|here| !here.is_grouped_with(step)))
            .flat_map(|step| {
                step.outputs
                    .iter()
                    .map(|rule| format!("{}.{}", step.id.as_deref().unwrap_or_default(), rule.name))
            });
        let declared = &self.scenario.variables;
        let variables = declared.iter().map(|variable| variable.name.clone());
        let is_added = |name: &&String| declared.iter().all(|variable| variable.name != **name);
        let for_each = here.and_then(|step| step.for_each.as_ref());
        let elements = for_each.into_iter().flat_map(|it| it.names());
        elements
            .chain(outputs)
            .chain(variables)
            .chain(self.scope.given.iter().filter(is_added).cloned())
            .collect()
    }
}

//! Makes the steps: each argument is looked at once, in the order of the calls, with what was known before it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use cuecard_source::value::{Json, REDACTED, Redactor, as_text, cut, key_of};
use cuecard_tool_call::format::OPEN_QUESTION;
use serde_json::{Map, Value, json};

use super::differences::{Difference, each_difference};
use super::pairs::pairs;
use super::parts::{Command, Part, command, reference, template};
use super::prompt::{Mention, Prompt};
use super::questions::{Question, Subject, once};
use super::rewrites::Named;
use super::secrets::{is_distinct, parts_of, secrets, secrets_of_results, typed_secrets};
use super::spellings::{Heard, Origin};
use super::texts::word_by_word;
use super::tidy::{Kept, tidy, tool_of};
use super::values::{
    Index, MOST_VALUES, Source, Weight, is_namesake, is_telling, is_word_of_name, may_name, weight,
};
use super::{InferError, Inferred, Note, shape, targets};
use crate::marks::name_of;
use crate::scenario::{Names, tool_name};
use crate::{Recording, Scenario, Step};

/// How many differences between two recordings are sought inside texts, and the longest of them, in bytes.
const MOST_DIFFERENCES: usize = 2_000;
const LONGEST_DIFFERENCE: usize = 2_000;

/// The parameter whose text is a command.
const COMMAND: &str = "command";

/// Why one recording has no variables, and what helps.
const NO_PROMPT: &str = "the recording holds no prompt, so only secrets are variables: infer it with a second recording \
    that has other values, or write `{{NAME}}` and its default under `variables`";

pub(super) fn build(
    recording: &Recording,
    second: Option<&Recording>,
    name: &str,
) -> Result<Inferred, InferError> {
    let mut first = tidy(recording, &[]);
    let mut other = second.map(|second| tidy(second, &[]));
    if let (Some(known), Some(second)) = (&other, second) {
        let polled = [first.polled(), known.polled()].concat();
        if !polled.is_empty() {
            first = tidy(recording, &polled);
            other = Some(tidy(second, &polled));
        }
    }
    let mut left_out = first.left_out;
    left_out.extend(targets::find(&mut first.kept));
    if let Some(other) = &mut other {
        targets::find(&mut other.kept);
    }
    let calls = first.kept;
    let others = other.map(|other| other.kept);
    let partners = match &others {
        Some(others) => pairs(&calls, others),
        None => vec![None; calls.len()],
    };
    for (idx, call) in others.iter().flatten().enumerate() {
        if !partners.contains(&Some(idx)) {
            let text = "only the second recording has this call".to_owned();
            left_out.push(call.note(text));
        }
    }
    left_out.sort_by_key(|note| note.call);
    let mut ids = Names::default();
    let step_ids = calls
        .iter()
        .map(|call| ids.unique(&call.call.tool))
        .collect();
    let typed_secrets = typed_secrets(recording, second);
    let mut secrets = secrets(recording, second);
    secrets.extend(typed_secrets.keys().cloned());
    let read_secrets = secrets_of_results(recording, second);
    let mut builder = Builder {
        recording,
        ids: step_ids,
        results: calls.iter().map(|call| call.value.clone()).collect(),
        outputs: calls.iter().map(|_| Default::default()).collect(),
        secret_parts: parts_of(secrets.iter().chain(&read_secrets)),
        masker: Redactor::new({
            let all = secrets.iter().chain(&read_secrets);
            all.filter(|secret| is_distinct(secret)).cloned()
        }),
        redactor: Redactor::new(secrets),
        typed_secrets,
        prompt: Prompt::new(&recording.prompts, &recording.prompted_at),
        known: Vec::new(),
        second_prompt: second.map(|second| Prompt::new(&second.prompts, &second.prompted_at)),
        calls: &calls,
        others,
        partners,
        index: Index::default(),
        heard: Heard::default(),
        named: Named::default(),
        scenario: Scenario::new(name),
        names: ids,
        variables: HashMap::new(),
        given: Vec::new(),
        questions: calls.iter().map(|_| Vec::new()).collect(),
        step: 0,
        key: String::new(),
        enumerated: false,
        converts: false,
    };
    for (call, doubt) in first.questions.iter().chain(&recording.doubts) {
        if let Some(step) = calls.iter().position(|kept| kept.number == *call) {
            builder.step = step;
            builder.ask_everywhere(doubt.clone());
        }
    }
    if let Some(last) = calls.len().checked_sub(1) {
        for (call, gap) in &recording.gaps {
            let next = calls.iter().position(|kept| kept.number >= *call);
            let place = if next.is_some() { "before" } else { "after" };
            builder.step = next.unwrap_or(last);
            builder.ask_everywhere(format!("{place} it, {gap}"));
        }
    }
    builder.literals();
    builder
        .heard
        .add(Origin::Quote, &json!(builder.prompt.quoted));
    let prompts = json!(recording.prompts);
    builder.heard.add(Origin::Prompt, &prompts);
    builder.heard.add(Origin::Day, &json!(recording.days));
    builder.differences();
    for step in 0..calls.len() {
        builder.step = step;
        builder.step();
    }
    builder.finish(left_out)
}

pub(super) struct Builder<'c, 'r> {
    recording: &'r Recording,
    pub(super) calls: &'c [Kept<'r>],
    /// The calls of the second recording, and for each of the first that of it.
    pub(super) others: Option<Vec<Kept<'r>>>,
    partners: Vec<Option<usize>>,
    pub(super) results: Vec<Value>,
    pub(super) ids: Vec<String>,
    /// The outputs of each step, and their names.
    outputs: Vec<(Vec<(Source, String)>, Names)>,
    /// The secrets of arguments, which become variables.
    pub(super) redactor: Redactor,
    /// What fields of pages call the secrets that were typed into them.
    pub(super) typed_secrets: HashMap<String, String>,
    /// Takes out whatever secret is left; shorter ones would take letters out of every word.
    pub(super) masker: Redactor,
    pub(super) secret_parts: HashSet<Vec<char>>,
    pub(super) prompt: Prompt,
    /// What differs between the recordings, the longest first.
    pub(super) known: Vec<Difference>,
    second_prompt: Option<Prompt>,
    pub(super) index: Index,
    pub(super) heard: Heard,
    pub(super) named: Named,
    scenario: Scenario,
    names: Names,
    /// The names of variables by the values they stand for in both recordings.
    pub(super) variables: HashMap<(String, String), String>,
    /// The variables that are no secrets, with their texts in both recordings and the first step that needs them.
    pub(super) given: Vec<(String, [String; 2], usize)>,
    /// The questions of each step.
    pub(super) questions: Vec<Vec<Question>>,
    /// The step that is made, and the parameter that is looked at.
    pub(super) step: usize,
    pub(super) key: String,
    /// Whether the values of the parameter are fixed, as the tool lists them, and whether a text becomes a number there.
    enumerated: bool,
    converts: bool,
}

impl<'r> Builder<'_, 'r> {
    /// Whole arguments that the user gave are sought inside other ones too.
    fn literals(&mut self) {
        for call in self.calls {
            super::values::each_leaf(&json!(call.call.arguments), &mut |leaf| {
                if self.prompt.mentions(leaf) != Mention::Literal {
                    return;
                }
                let text = as_text(leaf).into_owned();
                let is_name = match leaf {
                    Value::String(_) => weight(leaf) < Weight::Middling && !text.contains(' '),
                    // In a text an ordinary number may be another one.
                    _ if self.others.is_some() || !(is_telling(leaf) || may_name(leaf, "", "")) => {
                        return;
                    }
                    _ => {
                        self.prompt.numbers.insert(text.clone(), leaf.clone());
                        false
                    }
                };
                if !self.prompt.literals.contains(&text) {
                    match is_name {
                        true => self.prompt.names.push(text),
                        false => self.prompt.literals.push(text),
                    }
                }
            });
        }
        // The longest is sought first.
        self.prompt
            .literals
            .sort_by_key(|literal| Reverse(literal.len()));
    }

    /// What differs between the recordings is sought inside of texts: what the prompts name, arguments and results.
    fn differences(&mut self) {
        let mut known: Vec<Difference> = Vec::new();
        let mut words = HashSet::new();
        let mut push = |difference: Difference| {
            let fits =
                |text: &String| text.len() <= LONGEST_DIFFERENCE && !self.redactor.finds(text);
            if known.len() < MOST_DIFFERENCES && difference.texts.iter().all(fits) {
                known.push(difference);
            }
        };
        let mut add = |from_step: usize, values: [&Value; 2]| {
            each_difference(values, &mut |key, values| {
                push(Difference::new(key, values, from_step));
                if let (COMMAND, [Value::String(one), Value::String(other)]) = (key, values) {
                    let pairs = word_by_word(true, one, other).unwrap_or_default();
                    for pair in pairs.into_iter().filter(|[one, other]| one != other) {
                        if words.insert(pair.map(str::to_owned)) {
                            let values = pair.map(Value::from);
                            push(Difference::new(key, [&values[0], &values[1]], from_step));
                        }
                    }
                }
            });
        };
        if let Some(second) = &self.second_prompt
            && second.quoted.len() == self.prompt.quoted.len()
        {
            add(0, [&json!(self.prompt.quoted), &json!(second.quoted)]);
        }
        let pairs = self.calls.iter().enumerate();
        let pairs = pairs.filter_map(|(step, kept)| Some((step, kept, self.partner(step)?)));
        for (_, kept, other) in pairs.clone() {
            add(
                0,
                [&json!(kept.call.arguments), &json!(other.call.arguments)],
            );
        }
        for (step, kept, other) in pairs {
            add(step + 1, [&kept.value, &other.value]);
        }
        // Of equal ones that which can be used first.
        known.sort_by_key(|known| (Reverse(known.texts[0].len()), known.from_step));
        self.known = known;
    }

    pub(super) fn partner(&self, step: usize) -> Option<&Kept<'r>> {
        self.others.as_ref()?.get(self.partners[step]?)
    }

    fn step(&mut self) {
        let kept = &self.calls[self.step];
        let call = kept.call;
        let mut arguments = call.arguments.clone();
        targets::remove(&mut arguments, &kept.targets);
        let second = self.partner(self.step).map(|other| {
            let mut arguments = other.call.arguments.clone();
            targets::remove(&mut arguments, &other.targets);
            (arguments, other.targets.clone())
        });
        if self.others.is_some() && second.is_none() {
            self.ask("only the first recording has this call".to_owned());
        }
        let mut step = Step {
            step: self.step + 1,
            id: self.ids[self.step].clone(),
            tool: tool_name(call),
            ..Step::default()
        };
        let schema =
            tool_of(self.recording, call).and_then(|tool| tool.pointer("/inputSchema/properties"));
        for (key, value) in &arguments {
            let property = schema.and_then(|schema| schema.get(key));
            // Nobody gave the exit code that is expected.
            self.enumerated = key == "expect_exit"
                || property.is_some_and(|property| property.get("enum").is_some());
            self.converts = property
                .and_then(|property| property["type"].as_str())
                .is_some_and(|kind| matches!(kind, "number" | "integer"));
            let other = second.as_ref().map(|(arguments, _)| arguments.get(key));
            let written = self.value(key_of(&arguments, key), value, other.flatten());
            step.params
                .insert(crate::scenario::verbatim_text(key), written);
        }
        (self.enumerated, self.converts) = (false, false);
        if let Some((others, _)) = &second {
            self.ask_of_keys("", &arguments, others);
        }
        if step.tool == "claude__bash" {
            self.command(&arguments, &mut step);
        }
        for (idx, target) in kept.targets.iter().enumerate() {
            if let Some(question) = &target.question {
                self.ask(question.clone());
            }
            let Some(wanted) = &target.wanted else {
                continue;
            };
            let others = second.as_ref().and_then(|(_, targets)| targets.get(idx));
            let other = others.filter(|other| other.parameter == target.parameter);
            let written = self.value(
                "target",
                wanted,
                other.and_then(|other| other.wanted.as_ref()),
            );
            match target.parameter.is_empty() {
                true => step.target = Some(written),
                false => {
                    step.targets.insert(target.parameter.clone(), written);
                }
            }
        }
        // The first recording may have had it at once.
        let partner = self.partner(self.step);
        let retry = kept
            .retry
            .as_ref()
            .or_else(|| partner.and_then(|other| other.retry.as_ref()));
        if let Some((retry, expect)) = retry {
            step.on_error = Some("retry");
            step.retry = Some(retry.clone());
            step.expect.extend(expect.clone());
        }
        step.allow(kept.took.max(partner.and_then(|other| other.took)));
        let failed_again = partner.and_then(|other| other.failure.clone());
        if let (None, Some(failure)) = (&kept.failure, failed_again) {
            self.ask(format!(
                "it failed in the second recording only ({failure}): may it fail?"
            ));
        }
        if let Some(failure) = &kept.failure {
            step.on_error = Some("skip");
            self.ask(format!(
                "it failed in the recording ({failure}): is it needed?"
            ));
        }
        let arguments = json!(call.arguments);
        for (origin, value) in [
            (Origin::Arguments(self.step), &arguments),
            (Origin::Result(self.step), &kept.value),
        ] {
            self.heard.add(origin, value);
        }
        self.named.add(self.step, &call.arguments);
        self.index.add_arguments(self.step, &arguments);
        self.index.add_result(self.step, &kept.value);
        self.scenario.steps.push(step);
    }

    /// The template of a value. `other` is that of the second recording, if there is one and has it.
    fn value(&mut self, key: &str, value: &Value, other: Option<&Value>) -> Value {
        key.clone_into(&mut self.key);
        if let Some(name) = self.whole(value, other) {
            return reference(&name).into();
        }
        let differs = other.is_some_and(|other| other != value);
        match (value, other) {
            (Value::Object(members), None | Some(Value::Object(_))) => {
                if let Some(Value::Object(others)) = other {
                    self.ask_of_keys(&format!("{key}."), members, others);
                }
                let members = members.iter().map(|(key, value)| {
                    let other = other.and_then(|other| other.get(key));
                    let written = self.value(key_of(members, key), value, other);
                    (crate::scenario::verbatim_text(key), written)
                });
                members.collect::<Map<String, Value>>().into()
            }
            (Value::Array(items), _)
                if other.is_none_or(|other| {
                    other
                        .as_array()
                        .is_some_and(|others| others.len() == items.len())
                }) =>
            {
                let written = items.iter().enumerate().map(|(idx, item)| {
                    let other = other.and_then(|other| other.get(idx));
                    self.value(key, item, other)
                });
                let written: Vec<Value> = written.collect();
                self.ask_of_items(key, &written);
                written.into()
            }
            (Value::String(text), None | Some(Value::String(_))) => {
                let parts = self.text(text, other.and_then(Value::as_str));
                self.ask_of_code(text, &parts);
                template(&parts).into()
            }
            _ if differs => {
                if let (Value::Array(items), Some(Value::Array(others))) = (value, other) {
                    let (count, other_count) = (items.len(), others.len());
                    self.ask(format!(
                        "`{key}` has {count} items in the first recording and {other_count} in the second: is all of it given?"
                    ));
                }
                reference(&self.variable(value, other)).into()
            }
            _ => {
                if value.is_number() && other.is_none() {
                    let text = as_text(value).into_owned();
                    self.ask_of_rest(&[Part::Text(text)]);
                }
                value.clone()
            }
        }
    }

    /// What a whole value is: an output, a variable, or nothing that can be told.
    fn whole(&mut self, value: &Value, other: Option<&Value>) -> Option<String> {
        if let Some(source) = self.copy(value, other) {
            return Some(self.output(source));
        }
        if self.is_secret(value) {
            return Some(self.secret(value));
        }
        if self.enumerated && other.is_none_or(|other| other == value) {
            return None;
        }
        let differs = other.is_some_and(|other| other != value);
        match self.prompt.mentions(value) {
            // Of a text that differs it is looked at first what it is made of.
            Mention::Literal if differs && value.is_string() => None,
            Mention::Literal => Some(self.variable(value, other)),
            Mention::Word if self.others.is_none() => {
                let (key, shown) = (&self.key, cut(&as_text(value), 60).into_owned());
                self.ask_about(
                    Subject::new(&shown, "the prompt", ""),
                    format!("`{key}` is `{shown}`, which the prompt mentions: is it a variable?"),
                );
                None
            }
            _ => None,
        }
    }

    pub(super) fn variable(&mut self, value: &Value, other: Option<&Value>) -> String {
        let text = as_text(value);
        if self.redactor.finds(&text) || self.masker.finds(&text) {
            return self.secret(value);
        }
        let other = other.unwrap_or(value);
        let values = (value.to_string(), other.to_string());
        let is_new = !self.variables.contains_key(&values);
        let wish = snake(&self.key).to_uppercase();
        let name = self.variable_as(values, value.clone(), &wish);
        if is_new {
            let texts = [value, other].map(|value| as_text(value).into_owned());
            if other != value && self.prompt.mentions(value) != Mention::Literal {
                self.ask_of_results(&texts);
            }
            self.given.push((name.clone(), texts, self.step));
        }
        name
    }

    pub(super) fn variable_as(
        &mut self,
        values: (String, String),
        default: Value,
        wish: &str,
    ) -> String {
        if let Some(name) = self.variables.get(&values) {
            return name.clone();
        }
        let name = self.names.unique(wish);
        self.scenario.variables.insert(name.clone(), default);
        self.variables.insert(values, name.clone());
        name
    }

    /// The reference to an output, which its step gets.
    pub(super) fn output(&mut self, source: Source) -> String {
        let id = &self.ids[source.step];
        let (outputs, names) = &mut self.outputs[source.step];
        if let Some((_, name)) = outputs.iter().find(|(known, _)| *known == source) {
            return format!("{id}.{name}");
        }
        let wish = match (source.path.name.as_str(), &source.regex) {
            ("" | "stdout" | "content" | "text", Some(_)) | ("", None) => self.key.as_str(),
            (name, _) => name,
        };
        let name = names.unique(wish);
        let written = format!("{id}.{name}");
        outputs.push((source, name));
        written
    }

    /// Where a value was copied from, if that is proved.
    pub(super) fn copy(&mut self, value: &Value, other: Option<&Value>) -> Option<Source> {
        // What the user named is given.
        if value == REDACTED || value.as_str().is_some_and(|text| name_of(text).is_some()) {
            return None;
        }
        let weight = weight(value);
        let differs = other.is_some_and(|other| other != value);
        if weight == Weight::Nothing || (self.enumerated && !differs) {
            return None;
        }
        let mentioned = self.prompt.mentions(value) == Mention::Literal;
        let mentioned_again = || {
            let prompt = self.second_prompt.as_ref().zip(other);
            prompt.is_none_or(|(prompt, other)| prompt.mentions(other) == Mention::Literal)
        };
        let is_given = mentioned && mentioned_again();
        // Of what had come before the user said it, the user repeats it.
        let n_seen = self.prompt.calls_before(value);
        if is_given && n_seen == 0 {
            return None;
        }
        let mut sources = self
            .index
            .sources(value, (self.step, self.converts), &self.results);
        if is_given {
            sources.retain(|source| self.calls[source.step].number <= n_seen);
        }
        let n_sources = sources.len();
        if let Some(other) = other {
            sources.retain(|source| self.is_copied_again(source, other));
            if n_sources > 0 && sources.is_empty() && weight == Weight::Strong {
                let (key, id) = (&self.key, "the first recording");
                self.ask_about(
                    Subject::new(&as_text(value), id, ""),
                    format!("`{key}` is a value of an earlier result, of this place in {id} only"),
                );
                return None;
            }
        }
        let Some(first) = sources.first().map(|source| source.step) else {
            if is_given {
                self.ask_of_repeated(value, n_seen);
            }
            return None;
        };
        sources.retain(|source| source.step == first);
        let named =
            |source: &Source| source.regex.is_none() && is_namesake(&self.key, &source.path.name);
        let is_named = sources.iter().any(named);
        if is_named {
            sources.retain(named);
        }
        let is_proved = match differs {
            true => weight == Weight::Strong || is_named || sources.len() == 1,
            // Nothing else gives the name of a command in the background.
            false => {
                let is_sure = weight == Weight::Middling || self.key == "shell_id";
                weight == Weight::Strong || (is_sure && is_named)
            }
        };
        let source = sources.first()?.clone();
        let (path, id, key) = (
            source.path.to_string(),
            self.ids[first].clone(),
            self.key.clone(),
        );
        let shown = cut(&as_text(value), 60).into_owned();
        if !is_proved {
            // A short number may be a count; a text or an amount is seldom another one's.
            if !differs
                && (is_given
                    || (is_named && !key.is_empty())
                    || is_telling(value)
                    || is_word_of_name(value, &source.path.name)
                    || may_name(value, &key, &source.path.name))
            {
                self.ask_about(
                    Subject::new(&shown, &id, &path),
                    format!(
                        "`{key}` is `{shown}`, as `{path}` of `{id}` was: is it copied from there?"
                    ),
                );
            }
            return None;
        }
        let result = &self.results[first];
        let twin = sources.get(1).map(|twin| twin.path.to_string());
        let twin = twin.filter(|twin| twin.len() == path.len());
        let of_one = [
            twin.map(|twin| format!("is in `{id}` as `{path}` and as `{twin}`: the first was taken")),
            source.is_in_json(result).then(|| {
                format!("was copied out of JSON in the text of `{id}`: will it stand in the same place again?")
            }),
            source.lines_below(result).map(|count| {
                format!("was copied from the first of {count} lines in the result of `{id}`: will it stand there again?")
            }),
        ];
        let of_one = of_one.into_iter().flatten().filter(|_| other.is_none());
        // Two recordings that take a later one may go through all of them.
        let place = source
            .path
            .place
            .filter(|(place, _)| other.is_none() || *place > 1);
        let of_place = place.map(|(place, count)| {
            format!("was copied from item {place} of {count} in the result of `{id}`: will it stand there again?")
        });
        if let Some(doubt) = of_one.chain(of_place).next() {
            // What is taken is asked about once, whatever is made of it.
            let taken = Subject::new(source.regex.as_deref().unwrap_or_default(), &id, &path);
            self.ask_about(taken, format!("`{key}` {doubt}"));
        }
        Some(source)
    }

    /// Whether the second recording has its value at the same place.
    fn is_copied_again(&self, source: &Source, other: &Value) -> bool {
        let result = self.partner(source.step).map(|kept| &kept.value);
        let value = result.and_then(|result| source.value(result));
        value.is_some_and(|value| {
            value == *other || (self.converts && as_text(&value) == as_text(other))
        })
    }

    /// Writes the command of a step with its outputs as environment variables.
    fn command(&mut self, arguments: &Map<String, Json>, step: &mut Step) {
        let Some(text) = arguments.get("command").and_then(Value::as_str) else {
            return;
        };
        let other = self
            .partner(self.step)
            .and_then(|other| other.call.arguments.get("command"));
        let other = other.and_then(Value::as_str).map(str::to_owned);
        "command".clone_into(&mut self.key);
        let mut parts = self.text(text, other.as_deref());
        let Command {
            mut text,
            mut env,
            kept,
            unchecked,
        } = command(&parts);
        // A secret is not written as it was recorded.
        let mut has_secret = false;
        for part in &mut parts {
            if let Part::Output(name, secret) = part
                && kept.contains(name)
                && self.masker.finds(secret)
            {
                let name = self.secret(&secret.as_str().into());
                *part = Part::Variable(name, String::new());
                has_secret = true;
            }
        }
        if has_secret {
            Command { text, env, .. } = command(&parts);
        }
        for name in unchecked {
            self.ask_everywhere(format!(
                "the command gets `{name}` by `env`, which nothing checks: may a result give any value there?"
            ));
        }
        for name in kept {
            self.ask_everywhere(format!(
                "the command holds the value of `{name}` where it may be read as code: pass it by `env`"
            ));
        }
        step.params.insert("command".to_owned(), text.into());
        if !env.is_empty() {
            let known = step.params.entry("env").or_insert_with(|| json!({}));
            if let Some(known) = known.as_object_mut() {
                known.extend(env);
            }
        }
    }

    fn finish(mut self, mut left_out: Vec<Note>) -> Result<Inferred, InferError> {
        if self.scenario.steps.is_empty() {
            return Err(InferError::NoCalls);
        }
        self.ask_of_variables();
        let mut questions = once(std::mem::take(&mut self.questions));
        if let Some(prompt) = self.recording.prompts.first() {
            let said = cut(prompt.trim(), 2_000);
            let instruction = cuecard_source::value::without_credentials(&said);
            let instruction = self.redactor.text(&instruction).into_owned();
            self.scenario
                .metadata
                .insert("instruction".to_owned(), instruction.into());
        }
        let is_full = self.index.is_full() || self.heard.is_full();
        if is_full || self.known.len() >= MOST_DIFFERENCES {
            questions.push(Note {
                text: format!(
                    "the results hold more than {MOST_VALUES} values or words, or more than {MOST_DIFFERENCES} differ: later ones were not looked at"
                ),
                ..Note::default()
            });
        }
        let mut proposals = Vec::new();
        for (idx, step) in self.scenario.steps.iter_mut().enumerate() {
            for (source, name) in &self.outputs[idx].0 {
                let path = source.path.to_string();
                let rule = match &source.regex {
                    None => json!(path),
                    Some(regex) if path == "$" => json!({ "regex": regex }),
                    Some(regex) => json!({ "regex": regex, "from": path }),
                };
                step.output.insert(name.clone(), rule);
                step.expect.extend(shape::check(source, &self.results[idx]));
            }
            for value in [&mut step.params, &mut step.targets, &mut step.output]
                .into_iter()
                .flat_map(|members| members.values_mut())
                .chain(&mut step.target)
                .chain(&mut step.expect)
            {
                self.masker.json(value);
            }
            let own = questions.iter().filter(|note| note.step == Some(idx + 1));
            let sentences = own.map(|note| {
                let end = if note.text.ends_with(['?', ')']) {
                    ""
                } else {
                    "."
                };
                format!("{OPEN_QUESTION}{}{end}", note.text)
            });
            let text = sentences.collect::<Vec<String>>().join(" ");
            step.description = crate::scenario::verbatim_text(&self.masker.text(&text));
            let partner = self.partners[idx].and_then(|other| self.others.as_ref()?.get(other));
            let checks = shape::proposals(&self.results[idx], partner.map(|other| &other.value));
            proposals.extend(checks.into_iter().map(|check| Note {
                step: Some(idx + 1),
                tool: step.tool.clone(),
                text: check.to_string(),
                ..Note::default()
            }));
        }
        for default in self.scenario.variables.values_mut() {
            self.masker.json(default);
        }
        for note in left_out
            .iter_mut()
            .chain(&mut questions)
            .chain(&mut proposals)
        {
            note.text = self.without_secrets(&note.text);
        }
        let tells_given = self.others.is_some() || !self.recording.prompts.is_empty();
        let hint = (!tells_given).then(|| NO_PROMPT.to_owned());
        Ok(Inferred {
            scenario: self.scenario,
            questions,
            proposals,
            left_out,
            hints: hint.into_iter().collect(),
        })
    }
}

/// `issueNumber` as `issue_number`.
pub(crate) fn snake(name: &str) -> String {
    let mut written = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_lower {
            written.push('_');
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
        written.push(letter);
    }
    written
}

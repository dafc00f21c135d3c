//! Makes the steps: each argument is looked at once, in the order of the calls, with what was known before it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use cuecard_source::value::{Redactor, as_text, cut, key_of};
use cuecard_tool_call::format::OPEN_QUESTION;
use serde_json::{Map, Value, json};

use super::differences::{Difference, each_difference};
use super::pairs::pairs;
use super::parts::{Command, Part, command, reference, template};
use super::prompt::{Mention, Prompt};
use super::questions::Question;
use super::secrets::{is_distinct, parts_of, secrets, secrets_of_results, typed_secrets};
use super::spellings::{Index, MOST_SPELLINGS, Origin};
use super::texts::word_by_word;
use super::tidy::{Kept, Tidy, ToolKey, tidy, tool_of};
use super::values::{Source, Weight, is_plain_name, is_telling, may_name, weight};
use super::{InferError, Inferred, Note, shape, targets};
use crate::marks::MARK;
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

/// Why two recordings have none.
const NO_DIFFERENCE: &str = "the recordings pass the same values, so only secrets are variables: record the task again with other ones";

pub(super) fn build(
    recording: &Recording,
    second: Option<&Recording>,
    name: &str,
) -> Result<Inferred, InferError> {
    let tidied = |polled: &[ToolKey]| {
        let all = [recording].into_iter().chain(second);
        all.map(|recording| tidy(recording, polled))
            .collect::<Vec<_>>()
    };
    let polled: Vec<ToolKey> = tidied(&[]).iter().flat_map(Tidy::polled).collect();
    let mut tidied = tidied(&polled).into_iter();
    let mut first = tidied.next().unwrap_or_default();
    let mut other = tidied.next();
    let mut left_out = first.left_out;
    left_out.extend(targets::find(&mut first.kept));
    if let Some(other) = &mut other {
        targets::find(&mut other.kept);
    }
    let calls = first.kept;
    let others = other.map_or_else(Vec::new, |other| other.kept);
    let pairs = pairs(&calls, &others);
    let mut others: Vec<Option<Kept<'_>>> = others.into_iter().map(Some).collect();
    let partners = pairs.into_iter().map(|pair| others[pair?].take());
    let partners: Vec<Option<Kept<'_>>> = partners.collect();
    let alone = "only the second recording has this call";
    left_out.extend(
        others
            .iter()
            .flatten()
            .map(|call| call.note(alone.to_owned())),
    );
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
        has_second: second.is_some(),
        partners: &partners,
        index: Index::default(),
        second_index: Index::default(),
        scenario: Scenario::new(name),
        names: ids,
        variables: HashMap::new(),
        given: Vec::new(),
        questions: Vec::new(),
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
        .index
        .add(Origin::Quote, &json!(builder.prompt.quoted));
    let prompts = json!(recording.prompts);
    builder.index.add(Origin::Prompt, &prompts);
    builder.index.add(Origin::Day, &json!(recording.days));
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
    has_second: bool,
    /// For each call that of the second recording.
    partners: &'c [Option<Kept<'r>>],
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
    pub(super) second_prompt: Option<Prompt>,
    pub(super) index: Index,
    /// What the second recording read.
    pub(super) second_index: Index,
    scenario: Scenario,
    names: Names,
    /// The names of variables by the values they stand for in both recordings.
    pub(super) variables: HashMap<(String, String), String>,
    /// The variables that are no secrets, with their texts in both recordings and the first step that needs them.
    pub(super) given: Vec<(String, [String; 2], usize)>,
    pub(super) questions: Vec<Question>,
    /// The step that is made, and the parameter that is looked at.
    pub(super) step: usize,
    pub(super) key: String,
    /// Whether the values of the parameter are fixed, as the tool lists them, and whether a text becomes a number there.
    pub(super) enumerated: bool,
    pub(super) converts: bool,
}

impl<'c, 'r> Builder<'c, 'r> {
    /// Whole arguments that the user gave are sought inside other ones too.
    fn literals(&mut self) {
        for call in self.calls {
            super::values::each_leaf(&json!(call.call.arguments), &mut |leaf| {
                let text = as_text(leaf).into_owned();
                // In a text an ordinary number may be another one.
                let is_ordinary = !leaf.is_string()
                    && (self.has_second || !(is_telling(leaf) || may_name(leaf, "", "")));
                if self.prompt.mentions(leaf) != Mention::Literal || is_ordinary {
                    return;
                }
                let is_word = leaf.is_string() && weight(leaf) < Weight::Middling;
                if !is_word || text.contains(' ') {
                    let literals = &mut self.prompt.literals;
                    literals.retain(|known| as_text(known) != text || known.is_number());
                    if !literals.iter().any(|known| as_text(known) == text) {
                        literals.push(leaf.clone());
                    }
                } else if !self.prompt.literals.contains(leaf) {
                    self.prompt.names.push(text);
                }
            });
        }
        // The longest is sought first.
        let literals = &mut self.prompt.literals;
        literals.sort_by_key(|literal| Reverse(as_text(literal).len()));
    }

    /// What differs between the recordings is sought inside of texts: what the prompts name, arguments and results.
    fn differences(&mut self) {
        let mut sides: Vec<(usize, [Value; 2])> = Vec::new();
        if let Some(second) = &self.second_prompt
            && second.quoted.len() == self.prompt.quoted.len()
        {
            sides.push((0, [json!(self.prompt.quoted), json!(second.quoted)]));
        }
        let pairs = self.calls.iter().zip(self.partners).enumerate();
        let pairs = pairs.filter_map(|(step, (kept, other))| Some((step, kept, other.as_ref()?)));
        let arguments = |kept: &Kept<'_>| json!(kept.call.arguments);
        sides.extend(
            pairs
                .clone()
                .map(|(_, kept, other)| (0, [arguments(kept), arguments(other)])),
        );
        sides.extend(
            pairs.map(|(step, kept, other)| (step + 1, [kept.value.clone(), other.value.clone()])),
        );
        let (mut known, mut words) = (Vec::new(), HashSet::new());
        for (from_step, [one, other]) in &sides {
            each_difference([one, other], &mut |key, values| {
                known.push(Difference::new(key, values, *from_step));
                let [Value::String(one), Value::String(other)] = values else {
                    return;
                };
                let pairs = word_by_word(true, one, other).filter(|_| key == COMMAND);
                for pair in pairs
                    .into_iter()
                    .flatten()
                    .filter(|[one, other]| one != other)
                {
                    if words.insert(pair.map(str::to_owned)) {
                        let [one, other] = pair.map(Value::from);
                        known.push(Difference::new(key, [&one, &other], *from_step));
                    }
                }
            });
        }
        let fits = |text: &String| text.len() <= LONGEST_DIFFERENCE && !self.redactor.finds(text);
        known.retain(|difference| difference.texts.iter().all(fits));
        known.truncate(MOST_DIFFERENCES);
        // Of equal ones that which can be used first.
        known.sort_by_key(|known| (Reverse(known.texts[0].len()), known.from_step));
        self.known = known;
    }

    pub(super) fn partner(&self, step: usize) -> Option<&'c Kept<'r>> {
        self.partners[step].as_ref()
    }

    fn step(&mut self) {
        let kept = &self.calls[self.step];
        let call = kept.call;
        let partner = self.partner(self.step);
        let arguments = targets::without(kept);
        let others = partner.map(targets::without);
        if self.has_second && partner.is_none() {
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
            let other = others.as_ref().and_then(|others| others.get(key));
            let written = match step.tool == "claude__bash" && key == COMMAND {
                // It is written below, when the variables of its environment are known.
                true => value.clone(),
                false => self.value(key_of(&arguments, key), value, other),
            };
            let written_key = self.secret_key(key);
            let written_key = written_key.unwrap_or_else(|| crate::scenario::verbatim_text(key));
            step.params.insert(written_key, written);
        }
        (self.enumerated, self.converts) = (false, false);
        if let Some(others) = &others {
            self.ask_of_keys("", &arguments, others);
        }
        if step.tool == "claude__bash"
            && let Some(text) = arguments.get(COMMAND).and_then(Value::as_str)
        {
            let other = others.as_ref().and_then(|others| others.get(COMMAND));
            self.command(text, other.and_then(Value::as_str), &mut step);
        }
        for (idx, target) in kept.targets.iter().enumerate() {
            if let Some(question) = &target.question {
                self.ask(question.clone());
            }
            let Some(wanted) = &target.wanted else {
                continue;
            };
            let other = partner.and_then(|other| other.targets.get(idx));
            let other = other.filter(|other| other.parameter == target.parameter);
            let other = other.and_then(|other| other.wanted.as_ref());
            let written = self.value("target", wanted, other);
            match target.parameter.is_empty() {
                true => step.target = Some(written),
                false => {
                    step.targets.insert(target.parameter.clone(), written);
                }
            }
        }
        // The first recording may have had it at once.
        let retry = kept.retry.as_ref();
        if let Some((retry, expect)) = retry.or_else(|| partner?.retry.as_ref()) {
            step.on_error = Some("retry");
            step.retry = Some(retry.clone());
            step.expect.extend(expect.clone());
        }
        step.allow(kept.took.max(partner.and_then(|other| other.took)));
        let again = partner.and_then(|other| other.failure.as_ref());
        if let Some(failure) = &kept.failure {
            step.on_error = Some("skip");
            self.ask(format!(
                "it failed in the recording ({failure}): is it needed?"
            ));
        } else if let Some(failure) = again {
            self.ask(format!(
                "it failed in the second recording only ({failure}): may it fail?"
            ));
        }
        let arguments = json!(call.arguments);
        for (origin, value) in [
            (Origin::Arguments(self.step), &arguments),
            (Origin::Result(self.step), &kept.value),
        ] {
            self.index.add(origin, value);
        }
        if let Some(partner) = partner {
            self.second_index
                .add(Origin::Result(self.step), &partner.value);
        }
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
                    let written_key = self.member_key(key);
                    let written = self.value(key_of(members, key), value, other);
                    (written_key, written)
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
                written.collect::<Vec<Value>>().into()
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

    /// The template of a key inside of a parameter, which may be a value too: an id, or a secret.
    fn member_key(&mut self, key: &str) -> String {
        if let Some(written) = self.secret_key(key) {
            return written;
        }
        let value = Value::from(key);
        let name = if is_plain_name(key) || weight(&value) < Weight::Strong {
            None
        } else if let Some(source) = self.copy(&value, None) {
            Some(self.output(source))
        } else {
            let is_given = self.prompt.mentions(&value) == Mention::Literal;
            is_given.then(|| self.variable(&value, None))
        };
        name.map_or_else(
            || crate::scenario::verbatim_text(key),
            |name| reference(&name),
        )
    }

    /// The template of a key that is a secret.
    fn secret_key(&mut self, key: &str) -> Option<String> {
        let is_secret = self.redactor.secrets().iter().any(|secret| secret == key);
        is_secret.then(|| reference(&self.secret(&key.into())))
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
            Mention::Word if !self.has_second => {
                let (key, shown) = (&self.key, cut(&as_text(value), 60).into_owned());
                self.ask_about(
                    [&shown, "the prompt", ""],
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

    /// Writes the command of a step with its outputs as environment variables.
    fn command(&mut self, text: &str, other: Option<&str>, step: &mut Step) {
        COMMAND.clone_into(&mut self.key);
        let mut parts = self.text(text, other);
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
        step.params.insert(COMMAND.to_owned(), text.into());
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
        let mut questions = self.asked();
        if let Some(prompt) = self.recording.prompts.first() {
            let said = cut(prompt.trim(), 2_000);
            let instruction = cuecard_source::value::without_credentials(&said);
            let instruction = self.redactor.text(&instruction).into_owned();
            self.scenario
                .metadata
                .insert("instruction".to_owned(), instruction.into());
        }
        if self.index.is_full() || self.known.len() >= MOST_DIFFERENCES {
            questions.push(Note {
                text: format!(
                    "the results hold more than {MOST_SPELLINGS} values or words, or more than {MOST_DIFFERENCES} differ: later ones were not looked at"
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
                step.expect
                    .extend(shape::check(source, &self.calls[idx].value));
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
            let partner = self.partners[idx].as_ref();
            let checks =
                shape::proposals(&self.calls[idx].value, partner.map(|other| &other.value));
            let checks = checks.into_iter().map(|check| check.to_string());
            // What can't be written can't be checked.
            let checks = checks.filter(|text| !self.masker.finds(text) && !MARK.is_match(text));
            proposals.extend(checks.map(|text| Note {
                step: Some(idx + 1),
                tool: step.tool.clone(),
                text,
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
        let tells_given = self.has_second || !self.recording.prompts.is_empty();
        let all_secret = self.scenario.variables.values().all(|value| value == "");
        let hint = match tells_given {
            false => Some(NO_PROMPT),
            true => (self.has_second && all_secret).then_some(NO_DIFFERENCE),
        };
        Ok(Inferred {
            scenario: self.scenario,
            questions,
            proposals,
            left_out,
            hints: hint.into_iter().map(str::to_owned).collect(),
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

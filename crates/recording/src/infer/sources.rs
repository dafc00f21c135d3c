//! Where a value was copied from: what the results before it have, what the parameter is called, and what the user said.

use std::time::Duration;

use cuecard_source::value::{REDACTED, as_text, cut};
use serde_json::Value;

use super::build::{Builder, snake};
use super::prompt::Mention;
use super::values::{Proof, Source, Weight, is_namesake, proof, weight};
use crate::marks::name_of;

/// Times of calls are not told more exactly.
const AT_ONCE: Duration = Duration::from_millis(2);

impl Builder<'_, '_> {
    /// Where a value was copied from, if that is proved.
    pub(super) fn copy(&mut self, value: &Value, other: Option<&Value>) -> Option<Source> {
        let differs = other.is_some_and(|other| other != value);
        // What the user named is given.
        let is_named_secret = value == REDACTED || value.as_str().and_then(name_of).is_some();
        if is_named_secret || weight(value) == Weight::Nothing || (self.enumerated && !differs) {
            return None;
        }
        let second = self.second_prompt.as_ref().zip(other);
        let is_given = self.prompt.mentions(value) == Mention::Literal
            && second.is_none_or(|(prompt, other)| prompt.mentions(other) == Mention::Literal);
        // Of what had come before the user said it, the user repeats it.
        let n_seen = self.prompt.calls_before(value);
        if is_given && n_seen == 0 {
            self.ask_of_coincidence(value);
            return None;
        }
        let mut sources = self.index.sources(value, (self.step, self.converts));
        sources.retain(|source| self.had_come(source.step));
        if is_given {
            sources.retain(|source| self.calls[source.step].number <= n_seen);
        }
        let was_read = !sources.is_empty();
        if let Some(other) = other {
            sources.retain(|source| self.is_copied_again(source, other));
        }
        let shown = cut(&as_text(value), 60).into_owned();
        let key = self.key.clone();
        let is_namesake =
            |source: &Source| source.regex.is_none() && is_namesake(&key, &source.path.name);
        let is_named = sources.iter().any(is_namesake);
        if is_named {
            sources.retain(is_namesake);
        }
        let Some(source) = sources.first().cloned() else {
            if was_read && weight(value) == Weight::Strong {
                let id = "the first recording";
                let text =
                    format!("`{key}` is a value of an earlier result, of this place in {id} only");
                self.ask_about([&as_text(value), id, ""], text);
            } else if is_given {
                self.ask_of_repeated(value, n_seen);
            }
            return None;
        };
        let proof = match differs {
            true if is_named || sources.len() == 1 || weight(value) == Weight::Strong => {
                Proof::Enough
            }
            true => Proof::Nothing,
            false => proof(value, &key, &source.path.name, is_named),
        };
        let (id, path) = (self.ids[source.step].clone(), source.path.to_string());
        match proof {
            Proof::Enough => {
                // Two recordings show that it is the same in two places that are called so, unless it is worth little.
                let twin = sources[1..].iter().find(|twin| match other {
                    None if twin.step == source.step => twin.path.to_string().len() == path.len(),
                    None => {
                        !(self.is_repeated([source.step, twin.step]) && twin.path == source.path)
                    }
                    Some(_) => twin.step != source.step && !is_named,
                });
                let twin = twin.map(|twin| (self.ids[twin.step].clone(), twin.path.to_string()));
                // Two recordings that take a later one may go through all of them.
                let place = source.place(&self.calls[source.step].value);
                let place = place.filter(|(place, _)| other.is_none() || *place > 1);
                let doubt = match (twin, place) {
                    (Some((twin, other)), _) if twin == id => {
                        format!("is in `{id}` as `{path}` and as `{other}`: the first was taken")
                    }
                    (Some((twin, other)), _) => format!(
                        "is in `{id}` as `{path}` and in `{twin}` as `{other}`: the first was taken"
                    ),
                    (None, Some((_, place))) => format!(
                        "was copied from {place} in the result of `{id}`: will it stand there again?"
                    ),
                    (None, None) => return Some(source),
                };
                // What is taken is asked about once, whatever is made of it.
                let taken = [source.regex.as_deref().unwrap_or_default(), &id, &path];
                self.ask_about(taken, format!("`{key}` {doubt}"));
                Some(source)
            }
            Proof::Nothing if differs || !is_given => None,
            Proof::Little | Proof::Nothing => {
                self.ask_about(
                    [&shown, &id, &path],
                    format!(
                        "`{key}` is `{shown}`, as `{path}` of `{id}` was: is it copied from there?"
                    ),
                );
                None
            }
        }
    }

    /// Whether two steps are the same call.
    fn is_repeated(&self, steps: [usize; 2]) -> bool {
        let [one, other] = steps.map(|step| self.calls[step].call);
        (&one.server, &one.tool, &one.arguments) == (&other.server, &other.tool, &other.arguments)
    }

    /// Whether the result of a step had come when this one was called.
    fn had_come(&self, step: usize) -> bool {
        let call = self.calls[step].call;
        let end = call
            .started
            .zip(call.duration)
            .map(|(start, took)| start + took);
        let began = self.calls[self.step].call.started;
        end.zip(began)
            .is_none_or(|(end, began)| end <= began + AT_ONCE)
    }

    /// Asks of a number that the user said, and that a result calls as this parameter is called.
    fn ask_of_coincidence(&mut self, value: &Value) {
        let is_number = value.is_number()
            || value
                .as_str()
                .is_some_and(|text| text.parse::<u64>().is_ok());
        if !is_number {
            return;
        }
        let shown = as_text(value).into_owned();
        // `Close issue 42` says what the number is.
        let tool = &self.calls[self.step].call.tool;
        let called = format!("{} {}", snake(&self.key), snake(tool)).to_lowercase();
        let is_said = |word: String| called.split(['_', '-', ' ']).any(|part| part == word);
        if self.prompt.word_before(&shown).is_none_or(is_said) {
            return;
        }
        let sources = self.index.sources(value, (self.step, self.converts));
        let named = |source: &&Source| {
            source.regex.is_none()
                && !source.path.name.is_empty()
                && is_namesake(&self.key, &source.path.name)
        };
        if let Some(source) = sources.iter().find(named) {
            let (id, path) = (self.ids[source.step].clone(), source.path.to_string());
            let text = format!(
                "`{}` is `{shown}`, which the prompt has and `{path}` of `{id}` was too: the prompt's was taken",
                self.key
            );
            self.ask_about([&shown, &id, &path], text);
        }
    }

    /// Whether the second recording has its value at the same place.
    fn is_copied_again(&self, source: &Source, other: &Value) -> bool {
        let result = self.partner(source.step).map(|kept| &kept.value);
        let value = result.and_then(|result| source.value(result));
        value.is_some_and(|value| {
            value == *other || (self.converts && as_text(&value) == as_text(other))
        })
    }
}

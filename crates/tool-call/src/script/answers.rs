//! The scenario's answers to a server's questions, with every reference filled in as far as it can be now.

use regex::Regex;
use serde_json::{Map, json};

use super::FailureKind;
use super::resolve::Resolver;
use super::results::is_something;
use crate::model::{ElicitationAction, ElicitationAnswer, ExpectedTest, Template};
use cuecard_source::Span;
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::matching::Predicate;
use cuecard_source::value::{Json, cut};

/// The longest question shown in a message, and line of one proposed for `match`, in characters.
const LONGEST_QUESTION: usize = 200;
/// The most fields of a form that a proposal fills in.
const MOST_FIELDS: usize = 10;

/// What servers are answered that ask something while a call is open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadyAnswers {
    elicitation: Vec<Answer>,
}

/// One entry; a reference without a value is an error only when the entry is needed.
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    server: Option<String>,
    tests: Result<Vec<Test>, String>,
    action: ElicitationAction,
    content: Result<Option<Json>, String>,
    span: Span,
}

#[derive(Debug, Clone)]
enum Test {
    Equals(Json),
    Contains(Json),
    Matches(Regex),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Which entry of `answers.elicitation` it was, from 0.
    pub entry: usize,
    /// The protocol's result: `action`, and `content` of an accepted form.
    pub result: Json,
}

/// Why there is no answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Unanswered {
    /// [`FailureKind::Unanswered`] or [`FailureKind::UnfitAnswer`].
    pub kind: FailureKind,
    /// What was asked and why it isn't answered, in a sentence without a full stop. Holds no answer.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where the entry stands that does not fit.
    pub span: Option<Span>,
}

impl ReadyAnswers {
    pub(super) fn resolve(answers: &crate::model::Answers, resolver: &Resolver) -> Self {
        Self {
            elicitation: answers
                .elicitation
                .iter()
                .map(|answer| Answer::resolve(answer, resolver))
                .collect(),
        }
    }

    /// The answer to the question that `server` asks a user: `params` are those of `elicitation/create`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn elicit(&self, server: &str, params: &Json) -> Result<Answered, Unanswered> {
        let question = Question::read(server, params)?;
        for (entry, answer) in self.elicitation.iter().enumerate() {
            if answer.server.as_deref().is_some_and(|only| only != server) {
                continue;
            }
            let tests = answer
                .tests
                .as_ref()
                .map_err(|reason| question.unresolved(entry, answer, reason))?;
            if !tests.iter().all(|test| test.holds(question.message)) {
                continue;
            }
            if answer.action != ElicitationAction::Accept {
                let result = json!({"action": answer.action.as_str()});
                return Ok(Answered { entry, result });
            }
            let content = answer
                .content
                .as_ref()
                .map_err(|reason| question.unresolved(entry, answer, reason))?;
            let content = question
                .fill(content.as_ref())
                .map_err(|reason| question.unfit(entry, answer, &reason))?;
            let result = json!({"action": answer.action.as_str(), "content": content});
            return Ok(Answered { entry, result });
        }
        Err(question.no_answer())
    }
}

impl Answer {
    fn resolve(answer: &ElicitationAnswer, resolver: &Resolver) -> Self {
        let value =
            |template: &Template| resolver.json(template).map_err(|failure| failure.message);
        let test = |test: &ExpectedTest| {
            Ok(match test {
                ExpectedTest::Equals(template) => Test::Equals(value(template)?),
                ExpectedTest::Contains(template) => {
                    let wanted = value(template)?;
                    is_something("contains", &wanted).map_err(|failure| failure.message)?;
                    Test::Contains(wanted)
                }
                ExpectedTest::Matches(regex) => Test::Matches(regex.clone()),
                // The reader lets no other check through.
                ExpectedTest::JsonSchema(_)
                | ExpectedTest::MaxMilliseconds(_)
                | ExpectedTest::Shows(_)
                | ExpectedTest::Lacks(_)
                | ExpectedTest::Elements(_) => {
                    return Err("`match` can't check that".to_owned());
                }
            })
        };
        Self {
            server: answer.question.server.clone(),
            tests: answer.question.tests.iter().map(test).collect(),
            action: answer.action,
            content: answer.content.as_ref().map(value).transpose(),
            span: answer.span,
        }
    }
}

impl Test {
    fn holds(&self, message: &Json) -> bool {
        match self {
            Self::Equals(wanted) => Predicate::Equals(wanted),
            Self::Contains(part) => Predicate::Contains(part),
            Self::Matches(regex) => Predicate::Matches(regex),
        }
        .misfits(message)
        .is_empty()
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Equals(left), Self::Equals(right))
            | (Self::Contains(left), Self::Contains(right)) => left == right,
            (Self::Matches(left), Self::Matches(right)) => left.as_str() == right.as_str(),
            _ => false,
        }
    }
}

/// A form that a server wants a user to fill in.
struct Question<'a> {
    server: &'a str,
    message: &'a Json,
    schema: &'a Json,
}

impl<'a> Question<'a> {
    fn read(server: &'a str, params: &'a Json) -> Result<Self, Unanswered> {
        let question = Self {
            server,
            message: &params["message"],
            schema: &params["requestedSchema"],
        };
        match params["mode"].as_str() {
            None | Some("form") => Ok(question),
            Some("url") => Err(Unanswered {
                kind: FailureKind::Unanswered,
                message: format!("{}, on a web page that a user must visit", question.asked()),
                help: "only forms can be answered; configure the server's credentials instead"
                    .to_owned(),
                span: None,
            }),
            Some(other) => Err(Unanswered {
                kind: FailureKind::Unanswered,
                message: format!(
                    "{}, in the unknown mode `{}`",
                    question.asked(),
                    cut(other, 40)
                ),
                help: "only forms can be answered".to_owned(),
                span: None,
            }),
        }
    }

    fn asked(&self) -> String {
        let message = cuecard_source::value::as_text(self.message);
        format!(
            "server `{}` asked `{}`",
            self.server,
            cut(message.trim(), LONGEST_QUESTION)
        )
    }

    fn properties(&self) -> impl Iterator<Item = (&'a String, &'a Json)> + use<'a> {
        self.schema["properties"].as_object().into_iter().flatten()
    }

    fn requires(&self, name: &str) -> bool {
        self.schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// The form as it is sent: what the scenario says, or the schema's defaults.
    ///
    /// # Errors
    /// Why it does not fit.
    fn fill(&self, content: Option<&Json>) -> Result<Json, String> {
        let filled = match content {
            Some(content) => content.clone(),
            None => Json::Object(
                self.properties()
                    .filter_map(|(name, property)| {
                        Some((name.clone(), property.get("default")?.clone()))
                    })
                    .collect(),
            ),
        };
        for name in self.schema["required"].as_array().into_iter().flatten() {
            let Some(name) = name.as_str().filter(|name| filled.get(name).is_none()) else {
                continue;
            };
            let lacks = match content {
                Some(_) => "`content` does not set it",
                None => "it has no default",
            };
            return Err(format!(
                "the field `{}` is required, and {lacks}",
                cut(name, 60)
            ));
        }
        if let Some(name) = self.unknown_field(&filled) {
            let names = self.properties().map(|(name, _)| name.as_str());
            let meant = match did_you_mean(name, names) {
                Some(meant) => format!("; did you mean `{meant}`?"),
                None => String::new(),
            };
            return Err(format!("the form has no field `{}`{meant}", cut(name, 60)));
        }
        if self.schema.is_object()
            && let Some(misfit) = Predicate::JsonSchema(self.schema).misfits(&filled).first()
        {
            let place = misfit.place.trim_start_matches('.');
            let field = match place {
                "" => String::new(),
                place => format!("`{place}`: "),
            };
            return Err(format!("{field}{}", misfit.reason));
        }
        Ok(filled)
    }

    /// A field that stands in no form of this schema.
    fn unknown_field<'f>(&self, filled: &'f Json) -> Option<&'f str> {
        let properties = self.schema["properties"].as_object()?;
        let mut names = filled.as_object()?.keys();
        names
            .find(|name| !properties.contains_key(*name))
            .map(String::as_str)
    }

    fn no_answer(&self) -> Unanswered {
        Unanswered {
            kind: FailureKind::Unanswered,
            message: format!("{}, and no entry of `answers` matches", self.asked()),
            help: format!(
                "add \"answers\": {{ \"elicitation\": [ {} ] }}",
                self.proposal()
            ),
            span: None,
        }
    }

    fn unfit(&self, entry: usize, answer: &Answer, reason: &str) -> Unanswered {
        Unanswered {
            kind: FailureKind::UnfitAnswer,
            message: format!(
                "{}, and answer {} does not match the form: {reason}",
                self.asked(),
                entry + 1
            ),
            help: format!("a valid answer: {}", self.proposal()),
            span: Some(answer.span),
        }
    }

    fn unresolved(&self, entry: usize, answer: &Answer, reason: &str) -> Unanswered {
        Unanswered {
            kind: FailureKind::UnfitAnswer,
            message: format!(
                "{}, and answer {} can't be sent: {reason}",
                self.asked(),
                entry + 1
            ),
            help: "an answer can refer to variables, and to outputs of steps that have already finished"
                .to_owned(),
            span: Some(answer.span),
        }
    }

    /// An entry of `answers.elicitation` for this question.
    fn proposal(&self) -> String {
        let message = cuecard_source::value::as_text(self.message);
        let line = message.lines().map(str::trim).find(|line| !line.is_empty());
        // Part of a line matches too, but may end inside of a secret, of which the rest would not be recognised.
        let test = match line {
            Some(line) if line.chars().count() <= LONGEST_QUESTION => json!(line),
            _ => json!({"server": self.server}),
        };
        let mut content = Map::new();
        let has_required = self.properties().any(|(name, _)| self.requires(name));
        for (name, property) in self.properties().take(MOST_FIELDS) {
            let is_needed = match has_required {
                true => self.requires(name),
                false => property.get("default").is_none(),
            };
            if is_needed {
                content.insert(name.clone(), sample(property));
            }
        }
        let what = match content.is_empty() {
            true => "\"action\": \"accept\"".to_owned(),
            false => format!("\"content\": {}", Json::Object(content)),
        };
        format!("{{ \"match\": {test}, {what} }}")
    }
}

/// A value that a property may have.
fn sample(property: &Json) -> Json {
    let first = |choices: &Json| -> Option<Json> {
        let choice = choices.as_array()?.first()?;
        Some(choice.get("const").unwrap_or(choice).clone())
    };
    let choice = |property: &Json| {
        ["enum", "oneOf", "anyOf"]
            .iter()
            .find_map(|key| first(&property[*key]))
    };
    if let Some(default) = property.get("default") {
        return default.clone();
    }
    if let Some(choice) = choice(property) {
        return choice;
    }
    match property["type"].as_str() {
        Some("boolean") => Json::Bool(true),
        Some("integer" | "number") => property.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("array") => Json::Array(choice(&property["items"]).into_iter().collect()),
        _ => json!("…"),
    }
}

#[cfg(test)]
mod tests;

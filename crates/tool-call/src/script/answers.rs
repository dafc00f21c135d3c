//! The scenario's answers to a server's questions, with every reference filled in as far as it can be now.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use regex::Regex;
use serde_json::json;

use super::resolve::Resolver;
use super::results::is_something;
use super::{Bindings, FailureKind};
use crate::model::{
    AnswerEntry, AnswerPlace, ElicitationAction, QuestionKind, Reply, Template, ToolCallScenario,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::matching::Predicate;
use cuecard_source::value::{Json, as_text, cut, percent_encoded};

/// The longest question shown in a message, in characters.
const LONGEST_QUESTION: usize = 200;

/// What servers are answered that ask something.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadyAnswers {
    entries: Vec<Answer>,
}

/// One entry; a reference without a value is an error only when the entry is needed.
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    place: AnswerPlace,
    server: Option<String>,
    model: Option<String>,
    tests: Result<Vec<Test>, String>,
    reply: Result<ReadyReply, String>,
    span: Span,
}

#[derive(Debug, Clone, PartialEq)]
enum ReadyReply {
    /// The protocol's result.
    Result(Json),
    /// An accepted form with these values; without them it has its defaults.
    Form(Option<Json>),
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Equals(Json),
    Contains(Json),
    /// A pattern that was read as one.
    Matches(String),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The entry that answers.
    pub place: AnswerPlace,
    /// The protocol's result.
    pub result: Json,
}

/// Why there is no answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Unanswered {
    /// [`FailureKind::Unanswered`] or [`FailureKind::UnfitAnswer`].
    pub kind: FailureKind,
    /// Whether the scenario answers other questions of this kind, so that the server was told that it may ask them.
    pub is_offered: bool,
    /// What was asked and why it isn't answered, in a sentence without a full stop. Holds no answer.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where the entry stands that does not fit.
    pub span: Option<Span>,
}

impl ReadyAnswers {
    /// The answers before any step has run.
    pub fn at_start(scenario: &ToolCallScenario, bindings: &Bindings) -> Self {
        match scenario.answers.is_empty() {
            true => Self::default(),
            false => {
                let resolver = Resolver::new(Arc::new(scenario.clone()), bindings.clone());
                Self::resolve(&scenario.answers, &resolver)
            }
        }
    }

    pub(super) fn resolve(answers: &[AnswerEntry], resolver: &Resolver) -> Self {
        let entries = answers.iter();
        Self {
            entries: entries
                .map(|entry| Answer::resolve(entry, resolver))
                .collect(),
        }
    }

    /// The places of all answers, in order.
    pub fn places(&self) -> impl Iterator<Item = AnswerPlace> + '_ {
        self.entries.iter().map(|entry| entry.place)
    }

    /// Whether `server` may be told that questions of this kind are answered.
    pub fn offers(&self, kind: QuestionKind, server: &str) -> bool {
        self.entries_for(kind, server).next().is_some()
    }

    fn entries_for(&self, kind: QuestionKind, server: &str) -> impl Iterator<Item = &Answer> {
        self.entries.iter().filter(move |entry| {
            entry.place.kind == kind && entry.server.as_deref().is_none_or(|only| only == server)
        })
    }

    /// The answer to a question of `server` with the `params` of its request.
    ///
    /// # Errors
    /// Why there is none.
    pub fn answer(
        &self,
        kind: QuestionKind,
        server: &str,
        params: &Json,
    ) -> Result<Answered, Unanswered> {
        let question = Question {
            kind,
            server,
            is_offered: self.offers(kind, server),
            message: message(kind, params),
            params,
        };
        question.check_mode()?;
        for answer in self.entries_for(kind, server) {
            let tests = answer
                .tests
                .as_ref()
                .map_err(|reason| question.unresolved(answer, reason))?;
            if !question.wants_model(answer.model.as_deref())
                || !tests.iter().all(|test| test.holds(&question.message))
            {
                continue;
            }
            let reply = answer
                .reply
                .as_ref()
                .map_err(|reason| question.unresolved(answer, reason))?;
            let result = match reply {
                ReadyReply::Result(result) => result.clone(),
                ReadyReply::Form(content) => {
                    let content = question
                        .fill(content.as_ref())
                        .map_err(|reason| question.unfit(answer, &reason))?;
                    json!({"action": ElicitationAction::Accept.as_str(), "content": content})
                }
            };
            return Ok(Answered {
                place: answer.place,
                result,
            });
        }
        Err(question.no_answer())
    }
}

impl Answer {
    fn resolve(entry: &AnswerEntry, resolver: &Resolver) -> Self {
        let AnswerEntry {
            question, reply, ..
        } = entry;
        let value =
            |template: &Template| resolver.json(template).map_err(|failure| failure.message);
        let contains = question.contains.iter().map(|text| {
            let wanted = value(text)?;
            is_something("contains", &wanted).map_err(|failure| failure.message)?;
            Ok(Test::Contains(wanted))
        });
        let equals = question
            .equals
            .iter()
            .map(|text| value(text).map(Test::Equals));
        let matches = question
            .matches
            .iter()
            .map(|it| Ok(Test::Matches(it.0.as_str().to_owned())));
        let tests = contains.chain(equals).chain(matches).collect();
        let reply = match reply {
            Reply::Roots(template) => value(template)
                .map(|roots| ReadyReply::Result(roots_result(roots, resolver.working_directory()))),
            Reply::Sampling(template) => value(template).map(ReadyReply::Result),
            Reply::Elicitation {
                action: ElicitationAction::Accept,
                content,
            } => content
                .as_ref()
                .map(value)
                .transpose()
                .map(ReadyReply::Form),
            Reply::Elicitation { action, .. } => {
                Ok(ReadyReply::Result(json!({"action": action.as_str()})))
            }
        };
        Self {
            place: entry.place,
            server: question.server.clone(),
            model: question.model.clone(),
            tests,
            reply,
            span: entry.span,
        }
    }
}

/// The result of `roots/list`, whose URIs may be paths until now.
fn roots_result(mut roots: Json, directory: &Path) -> Json {
    for root in roots.as_array_mut().into_iter().flatten() {
        root["uri"] = file_uri(&as_text(&root["uri"]), directory).into();
    }
    json!({ "roots": roots })
}

/// The URI of a path, which begins in `directory` if it is relative. A URI stays as it is.
fn file_uri(path: &str, directory: &Path) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let mut absolute = PathBuf::new();
    for part in directory.join(path).components() {
        match part {
            Component::ParentDir => {
                absolute.pop();
            }
            part => absolute.push(part),
        }
    }
    let path = percent_encoded(absolute.as_os_str().as_encoded_bytes());
    format!("file://{path}")
}

impl Test {
    fn holds(&self, message: &Json) -> bool {
        let holds = |predicate: Predicate<'_>| predicate.misfits(message).is_empty();
        match self {
            Self::Equals(wanted) => holds(Predicate::Equals(wanted)),
            Self::Contains(part) => holds(Predicate::Contains(part)),
            Self::Matches(pattern) => {
                Regex::new(pattern).is_ok_and(|regex| holds(Predicate::Matches(&regex)))
            }
        }
    }
}

/// A question of a server's.
struct Question<'a> {
    kind: QuestionKind,
    server: &'a str,
    is_offered: bool,
    /// What is asked: of a request to a model, the text of the user's last message.
    message: Cow<'a, Json>,
    params: &'a Json,
}

fn message(kind: QuestionKind, params: &Json) -> Cow<'_, Json> {
    if kind != QuestionKind::Sampling {
        return Cow::Borrowed(&params["message"]);
    }
    let messages = params["messages"].as_array().into_iter().flatten();
    let is_user = |message: &&Json| message["role"] == "user";
    let last = messages.rev().find(is_user);
    let mut texts = Vec::new();
    collect_texts(
        last.map_or(&Json::Null, |message| &message["content"]),
        &mut texts,
    );
    Cow::Owned(texts.join("\n").into())
}

/// The texts of content blocks, those of the results of tools included.
fn collect_texts<'a>(content: &'a Json, texts: &mut Vec<&'a str>) {
    match content {
        Json::Array(blocks) => blocks.iter().for_each(|block| collect_texts(block, texts)),
        Json::Object(block) => {
            texts.extend(block.get("text").and_then(Json::as_str));
            if let Some(content) = block.get("content") {
                collect_texts(content, texts);
            }
        }
        _ => {}
    }
}

impl<'a> Question<'a> {
    /// Refuses what only a user can answer.
    fn check_mode(&self) -> Result<(), Unanswered> {
        let (how, help) = match self.params["mode"].as_str() {
            None | Some("form") => return Ok(()),
            Some("url") => (
                "on a web page that a user must visit".to_owned(),
                "only forms can be answered; configure the server's credentials instead",
            ),
            Some(other) => (
                format!("in the unknown mode `{}`", cut(other, 40)),
                "only forms can be answered",
            ),
        };
        let message = format!("{}, {how}", self.asked());
        Err(self.unanswered(FailureKind::Unanswered, message, help.to_owned(), None))
    }

    /// Whether the server prefers a model whose name has `part`.
    fn wants_model(&self, part: Option<&str>) -> bool {
        let hints = self.params["modelPreferences"]["hints"].as_array();
        let mut names = hints
            .into_iter()
            .flatten()
            .filter_map(|hint| hint["name"].as_str());
        part.is_none_or(|part| names.any(|name| name.contains(part)))
    }

    fn asked(&self) -> String {
        let what = match self.kind {
            QuestionKind::Roots => return format!("server `{}` asked for roots", self.server),
            QuestionKind::Sampling => "asked a model",
            QuestionKind::Elicitation => "asked",
        };
        let message = as_text(&self.message);
        let message = cut(message.trim(), LONGEST_QUESTION);
        match message.is_empty() {
            true => format!("server `{}` {what}", self.server),
            false => format!("server `{}` {what} `{message}`", self.server),
        }
    }

    fn schema(&self) -> &'a Json {
        &self.params["requestedSchema"]
    }

    fn properties(&self) -> impl Iterator<Item = (&'a String, &'a Json)> + use<'a> {
        self.schema()["properties"]
            .as_object()
            .into_iter()
            .flatten()
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
        for name in self.schema()["required"].as_array().into_iter().flatten() {
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
        if self.schema().is_object()
            && let Some(misfit) = Predicate::JsonSchema(self.schema())
                .misfits(&filled)
                .first()
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
        let properties = self.schema()["properties"].as_object()?;
        let mut names = filled.as_object()?.keys();
        names
            .find(|name| !properties.contains_key(*name))
            .map(String::as_str)
    }

    fn no_answer(&self) -> Unanswered {
        let message = format!("{}, and no entry of `answers` matches", self.asked());
        let help = format!(
            "add \"answers\": {{ \"{}\": [ {} ] }}",
            self.kind.key(),
            self.entry()
        );
        self.unanswered(FailureKind::Unanswered, message, help, None)
    }

    /// An entry for this question, in which a form has the fields that it requires.
    fn entry(&self) -> String {
        let fields = self.schema()["required"].as_array().into_iter().flatten();
        let fields = fields.filter_map(|name| Some(format!("\"{}\": …", cut(name.as_str()?, 60))));
        let fields: Vec<String> = fields.collect();
        match fields.is_empty() {
            true => self.kind.general_entry().to_owned(),
            false => format!("{{ \"content\": {{ {} }} }}", fields.join(", ")),
        }
    }

    fn unfit(&self, answer: &Answer, reason: &str) -> Unanswered {
        let number = answer.place.idx + 1;
        let message = format!(
            "{}, and answer {number} does not match the form: {reason}",
            self.asked()
        );
        let fields: Vec<_> = self.properties().map(|(name, _)| cut(name, 60)).collect();
        let help = format!("the form's fields are: {}", fields.join(", "));
        self.unanswered(FailureKind::UnfitAnswer, message, help, Some(answer.span))
    }

    fn unresolved(&self, answer: &Answer, reason: &str) -> Unanswered {
        let number = answer.place.idx + 1;
        let message = format!(
            "{}, and answer {number} can't be sent: {reason}",
            self.asked()
        );
        let help =
            "an answer can refer to variables, and to outputs of steps that have already finished";
        self.unanswered(
            FailureKind::UnfitAnswer,
            message,
            help.to_owned(),
            Some(answer.span),
        )
    }

    fn unanswered(
        &self,
        kind: FailureKind,
        message: String,
        help: String,
        span: Option<Span>,
    ) -> Unanswered {
        Unanswered {
            kind,
            is_offered: self.is_offered,
            message,
            help,
            span,
        }
    }
}

#[cfg(test)]
mod tests;

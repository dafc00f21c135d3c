//! What a scenario answers when a server asks something.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Map;

use super::{Pattern, Placeholder, Template, Text, TextPart};
use crate::format::members;
use cuecard_source::Span;
use cuecard_source::decode::Spanned;
use cuecard_source::value::Json;

/// What to answer when a server asks something during a call.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub(crate) struct Answers {
    /// The folders that servers may ask for, as paths or URIs.
    roots: Option<Spanned<Vec<Root>>>,
    /// Responses of a model to sampling requests; the first matching one is used.
    sampling: Vec<Spanned<SamplingAnswer>>,
    /// Answers to elicitation requests; the first matching one is used.
    elicitation: Vec<Spanned<ElicitationAnswer>>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "Root", untagged)]
enum Root {
    String(Text),
    Object(RootFolder),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct RootFolder {
    /// Its URI, or its path.
    uri: Text,
    /// Its name for people.
    name: Option<Text>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct SamplingAnswer {
    /// Which requests it is for: a text in the last message of the user, or an object (default: all).
    #[serde(rename = "match", default, deserialize_with = "question")]
    #[schemars(with = "Option<MatchForm>")]
    question: QuestionMatch,
    /// What the model responds: a text, or an object.
    reply: SamplingReply,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "SamplingReply", untagged)]
enum SamplingReply {
    String(Text),
    Object(SamplingResponse),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct SamplingResponse {
    /// A text, a content block, or an array of content blocks.
    content: Content,
    /// The name of the model (default: mock).
    model: Option<Text>,
    /// Why the model stopped (default: endTurn).
    #[serde(rename = "stopReason")]
    stop_reason: Option<Text>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "Content", untagged)]
enum Content {
    String(Text),
    #[schemars(with = "Map<String, Json>")]
    Object(Template),
    #[schemars(with = "Vec<Json>")]
    Array(Template),
}

/// An answer to a form, or to a URL to open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub(crate) struct ElicitationAnswer {
    /// Which questions it is for: a text in the question's message, or an object (default: all).
    #[serde(rename = "match", default, deserialize_with = "question")]
    #[schemars(with = "Option<MatchForm>")]
    question: QuestionMatch,
    /// What the user does (default: accept).
    pub(crate) action: Option<ElicitationAction>,
    /// The form values to submit; without it, an accepted form uses its defaults.
    #[serde(default, deserialize_with = "optional_members")]
    #[schemars(with = "Option<Map<String, Json>>")]
    pub(crate) content: Option<Template>,
}

fn optional_members<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Template>, D::Error> {
    members(value).map(Some)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "Match", untagged)]
enum MatchForm {
    String(Text),
    Object(QuestionMatch),
}

fn question<'de, D: Deserializer<'de>>(value: D) -> Result<QuestionMatch, D::Error> {
    Ok(match MatchForm::deserialize(value)? {
        MatchForm::String(contains) => QuestionMatch {
            contains: Some(contains),
            ..QuestionMatch::default()
        },
        MatchForm::Object(question) => question,
    })
}

impl Answers {
    /// The entries: all roots, each answer to sampling, each to elicitation.
    pub(crate) fn into_entries(self) -> Vec<AnswerEntry> {
        let roots = self.roots.into_iter().map(|Spanned { span, value }| {
            let all = value.into_iter().map(Root::into_object).collect();
            let reply = Reply::Roots(Template::Array(all));
            (
                QuestionKind::Roots,
                0,
                QuestionMatch::default(),
                reply,
                span,
            )
        });
        let sampling = self.sampling.into_iter().enumerate();
        let sampling = sampling.map(|(idx, Spanned { span, value })| {
            let reply = Reply::Sampling(value.reply.into_result());
            (QuestionKind::Sampling, idx, value.question, reply, span)
        });
        let elicitation = self.elicitation.into_iter().enumerate();
        let elicitation = elicitation.map(|(idx, Spanned { span, value })| {
            let reply = Reply::Elicitation {
                action: value.action.unwrap_or_default(),
                content: value.content,
            };
            (QuestionKind::Elicitation, idx, value.question, reply, span)
        });
        let entries = roots.chain(sampling).chain(elicitation);
        let entries = entries.map(|(kind, idx, question, reply, span)| AnswerEntry {
            place: AnswerPlace { kind, idx },
            question,
            reply,
            span,
        });
        entries.collect()
    }
}

impl Root {
    fn into_object(self) -> Template {
        match self {
            Self::String(uri) => object([("uri", Some(uri))]),
            Self::Object(RootFolder { uri, name }) => object([("uri", Some(uri)), ("name", name)]),
        }
    }
}

impl SamplingReply {
    fn into_result(self) -> Template {
        let (content, model, stop_reason) = match self {
            Self::String(text) => (Content::String(text), None, None),
            Self::Object(reply) => (reply.content, reply.model, reply.stop_reason),
        };
        let content = match content {
            Content::String(text) => object([("type", Some(word("text"))), ("text", Some(text))]),
            Content::Object(blocks) | Content::Array(blocks) => blocks,
        };
        object([
            ("role", Some(word("assistant"))),
            ("content", Some(Text(content))),
            ("model", model.or_else(|| Some(word("mock")))),
            ("stopReason", stop_reason.or_else(|| Some(word("endTurn")))),
        ])
    }
}

fn word(text: &str) -> Text {
    Text(Template::Literal(text.into()))
}

/// An object of the members that there are. A reference alone stays a text whatever it refers to.
fn object<const N: usize>(members: [(&str, Option<Text>); N]) -> Template {
    let members = members.into_iter().filter_map(|(key, value)| {
        let value = match value?.0 {
            Template::Reference(placeholder) => {
                Template::Text(vec![TextPart::Reference(*placeholder)])
            }
            template => template,
        };
        Some((Template::Literal(key.into()), value))
    });
    Template::Object(members.collect())
}

/// A kind of question that servers ask their client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// For the folders to work in.
    Roots,
    /// For the response of a model.
    Sampling,
    /// For a form that a user fills in.
    Elicitation,
}

impl QuestionKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Roots, Self::Sampling, Self::Elicitation];

    /// The key in `answers`, and the name of the client's capability.
    pub fn key(self) -> &'static str {
        match self {
            Self::Roots => "roots",
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
        }
    }

    /// The method of the request.
    pub fn method(self) -> &'static str {
        match self {
            Self::Roots => "roots/list",
            Self::Sampling => "sampling/createMessage",
            Self::Elicitation => "elicitation/create",
        }
    }

    /// The kind of the requests with this method; `None` for other requests.
    pub fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// An entry of `answers` that answers any question of this kind, as far as one can.
    pub fn general_entry(self) -> &'static str {
        match self {
            Self::Roots => "\".\"",
            Self::Sampling => "{ \"reply\": \"…\" }",
            Self::Elicitation => "{ \"action\": \"accept\" }",
        }
    }
}

/// One entry of `answers`; all of `roots` is one. The first that matches a question answers it.
#[derive(Debug, Clone)]
pub struct AnswerEntry {
    /// Where it stands among the answers.
    pub place: AnswerPlace,
    /// Which questions it is for.
    pub question: QuestionMatch,
    /// What it answers.
    pub reply: Reply,
    /// Where it stands in the file.
    pub span: Span,
}

/// The place of an entry among the answers of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnswerPlace {
    /// The kind of question that it answers.
    pub kind: QuestionKind,
    /// Which one of its kind, from 0.
    pub idx: usize,
}

impl AnswerPlace {
    /// The JSON pointer to it.
    pub fn pointer(self) -> String {
        match self.kind {
            QuestionKind::Roots => "/answers/roots".to_owned(),
            kind => format!("/answers/{}/{}", kind.key(), self.idx),
        }
    }
}

impl fmt::Display for AnswerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.kind.key();
        match self.kind {
            QuestionKind::Roots => write!(f, "`answers.{key}`"),
            _ => write!(f, "answer {} of `answers.{key}`", self.idx + 1),
        }
    }
}

/// What an entry answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// An array of objects with `uri`, which may also be a path, and `name`.
    Roots(Template),
    /// The result of the protocol: an object with `role`, `content`, `model` and `stopReason`.
    Sampling(Template),
    /// What the user would do with a form.
    Elicitation {
        /// What the user would do.
        action: ElicitationAction,
        /// What the user would fill in: an object. Without it an accepted form has its defaults.
        content: Option<Template>,
    },
}

/// All of it must hold; without anything it fits every question.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct QuestionMatch {
    /// A text in the message.
    pub contains: Option<Text>,
    /// The whole message.
    pub equals: Option<Text>,
    /// A regular expression that the message must match.
    pub matches: Option<Pattern>,
    /// The only server whose requests it is for.
    pub server: Option<String>,
    /// For sampling, a text in one of the model names that the server prefers.
    pub model: Option<String>,
}

/// What the user would do with the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ElicitationAction {
    /// Fill in the form and send it.
    #[default]
    Accept,
    /// Say no.
    Decline,
    /// Close the form without a choice.
    Cancel,
}

impl ElicitationAction {
    /// The word in scenarios and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl AnswerEntry {
    /// Calls `visit` with every reference.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        let question = &self.question;
        for text in question.contains.iter().chain(&question.equals) {
            text.for_each_placeholder(visit);
        }
        match &self.reply {
            Reply::Roots(template) | Reply::Sampling(template) => {
                template.for_each_placeholder(visit);
            }
            Reply::Elicitation { content, .. } => {
                if let Some(content) = content {
                    content.for_each_placeholder(visit);
                }
            }
        }
    }
}

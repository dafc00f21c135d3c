//! JSON with references in it: `{{NAME}}`, `{{step_id.output.a[0].b}}`, `{{NAME | default("x")}}`.

use std::ops::Deref;
use std::sync::Arc;

use cuecard_source::Span;
use cuecard_source::value::Json;

/// JSON with references in it.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    /// Nothing to fill in here or below.
    Literal(Json),
    /// A string that is exactly one reference: it becomes the value, of whatever type.
    Reference(Box<Placeholder>),
    /// A string with references inside.
    Text(Vec<TextPart>),
    /// An array with a reference somewhere.
    Array(Vec<Template>),
    /// An object with a reference somewhere, in a key or a value.
    Object(Vec<(Template, Template)>),
}

impl Template {
    /// Calls `visit` with every reference, in the order of the text.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        match self {
            Self::Literal(_) => {}
            Self::Reference(placeholder) => visit(placeholder),
            Self::Text(parts) => {
                for part in parts {
                    if let TextPart::Reference(placeholder) = part {
                        visit(placeholder);
                    }
                }
            }
            Self::Array(items) => items
                .iter()
                .for_each(|item| item.for_each_placeholder(visit)),
            Self::Object(members) => {
                for (key, value) in members {
                    key.for_each_placeholder(visit);
                    value.for_each_placeholder(visit);
                }
            }
        }
    }

    /// The member called `name`, if this is an object and its key holds no reference.
    pub fn member(&self, name: &str) -> Option<MemberRef<'_>> {
        match self {
            Self::Literal(Json::Object(members)) => members.get(name).map(MemberRef::Literal),
            Self::Object(members) => members
                .iter()
                .find(|(key, _)| matches!(key, Self::Literal(Json::String(text)) if text == name))
                .map(|(_, value)| match value {
                    Self::Literal(json) => MemberRef::Literal(json),
                    template => MemberRef::Template(template),
                }),
            _ => None,
        }
    }
}

/// A string with references in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Text(pub Template);

impl Deref for Text {
    type Target = Template;

    fn deref(&self) -> &Template {
        &self.0
    }
}

/// A member of a template: known now, or only when it is filled in.
#[derive(Debug, Clone, Copy)]
pub enum MemberRef<'a> {
    /// Plain JSON.
    Literal(&'a Json),
    /// Something with a reference in it.
    Template(&'a Template),
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub enum TextPart {
    /// Characters as they are.
    Literal(String),
    /// A reference.
    Reference(Placeholder),
}

/// One `{{…}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Placeholder {
    /// What it refers to.
    pub reference: Reference,
    /// What stands in when there is nothing.
    pub default: Option<Json>,
    /// Where it stands, braces included.
    pub span: Span,
}

impl Placeholder {
    /// The reference with its default, without braces.
    pub fn written(&self) -> Arc<str> {
        match &self.default {
            Some(default) => format!("{} | default({default})", self.reference.text).into(),
            None => self.reference.text.clone(),
        }
    }
}

/// What a `{{…}}` refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The first name: a variable, or the id of a step.
    pub name: String,
    /// The way into it.
    pub path: Vec<PathSegment>,
    /// All of it as written, without spaces, braces and default.
    pub text: Arc<str>,
}

/// One step of a way into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSegment {
    /// `.name` or `["name"]`.
    Key(String),
    /// `[0]`.
    Index(usize),
    /// `[-1]`: 1 is the last element.
    FromEnd(usize),
}

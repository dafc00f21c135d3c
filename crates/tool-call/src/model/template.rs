//! JSON with references in it: `{{NAME}}`, `{{step_id.output.a[0].b}}`, `{{NAME | default("x")}}`.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::Arc;

use cuecard_source::Span;
use cuecard_source::value::{Json, Mark, Origin, Value, as_text, push_pointer};

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
    pub fn member(&self, name: &str) -> Option<Cow<'_, Self>> {
        match self {
            Self::Literal(Json::Object(members)) => {
                let value = members.get(name)?;
                Some(Cow::Owned(Self::Literal(value.clone())))
            }
            Self::Object(members) => {
                let is_key =
                    |key: &Self| matches!(key, Self::Literal(Json::String(text)) if text == name);
                let (_, value) = members.iter().find(|(key, _)| is_key(key))?;
                Some(Cow::Borrowed(value))
            }
            _ => None,
        }
    }
}

/// What a reference stands for, and where that came from.
pub type Found<'a> = (Cow<'a, Json>, Origin);

/// The key that two members of an object get from their references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey(pub String);

impl Template {
    /// Returns the value with what `find` gives for each reference, and the marks of what was filled in. One pass: what is
    /// filled in is never read for references again.
    ///
    /// # Errors
    /// Those of `find`, or a key that an object would have twice.
    pub fn fill<'a, E: From<DuplicateKey>>(
        &'a self,
        mut find: impl FnMut(&'a Placeholder) -> Result<Found<'a>, E>,
    ) -> Result<Value, E> {
        let mut filler = Filler {
            find: &mut find,
            pointer: String::new(),
            marks: Vec::new(),
        };
        let json = Arc::new(filler.value(self)?);
        let marks = filler.marks;
        Ok(Value { json, marks })
    }
}

struct Filler<'f, 'a, E> {
    find: &'f mut dyn FnMut(&'a Placeholder) -> Result<Found<'a>, E>,
    /// Where the value is that is filled in.
    pointer: String,
    marks: Vec<Mark>,
}

impl<'a, E: From<DuplicateKey>> Filler<'_, 'a, E> {
    fn value(&mut self, template: &'a Template) -> Result<Json, E> {
        match template {
            Template::Literal(json) => Ok(json.clone()),
            Template::Reference(placeholder) => {
                let (value, origin) = (self.find)(placeholder)?;
                self.mark(placeholder, &value, origin, None);
                Ok(value.into_owned())
            }
            Template::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        TextPart::Literal(literal) => text.push_str(literal),
                        TextPart::Reference(placeholder) => {
                            let (value, origin) = (self.find)(placeholder)?;
                            let start = text.len();
                            text.push_str(&as_text(&value));
                            self.mark(placeholder, &value, origin, Some(start..text.len()));
                        }
                    }
                }
                Ok(Json::String(text))
            }
            Template::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(idx, item)| self.below(&idx.to_string(), item));
                Ok(Json::Array(items.collect::<Result<_, _>>()?))
            }
            Template::Object(members) => {
                let mut filled = serde_json::Map::with_capacity(members.len());
                for (key, value) in members {
                    let key = self.key(key)?;
                    let value = self.below(&key, value)?;
                    if filled.insert(key.clone(), value).is_some() {
                        return Err(DuplicateKey(key).into());
                    }
                }
                Ok(Json::Object(filled))
            }
        }
    }

    fn below(&mut self, step: &str, template: &'a Template) -> Result<Json, E> {
        let length = self.pointer.len();
        push_pointer(&mut self.pointer, step);
        let value = self.value(template);
        self.pointer.truncate(length);
        value
    }

    fn key(&mut self, key: &'a Template) -> Result<String, E> {
        let n_marks = self.marks.len();
        let text = as_text(&self.value(key)?).into_owned();
        let mut data = self.marks.split_off(n_marks).into_iter();
        let data = data.find(|mark| !mark.origin.is_trusted());
        // A mark is about a value, so data in a key makes the whole object data. If it chose a parameter, what that gets is
        // data: the others are not its.
        let mut pointer = self.pointer.clone();
        if pointer.is_empty() {
            push_pointer(&mut pointer, &text);
        }
        self.marks.extend(data.map(|mark| Mark {
            pointer,
            range: None,
            ..mark
        }));
        Ok(text)
    }

    fn mark(
        &mut self,
        placeholder: &Placeholder,
        value: &Json,
        origin: Origin,
        range: Option<Range<usize>>,
    ) {
        self.marks.push(Mark {
            pointer: self.pointer.clone(),
            range,
            origin,
            is_string: value.is_string(),
            reference: placeholder.written(),
        });
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

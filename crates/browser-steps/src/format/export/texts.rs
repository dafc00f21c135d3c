//! Texts with references to variables, in other languages.

use std::fmt::Write as _;

use crate::model::StepsFile;
use cuecard_page::references;
use cuecard_source::value::{Json, as_text};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Signs as they are.
    Literal(&'a str),
    /// The name of a variable, and what stands in for it if it has no value.
    Variable(&'a str, Option<String>),
}

/// The names that texts may refer to.
#[derive(Debug)]
pub(super) struct Names<'a> {
    names: Vec<&'a str>,
    file: &'a StepsFile,
}

impl<'a> Names<'a> {
    pub(super) fn of(file: &'a StepsFile) -> Self {
        let mut names: Vec<&str> = file.variables.keys().map(String::as_str).collect();
        let secrets = file.secrets.iter().map(String::as_str);
        names.extend(secrets.filter(|name| !file.variables.contains_key(*name)));
        names.retain(|name| is_name(name));
        Self { names, file }
    }

    /// In the order of the file.
    pub(super) fn all(&self) -> &[&'a str] {
        &self.names
    }

    /// A text apart from its references; braces around anything else are signs like others.
    pub(super) fn parts<'t>(&self, text: &'t str) -> Vec<Part<'t>> {
        let mut parts = Vec::new();
        let mut start = 0;
        for reference in references(text) {
            if !self.names.contains(&reference.name) {
                continue;
            }
            if start < reference.range.start {
                parts.push(Part::Literal(&text[start..reference.range.start]));
            }
            parts.push(Part::Variable(reference.name, reference.default));
            start = reference.range.end;
        }
        if start < text.len() {
            parts.push(Part::Literal(&text[start..]));
        }
        parts
    }

    pub(super) fn has_references(&self, text: &str) -> bool {
        let parts = self.parts(text);
        parts.iter().any(|part| matches!(part, Part::Variable(..)))
    }

    /// With the defaults of its variables; none if one has no default.
    pub(super) fn resolved(&self, text: &str) -> Option<String> {
        self.parts(text)
            .into_iter()
            .map(|part| match part {
                Part::Literal(literal) => Some(literal.to_owned()),
                Part::Variable(name, default) => {
                    let value = self.file.variables.get(name);
                    let value = value.filter(|value| !value.is_null());
                    value.map(|value| as_text(value).into_owned()).or(default)
                }
            })
            .collect()
    }

    /// As tool-call scenarios write it: references stay, and other double braces are marked as text.
    pub(super) fn template(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        for part in self.parts(text) {
            match part {
                Part::Literal(literal) => {
                    written.push_str(&literal.replace("{{", "{{\"{{\"}}"));
                }
                Part::Variable(name, None) => {
                    let _ = write!(written, "{{{{{name}}}}}");
                }
                Part::Variable(name, Some(default)) => {
                    let _ = write!(written, "{{{{{name} | default({})}}}}", quoted(&default));
                }
            }
        }
        written
    }

    fn variable(&self, name: &str, default: Option<&str>) -> String {
        let value = self.file.variables.get(name);
        match default.filter(|_| value.is_none_or(Json::is_null)) {
            Some(default) => {
                let default = literal_of(default);
                format!("(process.env.CUECARD_VAR_{name} ?? {default})")
            }
            None => format!("variables.{name}"),
        }
    }

    /// As an expression of JavaScript.
    pub(super) fn script(&self, text: &str) -> String {
        let parts = self.parts(text);
        match parts.as_slice() {
            [] => "\"\"".to_owned(),
            [Part::Literal(literal)] => literal_of(literal),
            [Part::Variable(name, default)] => self.variable(name, default.as_deref()),
            parts => {
                let mut written = "`".to_owned();
                for part in parts {
                    match part {
                        Part::Literal(literal) => written.push_str(
                            &literal
                                .replace('\\', "\\\\")
                                .replace('`', "\\`")
                                .replace("${", "\\${"),
                        ),
                        Part::Variable(name, default) => {
                            let _ =
                                write!(written, "${{{}}}", self.variable(name, default.as_deref()));
                        }
                    }
                }
                written.push('`');
                written
            }
        }
    }
}

/// Whether a name is one that every language has for a variable.
fn is_name(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && name
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
}

/// A text as a literal of JavaScript of every age, and of JSON.
pub(super) fn quoted(text: &str) -> String {
    Json::from(text)
        .to_string()
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// A text as people write a literal of JavaScript: in single quotes if it has double ones.
pub(super) fn literal_of(text: &str) -> String {
    let is_plain = text
        .chars()
        .all(|sign| !sign.is_control() && !"'\\\u{2028}\u{2029}".contains(sign));
    match text.contains('"') && is_plain {
        true => format!("'{text}'"),
        false => quoted(text),
    }
}

/// A pattern as a literal of JavaScript.
pub(super) fn pattern_of(source: &str, folds_case: bool) -> String {
    let flag = if folds_case { "i" } else { "" };
    if source.is_empty() || source.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return format!("new RegExp({}, \"{flag}\")", quoted(source));
    }
    let mut written = String::with_capacity(source.len());
    let mut is_escaped = false;
    for sign in source.chars() {
        if sign == '/' && !is_escaped {
            written.push('\\');
        }
        is_escaped = sign == '\\' && !is_escaped;
        written.push(sign);
    }
    format!("/{written}/{flag}")
}

/// A text as a part of a pattern that matches just that.
pub(super) fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for sign in text.chars() {
        if "\\^$.*+?()[]{}|".contains(sign) {
            written.push('\\');
        }
        written.push(sign);
    }
    written
}

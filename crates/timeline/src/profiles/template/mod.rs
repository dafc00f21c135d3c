//! Texts with placeholders for the arguments of a call, as profiles have them.

mod backwards;
#[cfg(test)]
mod tests;

use super::shell;
use cuecard_source::value::{Json, as_text};

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Placeholder(Placeholder),
    /// Left out where an argument in it is absent or false.
    Optional(Vec<Part>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Placeholder {
    argument: String,
    form: Form,
}

/// How an argument stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// As it is.
    Raw,
    /// As one word of a shell.
    Word,
    /// As one word of a shell that is no option.
    File,
    /// As a whole number; anything else as one word of a shell.
    Number,
    /// As JSON.
    Json,
    /// Each of its lines after this text.
    Lines(String),
    /// This text instead of it.
    Flag(String),
    /// As a command that puts it into the file that another argument names.
    Into(shell::Way, String),
    /// As a command that runs in the folder that another argument names.
    In(String),
}

impl Template {
    /// Reads a plain text, in which `{x}` is the argument as it stands.
    pub(super) fn plain(text: &str) -> Result<Self, String> {
        parts(text, &Form::Raw).map(|parts| Self { parts })
    }

    /// Reads a shell command, in which `{x}` is one quoted word.
    pub(super) fn shell(text: &str) -> Result<Self, String> {
        parts(text, &Form::Word).map(|parts| Self { parts })
    }

    /// The arguments it uses.
    pub(super) fn arguments(&self) -> Vec<&str> {
        let mut found = Vec::new();
        collect(&self.parts, &mut found);
        found
    }

    /// The text for `args`; the name of an argument that is missing, if one is.
    pub(super) fn render(&self, args: &Json) -> Result<String, String> {
        let mut text = String::new();
        render(&self.parts, args, &mut text)?;
        Ok(text)
    }

    /// The arguments and their values, if `text` is what this template makes of them.
    pub(super) fn invert(&self, text: &str) -> Option<serde_json::Map<String, Json>> {
        backwards::read(&self.parts, text)
    }
}

fn collect<'t>(parts: &'t [Part], found: &mut Vec<&'t str>) {
    for part in parts {
        match part {
            Part::Literal(_) => {}
            Part::Placeholder(placeholder) => {
                found.push(&placeholder.argument);
                if let Form::Into(_, other) | Form::In(other) = &placeholder.form {
                    found.push(other);
                }
            }
            Part::Optional(inner) => collect(inner, found),
        }
    }
}

fn render(parts: &[Part], args: &Json, to: &mut String) -> Result<(), String> {
    for part in parts {
        match part {
            Part::Literal(text) => to.push_str(text),
            Part::Placeholder(placeholder) => {
                let value = argument(args, &placeholder.argument)?;
                match &placeholder.form {
                    Form::Json => to.push_str(&args[&placeholder.argument].to_string()),
                    Form::Number => match value.parse::<i64>() {
                        Ok(number) => to.push_str(&number.to_string()),
                        Err(_) => to.push_str(&shell::quote(&value)),
                    },
                    Form::Lines(prefix) => {
                        for line in value.lines() {
                            to.extend([prefix, line, "\n"]);
                        }
                    }
                    Form::Raw => to.push_str(&value),
                    Form::Word => to.push_str(&shell::quote(&value)),
                    Form::File => to.push_str(&shell::quote_file(&value)),
                    Form::Flag(flag) => to.push_str(flag),
                    Form::Into(way, file) => {
                        to.push_str(&shell::put(*way, &value, &argument(args, file)?));
                    }
                    Form::In(folder) => {
                        to.push_str(&shell::run_in(&argument(args, folder)?, &value));
                    }
                }
            }
            Part::Optional(inner) => {
                let mut names = Vec::new();
                collect(inner, &mut names);
                let is_there =
                    |name: &&str| !matches!(&args[*name], Json::Null | Json::Bool(false));
                if names.iter().all(is_there) {
                    render(inner, args, to)?;
                }
            }
        }
    }
    Ok(())
}

fn argument<'a>(args: &'a Json, name: &str) -> Result<std::borrow::Cow<'a, str>, String> {
    match &args[name] {
        Json::Null => Err(name.to_owned()),
        value => Ok(as_text(value)),
    }
}

fn parts(text: &str, usual: &Form) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        push_literal(&mut parts, &rest[..at]);
        let is_optional = rest[at..].starts_with('[');
        let (close, what) = match is_optional {
            true => (']', "bracket"),
            false => ('}', "brace"),
        };
        let after = &rest[at + 1..];
        let end = after
            .find(close)
            .ok_or_else(|| format!("a {what} is not closed in `{text}`"))?;
        let inside = &after[..end];
        if is_optional {
            if inside.contains('[') {
                return Err(format!("brackets inside brackets in `{text}`"));
            }
            parts.push(Part::Optional(self::parts(inside, usual)?));
        } else {
            parts.push(Part::Placeholder(placeholder(inside, usual)?));
        }
        rest = &after[end + 1..];
    }
    push_literal(&mut parts, rest);
    Ok(parts)
}

fn push_literal(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Literal(text.to_owned()));
    }
}

fn placeholder(text: &str, usual: &Form) -> Result<Placeholder, String> {
    let (argument, form) = match text.split_once(':') {
        None => (text, usual.clone()),
        Some((argument, "raw")) => (argument, Form::Raw),
        Some((argument, "file")) => (argument, Form::File),
        Some((argument, "number")) => (argument, Form::Number),
        Some((argument, "json")) => (argument, Form::Json),
        Some((argument, form)) => match form.split_once(' ') {
            Some(("flag", flag)) => (argument, Form::Flag(flag.to_owned())),
            Some(("lines", prefix)) => (argument, Form::Lines(prefix.to_owned())),
            Some(("in", folder)) => (argument, Form::In(folder.to_owned())),
            Some(("append", file)) => (argument, Form::Into(shell::Way::Append, file.to_owned())),
            Some(("write", file)) => (argument, Form::Into(shell::Way::Write, file.to_owned())),
            _ => return Err(format!("`{form}` is not a valid placeholder")),
        },
    };
    match argument.is_empty() {
        true => Err("a placeholder has no name".to_owned()),
        false => Ok(Placeholder {
            argument: argument.to_owned(),
            form,
        }),
    }
}

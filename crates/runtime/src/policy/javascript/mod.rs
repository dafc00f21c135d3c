//! Data in JavaScript.
//!
//! A script never has data in it. Each reference becomes a name, and the name is bound in front of the script:
//! `((__cuecard_1 = "data") => (script))()`. So whatever the script is and however it is read here, data is a value.
//! What is left to refuse is a script that turns values into code itself, and a reference where a name would mean
//! something else than its value.

mod literal;
mod places;
mod sinks;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::HashSet;
use std::ops::Range;

use super::source::{is_integer, reference, shown};
use super::{Refusal, RefusalKind, ScriptShape};
use cuecard_source::value::{Piece, Text};
use tokens::{Kind, Token, is_operator_word};

/// How many bytes a script may have.
const MAX_LENGTH: usize = 1 << 20;

pub(super) fn bind(text: &Text, shape: ScriptShape) -> Result<String, Refusal> {
    if text.is_trusted() {
        return Ok(text.to_string());
    }
    let is_all_data = text
        .pieces()
        .iter()
        .all(|piece| !piece.origin.is_trusted() || piece.text.trim().is_empty());
    if is_all_data {
        return Err(refusal(
            format!("the whole script `{}` is data", shown(text)),
            "write the script literally, and use the reference as a value in it",
        ));
    }
    let script = Script::new(text)?;
    script.check_places()?;
    // A number is a number wherever it goes.
    if script.data.iter().any(|data| !is_integer(&data.piece.text)) {
        script.check_sinks()?;
    }
    Ok(script.bound(shape))
}

fn refusal(message: String, help: impl Into<String>) -> Refusal {
    Refusal::new(RefusalKind::Data, message, help)
}

/// A script with names in place of data.
struct Script<'text> {
    text: String,
    tokens: Vec<Token>,
    data: Vec<Data<'text>>,
    words: HashSet<String>,
    has_script_element: bool,
    has_jquery: bool,
}

/// Data, and the name for it in the script.
struct Data<'text> {
    piece: &'text Piece,
    name: String,
    range: Range<usize>,
}

impl<'text> Script<'text> {
    fn new(text: &'text Text) -> Result<Self, Refusal> {
        let mut script = Self {
            text: String::new(),
            tokens: Vec::new(),
            data: Vec::new(),
            words: HashSet::new(),
            has_script_element: false,
            has_jquery: false,
        };
        for piece in text.pieces() {
            if piece.origin.is_trusted() {
                script.text.push_str(&piece.text);
                continue;
            }
            let name = format!("__cuecard_{}", script.data.len() + 1);
            let start = script.text.len();
            script.text.push_str(&name);
            script.data.push(Data {
                piece,
                range: start..script.text.len(),
                name,
            });
        }
        if script.text.len() > MAX_LENGTH {
            return Err(refusal(
                "the script is longer than 1 MiB".to_owned(),
                "load it from a file or an address in the page",
            ));
        }
        script.tokens = tokens::read(&script.text).map_err(|reason| {
            refusal(
                format!(
                    "can't tell how the script uses the data of `{}`: {reason}",
                    script.source()
                ),
                "simplify that part of the script",
            )
        })?;
        let words = script
            .tokens
            .iter()
            .filter(|token| token.kind == Kind::Word);
        script.words = words
            .map(|token| script.text[token.range.clone()].to_owned())
            .collect();
        script.has_script_element = (0..script.tokens.len()).any(|at| script.is_script_element(at));
        script.has_jquery = script.may_have_jquery();
        Ok(script)
    }

    /// The script as an expression, or as statements if it is no expression.
    fn bound(&self, shape: ScriptShape) -> String {
        let (script, bindings) = self.with_names();
        let names = |separator: &str| bindings.join(separator);
        // In an expression a comment at its end would reach over the bracket.
        let expression = script.trim_end().trim_end_matches(';');
        let is_function = self
            .tokens
            .iter()
            .any(|token| matches!(&self.text[token.range.clone()], "=>" | "function"));
        match shape {
            ScriptShape::Condition => format!("(async ({}) => ({expression}\n))()", names(", ")),
            // A tool that takes a function may take an expression in its place.
            ScriptShape::Function if !is_function => {
                format!("() => (({}) => ({expression}\n))()", names(", "))
            }
            ScriptShape::Program if self.is_statements() => {
                format!("{{ const {};\n{script}\n}}", names(", "))
            }
            ScriptShape::Function | ScriptShape::Program => {
                format!("(({}) => ({expression}\n))()", names(", "))
            }
        }
    }

    /// The script with names in place of data and of strings with data in them, and what the names are.
    fn with_names(&self) -> (String, Vec<String>) {
        let (mut script, mut bindings) = (String::new(), Vec::new());
        let mut at = 0;
        for token in &self.tokens {
            let Some(first) = self.data_in(&token.range).next() else {
                continue;
            };
            let mut bind = |data: &Data<'_>, value: String| {
                bindings.push(format!("{} = {value}", data.name));
            };
            script.push_str(&self.text[at..token.range.start]);
            at = token.range.end;
            match token.kind {
                Kind::String => {
                    let quote = &self.text[token.range.start..][..1];
                    let inner = token.range.start + 1..token.range.end - 1;
                    let literal = |data: &Data<'_>| literal::string(&data.piece.text);
                    bind(first, self.joined(inner, quote, literal));
                    script.push_str(&first.name);
                }
                Kind::Template => {
                    for data in self.data_in(&token.range) {
                        bind(data, literal::string(&data.piece.text));
                    }
                    let name = |data: &Data<'_>| format!("${{{}}}", data.name);
                    script.push_str(&self.replaced(token.range.clone(), name));
                }
                _ => {
                    bind(first, literal::expression(first.piece));
                    script.push_str(&first.name);
                }
            }
        }
        (script + &self.text[at..], bindings)
    }

    /// Strings and values with `+` between them that make the text of a part with data in it.
    fn joined(
        &self,
        part: Range<usize>,
        quote: &str,
        name: impl Fn(&Data<'_>) -> String,
    ) -> String {
        let text = self.replaced(part, |data| format!("{quote} + {} + {quote}", name(data)));
        let text = format!("{quote}{text}{quote}");
        // `"" + "x" + ""` is `"x"`.
        let nothing = format!("{quote}{quote} + ");
        let text = text.strip_prefix(&nothing).unwrap_or(&text);
        let nothing = format!(" + {quote}{quote}");
        text.strip_suffix(&nothing).unwrap_or(text).to_owned()
    }

    /// A part of the script with its names replaced.
    fn replaced(&self, range: Range<usize>, name: impl Fn(&Data<'_>) -> String) -> String {
        let mut text = String::new();
        let mut at = range.start;
        for data in self.data_in(&range) {
            text.push_str(&self.text[at..data.range.start]);
            text.push_str(&name(data));
            at = data.range.end;
        }
        text + &self.text[at..range.end]
    }

    /// Whether it is more than one expression: what `eval` takes and parentheses don't.
    fn is_statements(&self) -> bool {
        const STATEMENTS: &[&str] = &[
            "const", "let", "var", "if", "for", "while", "do", "switch", "try", "throw", "return",
            "class", "{",
        ];
        let is_continued = |index| matches!(self.at(index), "in" | "instanceof" | "of");
        let mut is_in_function = false;
        STATEMENTS.contains(&self.at(0))
            || self.tokens.iter().enumerate().any(|(index, token)| {
                is_in_function |= matches!(self.at(index), "=>" | "function");
                if self.at(index) == "await" && !is_in_function {
                    return true;
                }
                let is_start = token.is_line_start || self.at(index.wrapping_sub(1)) == "}";
                let is_after_value =
                    self.ends_value(index.wrapping_sub(1)) || self.at(index.wrapping_sub(1)) == "}";
                let begins =
                    matches!(token.kind, Kind::Word | Kind::String) && !is_continued(index);
                token.parent.is_none()
                    && (self.at(index) == ";" || (is_start && is_after_value && begins))
            })
    }

    /// The text of a token; empty outside the script.
    fn at(&self, index: usize) -> &str {
        self.tokens
            .get(index)
            .map_or("", |token| &self.text[token.range.clone()])
    }

    fn kind(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    fn data_in<'a>(
        &'a self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &'a Data<'text>> + use<'a, 'text> {
        let Range { start, end } = *range;
        let first = self.data.partition_point(|data| data.range.start < start);
        self.data[first..]
            .iter()
            .take_while(move |data| data.range.end <= end)
    }

    /// Whether an expression can end with this token.
    fn ends_value(&self, index: usize) -> bool {
        match self.kind(index) {
            Some(Kind::Word) => !is_operator_word(self.at(index)),
            Some(Kind::String | Kind::Regex) => true,
            Some(Kind::Symbol) => {
                matches!(self.at(index), ")" | "]" | "`") && self.tokens[index].partner < index
            }
            Some(Kind::Template) | None => false,
        }
    }

    /// The first reference, for messages.
    fn source(&self) -> String {
        self.data
            .first()
            .map_or_else(String::new, |data| reference(data.piece))
    }
}

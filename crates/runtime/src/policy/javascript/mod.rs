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

use std::ops::Range;

use super::source::{is_in, is_integer, reference, shown};
use super::{Refusal, RefusalKind, ScriptShape};
use cuecard_source::value::{Piece, Text};
use tokens::{Kind, Token, ends_value};

/// How many bytes a script may have.
const MAX_LENGTH: usize = 1 << 20;

pub(super) fn bind(text: &Text, shape: ScriptShape) -> Result<String, Refusal> {
    if text.is_trusted() {
        return Ok(text.to_string());
    }
    let (mut code, mut data, mut is_all_data) = (String::new(), Vec::new(), true);
    for piece in text.pieces() {
        if piece.origin.is_trusted() {
            is_all_data &= piece.text.trim().is_empty();
            code.push_str(&piece.text);
            continue;
        }
        let (start, name) = (code.len(), format!("__cuecard_{}", data.len() + 1));
        code.push_str(&name);
        let range = start..code.len();
        data.push(Data { piece, name, range });
    }
    if is_all_data {
        return Err(refusal(
            format!("the whole script `{}` is data", shown(text)),
            "write the script literally, and use the reference as a value in it",
        ));
    }
    if code.len() > MAX_LENGTH {
        return Err(refusal(
            "the script is longer than 1 MiB".to_owned(),
            "load it from a file or an address in the page",
        ));
    }
    let mut script = Script {
        text: &code,
        tokens: Vec::new(),
        data,
        has_script_element: false,
        has_jquery: false,
        copies_members: false,
    };
    script.tokens = tokens::read(&code).map_err(|reason| {
        let source = script.source();
        refusal(
            format!("can't tell how the script uses the data of `{source}`: {reason}"),
            "simplify that part of the script",
        )
    })?;
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
    text: &'text str,
    tokens: Vec<Token>,
    data: Vec<Data<'text>>,
    has_script_element: bool,
    has_jquery: bool,
    /// It sets members of one object to those of another.
    copies_members: bool,
}

/// Data, and the name for it in the script.
struct Data<'text> {
    piece: &'text Piece,
    name: String,
    range: Range<usize>,
}

impl<'text> Script<'text> {
    /// The script as an expression, or as statements if it is no expression.
    fn bound(&self, shape: ScriptShape) -> String {
        let (script, bindings) = self.with_names();
        let names = bindings.join(", ");
        // In an expression a comment at its end would reach over the bracket.
        let expression = script.trim_end().trim_end_matches(';');
        let is_function =
            (0..self.tokens.len()).any(|index| matches!(self.at(index), "=>" | "function"));
        match shape {
            ScriptShape::Condition => format!("(async ({names}) => ({expression}\n))()"),
            // A tool that takes a function may take an expression in its place.
            ScriptShape::Function if !is_function => {
                format!("() => (({names}) => ({expression}\n))()")
            }
            ScriptShape::Program if self.is_statements() => {
                format!("{{ const {names};\n{script}\n}}")
            }
            _ => format!("(({names}) => ({expression}\n))()"),
        }
    }

    /// The script with names in place of strings with data in them too, and what the names are.
    fn with_names(&self) -> (String, Vec<String>) {
        let (mut script, mut bindings, mut at) = (String::new(), Vec::new(), 0);
        let literal = |data: &Data<'_>| literal::string(&data.piece.text);
        for token in &self.tokens {
            let Range { start, end } = token.range;
            let Some(first) = self.data_in(&token.range).next() else {
                continue;
            };
            let mut bind = |data: &Data<'_>, value: String| {
                bindings.push(format!("{} = {value}", data.name));
            };
            script.push_str(&self.text[at..start]);
            at = end;
            if token.kind == Kind::Template {
                self.data_in(&token.range)
                    .for_each(|data| bind(data, literal(data)));
                let name = |data: &Data<'_>| format!("${{{}}}", data.name);
                script.push_str(&self.replaced(start..end, name));
                continue;
            }
            let value = match token.kind {
                Kind::String => self.joined(start + 1..end - 1, &self.text[start..=start], literal),
                _ => literal::expression(first.piece),
            };
            bind(first, value);
            script.push_str(&first.name);
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
        let (before, after) = (format!("{quote}{quote} + "), format!(" + {quote}{quote}"));
        let text = text.strip_prefix(&before).unwrap_or(&text);
        text.strip_suffix(&after).unwrap_or(text).to_owned()
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
        const STATEMENTS: &str = "const let var if for while do switch try throw return class {";
        let mut is_in_function = false;
        is_in(STATEMENTS, self.at(0))
            || self.tokens.iter().enumerate().any(|(index, token)| {
                let text = self.at(index);
                is_in_function |= matches!(text, "=>" | "function");
                (text == "await" && !is_in_function)
                    || (token.parent.is_none() && (text == ";" || self.begins_statement(index)))
            })
    }

    /// Whether a statement begins here, and does not go on with what stands before.
    fn begins_statement(&self, index: usize) -> bool {
        let is_new = self.before(index) == "}"
            || (self.tokens[index].is_line_start && self.ends_value(index.wrapping_sub(1)));
        is_new
            && matches!(self.kind(index), Some(Kind::Word | Kind::String))
            && !is_in("in instanceof of", self.at(index))
    }

    /// The text of a token; empty outside the script.
    fn at(&self, index: usize) -> &'text str {
        let token = self.tokens.get(index);
        token.map_or("", |token| &self.text[token.range.clone()])
    }

    /// The text of the token before.
    fn before(&self, index: usize) -> &'text str {
        self.at(index.wrapping_sub(1))
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
        let token = self.tokens.get(index);
        // A backtick that opens a template ends nothing.
        token.is_some_and(|it| ends_value(it.kind, self.at(index)) && it.partner <= index)
    }

    /// The first reference, for messages.
    fn source(&self) -> String {
        self.data
            .first()
            .map_or_else(String::new, |data| reference(data.piece))
    }
}

//! Data in JavaScript.
//!
//! A script never has data in it. Each reference becomes a name, and the name is bound in front of the script:
//! `((__cuecard_1 = "data") => (script))()`. So whatever the script is and however it is read here, data is a value.
//! What is left to refuse is a script that mentions what turns values into code ([`mentions`]), and a reference where a
//! name would mean something else than its value.

mod literal;
mod mentions;
#[cfg(test)]
mod tests;
mod tokens;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::source::{is_in, reference, shown};
use super::{Refusal, RefusalKind, ScriptShape};
use cuecard_source::value::{Piece, Text};
use tokens::{Kind, Token, ends_value};

pub(super) fn bind(text: &Text, shape: ScriptShape) -> Result<String, Refusal> {
    if text.is_trusted() {
        return Ok(text.to_string());
    }
    let is_blank = |piece: &Piece| piece.origin.is_trusted() && piece.text.trim().is_empty();
    if text
        .pieces()
        .iter()
        .all(|it| !it.origin.is_trusted() || is_blank(it))
    {
        return Err(refusal(
            format!("the whole script `{}` is data", shown(text)),
            "write the script literally, and use the reference as a value in it",
        ));
    }
    let is_taken = |piece: &Piece| piece.origin.is_trusted() && piece.text.contains("__cuecard_");
    if text.pieces().iter().any(is_taken) {
        let message = "the script has a name that begins with `__cuecard_`, as those of data do";
        return Err(refusal(message.to_owned(), "choose another name"));
    }
    let (mut code, mut data) = (String::new(), Vec::new());
    for piece in text.pieces() {
        let start = code.len();
        if piece.origin.is_trusted() {
            code.push_str(&piece.text);
            continue;
        }
        let name = format!("__cuecard_{}", data.len() + 1);
        code.push_str(&name);
        let range = start..code.len();
        data.push(Data { piece, name, range });
    }
    let tokens = tokens::read(&code).map_err(|reason| {
        let source = reference(data[0].piece);
        refusal(
            format!("can't tell how the script uses the data of `{source}`: {reason}"),
            "simplify that part of the script",
        )
    })?;
    let text = &code;
    let script = Script { text, tokens, data };
    script.check_places()?;
    // Numbers are no exception: one can be an address (`http://2130706433/`).
    script.check_mentions(shape)?;
    Ok(script.bound(shape))
}

fn refusal(message: String, help: impl Into<String>) -> Refusal {
    Refusal::new(RefusalKind::Data, message, help)
}

/// Ends with a backslash, or with the beginning of `\x41`, `\u0041` or `\u{41}`.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    let hex = "[0-9a-fA-F]";
    let pattern = format!(r"(?:^|[^\\])(?:\\\\)*\\(?:x{hex}?|u{hex}{{0,3}}|u\{{{hex}*)?$");
    Regex::new(&pattern).expect("a fixed pattern")
});

/// A script with names in place of data.
struct Script<'text> {
    text: &'text str,
    tokens: Vec<Token>,
    data: Vec<Data<'text>>,
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
        let (script, names) = self.with_names();
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

    /// The script with names also in place of strings with data in them, and the values of the names.
    fn with_names(&self) -> (String, String) {
        let (mut script, mut values, mut at) = (String::new(), Vec::new(), 0);
        for token in &self.tokens {
            let Some(first) = self.data_in(&token.range).next() else {
                continue;
            };
            script.push_str(&self.text[at..token.range.start]);
            at = token.range.end;
            let mut bind = |data: &Data<'_>, value| values.push(format!("{} = {value}", data.name));
            let text = |data: &Data<'_>| literal::string(&data.piece.text);
            match token.kind {
                Kind::Template => {
                    self.data_in(&token.range)
                        .for_each(|data| bind(data, text(data)));
                    let parts = self.replaced(&token.range, |data| format!("${{{}}}", data.name));
                    script.push_str(&parts);
                    continue;
                }
                Kind::String => {
                    let quote = &self.text[token.range.start..=token.range.start];
                    let joined = |data: &Data<'_>| format!("{quote} + {} + {quote}", text(data));
                    bind(first, self.replaced(&token.range, joined));
                }
                _ => bind(first, literal::expression(first.piece)),
            }
            script.push_str(&first.name);
        }
        (script + &self.text[at..], values.join(", "))
    }

    /// A part of the script with its names replaced.
    fn replaced(&self, range: &Range<usize>, name: impl Fn(&Data<'_>) -> String) -> String {
        let (mut text, mut at) = (String::new(), range.start);
        for data in self.data_in(range) {
            text.push_str(&self.text[at..data.range.start]);
            text.push_str(&name(data));
            at = data.range.end;
        }
        text + &self.text[at..range.end]
    }

    fn check_places(&self) -> Result<(), Refusal> {
        for (index, token) in self.tokens.iter().enumerate() {
            for data in self.data_in(&token.range) {
                let name = reference(data.piece);
                if let Some((place, help)) = self.misplaced(index, data) {
                    let message = format!("the data of `{name}` is used {place}");
                    return Err(refusal(message, help.replace("REFERENCE", &name)));
                }
            }
        }
        Ok(())
    }

    /// Where the data in a token stands, if a name can't stand for its value there, and what to write.
    fn misplaced(&self, index: usize, data: &Data<'_>) -> Option<(&'static str, &'static str)> {
        let token = &self.tokens[index];
        let (before, after) = (self.before(index), self.at(index + 1));
        let is_word = token.kind == Kind::Word;
        let is_key = token.parent.is_some_and(|parent| self.at(parent) == "{")
            && matches!(before, "{" | ",")
            && (after == ":" || (is_word && matches!(after, "," | "}")));
        let is_escaped = || ESCAPE.is_match(&self.text[token.range.start..data.range.start]);
        Some(match token.kind {
            _ if is_key => (
                "as a key, where the script expects a name",
                "write `[REFERENCE]: …`",
            ),
            Kind::Regex => (
                "in a regular expression of the script, where it would be a part of the pattern",
                "compare with `text.includes(REFERENCE)`, or write `new RegExp('…' + REFERENCE)`",
            ),
            Kind::Word if token.range != data.range => {
                ("inside a name", "write `'…' + REFERENCE` for a text")
            }
            Kind::Word if matches!(before, "." | "?.") => (
                "where the script expects a name",
                "write `[REFERENCE]` in place of `.REFERENCE`, or `?.[REFERENCE]`",
            ),
            Kind::Word if !token.is_line_start && self.ends_value(index.wrapping_sub(1)) => (
                "where the script expects no value",
                "put an operator before `REFERENCE`",
            ),
            Kind::String | Kind::Template if is_escaped() => {
                ("in an escape of a string", "write `\\\\` for a backslash")
            }
            _ => return None,
        })
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
}

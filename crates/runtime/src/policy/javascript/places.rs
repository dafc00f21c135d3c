//! Places where a name can't stand for its value.

use std::ops::Range;

use super::{Data, Kind, Refusal, Script, reference, refusal};

impl Script<'_> {
    pub(super) fn check_places(&self) -> Result<(), Refusal> {
        for (index, token) in self.tokens.iter().enumerate() {
            for data in self.data_in(&token.range) {
                if let Some((place, help)) = self.misplaced(index, data) {
                    let message =
                        format!("the data of `{}` is used {place}", reference(data.piece));
                    return Err(refusal(message, help));
                }
            }
        }
        Ok(())
    }

    /// Where the data in a token stands, if it can't stand there, and how to write it.
    fn misplaced(&self, index: usize, data: &Data<'_>) -> Option<(&'static str, String)> {
        let token = &self.tokens[index];
        let it = reference(data.piece);
        let (before, after, text) = (self.before(index), self.at(index + 1), self.at(index));
        let Range { start, end } = token.range;
        let quote = match text.contains('\'') && !text.starts_with('\'') {
            true => "\"",
            false => "'",
        };
        let joined = |part| self.joined(part, quote, |data| reference(data.piece));

        let is_word = token.kind == Kind::Word;
        let is_in_object = token.parent.is_some_and(|parent| self.at(parent) == "{")
            && matches!(before, "{" | ",");
        if is_in_object && (after == ":" || (is_word && matches!(after, "," | "}"))) {
            let key = if is_word {
                it
            } else {
                joined(start + 1..end - 1)
            };
            let place = "as a key, where the script expects a name";
            return Some((place, format!("write `[{key}]: …`")));
        }
        Some(match token.kind {
            Kind::Regex => {
                let (_, flags) = text.rsplit_once('/').unwrap_or_default();
                let pattern = joined(start + 1..end - flags.len() - 1).replace('\\', "\\\\");
                let flags = match flags {
                    "" => String::new(),
                    flags => format!(", {quote}{flags}{quote}"),
                };
                (
                    "in a regular expression of the script, where it would be a part of the pattern",
                    format!(
                        "compare with `text.includes({it})`, or write `new RegExp({pattern}{flags})`"
                    ),
                )
            }
            Kind::Word if token.range != data.range => (
                "inside a name",
                format!("write `{}` for a text", joined(start..end)),
            ),
            Kind::Word if matches!(before, "." | "?.") => {
                let optional = if before == "." { "" } else { before };
                (
                    "where the script expects a name",
                    format!("write `{optional}[{it}]` in place of `{before}{it}`"),
                )
            }
            Kind::Word if !token.is_line_start && self.ends_value(index.wrapping_sub(1)) => (
                "where the script expects no value",
                format!("put an operator before `{it}`"),
            ),
            Kind::String | Kind::Template => {
                let before = &self.text[start..data.range.start];
                let backslashes = before.len() - before.trim_end_matches('\\').len();
                if backslashes.is_multiple_of(2) {
                    return None;
                }
                (
                    "right after a backslash",
                    "write `\\\\` for a backslash".to_owned(),
                )
            }
            _ => return None,
        })
    }
}

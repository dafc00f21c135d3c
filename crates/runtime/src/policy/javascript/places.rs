//! Places where a name can't stand for its value.

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
        let (before, after) = (self.at(index.wrapping_sub(1)), self.at(index + 1));
        let (start, end) = (token.range.start, token.range.end);
        let text = self.at(index);
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
            return Some((
                "as a key, where the script expects a name",
                format!("write `[{key}]: …`"),
            ));
        }
        match token.kind {
            Kind::Regex => {
                let length = self.at(index).rfind('/').unwrap_or_default();
                let pattern = joined(start + 1..start + length).replace('\\', "\\\\");
                let flags = match &self.at(index)[length + 1..] {
                    "" => String::new(),
                    flags => format!(", {quote}{flags}{quote}"),
                };
                Some((
                    "in a regular expression of the script, where it would be a part of the pattern",
                    format!(
                        "compare with `text.includes({it})`, or write `new RegExp({pattern}{flags})`"
                    ),
                ))
            }
            Kind::Word if token.range != data.range => Some((
                "inside a name",
                format!("write `{}` for a text", joined(start..end)),
            )),
            Kind::Word if before == "." => Some((
                "where the script expects a name",
                format!("write `[{it}]` in place of `.{it}`"),
            )),
            Kind::Word if before == "?." => Some((
                "where the script expects a name",
                format!("write `?.[{it}]` in place of `?.{it}`"),
            )),
            Kind::Word if !token.is_line_start && self.ends_value(index.wrapping_sub(1)) => Some((
                "where the script expects no value",
                format!("put an operator before `{it}`"),
            )),
            Kind::String | Kind::Template => {
                let before = &self.text[start..data.range.start];
                let backslashes = before.len() - before.trim_end_matches('\\').len();
                (backslashes % 2 == 1).then(|| {
                    let help = "write `\\\\` for a backslash".to_owned();
                    ("right after a backslash", help)
                })
            }
            _ => None,
        }
    }
}

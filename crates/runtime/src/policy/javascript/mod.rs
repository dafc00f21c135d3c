//! Data in JavaScript: bound as literals by the place it stands in.

mod lexer;
mod literal;
#[cfg(test)]
mod tests;

use super::source::{Source, name, reference, shown};
use super::{Refusal, RefusalKind, ScriptShape};
use cuecard_source::value::{Piece, Text};

pub(super) fn bind(text: &Text, shape: ScriptShape) -> Result<String, Refusal> {
    let Some(source) = Source::new(text) else {
        return Err(Refusal::new(
            RefusalKind::Data,
            "the script is longer than 1 MiB",
            "load it from a file or an address in the page",
        ));
    };
    if shape == ScriptShape::Function && is_all_data(text) {
        return Err(Refusal::new(
            RefusalKind::Data,
            format!("the whole function `{}` is data", shown(text)),
            "write the function literally, and use the reference as a value in it",
        ));
    }
    let mut read = lexer::read(&source);
    if read.ends_in_comment {
        read.output.push('\n');
    }
    if let Some((piece, place)) = read.misplaced {
        return Err(place.refusal(source.data[piece]));
    }
    if let (Some(doubt), Some(piece)) = (read.doubt, source.data.first()) {
        return Err(Refusal::new(
            RefusalKind::Data,
            format!(
                "can't determine how the script uses the data of {}: {doubt}",
                name(piece)
            ),
            "simplify that part of the script",
        ));
    }
    Ok(read.output)
}

fn is_all_data(text: &Text) -> bool {
    !text.is_trusted()
        && text
            .pieces()
            .iter()
            .all(|piece| !piece.origin.is_trusted() || piece.text.trim().is_empty())
}

/// A place where data can't be bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Comment,
    Regex,
    Escape,
    /// Right after a value, where the literal would become its argument or be glued to it.
    AfterValue,
    /// Where a name is expected.
    Name,
    /// An argument that is run as code.
    Evaluated,
}

impl Place {
    fn refusal(self, piece: &Piece) -> Refusal {
        let it = reference(piece);
        let (place, help) = match self {
            Self::Comment => (
                "in a comment of the script",
                format!("take `{it}` out of the comment"),
            ),
            Self::Regex => (
                "in a regular expression of the script, where it would be a part of the pattern",
                format!(
                    "compare with `text.includes({it})`, or escape it in the script for `new RegExp`"
                ),
            ),
            Self::Escape => (
                "right after a backslash or an unfinished escape in the script",
                "write `\\\\` for a backslash".to_owned(),
            ),
            Self::AfterValue => (
                "where the script expects no value",
                format!("put an operator before `{it}`, or quotes around it"),
            ),
            Self::Name => (
                "where the script expects a name",
                format!("use it as a value: `object[{it}]`, `{{ [{it}]: value }}`"),
            ),
            Self::Evaluated => (
                "in an argument that the script runs as code",
                "pass a function instead of text, and use the reference as a value in it"
                    .to_owned(),
            ),
        };
        Refusal::new(
            RefusalKind::Data,
            format!("the data of `{it}` is used {place}"),
            help,
        )
    }
}

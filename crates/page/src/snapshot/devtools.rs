//! The snapshots of chrome-devtools-mcp, indented by two spaces a level:
//!
//! ```text
//! uid=1_0 RootWebArea "Notes" url="http://localhost/"
//!   uid=1_1 heading "Notes" level="1"
//!   uid=1_2 "Nothing yet"
//!   uid=1_3 textbox "Title" focusable focused value="Milk"
//! ```
//!
//! Text without an element of its own has no role, or the role `StaticText` from older servers. Names and values are
//! not escaped, but hold no line ends.

use super::{Element, Line, Snapshot, TooLarge, plain_role, single_spaces};

/// How many quotes of a line are tried as the end of the element's name.
const MOST_QUOTES: usize = 64;

/// What a server adds to the line of an element that a person has selected.
const SELECTED: &str = " [selected in the DevTools Elements panel]";

/// The elements among the lines of an answer.
pub(super) fn read(answer: &str) -> Result<Snapshot, TooLarge> {
    Snapshot::of_lines(answer.lines().filter_map(|line| {
        let text = line.trim_start_matches(' ');
        Some(Line {
            indentation: line.len() - text.len(),
            element: element(text)?,
        })
    }))
}

fn element(line: &str) -> Option<Element> {
    let line = line.strip_suffix(SELECTED).unwrap_or(line);
    let rest = line.strip_prefix("uid=")?;
    let (uid, rest) = word(rest);
    if uid.is_empty() {
        return None;
    }
    let (role, rest) = match rest.strip_prefix(' ') {
        Some(rest) if !rest.starts_with('"') => word(rest),
        Some(rest) => ("", &line[line.len() - rest.len() - 1..]),
        None => ("", rest),
    };
    let (name, attributes) = match rest.strip_prefix(" \"") {
        Some(rest) => rest.split_at(name_end(rest)),
        None => ("", rest),
    };
    Some(Element {
        id: uid.to_owned(),
        role: plain_role(role).to_owned(),
        name: single_spaces(name),
        attributes: attributes
            .strip_prefix('"')
            .unwrap_or(attributes)
            .to_owned(),
        parent: None,
        end: 0,
    })
}

/// Up to the first space, and the rest.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(' ').unwrap_or(text.len()))
}

/// Where the name ends: at the first quote after which there is nothing but flags and values.
fn name_end(text: &str) -> usize {
    text.match_indices('"')
        .map(|(at, _)| at)
        .take(MOST_QUOTES)
        .find(|at| are_attributes(&text[at + 1..]))
        .or_else(|| text.rfind('"'))
        .unwrap_or(text.len())
}

/// Whether a text is words, the first of which with a value may be followed by anything: a value holds whatever a
/// person typed.
fn are_attributes(mut text: &str) -> bool {
    while !text.is_empty() {
        let Some(rest) = text.strip_prefix(' ') else {
            return false;
        };
        let length = rest
            .find(|character: char| !character.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        text = &rest[length..];
        if length == 0 || text.starts_with("=\"") {
            return length > 0;
        }
    }
    true
}

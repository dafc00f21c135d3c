//! The snapshots of @playwright/mcp: a list in YAML, within the markdown of an answer:
//!
//! ```text
//! - generic [ref=e1]:
//!   - heading "Sign in" [level=1] [ref=e3]
//!   - textbox "E-mail" [ref=e5]:
//!     - /placeholder: you@example.org
//!     - text: ana@example.org
//!   - 'button "Time: now" [ref=e9] [cursor=pointer]'
//!   - paragraph [ref=e12]: Three attempts left.
//! ```
//!
//! Names are JSON strings. A line with signs that mean something in YAML stands in quotes.

use super::{Element, Line, Snapshot, TooLarge, plain_role, single_spaces};

/// Begins the part of an answer that is the snapshot, and the next one.
const HEADING: &str = "### Snapshot";
const ANY_HEADING: &str = "### ";

/// The elements among the lines of an answer.
pub(super) fn read(answer: &str) -> Result<Snapshot, TooLarge> {
    let has_parts = answer.lines().any(|line| line == HEADING);
    let lines = answer
        .lines()
        .skip_while(|line| has_parts && *line != HEADING)
        .skip(usize::from(has_parts))
        .take_while(|line| !has_parts || !line.starts_with(ANY_HEADING));
    let mut found: Vec<Line> = Vec::new();
    for line in lines {
        let text = line.trim_start_matches(' ');
        let indentation = line.len() - text.len();
        let Some(item) = text.strip_prefix("- ") else {
            continue;
        };
        match read_item(item) {
            Some(Item::Property { name, value }) => {
                // It stands right below its element.
                if let Some(line) = found.last_mut() {
                    let attribute = format!(" {name}=\"{value}\"");
                    line.element.attributes.push_str(&attribute);
                }
            }
            Some(Item::Element { element, text }) => {
                found.push(Line {
                    indentation,
                    element,
                });
                // A text on the line of its element is inside it.
                found.extend(text.map(|element| Line {
                    indentation: indentation + 1,
                    element,
                }));
            }
            None => {}
        }
    }
    Snapshot::of_lines(found.into_iter())
}

/// An item of the list.
enum Item {
    /// `/url: …`: a property of the element above.
    Property { name: String, value: String },
    /// An element, or a text, and the text on its line.
    Element {
        element: Element,
        text: Option<Element>,
    },
}

fn read_item(item: &str) -> Option<Item> {
    let (key, rest) = key(item)?;
    let value = value(rest);
    if let Some(name) = key.strip_prefix('/') {
        return Some(Item::Property {
            name: name.to_owned(),
            value,
        });
    }
    let mut element = element(&key)?;
    let text = single_spaces(&value);
    if element.role.is_empty() {
        element.name = text;
        return Some(Item::Element {
            element,
            text: None,
        });
    }
    let text = (!text.is_empty()).then(|| Element {
        id: String::new(),
        role: String::new(),
        name: text,
        attributes: String::new(),
        parent: None,
        end: 0,
    });
    Some(Item::Element { element, text })
}

/// The key of an item without its quotes, and what follows it.
fn key(item: &str) -> Option<(String, &str)> {
    if let Some(quoted) = item.strip_prefix('\'') {
        let mut at = 0;
        loop {
            at += quoted[at..].find('\'')?;
            if quoted[at + 1..].starts_with('\'') {
                at += 2;
                continue;
            }
            return Some((quoted[..at].replace("''", "'"), &quoted[at + 1..]));
        }
    }
    // A key that holds a colon before a space stands in quotes.
    let end = item
        .find(": ")
        .or_else(|| item.strip_suffix(':').map(str::len))
        .unwrap_or(item.len());
    Some((item[..end].to_owned(), &item[end..]))
}

/// The text after a key.
fn value(rest: &str) -> String {
    let text = rest.strip_prefix(':').unwrap_or(rest).trim();
    let Some(quoted) = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    else {
        return text.to_owned();
    };
    let mut value = String::with_capacity(quoted.len());
    let mut signs = quoted.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            value.push(sign);
            continue;
        }
        match signs.next() {
            Some('x') => {
                let code: String = signs.by_ref().take(2).collect();
                let sign = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                value.extend(sign);
            }
            Some('n' | 'r' | 't' | 'f' | 'b') => value.push(' '),
            Some(sign) => value.push(sign),
            None => {}
        }
    }
    value
}

/// `role "name" [flag] [ref=e1]`.
fn element(key: &str) -> Option<Element> {
    let (role, rest) = key.split_at(key.find(' ').unwrap_or(key.len()));
    if role.is_empty() || !role.chars().all(|sign| sign.is_ascii_alphanumeric()) {
        return None;
    }
    let (name, attributes) = name(rest.trim_start());
    let id = attributes
        .split_once("[ref=")
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("", |(id, _)| id);
    Some(Element {
        id: id.to_owned(),
        role: plain_role(role).to_owned(),
        name,
        attributes: attributes.to_owned(),
        parent: None,
        end: 0,
    })
}

/// The JSON string at the beginning of a text, and the rest.
fn name(text: &str) -> (String, &str) {
    if !text.starts_with('"') {
        return (String::new(), text);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    match values.next() {
        Some(Ok(name)) => (single_spaces(&name), &text[values.byte_offset()..]),
        _ => (String::new(), ""),
    }
}

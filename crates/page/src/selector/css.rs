//! The part of CSS that selectors use: tags, ids, classes, attributes, `:nth-of-type`, children and descendants.

use crate::dom::{DomElement, DomState, NodeId};

/// The most compounds of a selector.
const MOST_COMPOUNDS: usize = 16;

/// A selector of CSS after reading: compounds from the outermost, each with whether it is a child of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Css {
    compounds: Vec<(bool, Compound)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Compound {
    tag: Option<String>,
    tests: Vec<Test>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Id(String),
    Class(String),
    Attribute(String, Option<(char, String)>),
    NthOfType(usize),
}

/// Whether a text can stand in CSS as it is.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && text
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_'))
}

impl Css {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let mut compounds = Vec::new();
        let mut is_child = false;
        if rest.is_empty() {
            return Err("the selector is empty".to_owned());
        }
        while !rest.is_empty() {
            if compounds.len() == MOST_COMPOUNDS {
                return Err(format!("it has more than {MOST_COMPOUNDS} parts"));
            }
            let compound;
            (compound, rest) = Compound::parse(rest)?;
            compounds.push((is_child, compound));
            let after = rest.trim_start();
            is_child = after.starts_with('>');
            if !after.is_empty() && after.len() == rest.len() && !is_child {
                return Err(format!("unexpected `{after}`"));
            }
            rest = match is_child {
                true => after[1..].trim_start(),
                false => after,
            };
            if is_child && rest.is_empty() {
                return Err("expected a selector after `>`".to_owned());
            }
        }
        Ok(Self { compounds })
    }

    /// Whether an element fits; ancestors are those of its own document or shadow root.
    pub(super) fn fits(&self, state: &DomState, id: NodeId) -> bool {
        let Some((last, outer)) = self.compounds.split_last() else {
            return false;
        };
        state
            .element(id)
            .is_some_and(|element| last.1.fits(element))
            && Self::fits_around(state, id, last.0, outer)
    }

    fn fits_around(
        state: &DomState,
        id: NodeId,
        is_child: bool,
        outer: &[(bool, Compound)],
    ) -> bool {
        let Some((next, rest)) = outer.split_last() else {
            return true;
        };
        let mut above = parent(state, id);
        while let Some(candidate) = above {
            let fits = state
                .element(candidate)
                .is_some_and(|element| next.1.fits(element));
            if fits && Self::fits_around(state, candidate, next.0, rest) {
                return true;
            }
            if is_child {
                return false;
            }
            above = parent(state, candidate);
        }
        false
    }
}

/// The element around one in the same document or shadow root.
pub(super) fn parent(state: &DomState, id: NodeId) -> Option<NodeId> {
    let scope = &state.element(id)?.scope;
    state
        .ancestor_elements(id)
        .find(|(_, outer)| outer.scope == *scope)
        .map(|(outer, _)| outer)
}

/// The position in the last step of an xpath: 1 if it has none.
fn position(xpath: &str) -> usize {
    xpath
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['))
        .and_then(|(_, position)| position.parse().ok())
        .unwrap_or(1)
}

impl Compound {
    fn parse(text: &str) -> Result<(Self, &str), String> {
        let mut compound = Self::default();
        let mut rest = text;
        if let Some(after) = rest.strip_prefix('*') {
            rest = after;
        } else if rest.starts_with(|sign: char| sign.is_ascii_alphabetic()) {
            let name;
            (name, rest) = identifier(rest)?;
            compound.tag = Some(name.to_ascii_lowercase());
        } else if !rest.starts_with(['#', '.', '[', ':']) {
            return Err(format!("unexpected `{rest}`"));
        }
        loop {
            if let Some(after) = rest.strip_prefix('#') {
                let (name, after) = identifier(after)?;
                compound.tests.push(Test::Id(name.to_owned()));
                rest = after;
            } else if let Some(after) = rest.strip_prefix('.') {
                let (name, after) = identifier(after)?;
                compound.tests.push(Test::Class(name.to_owned()));
                rest = after;
            } else if let Some(after) = rest.strip_prefix('[') {
                let (test, after) = attribute(after)?;
                compound.tests.push(test);
                rest = after;
            } else if let Some(after) = rest.strip_prefix(":nth-of-type(") {
                let read = after
                    .split_once(')')
                    .and_then(|(number, after)| Some((number.trim().parse().ok()?, after)));
                let Some((number, after)) = read else {
                    return Err("`:nth-of-type` takes an integer".to_owned());
                };
                compound.tests.push(Test::NthOfType(number));
                rest = after;
            } else if rest.starts_with(':') {
                return Err(format!("unexpected `{rest}`"));
            } else {
                return Ok((compound, rest));
            }
        }
    }

    fn fits(&self, element: &DomElement) -> bool {
        if self
            .tag
            .as_ref()
            .is_some_and(|tag| *tag != element.tag_name)
        {
            return false;
        }
        self.tests.iter().all(|test| match test {
            Test::Id(id) => element.attribute("id") == Some(id),
            Test::Class(class) => element
                .attribute("class")
                .is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class)),
            Test::Attribute(name, wanted) => match (element.attribute(name), wanted) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(found), Some((how, text))) => match how {
                    '^' => !text.is_empty() && found.starts_with(text.as_str()),
                    '$' => !text.is_empty() && found.ends_with(text.as_str()),
                    '*' => !text.is_empty() && found.contains(text.as_str()),
                    '~' => found.split_ascii_whitespace().any(|word| word == text),
                    _ => found == text,
                },
            },
            Test::NthOfType(number) => position(&element.xpath) == *number,
        })
    }
}

fn identifier(text: &str) -> Result<(&str, &str), String> {
    let end = text
        .find(|sign: char| !sign.is_ascii_alphanumeric() && !matches!(sign, '-' | '_'))
        .unwrap_or(text.len());
    match end {
        0 => Err("a name is missing".to_owned()),
        _ => Ok(text.split_at(end)),
    }
}

/// What stands in brackets, and the rest behind them.
fn attribute(text: &str) -> Result<(Test, &str), String> {
    let (name, rest) = identifier(text)?;
    let rest = rest.trim_start();
    if let Some(rest) = rest.strip_prefix(']') {
        return Ok((Test::Attribute(name.to_owned(), None), rest));
    }
    let how = rest.chars().next().unwrap_or(']');
    let value = match how {
        '=' => Some(&rest[1..]),
        '^' | '$' | '*' | '~' => rest[1..].strip_prefix('='),
        _ => None,
    };
    let Some(value) = value else {
        return Err(format!("unexpected `[{text}`"));
    };
    let (value, rest) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let (mut found, mut end, mut is_escaped) = (String::new(), None, false);
            for (at, sign) in value.char_indices().skip(1) {
                match sign {
                    _ if is_escaped => {
                        found.push(sign);
                        is_escaped = false;
                    }
                    '\\' => is_escaped = true,
                    _ if sign == quote => {
                        end = Some(at + 1);
                        break;
                    }
                    _ => found.push(sign),
                }
            }
            let Some(end) = end else {
                return Err("a quote is not closed".to_owned());
            };
            (found, &value[end..])
        }
        _ => {
            let (found, rest) = identifier(value)?;
            (found.to_owned(), rest)
        }
    };
    match rest.trim_start().strip_prefix(']') {
        Some(rest) => Ok((Test::Attribute(name.to_owned(), Some((how, value))), rest)),
        None => Err("`]` is missing".to_owned()),
    }
}

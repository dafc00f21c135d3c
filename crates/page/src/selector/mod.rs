//! Selectors: texts that name one element of a page, and last.
//!
//! ```text
//! testid=login-button
//! role=button[name="Log in"]
//! frame=css=#pay >> shadow=css=x-card >> label="E-mail"
//! within=role=row >> has-text="Invoice 1" >> role=button[name="Delete"]
//! role=row >> has-text="Invoice 1"
//! role=button[name="Delete"] >> nth=2
//! role=button[name="Delete"] >> nth=-1
//! xpath=/html/body/form/input[2]
//! ```
//!
//! Hops into frames and shadow roots come first, and each must match one element; an xpath never crosses them.

mod candidates;
mod css;
mod generated;
mod matches;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

pub(super) use candidates::CONTAINERS;
pub(crate) use generated::{is_counted, is_hashed_class, looks_generated};
pub use matches::Finder;
pub use parse::SelectorError;

use super::dom::HopKind;
use cuecard_source::value::Json;

/// A selector after reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The frames and shadow hosts to enter, from the top document.
    pub hops: Vec<Hop>,
    /// What the element is inside of.
    pub within: Option<Within>,
    /// What the element is.
    pub pattern: Pattern,
    /// A text in it that it is known by, if it is a container itself: a cell, a heading or a line.
    pub has_text: Option<String>,
    /// Which of several it is, from 0, or from -1 backwards.
    pub nth: Option<i32>,
}

/// What an element is inside of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// What that is.
    pub pattern: Pattern,
    /// A text in it: a cell, a heading or a line.
    pub has_text: Option<String>,
}

impl From<Pattern> for Within {
    fn from(pattern: Pattern) -> Self {
        Self {
            pattern,
            has_text: None,
        }
    }
}

/// A frame or shadow host to enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// Which of the two.
    pub kind: HopKind,
    /// What its element is.
    pub pattern: Pattern,
}

/// What an element is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Its test id.
    TestId(String),
    /// Its role and its accessible name, exactly.
    Role {
        /// The role.
        role: String,
        /// The name; any if absent.
        name: Option<String>,
    },
    /// The text of its label, exactly.
    Label(String),
    /// Its placeholder, exactly.
    Placeholder(String),
    /// Its text, exactly; of elements inside each other the innermost.
    Text(String),
    /// A selector of CSS.
    Css(String),
    /// An xpath in its own document or shadow root.
    XPath(String),
}

impl Selector {
    /// A selector of this pattern alone.
    pub fn of(pattern: Pattern) -> Self {
        Self {
            hops: Vec::new(),
            within: None,
            pattern,
            has_text: None,
            nth: None,
        }
    }

    /// The plain id that it names the element by, if it is `css=#id`.
    pub fn plain_id(&self) -> Option<&str> {
        match &self.pattern {
            Pattern::Css(css) => css
                .strip_prefix('#')
                .filter(|id| css::is_identifier(id) && self.within.is_none()),
            _ => None,
        }
    }

    /// With every text that people wrote or read changed by `change`; CSS and xpaths stay.
    #[must_use]
    pub fn with_texts(&self, change: &mut dyn FnMut(&str) -> String) -> Self {
        let mut changed = self.clone();
        let within = changed.within.as_mut();
        let texts = within.map(|within| &mut within.has_text);
        for text in texts.into_iter().chain([&mut changed.has_text]).flatten() {
            *text = change(text);
        }
        let hops = changed.hops.iter_mut().map(|hop| &mut hop.pattern);
        for pattern in hops
            .chain(changed.within.as_mut().map(|within| &mut within.pattern))
            .chain([&mut changed.pattern])
        {
            match pattern {
                Pattern::TestId(text)
                | Pattern::Role {
                    name: Some(text), ..
                }
                | Pattern::Label(text)
                | Pattern::Placeholder(text)
                | Pattern::Text(text) => *text = change(text),
                Pattern::Role { name: None, .. } | Pattern::Css(_) | Pattern::XPath(_) => {}
            }
        }
        changed
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hop in &self.hops {
            write!(formatter, "{}={} >> ", hop.kind.as_str(), hop.pattern)?;
        }
        if let Some(within) = &self.within {
            write!(formatter, "within={}", within.pattern)?;
            write_text(formatter, within.has_text.as_ref())?;
            write!(formatter, " >> ")?;
        }
        write!(formatter, "{}", self.pattern)?;
        write_text(formatter, self.has_text.as_ref())?;
        match self.nth {
            Some(nth) => write!(formatter, " >> nth={nth}"),
            None => Ok(()),
        }
    }
}

fn write_text(formatter: &mut fmt::Formatter<'_>, text: Option<&String>) -> fmt::Result {
    match text {
        Some(text) => write!(formatter, " >> has-text={}", Json::String(text.clone())),
        None => Ok(()),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| Json::String(text.to_owned()).to_string();
        match self {
            Self::TestId(id) if parse::is_plain(id) => write!(formatter, "testid={id}"),
            Self::TestId(id) => write!(formatter, "testid={}", quoted(id)),
            Self::Role { role, name: None } => write!(formatter, "role={role}"),
            Self::Role {
                role,
                name: Some(name),
            } => write!(formatter, "role={role}[name={}]", quoted(name)),
            Self::Label(text) => write!(formatter, "label={}", quoted(text)),
            Self::Placeholder(text) => write!(formatter, "placeholder={}", quoted(text)),
            Self::Text(text) => write!(formatter, "text={}", quoted(text)),
            Self::Css(css) => write!(formatter, "css={css}"),
            Self::XPath(xpath) => write!(formatter, "xpath={xpath}"),
        }
    }
}

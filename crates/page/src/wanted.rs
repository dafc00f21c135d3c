//! An element of a snapshot, described so that it is found again in another run.

use std::fmt;

use serde_json::Map;

use cuecard_source::value::{Json, cut};

/// The longest name that a message shows, in characters.
const LONGEST: usize = 60;

/// What an element is: everything that is given must hold, and it must hold for one element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Its role.
    pub role: Option<String>,
    /// Its accessible name.
    pub name: Option<String>,
    /// Its name, or the whole text in it.
    pub text: Option<String>,
    /// What it is in.
    pub within: Option<Around>,
    /// Which of several it is, in the order of the page, from 1.
    pub nth: Option<usize>,
}

/// What an element is in: a row, a dialog, a form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// Its role.
    pub role: Option<String>,
    /// Its accessible name; of a row also the text of its first cell or heading, or of all of it.
    pub name: Option<String>,
    /// A text in it: the whole of one of its cells, headings or lines.
    pub text: Option<String>,
}

impl Wanted {
    /// As `target` of a step holds it.
    pub fn to_json(&self) -> Json {
        let mut members = Map::new();
        put(&mut members, "role", self.role.as_ref());
        put(&mut members, "name", self.name.as_ref());
        put(&mut members, "text", self.text.as_ref());
        if let Some(within) = &self.within {
            members.insert("within".to_owned(), within.to_json());
        }
        if let Some(nth) = self.nth {
            members.insert("nth".to_owned(), nth.into());
        }
        Json::Object(members)
    }
}

impl Around {
    /// As `within` of a target holds it.
    pub fn to_json(&self) -> Json {
        let mut members = Map::new();
        put(&mut members, "role", self.role.as_ref());
        put(&mut members, "name", self.name.as_ref());
        put(&mut members, "text", self.text.as_ref());
        Json::Object(members)
    }
}

fn put(members: &mut Map<String, Json>, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        members.insert(key.to_owned(), Json::from(value.as_str()));
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = self.role.as_deref();
        match (&self.name, &self.text) {
            (None, None) => write!(formatter, "{}", role.unwrap_or("element"))?,
            (Some(name), None) => {
                write!(formatter, "{} {}", role.unwrap_or("element"), quoted(name))?;
            }
            (None, Some(text)) => match role {
                Some(role) => write!(formatter, "{role} with the text {}", quoted(text))?,
                None => write!(formatter, "text {}", quoted(text))?,
            },
            (Some(name), Some(text)) => write!(
                formatter,
                "{} {} with the text {}",
                role.unwrap_or("element"),
                quoted(name),
                quoted(text)
            )?,
        }
        if let Some(within) = &self.within {
            write!(formatter, " in {within}")?;
        }
        match self.nth {
            Some(nth) => write!(formatter, ", number {nth}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Around {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = self.role.as_deref().unwrap_or("element");
        write!(formatter, "{role}")?;
        if let Some(name) = &self.name {
            write!(formatter, " {}", quoted(name))?;
        }
        match &self.text {
            Some(text) => write!(formatter, " with the text {}", quoted(text)),
            None => Ok(()),
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", cut(name.trim(), LONGEST))
}

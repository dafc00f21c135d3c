//! An element in words: `the 'Delete' button in the 'Invoice 1' row`.

use std::fmt;

use super::sentence::{IGNORED, Token, TokenKind};

/// An element in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// What it is called.
    pub name: String,
    /// Whether that stood in quotes.
    pub is_quoted: bool,
    /// What it is.
    pub role: Option<RoleWord>,
    /// What it is in.
    pub within: Option<Within>,
}

/// What an element is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// What that is called; only a dialog needs no name.
    pub name: Option<String>,
    /// What it is.
    pub kind: PlaceKind,
}

/// A kind of place on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A part of the page with a name or a heading.
    Section,
    /// A dialog.
    Dialog,
    /// A row of a table, an item of a list, or a card.
    Row,
    /// A form.
    Form,
    /// A frame.
    Frame,
}

impl PlaceKind {
    const ALL: &[(&'static str, Self)] = &[
        ("section", Self::Section),
        ("dialog", Self::Dialog),
        ("row", Self::Row),
        ("item", Self::Row),
        ("card", Self::Row),
        ("list", Self::Section),
        ("table", Self::Section),
        ("form", Self::Form),
        ("frame", Self::Frame),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::Dialog => "dialog",
            Self::Row => "row",
            Self::Form => "form",
            Self::Frame => "frame",
        }
    }
}

/// A word that says what an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum RoleWord {
    Button,
    Link,
    Field,
    Checkbox,
    Radio,
    Tab,
    Option,
    MenuItem,
    Dropdown,
    Heading,
    Image,
}

/// Words for roles; longer ones first, so that "radio button" is not a button.
const ROLE_WORDS: &[(&[&str], RoleWord)] = &[
    (&["radio", "button"], RoleWord::Radio),
    (&["menu", "item"], RoleWord::MenuItem),
    (&["dropdown", "menu"], RoleWord::Dropdown),
    (&["check", "box"], RoleWord::Checkbox),
    (&["text", "field"], RoleWord::Field),
    (&["text", "box"], RoleWord::Field),
    (&["input", "field"], RoleWord::Field),
    (&["button"], RoleWord::Button),
    (&["link"], RoleWord::Link),
    (&["field"], RoleWord::Field),
    (&["box"], RoleWord::Field),
    (&["input"], RoleWord::Field),
    (&["textbox"], RoleWord::Field),
    (&["checkbox"], RoleWord::Checkbox),
    (&["radio"], RoleWord::Radio),
    (&["tab"], RoleWord::Tab),
    (&["option"], RoleWord::Option),
    (&["menuitem"], RoleWord::MenuItem),
    (&["dropdown"], RoleWord::Dropdown),
    (&["heading"], RoleWord::Heading),
    (&["image"], RoleWord::Image),
];

impl RoleWord {
    /// The roles that it means.
    pub fn roles(self) -> &'static [&'static str] {
        match self {
            Self::Button => &["button"],
            Self::Link => &["link"],
            Self::Field => &["textbox", "searchbox", "combobox", "spinbutton"],
            Self::Checkbox => &["checkbox", "switch", "menuitemcheckbox"],
            Self::Radio => &["radio", "menuitemradio"],
            Self::Tab => &["tab"],
            Self::Option => &["option"],
            Self::MenuItem => &["menuitem", "menuitemcheckbox", "menuitemradio"],
            Self::Dropdown => &["combobox", "listbox"],
            Self::Heading => &["heading"],
            Self::Image => &["img", "image"],
        }
    }

    /// The word for a role.
    pub fn of(role: &str) -> Option<Self> {
        ROLE_WORDS
            .iter()
            .map(|(_, word)| *word)
            .find(|word| word.roles().contains(&role))
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Button => "button",
            Self::Link => "link",
            Self::Field => "field",
            Self::Checkbox => "checkbox",
            Self::Radio => "radio",
            Self::Tab => "tab",
            Self::Option => "option",
            Self::MenuItem => "menu item",
            Self::Dropdown => "dropdown",
            Self::Heading => "heading",
            Self::Image => "image",
        }
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", in_quotes(&self.name))?;
        if let Some(role) = self.role {
            write!(formatter, " {}", role.word())?;
        }
        match &self.within {
            None => Ok(()),
            Some(Within { name: None, kind }) => write!(formatter, " in the {}", kind.word()),
            Some(Within {
                name: Some(name),
                kind,
            }) => write!(formatter, " in the {} {}", in_quotes(name), kind.word()),
        }
    }
}

/// A name in quotes that don't stand in it.
fn in_quotes(name: &str) -> String {
    let free = [('\'', '\''), ('"', '"'), ('`', '`'), ('“', '”'), ('«', '»')]
        .into_iter()
        .find(|(open, close)| !name.contains([*open, *close]))
        .unwrap_or(('\'', '\''));
    format!("{}{name}{}", free.0, free.1)
}

/// Without words at the beginning that say nothing.
pub(super) fn without_ignored(mut tokens: &[Token]) -> &[Token] {
    while let [first, rest @ ..] = tokens {
        if !first.is_any(IGNORED) || rest.is_empty() {
            break;
        }
        tokens = rest;
    }
    tokens
}

impl Phrase {
    /// The element that these words are about.
    ///
    /// # Errors
    /// With the reason if they are more or less than a name, a role and a place.
    pub(super) fn read(tokens: &[Token]) -> Result<Self, String> {
        Self::read_as(tokens, false)
    }

    /// With its name, and that of what it is in, changed by `change`: to fill in references before a page is
    /// looked at.
    #[must_use]
    pub fn with_texts(&self, change: &mut dyn FnMut(&str) -> String) -> Self {
        let mut changed = self.clone();
        changed.name = change(&self.name);
        if let Some(name) = changed
            .within
            .as_mut()
            .and_then(|within| within.name.as_mut())
        {
            *name = change(name);
        }
        changed
    }

    /// As [`Phrase::read`], with words for roles in the plural if there may be several.
    pub(super) fn read_as(tokens: &[Token], is_plural: bool) -> Result<Self, String> {
        let (tokens, within) = take_place(without_ignored(tokens));
        let (rest, role) = take_role(tokens, is_plural);
        let (name, is_quoted) = name(without_ignored(rest))?;
        Ok(Self {
            name,
            is_quoted,
            role,
            within,
        })
    }
}

/// Takes `in the 'Y' section` from the end.
fn take_place(tokens: &[Token]) -> (&[Token], Option<Within>) {
    let nothing = (tokens, None);
    let Some((last, before)) = tokens.split_last() else {
        return nothing;
    };
    let Some((_, kind)) = PlaceKind::ALL.iter().find(|(word, _)| last.is(word)) else {
        return nothing;
    };
    let Some(at) = before.iter().rposition(|token| token.is("in")) else {
        return nothing;
    };
    let (outside, name) = (&before[..at], without_ignored(&before[at + 1..]));
    if outside.is_empty() {
        return nothing;
    }
    let only_ignored = name.iter().all(|token| token.is_any(IGNORED));
    let name = match name {
        _ if only_ignored && *kind == PlaceKind::Dialog => None,
        [
            Token {
                kind: TokenKind::Quoted(name) | TokenKind::Reference(name),
                ..
            },
        ] => Some(name.clone()),
        words if !words.is_empty() && !only_ignored => match bare(words) {
            Some(name) => Some(name),
            None => return nothing,
        },
        _ => return nothing,
    };
    (outside, Some(Within { name, kind: *kind }))
}

/// Takes a word for a role from the end, or from before a name in quotes.
fn take_role(tokens: &[Token], is_plural: bool) -> (&[Token], Option<RoleWord>) {
    for (words, role) in ROLE_WORDS {
        let length = words.len();
        if tokens.len() <= length {
            continue;
        }
        let (rest, end) = tokens.split_at(tokens.len() - length);
        let only_ignored = rest.iter().all(|token| token.is_any(IGNORED));
        if !only_ignored && are(end, words, is_plural) {
            return (rest, Some(*role));
        }
        let (start, rest) = tokens.split_at(length);
        if let [one] = rest
            && one.is_quoted()
            && are(start, words, is_plural)
        {
            return (rest, Some(*role));
        }
    }
    (tokens, None)
}

/// Whether tokens are these words; in the plural the last with an ending.
fn are(tokens: &[Token], words: &[&str], is_plural: bool) -> bool {
    let last = words.len() - 1;
    tokens
        .iter()
        .zip(words)
        .enumerate()
        .all(|(place, (token, word))| {
            token.is(word)
                || (is_plural
                    && place == last
                    && (token.is(&format!("{word}s")) || token.is(&format!("{word}es"))))
        })
}

/// One name: in quotes, a reference, or words alone.
fn name(tokens: &[Token]) -> Result<(String, bool), String> {
    match tokens {
        [] => Err("it does not say which element".to_owned()),
        [
            Token {
                kind: TokenKind::Quoted(name),
                ..
            },
        ] if !name.trim().is_empty() => Ok((name.clone(), true)),
        [
            Token {
                kind: TokenKind::Reference(name),
                ..
            },
        ] => Ok((name.clone(), true)),
        words => match bare(words) {
            Some(name) => Ok((name, false)),
            None => Err(format!(
                "it is not clear which part of `{}` is the name: put the name in quotes",
                written(words)
            )),
        },
    }
}

/// Words alone, as they are written.
fn bare(tokens: &[Token]) -> Option<String> {
    let mut name = String::new();
    for token in tokens {
        match &token.kind {
            TokenKind::Word(word) => {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(word);
            }
            TokenKind::Break => name.push(','),
            TokenKind::Quoted(_) | TokenKind::Reference(_) => return None,
        }
    }
    (!name.trim_matches(',').is_empty()).then_some(name)
}

/// Tokens as they could stand in a sentence.
pub(super) fn written(tokens: &[Token]) -> String {
    let words: Vec<String> = tokens
        .iter()
        .map(|token| match &token.kind {
            TokenKind::Word(word) | TokenKind::Reference(word) => word.clone(),
            TokenKind::Quoted(text) => in_quotes(text),
            TokenKind::Break => ",".to_owned(),
        })
        .collect();
    words.join(" ")
}

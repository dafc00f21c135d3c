//! An element in words: `the 'Delete' button in the 'Invoice 1' row`.

use std::fmt;
use std::ops::Range;

use super::sentence::{IGNORED, Token, TokenKind, after};
use crate::ContainerKind;

/// An element in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// What it is called; empty if only its role and its container say what is meant.
    pub name: String,
    /// Whether that stood in quotes.
    pub is_quoted: bool,
    /// What it is.
    pub role: Option<RoleWord>,
    /// What it is in.
    pub within: Option<Within>,
    /// Which of several it is: 1 is the first, -1 the last.
    pub position: Option<i32>,
}

/// An element in words, and where they stand in their sentence, in bytes.
pub(super) type Words = (Phrase, Range<usize>);

/// What an element is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// What that is called; a dialog, a landmark, and the only form, table or list need no name.
    pub name: Option<String>,
    /// Whether that stood in quotes.
    pub is_quoted: bool,
    /// What it is.
    pub kind: ContainerKind,
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
    Icon,
    Slider,
    Alert,
    /// What is counted: a row of a table, without its headings.
    Row,
    /// What is counted: a row, a card, an entry of a list.
    Item,
}

/// Words for roles; longer ones first, so that "radio button" is not a button.
const ROLE_WORDS: &[(&str, RoleWord)] = &[
    ("radio button", RoleWord::Radio),
    ("menu item", RoleWord::MenuItem),
    ("dropdown menu", RoleWord::Dropdown),
    ("dropdown list", RoleWord::Dropdown),
    ("drop-down menu", RoleWord::Dropdown),
    ("drop-down list", RoleWord::Dropdown),
    ("select box", RoleWord::Dropdown),
    ("combo box", RoleWord::Dropdown),
    ("check box", RoleWord::Checkbox),
    ("text field", RoleWord::Field),
    ("text box", RoleWord::Field),
    ("text area", RoleWord::Field),
    ("text input", RoleWord::Field),
    ("input field", RoleWord::Field),
    ("input box", RoleWord::Field),
    ("button", RoleWord::Button),
    ("link", RoleWord::Link),
    ("field", RoleWord::Field),
    ("box", RoleWord::Field),
    ("input", RoleWord::Field),
    ("textbox", RoleWord::Field),
    ("textarea", RoleWord::Field),
    ("checkbox", RoleWord::Checkbox),
    ("switch", RoleWord::Checkbox),
    ("toggle", RoleWord::Checkbox),
    ("radio", RoleWord::Radio),
    ("tab", RoleWord::Tab),
    ("option", RoleWord::Option),
    ("menuitem", RoleWord::MenuItem),
    ("dropdown", RoleWord::Dropdown),
    ("drop-down", RoleWord::Dropdown),
    ("combobox", RoleWord::Dropdown),
    ("select", RoleWord::Dropdown),
    ("heading", RoleWord::Heading),
    ("image", RoleWord::Image),
    ("picture", RoleWord::Image),
    ("icon", RoleWord::Icon),
    ("slider", RoleWord::Slider),
    ("alert", RoleWord::Alert),
];

/// What people call containers. Longer ones first.
pub(super) const CONTAINER_WORDS: &[(&str, ContainerKind)] = &[
    ("table row", ContainerKind::Row),
    ("list item", ContainerKind::Item),
    ("email", ContainerKind::Item),
    ("e-mail", ContainerKind::Item),
    ("mail", ContainerKind::Item),
    ("message", ContainerKind::Item),
    ("conversation", ContainerKind::Item),
    ("question", ContainerKind::Item),
    ("dialog box", ContainerKind::Dialog),
    ("tab panel", ContainerKind::Section),
    ("row", ContainerKind::Row),
    ("item", ContainerKind::Item),
    ("entry", ContainerKind::Item),
    ("result", ContainerKind::Item),
    ("task", ContainerKind::Item),
    ("card", ContainerKind::Card),
    ("tile", ContainerKind::Card),
    ("product", ContainerKind::Card),
    ("post", ContainerKind::Post),
    ("article", ContainerKind::Post),
    ("comment", ContainerKind::Post),
    ("section", ContainerKind::Section),
    ("panel", ContainerKind::Section),
    ("group", ContainerKind::Section),
    ("area", ContainerKind::Section),
    ("region", ContainerKind::Section),
    ("menu", ContainerKind::Section),
    ("navigation", ContainerKind::Section),
    ("sidebar", ContainerKind::Section),
    ("toolbar", ContainerKind::Section),
    ("fieldset", ContainerKind::Section),
    ("column", ContainerKind::Section),
    ("dialog", ContainerKind::Dialog),
    ("popup", ContainerKind::Dialog),
    ("pop-up", ContainerKind::Dialog),
    ("modal", ContainerKind::Dialog),
    ("window", ContainerKind::Dialog),
    ("list", ContainerKind::List),
    ("table", ContainerKind::Table),
    ("grid", ContainerKind::Table),
    ("form", ContainerKind::Form),
    ("frame", ContainerKind::Frame),
    ("iframe", ContainerKind::Frame),
];

/// What a page has one of, so that it needs no name.
const LANDMARKS: &[(&str, ContainerKind)] = &[
    ("page header", ContainerKind::Header),
    ("header", ContainerKind::Header),
    ("page footer", ContainerKind::Footer),
    ("footer", ContainerKind::Footer),
    ("navigation bar", ContainerKind::Navigation),
    ("navigation menu", ContainerKind::Navigation),
    ("nav bar", ContainerKind::Navigation),
    ("navbar", ContainerKind::Navigation),
    ("navigation", ContainerKind::Navigation),
    ("side bar", ContainerKind::Sidebar),
    ("sidebar", ContainerKind::Sidebar),
    ("form", ContainerKind::Form),
    ("table", ContainerKind::Table),
    ("list", ContainerKind::List),
];

/// What is a container only behind a preposition: a tab with what it shows, a heading with what stands below it.
const PLACE_WORDS: &[(&str, ContainerKind)] = &[
    ("tab", ContainerKind::Section),
    ("heading", ContainerKind::Section),
];

/// Words between a part of a page and the name in quotes that it has.
const NAMED: &[&str] = &[
    "named",
    "called",
    "titled",
    "labelled",
    "labeled",
    "saying",
    "that says",
    "with text",
    "with the text",
    "with the label",
    "with the name",
    "with the title",
];

/// The same for what has the name somewhere in it.
const CONTAINS: &[&str] = &[
    "of",
    "for",
    "from",
    "by",
    "about",
    "with",
    "containing",
    "that contains",
    "that has",
];

/// What is in something, and what that is in.
pub(super) const PREPOSITIONS: &[&str] = &[
    "in", "inside", "within", "of", "from", "on", "for", "under", "below", "beside",
];

/// Places in an order.
pub(super) const ORDINALS: &[(&str, &str, i32)] = &[
    ("first", "1st", 1),
    ("second", "2nd", 2),
    ("third", "3rd", 3),
    ("fourth", "4th", 4),
    ("fifth", "5th", 5),
    ("sixth", "6th", 6),
    ("seventh", "7th", 7),
    ("eighth", "8th", 8),
    ("ninth", "9th", 9),
    ("tenth", "10th", 10),
    ("last", "last", -1),
];

/// Words that stand before what is no name: which one it is depends on more than the page.
const INDEFINITE: &[&str] = &[
    "this", "that", "same", "other", "next", "previous", "current", "selected", "any", "each",
    "every", "its", "new", "whole",
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
            Self::Icon => &["button", "link", "img", "image"],
            Self::Slider => &["slider"],
            Self::Alert => &["alert"],
            Self::Row => &["row"],
            Self::Item => &["listitem", "row", "article", "treeitem", "option"],
        }
    }

    /// Whether people call so what listens to clicks and has no role.
    pub(super) fn may_lack_role(self) -> bool {
        matches!(
            self,
            Self::Button | Self::Link | Self::Icon | Self::Tab | Self::MenuItem | Self::Option
        )
    }

    /// The word for a role.
    pub fn of(role: &str) -> Option<Self> {
        ROLE_WORDS
            .iter()
            .map(|(_, word)| *word)
            .find(|word| word.roles().contains(&role))
    }

    /// What a word says of an element.
    pub(super) fn known(word: &str) -> Option<Self> {
        let mut known = ROLE_WORDS.iter();
        known.find(|(own, _)| *own == word).map(|(_, role)| *role)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
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
            Self::Icon => "icon",
            Self::Slider => "slider",
            Self::Alert => "alert",
            Self::Row => "row",
            Self::Item => "item",
        }
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_any() {
            return formatter.write_str("element for that");
        }
        if self.is_container()
            && let Some(within) = &self.within
        {
            return write!(formatter, "{within}");
        }
        let name = Some(&self.name).filter(|name| !name.is_empty());
        let words = [
            self.position.map(ordinal),
            name.map(|name| in_quotes(name)),
            self.role.map(|role| role.as_str().to_owned()),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        formatter.write_str(&words.join(" "))?;
        match &self.within {
            None => Ok(()),
            Some(within) => write!(formatter, " in the {within}"),
        }
    }
}

impl Within {
    /// The kinds of what people call by a word.
    pub(super) fn kinds_of(word: &str) -> impl Iterator<Item = ContainerKind> {
        let known = CONTAINER_WORDS.iter().chain(LANDMARKS);
        known
            .filter(move |(own, _)| *own == word)
            .map(|(_, kind)| *kind)
    }
}

impl fmt::Display for Within {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(formatter, "{} ", in_quotes(name))?;
        }
        formatter.write_str(self.kind.as_str())
    }
}

/// The word for a place in an order.
fn ordinal(position: i32) -> String {
    let known = ORDINALS.iter().find(|(.., known)| *known == position);
    known.map_or_else(|| format!("{position}th"), |(word, ..)| (*word).to_owned())
}

/// A name in quotes that don't stand in it.
pub(super) fn in_quotes(name: &str) -> String {
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
    pub(super) fn read(tokens: &[Token]) -> Result<Words, String> {
        Self::read_as(tokens, false)
    }

    /// What has this name, as a whole.
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_quoted: true,
            role: None,
            within: None,
            position: None,
        }
    }

    /// Whatever an action can be done with.
    pub(super) fn any() -> Self {
        Self {
            is_quoted: false,
            ..Self::named("")
        }
    }

    /// Whether nothing is said of what is meant.
    pub(super) fn is_any(&self) -> bool {
        self.is_container() && self.within.is_none()
    }

    /// Whatever is of this role.
    pub(super) fn nameless(role: RoleWord) -> Self {
        Self {
            is_quoted: false,
            role: Some(role),
            ..Self::named("")
        }
    }

    /// A container itself.
    pub(super) fn itself(within: Within) -> Self {
        Self {
            is_quoted: false,
            within: Some(within),
            ..Self::named("")
        }
    }

    /// Whether a dialog itself is meant.
    pub(super) fn is_dialog(&self) -> bool {
        let kind = self.within.as_ref().map(|within| within.kind);
        self.is_container() && kind == Some(ContainerKind::Dialog)
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

    /// Whether the container itself is meant, and nothing in it.
    pub(crate) fn is_container(&self) -> bool {
        self.name.is_empty() && self.role.is_none()
    }

    /// Whether a name alone is said of it, and where it is: that may be the label of what is meant.
    pub(super) fn is_label(&self) -> bool {
        !self.name.is_empty() && self.role.is_none() && self.position.is_none()
    }

    /// With the ordinal as a word of its name: `Last name` is a name, too.
    pub(super) fn with_ordinal_in_name(&self) -> Option<Self> {
        let position = self.position.filter(|_| !self.is_quoted)?;
        Some(Self {
            name: format!("{} {}", ordinal(position), self.name),
            is_quoted: true,
            position: None,
            ..self.clone()
        })
    }

    /// As [`Phrase::read`], with words for roles in the plural if there may be several.
    pub(super) fn read_as(tokens: &[Token], is_plural: bool) -> Result<Words, String> {
        let (outside, within) = match take_place(tokens) {
            Some((outside, within)) => (outside, Some(within)),
            None => (tokens, None),
        };
        let (rest, position) = match is_plural {
            true => (without_ignored(outside), None),
            false => take_ordinal(without_ignored(outside)),
        };
        let is_definite = rest.len() < outside.len() || within.is_some();
        // `Link` alone may be a name.
        let is_lower = rest
            .iter()
            .all(|token| token.as_str().is_some_and(is_lower));
        // `the email from Tom Becker`: no control is called so.
        let is_from = starts_with(rest, CONTAINER_WORDS).is_some();
        let is_only = is_lower && (is_definite || is_plural);
        let phrase = match ends_with(rest, ROLE_WORDS, is_plural) {
            Some((role, [])) if is_only => Self {
                within,
                position,
                ..Self::nameless(role)
            },
            _ => match container(rest, CONTAINER_WORDS, is_definite) {
                Some(itself)
                    if (itself.is_quoted || itself.kind == ContainerKind::Dialog || is_from)
                        && within.is_none()
                        && position.is_none() =>
                {
                    Self::itself(itself)
                }
                _ => {
                    let (rest, role) = take_role(rest, is_plural);
                    let (name, is_quoted) = name(without_ignored(rest))?;
                    Self {
                        name,
                        is_quoted,
                        role,
                        within,
                        position,
                    }
                }
            },
        };
        Ok((phrase, span(tokens)))
    }

    /// What is counted in a place: rows, or any items.
    pub(super) fn counted(noun: &Token, within: Within) -> Option<Self> {
        let noun = noun.as_str()?.to_lowercase();
        let stem = noun.strip_suffix("ies").map(|stem| format!("{stem}y"));
        let is_it = |word: &str| {
            word == noun || Some(word) == noun.strip_suffix('s') || Some(word) == stem.as_deref()
        };
        let (_, kind) = CONTAINER_WORDS.iter().find(|(word, _)| is_it(word))?;
        let role = match kind {
            ContainerKind::Row => RoleWord::Row,
            kind if kind.is_item() => RoleWord::Item,
            _ => return None,
        };
        Some(Self {
            within: Some(within),
            ..Self::nameless(role)
        })
    }

    /// A container itself, by a name that need not stand in quotes: `the Invoice 7 row`.
    pub(super) fn read_container(tokens: &[Token]) -> Option<Self> {
        container(without_ignored(tokens), CONTAINER_WORDS, true).map(Self::itself)
    }
}

/// Where tokens stand in their sentence, in bytes.
pub(super) fn span(tokens: &[Token]) -> Range<usize> {
    let ends = tokens.first().zip(tokens.last());
    // Words that were put in another order stand nowhere.
    ends.filter(|(first, last)| first.start < last.end)
        .map_or(0..0, |(first, last)| first.start..last.end)
}

fn is_lower(word: &str) -> bool {
    !word.contains(char::is_uppercase)
}

/// Takes `in the 'Y' section` from the end.
pub(super) fn take_place(tokens: &[Token]) -> Option<(&[Token], Within)> {
    (1..tokens.len()).rev().find_map(|at| {
        let preposition = &tokens[at];
        let is_next_to = at > 1 && preposition.is("to") && tokens[at - 1].is("next");
        if !is_next_to && !preposition.is_any(PREPOSITIONS) {
            return None;
        }
        let outside = &tokens[..at - usize::from(is_next_to)];
        let inner = without_ignored(&tokens[at + 1..]);
        let is_definite = inner.len() + at + 1 < tokens.len();
        if outside.iter().all(|token| token.is_any(IGNORED)) {
            return None;
        }
        let is_inside = preposition.is_any(&["in", "inside", "within", "under"]);
        let named = [CONTAINER_WORDS, PLACE_WORDS]
            .iter()
            .find_map(|words| container(inner, words, is_definite))
            .filter(|within| is_inside || within.is_quoted || within.name.is_none());
        let unnamed = || {
            let kind = match () {
                () if is_next_to || preposition.is_any(&["for", "beside"]) => ContainerKind::Item,
                () if preposition.is_any(&["under", "below"]) => ContainerKind::Section,
                () => return None,
            };
            let (name, is_quoted) = name(inner).ok()?;
            // `Search for Rooms` is a name, `the checkbox for Lease.pdf` is none.
            let is_short = outside.iter().any(|token| token.as_str().is_none())
                || ends_with(without_ignored(outside), ROLE_WORDS, false).is_some();
            let is_name = !name.starts_with(char::is_lowercase);
            (is_quoted || (is_name && (is_short || !preposition.is("for")))).then_some(Within {
                name: Some(name),
                is_quoted,
                kind,
            })
        };
        Some((outside, named.or_else(unnamed)?))
    })
}

/// A container by its name: `'Tea' row`, `Bob Brown's row`, `row of Bob Brown`, `row 'Tea'`, `dialog`.
fn container(
    tokens: &[Token],
    words: &[(&str, ContainerKind)],
    is_definite: bool,
) -> Option<Within> {
    let named = |tokens: &[Token], kind: ContainerKind, may_be_bare: bool| {
        let (mut name, is_quoted) = name(without_ignored(tokens)).ok()?;
        if !is_quoted {
            let is_vague = without_ignored(tokens)
                .first()
                .is_some_and(|token| token.is_any(INDEFINITE) || position_of(token).is_some());
            if is_vague || !may_be_bare {
                return None;
            }
            if kind.is_item()
                && let Some(owner) = name.strip_suffix("'s").or_else(|| name.strip_suffix("’s"))
            {
                name = owner.to_owned();
            }
        }
        Some(Within {
            name: Some(name),
            is_quoted,
            kind,
        })
    };
    let unnamed = |kind| Within {
        name: None,
        is_quoted: false,
        kind,
    };
    if is_definite && let Some((kind, [])) = ends_with(tokens, LANDMARKS, false) {
        return Some(unnamed(kind));
    }
    if let Some((kind, rest)) = ends_with(tokens, words, false) {
        return match rest {
            [] if kind == ContainerKind::Dialog && is_definite => Some(unnamed(kind)),
            [] => None,
            rest => named(rest, kind, true),
        };
    }
    let (kind, rest) = starts_with(tokens, words)?;
    let joined = NAMED
        .iter()
        .chain(CONTAINS)
        .find_map(|join| after(rest, join));
    named(joined.unwrap_or(rest), kind, joined.is_some())
}

/// An item by its name, and whether a word says what it is.
pub(super) fn item(tokens: &[Token]) -> Option<(Within, bool)> {
    let rest = without_ignored(tokens);
    let known = container(rest, CONTAINER_WORDS, false).filter(|within| within.kind.is_item());
    if let Some(known) = known {
        return Some((known, true));
    }
    let (name, is_quoted) = name(rest).ok()?;
    let is_name = is_quoted || !name.starts_with(char::is_lowercase);
    let within = Within {
        name: Some(name),
        is_quoted,
        kind: ContainerKind::Item,
    };
    is_name.then_some((within, false))
}

/// Takes `first`, `2nd` or `last` from the beginning. Before a name that is not in quotes only in small letters, and
/// if the name begins with a capital: `Last name` is the name of a field.
fn take_ordinal(tokens: &[Token]) -> (&[Token], Option<i32>) {
    let [first, rest @ ..] = tokens else {
        return (tokens, None);
    };
    let Some(position) = position_of(first) else {
        return (tokens, None);
    };
    let is_number = first
        .as_str()
        .is_some_and(|word| word.starts_with(|sign: char| sign.is_ascii_digit()));
    let is_lower = first.as_str().is_some_and(is_lower);
    let is_role = ends_with(rest, ROLE_WORDS, false).is_some_and(|(_, rest)| rest.is_empty());
    let is_named = rest.iter().any(|token| token.as_str().is_none());
    let is_capital = rest
        .first()
        .and_then(Token::as_str)
        .is_some_and(|word| word.starts_with(char::is_uppercase));
    match !rest.is_empty() && (is_named || is_number || (is_lower && (is_role || is_capital))) {
        true => (rest, Some(position)),
        false => (tokens, None),
    }
}

fn position_of(token: &Token) -> Option<i32> {
    ORDINALS
        .iter()
        .find(|(word, number, _)| token.is(word) || token.is(number))
        .map(|(.., position)| *position)
}

/// Takes a word for a role from the end, or from before a name in quotes.
fn take_role(tokens: &[Token], is_plural: bool) -> (&[Token], Option<RoleWord>) {
    if let Some((role, rest)) = ends_with(tokens, ROLE_WORDS, is_plural)
        && !rest.iter().all(|token| token.is_any(IGNORED))
    {
        return (rest, Some(role));
    }
    if let Some((role, rest)) = starts_with(tokens, ROLE_WORDS) {
        let rest = NAMED
            .iter()
            .find_map(|join| after(rest, join))
            .unwrap_or(rest);
        if let [one] = rest
            && one.as_str().is_none()
        {
            return (rest, Some(role));
        }
    }
    (tokens, None)
}

/// What stands before one of these at the end; in the plural the last word has an ending.
fn ends_with<'t, T: Copy>(
    tokens: &'t [Token],
    known: &[(&str, T)],
    is_plural: bool,
) -> Option<(T, &'t [Token])> {
    known.iter().find_map(|(words, value)| {
        let words: Vec<&str> = words.split(' ').collect();
        let start = tokens.len().checked_sub(words.len())?;
        let last = words.len() - 1;
        let are_equal =
            tokens[start..]
                .iter()
                .zip(&words)
                .enumerate()
                .all(|(place, (token, word))| {
                    let is_ending = is_plural && place == last;
                    token.is(word)
                        || (is_ending
                            && (token.is(&format!("{word}s")) || token.is(&format!("{word}es"))))
                });
        are_equal.then_some((*value, &tokens[..start]))
    })
}

/// What follows one of these at the beginning.
fn starts_with<'t, T: Copy>(tokens: &'t [Token], known: &[(&str, T)]) -> Option<(T, &'t [Token])> {
    known
        .iter()
        .find_map(|(words, value)| Some((*value, after(tokens, words)?)))
        .filter(|(_, rest)| !rest.is_empty())
}

/// One name: in quotes, a reference, or words alone.
fn name(tokens: &[Token]) -> Result<(String, bool), String> {
    match tokens {
        [] => Err("the element is missing".to_owned()),
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

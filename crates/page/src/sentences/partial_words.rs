//! How words of sentences and pages are compared, and words that need not stand on a page.

use super::phrase::RoleWord;
use crate::dom::DomElement;

/// Words that say nothing of an element.
const SILENT: &[&str] = &[
    "the", "a", "an", "to", "of", "for", "in", "on", "at", "from", "by", "with", "into", "as",
    "and", "i", "my", "your", "our", "its", "it", "this", "that", "please", "under", "inside",
    "within", "about", "next", "page", "number", "say",
];

/// What people call parts of pages, and all of a page, besides containers.
const PARTS: &[&str] = &[
    "app",
    "bar",
    "block",
    "board",
    "bottom",
    "box",
    "calendar",
    "chart",
    "corner",
    "dashboard",
    "data",
    "feed",
    "footer",
    "header",
    "left",
    "panel",
    "part",
    "poll",
    "right",
    "side",
    "sidebar",
    "site",
    "top",
    "view",
];

/// What people call items, besides containers.
const ITEMS: &[&str] = &[
    "account",
    "answer",
    "appointment",
    "charge",
    "chip",
    "contact",
    "cookie",
    "event",
    "file",
    "filter",
    "flag",
    "folder",
    "invoice",
    "key",
    "order",
    "payment",
    "playlist",
    "project",
    "recipe",
    "reply",
    "tag",
    "ticket",
    "track",
    "user",
    "webhook",
];

/// Signs on buttons and the words for them, with the words that they stand for.
const SIGNS: &[(&[&str], &[&str])] = &[
    (&["pencil", "✎", "✏"], &["edit"]),
    (&["gear", "⚙"], &["setting"]),
    (&["trash", "bin", "🗑"], &["delete", "remove"]),
    (&["x", "×", "✕", "✖"], &["close", "dismiss", "remove"]),
    (&["heart", "♥", "♡"], &["favourite", "like"]),
    (&["star", "★", "☆"], &["favourite"]),
    (&["bell", "🔔"], &["notification"]),
    (
        &["dot", "three", "·", "⋮", "⋯"],
        &["menu", "action", "option", "more"],
    ),
    (&["plus", "+"], &["add", "increase"]),
    (&["minus", "−"], &["decrease", "reduce"]),
    (&["arrow", "›", "→"], &["next", "forward"]),
    (&["arrow", "‹", "←"], &["previous", "back"]),
];

/// The words of a text: without capitals, hyphens and the `s` of a plural; signs that stand for a word are words.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut push = |word: &mut String| {
        if !word.is_empty() {
            words.push(singular(word));
            word.clear();
        }
    };
    let lower = text.to_lowercase();
    let mut signs = lower.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_between = |next: Option<&char>| next.is_some_and(|next| next.is_alphanumeric());
        match sign {
            sign if sign.is_alphanumeric() => {
                // `Promotions24 new`: between them stands what only the eye sees.
                if word.ends_with(char::is_alphabetic) && sign.is_ascii_digit() {
                    push(&mut word);
                }
                word.push(sign);
            }
            // `e-mail`, `Alice's`
            '-' if word.ends_with(char::is_alphabetic) && is_between(signs.peek()) => {}
            '\'' | '’' if !word.is_empty() => {}
            // `41.6`, `2,310`
            '.' | ','
                if word.ends_with(|last: char| last.is_ascii_digit())
                    && signs.peek().is_some_and(char::is_ascii_digit) =>
            {
                word.push(sign);
            }
            sign => {
                // `+49` is no sign for a word.
                let is_apart = word.is_empty() && !is_between(signs.peek());
                push(&mut word);
                let mut one = sign.to_string();
                if is_apart && SIGNS.iter().any(|(signs, _)| signs.contains(&one.as_str())) {
                    push(&mut one);
                }
            }
        }
    }
    push(&mut word);
    words
}

fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    let figures = word.trim_end_matches(char::is_alphabetic);
    if !figures.is_empty() && ["st", "nd", "rd", "th"].contains(&&word[figures.len()..]) {
        return figures.to_owned();
    }
    match word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        true => word[..word.len() - 1].to_owned(),
        false => word.to_owned(),
    }
}

/// Whether two words are the same, or one is a sign and the other one of its words.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    let stands_for = |sign: &str, word: &str| {
        SIGNS.iter().any(|(signs, words)| {
            signs.contains(&sign) && (words.contains(&word) || signs.contains(&word))
        })
    };
    one == other || stands_for(one, other) || stands_for(other, one)
}

pub(super) fn is_silent(word: &str) -> bool {
    SILENT
        .iter()
        .any(|silent| *silent == word || singular(silent) == word)
}

/// Whether people call any part of a page so, or all of it.
pub(super) fn is_part_noun(word: &str) -> bool {
    PARTS.contains(&word)
}

/// Whether people call an item so.
pub(super) fn is_item_noun(word: &str) -> bool {
    let mut items = ITEMS.iter();
    items.any(|item| *item == word || singular(&format!("{item}s")) == word)
}

/// Whether a word says what an element is.
pub(super) fn noun_of(element: &DomElement, word: &str) -> bool {
    let is_role = |role: RoleWord| {
        role.roles().contains(&element.role.as_str())
            || (role.may_lack_role() && element.role.is_empty())
    };
    RoleWord::known(word).is_some_and(is_role)
        || (word == "option" && element.role == "radio")
        || element.input_type().as_deref() == Some(word)
}

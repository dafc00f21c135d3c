//! Signs that stand for words, and nouns for elements, items and places.

use super::phrase::{CONTAINER_WORDS, ORDINALS, PREPOSITIONS};
use super::sentence::Token;
use crate::dom::DomElement;

/// Signs on buttons and the words for them, with the words that they stand for.
const SIGNS: &[(&[&str], &[&str])] = &[
    (&["pencil", "✎", "✏", "🖉", "✍"], &["edit"]),
    (&["gear", "cog", "⚙"], &["setting"]),
    (&["trash", "bin", "🗑"], &["delete", "remove"]),
    (
        &["cross", "x", "×", "✕", "✖", "✗"],
        &["close", "dismiss", "remove"],
    ),
    (
        &["heart", "♥", "♡", "❤"],
        &["favourite", "favorite", "wishlist", "like"],
    ),
    (&["star", "★", "☆", "⭐"], &["favourite", "favorite"]),
    (&["bell", "🔔"], &["notification", "alert"]),
    (&["magnifier", "glass", "🔍", "🔎"], &["search"]),
    (
        &[
            "dot", "three", "threedot", "kebab", "ellipsis", "·", "•", "⋮", "⋯",
        ],
        &["menu", "action", "option", "more"],
    ),
    (&["hamburger", "☰"], &["menu"]),
    (&["🔖"], &["bookmark", "save"]),
    (&["avatar"], &["profile", "account"]),
    (&["plus", "+", "＋"], &["add", "increase", "more", "raise"]),
    (
        &["minus", "−", "–"],
        &["decrease", "reduce", "lower", "less", "fewer"],
    ),
    (&["arrow", "›", "»", "→"], &["next", "forward", "newer"]),
    (&["arrow", "‹", "«", "←"], &["previous", "back", "older"]),
    (&["▸"], &["expand"]),
    (&["▾", "▼"], &["collapse"]),
    (&["▶", "►"], &["play", "expand"]),
    (&["⏸"], &["pause"]),
    (&["⬇"], &["download"]),
    (&["⬆"], &["upload"]),
    (&["▲", "△", "↑"], &["up", "upvote"]),
    (&["▼", "▽", "↓"], &["down", "downvote"]),
];

/// Words of a sentence that say nothing about an element.
const SILENT: &[&str] = &[
    "the",
    "a",
    "an",
    "to",
    "of",
    "for",
    "in",
    "on",
    "at",
    "from",
    "by",
    "with",
    "into",
    "as",
    "and",
    "is",
    "are",
    "be",
    "i",
    "my",
    "your",
    "our",
    "its",
    "it",
    "this",
    "that",
    "these",
    "those",
    "please",
    "under",
    "below",
    "above",
    "beside",
    "near",
    "inside",
    "within",
    "over",
    "about",
    "named",
    "called",
    "titled",
    "labelled",
    "labeled",
    "says",
    "saying",
    "belonging",
    "current",
    "currently",
    "page",
    "element",
    "now",
    "which",
    "there",
    "number",
    "amount",
];

/// Words for what an element is, by its role.
const NOUNS: &[(&[&str], &[&str])] = &[
    (
        &["button", ""],
        &["button", "icon", "item", "control", "sign"],
    ),
    (&["link"], &["link", "item", "entry"]),
    (
        &["textbox", "searchbox", "spinbutton", "combobox"],
        &["field", "box", "input", "textbox", "area", "textarea"],
    ),
    (
        &["combobox", "listbox"],
        &[
            "dropdown", "list", "menu", "select", "selector", "picker", "filter", "combobox",
        ],
    ),
    (
        &["checkbox", "switch", "menuitemcheckbox"],
        &["checkbox", "box", "switch", "toggle", "option", "tickbox"],
    ),
    (
        &["radio", "menuitemradio"],
        &["radio", "button", "option", "choice"],
    ),
    (&["tab", ""], &["tab", "view", "filter"]),
    (
        &["option", "menuitem", ""],
        &["option", "item", "entry", "choice"],
    ),
    (
        &["columnheader"],
        &["column", "header", "heading", "sort", "table"],
    ),
    (&["treeitem"], &["folder", "node", "item", "entry"]),
    (&["img", "image"], &["image", "picture", "photo", "icon"]),
    (&["heading"], &["heading", "title", "headline"]),
    (&["slider"], &["slider"]),
    (
        &["", "emphasis", "generic", "paragraph", "status", "strong"],
        &[
            "avatar", "badge", "count", "counter", "label", "line", "note", "text", "value",
        ],
    ),
    (
        &["alert", "status"],
        &["alert", "warning", "message", "notice", "banner", "error"],
    ),
];

/// What people do with an item, by the control in it of that name.
pub(super) const ITEM_VERBS: &[&str] = &[
    "accept",
    "approve",
    "archive",
    "block",
    "bookmark",
    "cancel",
    "connect",
    "copy",
    "delete",
    "disconnect",
    "download",
    "duplicate",
    "edit",
    "follow",
    "like",
    "mute",
    "pin",
    "print",
    "reject",
    "remove",
    "rename",
    "reply",
    "report",
    "save",
    "share",
    "star",
    "unfollow",
    "view",
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
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    match is_plural {
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

/// Whether a word says what an element of this role is.
pub(super) fn noun_of(role: &str, word: &str) -> bool {
    NOUNS
        .iter()
        .any(|(roles, nouns)| roles.contains(&role) && nouns.contains(&word))
}

/// Parts of pages by the words for them, with the roles and tags that they have.
const PLACES: &[(&[&str], &[&str])] = &[
    (
        &["header", "top", "bar", "toolbar", "corner", "right", "left"],
        &["banner", "header", "thead"],
    ),
    (&["footer", "bottom"], &["contentinfo", "footer"]),
    (
        &[
            "sidebar",
            "left",
            "right",
            "side",
            "panel",
            "menu",
            "navigation",
            "nav",
            "bar",
        ],
        &["navigation", "complementary", "aside", "nav"],
    ),
    (&["toolbar", "bar"], &["toolbar"]),
    (
        &[
            "dialog", "popup", "modal", "window", "box", "banner", "overlay",
        ],
        &["dialog", "alertdialog"],
    ),
    (&["form"], &["form"]),
    (&["table", "grid", "list"], &["table", "grid", "treegrid"]),
    (&["list"], &["list", "listbox", "feed"]),
    (&["tree"], &["tree"]),
    (&["menu"], &["menu"]),
    (
        &[
            "section", "area", "part", "panel", "box", "block", "group", "column", "list",
            "question",
        ],
        &[
            "region",
            "section",
            "group",
            "radiogroup",
            "fieldset",
            "article",
            "tabpanel",
            "details",
        ],
    ),
];

/// What else people call items.
const ITEM_NOUNS: &[&str] = &[
    "account",
    "answer",
    "appointment",
    "booking",
    "charge",
    "contact",
    "customer",
    "deal",
    "employee",
    "event",
    "file",
    "folder",
    "invoice",
    "issue",
    "job",
    "key",
    "line",
    "member",
    "notification",
    "order",
    "payment",
    "person",
    "playlist",
    "project",
    "record",
    "reply",
    "song",
    "thread",
    "ticket",
    "topic",
    "track",
    "transaction",
    "user",
];

pub(super) fn is_preposition(token: &Token) -> bool {
    token.is_any(PREPOSITIONS) || token.is_any(&["next", "to", "at", "by"])
}

/// Whether people call an item by this word, in the singular.
pub(super) fn is_item_noun(word: &str) -> bool {
    ITEM_NOUNS.contains(&word)
        || CONTAINER_WORDS
            .iter()
            .any(|(known, kind)| kind.is_item() && *known == word)
}

/// Whether people call a part of the page by this word, in the singular, that is such an element.
pub(super) fn is_place_noun(word: &str, element: &DomElement) -> bool {
    let (role, tag) = (element.role.as_str(), element.tag_name.as_str());
    PLACES.iter().any(|(words, roles)| {
        words.contains(&word) && (roles.contains(&role) || roles.contains(&tag))
    })
}

/// The words for the place that is `at` among `count`, counted from nought.
pub(super) fn position_words(at: usize, count: usize) -> Vec<String> {
    let position = i32::try_from(at + 1).unwrap_or(i32::MAX);
    let is_meant = |known: i32| known == position || (known == -1 && at + 1 == count);
    ORDINALS
        .iter()
        .filter(|(.., known)| is_meant(*known))
        .flat_map(|(word, number, _)| [(*word).to_owned(), (*number).to_owned()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_what_people_write_differently() {
        for (text, words) in [
            ("E-mail address", "email address"),
            ("Bob's replies", "bob reply"),
            ("Promotions24 new", "promotion 24 new"),
            ("the 23rd", "the 23"),
            ("€2,310.50 / month", "2,310.50 month"),
            ("+ Add", "+ add"),
            ("+49 30", "49 30"),
            ("classes, bus", "classe bus"),
            ("", ""),
        ] {
            assert_eq!(plain_words(text).join(" "), words, "{text:?}");
        }
    }

    #[test]
    fn a_sign_stands_for_its_words_and_not_these_for_each_other() {
        assert!(are_alike("✎", "edit") && are_alike("pencil", "edit") && are_alike("✎", "pencil"));
        assert!(are_alike("arrow", "back") && are_alike("arrow", "next"));
        assert!(!are_alike("back", "next"));
        assert!(are_alike("dot", "menu") && !are_alike("menu", "option"));
        assert!(!are_alike("edit", "delete"));
    }
}

//! The elements and attributes that mean something in Markdown.

use html5gum::{StartTag, State};

/// The longest URL that is kept, and the longest value of an attribute, in bytes.
const MAX_URL_BYTES: usize = 8_192;
const MAX_VALUE_BYTES: usize = 16 * 1024;

/// Elements that are markup inside, of which nothing is to be read.
pub(super) const DROPPED: &[&str] = &["math", "svg", "template"];

/// How the content of an element is read in which nothing is markup, and whether it is text for people.
pub(super) fn raw_state(name: &str) -> Option<(State, bool)> {
    match name {
        "title" | "textarea" => Some((State::RcData, true)),
        "script" => Some((State::ScriptData, false)),
        "style" | "noscript" | "noframes" | "noembed" | "iframe" => Some((State::RawText, false)),
        _ => None,
    }
}

/// An element that means something in Markdown: its name, the name of several that mean the same.
pub(super) fn meaning(name: &str) -> Option<(&'static str, &'static str)> {
    const SAME: &str = "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre table thead tbody tfoot tr td th \
        caption a code strong em br hr img";
    const BLOCKS: &str = "div section article aside header footer nav main form fieldset legend figure \
        figcaption address details summary dl dt dd option center dialog hgroup search dir menu optgroup title";
    let named = |names: &'static str| names.split(' ').find(|known| *known == name);
    match name {
        "b" => Some(("strong", "strong")),
        "i" => Some(("em", "em")),
        _ => named(SAME)
            .map(|name| (name, name))
            .or_else(|| named(BLOCKS).map(|name| (name, "div"))),
    }
}

pub(super) fn is_inline(name: &str) -> bool {
    matches!(name, "a" | "code" | "strong" | "em" | "br" | "img")
}

pub(super) fn is_table_part(name: &str) -> bool {
    matches!(
        name,
        "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "caption"
    )
}

/// Where only parts of a table may stand.
pub(super) fn is_table_frame(name: &str) -> bool {
    matches!(name, "table" | "thead" | "tbody" | "tfoot" | "tr")
}

/// What an end tag inside doesn't reach over.
pub(super) const CELLS: &[&str] = &["td", "th", "caption", "table"];

/// The value of an attribute.
pub(super) fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    let is_short = value.len() <= MAX_VALUE_BYTES;
    is_short.then(|| String::from_utf8_lossy(value).into_owned())
}

/// A URL worth keeping, without the line ends that browsers ignore.
pub(super) fn clean_url(url: &str) -> Option<String> {
    let url: String = url
        .trim()
        .chars()
        .filter(|c| !c.is_ascii_control())
        .collect();
    let scheme = url
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let kept = !url.is_empty()
        && url.len() <= MAX_URL_BYTES
        && !matches!(scheme.as_str(), "data" | "javascript");
    kept.then_some(url)
}

/// The language that the class of a `pre` or `code` names.
pub(super) fn language_of(tag: &StartTag<()>) -> Option<String> {
    let class = attribute(tag, "class")?;
    let language = class
        .split_ascii_whitespace()
        .find_map(|class| class.strip_prefix("language-"))?;
    let plain = language.len() <= 32
        && language.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'#' | b'.' | b'_')
        });
    (plain && !language.is_empty()).then(|| language.to_owned())
}

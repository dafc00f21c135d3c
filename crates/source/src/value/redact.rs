//! Secrets never reach a trace, report, log or journal: they are replaced before anything is written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use smallvec::SmallVec;

use super::spelling::{Symbol, encoded, is_special, percent_decoded, readings};
use super::{Json, SHORTEST_SECRET, is_invisible, printable};

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// How many characters a line of a secret has at least to be one by itself.
const SHORTEST_LINE: usize = 8;

/// What stands around the marks of a gap in the output of a command; behind the line end before it, and before the one
/// behind it. The first also stands behind a line found in a file, after a space.
const GAP_START: &str = "[…";
const GAP_END: &str = "…]";

/// The most bytes of an escaped character, and of an escape sequence.
const LONGEST_ESCAPED: usize = 32;
const LONGEST_SEQUENCE: usize = 256;

/// Replaces every occurrence of a set of secrets, however its characters are escaped.
#[derive(Clone)]
pub struct Redactor {
    secrets: Vec<String>,
    /// The prefix tree of the secrets. The first node is its root.
    nodes: Vec<Node>,
    filter: Filter,
}

/// Tells most places where no secret begins.
#[derive(Clone)]
struct Filter {
    /// Whether a byte may begin a secret.
    starts: [bool; 256],
    /// Whether it may do so behind backslashes.
    escaped: [bool; 256],
    /// The first bytes of secrets, hashed; empty if one is too short.
    prefixes: Vec<bool>,
}

/// A character of secrets that begin with the same characters.
#[derive(Clone, Default)]
struct Node {
    children: Vec<(char, usize)>,
    /// The bytes of a character outside ASCII, in each charset.
    encoded: Vec<SmallVec<[u8; 4]>>,
    /// Of a secret that ends here, how many of its last characters are enough to tell it.
    end: Option<usize>,
    /// Whether the characters so far are enough to tell a secret whose rest was cut.
    is_enough: bool,
}

impl Default for Redactor {
    fn default() -> Self {
        let of = |bytes: &[u8]| {
            std::array::from_fn(|idx| bytes.iter().any(|byte| usize::from(*byte) == idx))
        };
        Self {
            secrets: Vec::new(),
            nodes: vec![Node::default()],
            filter: Filter {
                starts: of(b"\\%&"),
                escaped: of(b"ux%&0123"),
                prefixes: vec![false; N_PREFIXES],
            },
        }
    }
}

impl Filter {
    fn add(&mut self, secret: &str) {
        let first = secret.chars().next().unwrap_or_default();
        let (others, escaped) = match first {
            ' ' => ("+", "+"),
            '\\' => ("/", "\\"),
            '\n' => ("\r", "n"),
            '\r' => ("", "r"),
            '\t' => ("'", "'t"),
            '\u{8}' => ("", "b"),
            '\u{c}' => ("", "f"),
            _ => ("", ""),
        };
        let starts = secret.bytes().take(1).chain(others.bytes());
        starts.for_each(|start| self.starts[usize::from(start)] = true);
        let escaped = secret.bytes().take(1).chain(escaped.bytes());
        escaped.for_each(|start| self.escaped[usize::from(start)] = true);
        match secret.as_bytes() {
            &[first, second, third, ..] => {
                if let Some(prefix) = self.prefixes.get_mut(hash([first, second, third])) {
                    *prefix = true;
                }
            }
            _ => self.prefixes.clear(),
        }
    }

    /// Where a secret may begin, from `at` on.
    fn next(&self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            at += text
                .get(at..)?
                .iter()
                .position(|byte| self.starts[usize::from(*byte)])?;
            let rest = &text[at..];
            if rest[0] == b'\\' {
                if self.escaped[usize::from(b'\\')] {
                    return Some(at);
                }
                let end = rest.iter().position(|byte| *byte != b'\\')?;
                if self.escaped[usize::from(rest[end])] {
                    return Some(at);
                }
                at += end;
                continue;
            }
            // Signs that nobody sees may stand between the characters of a secret.
            let is_plain =
                |byte: u8| (b' '..=b'~').contains(&byte) && !is_special(char::from(byte));
            match *rest {
                [first, second, third, ..]
                    if is_plain(first) && is_plain(second) && is_plain(third) =>
                {
                    let prefix = self.prefixes.get(hash([first, second, third]));
                    if prefix.copied().unwrap_or(true) {
                        return Some(at);
                    }
                }
                _ => return Some(at),
            }
            at += 1;
        }
    }
}

/// How many hashes of first bytes there are.
const N_PREFIXES: usize = 1 << 14;

fn hash(bytes: [u8; 3]) -> usize {
    let [first, second, third] = bytes;
    let hash = u32::from_le_bytes([first, second, third, 0]).wrapping_mul(0x9e37_79b1);
    (hash >> 16) as usize % N_PREFIXES
}

/// How many there are: what is replaced must not be shown here either.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Redactor")
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

/// What stands behind the first character of an escape sequence of terminals, whose end may be escaped for JSON.
const SEQUENCE: &str = r"(?:\[[0-?]*[ !#-/]*[@-\[\]-~]|[\]PX^_](?:[^\x07\x1b]*?(?:\x07|\x1b\\|\\+u0007|\\+u001b\\+)|[^\x07\x1b]*)|[ !#-/]*[0-\[\]-~])";

/// A text without escape sequences and signs that nobody sees, also those that are escaped for JSON; tabs and line ends
/// stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    static ESCAPES: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = format!(r"(?:\x1b|\\+u001(?i:b)){SEQUENCE}|\\+u([0-9A-Fa-f]{{4}})");
        Regex::new(&pattern).expect("a fixed pattern")
    });
    let is_hidden = |sign: char| is_unseen(sign) && !matches!(sign, '\t' | '\n' | '\r');
    if !text.contains('\\') && !text.contains(is_hidden) {
        return text.into();
    }
    let shown = ESCAPES.replace_all(text, |escape: &Captures<'_>| {
        let Some(digits) = escape.get(1) else {
            return String::new();
        };
        let sign = u32::from_str_radix(digits.as_str(), 16).ok();
        match sign.and_then(char::from_u32).is_some_and(is_hidden) {
            true => String::new(),
            false => escape[0].to_owned(),
        }
    });
    let shown = shown.replace(is_hidden, "");
    match shown == text {
        true => text.into(),
        false => shown.into(),
    }
}

/// Whether nobody sees a character: a control character, or one that Unicode lets be ignored.
fn is_unseen(character: char) -> bool {
    character.is_control() || is_invisible(character)
}

/// Where what nobody sees ends, of which the first character is `symbol`, and what is behind it stands at `at`.
fn behind_invisible(text: &str, symbol: Symbol, at: usize) -> Option<usize> {
    static BEHIND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!("^{SEQUENCE}")).expect("a fixed pattern"));
    let Symbol::Char(character) = symbol else {
        return None;
    };
    let rest = &text[at..];
    let near = &rest[..rest.floor_char_boundary(LONGEST_SEQUENCE)];
    match character {
        '\u{1b}' => Some(at + BEHIND.find(near).map_or(0, |sequence| sequence.end())),
        '\n' => None,
        _ => is_unseen(character).then_some(at),
    }
}

/// Where a text was cut, however the mark is escaped.
static ELLIPSIS: LazyLock<Regex> = LazyLock::new(|| {
    let marks =
        r"(?i)…|\.{3}|\\+u2026|&(?:amp;)*(?:hellip|#8230|#x2026);|%(?:25)*E2%(?:25)*80%(?:25)*A6";
    Regex::new(marks).expect("a fixed pattern")
});

impl Redactor {
    /// A redactor for `secrets`; empty ones are left out.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut redactor = Self::default();
        redactor.add(secrets);
        redactor
    }

    /// Learns what was found in a text, but for what is redacted whole already. One that only holds a secret is more than
    /// this.
    pub fn learn(&mut self, found: impl IntoIterator<Item = String>) {
        let new = found.into_iter().filter(|it| self.text(it) != REDACTED);
        let new: Vec<String> = new.collect();
        self.add(new);
    }

    /// Learns more secrets.
    pub fn add(&mut self, secrets: impl IntoIterator<Item = String>) {
        for secret in secrets {
            if let Err(at) = self.secrets.binary_search(&secret)
                && !secret.is_empty()
            {
                for form in forms(&secret) {
                    self.insert(&form);
                }
                // As the host of a URL it is told in lower case.
                let is_long = secret.len() >= 8 && secret.bytes().any(|byte| byte.is_ascii_digit());
                let lower = secret.to_lowercase();
                if is_long && lower != secret {
                    self.insert(&lower);
                }
                self.secrets.insert(at, secret);
            }
        }
    }

    fn insert(&mut self, secret: &str) {
        let n_characters = secret.chars().count();
        let enough = (n_characters / 2).clamp(SHORTEST_SECRET, 8);
        let mut node_idx = 0;
        for (idx, character) in secret.chars().enumerate() {
            let children = &self.nodes[node_idx].children;
            node_idx = match children.binary_search_by_key(&character, |child| child.0) {
                Ok(found) => children[found].1,
                Err(at) => {
                    let child_idx = self.nodes.len();
                    self.nodes[node_idx]
                        .children
                        .insert(at, (character, child_idx));
                    self.nodes.push(Node {
                        encoded: match character.is_ascii() {
                            true => Vec::new(),
                            false => encoded(character),
                        },
                        ..Node::default()
                    });
                    child_idx
                }
            };
            self.nodes[node_idx].is_enough |= idx + 1 >= enough;
        }
        self.nodes[node_idx].end = Some(enough);
        self.filter.add(secret);
    }

    /// The secrets, each once.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Whether `text` holds a secret.
    pub fn finds(&self, text: &str) -> bool {
        self.matches(text).next().is_some() || self.cut_ends(text).next().is_some()
    }

    /// How many bytes at the end of `text` a secret may begin with, of which the rest is still to come.
    pub fn unfinished(&self, text: &str) -> usize {
        let longest = self.secrets.iter().map(String::len).max().unwrap_or(0);
        let from = text.floor_char_boundary(text.len().saturating_sub(longest * LONGEST_ESCAPED));
        let mut starts = text[from..].char_indices().map(|(at, _)| from + at);
        let start = starts.find(|start| self.goes_on(text, *start));
        start.map_or(0, |start| text.len() - start)
    }

    /// Whether a secret that begins at `start` goes on behind the end of the text.
    fn goes_on(&self, text: &str, start: usize) -> bool {
        let mut reached = vec![(0, start)];
        let (mut idx, mut is_torn) = (0, false);
        while let Some(&(node_idx, at)) = reached.get(idx) {
            idx += 1;
            let node = &self.nodes[node_idx];
            if at == text.len() {
                // One that is whole is found as it is.
                return !node.children.is_empty();
            }
            for (symbol, end) in readings(text, at) {
                let mut reach = |child| {
                    if !reached.contains(&child) {
                        reached.push(child);
                    }
                };
                self.children(node, text, symbol, end, &mut reach);
                if let Some(end) = behind_invisible(text, symbol, end).filter(|_| node_idx > 0) {
                    reach((node_idx, end));
                }
            }
            let is_escaped = |child: &(char, usize)| !child.0.is_ascii_alphanumeric();
            is_torn |= node.children.iter().any(is_escaped) && torn(text, at) == Some(text.len());
        }
        is_torn
    }

    /// `text` without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_with(text, REDACTED)
    }

    /// `text` with `mark` in the place of each secret.
    pub fn text_with<'a>(&self, text: &'a str, mark: &str) -> Cow<'a, str> {
        self.text_by(text, &|_| mark.to_owned())
    }

    /// `text` with what `mark` says of each secret in its place.
    fn text_by<'a>(&self, text: &'a str, mark: &dyn Fn(&str) -> String) -> Cow<'a, str> {
        let mut ranges: Vec<Range<usize>> = self.matches(text).chain(self.cut_ends(text)).collect();
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        ranges.sort_by_key(|range| range.start);
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for Range { start, end } in ranges {
            if start >= done {
                redacted.push_str(&text[done..start]);
                redacted.push_str(&mark(&text[start..end]));
            }
            done = done.max(end);
        }
        redacted.push_str(&text[done..]);
        Cow::Owned(redacted)
    }

    /// Where secrets stand, and beginnings of them before a `…`, where a text was cut before its secrets were sought.
    fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut at = 0;
        std::iter::from_fn(move || {
            while !self.is_empty() {
                let start = self.filter.next(text.as_bytes(), at)?;
                if let Some(end) = self.longest(text, start, 0) {
                    at = end;
                    return Some(start..end);
                }
                at = start + 1;
            }
            None
        })
    }

    /// Ends of secrets after a `…`, or a gap such as `[… 5 bytes dropped …]`.
    fn cut_ends<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let gaps = (!self.is_empty()).then(|| ELLIPSIS.find_iter(text));
        let mut befores = None;
        gaps.into_iter().flatten().filter_map(move |mark| {
            let end = mark.end();
            let start = match text[mark.start()..].strip_prefix(GAP_END) {
                Some(_) => behind_line_end(text, end + 1).unwrap_or(end + 1),
                None => end,
            };
            let befores = befores.get_or_insert_with(|| self.befores());
            // The rest of an escaped character may stand before it.
            let is_escape = |byte: &u8| is_of_escape(*byte);
            let torn = text[start..]
                .bytes()
                .take(LONGEST_ESCAPED)
                .take_while(is_escape);
            let starts = start..=start + torn.count();
            let ends = starts.flat_map(|start| {
                let symbols = readings(text, start)
                    .into_iter()
                    .map(|(symbol, _)| match symbol {
                        Symbol::Char(character) if character.is_ascii() => character,
                        _ => char::MAX,
                    });
                let nodes = symbols
                    .chain([char::MAX])
                    .filter_map(|symbol| befores.get(&symbol));
                let ends = nodes
                    .flatten()
                    .map(|node_idx| self.longest(text, start, *node_idx));
                ends.flatten().max()
            });
            Some(start..ends.max()?)
        })
    }

    /// The nodes behind which a character stands; under `char::MAX` those of one that isn't ASCII.
    fn befores(&self) -> BTreeMap<char, Vec<usize>> {
        let mut befores: BTreeMap<char, Vec<usize>> = BTreeMap::new();
        for (node_idx, node) in self.nodes.iter().enumerate().skip(1) {
            for (character, _) in &node.children {
                let key = if character.is_ascii() {
                    *character
                } else {
                    char::MAX
                };
                let nodes = befores.entry(key).or_default();
                if nodes.last() != Some(&node_idx) {
                    nodes.push(node_idx);
                }
            }
        }
        befores
    }

    /// The end of the longest secret at `start`, without the characters that lead to the node it is sought from.
    fn longest(&self, text: &str, start: usize, from_idx: usize) -> Option<usize> {
        let mut longest = None;
        let mut n_characters = 0;
        let mut reached: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        let mut next = SmallVec::from_slice(&[(from_idx, start)]);
        while !next.is_empty() {
            std::mem::swap(&mut reached, &mut next);
            next.clear();
            // Behind these it goes on where nothing was seen.
            let n_seen = reached.len();
            let mut idx = 0;
            while let Some(&(node_idx, at)) = reached.get(idx) {
                idx += 1;
                let node = &self.nodes[node_idx];
                let is_whole = |enough| from_idx == 0 || n_characters >= enough;
                if node.end.is_some_and(is_whole) {
                    longest = longest.max((idx <= n_seen).then_some(at));
                } else if node.is_enough && from_idx == 0 {
                    longest = longest.max(cut(text, at));
                }
                for (symbol, end) in readings(text, at) {
                    self.children(node, text, symbol, end, |reached| {
                        if !next.contains(&reached) {
                            next.push(reached);
                        }
                    });
                    let hidden = behind_invisible(text, symbol, end).map(|end| (node_idx, end));
                    let is_new =
                        |hidden: &(usize, usize)| node_idx > 0 && !reached.contains(hidden);
                    if let Some(hidden) = hidden.filter(is_new) {
                        reached.push(hidden);
                    }
                }
            }
            n_characters += 1;
        }
        longest
    }

    /// Passes on each child of `node` that is `symbol`, with the offset behind it.
    fn children(
        &self,
        node: &Node,
        text: &str,
        symbol: Symbol,
        end: usize,
        mut reach: impl FnMut((usize, usize)),
    ) {
        let first = match symbol {
            Symbol::Char(character) => {
                let found = node
                    .children
                    .binary_search_by_key(&character, |child| child.0);
                if let Ok(found) = found {
                    reach((node.children[found].1, end));
                }
                u8::try_from(character).ok().filter(u8::is_ascii)
            }
            Symbol::Byte(byte) => Some(byte),
        };
        let Some(first) = first else { return };
        let n_ascii = node.children.partition_point(|child| child.0.is_ascii());
        for &(_, child_idx) in &node.children[n_ascii..] {
            for bytes in &self.nodes[child_idx].encoded {
                let rest = bytes.strip_prefix(&[first]);
                if let Some(end) = rest.and_then(|rest| behind_bytes(text, end, rest)) {
                    reach((child_idx, end));
                }
            }
        }
    }

    /// Replaces secrets in every string and key, and every number that spells one.
    pub fn json(&self, json: &mut Json) {
        self.json_by(json, &|_| REDACTED.to_owned());
    }

    /// As [`Self::json`], with what `mark` says of each secret in its place.
    pub fn json_by(&self, json: &mut Json, mark: &dyn Fn(&str) -> String) {
        match json {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                let text = number.to_string();
                if self.finds(&text) {
                    *json = Json::String(mark(&text));
                }
            }
            Json::String(text) => {
                if let Cow::Owned(redacted) = self.text_by(text, mark) {
                    *text = redacted;
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.json_by(item, mark)),
            Json::Object(members) => {
                if members.keys().any(|key| self.finds(key)) {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(key, value)| (self.text_by(&key, mark).into_owned(), value))
                        .collect();
                }
                members
                    .values_mut()
                    .for_each(|value| self.json_by(value, mark));
            }
        }
    }
}

/// The offset behind bytes of a character, of which those in ASCII may stand as they are.
fn behind_bytes(text: &str, at: usize, bytes: &[u8]) -> Option<usize> {
    let Some((&first, rest)) = bytes.split_first() else {
        return Some(at);
    };
    let wanted = match first.is_ascii() {
        true => Symbol::Char(char::from(first)),
        false => Symbol::Byte(first),
    };
    let mut readings = readings(text, at).into_iter();
    readings.find_map(|(symbol, end)| {
        (symbol == wanted)
            .then(|| behind_bytes(text, end, rest))
            .flatten()
    })
}

/// Where the text ends at `at`, because it was cut there or in the escaped character there.
fn cut(text: &str, at: usize) -> Option<usize> {
    let is_cut = |at: usize| {
        let rest = &text[at..];
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let is_gap = |end: usize| text[end..].starts_with(GAP_START);
        let near = &rest[..rest.floor_char_boundary(LONGEST_ESCAPED)];
        ELLIPSIS.find(near).is_some_and(|mark| mark.start() == 0)
            || rest.starts_with(GAP_START)
            || behind_line_end(text, at).is_some_and(is_gap)
    };
    if is_cut(at) {
        return Some(at);
    }
    // In a line of JSON, an escaped line end may follow.
    (at + 1..=torn(text, at)?).find(|end| is_cut(*end))
}

fn is_of_escape(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"\\%&#;'\"".contains(&byte)
}

/// Where what may be the beginning of an escaped character ends.
fn torn(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let is_escape = |byte: &u8| is_of_escape(*byte);
    let torn = rest.bytes().take(LONGEST_ESCAPED).take_while(is_escape);
    rest.starts_with(['\\', '%', '&', '\''])
        .then(|| at + torn.count())
}

/// The offset behind a line end, however it is escaped.
fn behind_line_end(text: &str, at: usize) -> Option<usize> {
    let mut readings = readings(text, at).into_iter();
    readings.find_map(|(symbol, end)| (symbol == Symbol::Char('\n')).then_some(end))
}

/// A secret as it is; as it was before it was put into a URL; with the white space around it and without; on one line, as
/// messages and addresses show it; and line by line, as a program prints a key.
fn forms(secret: &str) -> Vec<String> {
    let trimmed = secret.trim();
    let mut forms = vec![trimmed.to_owned(), percent_decoded(trimmed).into_owned()];
    if !printable(trimmed).eq(trimmed) {
        forms.push(visible(trimmed).into_owned());
        forms.push(printable(trimmed).into_owned());
        forms.push(trimmed.split_whitespace().collect::<Vec<_>>().join(" "));
        forms.push(trimmed.replace(['\t', '\n', '\r'], ""));
        let lines = trimmed.split(char::is_control).map(str::trim);
        let lines = lines.filter(|line| line.chars().count() >= SHORTEST_LINE);
        forms.extend(lines.map(str::to_owned));
    }
    // What is left of one that is not to be seen may be nothing, which stands everywhere.
    forms.retain(|form| form.chars().count() >= SHORTEST_SECRET);
    forms.push(secret.to_owned());
    forms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_sees_hides_no_part_of_a_secret() {
        let redactor = Redactor::new(["s3cretDeclared99".to_owned()]);
        for hidden in [
            "\u{1b}[01;31m\u{1b}[K",
            "\u{1b}]8;;http://h\u{7}",
            "\0",
            "\t",
            "\r",
            "\u{7f}",
            "\u{85}",
            "\u{ad}",
            "\u{200b}",
            "\u{202e}",
            "\u{feff}",
        ] {
            for at in [1, 2, 7, 15] {
                let (start, end) = "s3cretDeclared99".split_at(at);
                let text = format!("a {start}{hidden}{end} b");
                let json = Json::from(text.as_str()).to_string();
                let all = format!("{json} {}", Json::from(json.as_str()));
                for text in [text, all] {
                    let redacted = redactor.text(&text);
                    assert!(
                        !redacted.contains(start) || at < 3,
                        "{text:?}: {redacted:?}"
                    );
                    assert!(!redacted.contains(end) || at > 13, "{text:?}: {redacted:?}");
                    assert!(redacted.contains(REDACTED), "{text:?}: {redacted:?}");
                }
            }
        }
        let around = "\ta\u{1b}[1m s3cretDeclared99\u{1b}[1m!\r\n";
        let expected = "\ta\u{1b}[1m [redacted]\u{1b}[1m!\r\n";
        assert_eq!(redactor.text(around), expected);
        let hidden = Redactor::new(["\u{1b}]0;pwn\u{7}\u{1b}[2J".to_owned()]);
        assert_eq!(
            hidden.text("a \u{1b}]0;pwn\u{7}\u{1b}[2J b"),
            "a [redacted] b"
        );
        assert_eq!(
            super::visible(r"A\u034fPI\\u200b_K\u001b[01;31mEY\u001b[m=\u00e4\n"),
            r"API_KEY=\u00e4\n"
        );
        let visible = "s3cret\nDeclared99 s3cret Declared99";
        assert_eq!(redactor.text(visible), visible);
    }

    /// A text as another program writes it.
    fn written(text: &str, spelling: char) -> String {
        let each = |write: &dyn Fn(char) -> String| text.chars().map(write).collect::<String>();
        let of_bytes = |c: char| {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).bytes();
            bytes.map(|byte| format!("%{byte:02X}")).collect::<String>()
        };
        match spelling {
            'j' => Json::from(text).to_string(),
            'p' => {
                let escaped = |c: char| match c.is_ascii() {
                    true => c.to_string(),
                    false => format!("\\u{:04x}", u32::from(c)),
                };
                Json::from(text).to_string().chars().map(escaped).collect()
            }
            's' => format!("'{}'", text.replace('\'', "'\"'\"'")),
            'b' => format!("'{}'", text.replace('\'', r"'\''")),
            'u' => each(&|c| match c.is_ascii_alphanumeric() {
                true => c.to_string(),
                false => of_bytes(c),
            }),
            'f' => each(&|c| match c {
                ' ' => "+".to_owned(),
                c if c.is_ascii_alphanumeric() || "*-._".contains(c) => c.to_string(),
                c => of_bytes(c),
            }),
            // Go's JSON and HTML.
            'g' => {
                let escaped = |c: char| match c {
                    '&' | '<' | '>' => format!("\\u{:04x}", u32::from(c)),
                    other => other.to_string(),
                };
                Json::from(text).to_string().chars().map(escaped).collect()
            }
            'n' => each(&|c| match c {
                '&' | '<' | '>' | '"' | '\'' | '+' => format!("&#{};", u32::from(c)),
                other => other.to_string(),
            }),
            _ => each(&|c| match c {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                '"' => "&quot;".to_owned(),
                '\'' => "&#x27;".to_owned(),
                other => other.to_string(),
            }),
        }
    }

    const SPELLINGS: &[u8] = b"jpsbufhgn";

    #[test]
    fn a_secret_out_of_a_url_is_known_as_it_was_before() {
        let redactor = Redactor::new(["Papa%4077%2FKilo".to_owned()]);
        for text in ["Papa@77/Kilo", "Papa%4077%2fKilo", "\"Papa@77\\/Kilo\""] {
            assert!(redactor.finds(text), "{text}");
        }
    }

    /// In any mixture of three spellings, and in a line of JSON of ours.
    #[test]
    fn a_secret_spelled_three_times_is_redacted() {
        let secrets = [
            r"Domain\user pw$9",
            "a\"quote\"d",
            "påss wörd",
            r"C:\x\n",
            "two\nlines here",
            "it's a secret 9",
            "a&b<c>d%41",
            "1+2 = 3 + 4",
        ];
        let mut shown = Vec::new();
        for secret in secrets {
            let redactor = Redactor::new([secret.to_owned()]);
            for number in 0..SPELLINGS.len().pow(3) {
                let spellings: String = (0..3)
                    .map(|place| number / SPELLINGS.len().pow(place) % SPELLINGS.len())
                    .map(|idx| char::from(SPELLINGS[idx]))
                    .collect();
                let text = spellings
                    .chars()
                    .fold(secret.to_owned(), |text, spelling| written(&text, spelling));
                for text in [written(&text, 'j'), text] {
                    if !redactor.text(&text).contains("[redacted]") {
                        shown.push(format!("{spellings}: {text}"));
                    }
                }
            }
        }
        assert!(
            shown.is_empty(),
            "{} of {}: {:#?}",
            shown.len(),
            secrets.len() * 2 * SPELLINGS.len().pow(3),
            &shown[..shown.len().min(40)]
        );
    }

    #[test]
    fn a_secret_is_found_in_each_spelling() {
        for (secret, spelled) in [
            ("tok_ABCDEFGH12345678\n", "error: tok_ABCDEFGH12345678"),
            (
                "pa\"ss\\word12",
                r#"{"text":"{\"p\":\"pa\\\"ss\\\\word12\"}"}"#,
            ),
            ("grün-geheim", r"gr\u00fcn-geheim"),
            // `printf %q`, and that in JSON.
            ("Domain\\user pw$9", r"Domain\\user\ pw\$9"),
            ("Domain\\user pw$9", r#"{"a": "Domain\\\\user\\ pw\\$9"}"#),
            ("pa\\nss word9", r"pa\\nss\ word9"),
            ("abc/def+ghi", r"abc\/def+ghi"),
            ("abc/def+ghi==", "abc/def%2Bghi%3D%3D"),
            ("two words 12", "q=two+words+12"),
            ("pa ss&word1", "http://h/pa%20ss&word1"),
            ("pass\\word", "http://h/pass/word"),
            ("AAAAbbbb\nDDDDeeee", "bad key AAAAbbbb DDDDeeee"),
            ("AAAAbbbb\r\n  DDDDeeee", "bad key AAAAbbbb DDDDeeee"),
            ("AAAAbbbb\u{1b}[31mDDDD", "bad AAAAbbbb [31mDDDD"),
            ("AAAA\u{202e}DDDD", "bad AAAA\u{fffd}DDDD"),
            (
                "-----BEGIN-----\nAAAAbbbb\n",
                "a line on its stdout: AAAAbbbb",
            ),
        ] {
            let text = Redactor::new([secret.to_owned()])
                .text(spelled)
                .into_owned();
            assert!(text.contains(REDACTED), "{secret:?} in {text}");
        }
    }

    #[test]
    fn a_secret_that_was_cut_is_found_by_its_beginning() {
        let redactor = Redactor::new(["tok_ABCDEFGH12345678".to_owned(), "hunter22".to_owned()]);
        for (text, redacted) in [
            ("is tok_ABCDEFGH1234567…", "is [redacted]…"),
            (
                "a hunte… and tok_ABCDE…, b",
                "a [redacted]… and [redacted]…, b",
            ),
            ("tok_ABCDEFGH12345678…", "[redacted]…"),
            ("tok_… hunt and …", "tok_… hunt and …"),
            ("a …ABCDEFGH12345678 b", "a …[redacted] b"),
            (
                "a tok_ABCDEF\n[… 9 bytes dropped …]\nGH12345678 b",
                "a [redacted]\n[… 9 bytes dropped …]\n[redacted] b",
            ),
            (
                "\n[… 9 bytes dropped …]\n78 b",
                "\n[… 9 bytes dropped …]\n78 b",
            ),
            (
                r#"{"a": "a tok_ABCDEF\n[… 9 bytes dropped …]\nGH12345678 b"}"#,
                r#"{"a": "a [redacted]\n[… 9 bytes dropped …]\n[redacted] b"}"#,
            ),
            ("tok_ABCDEFGH... [truncated]", "[redacted]... [truncated]"),
            (
                "tok_ABCDEFGH […12 more bytes]",
                "[redacted] […12 more bytes]",
            ),
        ] {
            assert_eq!(redactor.text(text), redacted);
            assert_eq!(redactor.finds(text), text != redacted, "{text}");
        }
    }

    #[test]
    fn a_secret_that_was_cut_within_an_escape_is_found() {
        for (mark, escapes) in [
            (
                "&",
                &[r"%26", "&amp;", r"\u0026", "%2526", r"\\u0026"] as &[&str],
            ),
            ("'", &[r#"'"'"'"#, r"'\''", r#"'\"'\"'"#, "''", "&#39;"]),
        ] {
            let parts = ["aaaBBB77", "cccDDD88", "eeeFFF99"];
            let redactor = Redactor::new([parts.join(mark)]);
            for spelled in escapes.iter().map(|escape| parts.join(escape)) {
                for cut in 0..=spelled.len() {
                    let (head, tail) = spelled.split_at(cut);
                    let text = format!("x {head}\n[… 9 bytes dropped …]\n{tail} y");
                    for text in [Json::from(text.as_str()).to_string(), text] {
                        let shown = redactor.text(&text);
                        let is_shown = parts.iter().any(|part| shown.contains(part));
                        assert!(!is_shown, "{text}: {shown}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_secret_that_was_cut_is_found_however_the_mark_is_escaped() {
        let secret = "Qz7Wx9Kp3Lm5Rt2Vb8Nc4Hd6";
        let redactor = Redactor::new([secret.to_owned()]);
        for mark in [
            "…",
            "\\u2026",
            "\\\\u2026",
            "&hellip;",
            "&amp;hellip;",
            "&#8230;",
            "%E2%80%A6",
            "%e2%80%a6",
        ] {
            let (begins, ends) = (
                format!("{{\"t\": \"{}{mark}\"}}", &secret[..14]),
                format!("{mark}{}", &secret[12..]),
            );
            assert!(!redactor.text(&begins).contains("Qz7W"), "{begins}");
            assert!(!redactor.text(&ends).contains("Nc4Hd6"), "{ends}");
        }
        let plain = "see \\u2026 and &hellip; of %E2%80%A6";
        assert_eq!(redactor.text(plain), plain);
    }

    #[test]
    fn a_secret_with_escape_sequences_in_it_is_found_without_them() {
        let secret = "Alpha1Zulu\u{1b}[31mBravo2Yankee\u{202e}x";
        let redactor = Redactor::new([secret.to_owned()]);
        for shown in ["Alpha1ZuluBravo2Yankeex", secret] {
            assert_eq!(redactor.text(shown), REDACTED, "{shown:?}");
        }
    }

    #[test]
    fn a_secret_of_escapes_that_was_cut_is_found() {
        let secret = "pqrBBB77stuDDD88";
        let redactor = Redactor::new([secret.to_owned()]);
        for introducer in ["&#", "&amp;#", "&#38;#", "&amp;amp;#", "&#x26;#38;#"] {
            let spelled = |c: char| format!("{introducer}{};", u32::from(c));
            let spelled: String = secret.chars().map(spelled).collect();
            for cut in 0..=spelled.len() {
                let (head, tail) = spelled.split_at(cut);
                let text = format!("x {head}\n[… 9 bytes dropped …]\n{tail} y");
                let shown = redactor.text(&text);
                // Fewer characters than tell a secret, and the one that was cut.
                assert!(shown.matches(introducer).count() <= 8, "{text}: {shown}");
            }
        }
    }

    #[test]
    fn what_may_begin_a_secret_is_told() {
        let redactor = Redactor::new(["tok_ABCD".to_owned(), "okay, hunter22".to_owned()]);
        for (text, unfinished) in [
            ("a tok_AB", 6),
            ("a t", 1),
            ("a tok", 3),
            ("tok_ABCD", 0),
            ("", 0),
        ] {
            assert_eq!(redactor.unfinished(text), unfinished, "{text}");
        }
        let secret = "plain\"Secr et99 ü&Kilo";
        let redactor = Redactor::new([secret.to_owned()]);
        for spelled in [
            secret,
            r#"plain\"Secr et99 \u00fc&Kilo"#,
            r#"plain\\\"Secr et99 \\u00fc&Kilo"#,
            "plain%22Secr%20et99%20%C3%BC%26Kilo",
            "plain%22Secr+et99+%C3%BC%26Kilo",
            "plain%5C%22Secr%20et99%20%5Cu00fc%26Kilo",
            "plain&quot;Secr et99 &uuml;&amp;Kilo",
        ] {
            let text = format!("50% of x {spelled}");
            let start = text.len() - spelled.len();
            for (cut, _) in spelled.char_indices().skip(1) {
                let text = &text[..start + cut];
                assert_eq!(redactor.unfinished(text), cut, "{text}");
            }
            assert_eq!(redactor.unfinished(&text), 0, "{text}");
        }
        assert_eq!(redactor.unfinished("50%"), 0);
    }

    #[test]
    fn secrets_go_from_strings_keys_and_numbers() {
        let redactor = Redactor::new([
            "pass\"word".to_owned(),
            "12345678".to_owned(),
            String::new(),
        ]);
        let mut value =
            json!({"a": ["x pass\"word y", 12345678, 1], "pass\"word": true, "u": "pass%22word"});
        redactor.json(&mut value);
        assert_eq!(
            value,
            json!({"a": ["x [redacted] y", "[redacted]", 1], "[redacted]": true, "u": "[redacted]"})
        );
    }

    #[test]
    fn secrets_are_known_in_all_usual_spellings() {
        let secret = "Grü\u{1F511} a/b\"c!";
        let redactor = Redactor::new([secret.to_owned()]);
        for spelled in [
            secret,
            // JSON of serde, of Python, and of PHP.
            r#"Grü🔑 a/b\"c!"#,
            r#"Gr\u00fc\ud83d\udd11 a/b\"c!"#,
            r#"Gr\u00FC\uD83D\uDD11 a/b\"c!"#,
            r#"Grü🔑 a\/b\"c!"#,
            // `quote`, `quote_plus` and `encodeURIComponent`.
            "Gr%C3%BC%F0%9F%94%91%20a/b%22c%21",
            "Gr%C3%BC%F0%9F%94%91+a%2Fb%22c%21",
            "Gr%C3%BC%F0%9F%94%91%20a%2Fb%22c!",
        ] {
            assert_eq!(redactor.text(spelled), REDACTED, "{spelled}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", Redactor::new(["hunter2".to_owned()]));
        assert_eq!(shown, "Redactor { secrets: 1, .. }");
    }

    #[test]
    fn the_longest_secret_wins() {
        let redactor = Redactor::new(["abc".to_owned(), "abcdef".to_owned()]);
        assert_eq!(redactor.text("abcdef abc"), "[redacted] [redacted]");
    }

    #[test]
    fn what_holds_a_secret_is_learnt_whole() {
        let mut redactor = Redactor::new(["annabel9".to_owned()]);
        let found = ["annabel9-Secr3tRest", "ghp_a1annabel9F6", "annabel9"];
        redactor.learn(found.map(str::to_owned));
        assert_eq!(redactor.secrets().len(), 3);
        let text = "password: annabel9-Secr3tRest, ghp_a1annabel9F6, annabel9.";
        let expected = format!("password: {REDACTED}, {REDACTED}, {REDACTED}.");
        assert_eq!(redactor.text(text), expected);
    }

    #[test]
    fn without_secrets_nothing_changes() {
        let redactor = Redactor::default();
        assert!(redactor.is_empty());
        assert!(matches!(redactor.text("x"), Cow::Borrowed("x")));
    }

    #[test]
    fn a_secret_that_repeats_itself_is_redacted_around_a_gap() {
        let redactor = Redactor::new(["abcdabcd".to_owned()]);
        assert_eq!(redactor.text("…]\nabcd…"), "…]\n[redacted]…");
        assert_eq!(redactor.text("…]\nabcdabcd…"), "…]\n[redacted]…");
    }

    #[test]
    fn a_secret_is_known_in_the_spellings_of_peers() {
        for (secret, spelled) in [
            // Go.
            ("a<b>&c1234", r"a\u003cb\u003e\u0026c1234"),
            // PHP.
            ("a/b/é1234", r"a\/b\/\u00e91234"),
            // Forms, and writers of lower case.
            ("pass~word", "pass%7Eword"),
            ("a/b c+d12", "a%2fb+c%2bd12"),
            // A page in latin-1, in Shift JIS, and what its charset does not have.
            ("smörgås12", "sm%F6rg%E5s12"),
            ("表abc表12", "%95%5Cabc%95\\12"),
            ("π1234567", "%26%23960%3B1234567"),
            // HTML.
            ("a<b>&\"c'é1", "a&lt;b&gt;&amp;&quot;c&#39;&eacute;1"),
            ("a&b'1234", "a&#x26;b&#x27;1234"),
            // One in the other.
            ("a\"b&c1234", r#"{\"t\":\"a\\\"b\\u0026c1234\"}"#),
            ("a\"b&c1234", "%7B%22t%22%3A%22a%5C%22b%26c1234%22%7D"),
            ("a\"b&c1234", r"x=&quot;a\&quot;b&amp;c1234&quot;"),
            ("100% of 12", "100%2525%2520of%252012"),
            ("it's\tmine", r"'it'\''s'$'\t''mine'"),
            ("it's mine", r#"'it'"'"'s mine'"#),
            // Bash in the locale C, and Ruby.
            ("smörgås12", r"$'sm\303\266rg\303\245s12'"),
            ("ö-smörg12", r"$'\303\266-sm\303\266rg12'"),
            ("a b\u{1}cd12", r"$'a b\001cd12'"),
            ("sm örg\ngås12", "sm\\ \\örg'\n'g\\ås12"),
        ] {
            let redactor = Redactor::new([secret.to_owned()]);
            let text = redactor.text(spelled);
            let rest = text.replace(REDACTED, "");
            assert!(
                text.contains(REDACTED) && !rest.contains("12") && !rest.contains("mine"),
                "{secret} in {text}"
            );
        }
    }

    /// A character in one of the spellings that peers have.
    fn spelled(character: char, choice: usize) -> String {
        let percent = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("%{byte:02X}"))
                .collect::<String>()
        };
        let mut utf8 = [0; 4];
        let bytes = character.encode_utf8(&mut utf8).as_bytes();
        let mut utf16 = [0; 2];
        let units = character.encode_utf16(&mut utf16);
        let json = |unit: &u16| format!("\\u{unit:04x}");
        let plain = character.to_string();
        match choice % 12 {
            0 => percent(bytes),
            1 => percent(bytes).to_lowercase(),
            2 => units.iter().map(json).collect(),
            3 => units
                .iter()
                .map(|unit| json(unit).to_uppercase().replace('U', "u"))
                .collect(),
            4 => format!("&#{};", u32::from(character)),
            5 => format!("&#x{:x};", u32::from(character)),
            6 => html_escape::encode_safe(&plain).into_owned(),
            7 => {
                let json = Json::from(plain).to_string();
                json[1..json.len() - 1].to_owned()
            }
            8 => percent(&encoded(character)[choice / 12 % encoded(character).len()]),
            9 => spelled(character, choice / 12 % 9).replace('\\', "\\\\"),
            10 => spelled(character, choice / 12 % 9)
                .replace('%', "%25")
                .replace('&', "%26")
                .replace('\\', "%5C"),
            _ => plain,
        }
    }

    #[test]
    fn a_secret_is_known_in_lower_case_as_hosts_are_told() {
        let redactor = Redactor::new(["Zq81WmSecretXn73".to_owned()]);
        let told = redactor.text("the host `zq81wmsecretxn73.invalid` was not found");
        assert_eq!(told, "the host `[redacted].invalid` was not found");
        // A word in lower case is another word.
        assert_eq!(
            Redactor::new(["Correct".to_owned()]).text("correct"),
            "correct"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_secret_survives_in_no_mixture_of_spellings(
            secret in r"[A-Z0-9 -/:-@\[-`{-~¡-ÿЀ-я一-二🔑]{2,20}[A-Z][0-9]{2}",
            choices in prop::collection::vec(any::<usize>(), 30),
            before in "[a-z \\n]{0,20}",
            after in "[a-z \\n]{0,20}",
        ) {
            let spelled: String = secret.chars().zip(choices).map(|(one, choice)| spelled(one, choice)).collect();
            let redactor = Redactor::new([secret]);
            let redacted = redactor.text_with(&format!("{before}{spelled}{after}"), "\u{1}").into_owned();
            let is_all = redacted.trim_start_matches(before.trim_end()).trim().starts_with('\u{1}');
            prop_assert!(is_all && redacted.ends_with(&format!("\u{1}{after}")), "{redacted:?}");
        }

        #[test]
        fn a_text_without_the_secret_stays_as_it_is(
            secret in "[A-Z]{4}[ -~é]{0,20}",
            text in r#"[a-z0-9 \n…%\\&;#+/'"\[\]é]{0,200}"#,
        ) {
            let redactor = Redactor::new([secret]);
            prop_assert_eq!(redactor.text(&text), text.as_str());
        }

        #[test]
        fn nothing_panics(secret in r"[ab]{1,12}", text in r"([ab]{0,6}(\n\[)?…?(\]\n)?){0,12}") {
            let redactor = Redactor::new([secret]);
            prop_assert_eq!(redactor.finds(&text), redactor.text(&text) != text);
        }
    }
}

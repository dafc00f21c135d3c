//! The ways in which a peer may write a character: escaped for JSON, a URL, HTML or a shell, and escaped again.

use std::borrow::Cow;
use std::sync::LazyLock;

use encoding_rs::Encoding;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use smallvec::SmallVec;

/// A decoded part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Char(char),
    /// A byte of a character outside ASCII, in the charset of a page.
    Byte(u8),
}

/// The ways to decode what stands at an offset, each with the offset behind it.
pub(super) type Readings = SmallVec<[(Symbol, usize); 4]>;

/// How often a text may have been escaped: by peers three times, such as JSON inside JSON inside a URL, and once by us, in
/// a line of JSON.
const MAX_DEPTH: usize = 4;

/// The most backslashes before a character that was escaped as often.
const LONGEST_RUN: usize = (1 << MAX_DEPTH) - 1;

/// The most quotes and backslashes that stand for one quote.
const LONGEST_QUOTES: usize = 256;

/// The longest name of an HTML entity.
const LONGEST_ENTITY: usize = 32;

/// A path as it stands in a URI.
pub fn percent_encoded(path: &[u8]) -> String {
    const OTHERS: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    percent_encode(path, OTHERS).to_string()
}

/// A text of a URL without percent signs; what isn't UTF-8 then stays as it came.
pub fn percent_decoded(path: &str) -> Cow<'_, str> {
    let decoded = percent_decode_str(path).decode_utf8();
    decoded.unwrap_or(Cow::Borrowed(path))
}

/// Whether a character may begin another spelling than its own.
pub(super) fn is_special(character: char) -> bool {
    matches!(character, '\\' | '%' | '&' | '+' | '/' | '\'' | '"' | '\r')
}

/// All ways to decode what stands at `at`, as it is first.
pub(super) fn readings(text: &str, at: usize) -> Readings {
    let mut readings = read(text, at, MAX_DEPTH);
    for idx in 0..readings.len() {
        match readings[idx] {
            // An address has slashes in the place of backslashes.
            (Symbol::Char('/'), end) => add(&mut readings, Symbol::Char('\\'), end),
            (Symbol::Char('\''), end) => add_quoted(&mut readings, text, end),
            _ => {}
        }
    }
    readings
}

/// The same without what is only done once, at last. What is behind an escape may be escaped `depth` times.
fn read(text: &str, at: usize, depth: usize) -> Readings {
    let mut readings = Readings::new();
    let Some(first) = text[at..].chars().next() else {
        return readings;
    };
    readings.push((Symbol::Char(first), at + first.len_utf8()));
    if depth == 0 || !is_special(first) {
        return readings;
    }
    let mut n_done = 0;
    if first == '\\' {
        // Each time that it is escaped doubles it, and what it escapes stands behind the last.
        let run = text[at..].bytes().take(LONGEST_RUN + 1);
        let n_backslashes = run.take_while(|byte| *byte == b'\\').count();
        let times = (1..=MAX_DEPTH).map(|times| 1 << times);
        for length in times.filter(|length| *length <= n_backslashes) {
            add(&mut readings, Symbol::Char('\\'), at + length);
        }
        n_done = readings.len();
        if n_backslashes <= LONGEST_RUN {
            unescape(text, '\\', at + n_backslashes, depth - 1, &mut readings);
        }
    }
    // Each round undoes one more escape, of what the round before has made.
    for _ in 0..depth {
        let n_known = readings.len();
        for idx in n_done..n_known {
            if let (Symbol::Char(introducer), end) = readings[idx] {
                unescape(text, introducer, end, depth - 1, &mut readings);
            }
        }
        n_done = n_known;
    }
    readings
}

fn add(readings: &mut Readings, symbol: Symbol, end: usize) {
    if !readings.contains(&(symbol, end)) {
        readings.push((symbol, end));
    }
}

/// Adds what `introducer` means together with what stands behind it.
fn unescape(text: &str, introducer: char, at: usize, depth: usize, readings: &mut Readings) {
    match introducer {
        '\\' => {
            for (symbol, end) in read(text, at, depth) {
                let control = match symbol {
                    Symbol::Char('n') => Some('\n'),
                    Symbol::Char('r') => Some('\r'),
                    Symbol::Char('t') => Some('\t'),
                    Symbol::Char('b') => Some('\u{8}'),
                    Symbol::Char('f') => Some('\u{c}'),
                    _ => None,
                };
                let control = control.map(Symbol::Char).into_iter();
                // Outside of quotes, shells take it for what it is.
                control
                    .chain([symbol])
                    .for_each(|it| add(readings, it, end));
            }
            add_byte(readings, text, at, "x", 16, 2);
            add_byte(readings, text, at, "", 8, 3);
            add_utf16(readings, text, at, depth, "\\u");
        }
        '%' => {
            add_byte(readings, text, at, "", 16, 2);
            add_utf16(readings, text, at, depth, "%u");
        }
        '&' => {
            if let Some((character, end)) = entity(text, at, depth) {
                add(readings, Symbol::Char(character), end);
            }
        }
        '+' => add(readings, Symbol::Char(' '), at),
        // A form has CRLF in the place of LF.
        '\r' => {
            if let Some(end) = after(text, at, depth, "\n") {
                add(readings, Symbol::Char('\n'), end);
            }
        }
        '"' => {
            if let Some(end) = after(text, at, depth, "\"") {
                add(readings, Symbol::Char('"'), end);
            }
        }
        _ => {}
    }
}

/// Adds what stands for a quote, or for a control character, behind a first quote.
fn add_quoted(readings: &mut Readings, text: &str, at: usize) {
    // Shells in shells quote a quote again and again.
    let is_quote =
        |(symbol, _): &(Symbol, usize)| matches!(symbol, Symbol::Char('\'' | '"' | '\\'));
    let next = |at: usize| match text.as_bytes().get(at)? {
        b'\'' | b'"' => Some(at + 1),
        b'\\' | b'%' | b'&' => {
            let quotes = read(text, at, MAX_DEPTH).into_iter().filter(is_quote);
            quotes.map(|(_, end)| end).max()
        }
        _ => None,
    };
    let ends = std::iter::successors(next(at), |at| next(*at));
    if let Some(end) = ends.take(LONGEST_QUOTES).last() {
        add(readings, Symbol::Char('\''), end);
    }
    // As YAML and SQL, shells, and Python's `shlex` quote it.
    for rest in ["'", r"\''", r#""'"'"#] {
        if let Some(end) = after(text, at, MAX_DEPTH, rest) {
            add(readings, Symbol::Char('\''), end);
        }
    }
    // Ruby quotes a line end alone.
    for (symbol, end) in read(text, at, MAX_DEPTH) {
        if let (Symbol::Char('\n'), Some(end)) = (symbol, after(text, end, MAX_DEPTH, "'")) {
            add(readings, symbol, end);
        }
    }
    // GNU's tools leave the quotes for control characters.
    let Some(inner) = after(text, at, MAX_DEPTH, "$'") else {
        return;
    };
    for (symbol, end) in read(text, inner, MAX_DEPTH) {
        if let (Symbol::Char(control), Some(end)) = (symbol, after(text, end, MAX_DEPTH, "''"))
            && control.is_control()
        {
            add(readings, symbol, end);
        }
    }
}

/// The offset behind `word`, whose characters may be escaped themselves.
fn after(text: &str, at: usize, depth: usize, word: &str) -> Option<usize> {
    let mut rest = word.chars();
    let Some(wanted) = rest.next() else {
        return Some(at);
    };
    let mut readings = read(text, at, depth).into_iter();
    readings.find_map(|(symbol, end)| {
        (symbol == Symbol::Char(wanted))
            .then(|| after(text, end, depth, rest.as_str()))
            .flatten()
    })
}

/// Adds the byte that `n_digits` digits behind `prefix` stand for.
fn add_byte(
    readings: &mut Readings,
    text: &str,
    at: usize,
    prefix: &str,
    radix: u32,
    n_digits: usize,
) {
    let digits = text[at..].strip_prefix(prefix);
    let byte = digits.and_then(|digits| number(digits, radix, n_digits));
    let symbol = match byte.map(u8::try_from) {
        Some(Ok(byte)) if byte.is_ascii() => Symbol::Char(char::from(byte)),
        Some(Ok(byte)) => Symbol::Byte(byte),
        _ => return,
    };
    add(readings, symbol, at + prefix.len() + n_digits);
}

/// Adds the character that one or two `\u0000` stand for, behind the first character of the first `prefix`.
fn add_utf16(readings: &mut Readings, text: &str, at: usize, depth: usize, prefix: &str) {
    let unit = |at: usize| number(text.get(at..)?, 16, 4);
    let Some(first) = text[at..].strip_prefix('u').and_then(|_| unit(at + 1)) else {
        return;
    };
    let end = at + 5;
    let pair = (0xd800..0xdc00).contains(&first).then(|| {
        let at = after(text, end, depth, prefix)?;
        Some((unit(at)?, at + 4))
    });
    let (second, end) = pair.flatten().unzip();
    let units = [Some(first), second].into_iter().flatten();
    let units = units.filter_map(|unit| u16::try_from(unit).ok());
    if let Some(Ok(character)) = char::decode_utf16(units).next() {
        add(readings, Symbol::Char(character), end.unwrap_or(at + 5));
    }
}

fn number(text: &str, radix: u32, n_digits: usize) -> Option<u32> {
    let digits = text.get(..n_digits)?;
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u32::from_str_radix(digits, radix).ok())?
}

/// The character of an HTML entity behind its `&`.
fn entity(text: &str, at: usize, depth: usize) -> Option<(char, usize)> {
    let (hash, start) = match after(text, at, depth, "#") {
        Some(start) => ("#", start),
        None => ("", at),
    };
    let name = text[start..].bytes().take(LONGEST_ENTITY);
    let length = name.take_while(u8::is_ascii_alphanumeric).count();
    let name = &text[start..start + length];
    let end = after(text, start + length, depth, ";").filter(|_| length > 0)?;
    let entity = format!("&{hash}{name};");
    let decoded = html_escape::decode_html_entities(&entity);
    let mut characters = decoded.chars();
    let character = characters.next()?;
    characters.next().is_none().then_some((character, end))
}

/// The bytes of a character outside ASCII in UTF-8 and in the charsets that pages have.
pub(super) fn encoded(character: char) -> Vec<SmallVec<[u8; 4]>> {
    let mut utf8 = [0; 4];
    let text = &*character.encode_utf8(&mut utf8);
    let mut all = vec![SmallVec::from_slice(text.as_bytes())];
    for charset in CHARSETS.iter() {
        let (bytes, _, is_unmappable) = charset.encode(text);
        if !is_unmappable && !all.iter().any(|known| **known == *bytes) {
            all.push(SmallVec::from_slice(&bytes));
        }
    }
    all
}

/// The charsets of the WHATWG, without those that are the same for a single character.
static CHARSETS: LazyLock<Vec<&Encoding>> = LazyLock::new(|| {
    let labels = "windows-1252 windows-1250 windows-1251 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 \
        windows-1258 windows-874 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-10 \
        iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u ibm866 macintosh x-mac-cyrillic gb18030 big5 euc-jp \
        shift_jis euc-kr";
    let labels = labels.split_ascii_whitespace();
    labels
        .filter_map(|label| Encoding::for_label(label.as_bytes()))
        .collect()
});

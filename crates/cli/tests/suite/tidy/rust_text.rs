//! Just enough of Rust's syntax to ask which paths a file names: comments and texts go, tests can go, `use` trees
//! are written out.

/// How deep `use` trees may nest.
const MAX_USE_DEPTH: usize = 16;

/// A path such as `std::fs::read`, with the line it stands on (from 1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedPath {
    pub(super) line: usize,
    pub(super) segments: Vec<String>,
}

impl NamedPath {
    /// Do these segments stand in the path, one after the other?
    pub(super) fn has(&self, wanted: &[&str]) -> bool {
        self.segments
            .windows(wanted.len())
            .any(|window| window == wanted)
    }

    /// Does the path begin with these segments?
    pub(super) fn starts_with(&self, wanted: &[&str]) -> bool {
        self.segments.len() >= wanted.len() && self.segments.iter().zip(wanted).all(|(a, b)| a == b)
    }
}

impl std::fmt::Display for NamedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.segments.join("::"))
    }
}

/// The code with every comment, string and character replaced by spaces; lines stay where they are.
pub(super) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => block_comment_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'\'' => character_end(bytes, at),
            c if is_word(c) => {
                let end = at + bytes[at..].iter().take_while(|&&c| is_word(c)).count();
                match raw_string_end(bytes, at, end) {
                    Some(end) => end,
                    None => {
                        at = end;
                        continue;
                    }
                }
            }
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Of code without comments: the same with everything under a `test` attribute replaced by spaces, and the number
/// of lines that this took.
pub(super) fn without_tests(code: &str) -> (String, usize) {
    let mut out = code.as_bytes().to_vec();
    let mut test_lines = 0;
    let mut at = 0;
    while let Some(start) = code[at..].find("#[").map(|found| at + found) {
        let attribute_end = bracket_end(code.as_bytes(), start + 1, b'[', b']');
        at = attribute_end;
        if !is_test_attribute(&code[start + 2..attribute_end.saturating_sub(1).max(start + 2)]) {
            continue;
        }
        let end = item_end(code.as_bytes(), attribute_end);
        test_lines += code[start..end].matches('\n').count() + 1;
        for byte in &mut out[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    (String::from_utf8_lossy(&out).into_owned(), test_lines)
}

/// Every path that the code names, `use` trees written out. `a::<T>::b` ends at the `<`.
pub(super) fn paths(code: &str) -> Vec<NamedPath> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].kind {
            Kind::Word("use") => at = use_tree(&tokens, at + 1, &[], MAX_USE_DEPTH, &mut found),
            Kind::Word(_) => at = plain_path(&tokens, at, &mut found),
            _ => at += 1,
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    Word(&'a str),
    /// `::`
    Colons,
    Sign(u8),
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    line: usize,
    kind: Kind<'a>,
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < bytes.len() {
        let kind = match bytes[at] {
            b'\n' => {
                line += 1;
                at += 1;
                continue;
            }
            c if is_word(c) => {
                let end = at + bytes[at..].iter().take_while(|&&c| is_word(c)).count();
                let word = &code[at..end];
                at = end;
                Kind::Word(word)
            }
            b':' if bytes.get(at + 1) == Some(&b':') => {
                at += 2;
                Kind::Colons
            }
            c if c.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            c => {
                at += 1;
                Kind::Sign(c)
            }
        };
        found.push(Token { line, kind });
    }
    found
}

fn plain_path(tokens: &[Token<'_>], mut at: usize, found: &mut Vec<NamedPath>) -> usize {
    let line = tokens[at].line;
    let mut segments = Vec::new();
    while let Some(Kind::Word(word)) = tokens.get(at).map(|token| token.kind) {
        segments.push(word.to_owned());
        at += 1;
        if tokens.get(at).map(|token| token.kind) != Some(Kind::Colons) {
            break;
        }
        at += 1;
    }
    found.push(NamedPath { line, segments });
    at
}

/// Reads one tree of a `use`, after `prefix`, and gives the place behind it.
fn use_tree(
    tokens: &[Token<'_>],
    mut at: usize,
    prefix: &[String],
    depth: usize,
    found: &mut Vec<NamedPath>,
) -> usize {
    let mut segments = prefix.to_vec();
    let mut line = tokens.get(at).map_or(1, |token| token.line);
    while let Some(token) = tokens.get(at) {
        match token.kind {
            // What follows `as` is a new name, not a part of the path.
            Kind::Word("as") => at += 2,
            Kind::Word(word) => {
                line = token.line;
                segments.push(word.to_owned());
                at += 1;
            }
            Kind::Colons => at += 1,
            Kind::Sign(b'*') => {
                segments.push("*".to_owned());
                at += 1;
            }
            Kind::Sign(b'{') if depth > 0 => {
                at += 1;
                while at < tokens.len() && tokens[at].kind != Kind::Sign(b'}') {
                    at = use_tree(tokens, at, &segments, depth - 1, found);
                    if tokens.get(at).map(|token| token.kind) == Some(Kind::Sign(b',')) {
                        at += 1;
                    }
                }
                return at + 1;
            }
            _ => break,
        }
    }
    if segments.len() > prefix.len() {
        found.push(NamedPath { line, segments });
    } else {
        // Not a tree after all: step on, so that reading ends.
        at += 1;
    }
    at
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|&&c| c != b'\n').count()
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a character literal; of a lifetime, only the quote.
fn character_end(bytes: &[u8], start: usize) -> usize {
    let rest = String::from_utf8_lossy(&bytes[start + 1..bytes.len().min(start + 16)]).into_owned();
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, '\\')) => {
            let escaped = rest.chars().nth(1).map_or(1, char::len_utf8);
            let closing = rest.get(1 + escaped..).and_then(|after| after.find('\''));
            closing.map_or(start + 1, |found| start + 1 + 1 + escaped + found + 1)
        }
        Some((_, first)) if chars.next().is_some_and(|(_, c)| c == '\'') => {
            start + 1 + first.len_utf8() + 1
        }
        _ => start + 1,
    }
}

/// The end of `r"…"`, `br#"…"#` and their kind, where the word `start..end` is their prefix.
fn raw_string_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    if !matches!(&bytes[start..end], b"r" | b"br" | b"cr") {
        return None;
    }
    let hashes = bytes[end..].iter().take_while(|&&c| c == b'#').count();
    if bytes.get(end + hashes) != Some(&b'"') {
        return None;
    }
    let closing: Vec<u8> = std::iter::once(b'"')
        .chain(std::iter::repeat_n(b'#', hashes))
        .collect();
    let body = end + hashes + 1;
    let found = bytes[body..]
        .windows(closing.len())
        .position(|window| window == closing);
    Some(found.map_or(bytes.len(), |found| body + found + closing.len()))
}

fn is_test_attribute(attribute: &str) -> bool {
    let plain: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    plain == "test"
        || plain.ends_with("::test")
        || plain.contains("::test(")
        || plain == "cfg(test)"
        || plain.starts_with("cfg(all(test,")
}

/// The end of the item that begins at `at`: its closing brace, or its semicolon.
fn item_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'(' => at = bracket_end(bytes, at, b'(', b')'),
            b'[' => at = bracket_end(bytes, at, b'[', b']'),
            b'{' => return bracket_end(bytes, at, b'{', b'}'),
            b';' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The place behind the bracket that closes the one at `at`.
fn bracket_end(bytes: &[u8], mut at: usize, open: u8, close: u8) -> usize {
    let mut depth = 0_usize;
    while at < bytes.len() {
        if bytes[at] == open {
            depth += 1;
        } else if bytes[at] == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        paths(&code(text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn comments_and_texts_are_no_code() {
        let text = "a // std::fs\n/* x /* std::fs */ y */ b \"std::fs \\\" \" 'c' '\\'' '\\u{1F600}' 'é' r#\"x \" std\"# br\"y\" &'static c";
        let words: Vec<String> = code(text).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words, ["a", "b", "&", "static", "c"]);
        assert_eq!(code("\"a\nb\"\nx").matches('\n').count(), 2);
        assert_eq!(code("\"open").trim(), "");
        assert_eq!(code("/* open").trim(), "");
        assert_eq!(code("r#type").trim(), "r#type");
    }

    #[test]
    fn tests_are_cut_out_and_what_follows_stays() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { std::fs } }\nfn c() {}\n#[test]\nfn d(x: [u8; 2]) { e }\n#[cfg(test)]\nuse f::g;\n#[cfg(not(test))]\nfn h() {}\n#[tokio::test]\nasync fn i() {}\n";
        let (live, lines) = without_tests(&code(text));
        let words: Vec<&str> = live.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "fn a() {} fn c() {} #[cfg(not(test))] fn h() {}"
        );
        assert_eq!(lines, 8);
    }

    #[test]
    fn use_trees_are_written_out() {
        assert_eq!(
            named("pub use std::{fs, io::{self, Write as _}, time::*};\nuse ::tokio::net;"),
            [
                "pub",
                "std::fs",
                "std::io::self",
                "std::io::Write",
                "std::time::*",
                "tokio::net"
            ]
        );
        let found = paths("use a::{\n    b,\n    c::d,\n};\nx::y()");
        let lines: Vec<(usize, String)> = found
            .iter()
            .map(|path| (path.line, path.to_string()))
            .collect();
        assert_eq!(
            lines,
            [
                (2, "a::b".to_owned()),
                (3, "a::c::d".to_owned()),
                (5, "x::y".to_owned())
            ]
        );
    }

    #[test]
    fn malformed_code_ends() {
        for text in [
            "use",
            "use {",
            "use {,,",
            "use a::{b",
            "a::",
            "#[",
            "#[cfg(test)]",
            "'",
            "'\\",
            "use {{{{",
        ] {
            let code = code(text);
            let _ = paths(&code);
            let _ = without_tests(&code);
        }
    }

    #[test]
    fn parts_of_paths_are_found() {
        let path = NamedPath {
            line: 1,
            segments: ["std", "time", "Instant", "now"]
                .map(str::to_owned)
                .to_vec(),
        };
        assert!(
            path.has(&["Instant", "now"]) && path.has(&["now"]) && !path.has(&["std", "Instant"])
        );
        assert!(path.starts_with(&["std", "time"]) && !path.starts_with(&["time"]));
    }
}

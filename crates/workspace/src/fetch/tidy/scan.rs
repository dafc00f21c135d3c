//! HTML source as tags and text, in one pass that never goes back.

use std::borrow::Cow;

/// The longest name and the longest attribute value that are kept. What is longer is nothing known here.
const MAX_NAME_BYTES: usize = 64;
const MAX_VALUE_BYTES: usize = 16 * 1024;

/// What the source consists of. Comments, declarations and the like are passed over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// As written, character references included; a `<` in it is none that begins a tag and comes as
    /// a reference.
    Text(&'s str),
    Start(Tag<'s>),
    /// The name in lower case.
    End(Cow<'s, str>),
}

/// A start tag: its name in lower case, and the attributes that are of use, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tag<'s> {
    pub(super) name: Cow<'s, str>,
    pub(super) self_closing: bool,
    pub(super) href: Option<Cow<'s, str>>,
    pub(super) src: Option<Cow<'s, str>>,
    pub(super) alt: Option<Cow<'s, str>>,
    pub(super) class: Option<Cow<'s, str>>,
    pub(super) start: Option<Cow<'s, str>>,
}

pub(super) struct Scanner<'s> {
    source: &'s str,
    at: usize,
    /// Names of which there is no end tag from here on, so that it is looked for once only.
    endless: Vec<String>,
}

impl<'s> Scanner<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            endless: Vec::new(),
        }
    }

    /// The next token; `None` at the end. A tag that the source breaks off in is left out.
    pub(super) fn next(&mut self) -> Option<Token<'s>> {
        loop {
            let rest = &self.source[self.at..];
            if rest.is_empty() {
                return None;
            }
            let Some(open) = rest.find('<') else {
                self.at = self.source.len();
                return Some(Token::Text(rest));
            };
            if open > 0 {
                self.at += open;
                return Some(Token::Text(&rest[..open]));
            }
            match rest.as_bytes().get(1) {
                Some(b'!') if rest.starts_with("<!--") => self.skip_comment(),
                Some(b'!' | b'?') => self.skip_past('>'),
                Some(b'/') => match rest.as_bytes().get(2) {
                    Some(next) if next.is_ascii_alphabetic() => {
                        self.at += 2;
                        let name = self.name();
                        return self.attributes(name).map(|tag| Token::End(tag.name));
                    }
                    _ => self.skip_past('>'),
                },
                Some(next) if next.is_ascii_alphabetic() => {
                    self.at += 1;
                    let name = self.name();
                    return self.attributes(name).map(Token::Start);
                }
                _ => {
                    self.at += 1;
                    return Some(Token::Text("&lt;"));
                }
            }
        }
    }

    /// Goes past the end tag of the element just begun. Without one: to the end of the source if
    /// `to_the_end`, else nowhere.
    pub(super) fn skip_past_end(&mut self, name: &str, to_the_end: bool) {
        match self.find_end(name) {
            Some((_, past)) => self.at = past,
            None if to_the_end => self.at = self.source.len(),
            None => {}
        }
    }

    /// The content of the element just begun, up to its end tag, which is passed; all the rest without
    /// one.
    pub(super) fn raw_content(&mut self, name: &str) -> &'s str {
        let start = self.at;
        let (end, past) = self
            .find_end(name)
            .unwrap_or((self.source.len(), self.source.len()));
        self.at = past;
        &self.source[start..end]
    }

    fn find_end(&mut self, name: &str) -> Option<(usize, usize)> {
        if self.endless.iter().any(|endless| endless == name) {
            return None;
        }
        let bytes = self.source.as_bytes();
        let mut from = self.at;
        while let Some(found) = self.source[from..].find("</") {
            let start = from + found;
            let name_end = start + 2 + name.len();
            let matches = bytes
                .get(start + 2..name_end)
                .is_some_and(|there| there.eq_ignore_ascii_case(name.as_bytes()))
                && bytes
                    .get(name_end)
                    .is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'/' | b'>'));
            if matches {
                let past = self.source[start..]
                    .find('>')
                    .map_or(self.source.len(), |end| start + end + 1);
                return Some((start, past));
            }
            from = start + 2;
        }
        self.endless.push(name.to_owned());
        None
    }

    fn skip_comment(&mut self) {
        let start = self.at + 4;
        let rest = &self.source[start..];
        self.at = if rest.starts_with('>') {
            start + 1
        } else if rest.starts_with("->") {
            start + 2
        } else {
            // `--!>` ends it too.
            let mut from = 0;
            loop {
                let Some(found) = rest[from..].find("--") else {
                    break self.source.len();
                };
                let after = &rest[from + found + 2..];
                if after.starts_with('>') {
                    break start + from + found + 3;
                }
                if after.starts_with("!>") {
                    break start + from + found + 4;
                }
                from += found + 1;
            }
        };
    }

    fn skip_past(&mut self, end: char) {
        self.at = self.source[self.at..]
            .find(end)
            .map_or(self.source.len(), |found| self.at + found + 1);
    }

    /// The bytes from here that satisfy `wanted`.
    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'s str {
        let start = self.at;
        let length = self.source.as_bytes()[start..]
            .iter()
            .take_while(|byte| wanted(**byte))
            .count();
        // Only ASCII bytes end a run, and these are characters.
        self.at += length;
        &self.source[start..self.at]
    }

    fn name(&mut self) -> Cow<'s, str> {
        lower(self.take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>')))
    }

    fn attributes(&mut self, name: Cow<'s, str>) -> Option<Tag<'s>> {
        let mut tag = Tag {
            name,
            ..Tag::default()
        };
        loop {
            let gap = self.take_while(|byte| byte.is_ascii_whitespace() || byte == b'/');
            match self.source.as_bytes().get(self.at)? {
                b'>' => {
                    self.at += 1;
                    tag.self_closing = gap.ends_with('/');
                    return Some(tag);
                }
                _ => self.attribute(&mut tag)?,
            }
        }
    }

    fn attribute(&mut self, tag: &mut Tag<'s>) -> Option<()> {
        let start = self.at;
        // An `=` that comes first is part of the name.
        if self.source.as_bytes().get(start) == Some(&b'=') {
            self.at += 1;
        }
        self.take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>' | b'='));
        let name = lower(&self.source[start..self.at]);
        let past_name = self.at;
        self.take_while(|byte| byte.is_ascii_whitespace());
        let value = if self.source.as_bytes().get(self.at) == Some(&b'=') {
            self.at += 1;
            self.value()?
        } else {
            self.at = past_name;
            ""
        };
        let slot = match &*name {
            "href" => &mut tag.href,
            "src" => &mut tag.src,
            "alt" => &mut tag.alt,
            "class" => &mut tag.class,
            "start" => &mut tag.start,
            _ => return Some(()),
        };
        // The first of a name counts.
        if slot.is_none() && value.len() <= MAX_VALUE_BYTES {
            *slot = Some(Cow::Borrowed(value));
        }
        Some(())
    }

    fn value(&mut self) -> Option<&'s str> {
        self.take_while(|byte| byte.is_ascii_whitespace());
        match self.source.as_bytes().get(self.at)? {
            quote @ (b'"' | b'\'') => {
                let quote = *quote;
                self.at += 1;
                let value = self.take_while(|byte| byte != quote);
                self.source.as_bytes().get(self.at)?;
                self.at += 1;
                Some(value)
            }
            _ => Some(self.take_while(|byte| !byte.is_ascii_whitespace() && byte != b'>')),
        }
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    let kept = &name[..name.floor_char_boundary(MAX_NAME_BYTES)];
    if kept.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(kept.to_ascii_lowercase())
    } else {
        Cow::Borrowed(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(source: &str) -> Vec<String> {
        let mut scanner = Scanner::new(source);
        std::iter::from_fn(|| scanner.next())
            .map(|token| match token {
                Token::Text(text) => text.to_owned(),
                Token::Start(tag) => {
                    format!("<{}{}>", tag.name, if tag.self_closing { "/" } else { "" })
                }
                Token::End(name) => format!("</{name}>"),
            })
            .collect()
    }

    #[test]
    fn tags_and_text_are_told_apart() {
        assert_eq!(shapes("a<B c>d</B >e"), ["a", "<b>", "d", "</b>", "e"]);
        assert_eq!(shapes("1 < 2 <3"), ["1 ", "&lt;", " 2 ", "&lt;", "3"]);
        assert_eq!(shapes("<br/><p / ><a b=/>"), ["<br/>", "<p>", "<a>"]);
        assert_eq!(shapes("a<p"), ["a"]);
        assert_eq!(shapes("a<p b='"), ["a"]);
        assert_eq!(shapes("é<é>ü"), ["é", "&lt;", "é>ü"]);
    }

    #[test]
    fn what_is_no_content_is_passed_over() {
        assert_eq!(
            shapes("<!doctype html>a<?x y>b</>c</ d>e"),
            ["a", "b", "c", "e"]
        );
        assert_eq!(
            shapes("<!-- > <p> -->a<!-->b<!--->c<!-- x --!>d<!---->e"),
            ["a", "b", "c", "d", "e"]
        );
        assert_eq!(shapes("a<!-- b"), ["a"]);
    }

    #[test]
    fn attributes_are_read_in_all_their_forms() {
        let source = "<a x href = 'b>c' HREF=d class=\"e f\" src=g/h alt= =k start>";
        let Some(Token::Start(tag)) = Scanner::new(source).next() else {
            panic!("a tag")
        };
        assert_eq!(
            (
                tag.href.as_deref(),
                tag.class.as_deref(),
                tag.src.as_deref()
            ),
            (Some("b>c"), Some("e f"), Some("g/h"))
        );
        assert_eq!(
            (tag.alt.as_deref(), tag.start.as_deref()),
            (Some("=k"), Some(""))
        );
    }

    #[test]
    fn raw_content_ends_at_its_own_end_tag() {
        let mut scanner = Scanner::new("<title>a</titles><b></TITLE\n>c");
        scanner.next();
        assert_eq!(scanner.raw_content("title"), "a</titles><b>");
        assert_eq!(scanner.next(), Some(Token::Text("c")));
        let mut scanner = Scanner::new("<svg>a");
        scanner.next();
        scanner.skip_past_end("svg", false);
        assert_eq!(scanner.next(), Some(Token::Text("a")));
        assert_eq!(scanner.endless, ["svg"]);
    }
}

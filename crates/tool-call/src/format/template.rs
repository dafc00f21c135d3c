//! Reads `{{…}}` inside JSON strings.

use std::ops::Range;
use std::sync::Arc;

use super::reader::Reader;
use crate::model::{PathSegment, Placeholder, Reference, Template, TextPart};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind, is_large_integer, read_value};
use cuecard_source::value::{Json, cut, push_pointer};

/// Turns byte ranges of a text into spans of the source.
pub(super) type Locate<'a> = &'a dyn Fn(&Reader<'_>, Range<usize>) -> Span;

/// The template of a JSON value, keys included.
pub(super) fn from_node(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Template {
    node.walk(&mut pointer.to_owned(), &mut |node, pointer| {
        let Some(text) = node.as_number_text().filter(|text| is_large_integer(text)) else {
            return;
        };
        let shown = cut(text, 40);
        let message = format!("the number {shown} is read as the text \"{shown}\"");
        let found = reader.warning(codes::JSON_NUMBER, node.span, message);
        found.pointer = Some(pointer.to_owned());
        found.help = Some(
            "put it in quotes if its digits matter, or write it with an exponent: 1e30".to_owned(),
        );
    });
    template(reader, node, pointer)
}

fn template(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Template {
    let below = |key: &str| {
        let mut below = pointer.to_owned();
        push_pointer(&mut below, key);
        below
    };
    match &node.kind {
        _ if !has_braces(node) => Template::Literal(node.to_value()),
        NodeKind::String(text) => from_string(reader, text, node.span, pointer),
        NodeKind::Array(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(idx, item)| template(reader, item, &below(&idx.to_string())));
            Template::Array(items.collect())
        }
        _ => {
            let members = node.members().iter().map(|member| {
                let below = below(&member.key);
                let key = from_string(reader, &member.key, member.key_span, &below);
                (key, template(reader, &member.value, &below))
            });
            Template::Object(members.collect())
        }
    }
}

/// Whether there are double braces in a text of a value, or in a key.
pub(super) fn has_braces(node: &Node) -> bool {
    match &node.kind {
        NodeKind::String(text) => text.contains("{{"),
        NodeKind::Array(items) => items.iter().any(has_braces),
        NodeKind::Object(members) => members
            .iter()
            .any(|member| member.key.contains("{{") || has_braces(&member.value)),
        _ => false,
    }
}

/// The template of a string literal that stands at `literal` in the source.
pub(super) fn from_string(
    reader: &mut Reader<'_>,
    text: &str,
    literal: Span,
    pointer: &str,
) -> Template {
    let locate = |reader: &Reader<'_>, range| reader.part_of(text, literal, range);
    from_text(reader, text, &locate, pointer)
}

/// The template of a text whose places `locate` knows.
pub(super) fn from_text(
    reader: &mut Reader<'_>,
    text: &str,
    locate: Locate<'_>,
    pointer: &str,
) -> Template {
    let mut parts: Vec<TextPart> = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    let mut is_unclosed = false;
    while let Some(start) = opening(text, at) {
        literal.push_str(&text[at..start]);
        at = match placeholder(text, start) {
            Ok((Inner::Reference(reference, default), end)) => {
                if !literal.is_empty() {
                    parts.push(TextPart::Literal(std::mem::take(&mut literal)));
                }
                parts.push(TextPart::Reference(Placeholder {
                    reference,
                    default,
                    span: locate(reader, start..end),
                }));
                end
            }
            Ok((Inner::Verbatim(verbatim), end)) => {
                literal.push_str(&verbatim);
                end
            }
            Err(reason) => {
                let closed = closing(text, start);
                // One word about it is enough: a text may hold any number of braces.
                if closed.is_some() || !is_unclosed {
                    report(reader, text, start, locate, pointer, &reason);
                }
                is_unclosed |= closed.is_none();
                let end = closed.unwrap_or(start + 2);
                literal.push_str(&text[start..end]);
                end
            }
        };
    }
    literal.push_str(&text[at..]);
    if parts.is_empty() {
        return Template::Literal(Json::String(literal));
    }
    if !literal.is_empty() {
        parts.push(TextPart::Literal(literal));
    }
    if let [TextPart::Reference(placeholder)] = parts.as_slice() {
        return Template::Reference(Box::new(placeholder.clone()));
    }
    Template::Text(parts)
}

/// Whether `node` holds a reference although none is filled in there, which is an error: as text its braces match
/// nothing, and a check that something is absent would hold.
pub(super) fn holds_reference(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
    help: &str,
) -> bool {
    let mut first = None;
    node.walk(&mut String::new(), &mut |node, _| {
        let text = node.as_str().unwrap_or_default();
        let mut starts = std::iter::successors(opening(text, 0), |start| opening(text, start + 2));
        let reference = starts.find_map(|start| match placeholder(text, start) {
            Ok((Inner::Reference(..), end)) => Some(start..end),
            _ => None,
        });
        first = first.take().or(reference.map(|range| (node, range)));
    });
    let Some((node, range)) = first else {
        return false;
    };
    let text = node.as_str().unwrap_or_default();
    let message = format!(
        "`{}` stands in {what}, where no reference is filled in",
        cut(&text[range.clone()], 100)
    );
    let span = reader.part(node, range);
    let found = reader.error_at(codes::REFERENCE_MISPLACED, span, pointer, message);
    found.help = Some(help.to_owned());
    true
}

/// Where double braces open next: of a longer row of braces, as in `${{{NAME}}}`, the last two do.
fn opening(text: &str, at: usize) -> Option<usize> {
    let start = at + text[at..].find("{{")?;
    let row = text[start..]
        .bytes()
        .take_while(|byte| *byte == b'{')
        .count();
    Some(start + row - 2)
}

/// Where the double braces that open at `start` end, if they are closed before others open.
fn closing(text: &str, start: usize) -> Option<usize> {
    let inside = start + 2;
    let next = text.as_bytes()[inside..]
        .windows(2)
        .position(|pair| pair == b"}}" || pair == b"{{")?;
    (text.as_bytes()[inside + next] == b'}').then_some(inside + next + 2)
}

/// What to write for braces.
pub(super) const BRACES_MEANT: &str = "if the braces are meant, write {{'{{'}}";

/// Says that the double braces at `start` hold no reference: an error when they were meant to, else a warning, since
/// scripts and other template languages have double braces too.
fn report(
    reader: &mut Reader<'_>,
    text: &str,
    start: usize,
    locate: Locate<'_>,
    pointer: &str,
    reason: &str,
) {
    let closed = closing(text, start);
    let rest = &text[start + 2..];
    let end = rest.find(char::is_control).unwrap_or(rest.len());
    let end = rest[..end].find("{{").unwrap_or(end);
    let inside = match closed {
        Some(end) => &text[start + 2..end - 2],
        None => rest[..end].trim_end(),
    };
    let shown = cut(inside.trim(), 40);
    let is_meant = reads_like_a_reference(inside.trim());
    let (code, message, help) = match closed {
        Some(_) if is_meant => (
            codes::REFERENCE_SYNTAX,
            format!("`{{{{{shown}}}}}` can't be read: {reason}"),
            REFERENCE_FORMS,
        ),
        None if is_meant && rest[end..].starts_with("{{") => (
            codes::REFERENCE_SYNTAX,
            format!("`{{{{{shown}` can't be read: another reference begins in it"),
            REFERENCE_FORMS,
        ),
        Some(_) => (
            codes::REFERENCE_LITERAL,
            format!("`{{{{{shown}}}}}` is not a reference and is kept as it is"),
            "",
        ),
        None => (
            codes::REFERENCE_LITERAL,
            format!("`{{{{{shown}` is not closed and is kept as it is"),
            "close it with `}}`; ",
        ),
    };
    let span = locate(reader, start..closed.unwrap_or(start + 2 + inside.len()));
    let found = match code == codes::REFERENCE_SYNTAX {
        true => reader.error(code, span, message),
        false => reader.warning(code, span, message),
    };
    found.pointer = Some(pointer.to_owned());
    found.help = Some(format!("{help}{BRACES_MEANT}"));
}

const REFERENCE_FORMS: &str = "a reference is {{NAME}}, {{step_id.output}} or {{step_id.output.a[0].b}}, perhaps with | default(\"…\"); ";

/// Whether what stands behind double braces was probably meant as a reference.
fn reads_like_a_reference(inside: &str) -> bool {
    inside.starts_with(|first: char| first.is_alphanumeric() || first == '_')
        && inside.chars().all(|character| {
            is_name(character)
                || matches!(
                    character,
                    '.' | '[' | ']' | '"' | '|' | '(' | ')' | ' ' | '\''
                )
        })
}

pub(super) enum Inner {
    Reference(Reference, Option<Json>),
    Verbatim(String),
}

/// Reads the placeholder whose `{{` stands at `start`; gives it and where it ends.
pub(super) fn placeholder(text: &str, start: usize) -> Result<(Inner, usize), String> {
    let mut cursor = Cursor {
        text,
        at: start + 2,
    };
    cursor.skip_spaces();
    if matches!(cursor.peek(), Some('"' | '\'')) {
        let Json::String(verbatim) = cursor.json()? else {
            return Err("expected text in quotes".to_owned());
        };
        cursor.skip_spaces();
        return cursor.close().map(|end| (Inner::Verbatim(verbatim), end));
    }
    let reference_start = cursor.at;
    let name = cursor.name()?;
    let path = cursor.segments()?;
    let reference = Reference {
        name,
        path,
        text: Arc::from(&text[reference_start..cursor.at]),
    };
    let name_end = cursor.at;
    cursor.skip_spaces();
    if cursor.at > name_end && cursor.peek().is_some_and(is_name) {
        return Err("a name can't contain spaces".to_owned());
    }
    let mut default = None;
    if cursor.peek() == Some('|') {
        cursor.at += 1;
        cursor.skip_spaces();
        if cursor.name()? != "default" {
            return Err("only default(…) is allowed after `|`".to_owned());
        }
        cursor.skip_spaces();
        cursor.expect('(')?;
        cursor.skip_spaces();
        let json = cursor.json()?;
        if json.to_string().contains("{{") {
            return Err("a default can't hold a reference".to_owned());
        }
        default = Some(json);
        cursor.skip_spaces();
        cursor.expect(')')?;
        cursor.skip_spaces();
    }
    cursor
        .close()
        .map(|end| (Inner::Reference(reference, default), end))
}

/// The way to a parameter: `elements[0].uid`.
///
/// # Errors
/// What is wrong with it.
pub(super) fn way(text: &str) -> Result<Vec<PathSegment>, String> {
    let mut cursor = Cursor { text, at: 0 };
    let mut way = vec![PathSegment::Key(cursor.name()?)];
    way.extend(cursor.segments()?);
    match cursor.peek() {
        None => Ok(way),
        Some(found) => Err(format!("expected `.` or `[`, found `{found}`")),
    }
}

/// A place in a text that is read.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.at += wanted.len_utf8();
                Ok(())
            }
            Some(found) => Err(format!("expected `{wanted}`, found `{found}`")),
            None => Err(format!("expected `{wanted}` at the end")),
        }
    }

    fn close(&mut self) -> Result<usize, String> {
        self.expect('}')?;
        self.expect('}')?;
        Ok(self.at)
    }

    fn name(&mut self) -> Result<String, String> {
        let rest = self.rest();
        let length = rest
            .find(|character| !is_name(character))
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(match self.peek() {
                Some(found) => format!("expected a name, found `{found}`"),
                None => "unexpected end of reference".to_owned(),
            });
        }
        let name = rest[..length].to_owned();
        self.at += length;
        Ok(name)
    }

    /// Steps into a value, as far as there are any.
    fn segments(&mut self) -> Result<Vec<PathSegment>, String> {
        let mut path = Vec::new();
        loop {
            match self.peek() {
                Some('.') => {
                    self.at += 1;
                    path.push(PathSegment::Key(self.name()?));
                }
                Some('[') => {
                    self.at += 1;
                    path.push(self.index()?);
                }
                _ => return Ok(path),
            }
        }
    }

    fn index(&mut self) -> Result<PathSegment, String> {
        let segment = if matches!(self.peek(), Some('"' | '\'')) {
            match self.json()? {
                Json::String(key) => PathSegment::Key(key),
                _ => return Err("expected a key in quotes".to_owned()),
            }
        } else {
            let digits = self.name()?;
            let segment = match digits.strip_prefix('-').map(str::parse) {
                None => digits.parse().ok().map(PathSegment::Index),
                Some(from_end) => from_end.ok().filter(|n| *n > 0).map(PathSegment::FromEnd),
            };
            segment.ok_or_else(|| format!("`{digits}` is not a valid index"))?
        };
        self.expect(']')?;
        Ok(segment)
    }

    /// One JSON value, of which the cursor stands at the start; a text may have single quotes.
    fn json(&mut self) -> Result<Json, String> {
        if self.peek() == Some('\'') {
            let missing = || "a single quote is missing at the end".to_owned();
            return self.quoted(&[]).map(Json::String).ok_or_else(missing);
        }
        let rest = self.rest();
        let (value, read) = if rest.starts_with(['"', '[', '{']) {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
            let is_json = values.next().is_some_and(|value| value.is_ok());
            let length = values.byte_offset();
            let value = is_json.then(|| read_value(&rest[..length]).ok());
            (value.flatten(), length)
        } else {
            let length = rest.find([')', '}', ']', ' ']).unwrap_or(rest.len());
            (read_value(&rest[..length]).ok(), length)
        };
        let value = value.ok_or("expected a JSON value, such as \"text\" or 5")?;
        self.at += read;
        Ok(value)
    }

    /// A text in quotes, in which a backslash stands before a quote, a backslash, or a letter that `escapes` for another
    /// character; others keep their backslash. `None` if the quote at the end is missing.
    pub(super) fn quoted(&mut self, escapes: &[(char, char)]) -> Option<String> {
        let quote = self.peek()?;
        let mut text = String::new();
        let mut signs = self.rest().char_indices().skip(1);
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\\' => match signs.next()?.1 {
                    sign if sign == quote || sign == '\\' => text.push(sign),
                    sign => match escapes.iter().find(|(letter, _)| *letter == sign) {
                        Some((_, escaped)) => text.push(*escaped),
                        None => text.extend(['\\', sign]),
                    },
                },
                sign if sign == quote => {
                    self.at += at + quote.len_utf8();
                    return Some(text);
                }
                sign => text.push(sign),
            }
        }
        None
    }
}

/// Characters of variable names, step ids and output names.
pub(super) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::SourceFile;
    use cuecard_source::diagnostic::Severity;
    use proptest::prelude::*;

    fn parse(text: &str) -> (Template, Vec<cuecard_source::diagnostic::Diagnostic>) {
        let source = SourceFile::new("t", text);
        let mut reader = Reader::new(&source, &super::super::FORMAT);
        let template = from_text(
            &mut reader,
            text,
            &|_, range| Span::new(range.start, range.end),
            "/x",
        );
        (template, reader.diagnostics)
    }

    fn reference(text: &str) -> Placeholder {
        match parse(text) {
            (Template::Reference(placeholder), diagnostics) if diagnostics.is_empty() => {
                *placeholder
            }
            other => panic!("{text} gave {other:?}"),
        }
    }

    #[test]
    fn of_a_row_of_braces_the_last_two_open() {
        let literals = |text: &str| match parse(text) {
            (Template::Text(parts), found) if found.is_empty() => parts
                .into_iter()
                .map(|part| match part {
                    TextPart::Literal(literal) => literal,
                    TextPart::Reference(placeholder) => format!("<{}>", placeholder.reference.text),
                })
                .collect::<String>(),
            other => panic!("{text} gave {other:?}"),
        };
        assert_eq!(literals("`${{{a.b}}}`"), "`${<a.b>}`");
        assert_eq!(literals("{{{{{a.b}}}"), "{{{<a.b>}");
        assert_eq!(literals("{{{\"{{\"}}{{a.b}}"), "{{{<a.b>");
    }

    #[test]
    fn references_have_paths_defaults_and_spaces() {
        assert_eq!(reference("{{NAME}}").reference.name, "NAME");
        let deep = reference("{{ create-issue.out.a[0][\"b c\"] | default({\"x\": {}}) }}");
        assert_eq!(deep.reference.name, "create-issue");
        assert_eq!(
            deep.reference.path,
            [
                PathSegment::Key("out".into()),
                PathSegment::Key("a".into()),
                PathSegment::Index(0),
                PathSegment::Key("b c".into())
            ]
        );
        assert_eq!(deep.default, Some(serde_json::json!({"x": {}})));
        assert_eq!(
            deep.reference.text.as_ref(),
            "create-issue.out.a[0][\"b c\"]"
        );
        assert_eq!(reference("{{N | default(5)}}").default, Some(Json::from(5)));
        for (text, default) in [
            ("''", ""),
            ("'a b'", "a b"),
            (r"'it\'s \\ \d'", r"it's \ \d"),
        ] {
            let reference = reference(&format!("{{{{N | default({text})}}}}"));
            assert_eq!(reference.default, Some(Json::from(default)), "{text}");
        }
        assert_eq!(
            reference("{{L[-1]['a b']}}").reference.path,
            [PathSegment::FromEnd(1), PathSegment::Key("a b".into())]
        );
        assert_eq!(
            reference("{{N|default( true )}}").default,
            Some(Json::Bool(true))
        );
    }

    #[test]
    fn text_around_references_is_kept_and_quoted_braces_are_text() {
        let (template, diagnostics) = parse("a {{X}} b{{\"{{\"}}Y}}");
        assert!(diagnostics.is_empty());
        let Template::Text(parts) = template else {
            panic!("text")
        };
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0], TextPart::Literal("a ".into()));
        assert_eq!(parts[2], TextPart::Literal(" b{{Y}}".into()));
        let (template, diagnostics) = parse("'{{'{{'}}.Names}}'");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(
            template,
            Template::Literal(Json::String("'{{.Names}}'".into()))
        );
    }

    #[test]
    fn what_was_meant_as_a_reference_is_an_error_and_script_is_not() {
        for bad in [
            "{{creat issue.number}}",
            "{{a..b}}",
            "{{a[x]}}",
            "{{a[-0]}}",
            "{{a | default('x)}}",
            "{{a | upper}}",
            "{{a | default(x)}}",
            "{{a | default({{b}})}}",
            "{{a[{{b}}].c}}",
        ] {
            let (_, diagnostics) = parse(bad);
            assert_eq!(diagnostics.len(), 1, "{bad}");
            assert_eq!(diagnostics[0].severity, Severity::Error, "{bad}");
        }
        for script in ["style={{color: 'red'}}", "{{}}", "${{ github.sha, x }}"] {
            let (template, diagnostics) = parse(script);
            assert_eq!(
                template,
                Template::Literal(Json::String(script.to_owned())),
                "{script}"
            );
            assert_eq!(diagnostics[0].severity, Severity::Warning, "{script}");
        }
    }

    #[test]
    fn braces_that_are_not_closed_stay_and_are_named_once() {
        for (text, message) in [
            ("{{A", "`{{A` is not closed and is kept as it is"),
            ("a {{ b", "`{{b` is not closed and is kept as it is"),
            ("{{A} b", "`{{A} b` is not closed and is kept as it is"),
            ("x {{", "`{{` is not closed and is kept as it is"),
        ] {
            let (template, diagnostics) = parse(text);
            assert_eq!(template, Template::Literal(Json::String(text.into())));
            assert_eq!(diagnostics.len(), 1, "{text}");
            assert_eq!(diagnostics[0].severity, Severity::Warning);
            assert_eq!(diagnostics[0].message, message);
        }
        let many = "{{ ".repeat(1000);
        let (template, diagnostics) = parse(&many);
        assert_eq!(template, Template::Literal(Json::String(many)));
        assert_eq!(diagnostics.len(), 1);
    }

    #[test]
    fn a_reference_after_braces_that_are_not_closed_is_read() {
        let (template, diagnostics) = parse("{{A} {{B}}");
        let Template::Text(parts) = template else {
            panic!("text")
        };
        assert_eq!(parts[0], TextPart::Literal("{{A} ".into()));
        assert!(matches!(&parts[1], TextPart::Reference(found) if found.reference.name == "B"));
        assert_eq!(
            diagnostics[0].message,
            "`{{A}` is not closed and is kept as it is"
        );
        let place = diagnostics[0].place.as_ref().expect("a place");
        assert_eq!(place.span.range(), 0..4);
    }

    #[test]
    fn a_space_in_a_name_is_named() {
        let (_, diagnostics) = parse("{{A B}}");
        assert_eq!(
            diagnostics[0].message,
            "`{{A B}}` can't be read: a name can't contain spaces"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic_and_nothing_is_lost(text in "[{}a-z\" .\\[\\]|()0-9é]{0,40}") {
            let (template, diagnostics) = parse(&text);
            if let (Template::Literal(json), true) = (&template, diagnostics.is_empty())
                && !text.contains("{{") {
                    prop_assert_eq!(json, &Json::String(text.clone()));
                }
            template.for_each_placeholder(&mut |placeholder| {
                let span = placeholder.span.range();
                assert!(text[span.clone()].starts_with("{{") && text[span].ends_with("}}"));
            });
        }
    }
}

//! Reads `{{…}}` inside JSON strings.

use std::ops::Range;
use std::sync::Arc;

use super::reader::Reader;
use crate::model::{PathSegment, Placeholder, Reference, Template, TextPart};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind, is_large_integer, read_value, string_span};
use cuecard_source::value::{Json, cut, push_pointer};

/// Turns byte ranges of a decoded string into spans of the source.
pub(super) type Locate<'a> = &'a dyn Fn(Range<usize>) -> Span;

/// The template of a JSON value, keys included.
pub(super) fn from_node(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Template {
    match &node.kind {
        NodeKind::String(text) => from_string(reader, text, node.span, pointer),
        NodeKind::Array(items) => {
            let items: Vec<Template> = items
                .iter()
                .enumerate()
                .map(|(index, item)| from_node(reader, item, &format!("{pointer}/{index}")))
                .collect();
            if items
                .iter()
                .all(|item| matches!(item, Template::Literal(_)))
            {
                Template::Literal(Json::Array(items.into_iter().map(into_literal).collect()))
            } else {
                Template::Array(items)
            }
        }
        NodeKind::Object(members) => {
            let members: Vec<(Template, Template)> = members
                .iter()
                .map(|member| {
                    let mut below = pointer.to_owned();
                    push_pointer(&mut below, &member.key);
                    let key = from_string(reader, &member.key, member.key_span, &below);
                    (key, from_node(reader, &member.value, &below))
                })
                .collect();
            let plain = |template: &Template| matches!(template, Template::Literal(_));
            if members
                .iter()
                .all(|(key, value)| plain(key) && plain(value))
            {
                Template::Literal(Json::Object(
                    members
                        .into_iter()
                        .filter_map(|(key, value)| match into_literal(key) {
                            Json::String(key) => Some((key, into_literal(value))),
                            _ => None,
                        })
                        .collect(),
                ))
            } else {
                Template::Object(members)
            }
        }
        NodeKind::Number(text) => {
            if is_large_integer(text) {
                let shown = cut(text, 40);
                let message = format!("the number {shown} is read as the text \"{shown}\"");
                let diagnostic = reader.warning(codes::JSON_NUMBER, node.span, message);
                diagnostic.pointer = Some(pointer.to_owned());
                diagnostic.help = Some(
                    "put it in quotes if its digits matter, or write it with an exponent: 1e30"
                        .to_owned(),
                );
            }
            Template::Literal(node.to_value())
        }
        _ => Template::Literal(node.to_value()),
    }
}

fn into_literal(template: Template) -> Json {
    match template {
        Template::Literal(json) => json,
        _ => Json::Null,
    }
}

/// The template of a string literal that stands at `literal` in the source.
pub(super) fn from_string(
    reader: &mut Reader<'_>,
    text: &str,
    literal: Span,
    pointer: &str,
) -> Template {
    if !text.contains("{{") {
        return Template::Literal(Json::String(text.to_owned()));
    }
    let source = reader.source.clone();
    let locate = move |range: Range<usize>| string_span(source.text(), literal, range);
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
        match placeholder(text, start) {
            Ok((Inner::Reference(reference, default), end)) => {
                if !literal.is_empty() {
                    parts.push(TextPart::Literal(std::mem::take(&mut literal)));
                }
                parts.push(TextPart::Reference(Placeholder {
                    reference,
                    default,
                    span: locate(start..end),
                }));
                at = end;
            }
            Ok((Inner::Verbatim(verbatim), end)) => {
                literal.push_str(&verbatim);
                at = end;
            }
            Err(reason) => {
                let end = match closing(text, start) {
                    Some(end) => {
                        report_unreadable(reader, text, start..end, locate, pointer, &reason);
                        end
                    }
                    None => {
                        // One word about it is enough: a text may hold any number of braces.
                        if !is_unclosed {
                            report_unclosed(reader, text, start, locate, pointer);
                        }
                        is_unclosed = true;
                        start + 2
                    }
                };
                literal.push_str(&text[start..end]);
                at = end;
            }
        }
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
    let text = match &node.kind {
        NodeKind::String(text) => text,
        NodeKind::Array(items) => {
            return items
                .iter()
                .any(|item| holds_reference(reader, item, pointer, what, help));
        }
        NodeKind::Object(members) => {
            return members
                .iter()
                .any(|member| holds_reference(reader, &member.value, pointer, what, help));
        }
        _ => return false,
    };
    let mut starts = std::iter::successors(opening(text, 0), |start| opening(text, start + 2));
    let Some(range) = starts.find_map(|start| match placeholder(text, start) {
        Ok((Inner::Reference(..), end)) => Some(start..end),
        _ => None,
    }) else {
        return false;
    };
    let message = format!(
        "`{}` stands in {what}, where no reference is filled in",
        cut(&text[range.clone()], 100)
    );
    let span = reader.part(node, range);
    let diagnostic = reader.error(codes::REFERENCE_MISPLACED, span, message);
    diagnostic.pointer = Some(pointer.to_owned());
    diagnostic.help = Some(help.to_owned());
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

/// Says that double braces are not closed. Scripts have such braces too, so it is a warning, but for a reference that holds
/// another one.
fn report_unclosed(
    reader: &mut Reader<'_>,
    text: &str,
    start: usize,
    locate: Locate<'_>,
    pointer: &str,
) {
    let rest = &text[start + 2..];
    let end = rest
        .find("{{")
        .into_iter()
        .chain(rest.find(char::is_control))
        .min()
        .unwrap_or(rest.len());
    let shown = rest[..end].trim_end();
    if rest[end..].starts_with("{{") && reads_like_a_reference(shown.trim_start()) {
        let span = locate(start..start + 2 + shown.len());
        let reason = "another reference begins in it";
        return report_syntax(reader, span, pointer, cut(shown, 40).as_ref(), reason);
    }
    let diagnostic = reader.warning(
        codes::REFERENCE_LITERAL,
        locate(start..start + 2 + shown.len()),
        format!(
            "`{{{{{}` is not closed and is kept as it is",
            cut(shown, 40)
        ),
    );
    diagnostic.help = Some(format!("close it with `}}}}`; {BRACES_MEANT}"));
    diagnostic.pointer = Some(pointer.to_owned());
}

/// What to write for braces.
pub(super) const BRACES_MEANT: &str = "if the braces are meant, write {{'{{'}}";

/// Says that double braces hold no reference: an error when they were meant to, else a warning, since
/// scripts and other template languages have double braces too.
fn report_unreadable(
    reader: &mut Reader<'_>,
    text: &str,
    range: Range<usize>,
    locate: Locate<'_>,
    pointer: &str,
    reason: &str,
) {
    let inside = text[range.start + 2..range.end - 2].trim();
    let shown = format!("{}}}}}", cut(inside, 40));
    if reads_like_a_reference(inside) {
        return report_syntax(reader, locate(range), pointer, &shown, reason);
    }
    let message = format!("`{{{{{shown}` is not a reference and is kept as it is");
    let diagnostic = reader.warning(codes::REFERENCE_LITERAL, locate(range), message);
    diagnostic.help = Some(BRACES_MEANT.to_owned());
    diagnostic.pointer = Some(pointer.to_owned());
}

fn report_syntax(reader: &mut Reader<'_>, span: Span, pointer: &str, shown: &str, reason: &str) {
    let message = format!("`{{{{{shown}` can't be read: {reason}");
    let diagnostic = reader.error(codes::REFERENCE_SYNTAX, span, message);
    diagnostic.help = Some(format!(
        "a reference is {{{{NAME}}}}, {{{{step_id.output}}}} or {{{{step_id.output.a[0].b}}}}, perhaps with | default(\"…\"); {BRACES_MEANT}"
    ));
    diagnostic.pointer = Some(pointer.to_owned());
}

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

enum Inner {
    Reference(Reference, Option<Json>),
    Verbatim(String),
}

/// Reads the placeholder whose `{{` stands at `start`; gives it and where it ends.
fn placeholder(text: &str, start: usize) -> Result<(Inner, usize), String> {
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

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_spaces(&mut self) {
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
            return self.single_quoted().map(Json::String);
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

    /// A text in single quotes, in which a backslash stands before a quote or a backslash.
    fn single_quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut signs = self.rest().char_indices().skip(1);
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\'' => {
                    self.at += at + 1;
                    return Ok(text);
                }
                '\\' => match signs.next() {
                    Some((_, sign @ ('\'' | '\\'))) => text.push(sign),
                    Some((_, sign)) => text.extend(['\\', sign]),
                    None => break,
                },
                sign => text.push(sign),
            }
        }
        Err("a single quote is missing at the end".to_owned())
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
            &|range| Span::new(range.start, range.end),
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
            ("a {{ b", "`{{ b` is not closed and is kept as it is"),
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

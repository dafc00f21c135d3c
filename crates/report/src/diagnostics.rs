//! Diagnostics as people and machines read them.

use std::iter;
use std::sync::LazyLock;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::Style;
use cuecard_source::diagnostic::{Diagnostic, Severity, bounded, codes};
use cuecard_source::value::{
    Json, Redactor, find_credentials_in_text, names_credential, turns_direction,
    without_credentials,
};

/// A longer line is shown only around the marked place.
const MAX_SHOWN_LINE: usize = 400;

/// So many bytes on either side of what is shown are searched for secrets that reach into it.
const MAX_SEARCHED: usize = 16 << 10;

/// In a file nothing is cut to a terminal's width.
const UNCUT: usize = 10_000;

/// A diagnostic as text of several lines, with a newline at the end: the message with its code, the place
/// with its line, notes, and what to do.
pub fn render(diagnostic: &Diagnostic, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let excerpt = Excerpt::of(diagnostic);
    let secrets = Redactor::new(excerpt.iter().flat_map(|it| it.secrets.clone()));
    let one_line = |text: &str| one_line(&shown(&secrets, text));
    let printable_note = |text: &str| printable(&shown(&secrets, text));
    // A step that is printed to be pasted stays whole.
    let printable = |text: &str| printable(&secrets.text(text));
    let mut group = level
        .primary_title(one_line(&diagnostic.message))
        .id(diagnostic.code.name())
        .elements(Vec::<Snippet<'_, annotate_snippets::Annotation<'_>>>::new());
    if let (Some(excerpt), Some(place)) = (&excerpt, &diagnostic.place) {
        let annotation = AnnotationKind::Primary.span(excerpt.start..excerpt.end);
        let annotation = match &diagnostic.label {
            Some(label) => annotation.label(one_line(label)),
            None => annotation,
        };
        group = group.element(
            Snippet::source(excerpt.text.as_str())
                .path(place.source.name())
                .line_start(excerpt.line)
                .annotation(annotation),
        );
    } else {
        if let Some(place) = &diagnostic.place {
            let at = place.source.position(place.span.start);
            let origin = Origin::path(place.source.name());
            group = group.element(origin.line(at.line).char_column(at.column));
        }
        if let Some(label) = &diagnostic.label {
            group = group.element(Level::NOTE.message(one_line(label)));
        }
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(printable_note(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let renderer = if style.colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let decor = if style.unicode {
        DecorStyle::Unicode
    } else {
        DecorStyle::Ascii
    };
    let mut text = renderer
        .decor_style(decor)
        .term_width(match style.is_terminal {
            true => style.width.max(40),
            false => UNCUT,
        })
        .render(&[group]);
    if let (Some(excerpt), Some(place)) = (&excerpt, &diagnostic.place)
        && excerpt.column != excerpt.shown_column
    {
        // The renderer counts from where the excerpt begins.
        let header = |column: usize| format!("{}:{}:{column}", place.source.name(), excerpt.line);
        text = text.replacen(&header(excerpt.shown_column), &header(excerpt.column), 1);
    }
    // The renderer pads some lines; nobody wants to see that in a diff.
    text = text
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n");
    text.push('\n');
    text
}

/// Findings as a JSON array, as far as they are shown.
pub fn list_to_json(all: &[Diagnostic]) -> Json {
    bounded(all).iter().map(|found| to_json(found)).collect()
}

/// A diagnostic as one JSON object.
pub fn to_json(diagnostic: &Diagnostic) -> Json {
    serde_json::to_value(DiagnosticEntry::of(diagnostic)).unwrap_or_default()
}

/// A diagnostic in a result. Field names are the contract.
#[derive(Serialize, JsonSchema)]
pub(super) struct DiagnosticEntry {
    severity: Severity,
    code: &'static str,
    message: String,
    file: Option<String>,
    #[schemars(range(min = 1))]
    line: Option<usize>,
    #[schemars(range(min = 1))]
    column: Option<usize>,
    pointer: Option<String>,
    label: Option<String>,
    notes: Vec<String>,
    help: Option<String>,
}

impl DiagnosticEntry {
    pub(super) fn of(diagnostic: &Diagnostic) -> Self {
        let place = diagnostic.place.as_ref();
        let position = place.map(|place| place.source.position(place.span.start));
        let excerpt = Excerpt::of(diagnostic);
        let secrets = Redactor::new(excerpt.into_iter().flat_map(|it| it.secrets));
        let shown = |text: &str| shown(&secrets, text);
        Self {
            severity: diagnostic.severity,
            code: diagnostic.code.name(),
            message: shown(&diagnostic.message),
            file: place.map(|place| place.source.name().to_owned()),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            pointer: diagnostic.pointer.clone(),
            label: diagnostic.label.as_deref().map(shown),
            notes: diagnostic.notes.iter().map(|note| shown(note)).collect(),
            help: diagnostic
                .help
                .as_deref()
                .map(|help| secrets.text(help).into_owned()),
        }
    }
}

/// A text without the secrets of the place, and without what looks like one in what peers sent.
fn shown(secrets: &Redactor, text: &str) -> String {
    without_credentials(&secrets.text(text)).into_owned()
}

/// The line of a place, with the place inside it; a span over several lines is marked on its first.
struct Excerpt {
    /// With asterisks in place of secrets, so that offsets stay.
    text: String,
    /// The values in it of keys such as `API_TOKEN`.
    secrets: Vec<String>,
    line: usize,
    /// Where the marked place begins in its line, in characters from 1.
    column: usize,
    /// The same in the excerpt.
    shown_column: usize,
    start: usize,
    end: usize,
}

/// A key and the sign after it, as people write them in any format.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"([A-Za-z0-9_.-]{3,100})["'”’]?\s*[:=]"#).expect("a fixed pattern")
});

/// What of a line that can't be read may be a credential: all behind the key of one, since nobody knows where it ends.
fn unread_secrets(line: &str) -> Vec<String> {
    let mut keys = KEY.captures_iter(line);
    let key = keys.find(|key| names_credential(&key[1]));
    let rest = key.map_or("", |key| &line[key.get(0).map_or(0, |it| it.end())..]);
    let words = rest.split(|it: char| !it.is_alphanumeric() && !"-_./+".contains(it));
    words
        .filter(|word| word.len() > 4)
        .map(str::to_owned)
        .collect()
}

impl Excerpt {
    fn of(diagnostic: &Diagnostic) -> Option<Self> {
        let place = diagnostic.place.as_ref();
        let place = place.filter(|place| !place.source.is_withheld())?;
        let text = place.source.text();
        let text_start = cuecard_source::byte_order_mark(text);
        let mut start = (place.span.start as usize).clamp(text_start, text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = text[..start].rfind('\n').map_or(text_start, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line_end = line_start + text[line_start..line_end].trim_end_matches('\r').len();
        let mut end = (place.span.end as usize).clamp(start, line_end.max(start));
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let window_start = floor_boundary(
            text,
            start.saturating_sub(MAX_SHOWN_LINE / 2).max(line_start),
        );
        let window_end = ceil_boundary(text, (end + MAX_SHOWN_LINE / 2).min(line_end.max(end)));
        let position = place.source.position(place.span.start);
        let searched_start = floor_boundary(
            text,
            window_start.saturating_sub(MAX_SEARCHED).max(line_start),
        );
        let searched_end = ceil_boundary(
            text,
            (window_end + MAX_SEARCHED).min(line_end.max(window_end)),
        );
        let mut searched = text[searched_start..searched_end].to_owned();
        let mut secrets = Vec::new();
        find_credentials_in_text(&searched, &mut secrets);
        if [codes::JSON_SYNTAX, codes::YAML_SYNTAX, codes::TIMELINE_YAML].contains(&diagnostic.code)
        {
            secrets.extend(unread_secrets(&searched));
        }
        for secret in &secrets {
            searched = searched.replace(secret, &"*".repeat(secret.len()));
        }
        Some(Self {
            text: printable(&searched[window_start - searched_start..window_end - searched_start]),
            secrets,
            line: position.line,
            column: position.column,
            shown_column: text[window_start..start].chars().count() + 1,
            start: start - window_start,
            end: end - window_start,
        })
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Text from files and peers never moves the cursor or changes colours: control characters become a mark
/// of the same length in bytes.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            other if other.is_control() => shown.extend(iter::repeat_n('?', other.len_utf8())),
            other if turns_direction(other) => shown.push(char::REPLACEMENT_CHARACTER),
            other => shown.push(other),
        }
    }
    shown
}

fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::{SourceFile, Span};

    fn sample() -> Diagnostic {
        let text = "{\n  \"text\": \"Issue #{{creat_issue.number}}\"\n}\n";
        let start = text.find("{{").expect("there");
        Diagnostic::error(
            codes::REFERENCE_UNKNOWN,
            "`creat_issue.number` is not defined",
        )
        .at(
            &SourceFile::new("scenario.json", text),
            Span::new(start, start + 22),
        )
        .with_label("did you mean `create_issue.number`?")
        .with_note("step 2 can see: create_issue.number")
        .with_help("correct the name")
    }

    #[test]
    fn a_diagnostic_shows_where_what_and_what_to_do() {
        let text = render(
            &sample(),
            Style {
                unicode: false,
                ..Style::default()
            },
        );
        assert!(
            text.starts_with("error[C-REF-02]: `creat_issue.number` is not defined\n"),
            "{text}"
        );
        assert!(text.contains("scenario.json:2:19"), "{text}");
        assert!(
            text.contains("^^^^^^^^^^^^^^^^^^^^^^ did you mean `create_issue.number`?"),
            "{text}"
        );
        assert!(text.contains("note: step 2 can see"), "{text}");
        assert!(text.contains("help: correct the name"), "{text}");
        assert!(!text.contains('\u{1b}'));
        assert!(
            render(
                &sample(),
                Style {
                    colour: true,
                    ..Style::default()
                }
            )
            .contains('\u{1b}')
        );
    }

    #[test]
    fn machines_get_line_and_column() {
        let json = to_json(&sample());
        assert_eq!(
            (json["line"].as_u64(), json["column"].as_u64()),
            (Some(2), Some(19))
        );
        assert_eq!(json["code"], "C-REF-02");
    }

    #[test]
    fn no_secret_of_the_line_is_shown() {
        let text = "{\"variables\": {\"API_TOKEN\": \"Tango7Foxtrot9QBravo\", \"x\": }}";
        let at = text.find("\"Tango").expect("there");
        for message in ["a mistake", "`Tango7Foxtrot9QBravo` is odd"] {
            let found = Diagnostic::error(codes::ARGUMENT, message)
                .at(&SourceFile::new("s.json", text), Span::new(at, at + 22))
                .with_help("write Tango7Foxtrot9QBravo");
            for shown in [
                render(&found, Style::default()),
                to_json(&found).to_string(),
            ] {
                assert!(!shown.contains("Tango"), "{shown}");
            }
            let shown = render(&found, Style::default());
            assert!(
                shown.contains("\"API_TOKEN\": \"********************\", \"x\""),
                "{shown}"
            );
        }
    }

    #[test]
    fn nothing_behind_the_key_of_a_secret_is_shown_of_a_line_that_can_not_be_read() {
        for line in [
            r#"{"API_TOKEN": "Tango7Fo"xtrot9QBravo3Zulu", "x": 1}"#,
            r#"{"API_TOKEN": "Tango7Foxtrot9QBravo3Zulu\"}"#,
            r#"{"API_TOKEN": 12"Tango7Foxtrot9QBravo3Zulu"}"#,
            "{\"API_TOKEN\": “Tango7Foxtrot9QBravo3Zulu”}",
            "{“password”: Tango7Foxtrot9QBravo3Zulu}",
        ] {
            let found = Diagnostic::error(codes::JSON_SYNTAX, "missing a value")
                .at(&SourceFile::new("s.json", line), Span::new(15, 16))
                .with_help("write `\"Tango7Foxtrot9QBravo3Zulu\"`")
                .with_note(line);
            for shown in [
                render(&found, Style::default()),
                to_json(&found).to_string(),
            ] {
                assert!(
                    !shown.contains("Bravo3") && !shown.contains("Tango7"),
                    "{shown}"
                );
            }
        }
    }

    #[test]
    fn a_secret_whose_key_is_too_far_away_is_not_shown() {
        let filler = "x, ".repeat(200);
        let long = "Tango7Foxtrot9QBravo".repeat(20);
        for text in [
            format!("{{\"input\": {{\"password\": \"{long}\"}}, !"),
            format!("{{\"secrets\": {{\"secret\": [\"{filler}\", \"Tango7Foxtrot\"]}}, !"),
            format!(
                "{{\"a\": \"the password: Tango7Foxtrot\", \"b\": \"{filler}\", \"c\": \"Tango7Foxtrot\", !"
            ),
        ] {
            let at = text.len() - 1;
            let found = Diagnostic::error(codes::IMPORT_UNREADABLE, "not JSON")
                .at(&SourceFile::new("s.jsonl", text), Span::new(at, at));
            let shown = render(&found, Style::default());
            assert!(shown.contains(", !") && !shown.contains("Tango"), "{shown}");
        }
    }

    #[test]
    fn no_place_and_odd_places_do_not_panic() {
        let plain = Diagnostic::warning(codes::ARGUMENT, "an\u{1b}[31m odd\none");
        assert!(render(&plain, Style::default()).contains("an?[31m odd one"));
        let turned = Diagnostic::warning(codes::ARGUMENT, "a\u{9b}2J\u{202e}b");
        assert!(render(&turned, Style::default()).contains("a??2J\u{fffd}b"));
        for (text, span) in [
            ("", Span::new(0, 0)),
            ("é", Span::new(1, 1)),
            ("a\r\nb", Span::new(0, 4)),
            ("x", Span::new(9, 99)),
        ] {
            let odd = Diagnostic::error(codes::ARGUMENT, "m").at(&SourceFile::new("f", text), span);
            assert!(render(&odd, Style::default()).contains("f:"));
        }
        let long = format!("{}x{}", "a".repeat(100_000), "b".repeat(100_000));
        let far = Diagnostic::error(codes::ARGUMENT, "m")
            .at(&SourceFile::new("f", long), Span::new(100_000, 100_001));
        assert!(render(&far, Style::default()).len() < 4000);
    }

    #[test]
    fn a_column_far_to_the_right_is_counted_from_where_the_line_begins() {
        let text = format!("first\n{}x{}", "é".repeat(500), "b".repeat(900));
        let at = "first\n".len() + 1000;
        let far = Diagnostic::error(codes::ARGUMENT, "m")
            .at(&SourceFile::new("f.json", text), Span::new(at, at + 1));
        let coloured = Style {
            colour: true,
            ..Style::default()
        };
        for style in [Style::default(), coloured] {
            let shown = render(&far, style);
            assert!(shown.contains("f.json:2:501"), "{shown}");
        }
        assert_eq!(to_json(&far)["column"], 501);
    }
}

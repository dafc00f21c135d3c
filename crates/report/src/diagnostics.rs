//! Diagnostics as people and machines read them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::json;

use super::Style;
use cuecard_source::diagnostic::{Diagnostic, Place, Severity, codes};
use cuecard_source::value::{Json, turns_direction};

/// A longer line is shown only around the marked place.
const MAX_SHOWN_LINE: usize = 400;

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
    let mut group = level
        .primary_title(one_line(&diagnostic.message))
        .id(diagnostic.code.name())
        .elements(Vec::<Snippet<'_, annotate_snippets::Annotation<'_>>>::new());
    let excerpt = diagnostic.place.as_ref().map(Excerpt::of);
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
    } else if let Some(label) = &diagnostic.label {
        group = group.element(Level::NOTE.message(one_line(label)));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(printable(note)));
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

/// More findings of one file are counted, not shown.
pub const MAX_SHOWN: usize = 100;

/// The findings that are shown: of each file the first [`MAX_SHOWN`], errors before all others, in their order. Where
/// there are more, a last one says how many (X-FIND-01), as grave as the worst of them.
pub fn bounded(all: &[Diagnostic]) -> Vec<Cow<'_, Diagnostic>> {
    let mut files: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    if all.len() > MAX_SHOWN {
        for (idx, found) in all.iter().enumerate() {
            let name = found.place.as_ref().map(|place| place.source.name());
            files.entry(name).or_default().push(idx);
        }
    }
    let mut left_out = HashSet::new();
    let mut rest = HashMap::new();
    for mut of_file in files.into_values().filter(|found| found.len() > MAX_SHOWN) {
        let last = of_file.last().copied();
        // The sort is stable: within a severity the first ones come first.
        of_file.sort_by_key(|&idx| Reverse(all[idx].severity));
        let hidden = of_file.split_off(MAX_SHOWN);
        if let Some(last) = last {
            rest.insert(last, count_hidden(all, &hidden));
        }
        left_out.extend(hidden);
    }
    let mut shown = Vec::with_capacity(all.len() - left_out.len() + rest.len());
    for (idx, found) in all.iter().enumerate() {
        if !left_out.contains(&idx) {
            shown.push(Cow::Borrowed(found));
        }
        shown.extend(rest.remove(&idx).map(Cow::Owned));
    }
    shown
}

/// Says how many findings are not shown.
fn count_hidden(all: &[Diagnostic], hidden: &[usize]) -> Diagnostic {
    let of = |severity: Severity| {
        let matching = hidden.iter().filter(|&&idx| all[idx].severity == severity);
        matching.count()
    };
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(|severity| match (of(severity), severity.as_str()) {
            (0, _) => None,
            (1, word) => Some(format!("1 {word}")),
            (more, word) => Some(format!("{more} {word}s")),
        })
        .collect();
    let message = match hidden.len() {
        1 => format!("1 more finding is not shown: {}", counts.join(", ")),
        more => format!("{more} more findings are not shown: {}", counts.join(", ")),
    };
    let mut counted = Diagnostic::note(codes::FINDINGS_HIDDEN, message);
    counted.severity = hidden
        .iter()
        .map(|&idx| all[idx].severity)
        .max()
        .unwrap_or(Severity::Note);
    counted.place = hidden
        .iter()
        .min()
        .and_then(|&first| all[first].place.clone());
    counted.with_help("fix the ones above and run again")
}

/// Findings as a JSON array, as far as they are shown.
pub fn list_to_json(all: &[Diagnostic]) -> Json {
    bounded(all).iter().map(|found| to_json(found)).collect()
}

/// A diagnostic as one JSON object.
pub fn to_json(diagnostic: &Diagnostic) -> Json {
    let position = diagnostic
        .place
        .as_ref()
        .map(|place| place.source.position(place.span.start));
    json!({
        "severity": diagnostic.severity.as_str(),
        "code": diagnostic.code.name(),
        "message": diagnostic.message,
        "file": diagnostic.place.as_ref().map(|place| place.source.name()),
        "line": position.map(|position| position.line),
        "column": position.map(|position| position.column),
        "pointer": diagnostic.pointer,
        "label": diagnostic.label,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    })
}

/// The line of a place, with the place inside it; a span over several lines is marked on its first.
struct Excerpt {
    text: String,
    line: usize,
    /// Where the marked place begins in its line, in characters from 1.
    column: usize,
    /// The same in the excerpt.
    shown_column: usize,
    start: usize,
    end: usize,
}

impl Excerpt {
    fn of(place: &Place) -> Self {
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
        Self {
            text: printable(&text[window_start..window_end]),
            line: position.line,
            column: position.column,
            shown_column: text[window_start..start].chars().count() + 1,
            start: start - window_start,
            end: end - window_start,
        }
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
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            other if other.is_ascii_control() => '?',
            other if turns_direction(other) => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}

fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::diagnostic::codes;
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

    /// Findings of a file: so many warnings, then so many errors.
    fn findings(name: &str, n_warnings: usize, n_errors: usize) -> Vec<Diagnostic> {
        let source = SourceFile::new(name, "x\n".repeat(n_warnings + n_errors));
        let at = |idx: usize| Span::new(idx * 2, idx * 2 + 1);
        let warnings = (0..n_warnings)
            .map(|idx| Diagnostic::warning(codes::ARGUMENT, "w").at(&source, at(idx)));
        let errors = (n_warnings..n_warnings + n_errors)
            .map(|idx| Diagnostic::error(codes::ARGUMENT, "e").at(&source, at(idx)));
        warnings.chain(errors).collect()
    }

    #[test]
    fn of_each_file_some_findings_are_shown_and_the_rest_is_counted() {
        let few = findings("few", MAX_SHOWN, 0);
        assert_eq!(bounded(&few).len(), MAX_SHOWN);
        let mut all = findings("many", 150, 30);
        all.extend(findings("few", 3, 0));
        let shown = bounded(&all);
        assert_eq!(shown.len(), MAX_SHOWN + 1 + 3);
        let of = |severity| {
            shown
                .iter()
                .filter(|found| found.severity == severity)
                .count()
        };
        assert_eq!(
            (of(Severity::Error), of(Severity::Warning)),
            (30, 70 + 1 + 3)
        );
        let counted = &shown[MAX_SHOWN];
        assert_eq!(counted.code, codes::FINDINGS_HIDDEN);
        assert_eq!(
            counted.message,
            "80 more findings are not shown: 80 warnings"
        );
        let place = counted.place.as_ref().expect("a place");
        assert_eq!(place.source.position(place.span.start).line, 71);

        let mixed = findings("mixed", 1, 101);
        let shown = bounded(&mixed);
        let counted = shown.last().expect("one");
        assert_eq!(counted.severity, Severity::Error);
        assert_eq!(
            counted.message,
            "2 more findings are not shown: 1 error, 1 warning"
        );
        assert_eq!(
            list_to_json(&mixed).as_array().map(Vec::len),
            Some(MAX_SHOWN + 1)
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
    fn no_place_and_odd_places_do_not_panic() {
        let plain = Diagnostic::warning(codes::ARGUMENT, "an\u{1b}[31m odd\none");
        assert!(render(&plain, Style::default()).contains("an?[31m odd one"));
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

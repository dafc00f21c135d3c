//! Whether the last answer has the form that was asked for.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Assert;
use super::output::empty_help;
use super::parts::{JsonSchemaText, Texts};
use crate::Finding;
use crate::blocks::{Block, Item, Line, Marker, blocks, items, lines, tables};
use crate::mutate::Mutation;
use crate::prove::sentences;
use crate::test_case::Params;
use crate::values::Schema;
use crate::view::{View, dotted};
use crate::words::{as_count, brief, count_of, excerpt};
use cuecard_source::value::{Json, cut, kind_name};

/// The output has the required format.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct OutputMatchesFormat {
    /// The form.
    pub format: OutputFormat,
    /// The fewest bullets.
    pub min_bullets: Option<usize>,
    /// The most bullets.
    pub max_bullets: Option<usize>,
    /// The most sentences of a bullet.
    pub max_sentences_per_bullet: Option<usize>,
    /// The fewest items of a numbered list.
    pub min_items: Option<usize>,
    /// The most items of a numbered list.
    pub max_items: Option<usize>,
    /// The number of paragraphs.
    pub exact_paragraphs: Option<usize>,
    /// The fewest paragraphs.
    pub min_paragraphs: Option<usize>,
    /// The most paragraphs.
    pub max_paragraphs: Option<usize>,
    /// Dotted keys that the JSON must have.
    #[serde(default)]
    pub required_keys: Texts,
    /// A JSON Schema that the JSON must satisfy.
    pub json_schema: Option<JsonSchemaText>,
}

/// A form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[allow(missing_docs)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum OutputFormat {
    BulletList,
    NumberedList,
    Paragraphs,
    Json,
    MarkdownTable,
    #[default]
    SingleLine,
}

impl OutputFormat {
    /// The forms with keys of their own, and those.
    const KEYS: &'static [(Self, &'static str, &'static [&'static str])] = &[
        (
            Self::BulletList,
            "bullet_list",
            &["min_bullets", "max_bullets", "max_sentences_per_bullet"],
        ),
        (
            Self::NumberedList,
            "numbered_list",
            &["min_items", "max_items"],
        ),
        (
            Self::Paragraphs,
            "paragraphs",
            &["exact_paragraphs", "min_paragraphs", "max_paragraphs"],
        ),
        (Self::Json, "json", &["required_keys", "json_schema"]),
    ];
}

impl Assert for OutputMatchesFormat {
    const TYPE: &'static str = "output_matches_format";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        let name = params.text("format");
        for (of, of_name, keys) in OutputFormat::KEYS {
            let foreign = keys
                .iter()
                .filter(|key| *of != self.format && params.has(key));
            for key in foreign.collect::<Vec<_>>() {
                let message = format!("`{key}` belongs to format `{of_name}`, not `{name}`");
                params.conflict(key, &message, "remove it, or choose the other form");
            }
        }
        params.ordered(
            ("min_bullets", self.min_bullets),
            ("max_bullets", self.max_bullets),
        );
        params.ordered(("min_items", self.min_items), ("max_items", self.max_items));
        params.ordered(
            ("min_paragraphs", self.min_paragraphs),
            ("max_paragraphs", self.max_paragraphs),
        );
        params.exact_alone("exact_paragraphs", &["min_paragraphs", "max_paragraphs"]);
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let refs = view.output_ref();
        if view.output_is_empty() {
            return Finding::fails("the output is empty, so it has no format")
                .observed(json!({"output": ""}))
                .help(empty_help(view))
                .refs(refs);
        }
        let output = view.output();
        let lines = lines(output);
        let form = match self.format {
            OutputFormat::BulletList => self.bullet_list(&lines),
            OutputFormat::NumberedList => self.numbered_list(&lines),
            OutputFormat::Paragraphs => self.paragraphs(&lines),
            OutputFormat::Json => self.json_document(output),
            OutputFormat::MarkdownTable => markdown_table(&lines),
            OutputFormat::SingleLine => single_line(output),
        };
        let mut observed = form.observed;
        if form.broken.is_empty() {
            return Finding::holds(form.found).observed(observed).refs(refs);
        }
        if let Json::Object(members) = &mut observed {
            members.insert("output".to_owned(), excerpt(output));
        }
        let finding = Finding::fails(form.broken.join("; "))
            .observed(observed)
            .refs(refs);
        finding.help(form.help.unwrap_or_else(|| {
            let beginning = cut(output.trim_start(), 100);
            format!("the output begins with {}", brief(&Json::from(&*beginning)))
        }))
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::DropOutput
    }
}

/// What a text is, and what of that is not as asked.
struct Form {
    found: String,
    broken: Vec<String>,
    observed: Json,
    help: Option<String>,
}

/// Says if a count is out of bounds. What is certain counts towards the least, what is possible towards the most.
fn out_of_bounds(
    certain: usize,
    possible: usize,
    min: Option<usize>,
    max: Option<usize>,
    noun: &str,
) -> Option<String> {
    let words = |count| count_of(as_count(count), noun);
    match (min, max) {
        (Some(min), Some(max)) if min == max && (certain < min || possible > max) => {
            let count = if certain < min { certain } else { possible };
            Some(format!("{}, expected {min}", words(count)))
        }
        (Some(min), _) if certain < min => {
            Some(format!("{}, expected at least {min}", words(certain)))
        }
        (_, Some(max)) if possible > max => {
            Some(format!("{}, expected at most {max}", words(possible)))
        }
        _ => None,
    }
}

impl OutputMatchesFormat {
    /// Bullets inside other items count towards the most, not towards the least.
    fn bullet_list(&self, lines: &[Line<'_>]) -> Form {
        let all = items(lines);
        let bullets: Vec<&Item> = all
            .iter()
            .filter(|item| item.marker == Marker::Bullet)
            .collect();
        let at_top = bullets.iter().filter(|item| item.depth == 0).count();
        let mut broken = Vec::new();
        let mut help = None;
        if bullets.is_empty() {
            broken.push("the output has no bullet".to_owned());
            help = Some(if all.is_empty() {
                "a bullet is a line that begins with `-`, `*`, `+` or `•`, a space and a text, outside code"
                .to_owned()
            } else {
                "it is a numbered list: ask for `numbered_list`, or for bullets in the prompt"
                    .to_owned()
            });
        } else {
            let at_least = self.min_bullets.unwrap_or(1).max(1);
            if let Some(text) = out_of_bounds(
                at_top,
                bullets.len(),
                Some(at_least),
                self.max_bullets,
                "bullet",
            ) {
                broken.push(text);
            }
            if at_top < bullets.len() {
                help = Some(format!(
                    "{} stand inside other items: they count towards the maximum, not the minimum",
                    count_of(as_count(bullets.len() - at_top), "bullet")
                ));
            }
        }
        if let Some(limit) = self.max_sentences_per_bullet {
            let long: Vec<(usize, usize)> = bullets
                .iter()
                .zip(1..)
                .map(|(item, number)| (number, count_sentences(&item.text)))
                .filter(|(_, count)| *count > limit)
                .collect();
            for (number, count) in long.iter().take(5) {
                broken.push(format!(
                    "bullet {number} has {count} sentences, expected at most {limit}"
                ));
            }
        }
        Form {
            found: format!(
                "the output is a list of {}",
                count_of(as_count(bullets.len()), "bullet")
            ),
            broken,
            observed: json!({
                "bullets": bullets.len(),
                "top_level_bullets": at_top,
                "first_bullets": bullets.iter().take(3).map(|item| excerpt(&item.text)).collect::<Vec<Json>>(),
            }),
            help,
        }
    }

    fn numbered_list(&self, lines: &[Line<'_>]) -> Form {
        let all = items(lines);
        let numbered: Vec<(u64, &Item)> = all
            .iter()
            .filter_map(|item| match item.marker {
                Marker::Number(number) => Some((number, item)),
                Marker::Bullet => None,
            })
            .collect();
        let at_top: Vec<u64> = numbered
            .iter()
            .filter(|(_, item)| item.depth == 0)
            .map(|(number, _)| *number)
            .collect();
        let mut broken = Vec::new();
        let mut help = None;
        if numbered.is_empty() {
            broken.push("the output has no numbered item".to_owned());
            help = Some(
            "an item is a line that begins with a number, `.` or `)`, a space and a text, outside code"
                .to_owned(),
        );
        } else {
            let at_least = self.min_items.unwrap_or(1).max(1);
            let count = out_of_bounds(
                at_top.len(),
                numbered.len(),
                Some(at_least),
                self.max_items,
                "item",
            );
            broken.extend(count);
            // A list may begin again, and Markdown lets all its numbers be the same.
            let jump = at_top.windows(2).find(|pair| {
                let (one, next) = (pair[0], pair[1]);
                next != one && next != one.saturating_add(1) && next > 1
            });
            if let Some(pair) = jump {
                broken.push(format!("item {} follows item {}", pair[1], pair[0]));
            }
        }
        Form {
            found: format!(
                "the output is a list of {}",
                count_of(as_count(numbered.len()), "numbered item")
            ),
            broken,
            observed: json!({"items": numbered.len(), "top_level_items": at_top.len()}),
            help,
        }
    }

    /// Only running text counts towards the least, every block towards the most.
    fn paragraphs(&self, lines: &[Line<'_>]) -> Form {
        let (exact, min, max) = (
            self.exact_paragraphs,
            self.min_paragraphs,
            self.max_paragraphs,
        );
        let all = blocks(lines);
        let prose = all.iter().filter(|block| **block == Block::Prose).count();
        let mut broken = Vec::new();
        if exact.is_some() {
            broken.extend(out_of_bounds(prose, all.len(), exact, exact, "paragraph"));
        }
        if min.is_some() || max.is_some() {
            broken.extend(out_of_bounds(prose, all.len(), min, max, "paragraph"));
        }
        if broken.is_empty() && prose == 0 && exact != Some(0) && max != Some(0) {
            broken.push("the output has no paragraph".to_owned());
        }
        broken.dedup();
        let help = (prose < all.len()).then(|| {
            "headings, lists and tables count towards the maximum, not the minimum".to_owned()
        });
        Form {
            found: format!("the output has {}", count_of(as_count(prose), "paragraph")),
            broken,
            observed: json!({"paragraphs": prose, "blocks": all.len()}),
            help,
        }
    }

    fn json_document(&self, output: &str) -> Form {
        let mut broken = Vec::new();
        let mut help = None;
        let mut observed = json!({"parsed": null});
        match serde_json::from_str::<Json>(inside_fence(output.trim())) {
            Err(error) => {
                broken.push(format!("the output is not JSON: {error}"));
                help = Some(
                    "the whole output must be JSON; one fenced code block around it is allowed"
                        .to_owned(),
                );
            }
            Ok(value) => {
                observed = json!({"parsed": kind_name(&value)});
                let missing: Vec<&str> = self
                    .required_keys
                    .iter()
                    .map(String::as_str)
                    .filter(|key| !value.is_object() || dotted(&value, key).is_none())
                    .collect();
                for key in missing.iter().take(10) {
                    broken.push(format!("`{key}` is missing"));
                }
                if !missing.is_empty() && !value.is_object() {
                    help = Some(format!(
                        "the output is {}, not an object",
                        kind_name(&value)
                    ));
                } else if !missing.is_empty() {
                    help = Some(format!("the output is {}", brief(&value)));
                }
                if let Some(JsonSchemaText(schema)) = &self.json_schema {
                    broken.extend(Schema::new(schema).misfits(&value));
                }
            }
        }
        Form {
            found: "the output is JSON as asked".to_owned(),
            broken,
            observed,
            help,
        }
    }
}

/// Links, and sources in brackets: what stands alone after a sentence is none.
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\([^()]*[^().!?\s]\)|\[[^\[\]]*[^\[\].!?\s]\]|\b[a-z][a-z0-9+.-]*://\S*[^\s.!?,;:)]",
    )
    .expect("a fixed pattern")
});

/// Counts the sentences of `text`. Nothing but signs or sources is none.
fn count_sentences(text: &str) -> usize {
    let text = SOURCE.replace_all(text, "");
    let all = sentences(&text).into_iter();
    all.filter(|sentence| sentence.contains(char::is_alphanumeric))
        .count()
}

/// What is inside the fenced code block that `text` is, else `text`.
pub(super) fn inside_fence(text: &str) -> &str {
    let inside = || {
        let fence = if text.starts_with('~') { "~~~" } else { "```" };
        let body = text.strip_prefix(fence)?.strip_suffix(fence)?;
        let (info, body) = body.split_once('\n')?;
        let is_json = info.trim().is_empty() || info.trim().eq_ignore_ascii_case("json");
        is_json.then_some(body)
    };
    inside().unwrap_or(text)
}

fn markdown_table(lines: &[Line<'_>]) -> Form {
    let all = tables(lines);
    let mut broken = Vec::new();
    if all.is_empty() {
        broken.push("the output has no table".to_owned());
    }
    for table in &all {
        match table {
            Ok(table) if table.rows == 0 => broken.push("a table has no row".to_owned()),
            Ok(_) => {}
            Err(reason) => broken.push(format!("malformed table: {reason}")),
        }
    }
    broken.truncate(5);
    let rows: usize = all.iter().flatten().map(|table| table.rows).sum();
    let columns: Vec<usize> = all.iter().flatten().map(|table| table.columns).collect();
    Form {
        found: format!(
            "the output has a table of {}",
            count_of(as_count(rows), "row")
        ),
        broken,
        observed: json!({"tables": all.len(), "columns": columns, "rows": rows}),
        help: Some(
            "a table is a heading, a line such as `|---|---|`, and rows, outside code".to_owned(),
        ),
    }
}

fn single_line(output: &str) -> Form {
    let is_break = |character: char| {
        matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let count = output
        .trim()
        .split(is_break)
        .filter(|line| !line.trim().is_empty())
        .count();
    let is_broken = output.trim().contains(is_break);
    let second = output
        .trim()
        .split(is_break)
        .filter(|line| !line.trim().is_empty())
        .nth(1);
    Form {
        found: "the output is a single line".to_owned(),
        broken: if is_broken {
            vec![format!("the output has {count} lines, expected one")]
        } else {
            Vec::new()
        },
        observed: json!({"lines": count}),
        help: second.map(|line| format!("the second is {}", brief(&Json::from(&*cut(line, 100))))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::{Fails, Holds};
    use crate::samples::{Events, answer, judged};

    /// The message if the output has not the form, else nothing.
    fn broken(format: &OutputMatchesFormat, output: &str) -> Option<String> {
        let finding = judged(format.clone(), &answer(output));
        assert!(!finding.vacuous, "{output:?}");
        assert_eq!(finding.event_refs, ["e2"]);
        match finding.verdict {
            Holds => None,
            Fails => Some(finding.message),
            other => panic!("{other:?} of {output:?}"),
        }
    }

    fn check_all(format: &OutputMatchesFormat, good: &[&str], bad: &[(&str, &str)]) {
        for output in good {
            assert_eq!(broken(format, output), None, "{output:?}");
        }
        for (output, expected) in bad {
            assert_eq!(
                broken(format, output).as_deref(),
                Some(*expected),
                "{output:?}"
            );
        }
        for empty in ["", " \n\t "] {
            assert_eq!(
                broken(format, empty).as_deref(),
                Some("the output is empty, so it has no format")
            );
        }
    }

    #[test]
    fn bullets_are_counted() {
        let three = OutputMatchesFormat {
            format: OutputFormat::BulletList,
            min_bullets: Some(3),
            max_bullets: Some(3),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &three,
            &[
                "- a\n- b\n- c",
                "Here is the news:\n\n* a\n* b\n* c\n\nThat is all.",
                "• a\n• b\n+ c",
                "- a\n\n- b\n  goes on\n\n- c",
                "- a\n- b\n- c\n```\n- d\n```",
            ],
            &[
                ("- a\n- b", "2 bullets, expected 3"),
                ("- a\n- b\n- c\n- d", "4 bullets, expected 3"),
                // Two of them are inside the first: neither three bullets nor one.
                ("- a\n  - b\n  - c", "1 bullet, expected 3"),
                ("- a\n- b\n- c\n  - d", "4 bullets, expected 3"),
                ("a, b and c", "the output has no bullet"),
                ("1. a\n2. b\n3. c", "the output has no bullet"),
                ("-a\n-b\n-c", "the output has no bullet"),
                ("```\n- a\n- b\n- c\n```", "the output has no bullet"),
                ("- \n- \n- ", "the output has no bullet"),
                ("---\n- - -\n***", "the output has no bullet"),
            ],
        );
        let any = OutputMatchesFormat {
            format: OutputFormat::BulletList,
            ..OutputMatchesFormat::default()
        };
        check_all(
            &any,
            &["- a"],
            &[("1. a\n   - b", "no bullet, expected at least 1")],
        );
    }

    #[test]
    fn bullets_have_so_many_sentences() {
        let short = OutputMatchesFormat {
            format: OutputFormat::BulletList,
            max_sentences_per_bullet: Some(1),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &short,
            &[
                "- One.\n- Two",
                "- Dr. Smith paid 4.5 % in the U.S. Senate.",
            ],
            &[
                (
                    "- One.\n- Two. Three.",
                    "bullet 2 has 2 sentences, expected at most 1",
                ),
                (
                    "- One.\n  Two.",
                    "bullet 1 has 2 sentences, expected at most 1",
                ),
                (
                    "- One.\n\n  Two",
                    "bullet 1 has 2 sentences, expected at most 1",
                ),
                (
                    "- it ran. then it fell.",
                    "bullet 1 has 2 sentences, expected at most 1",
                ),
            ],
        );
    }

    #[test]
    fn numbered_items_are_counted() {
        let two = OutputMatchesFormat {
            format: OutputFormat::NumberedList,
            min_items: Some(2),
            max_items: Some(2),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &two,
            &[
                "1. a\n2. b",
                "1) a\n\n2) b",
                "1. a\n1. b",
                "(1) a\n(2) b\n- c",
                "0. a\n1. b",
            ],
            &[
                ("- a\n- b", "the output has no numbered item"),
                ("1. a", "1 item, expected 2"),
                ("1. a\n2. b\n3. c", "3 items, expected 2"),
                ("1. a\n   1. b", "1 item, expected 2"),
                ("1. a\n3. b", "item 3 follows item 1"),
                (
                    "In 2024 it rose.\n1.5 is less.",
                    "the output has no numbered item",
                ),
            ],
        );
    }

    #[test]
    fn paragraphs_are_counted() {
        let two = OutputMatchesFormat {
            format: OutputFormat::Paragraphs,
            exact_paragraphs: Some(2),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &two,
            &[
                "a\nb\n\nc",
                "a\n \n\nb\n",
                "a\n\n```\nx\n\ny\n```\n\nb",
                "a\n\n---\n\nb",
            ],
            &[
                ("a\nb", "1 paragraph, expected 2"),
                ("a\n\nb\n\nc", "3 paragraphs, expected 2"),
                ("a\n\n- b\n- c", "1 paragraph, expected 2"),
                ("a\n\nb\n\n- c", "3 paragraphs, expected 2"),
                ("# T\n\na\n\nb", "3 paragraphs, expected 2"),
            ],
        );
        let some = OutputMatchesFormat {
            format: OutputFormat::Paragraphs,
            min_paragraphs: Some(2),
            max_paragraphs: Some(3),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &some,
            &["a\n\nb", "a\n\nb\n\nc"],
            &[
                ("a", "1 paragraph, expected at least 2"),
                ("a\n\nb\n\nc\n\nd", "4 paragraphs, expected at most 3"),
            ],
        );
        let most = OutputMatchesFormat {
            format: OutputFormat::Paragraphs,
            max_paragraphs: Some(2),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &most,
            &["a"],
            &[
                ("- a\n- b", "the output has no paragraph"),
                ("```\na\n```", "the output has no paragraph"),
            ],
        );
    }

    #[test]
    fn json_is_the_whole_output() {
        let plain = OutputMatchesFormat {
            format: OutputFormat::Json,
            required_keys: vec!["a".into(), "b.c".into()].into(),
            json_schema: Some(json!({"properties": {"a": {"type": "integer"}}}).into()),
            ..OutputMatchesFormat::default()
        };
        check_all(
            &plain,
            &[
                r#"{"a": 1, "b": {"c": null}}"#,
                "```json\n{\"a\": 1, \"b.c\": 2}\n```",
                "~~~json\n{\"a\": 1, \"b.c\": 2}\n~~~",
                "\n```\n{\"a\": 1, \"b\": {\"c\": 2}}```\n",
            ],
            &[
                (r#"{"a": 1}"#, "`b.c` is missing"),
                ("[1]", "`a` is missing; `b.c` is missing"),
                (
                    r#"{"a": "1", "b": {"c": 2}}"#,
                    "at `/a`: \"1\" is not of type \"integer\"",
                ),
                (
                    "Here: {}",
                    "the output is not JSON: expected value at line 1 column 1",
                ),
                (
                    "```json\n{}\n```\nDone",
                    "the output is not JSON: expected value at line 1 column 1",
                ),
                (
                    "{} {}",
                    "the output is not JSON: trailing characters at line 1 column 4",
                ),
                (
                    "{\"a\": NaN}",
                    "the output is not JSON: expected value at line 1 column 7",
                ),
            ],
        );
        let deep = "[".repeat(100_000);
        assert!(broken(&plain, &deep).is_some());
    }

    #[test]
    fn tables_and_single_lines() {
        check_all(
            &OutputMatchesFormat {
                format: OutputFormat::MarkdownTable,
                ..OutputMatchesFormat::default()
            },
            &[
                "| a | b |\n|---|---|\n| 1 | 2 |",
                "Result:\n\na | b\n--|--\n1 | 2\n\nDone.",
            ],
            &[
                ("a b\n1 2", "the output has no table"),
                ("| a |\n|---|", "a table has no row"),
                (
                    "| a |\n|---|\n| 1 | 2 |",
                    "malformed table: row 1 has 2 cells, the heading 1",
                ),
                ("```\n| a |\n|---|\n| 1 |\n```", "the output has no table"),
            ],
        );
        check_all(
            &OutputMatchesFormat::default(),
            &["one", "one. two.\n", "  one  "],
            &[
                ("one\ntwo", "the output has 2 lines, expected one"),
                ("one\n\n\ntwo", "the output has 2 lines, expected one"),
                ("one\u{2028}two", "the output has 2 lines, expected one"),
                ("one\rtwo", "the output has 2 lines, expected one"),
            ],
        );
    }

    #[test]
    fn a_run_that_died_has_no_output() {
        let mut trace = Events::new().trace();
        trace.end = None;
        let check = OutputMatchesFormat::default();
        assert_eq!(
            judged(check, &trace).help.as_deref(),
            Some("the trace is incomplete: the run ended before the answer")
        );
    }

    #[test]
    fn sentences_are_counted_as_people_count_them() {
        for (text, expected) in [
            ("", 0),
            ("...", 0),
            ("One", 1),
            ("One.", 1),
            ("One. Two.", 2),
            ("One! Two? Three", 3),
            ("it works. then it failed.", 2),
            ("Dr. Smith met Mrs. Jones.", 1),
            ("J. R. R. Tolkien wrote it.", 1),
            ("The U.S. Senate voted.", 1),
            ("It is in the U.S. The rest is not.", 2),
            ("Prices, e.g. of oil, rose by approx. five percent.", 1),
            ("Growth was 4.5 percent in v1.2 of example.com.", 1),
            ("Acme Inc. Reports profit.", 1),
            ("Acme Inc. The firm grew.", 2),
            ("He said \"No.\" Then he left.", 2),
            ("Really?! Yes.", 2),
            ("第一句。第二句。", 2),
            ("Это раз. Это два.", 2),
            ("One\nTwo", 2),
            ("So do I. You too.", 2),
            ("See No. 5 for more.", 1),
            ("Sales rose. (Reuters)", 1),
            ("Sales rose. [1] [2]", 1),
            ("Sales rose. https://example.com/a", 1),
            ("Sales rose. (They fell before.)", 2),
            ("Sales (in euro) rose", 1),
            ("See https://example.com/a. It is new.", 2),
        ] {
            assert_eq!(count_sentences(text), expected, "{text:?}");
        }
    }
}

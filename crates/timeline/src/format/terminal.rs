//! Terminal configs: files in JSON, YAML or TOML that timelines name, or mappings that stand in them.

use std::collections::HashMap;

use serde_json::json;

use super::loader::{Loader, child};
use super::{parse, tool};
use crate::model::keys;
use crate::model::{BUILT_IN, Replacement, TerminalConfig, TerminalTheme};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{place_of, read_document};
use cuecard_source::json::Node;
use cuecard_source::reader::{Format, Object};
use cuecard_source::value::Json;
use cuecard_source::value::fields::{
    COUNT, Field, OBJECT, TEXT, field, object, required, schema_document,
};
use cuecard_source::{SourceFile, toml};

/// The most columns or rows.
const MAX_SIZE: u64 = keys::MAX_SIZE as u64;
/// The most lines above the screen.
const MAX_SCROLLBACK: u64 = 1_000_000;
/// The longest that a screen is waited for, in milliseconds.
const MAX_SETTLE: u64 = 60_000;
/// The most patterns of one config.
const MAX_REPLACEMENTS: usize = 100;

/// What this format calls its mistakes.
const FORMAT: Format = Format {
    missing: codes::TIMELINE_TERMINAL,
    wrong_type: codes::TIMELINE_TERMINAL,
    unknown: codes::TIMELINE_UNKNOWN,
    value: codes::TIMELINE_TERMINAL,
    path: codes::TIMELINE_TERMINAL,
    check: codes::TIMELINE_TERMINAL,
    null_is_absent: true,
};

/// Columns or rows.
const SIZE: &str = r#"{"type": "integer", "minimum": 1, "maximum": 1000}"#;

/// A terminal config.
const CONFIG: &[Field] = &[
    field("name", TEXT, "What names it in paths (default: its size)."),
    field("width", SIZE, "Columns (default: 80)."),
    field("height", SIZE, "Rows (default: 24)."),
    field(
        "theme",
        r#"{"enum": ["default", "high-contrast"]}"#,
        "How it looks.",
    ),
    field(
        "rendering",
        "{\"$ref\": \"#/$defs/rendering\"}",
        "How the screen becomes text.",
    ),
    field("term", TEXT, "The value of TERM."),
    field("env", OBJECT, "Further variables."),
    field("scrollback", COUNT, "Lines that are kept above the screen."),
    field(
        "settle",
        COUNT,
        "Milliseconds that the screen must be still (default: 50).",
    ),
    field(
        "normalize",
        "{\"anyOf\": [{\"$ref\": \"#/$defs/replacements\"}, {\"$ref\": \"#/$defs/normalize\"}]}",
        "What is replaced before texts are compared.",
    ),
];

const NORMALIZE: &[Field] = &[
    field(
        "builtin",
        r#"{"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"enum": ["paths", "timestamp", "uuid", "time", "port", "pid", "duration", "hash", "spinner"]}}]}"#,
        "Which of the built-in replacements are made (default: true, all).",
    ),
    field(
        "replace",
        "{\"$ref\": \"#/$defs/replacements\"}",
        "What is replaced beside them.",
    ),
];

const RENDERING: &[Field] = &[
    field(
        "unicodeBoxChars",
        r#"{"type": "boolean"}"#,
        "Whether boxes are drawn as such (default: true).",
    ),
    field(
        "normalizeWhitespace",
        r#"{"type": "boolean"}"#,
        "Whether trailing spaces and blank lines are cut (default: true).",
    ),
    field(
        "style",
        r#"{"type": "boolean"}"#,
        "Whether expected screens have colours and the cursor, too (default: false).",
    ),
];

const REPLACEMENT: &[Field] = &[
    required("regex", TEXT, "What is replaced."),
    required("with", TEXT, "What comes in its place."),
];

/// The schema (JSON Schema 2020-12) of a terminal config.
pub fn terminal_schema() -> Json {
    let mut root = object(CONFIG);
    root["$defs"] = json!({
        "rendering": object(RENDERING),
        "normalize": object(NORMALIZE),
        "replacements": {"type": "array", "maxItems": MAX_REPLACEMENTS, "items": object(REPLACEMENT)},
    });
    schema_document(
        "terminal",
        "1",
        "Terminal config",
        "Configuration of the terminal in which a timeline's agent runs.",
        root,
    )
}

/// Reads a terminal config: TOML if its name ends so, else JSON or YAML.
///
/// # Errors
/// All that is wrong with it (T-TERM-01).
pub fn read_terminal(
    source: &SourceFile,
) -> Result<(TerminalConfig, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (root, doubts) = tree(source)?;
    let written = HashMap::new();
    let mut loader = Loader::of(source, &FORMAT, &written);
    loader.reader.set_yaml(doubts);
    let config = terminal(&mut loader, &root, "");
    let mut diagnostics = loader.reader.diagnostics;
    parse::name_places(&mut diagnostics);
    diagnostics.sort_by_key(|found| place_of(found).start);
    match config.filter(|_| !any_error(&diagnostics)) {
        Some(config) => Ok((config, diagnostics)),
        None => Err(diagnostics),
    }
}

type Tree = (Node, Vec<cuecard_source::yaml::AmbiguousScalar>);

fn tree(source: &SourceFile) -> Result<Tree, Vec<Diagnostic>> {
    let bad = |message: String| Diagnostic::error(codes::TIMELINE_TERMINAL, message);
    if source.name().to_ascii_lowercase().ends_with(".toml") {
        let parsed = toml::parse(source.text());
        let errors = parsed.errors.into_iter().map(|error| {
            let mut found = bad(error.message).at(source, error.span);
            found.help = error.help;
            found
        });
        let errors: Vec<Diagnostic> = errors.collect();
        return match parsed.root {
            Some(root) if errors.is_empty() => Ok((root, Vec::new())),
            _ => Err(errors),
        };
    }
    let document = read_document(source);
    match document.root {
        Some(root) => Ok((root, document.doubts)),
        None => {
            let errors = document.diagnostics.into_iter().map(|mut found| {
                found.code = codes::TIMELINE_TERMINAL;
                found
            });
            let errors: Vec<Diagnostic> = errors.collect();
            match errors.is_empty() {
                true => Err(vec![bad("the terminal config is empty".to_owned())]),
                false => Err(errors),
            }
        }
    }
}

/// The config that stands in a timeline.
pub(super) fn inline(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
) -> Option<TerminalConfig> {
    let written = HashMap::new();
    let mut own = Loader::of(loader.source(), &FORMAT, &written);
    let doubts = loader.reader.doubts_in(node.span).to_vec();
    own.reader.set_yaml(doubts);
    let config = terminal(&mut own, node, pointer);
    loader
        .reader
        .diagnostics
        .append(&mut own.reader.diagnostics);
    config
}

fn terminal(loader: &mut Loader<'_>, node: &Node, pointer: &str) -> Option<TerminalConfig> {
    let what = "the terminal config";
    let node = loader.mapping(node, pointer, what, CONFIG, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let default = TerminalConfig::default();
    let themes = [
        ("default", TerminalTheme::Default),
        ("high-contrast", TerminalTheme::HighContrast),
    ];
    let name = loader.filled(object, "name");
    let width = size(loader, object, "width").unwrap_or(default.width);
    let height = size(loader, object, "height").unwrap_or(default.height);
    let theme = loader.reader.one_of(object, "theme", "`theme`", &themes);
    let rendering = rendering(loader, object);
    let term = loader.filled(object, "term");
    let env = loader.pairs(object, "env");
    let scrollback = bounded(loader, object, "scrollback", 0, MAX_SCROLLBACK);
    let settle = bounded(loader, object, "settle", 0, MAX_SETTLE);
    let normalize = loader.reader.get(object, "normalize");
    let own = normalize.filter(|node| node.as_object().is_some());
    let at = object.child_pointer("normalize");
    let own = match own {
        Some(node) => Some(loader.mapping(node, &at, "`normalize`", NORMALIZE, &[])?),
        None => None,
    };
    let own = own.as_deref().map(|node| Object { node, pointer: &at });
    let builtin = own.and_then(|own| builtin(loader, own));
    let entries = match own {
        Some(own) => loader.list(own, "replace"),
        None => loader.list(object, "normalize"),
    };
    if entries.len() > MAX_REPLACEMENTS {
        let message = format!("`normalize` can have at most {MAX_REPLACEMENTS} entries");
        bad(loader, &node, &child(pointer, "normalize"), message);
        return None;
    }
    let normalize = entries
        .into_iter()
        .filter_map(|(item, pointer)| replacement(loader, item, &pointer))
        .collect();
    Some(TerminalConfig {
        name,
        width,
        height,
        theme: theme.unwrap_or_default(),
        unicode_box_chars: rendering.0.unwrap_or(default.unicode_box_chars),
        normalize_whitespace: rendering.1.unwrap_or(default.normalize_whitespace),
        term,
        env,
        scrollback: scrollback.and_then(|lines| u32::try_from(lines).ok()),
        settle_ms: settle.unwrap_or(default.settle_ms),
        normalize,
        builtin,
        has_style: rendering.2.unwrap_or(default.has_style),
    })
}

/// The built-in replacements that are made; nothing if it does not say.
fn builtin(loader: &mut Loader<'_>, object: Object<'_>) -> Option<Vec<String>> {
    let node = loader.reader.get(object, "builtin")?;
    if let Some(all) = node.as_bool() {
        return (!all).then(Vec::new);
    }
    let mut names = loader.texts(object, "builtin");
    if let Some(unknown) = names.iter().find(|name| !BUILT_IN.contains(&name.as_str())) {
        let known = BUILT_IN.join(", ");
        let message = format!("no built-in replacement is called `{unknown}`: there are {known}");
        bad(loader, node, &object.child_pointer("builtin"), message);
        names.clear();
    }
    Some(names)
}

fn bad(loader: &mut Loader<'_>, node: &Node, pointer: &str, message: String) {
    loader.error(codes::TIMELINE_TERMINAL, node.span, pointer, message);
}

/// `unicodeBoxChars`, `normalizeWhitespace` and `style`.
fn rendering(
    loader: &mut Loader<'_>,
    object: Object<'_>,
) -> (Option<bool>, Option<bool>, Option<bool>) {
    let Some(node) = loader.reader.get(object, "rendering") else {
        return (None, None, None);
    };
    let pointer = object.child_pointer("rendering");
    let known = RENDERING;
    let Some(node) = loader.mapping(node, &pointer, "`rendering`", known, &[]) else {
        return (None, None, None);
    };
    let object = Object {
        node: &node,
        pointer: &pointer,
    };
    (
        loader.flag(object, "unicodeBoxChars"),
        loader.flag(object, "normalizeWhitespace"),
        loader.flag(object, "style"),
    )
}

fn size(loader: &mut Loader<'_>, object: Object<'_>, key: &str) -> Option<u16> {
    let size = bounded(loader, object, key, 1, MAX_SIZE)?;
    u16::try_from(size).ok()
}

/// A whole number between two others, under an optional key.
fn bounded(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    key: &str,
    least: u64,
    most: u64,
) -> Option<u64> {
    let node = loader.reader.get(object, key)?;
    let number = node
        .as_u64()
        .filter(|number| (least..=most).contains(number));
    if number.is_none() {
        let found = cuecard_source::reader::found(node);
        let message = format!("`{key}` must be an integer from {least} to {most}, not {found}");
        bad(loader, node, &object.child_pointer(key), message);
    }
    number
}

fn replacement(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<Replacement> {
    let what = "an entry of `normalize`";
    let node = loader.mapping(item, pointer, what, REPLACEMENT, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let pattern = loader.reader.required(object, "regex", what, "regex: …");
    let pattern = pattern
        .and_then(|node| tool::regex(loader, node, &object.child_pointer("regex"), "`regex`"));
    loader.reader.required(object, "with", what, "with: …")?;
    let with = loader.text(object, "with")?;
    Some(Replacement {
        pattern: pattern?,
        with,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, Symbols, read};
    use super::*;
    use crate::model::TerminalChoice;

    fn read_as(name: &str, text: &str) -> Result<TerminalConfig, Vec<String>> {
        let source = SourceFile::new(name, text);
        match read_terminal(&source) {
            Ok((config, found)) => {
                assert!(found.is_empty(), "{found:?}");
                Ok(config)
            }
            Err(found) => Err(found
                .iter()
                .map(|found| described(&source, found))
                .collect()),
        }
    }

    fn described(source: &SourceFile, found: &Diagnostic) -> String {
        let place = found.place.as_ref().map(|place| source.slice(place.span));
        format!("{} {}", found.code, place.unwrap_or_default())
    }

    #[test]
    fn json_yaml_and_toml_say_the_same() {
        let json = r#"{"name": "wide", "width": 120, "theme": "high-contrast", "rendering": {"unicodeBoxChars": false},
            "env": {"A": 1}, "scrollback": 500, "settle": 80, "normalize": [{"regex": "[0-9]+", "with": "N"}]}"#;
        let yaml = "name: wide\nwidth: 120\ntheme: high-contrast\nrendering: {unicodeBoxChars: false}\nenv: {A: 1}\nscrollback: 500\nsettle: 80\nnormalize: [{regex: '[0-9]+', with: N}]\n";
        let toml = "name = 'wide'\nwidth = 120\ntheme = 'high-contrast'\nscrollback = 500\nsettle = 80\nnormalize = [{regex = '[0-9]+', with = 'N'}]\n[rendering]\nunicodeBoxChars = false\n[env]\nA = 1\n";
        let first = format!("{:?}", read_as("t.json", json).expect("JSON"));
        for (name, text) in [("t.yaml", yaml), ("t.toml", toml)] {
            assert_eq!(format!("{:?}", read_as(name, text).expect(name)), first);
        }
        let config = read_as("t.json", json).expect("JSON");
        assert_eq!((config.height, config.settle_ms), (24, 80));
        assert!(!config.unicode_box_chars && config.normalize_whitespace);
        assert_eq!(config.profile_id(), "wide");
        assert_eq!(TerminalConfig::default().profile_id(), "80x24");
    }

    #[test]
    fn mistakes_are_told_at_their_place() {
        for (name, text, found) in [
            ("t.yaml", "width: wide", "T-TERM-01 wide"),
            ("t.json", "{\"height\": 0}", "T-TERM-01 0"),
            ("t.toml", "width = 1001", "T-TERM-01 1001"),
            ("t.toml", "width = ", "T-TERM-01 "),
            ("t.yaml", "theme: dark", "T-TERM-01 dark"),
            (
                "t.yaml",
                "rendering: {unicodeBoxChars: maybe}",
                "T-TERM-01 maybe",
            ),
            (
                "t.yaml",
                "normalize: [{regex: '(', with: a}]",
                "T-TERM-01 '('",
            ),
            ("t.yaml", "normalize: [{regex: a}]", "T-TERM-01 {"),
            ("t.yaml", "settle: -1", "T-TERM-01 -1"),
            ("t.json", "[]", "T-TERM-01 []"),
            ("t.json", "{", "T-TERM-01 "),
            ("t.yaml", "", "T-TERM-01 "),
            ("t.yaml", "a: [", "T-TERM-01 "),
        ] {
            let errors = read_as(name, text).expect_err(text);
            assert!(
                errors.len() == 1 && errors[0].starts_with(found),
                "{text}: {errors:?}"
            );
        }
        let all = read_as("t.yaml", "width: 0\nheight: x\ntheme: 3").expect_err("three");
        assert_eq!(all.len(), 3);
        let source = SourceFile::new("t.yaml", "widht: 3");
        let (_, doubts) = read_terminal(&source).expect("a config");
        assert_eq!(doubts[0].code, codes::TIMELINE_UNKNOWN);
    }

    #[test]
    fn one_that_stands_in_the_timeline_is_read_too() {
        let reading = |terminal: &str| {
            let text = format!(
                "name: a\ncompat: {{allowInlineTerminal: true}}\nterminalRef: {terminal}\ntimeline: []\n"
            );
            let source = SourceFile::new("a.yaml", text);
            read(&source, &Symbols::new(), &ReadOptions::default())
        };
        let good = reading("{width: 100}").timeline.expect("a timeline");
        assert!(
            matches!(good.terminal, Some(TerminalChoice::Inline(config)) if config.width == 100)
        );
        let bad = reading("{width: 0}");
        assert_eq!(bad.diagnostics[0].code, codes::TIMELINE_TERMINAL);
        assert_eq!(
            bad.diagnostics[0].pointer.as_deref(),
            Some("/terminalRef/width")
        );
    }
}

//! Terminal configs: files in JSON, YAML or TOML that timelines name, or mappings that stand in them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::parse;
use super::pieces::invalid;
use crate::model::{BuiltIn, Normalize, Replacement, TerminalConfig};
use cuecard_source::decode::{by_hand, schema_document, schema_of};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{place_of, read_document};
use cuecard_source::json::Node;
use cuecard_source::reader::{Format, Object, Reader};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, checked, toml};

checked!(NormalizeForm);

/// How messages call a config.
const WHAT: &str = "the terminal config";

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
};

/// `normalize`.
#[derive(Deserialize, JsonSchema)]
#[serde(remote = "Self", rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "normalize", untagged)]
pub(crate) enum NormalizeForm {
    Array(#[schemars(length(max = MAX_REPLACEMENTS))] Vec<Replacement>),
    Object(NormalizeRules),
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NormalizeRules {
    /// Which of the built-in replacements are made (default: true, all).
    builtin: BuiltIns,
    /// What is replaced beside them.
    #[schemars(length(max = MAX_REPLACEMENTS))]
    replace: Vec<Replacement>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(untagged)]
enum BuiltIns {
    Boolean(bool),
    Array(Vec<BuiltIn>),
}

impl Default for BuiltIns {
    fn default() -> Self {
        Self::Boolean(true)
    }
}

impl NormalizeForm {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let (Self::Array(replace) | Self::Object(NormalizeRules { replace, .. })) = self;
        if replace.len() > MAX_REPLACEMENTS {
            let message = format!("`normalize` can have at most {MAX_REPLACEMENTS} entries");
            invalid(reader, object.node.span, object.pointer, message);
        }
    }
}

/// Reads `normalize`.
pub(crate) fn normalize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Normalize, D::Error> {
    Ok(match NormalizeForm::deserialize(deserializer)? {
        NormalizeForm::Array(replace) => Normalize {
            builtin: None,
            replace,
        },
        NormalizeForm::Object(rules) => Normalize {
            builtin: match rules.builtin {
                BuiltIns::Boolean(all) => (!all).then(Vec::new),
                BuiltIns::Array(names) => Some(names),
            },
            replace: rules.replace,
        },
    })
}

/// The schema (JSON Schema 2020-12) of a terminal config.
pub fn terminal_schema() -> Json {
    schema_document(
        "terminal",
        "1",
        "Terminal config",
        "Configuration of the terminal in which a timeline's agent runs.",
        schema_of::<TerminalConfig>(),
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
    let mut reader = Reader::new(source, &FORMAT);
    reader.set_yaml(doubts);
    let config = reader.decode::<TerminalConfig>(&root, "", WHAT);
    let mut diagnostics = reader.diagnostics;
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

/// Reads the config that stands in a timeline.
pub(crate) fn inline_terminal<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Box<TerminalConfig>, D::Error> {
    by_hand(deserializer, None, |reader, node, pointer| {
        reader.with_format(&FORMAT, |reader| reader.decode(node, pointer, WHAT))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Symbols, read};
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
        assert!(!config.rendering.unicode_box_chars && config.rendering.normalize_whitespace);
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
            ("t.json", "[]", "T-TERM-01 ["),
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
            read(&source, &Symbols::new())
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

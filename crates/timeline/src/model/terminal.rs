//! The terminal that a timeline is played in.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::format::{filled, normalize, pairs, pattern};
use cuecard_source::value::Json;
use cuecard_source::values::integer;

/// A terminal config.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TerminalConfig {
    /// What names it in paths (default: its size).
    #[serde(deserialize_with = "filled")]
    pub name: Option<String>,
    /// Columns (default: 80).
    #[serde(deserialize_with = "integer::<1, 1000, _, _>")]
    #[schemars(range(min = 1, max = 1000))]
    pub width: u16,
    /// Rows (default: 24).
    #[serde(deserialize_with = "integer::<1, 1000, _, _>")]
    #[schemars(range(min = 1, max = 1000))]
    pub height: u16,
    /// How it looks.
    pub theme: TerminalTheme,
    /// How the screen becomes text.
    pub rendering: Rendering,
    /// The value of TERM.
    #[serde(deserialize_with = "filled")]
    pub term: Option<String>,
    /// Further variables, in order.
    #[serde(deserialize_with = "pairs")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub env: Vec<(String, String)>,
    /// Lines that are kept above the screen.
    #[serde(deserialize_with = "integer::<0, 1_000_000, _, _>")]
    pub scrollback: Option<u32>,
    /// Milliseconds that the screen must be still before it is looked at (default: 50).
    #[serde(rename = "settle", deserialize_with = "integer::<0, 60_000, _, _>")]
    pub settle_ms: u64,
    /// What is replaced before texts are compared.
    #[serde(deserialize_with = "normalize")]
    #[schemars(with = "crate::format::NormalizeForm")]
    pub normalize: Normalize,
}

/// How the screen becomes text.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Rendering {
    /// Whether boxes are drawn as such, or with `+-|` (default: true).
    pub unicode_box_chars: bool,
    /// Whether trailing spaces and blank lines are cut before texts are compared (default: true).
    pub normalize_whitespace: bool,
    /// Whether expected screens have colours and the cursor, too (default: false).
    pub style: bool,
}

impl Default for Rendering {
    fn default() -> Self {
        Self {
            unicode_box_chars: true,
            normalize_whitespace: true,
            style: false,
        }
    }
}

/// What is replaced before texts are compared.
#[derive(Debug, Clone, Default)]
pub struct Normalize {
    /// What is replaced first; all of it if absent.
    pub builtin: Option<Vec<BuiltIn>>,
    /// What is replaced after that, in order.
    pub replace: Vec<Replacement>,
}

words! {
    /// What is replaced without being asked for: what differs from run to run.
    pub enum BuiltIn {
        /// Folders of the run.
        Paths = "paths",
        /// Dates with times.
        Timestamp = "timestamp",
        /// UUIDs.
        Uuid = "uuid",
        /// Times of day.
        Time = "time",
        /// Ports of addresses.
        Port = "port",
        /// Ids of processes.
        Pid = "pid",
        /// How long something took.
        Duration = "duration",
        /// Hashes of commits.
        Hash = "hash",
        /// Signs that turn while one waits.
        Spinner = "spinner",
    }
}

/// How a terminal looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TerminalTheme {
    /// As the terminal does.
    #[default]
    Default,
    /// With strong colours.
    HighContrast,
}

/// What is replaced in a text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Replacement {
    /// What is replaced: a regular expression.
    #[serde(rename = "regex", deserialize_with = "pattern")]
    #[schemars(with = "String")]
    pub pattern: Regex,
    /// What comes in its place.
    pub with: String,
}

impl Default for TerminalConfig {
    fn default() -> Self {
        Self {
            name: None,
            width: 80,
            height: 24,
            theme: TerminalTheme::default(),
            rendering: Rendering::default(),
            term: None,
            env: Vec::new(),
            scrollback: None,
            settle_ms: 50,
            normalize: Normalize::default(),
        }
    }
}

impl TerminalConfig {
    /// What names the terminal in paths: its name, else its size, `80x24`.
    pub fn profile_id(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}x{}", self.width, self.height),
        }
    }
}

/// A name as that of a file.
pub fn file_safe(name: &str) -> String {
    let safe = name.chars().map(|character| match character {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
        character if character.is_control() || character.is_whitespace() => '_',
        character => character,
    });
    let safe: String = safe.collect();
    match safe.trim_matches('.') {
        "" => "_".to_owned(),
        _ if safe.starts_with('.') => format!("_{}", &safe[1..]),
        _ => safe,
    }
}

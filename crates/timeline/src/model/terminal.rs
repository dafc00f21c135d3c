//! The terminal that a timeline is played in.

use regex::Regex;

/// A terminal config.
#[derive(Debug, Clone)]
pub struct TerminalConfig {
    /// `name`.
    pub name: Option<String>,
    /// `width`, in columns.
    pub width: u16,
    /// `height`, in rows.
    pub height: u16,
    /// `theme`.
    pub theme: TerminalTheme,
    /// `rendering.unicodeBoxChars`: whether boxes are drawn as such, or with `+-|`.
    pub unicode_box_chars: bool,
    /// `rendering.normalizeWhitespace`: whether trailing spaces and blank lines are cut before texts are compared.
    pub normalize_whitespace: bool,
    /// `rendering.style`: whether expected screens have colours, other looks and the cursor beside the text.
    pub has_style: bool,
    /// `term`: what the program is told in `TERM`.
    pub term: Option<String>,
    /// `env`, in order.
    pub env: Vec<(String, String)>,
    /// `scrollback`: how many lines above the screen are kept.
    pub scrollback: Option<u32>,
    /// `settle`: how long the screen must be still before it is looked at, in milliseconds.
    pub settle_ms: u64,
    /// `normalize`: what is replaced before texts are compared, in order.
    pub normalize: Vec<Replacement>,
    /// `normalize.builtin`: which of [`BUILT_IN`] are replaced before that; all of them if absent.
    pub builtin: Option<Vec<String>>,
}

/// What is replaced without being asked for: what differs from run to run.
pub const BUILT_IN: [&str; 9] = [
    "paths",
    "timestamp",
    "uuid",
    "time",
    "port",
    "pid",
    "duration",
    "hash",
    "spinner",
];

/// How a terminal looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TerminalTheme {
    /// `default`.
    #[default]
    Default,
    /// `high-contrast`.
    HighContrast,
}

/// What is replaced in a text.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// `regex`.
    pub pattern: Regex,
    /// `with`.
    pub with: String,
}

impl Default for TerminalConfig {
    fn default() -> Self {
        Self {
            name: None,
            width: 80,
            height: 24,
            theme: TerminalTheme::default(),
            unicode_box_chars: true,
            normalize_whitespace: true,
            has_style: false,
            term: None,
            env: Vec::new(),
            scrollback: None,
            settle_ms: 50,
            normalize: Vec::new(),
            builtin: None,
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

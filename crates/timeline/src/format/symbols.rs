//! Symbols: what the conditions of rules ask for.

use std::collections::BTreeMap;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::cut;

/// The value of a symbol, by how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SymbolValue {
    /// `true` or `false`, in any case.
    Flag(bool),
    /// A whole number of 64 bits.
    Integer(i64),
    /// Anything else, and what stands in quotes.
    Text(String),
}

impl SymbolValue {
    /// What a text is: `true`, `-3`, `"3"`, `prod`.
    pub fn infer(text: &str) -> Self {
        let unquoted = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        if let Some(text) = unquoted {
            return Self::Text(text.to_owned());
        }
        if text.eq_ignore_ascii_case("true") {
            return Self::Flag(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Self::Flag(false);
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_integer => Self::Integer(number),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Its kind with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Flag(_) => "true or false",
            Self::Integer(_) => "a number",
            Self::Text(_) => "a text",
        }
    }
}

impl std::fmt::Display for SymbolValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Text(text) => write!(formatter, "\"{text}\""),
        }
    }
}

/// A symbol that is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its value.
    pub value: SymbolValue,
    /// Where it was defined, for messages: `--define`, `CUECARD_DEFINES`.
    pub origin: String,
}

/// The symbols of a load. What is defined later wins, key by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    symbols: BTreeMap<String, Symbol>,
}

impl Symbols {
    /// No symbols.
    pub fn new() -> Self {
        Self::default()
    }

    /// Defines `K=V`, or `K`, which is `true`. Fails if the name is none.
    pub fn define(&mut self, definition: &str, origin: &str) -> Result<(), Diagnostic> {
        let (name, value) = match definition.split_once('=') {
            Some((name, value)) => (name.trim(), SymbolValue::infer(value.trim())),
            None => (definition.trim(), SymbolValue::Flag(true)),
        };
        if !is_name(name) {
            let message = format!("`{}` is not a valid symbol name ({origin})", cut(name, 40));
            return Err(Diagnostic::error(codes::TIMELINE_SYMBOL_NAME, message)
                .with_help("start with a letter or `_`, followed by letters, digits and `_`"));
        }
        let symbol = Symbol {
            value,
            origin: origin.to_owned(),
        };
        self.symbols.insert(name.to_owned(), symbol);
        Ok(())
    }

    /// Defines each of a list with commas, such as a variable of the environment holds. With `has_escapes`, `\,` is
    /// a comma of a value. All names that are none are reported.
    pub fn parse_list(&mut self, list: &str, has_escapes: bool, origin: &str) -> Vec<Diagnostic> {
        let mut parts = vec![String::new()];
        let mut characters = list.chars().peekable();
        while let Some(character) = characters.next() {
            let last = parts.last_mut().expect("there is always a part");
            match character {
                '\\' if has_escapes && characters.peek() == Some(&',') => {
                    last.push(',');
                    characters.next();
                }
                ',' => parts.push(String::new()),
                other => last.push(other),
            }
        }
        parts
            .iter()
            .filter(|part| !part.trim().is_empty())
            .filter_map(|part| self.define(part, origin).err())
            .collect()
    }

    /// The symbol of this name.
    pub fn get(&self, name: &str) -> Option<&Symbol> {
        self.symbols.get(name)
    }

    /// All symbols, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SymbolValue)> {
        let symbols = self.symbols.iter();
        symbols.map(|(name, symbol)| (name.as_str(), &symbol.value))
    }

    /// The names of all symbols, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.symbols.keys().map(String::as_str)
    }
}

/// Whether a text can name a symbol.
fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_look_like() {
        use SymbolValue::{Flag, Integer, Text};
        for (text, value) in [
            ("true", Flag(true)),
            ("FALSE", Flag(false)),
            ("3", Integer(3)),
            ("-12", Integer(-12)),
            ("+4", Integer(4)),
            ("\"3\"", Text("3".into())),
            ("", Text(String::new())),
            ("prod", Text("prod".into())),
            ("3.5", Text("3.5".into())),
            ("99999999999999999999", Text("99999999999999999999".into())),
            ("-", Text("-".into())),
        ] {
            assert_eq!(SymbolValue::infer(text), value, "{text}");
        }
    }

    #[test]
    fn later_definitions_win_key_by_key() {
        let mut symbols = Symbols::new();
        assert!(
            symbols
                .parse_list("a=1, b=2,c", false, "AH_SCENARIO_DEFINES")
                .is_empty()
        );
        assert!(
            symbols
                .parse_list(r"a=x\,y", true, "CUECARD_DEFINES")
                .is_empty()
        );
        symbols.define(" b = 3 ", "--define").unwrap();
        let value = |name: &str| symbols.get(name).map(|symbol| symbol.value.clone());
        assert_eq!(value("a"), Some(SymbolValue::Text("x,y".into())));
        assert_eq!(value("b"), Some(SymbolValue::Integer(3)));
        assert_eq!(value("c"), Some(SymbolValue::Flag(true)));
        assert_eq!(symbols.get("a").unwrap().origin, "CUECARD_DEFINES");
        assert_eq!(symbols.names().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn bad_names_are_reported_and_the_others_defined() {
        let mut symbols = Symbols::new();
        let found = symbols.parse_list(r"1a=2,ok=1,b-c,\,d", false, "AH_SCENARIO_DEFINES");
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|found| found.code.name() == "T-RULE-05"));
        assert!(found[0].message.contains("AH_SCENARIO_DEFINES"));
        assert!(symbols.get("ok").is_some());
        let mut symbols = Symbols::new();
        symbols.define("empty=", "--define").unwrap();
        assert_eq!(
            symbols.get("empty").unwrap().value,
            SymbolValue::Text(String::new())
        );
    }
}

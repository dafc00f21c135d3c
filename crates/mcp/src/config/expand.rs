//! `${NAME}` and `${NAME:-default}` in the texts of a config.
//!
//! Beside variables of the environment there are those that editors fill in, such as `${workspaceFolder}`.
//!
//! One pass: what is filled in is not looked at again. A default may hold references itself. What looks
//! like a reference and is none of these forms stays as it is and is reported, since there is no way to
//! write a `${` that is not meant.

use std::collections::BTreeMap;
use std::ops::Range;

/// How deep defaults may hold references with defaults.
const MAX_DEPTH: usize = 8;

/// A text with its references filled in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Expansion {
    pub text: String,
    /// The variables that were filled in, with their values.
    pub filled: Vec<(String, String)>,
    /// References to what is not there, as places in the text as written.
    pub missing: Vec<Missing>,
    /// Places that look like references and stay as they are.
    pub unread: Vec<Range<usize>>,
    /// Whether more was to be filled in than is allowed.
    pub is_too_long: bool,
}

/// A reference that can't be filled in.
#[derive(Debug, PartialEq)]
pub(super) struct Missing {
    pub range: Range<usize>,
    pub kind: MissingKind,
}

#[derive(Debug, PartialEq)]
pub(super) enum MissingKind {
    /// A variable that is not set.
    Variable(String),
    /// What VS Code asks its user for: the id in `${input:id}`.
    Input(String),
}

/// What references may stand for.
pub(super) struct Names<'a> {
    pub environment: &'a BTreeMap<String, String>,
    /// What editors fill in, which a variable of the environment goes before.
    pub editor: Vec<(&'static str, String)>,
}

impl Names<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let of_editor = || {
            let found = self.editor.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_str())
        };
        self.environment
            .get(name)
            .map(String::as_str)
            .or_else(of_editor)
    }
}

/// Fills in the references of `text`. At most `budget` bytes are filled in, and taken off it.
pub(super) fn expand(text: &str, names: &Names<'_>, budget: &mut usize) -> Expansion {
    let mut expander = Expander {
        names,
        budget,
        expansion: Expansion::default(),
    };
    expander.fill(text, 0, 0);
    expander.expansion
}

struct Expander<'a> {
    names: &'a Names<'a>,
    budget: &'a mut usize,
    expansion: Expansion,
}

impl Expander<'_> {
    /// Appends `text`, which stands at `offset` of the whole, with its references filled in.
    fn fill(&mut self, text: &str, offset: usize, depth: usize) {
        let mut done = 0;
        while let Some(length) = text[done..].find("${") {
            let start = done + length;
            self.expansion.text.push_str(&text[done..start]);
            let Some(body_len) = closing_brace(&text[start + 2..]) else {
                self.expansion
                    .unread
                    .push(offset + start..offset + start + 2);
                self.expansion.text.push_str(&text[start..]);
                return;
            };
            let body = &text[start + 2..start + 2 + body_len];
            done = start + 2 + body_len + 1;
            let range = offset + start..offset + done;
            match Form::read(body).filter(|_| depth < MAX_DEPTH) {
                Some(Form::Variable { name, default }) => {
                    let default = default
                        .map(|default| (default, offset + start + 2 + body_len - default.len()));
                    self.variable(name, default, range, depth);
                }
                Some(Form::Input(id)) => self.missing(range, MissingKind::Input(id.to_owned())),
                None => {
                    self.expansion.text.push_str(&text[start..done]);
                    self.expansion.unread.push(range);
                }
            }
        }
        self.expansion.text.push_str(&text[done..]);
    }

    fn variable(
        &mut self,
        name: &str,
        default: Option<(&str, usize)>,
        range: Range<usize>,
        depth: usize,
    ) {
        match (self.names.get(name), default) {
            // As in a shell, what is set to nothing has its default.
            (None, Some((default, offset))) => self.fill(default, offset, depth + 1),
            (Some(""), Some((default, offset))) => {
                self.fill(default, offset, depth + 1);
            }
            (Some(value), _) if value.len() <= *self.budget => {
                *self.budget -= value.len();
                self.expansion.text.push_str(value);
                self.expansion
                    .filled
                    .push((name.to_owned(), value.to_owned()));
            }
            (Some(_), _) => self.expansion.is_too_long = true,
            (None, None) => self.missing(range, MissingKind::Variable(name.to_owned())),
        }
    }

    fn missing(&mut self, range: Range<usize>, kind: MissingKind) {
        self.expansion.missing.push(Missing { range, kind });
    }
}

/// What stands between `${` and `}`.
enum Form<'t> {
    Variable {
        name: &'t str,
        default: Option<&'t str>,
    },
    Input(&'t str),
}

impl<'t> Form<'t> {
    fn read(body: &'t str) -> Option<Self> {
        if let Some(id) = body.strip_prefix("input:") {
            return Some(Self::Input(id));
        }
        // What separates folders, as VS Code and Cursor write it.
        if body == "/" {
            return Some(Self::Variable {
                name: body,
                default: None,
            });
        }
        // VS Code and Cursor write `${env:NAME}` for the same.
        let body = body.strip_prefix("env:").unwrap_or(body);
        let name_len = body
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .unwrap_or(body.len());
        let (name, rest) = body.split_at(name_len);
        if name.is_empty() || name.starts_with(|character: char| character.is_ascii_digit()) {
            return None;
        }
        match rest.strip_prefix(":-") {
            Some(default) => Some(Self::Variable {
                name,
                default: Some(default),
            }),
            None if rest.is_empty() => Some(Self::Variable {
                name,
                default: None,
            }),
            None => None,
        }
    }
}

/// Where the `}` stands that closes a reference, past those inside it.
fn closing_brace(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => open += 1,
            b'}' if open == 0 => return Some(at),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str, budget: &mut usize) -> Expansion {
        let environment = [("A", "one"), ("B_2", "${A}"), ("EMPTY", "")]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let names = Names {
            environment: &environment,
            editor: vec![
                ("A", "never".to_owned()),
                ("workspaceFolder", "/w".to_owned()),
                ("/", "/".to_owned()),
            ],
        };
        super::expand(text, &names, budget)
    }

    fn full(text: &str) -> Expansion {
        expand(text, &mut 1000)
    }

    /// The text of an expansion without any problem.
    fn expanded(text: &str) -> String {
        let expansion = full(text);
        assert_eq!(
            (&expansion.missing[..], &expansion.unread[..]),
            (&[][..], &[][..]),
            "{text}"
        );
        assert!(!expansion.is_too_long);
        expansion.text
    }

    #[test]
    fn variables_are_filled_in_once() {
        assert_eq!(expanded("x${A}y${A}"), "xoneyone");
        assert_eq!(expanded("${B_2}"), "${A}");
        assert_eq!(expanded("${EMPTY}"), "");
        assert_eq!(expanded("${env:A}/${env:NONE:-x}"), "one/x");
        assert_eq!(expanded("$A $ {A} $$ é {}"), "$A $ {A} $$ é {}");
        assert_eq!(expanded("$${A}"), "$one");
        assert_eq!(expanded("${workspaceFolder}${/}x"), "/w/x");
    }

    #[test]
    fn defaults_stand_in_for_what_is_unset_or_empty() {
        assert_eq!(
            expanded("${NONE:-x y}|${NONE:-}|${EMPTY:-z}|${A:-no}"),
            "x y||z|one"
        );
        assert_eq!(expanded("${NONE:-${A}}!${NONE:-a${NONE:-b}c}"), "one!abc");
        assert_eq!(expanded("${NONE:-a:-b}"), "a:-b");
    }

    #[test]
    fn what_is_missing_has_its_place() {
        let text = "é${NONE} ${input:git-hub} ${A:-${X}} ${NONE:-ab${Y}}";
        let expansion = full(text);
        let missing: Vec<_> = expansion
            .missing
            .into_iter()
            .map(|missing| (&text[missing.range], missing.kind))
            .collect();
        let variable = |name: &str| MissingKind::Variable(name.to_owned());
        assert_eq!(
            missing,
            [
                ("${NONE}", variable("NONE")),
                ("${input:git-hub}", MissingKind::Input("git-hub".to_owned())),
                ("${Y}", variable("Y")),
            ]
        );
        assert_eq!(expansion.text, "é  one ab");
        assert_eq!(expansion.filled, [("A".to_owned(), "one".to_owned())]);
    }

    #[test]
    fn other_forms_stay_as_they_are_and_are_reported() {
        for (text, unread) in [
            ("a ${X%y} b", "${X%y}"),
            ("${}", "${}"),
            ("${1}", "${1}"),
            ("${A-x}", "${A-x}"),
            ("${ A }", "${ A }"),
            ("${é}", "${é}"),
            ("a${A", "${"),
            ("${NONE:-${X}", "${"),
            ("${a${A}}", "${a${A}}"),
        ] {
            let expansion = full(text);
            assert_eq!(expansion.text, text);
            let found: Vec<_> = expansion
                .unread
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(found, [unread], "{text}");
            assert_eq!(expansion.missing, []);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "${N:-".repeat(depth), "}".repeat(depth));
        assert_eq!(expanded(&nested(MAX_DEPTH)), "");
        let expansion = full(&nested(MAX_DEPTH + 1));
        assert_eq!(
            (expansion.text.as_str(), expansion.unread.len()),
            ("${N:-}", 1)
        );
        assert_eq!(full(&nested(100_000)).unread.len(), 1);
        assert_eq!(full(&"${".repeat(100_000)).unread.len(), 1);
    }

    #[test]
    fn what_is_filled_in_is_bounded() {
        let mut budget = 7;
        let expansion = expand("${A}${A}", &mut budget);
        assert_eq!((expansion.is_too_long, budget), (false, 1));
        let expansion = expand("${A}", &mut budget);
        assert_eq!((expansion.is_too_long, expansion.text.as_str()), (true, ""));
    }
}

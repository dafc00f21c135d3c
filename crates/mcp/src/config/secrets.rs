//! What in a config must not be shown: values of `env` and headers, and credentials elsewhere.

use std::collections::HashSet;
use std::ops::Range;

use cuecard_source::Span;
use cuecard_source::json::{JsonErrorKind, Node, NodeKind};
use cuecard_source::value::{Redactor, names_credential_in_config};

use super::fields::SERVER_LISTS;
use crate::text::in_variable;
use cuecard_runtime::env_file::painted;

/// The shortest text that counts as a secret, in characters: anything shorter would hide ordinary words.
const SHORTEST: usize = 8;
/// The longest name of a header or variable inside an argument.
const LONGEST_NAME: usize = 64;

/// The secrets of one server, each once.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    list: Vec<String>,
    known: HashSet<String>,
}

impl Secrets {
    /// Adds `value`, and the credentials of a URL that it may be.
    pub(super) fn add(&mut self, value: &str) {
        self.push(value);
        self.add_url(value);
    }

    /// Adds the value of a header, and what follows its first word: of `Bearer abc` the token alone is as
    /// secret as the whole.
    pub(super) fn add_header(&mut self, value: &str) {
        self.push(value);
        if let Some((_, token)) = value.trim().split_once(' ') {
            self.push(token.trim());
        }
    }

    /// Adds the password and the credentials in the query of a URL.
    pub(super) fn add_url(&mut self, url: &str) {
        for secret in in_url(url) {
            self.push(secret);
        }
    }

    /// Adds what the arguments of a command give to options and headers that hold secrets.
    pub(super) fn add_args(&mut self, args: &[String]) {
        let mut previous = None;
        for arg in args {
            if let Some(secret) = in_argument(previous, arg) {
                self.add_header(secret);
            }
            self.add_url(arg);
            previous = Some(arg.as_str());
        }
    }

    /// Adds a variable that was filled in somewhere, if its name says that it is a secret.
    pub(super) fn add_variable(&mut self, name: &str, value: &str) {
        if names_credential_in_config(name) {
            self.push(value);
        }
    }

    /// Adds the secrets in a variable that a server gets.
    pub(super) fn add_env(&mut self, name: &str, value: &str) {
        for secret in in_variable(name, value) {
            self.push(&secret);
        }
        self.add_url(value);
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }

    fn push(&mut self, secret: &str) {
        if is_long(secret) && self.known.insert(secret.to_owned()) {
            self.list.push(secret.to_owned());
        }
    }
}

/// The text of a config as messages may show it, and a redactor for what they repeat of it.
pub(super) struct Shown {
    /// The text with secrets painted over; offsets stay. `${NAME}` stays visible.
    pub text: String,
    pub redactor: Redactor,
}

/// Finds the literal secrets in `text`, of which `root` was read.
pub(super) fn shown(text: &str, root: Option<&Node>) -> Shown {
    let mut painter = Painter {
        text,
        ranges: Vec::new(),
        literals: Vec::new(),
    };
    let lists = root.map(Node::members).unwrap_or_default();
    for list in lists
        .iter()
        .filter(|list| SERVER_LISTS.contains(&list.key.as_str()))
    {
        for server in list.value.members() {
            painter.server(&server.value);
        }
    }
    // The parts of a TOML table may stand in any order.
    painter.ranges.sort_by_key(|range| range.start);
    Shown {
        text: painted(text, &painter.ranges),
        redactor: Redactor::new(painter.literals),
    }
}

/// The words of configs that are no secrets.
const PLAIN: &[&str] = &[
    "mcpServers",
    "servers",
    "command",
    "args",
    "env",
    "environment",
    "envFile",
    "headers",
    "url",
    "type",
    "stdio",
    "http",
    "sse",
    "cwd",
    "timeout",
    "disabled",
    "inputs",
    "tools",
    "true",
    "false",
    "null",
];

/// A text that can't be read, in which nobody knows what is a value: no word of it is shown but those of every config.
/// Offsets stay.
pub(super) fn veiled(text: &str) -> String {
    let is_of_word = |character: char| character.is_alphanumeric() || !character.is_ascii();
    let mut veiled = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest
            .find(|character| !is_of_word(character))
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        match PLAIN.contains(&word) {
            true => veiled.push_str(word),
            false => veiled.extend(std::iter::repeat_n('*', length)),
        }
        let mark = behind.chars().next();
        veiled.extend(mark);
        rest = &behind[mark.map_or(0, char::len_utf8)..];
    }
    veiled
}

/// A message about such a text, in which the words of the text stand between backticks.
pub(super) fn veiled_message(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts = parts.map(|(nth, part)| match nth % 2 {
        1 => veiled(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

struct Painter<'t> {
    text: &'t str,
    ranges: Vec<Range<usize>>,
    literals: Vec<String>,
}

impl Painter<'_> {
    fn server(&mut self, server: &Node) {
        for member in server.members() {
            match member.key.as_str() {
                "env" | "environment" | "headers" => self.hide(&member.value),
                "auth" => {
                    if member.value.as_str().is_some() {
                        self.hide(&member.value);
                    }
                    for value in member.value.members() {
                        if names_credential_in_config(&value.key) {
                            self.hide(&value.value);
                        }
                    }
                }
                "args" | "command" => {
                    self.line(&member.value);
                    let mut previous = None;
                    for item in member.value.as_array().unwrap_or_default() {
                        let arg = item.as_str().unwrap_or_default();
                        // What is no text doesn't belong there, and may be anything.
                        let is_odd = item.as_str().is_none();
                        if is_odd
                            || in_argument(previous, arg).is_some()
                            || in_url(arg).next().is_some()
                        {
                            self.hide(item);
                        }
                        previous = Some(arg);
                    }
                }
                key => {
                    let value = &member.value;
                    // An object of an unknown key may be an `env` that is misspelled.
                    if names_credential_in_config(key)
                        || matches!(value.kind, NodeKind::Object(_))
                        || value
                            .as_str()
                            .is_some_and(|text| in_url(text).next().is_some())
                    {
                        self.hide(value);
                    }
                }
            }
        }
    }

    /// Hides arguments that are written in one string, for which they are no less secret.
    fn line(&mut self, node: &Node) {
        let mut previous = None;
        let mut is_secret = false;
        for word in node.as_str().unwrap_or_default().split_whitespace() {
            let secrets = in_argument(previous, word).into_iter().chain(in_url(word));
            let secrets: Vec<String> = secrets
                .filter(|secret| is_long(secret))
                .map(str::to_owned)
                .collect();
            is_secret |= !secrets.is_empty();
            self.literals.extend(secrets);
            previous = Some(word);
        }
        if is_secret {
            self.hide(node);
        }
    }

    /// Hides a value and everything below it.
    fn hide(&mut self, node: &Node) {
        for member in node.members() {
            self.hide(&member.value);
        }
        for item in node.as_array().unwrap_or_default() {
            self.hide(item);
        }
        let literal = match &node.kind {
            NodeKind::String(text) | NodeKind::Number(text) => text,
            _ => return,
        };
        if !is_long(literal) {
            return;
        }
        // What messages repeat of a file is cut.
        self.literals.push(
            literal
                .chars()
                .take(JsonErrorKind::LONGEST_EXCERPT)
                .collect(),
        );
        self.literals.push(literal.clone());
        let content = self.content(node.span);
        let mut done = content.start;
        while let Some(at) = self
            .text
            .get(done..content.end)
            .and_then(|rest| rest.find("${"))
        {
            let start = done + at;
            self.ranges.push(done..start);
            done = start + reference_len(&self.text[start..content.end]);
        }
        self.ranges.push(done..content.end);
    }

    /// The span without its quotes, which in a damaged file may be of any kind.
    fn content(&self, span: Span) -> Range<usize> {
        let range = span.range();
        let Some(text) = self.text.get(range.clone()) else {
            return 0..0;
        };
        let quote_len = |character: Option<char>| match character {
            Some(character) if !character.is_alphanumeric() && text.len() > 1 => {
                character.len_utf8()
            }
            _ => 0,
        };
        let start = range.start + quote_len(text.chars().next());
        let end = range.end - quote_len(text.chars().next_back());
        start..end.max(start)
    }
}

/// How much of `text`, which begins with `${`, is a name and may be shown.
fn reference_len(text: &str) -> usize {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let body = &text[2..];
    let name = match body.strip_prefix("input:") {
        Some(id) => id.trim_start_matches(|character| is_name(character) || character == '-'),
        None => body
            .strip_prefix("env:")
            .unwrap_or(body)
            .trim_start_matches(is_name),
    };
    text.len() - name.strip_prefix('}').unwrap_or(name).len()
}

fn is_long(text: &str) -> bool {
    text.chars().nth(SHORTEST - 1).is_some()
}

/// The secret in an argument that follows `previous`: `--token=abc`, `--token abc`, `--env=TOKEN=abc`, `TOKEN=abc` or
/// `Authorization: Bearer abc`.
fn in_argument<'t>(previous: Option<&str>, arg: &'t str) -> Option<&'t str> {
    let flag = arg.trim_start_matches('-');
    let is_flag = flag.len() < arg.len();
    let is_secret = |(name, _): &(&str, &str)| {
        name.len() <= LONGEST_NAME && names_credential_in_config(name.trim())
    };
    // `--env=TOKEN=abc`
    let pairs = std::iter::successors(flag.split_once('='), |(_, rest)| rest.split_once('='));
    let mut named = pairs.chain(flag.split_once(':')).filter(is_secret);
    if let Some((_, value)) = named.next().map(|(name, value)| (name, value.trim())) {
        return Some(value);
    }
    let previous =
        previous.filter(|previous| previous.starts_with('-') && !previous.contains('='))?;
    (!is_flag && names_credential_in_config(previous.trim_start_matches('-'))).then_some(arg)
}

/// The password, or the user if there is no password, and the values of parameters that hold secrets.
fn in_url(url: &str) -> impl Iterator<Item = &str> {
    let after_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    let address = after_scheme.split('#').next().unwrap_or_default();
    let authority = address.split(['/', '?']).next().unwrap_or_default();
    let user = authority
        .rsplit_once('@')
        .map(|(user, _)| user.split_once(':').map_or(user, |(_, password)| password));
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let parameters = query.split('&').filter_map(|pair| pair.split_once('='));
    let secrets = parameters
        .filter(|(name, _)| names_credential_in_config(name))
        .map(|(_, value)| value);
    user.into_iter()
        .chain(secrets)
        .filter(|secret| !secret.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::json::{Limits, parse};

    fn list(fill: impl FnOnce(&mut Secrets)) -> Vec<String> {
        let mut secrets = Secrets::default();
        fill(&mut secrets);
        secrets.into_list()
    }

    #[test]
    fn secrets_have_eight_characters_and_stand_once() {
        let found = list(|secrets| {
            for value in ["1234567", "12345678", "12345678", "äöüäöüäö"] {
                secrets.add(value);
            }
        });
        assert_eq!(found, ["12345678", "äöüäöüäö"]);
    }

    #[test]
    fn a_variable_is_a_secret_where_its_name_says_so_or_a_credential_is_in_it() {
        let of = |name: &str, value: &str| list(|secrets| secrets.add_env(name, value));
        for (name, value) in [
            ("PGDATABASE", "postgres"),
            ("NODE_ENV", "production"),
            ("KEYBOARD", "qwertyui"),
            ("URL", "https://notes.example/a"),
        ] {
            assert!(of(name, value).is_empty(), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "PGPASSWORD",
            "OPENAI_KEY",
            "DB_PASS",
            "GITHUB_PAT",
        ] {
            assert_eq!(of(name, "abcdefgh"), ["abcdefgh"], "{name}");
        }
        assert_eq!(
            of("DATABASE_URL", "postgres://u:password1@h/d"),
            ["password1"]
        );
        let key = format!("ghp_{}", "a1".repeat(18));
        assert_eq!(of("WORD", &key), [key]);
    }

    #[test]
    fn the_token_of_a_header_is_a_secret_of_its_own() {
        assert_eq!(
            list(|secrets| secrets.add_header("Bearer abcdefgh")),
            ["Bearer abcdefgh", "abcdefgh"]
        );
        assert_eq!(list(|secrets| secrets.add_header("abcdefgh")), ["abcdefgh"]);
    }

    #[test]
    fn urls_hold_secrets_in_two_places() {
        let of = |url: &str| list(|secrets| secrets.add_url(url));
        assert_eq!(
            of("https://ann:password1@h/x?api_key=abcdefgh&page=12345678#f"),
            ["password1", "abcdefgh"]
        );
        assert_eq!(of("https://token-123@h/"), ["token-123"]);
        assert!(of("https://h/a@b?mail=someone@example.com").is_empty());
        assert!(of("someone:password@h").is_empty());
        assert_eq!(
            list(|secrets| secrets.add("postgres://u:password1@h/d")),
            ["postgres://u:password1@h/d", "password1"]
        );
    }

    #[test]
    fn arguments_hold_secrets_after_names_that_say_so() {
        let of = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            list(|secrets| secrets.add_args(&args))
        };
        assert_eq!(
            of(&["--api-key=abcdefg1", "--token", "abcdefg2", "--verbose"]),
            ["abcdefg1", "abcdefg2"]
        );
        assert_eq!(of(&["-e", "GITHUB_TOKEN=abcdefg3"]), ["abcdefg3"]);
        assert_eq!(of(&["--env=GITHUB_TOKEN=abcdefg3"]), ["abcdefg3"]);
        assert!(of(&["--env=LEVEL=abcdefg3"]).is_empty());
        assert_eq!(
            of(&["--header", "Authorization: Bearer abcdefg4"]),
            ["Bearer abcdefg4", "abcdefg4"]
        );
        assert_eq!(of(&["https://u:abcdefg5@h/"]), ["abcdefg5"]);
        assert!(
            of(&[
                "--token",
                "--verbose-mode",
                "--author=someone-else",
                "a plain argument"
            ])
            .is_empty()
        );
        assert_eq!(
            list(|secrets| secrets.add_variable("MY_TOKEN", "abcdefg6")),
            ["abcdefg6"]
        );
        assert!(list(|secrets| secrets.add_variable("HOME", "/home/someone")).is_empty());
    }

    /// What is shown of the value of one variable.
    fn shown_value(value: &str) -> String {
        let text = format!(r#"{{"servers":{{"s":{{"env":{{"A":{value}}}}}}}}}"#);
        let parsed = parse(&text, &Limits::default());
        let shown = shown(&text, parsed.root.as_ref()).text;
        assert_eq!(shown.len(), text.len());
        let start = r#"{"servers":{"s":{"env":{"A":"#.len();
        shown[start..shown.len() - 4].to_owned()
    }

    #[test]
    fn values_are_painted_over_and_references_are_not() {
        assert_eq!(shown_value(r#""abcdefgh""#), r#""********""#);
        assert_eq!(shown_value(r#""short""#), r#""short""#);
        assert_eq!(shown_value(r#""a\"bcdefgh""#), r#""**********""#);
        assert_eq!(shown_value(r#""x${TOKEN}y é""#), r#""*${TOKEN}* ·""#);
        assert_eq!(
            shown_value(r#""${A:-default}${env:B}""#),
            r#""${A**********${env:B}""#
        );
        assert_eq!(
            shown_value(r#""${input:git-hub}""#),
            r#""${input:git-hub}""#
        );
        assert_eq!(shown_value(r#""abcdefgh${""#), r#""********${""#);
        assert_eq!(shown_value("1234567890"), "**********");
        assert_eq!(shown_value("true"), "true");
    }

    #[test]
    fn credentials_elsewhere_are_painted_over() {
        let text = r#"{"mcpServers":{"s":{"command":["x","--token=abcdefgh"],"args":["--key","abcdefgh","plain words"],
            "url":"https://u:abcdefgh@h/","headers":{"X":"abcdefgh"},"apiToken":"abcdefgh","cwd":"/abcdefg_"}},"other":{"env":{"A":"/visible"}}}"#;
        let parsed = parse(text, &Limits::default());
        let shown = shown(text, parsed.root.as_ref());
        assert!(!shown.text.contains("abcdefgh"), "{}", shown.text);
        for visible in ["plain words", "/abcdefg_", "/visible", "\"--key\""] {
            assert!(shown.text.contains(visible), "{}", shown.text);
        }
        assert_eq!(
            shown.redactor.text("there is abcdefgh"),
            "there is [redacted]"
        );
    }

    #[test]
    fn a_text_that_can_not_be_read_shows_no_values() {
        let text = "{ \"env\": { \"API_TOKEN: \"Tängo7\" } }";
        let veiled = veiled(text);
        assert_eq!(veiled.len(), text.len());
        assert_eq!(veiled, "{ \"env\": { \"***_*****: \"*******\" } }");
        assert_eq!(
            veiled_message("missing value for key `API: \"Tango`; expected `:`"),
            "missing value for key `***: \"*****`; expected `:`"
        );
    }

    #[test]
    fn what_messages_cut_is_redacted_too() {
        let long = "s".repeat(100);
        let text = format!(r#"{{"servers":{{"s":{{"env":{{"A":"{long}"}}}}}}}}"#);
        let parsed = parse(&text, &Limits::default());
        let cut = format!("`{}…`", "s".repeat(JsonErrorKind::LONGEST_EXCERPT));
        assert_eq!(
            shown(&text, parsed.root.as_ref()).redactor.text(&cut),
            "`[redacted]…`"
        );
    }
}

//! What in a config must not be shown: values of `env` and headers, and credentials elsewhere.

use std::collections::HashSet;

use cuecard_source::value::names_credential_in_config;

use crate::text::{in_argument, in_variable};

/// The shortest text that counts as a secret, in characters: anything shorter would hide ordinary words.
const SHORTEST: usize = 8;

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

/// A message about a text that can't be read, without the words of the text that stand between backticks: nobody knows
/// which of them are values.
pub(super) fn veiled(message: &str) -> String {
    let parts = message.split('`').enumerate().map(|(nth, part)| {
        let is_shown = nth % 2 == 0
            || PLAIN.contains(&part)
            || !part.contains(|letter: char| letter.is_alphanumeric() || !letter.is_ascii());
        if is_shown { part } else { "…" }
    });
    parts.collect::<Vec<_>>().join("`")
}

fn is_long(text: &str) -> bool {
    text.chars().nth(SHORTEST - 1).is_some()
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

    #[test]
    fn a_text_that_can_not_be_read_shows_no_values() {
        assert_eq!(
            veiled("missing value for key `API: \"Tango`; expected `:`"),
            "missing value for key `…`; expected `:`"
        );
        assert_eq!(
            veiled("the key `env` is no object"),
            "the key `env` is no object"
        );
    }
}

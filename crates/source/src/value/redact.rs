//! Secrets never reach a trace, report, log or journal: they are replaced before anything is written.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Json, as_text, printable};

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// Replaces every occurrence of a set of secrets, also as JSON, a URL or a shell word would spell them.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
    spellings: Vec<String>,
    automaton: Option<AhoCorasick>,
}

/// How many there are: what is replaced must not be shown here either.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Redactor")
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor for `secrets`; empty ones are left out.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut redactor = Self::default();
        redactor.add(secrets);
        redactor
    }

    /// Learns more secrets.
    pub fn add(&mut self, secrets: impl IntoIterator<Item = String>) {
        self.secrets.extend(secrets);
        self.secrets.retain(|secret| !secret.is_empty());
        self.secrets.sort();
        self.secrets.dedup();
        let spellings = self.secrets.iter().flat_map(|secret| spellings(secret));
        self.spellings = spellings.collect();
        self.automaton = (!self.spellings.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostLongest)
                    .build(&self.spellings)
                    .ok()
            })
            .flatten();
    }

    /// The secrets, each once.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// Whether `text` holds a secret.
    pub fn finds(&self, text: &str) -> bool {
        self.automaton
            .as_ref()
            .is_some_and(|automaton| automaton.is_match(text))
            || self.cut_secrets(text).next().is_some()
    }

    /// `text` without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_with(text, REDACTED)
    }

    /// `text` with `mark` in the place of each secret.
    pub fn text_with<'a>(&self, text: &'a str, mark: &str) -> Cow<'a, str> {
        let whole = match &self.automaton {
            Some(automaton) if automaton.is_match(text) => {
                let mut redacted = String::with_capacity(text.len());
                automaton.replace_all_with(text, &mut redacted, |_, _, into| {
                    into.push_str(mark);
                    true
                });
                Cow::Owned(redacted)
            }
            _ => Cow::Borrowed(text),
        };
        let mut redacted = String::new();
        let mut done = 0;
        for Range { start, end } in self.cut_secrets(&whole) {
            redacted.push_str(&whole[done..start]);
            redacted.push_str(mark);
            done = end;
        }
        if done == 0 {
            return whole;
        }
        redacted.push_str(&whole[done..]);
        Cow::Owned(redacted)
    }

    /// Beginnings of secrets before a `…`, and ends of them after a gap such as `[… 5 bytes dropped …]`: where a text was
    /// cut before its secrets were sought.
    fn cut_secrets<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let is_empty = self.spellings.is_empty();
        let cuts = (!is_empty).then(|| text.match_indices('…'));
        let cuts = cuts.into_iter().flatten();
        cuts.flat_map(move |(at, mark)| {
            let before = text[..at].strip_suffix(GAP_START).unwrap_or(&text[..at]);
            let beginnings = self.spellings.iter();
            let beginning = beginnings
                .filter_map(|secret| longest_beginning(secret, before))
                .max()
                .map(|length| before.len() - length..before.len());
            let behind = at + mark.len() + GAP_END.len();
            let after = text[at + mark.len()..].strip_prefix(GAP_END);
            let end = after.and_then(|after| {
                let ends = self.spellings.iter();
                ends.filter_map(|secret| longest_end(secret, after)).max()
            });
            [beginning, end.map(|length| behind..behind + length)]
                .into_iter()
                .flatten()
        })
    }

    /// Replaces secrets in every string and key, and every number that spells one.
    pub fn json(&self, json: &mut Json) {
        match json {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                if self.finds(&number.to_string()) {
                    *json = Json::String(REDACTED.to_owned());
                }
            }
            Json::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Json::Object(members) => {
                if members.keys().any(|key| self.finds(key)) {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(key, value)| (self.text(&key).into_owned(), value))
                        .collect();
                }
                members.values_mut().for_each(|value| self.json(value));
            }
        }
    }
}

/// How many characters a secret has at least. Shorter texts are words and numbers that stand everywhere: to take them
/// out would take letters out of every message.
pub const SHORTEST_SECRET: usize = 4;

/// How many characters a number has at least that is a secret because of its key.
const SHORTEST_NUMBER: usize = 6;

/// Whether a value is to be taken for a secret because of its key.
pub fn is_credential(key: &str, value: &Json) -> bool {
    names_credential(key) && as_text(value).chars().count() >= SHORTEST_SECRET
}

/// Whether a key names a credential: `password`, `API_KEY`, `accessToken`, `Authorization`.
pub fn names_credential(key: &str) -> bool {
    // Every word that counts has one of these letters; most keys have none, and cost no more than this.
    if !key
        .bytes()
        .any(|byte| matches!(byte.to_ascii_lowercase(), b'c' | b'h' | b'k' | b'w' | b'z'))
    {
        return false;
    }
    // `accessToken` and `access-token` are `access_token`.
    let mut words = String::with_capacity(key.len() + 4);
    let mut after_lower = false;
    for character in key.chars().take(200) {
        if character.is_uppercase() && after_lower {
            words.push('_');
        }
        after_lower = character.is_lowercase() || character.is_ascii_digit();
        words.extend(
            if matches!(character, '-' | ' ' | '.') {
                '_'
            } else {
                character
            }
            .to_lowercase(),
        );
    }
    let parts: Vec<&str> = words.split('_').filter(|part| !part.is_empty()).collect();
    let last = parts.last().copied().unwrap_or_default();
    let is = |word: &str| parts.contains(&word);
    matches!(
        last,
        "password"
            | "passwd"
            | "passphrase"
            | "pwd"
            | "secret"
            | "token"
            | "credential"
            | "credentials"
            | "authorization"
            | "apikey"
            | "cookie"
    ) || (last == "key" && (is("api") || is("private") || is("secret") || is("access")))
        || (last == "value" && is("secret"))
}

/// Texts and numbers below keys that name credentials, at any depth, also in texts that are JSON themselves.
pub fn find_credentials(json: &Json, found: &mut Vec<String>) {
    match json {
        Json::String(text) => {
            if let Some(inner) = json_in(text) {
                find_credentials(&inner, found);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| find_credentials(item, found)),
        Json::Object(members) => {
            for (key, value) in members {
                match names_credential(key) && !is_schema(value) {
                    true => secret_texts(value, found),
                    false => find_credentials(value, found),
                }
            }
        }
        _ => {}
    }
}

/// The texts and numbers of a secret value, at any depth, that are long enough to be hidden.
pub fn secret_texts(secret: &Json, found: &mut Vec<String>) {
    match secret {
        Json::String(text) if text.chars().count() >= SHORTEST_SECRET => found.push(text.clone()),
        Json::Number(number) if is_long(number) => found.push(number.to_string()),
        Json::Array(items) => items.iter().for_each(|item| secret_texts(item, found)),
        Json::Object(members) => members
            .values()
            .for_each(|value| secret_texts(value, found)),
        _ => {}
    }
}

/// Whether a number is long enough to be no count or limit.
fn is_long(number: &serde_json::Number) -> bool {
    number.to_string().len() >= SHORTEST_NUMBER
}

/// Whether a value says what is meant by a key, as a schema of a tool does, in place of a value for it.
fn is_schema(value: &Json) -> bool {
    value.is_object() && (value["type"].is_string() || value["$ref"].is_string())
}

/// The object or list that a text is.
fn json_in(text: &str) -> Option<Json> {
    let json = serde_json::from_str(text).ok()?;
    matches!(json, Json::Array(_) | Json::Object(_)).then_some(json)
}

/// What stands around the marks of a gap in the output of a command.
const GAP_START: &str = "\n[";
const GAP_END: &str = "]\n";

/// The length of the longest beginning of `secret` that `text` ends with, if it is enough of it to be told.
fn longest_beginning(secret: &str, text: &str) -> Option<usize> {
    let least = (secret.len() / 2).clamp(SHORTEST_SECRET, 8);
    (least..secret.len())
        .rev()
        .find(|&length| secret.is_char_boundary(length) && text.ends_with(&secret[..length]))
}

/// The length of the longest end of `secret` that `text` begins with, if it is enough of it to be told.
fn longest_end(secret: &str, text: &str) -> Option<usize> {
    let least = (secret.len() / 2).clamp(SHORTEST_SECRET, 8);
    (least..secret.len()).rev().find(|&length| {
        let start = secret.len() - length;
        secret.is_char_boundary(start) && text.starts_with(&secret[start..])
    })
}

/// Puts [`REDACTED`] in the place of texts below keys that name credentials, of what follows `Bearer`, and of the password
/// of a URL.
pub fn mask_credentials(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(mask_credentials),
        Json::Object(members) => {
            for (key, value) in members {
                match names_credential(key) && !is_schema(value) {
                    true => mask(value),
                    false => mask_credentials(value),
                }
            }
        }
        Json::String(text) => {
            if let Some(inner) = json_in(text) {
                let mut masked = inner.clone();
                mask_credentials(&mut masked);
                if masked != inner {
                    *text = masked.to_string();
                }
            } else if let Some(masked) = without_credentials(text) {
                *text = masked;
            }
        }
        _ => {}
    }
}

/// Puts [`REDACTED`] in the place of what [`secret_texts`] finds.
fn mask(secret: &mut Json) {
    match secret {
        Json::String(text) if text.chars().count() >= SHORTEST_SECRET => *secret = REDACTED.into(),
        Json::Number(number) if is_long(number) => *secret = REDACTED.into(),
        Json::Array(items) => items.iter_mut().for_each(mask),
        Json::Object(members) => members.values_mut().for_each(mask),
        _ => {}
    }
}

/// A text that is a credential by its form without that.
pub fn without_credentials(text: &str) -> Option<String> {
    if let Some((scheme, _)) = text.split_once(' ')
        && ["bearer", "basic"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
        && text.split_whitespace().count() == 2
    {
        return Some(format!("{scheme} {REDACTED}"));
    }
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, _) = authority.rsplit_once('@')?;
    let has_password = is_scheme && user.contains(':') && !user.contains(char::is_whitespace);
    has_password.then(|| format!("{scheme}://{REDACTED}{}", &rest[user.len()..]))
}

/// How many characters a line of a secret has at least to be one by itself.
const SHORTEST_LINE: usize = 8;

/// A secret as it is and as it would look inside JSON (also inside a text of JSON in JSON), a URL and a single-quoted
/// shell word; with the white space around it and without; on one line, as messages show it; and line by line, as a
/// program prints a key.
fn spellings(secret: &str) -> Vec<String> {
    let trimmed = secret.trim();
    let mut all = spellings_of(secret);
    if trimmed.len() < secret.len() && trimmed.chars().count() >= SHORTEST_SECRET {
        all.extend(spellings_of(trimmed));
    }
    if !printable(trimmed).eq(trimmed) {
        all.extend(spellings_of(&printable(trimmed)));
        let words: Vec<&str> = trimmed.split_whitespace().collect();
        all.extend(spellings_of(&words.join(" ")));
        let lines = trimmed.split(char::is_control).map(str::trim);
        let lines = lines.filter(|line| line.chars().count() >= SHORTEST_LINE);
        all.extend(lines.flat_map(spellings_of));
    }
    all.sort();
    all.dedup();
    all
}

/// Writers of JSON differ in what they escape, and those of URLs in what they leave.
fn spellings_of(secret: &str) -> Vec<String> {
    let json = in_json(secret);
    let ascii: String = json.chars().map(|one| as_ascii(one, false)).collect();
    let mut all = vec![
        secret.to_owned(),
        in_json(&json),
        in_json(&ascii),
        json.replace('/', "\\/"),
        json.chars().map(|one| as_ascii(one, true)).collect(),
        ascii,
        json,
        secret.replace('\'', r"'\''"),
        // As GNU's tools quote it, and as an address drops it.
        secret.replace('\t', r"'$'\t''").replace('\n', r"'$'\n''"),
        secret.replace(['\t', '\n', '\r'], ""),
    ];
    let in_address = secret.replace(['\t', '\n', '\r'], "");
    for kept in KEPT_IN_URLS {
        let url = in_url(&in_address, kept);
        all.extend([
            in_url(secret, kept),
            url.replace('\\', "/"),
            url.replace("%20", "+"),
            url.to_lowercase(),
            url,
        ]);
    }
    all
}

/// What writers of URLs leave as it is beside letters, digits and `-_.~`: nothing, `encodeURI`'s, `encodeURIComponent`'s
/// and forms' characters, then what a parser of URLs leaves in a path, a query, a fragment and before an `@`.
const KEPT_IN_URLS: [&str; 8] = [
    "",
    "/",
    "!'()*",
    "*",
    "!$%&'()*+,/:;=@[\\]^|",
    "!$%&()*+,/:;=?@[\\]^`{|}",
    "!#$%&'()*+,/:;=?@[\\]^{|}",
    "!$%&'()*+,",
];

fn in_json(text: &str) -> String {
    let json = Json::String(text.to_owned()).to_string();
    json[1..json.len() - 1].to_owned()
}

/// As serializers write that keep to ASCII.
fn as_ascii(character: char, is_upper: bool) -> String {
    if character.is_ascii() {
        return character.to_string();
    }
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units).iter();
    let spelled = units.map(|unit| match is_upper {
        true => format!("\\u{unit:04X}"),
        false => format!("\\u{unit:04x}"),
    });
    spelled.collect()
}

/// Percent-encoded, but for the characters `kept`.
fn in_url(text: &str, kept: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        other if kept.as_bytes().contains(&other) => char::from(other).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_is_found_in_each_spelling() {
        for (secret, spelled) in [
            ("tok_ABCDEFGH12345678\n", "error: tok_ABCDEFGH12345678"),
            (
                "pa\"ss\\word12",
                r#"{"text":"{\"p\":\"pa\\\"ss\\\\word12\"}"}"#,
            ),
            ("grün-geheim", r"gr\u00fcn-geheim"),
            ("abc/def+ghi", r"abc\/def+ghi"),
            ("abc/def+ghi==", "abc/def%2Bghi%3D%3D"),
            ("two words 12", "q=two+words+12"),
            ("pa ss&word1", "http://h/pa%20ss&word1"),
            ("pass\\word", "http://h/pass/word"),
            ("AAAAbbbb\nDDDDeeee", "bad key AAAAbbbb DDDDeeee"),
            ("AAAAbbbb\r\n  DDDDeeee", "bad key AAAAbbbb DDDDeeee"),
            ("AAAAbbbb\u{1b}[31mDDDD", "bad AAAAbbbb [31mDDDD"),
            ("AAAA\u{202e}DDDD", "bad AAAA\u{fffd}DDDD"),
            (
                "-----BEGIN-----\nAAAAbbbb\n",
                "a line on its stdout: AAAAbbbb",
            ),
        ] {
            let text = Redactor::new([secret.to_owned()])
                .text(spelled)
                .into_owned();
            assert!(text.contains(REDACTED), "{secret:?} in {text}");
        }
    }

    #[test]
    fn a_secret_that_was_cut_is_found_by_its_beginning() {
        let redactor = Redactor::new(["tok_ABCDEFGH12345678".to_owned(), "hunter22".to_owned()]);
        for (text, redacted) in [
            ("is tok_ABCDEFGH1234567…", "is [redacted]…"),
            (
                "a hunte… and tok_ABCDE…, b",
                "a [redacted]… and [redacted]…, b",
            ),
            ("tok_ABCDEFGH12345678…", "[redacted]…"),
            ("tok_… hunt and …", "tok_… hunt and …"),
            (
                "a tok_ABCDEF\n[… 9 bytes dropped …]\nGH12345678 b",
                "a [redacted]\n[… 9 bytes dropped …]\n[redacted] b",
            ),
            (
                "\n[… 9 bytes dropped …]\n78 b",
                "\n[… 9 bytes dropped …]\n78 b",
            ),
        ] {
            assert_eq!(redactor.text(text), redacted);
            assert_eq!(redactor.finds(text), text != redacted, "{text}");
        }
    }

    #[test]
    fn secrets_go_from_strings_keys_and_numbers() {
        let redactor = Redactor::new([
            "pass\"word".to_owned(),
            "12345678".to_owned(),
            String::new(),
        ]);
        let mut value =
            json!({"a": ["x pass\"word y", 12345678, 1], "pass\"word": true, "u": "pass%22word"});
        redactor.json(&mut value);
        assert_eq!(
            value,
            json!({"a": ["x [redacted] y", "[redacted]", 1], "[redacted]": true, "u": "[redacted]"})
        );
    }

    #[test]
    fn secrets_are_known_in_all_usual_spellings() {
        let secret = "Grü\u{1F511} a/b\"c!";
        let redactor = Redactor::new([secret.to_owned()]);
        for spelled in [
            secret,
            // JSON of serde, of Python, and of PHP.
            r#"Grü🔑 a/b\"c!"#,
            r#"Gr\u00fc\ud83d\udd11 a/b\"c!"#,
            r#"Gr\u00FC\uD83D\uDD11 a/b\"c!"#,
            r#"Grü🔑 a\/b\"c!"#,
            // `quote`, `quote_plus` and `encodeURIComponent`.
            "Gr%C3%BC%F0%9F%94%91%20a/b%22c%21",
            "Gr%C3%BC%F0%9F%94%91+a%2Fb%22c%21",
            "Gr%C3%BC%F0%9F%94%91%20a%2Fb%22c!",
        ] {
            assert_eq!(redactor.text(spelled), REDACTED, "{spelled}");
        }
    }

    #[test]
    fn all_below_a_key_that_names_a_credential_is_found_and_masked() {
        let json = json!({
            "api_key": {"a": "deep-1", "list": ["deep-2", 12345678, "abc", 99]},
            "password": ["deep-3"],
            "token": 4096,
            "other": {"secret": {"type": "string", "description": "of a schema"}},
        });
        let mut found = Vec::new();
        find_credentials(&json, &mut found);
        assert_eq!(found, ["deep-1", "deep-2", "12345678", "deep-3"]);
        let mut masked = json.clone();
        mask_credentials(&mut masked);
        assert_eq!(
            masked["api_key"]["list"],
            json!([REDACTED, REDACTED, "abc", 99])
        );
        assert_eq!(masked["password"], json!([REDACTED]));
        assert_eq!(masked["token"], json["token"]);
        assert_eq!(masked["other"], json["other"]);
    }

    #[test]
    fn keys_that_name_credentials_are_known() {
        for key in [
            "password",
            "DB_PASSWORD",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "accessToken",
            "Authorization",
            "client_secret",
            "private_key",
        ] {
            assert!(names_credential(key), "{key}");
        }
        for key in [
            "key",
            "tokens",
            "max_tokens",
            "token_count",
            "author",
            "keyboard",
            "secretary",
            "primary_key",
        ] {
            assert!(!names_credential(key), "{key}");
        }
        let mut found = Vec::new();
        find_credentials(
            &json!({"a": [{"token": "abcd"}, {"token": "abc"}], "password": {"secret": "hunter2"}, "body": r#" [{"token": "inside"}]"#, "text": "[token"}),
            &mut found,
        );
        assert_eq!(found, ["abcd", "hunter2", "inside"]);
        let mut masked = json!([r#"{"token": "inside", "n": 1.0}"#, r#"{ "n": 1.0 }"#]);
        mask_credentials(&mut masked);
        let text = r#"{"token":"[redacted]","n":1.0}"#;
        assert_eq!(masked, json!([text, r#"{ "n": 1.0 }"#]));
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", Redactor::new(["hunter2".to_owned()]));
        assert_eq!(shown, "Redactor { secrets: 1, .. }");
    }

    #[test]
    fn the_longest_secret_wins() {
        let redactor = Redactor::new(["abc".to_owned(), "abcdef".to_owned()]);
        assert_eq!(redactor.text("abcdef abc"), "[redacted] [redacted]");
    }

    #[test]
    fn without_secrets_nothing_changes() {
        let redactor = Redactor::default();
        assert!(redactor.is_empty());
        assert!(matches!(redactor.text("x"), Cow::Borrowed("x")));
    }
}

//! Credentials that nobody has named, known by their key, by what stands around them, or by their looks.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::redact::visible;
use super::{Json, REDACTED, Redactor, as_text, is_invisible};

/// How many characters a secret has at least. Shorter texts are words and numbers that stand everywhere: to take them
/// out would take letters out of every message.
pub const SHORTEST_SECRET: usize = 4;

/// How many characters a number, or a value inside a text, has at least that is a secret because of its key.
const SHORTEST_UNCERTAIN: usize = 6;

/// How many characters the name of a user has at least that is a token.
const SHORTEST_USER_TOKEN: usize = 20;

/// The longest private key, in bytes.
const LONGEST_PRIVATE_KEY: usize = 16_000;

/// The longest value of a key inside a text, in bytes.
const LONGEST_VALUE: usize = 8 << 10;

/// The longest value in which other keys are looked for, in bytes.
const LONGEST_AROUND: usize = 256;

/// The longest beginning of a command in which its program is looked for, in bytes.
const LONGEST_COMMAND: usize = 1_000;

/// The longest key inside a text, in bytes.
const LONGEST_KEY: usize = 100;

/// Whether a value is to be taken for a secret because of its key.
pub fn is_credential(key: &str, value: &Json) -> bool {
    names_credential(key) && as_text(value).chars().count() >= SHORTEST_SECRET
}

/// The last words of names of credentials.
const CREDENTIALS: &[&str] = &[
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "credential",
    "credentials",
    "authorization",
    "apikey",
    "cookie",
    "jwt",
    "otp",
];

/// Words beside `key` that make it a credential.
const SECRET_KEYS: &[&str] = &[
    "api",
    "private",
    "secret",
    "access",
    "signing",
    "encryption",
    "ssh",
    "master",
    "deploy",
    "account",
];

/// Last words of variables such as `DB_PASS`. In lower case they are words of many things: `first_pass`.
const SHORT: &[&str] = &["pass", "pat", "pin"];

/// What stands before a short word in lower case, where it names a credential: `db_pass`, `githubPat`.
const OF_WHAT: &[&str] = &[
    "admin", "bot", "database", "db", "email", "ftp", "gh", "git", "github", "gitlab", "imap",
    "login", "mail", "my", "mysql", "pg", "postgres", "redis", "root", "smtp", "ssh", "sudo",
    "user", "vpn",
];

/// More last words of them in configs, where a value is given to a program.
const IN_CONFIGS: &[&str] = &["key", "auth", "signature"];

/// Words that say that a name is about credentials, and names none: `token_count`, `SECRET_FILE`, `public_key`.
const ABOUT: &[&str] = &[
    "count", "max", "min", "limit", "size", "length", "type", "file", "path", "dir", "url", "uri",
    "name", "expiry", "ttl", "timeout", "public", "primary", "foreign", "sort", "cache", "policy",
    "rules", "hint", "strength",
];

/// What other languages call a password, with `_` between words.
const PASSWORDS: &[&str] = &[
    "contrasena",
    "contraseña",
    "hasło",
    "kennwort",
    "mot_de_passe",
    "parola",
    "passwort",
    "senha",
    "wachtwoord",
    "пароль",
    "パスワード",
    "密码",
    "비밀번호",
];

/// Whether a key names a credential: `password`, `API_KEY`, `accessToken`, `Authorization`.
pub fn names_credential(key: &str) -> bool {
    let key = unnumbered(key);
    let last = key.rsplit('_').next().unwrap_or_default();
    let is_short = |short: &&str| {
        short.eq_ignore_ascii_case(last) && last.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    if SHORT.iter().any(is_short) && (last.len() < key.len() || last == "PIN") {
        return true;
    }
    // Every word that counts has one of these letters; many keys have none, and cost no more than this.
    let may_be_one = |byte: u8| {
        matches!(
            byte.to_ascii_lowercase(),
            b'c' | b'h' | b'k' | b'p' | b'w' | b'z'
        )
    };
    (key.bytes().any(may_be_one) || !key.is_ascii()) && names_by_words(&words(key))
}

/// The same of a flag, a variable, a header or a parameter of a URL in a config.
pub fn names_credential_in_config(name: &str) -> bool {
    let words = words(unnumbered(name));
    let parts: Vec<&str> = parts(&words).collect();
    let is_named = |part: &&str| CREDENTIALS.contains(part) || part.ends_with("password");
    let is_last = parts.last().is_some_and(|last| {
        let mut ends = CREDENTIALS
            .iter()
            .chain(&["auth", "accesskey", "privatekey"]);
        IN_CONFIGS.contains(last) || SHORT.contains(last) || ends.any(|end| last.ends_with(end))
    });
    names_by_words(&words)
        || (!parts.iter().any(|part| ABOUT.contains(part))
            && (is_last || parts.iter().any(is_named)))
}

/// A key without the number of the second one of a form, or of two sites: `password2`, `API_KEY_2`.
fn unnumbered(key: &str) -> &str {
    let unnumbered = key.trim_end_matches(|letter: char| letter.is_ascii_digit());
    match unnumbered.len() {
        length if length == key.len() => key,
        _ => unnumbered.trim_end_matches(['_', '-', ' ', '.']),
    }
}

/// A key in lower case with `_` between its words: `accessToken` and `access-token` are `access_token`.
fn words(key: &str) -> String {
    let mut words = String::with_capacity(key.len() + 4);
    let mut after_lower = false;
    for character in key.chars().take(200) {
        if character.is_uppercase() && after_lower {
            words.push('_');
        }
        after_lower = character.is_lowercase() || character.is_ascii_digit();
        let is_blank = matches!(character, '-' | ' ' | '.');
        words.extend(if is_blank { '_' } else { character }.to_lowercase());
    }
    words
}

fn parts(words: &str) -> impl Iterator<Item = &str> {
    words.split('_').filter(|part| !part.is_empty())
}

fn names_by_words(words: &str) -> bool {
    let parts: Vec<&str> = parts(words).collect();
    let Some((last, before)) = parts.split_last() else {
        return false;
    };
    let is = |word: &str| parts.contains(&word);
    // `nextPageToken`: where a list goes on.
    let is_cursor = *last == "token"
        && before
            .last()
            .is_some_and(|word| matches!(*word, "page" | "next" | "continuation" | "sync"));
    !is_cursor
        && (CREDENTIALS.contains(last)
            || last.trim_end_matches('s').ends_with("password")
            || PASSWORDS.iter().any(|word| words.ends_with(word))
            || (*last == "confirmation" && is("password"))
            || (*last == "key" && SECRET_KEYS.iter().any(|word| is(word)))
            || (*last == "value" && is("secret"))
            || (SHORT.contains(last) && before.last().is_some_and(|word| OF_WHAT.contains(word))))
}

/// Whether what stands below a key is a secret because of it.
fn holds_credential(key: &str, value: &Json) -> bool {
    names_credential(key)
        && !is_schema(value)
        && !is_folder(key, value.as_str().unwrap_or_default())
}

/// The members that say what an object is about, and those that may be its value.
const LABELS: &[&str] = &["name", "key", "element", "label", "selector"];
const VALUES: &[&str] = &["value", "text"];

/// What a member is called: its key, or what a member beside it names as a credential, such as `API_TOKEN` for the value
/// of `{"name": "API_TOKEN", "value": "x"}`, or the `target` beside it. A text of several lines is no credential. Beside a
/// user, `pass` is short for a password.
pub fn key_of<'m>(members: &'m serde_json::Map<String, Json>, key: &'m str) -> &'m str {
    let text = members.get(key).and_then(Json::as_str);
    let is_value = VALUES.contains(&key) && text.is_none_or(|text| !text.contains('\n'));
    let labelled = |members: &'m serde_json::Map<String, Json>| {
        let label = |label: &&str| credential_in(members.get(*label)?.as_str()?);
        LABELS.iter().find_map(label)
    };
    let target = || labelled(members.get("target")?.as_object()?);
    let has_user = || {
        ["user", "username"]
            .iter()
            .any(|user| members.contains_key(*user))
    };
    match is_value {
        true => labelled(members).or_else(target).unwrap_or(key),
        false if key == "pass" && has_user() => "password",
        false => key,
    }
}

/// The word of a label or a selector that names a credential: `Password` of `Password textbox`, `password` of
/// `#login-password-field`.
pub fn credential_in(label: &str) -> Option<&str> {
    const ANYWHERE: &[&str] = &["password", "passwd", "passphrase", "passcode"];
    let label = &label[..label.floor_char_boundary(LONGEST_KEY)];
    let is_part = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let begins = |at: &usize| label[*at..].starts_with(is_part) && !label[..*at].ends_with(is_part);
    let is_known = |part: &&str| {
        ANYWHERE
            .iter()
            .any(|known| known.eq_ignore_ascii_case(part))
    };
    let mut starts = label.char_indices().map(|(at, _)| at).filter(begins);
    starts.find_map(|start| {
        let rest = &label[start..];
        let end = |from: usize| {
            let length = rest[from..].find(|letter| !is_part(letter));
            length.map_or(rest.len(), |length| from + length)
        };
        let word = &rest[..end(0)];
        // `API key`, as pages write it.
        let has_next = rest[word.len()..].starts_with(' ');
        let names = [word, &rest[..end(word.len() + usize::from(has_next))]];
        let named = names.into_iter().find(|name| names_credential(name));
        let parts = || word.split(['_', '-']);
        let is_about = || parts().any(|part| ABOUT.contains(&&*part.to_ascii_lowercase()));
        named.or_else(|| parts().find(is_known).filter(|_| !is_about()))
    })
}

/// Adds texts and numbers below keys that name credentials, at any depth, and what is one in a text.
pub fn find_credentials(json: &Json, found: &mut Vec<String>) {
    match json {
        Json::String(text) => find_credentials_in_text(text, found),
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                match is_of_option(items, at) {
                    true => secret_texts(item, found),
                    false => find_credentials(item, found),
                }
            }
        }
        Json::Object(members) => {
            for (key, value) in members {
                match holds_credential(key_of(members, key), value) {
                    true => {
                        let n_known = found.len();
                        secret_texts(value, found);
                        for text in found.split_off(n_known) {
                            // Of `Bearer abc`, the token is a secret by itself.
                            find_credentials_in_text(&text, found);
                            let stands_for_value = is_keyword(&text) || is_variable(&text);
                            found.extend((!stands_for_value).then_some(text));
                        }
                    }
                    false => find_credentials(value, found),
                }
            }
        }
        _ => {}
    }
}

/// Whether an item is the value of an option that names a credential: `["--password", "x"]`.
fn is_of_option(items: &[Json], at: usize) -> bool {
    let option = at.checked_sub(1).and_then(|before| items[before].as_str());
    option
        .and_then(|option| option.strip_prefix("--"))
        .is_some_and(names_credential)
}

/// Whether a value names a variable, as configs and scenarios do: `Bearer ${TOKEN}`, `{{token}}`.
fn is_variable(text: &str) -> bool {
    let value = without_scheme(text);
    (value.starts_with("${") && value.ends_with('}') && !value[2..].contains("${"))
        || (value.starts_with("{{") && value.ends_with("}}"))
}

/// Adds the texts and numbers of a secret value, at any depth, that are long enough to be hidden.
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
    number.to_string().len() >= SHORTEST_UNCERTAIN
}

/// Whether a value says what is meant by a key, as a schema of a tool does, in place of a value for it.
fn is_schema(value: &Json) -> bool {
    value.is_object() && (value["type"].is_string() || value["$ref"].is_string())
}

/// Whether it is the working directory, which `printenv` and others call `PWD`.
pub fn is_folder(key: &str, value: &str) -> bool {
    key.eq_ignore_ascii_case("pwd") && value.starts_with('/')
}

/// Puts [`REDACTED`] in the place of what [`find_credentials`] finds, and only there.
pub fn mask_credentials(json: &mut Json) {
    match json {
        Json::Array(items) => {
            for at in 0..items.len() {
                match is_of_option(items, at) {
                    true => mask(&mut items[at]),
                    false => mask_credentials(&mut items[at]),
                }
            }
        }
        Json::Object(members) => {
            let is_secret = members
                .iter()
                .map(|(key, value)| holds_credential(key_of(members, key), value));
            let is_secret: Vec<bool> = is_secret.collect();
            for (value, is_secret) in members.values_mut().zip(is_secret) {
                match is_secret {
                    true => mask(value),
                    false => mask_credentials(value),
                }
            }
        }
        Json::String(text) => {
            if let Cow::Owned(masked) = without_credentials(text) {
                *text = masked;
            }
        }
        _ => {}
    }
}

/// Puts [`REDACTED`] in the place of what [`secret_texts`] finds.
fn mask(secret: &mut Json) {
    match secret {
        Json::String(text) if text.chars().count() >= SHORTEST_SECRET && !is_keyword(text) => {
            *secret = REDACTED.into();
        }
        Json::Number(number) if is_long(number) => *secret = REDACTED.into(),
        Json::Array(items) => items.iter_mut().for_each(mask),
        Json::Object(members) => members.values_mut().for_each(mask),
        _ => {}
    }
}

/// `text` without the credentials in it.
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    find_credentials_in_text(text, &mut found);
    match found.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(Redactor::new(found).text(text).into_owned()),
    }
}

/// What stands before a credential in a text, or around it. A `\b` of Unicode would make it slow in any text with `…`.
static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        // OpenAI, Anthropic, OpenRouter and others; xAI, Groq, Perplexity, Replicate, Tavily, Hugging Face.
        r"sk-[A-Za-z0-9_-]{20,}",
        r"(?:xai-|gsk_|pplx-|r8_|tvly-|hf_)[A-Za-z0-9_-]{30,}",
        // GitHub, GitLab, npm, PyPI, Docker, DigitalOcean.
        r"gh[pousr]_[A-Za-z0-9]{30,}",
        r"github_pat_[A-Za-z0-9_]{30,}",
        r"glpat-[A-Za-z0-9_-]{20,}",
        r"npm_[A-Za-z0-9]{36}",
        r"pypi-(?:AgE[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]{50,})",
        r"dckr_pat_[A-Za-z0-9_-]{20,}",
        r"do[opr]_v1_[a-f0-9]{20,}",
        // AWS, Google, Slack, Stripe, SendGrid, Shopify, Linear, Vault.
        r"(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)",
        r"AIza[A-Za-z0-9_-]{35}",
        r"GOCSPX-[A-Za-z0-9_-]{20,}",
        r"ya29\.[A-Za-z0-9_-]{20,}",
        r"(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}",
        r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
        r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        r"shp(?:at|ca|pa|ss)_[a-f0-9]{32}",
        r"lin_api_[A-Za-z0-9]{32,}",
        r"hvs\.[A-Za-z0-9_-]{24,}",
        // Figma, Notion, NVIDIA, Square, Telegram, Twilio.
        r"(?:figd_|ntn_|nvapi-|sq0csp-)[A-Za-z0-9_-]{30,}",
        r"[0-9]{8,10}:[A-Za-z0-9_-]{35}(?-u:\b)",
        r"SK[a-f0-9]{32}(?-u:\b)",
        // Tokens in three parts.
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ];
    let names = [CREDENTIALS, PASSWORDS].concat().join("|");
    let all = [
        &format!(r"(?-u:\b)(?:{})", shapes.join("|")),
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----",
        r"://[^\s/<>\x22'`\\]+@",
        r"(?i:(?-u:\b)(?:bearer|basic) +)",
        &format!(
            r"(?:(?i:{}|password|key|value|confirmation|[_.-](?:pass|pat|pin))|Pass|Pat|PIN|Pin)[_-]?[0-9]{{0,3}}[\\\x22'`*\]]*(?:>|[ \t]*[:=](?:[ \t]*[|>]?-?[ \t]*\r?\n[ \t]+|[ \t*]*))",
            names.replace('_', "[_ -]?"),
        ),
    ];
    Regex::new(&all.join("|")).expect("the marks are fixed")
});

/// What stands before a credential in a command or in a list of variables.
static COMMANDS: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        r"--(?<option>(?:[a-z0-9]+-)*(?:password|passwd|passphrase|secret|token|key|apikey))(?:[ \t]+|\\*['\x22],\s*)",
        r"(?:^|[\s'\x22])(?:-u|--user|--proxy-user)[ \t=]*['\x22]?[^\s:'\x22]{1,64}:",
        r"(?:^|[\s'\x22])-p[ \t]*",
        r"(?:set|setx|setenv)(?:[ \t]+-[A-Za-z]+)*[ \t]+(?<variable>[A-Za-z_][A-Za-z0-9_]{1,99})[ \t]+",
        r"(?:name|key)[\x22']?:[ \t]*[\x22']?(?<name>[A-Za-z0-9_.-]{1,100})[\x22']?[ \t]*(?:\r?\n|(?:\\r)?\\n)[ \t]*[\x22']?value[\x22']?:[ \t]*",
    ];
    Regex::new(&shapes.join("|")).expect("the commands are fixed")
});

/// Whether there may be a credential in JSON that was serialized to `text`.
pub fn may_hold_credential(text: &str) -> bool {
    MARKS.is_match(text)
        || LABEL.is_match(text)
        || COMMANDS.is_match(text)
        || text.contains("\\u")
        || (!text.is_ascii() && text.contains(is_invisible))
        || text.contains(HTML_QUOTE)
        || text.contains("\"pass\"")
}

/// A quote in HTML, as in JSON that a page shows.
const HTML_QUOTE: &str = "&quot;";

/// Adds the values of options such as `--password`, `curl -u user:`, `mysql -p` and `sshpass -p`, and of variables behind
/// `set` and in lists such as `- name: API_TOKEN`, `value: x`.
fn find_in_commands(text: &str, found: &mut Vec<String>) {
    for mark in COMMANDS.captures_iter(text) {
        let (range, written) = (mark.get_match().range(), mark.get_match().as_str());
        let from = text.ceil_char_boundary(range.start.saturating_sub(LONGEST_COMMAND));
        let before = &text[from..range.start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let runs = |programs: &[&str]| {
            let mut words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
            words.any(|word| programs.contains(&word))
        };
        let named = mark.name("variable").or_else(|| mark.name("option"));
        let (is_one, may_be_word) = match (named, mark.name("name")) {
            (Some(named), _) => (names_credential(named.as_str()), false),
            (_, Some(name)) => (names_credential(name.as_str()), true),
            _ if written.ends_with(':') => (runs(&["curl", "wget", "http"]), true),
            _ if line.trim_end().ends_with("sshpass") => (true, true),
            _ => {
                let is_value = written.ends_with('p');
                (
                    is_value && runs(&["mysql", "mysqldump", "mysqladmin", "mariadb"]),
                    true,
                )
            }
        };
        if !is_one {
            continue;
        }
        let rest = &text[range.end..];
        let rest = &rest[..rest.floor_char_boundary(LONGEST_VALUE)];
        let bare = rest.trim_start_matches('\\');
        let value = match bare.chars().next() {
            Some(quote @ ('"' | '\'')) => Some(quoted(&bare[1..], quote, bare.len() < rest.len()))
                .filter(|value| is_secret(value, true)),
            _ => secret_value(rest, false, may_be_word),
        };
        found.extend(value.map(str::to_owned));
    }
}

/// The beginning of a member that names what another one is, as far as that may be a credential.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    let named = r#""(?:name|key|element|label|selector)" ?: ?"[^"]*(?:PIN|_PAT|(?i:pass|pwd|secret|token|cred|auth|key|cookie))"#;
    Regex::new(named).expect("it is fixed")
});

/// Adds what is a credential in a text: keys of known providers, passwords in addresses, tokens behind `Bearer`, and values in
/// JSON, `KEY=value` and `key: value`.
pub fn find_credentials_in_text(text: &str, found: &mut Vec<String>) {
    if let Cow::Owned(shown) = visible(text) {
        return find_credentials_in_text(&shown, found);
    }
    let mut json_from = 0;
    let mut has_pair = false;
    let mut covered = 0;
    for mark in MARKS.find_iter(text) {
        // A text of nothing but keys would be read as often as it has keys.
        if mark.start() < covered {
            continue;
        }
        let rest = &text[mark.end()..];
        let rest = &rest[..rest.floor_char_boundary(LONGEST_VALUE)];
        let n_known = found.len();
        if let Some(authority) = mark.as_str().strip_prefix("://") {
            find_in_authority(&authority[..authority.len() - 1], found);
        } else if mark.as_str().starts_with("-----") {
            found.extend(private_key(&text[mark.start()..]));
        } else if mark.as_str().contains([':', '=', '>']) {
            has_pair = true;
            find_in_pair(text, mark.range(), rest, found);
        } else if mark.as_str().ends_with(' ') {
            let is_basic_scheme = mark.as_str()[..5].eq_ignore_ascii_case("basic");
            let value = match is_basic_scheme {
                true => Some(unquoted(rest, false)).filter(|value| is_basic(value)),
                false => secret_value(rest, false, false),
            };
            found.extend(value.map(str::to_owned));
        } else if !mark.as_str().starts_with("sk-")
            || mark.as_str().bytes().any(|byte| byte.is_ascii_digit())
        {
            // A slug may begin with `sk-`.
            found.push(mark.as_str().to_owned());
        }
        let is_long = |value: &&String| value.len() > LONGEST_AROUND;
        if let Some(long) = found[n_known..].iter().find(is_long) {
            covered = mark.end() + long.len();
        }
    }
    find_in_commands(text, found);
    if text.contains(HTML_QUOTE) {
        find_credentials_in_text(&text.replace(HTML_QUOTE, "\""), found);
    }
    // Only below a key is there a credential that was not found as a text.
    while has_pair && let Some(at) = text[json_from..].find(['{', '[']) {
        json_from += at;
        let mut inner = serde_json::Deserializer::from_str(&text[json_from..]).into_iter::<Json>();
        match inner.next() {
            Some(Ok(json)) => {
                find_credentials(&json, found);
                json_from += inner.byte_offset();
            }
            _ => json_from += 1,
        }
    }
}

/// Adds the password of `user:password`, and a user that is a token.
fn find_in_authority(authority: &str, found: &mut Vec<String>) {
    let (user, password) = authority.split_once(':').unwrap_or((authority, ""));
    if password.chars().count() >= SHORTEST_SECRET && !is_reference(password) {
        found.push(password.to_owned());
    }
    if user.len() >= SHORTEST_USER_TOKEN && is_secret(user, false) {
        found.push(user.to_owned());
    }
}

/// A private key, up to its end.
fn private_key(text: &str) -> Option<String> {
    let text = &text[..text.floor_char_boundary(LONGEST_PRIVATE_KEY)];
    let end = text.find("-----END ")? + "-----END ".len();
    let end = end + text[end..].find("-----")? + "-----".len();
    Some(text[..end].to_owned())
}

/// Adds the value behind a mark that is a key with its sign, and `rest` what follows it.
fn find_in_pair(text: &str, mark: Range<usize>, rest: &str, found: &mut Vec<String>) {
    let word = &text[mark.clone()];
    let is_in_key = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    let word_length = word.find(|letter| !is_in_key(letter));
    let word_end = mark.start + word_length.unwrap_or(word.len());
    let is_assigned = word.ends_with('=');
    let before = text[..mark.start].bytes().rev().take(LONGEST_KEY);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let start = mark.start - before.take_while(is_part).count();
    let key = &text[start..word_end];
    // `"password" => "x"`
    let is_arrow = is_assigned && rest.starts_with('>') && word.contains(['"', '\'']);
    let rest = if is_arrow {
        rest[1..].trim_start()
    } else {
        rest
    };
    // `==`, `=>` and `::` are operators.
    let is_folder = key.eq_ignore_ascii_case("pwd")
        && rest.trim_start_matches(['"', '\'', '\\']).starts_with('/');
    if !names_credential(key) || is_folder || rest.starts_with(['=', '>', ':']) {
        return;
    }
    let bare = rest.trim_start_matches('\\');
    if let Some(quote) = bare.chars().next().filter(|first| "\"'`".contains(*first)) {
        let value = quoted(&bare[1..], quote, rest.len() > bare.len());
        let decoded = serde_json::from_str(&format!("\"{value}\""));
        let value = decoded.unwrap_or_else(|_| value.to_owned());
        let value = without_scheme(&value);
        found.extend(is_secret(value, true).then(|| value.to_owned()));
        return;
    }
    // `<password>x</password>`, and YAML with the value on a line of its own.
    let end = match word.ends_with('>') {
        true if text[..start].ends_with('<') => Some("</"),
        true => return,
        false => word.contains('\n').then_some("\n"),
    };
    if let Some(end) = end {
        let value = rest.split(end).next().unwrap_or_default();
        let has_end = rest.len() > value.len() || end == "\n";
        let value = value.trim_end();
        let may_be_word = word.contains(['>', '|']);
        let is_one = has_end && !value.contains([':', '\n']) && is_secret(value, may_be_word);
        found.extend(is_one.then(|| value.to_owned()));
        return;
    }
    let is_query = text[..start].ends_with(['?', '&']) || text[..start].ends_with("amp;");
    let is_cookie = !is_query && key.to_ascii_lowercase().ends_with("cookie");
    let line = rest.lines().next().unwrap_or_default();
    if is_cookie && line.contains('=') {
        for pair in line.split(';') {
            let value = pair
                .split_once('=')
                .map(|(_, value)| unquoted(value, false));
            found.extend(
                value
                    .filter(|value| is_secret(value, false))
                    .map(str::to_owned),
            );
        }
        return;
    }
    let value = secret_value(without_scheme(rest), is_query, is_assigned);
    found.extend(value.map(str::to_owned));
}

/// The secret at the beginning of a text. Of a long one the beginning tells, so that a text of many keys is no work.
fn secret_value(rest: &str, is_query: bool, may_be_word: bool) -> Option<&str> {
    let near = &rest[..rest.floor_char_boundary(LONGEST_AROUND)];
    is_secret(unquoted(near, is_query), may_be_word).then(|| unquoted(rest, is_query))
}

/// A value up to its closing quote or the end of the line.
fn quoted(rest: &str, quote: char, is_escaped: bool) -> &str {
    let mut is_behind_backslash = false;
    let end = rest.find(|character| {
        let is_end =
            character == '\n' || (character == quote && (is_escaped || !is_behind_backslash));
        is_behind_backslash = character == '\\' && !is_behind_backslash;
        is_end
    });
    let value = &rest[..end.unwrap_or(rest.len())];
    match is_escaped {
        true => value.trim_end_matches('\\'),
        false => value,
    }
}

/// A value up to white space or a mark that no value holds, without the punctuation of the sentence around it.
fn unquoted(rest: &str, is_query: bool) -> &str {
    let ends = |(at, character): &(usize, char)| match character {
        // One inside a word is a part of it.
        '"' | '\'' | '`' => {
            let next = rest[at + 1..].chars().next();
            !next.is_some_and(char::is_alphanumeric)
        }
        '<' | '>' => true,
        '&' | '#' => is_query,
        _ => character.is_whitespace(),
    };
    let end = rest.char_indices().find(ends).map(|(at, _)| at);
    let value = &rest[..end.unwrap_or(rest.len())];
    let escapes = ["\\n", "\\r", "\\t"].iter();
    let end = escapes.filter_map(|escape| value.find(escape)).min();
    value[..end.unwrap_or(value.len())]
        .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\\', '*', '|'])
}

fn without_scheme(value: &str) -> &str {
    let Some((scheme, rest)) = value.split_once(' ') else {
        return value;
    };
    let schemes = ["bearer", "basic", "token", "apikey"].iter();
    match schemes
        .into_iter()
        .any(|known| known.eq_ignore_ascii_case(scheme))
    {
        true => rest.trim_start(),
        false => value,
    }
}

/// Whether the value of a key inside a text is a secret, not a word, a number, a type, or a reference. Only behind `KEY=` and
/// in quotes is a word a value.
fn is_secret(value: &str, may_be_word: bool) -> bool {
    let is_word = |value: &str| {
        !looks_random(value)
            && !value.chars().any(char::is_numeric)
            && !value.bytes().any(|byte| b"+=~@#%^".contains(&byte))
    };
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".,:-/_".contains(&byte));
    value.chars().count() >= SHORTEST_UNCERTAIN
        && !is_reference(value)
        && (digits || !is_number)
        && (may_be_word && !value.contains(char::is_whitespace) || !is_word(value))
}

/// What stands for a value, such as `$TOKEN`, `<token>`, `get_token()`, `config.token`, or `api_key=api_key`.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
            \W* | [xX*.]{3,} | .*\*{3}.* | .{0,5}…+ | \[redacted\]
            | \$[A-Za-z_({].* | <.* | \{\{.* | \{\w*\} | %[A-Z_]+% | %\(?\w*\)?s | [(\[{].*
            | [&*!]?[A-Za-z_][\w:.]*(?:\(.*|\[[^\]]*(?:\](?:[.\[(].*)?)?|<.*|\.[A-Za-z_]+)
        )$",
    )
    .expect("it is fixed")
});

fn is_reference(value: &str) -> bool {
    let is_dotted_token = value.contains('.')
        && !value.contains(['(', '[', '<'])
        && value.chars().any(char::is_numeric);
    let is_name = value.contains('_') || value.contains(char::is_uppercase);
    is_keyword(value)
        || (is_name && names_credential(value))
        || (REFERENCE.is_match(value) && !is_dotted_token)
}

/// Whether a text is a word that stands for a value, as in examples and schemas: to take it out would take it out of every
/// message.
fn is_keyword(value: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "string",
        "number",
        "integer",
        "boolean",
        "object",
        "array",
        "null",
        "none",
        "undefined",
        "true",
        "false",
        "required",
        "optional",
        "password",
        "secret",
    ];
    value == REDACTED
        || KEYWORDS
            .iter()
            .any(|keyword| keyword.eq_ignore_ascii_case(value))
}

/// Whether a word behind `Basic` is Base64 and not the subject of a sentence.
fn is_basic(value: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    value.len() >= 8
        && value.len().is_multiple_of(4)
        && value.bytes().all(is_base64)
        && (looks_random(value)
            || value
                .bytes()
                .any(|byte| byte.is_ascii_digit() || byte == b'='))
}

/// Whether letters are mixed as in no word or name: of both cases there is a third at least.
fn looks_random(value: &str) -> bool {
    let count = |is: fn(&u8) -> bool| 3 * value.bytes().filter(is).count() >= value.len();
    value.len() >= 12 && count(u8::is_ascii_uppercase) && count(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        find_credentials_in_text(text, &mut found);
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn a_text_of_keys_is_read_once() {
        let keys = "token=".repeat(20_000) + "abcDEF123";
        assert!(found(&keys).iter().map(String::len).sum::<usize>() < 4 * keys.len());
        assert_eq!(found("token=x1y2z3;password=a1b2c3d4").len(), 2);
    }

    #[test]
    fn marks_inside_a_credential_are_a_part_of_it() {
        for (text, secret) in [
            ("DB_PASSWORD='aB3[dE5]fG7'", "aB3[dE5]fG7"),
            ("password: aB3[dE5]fG7", "aB3[dE5]fG7"),
            ("Authorization: Bearer aB3[dE5]fG7", "aB3[dE5]fG7"),
            ("password: aB3'dE5fG7", "aB3'dE5fG7"),
            ("postgres://ann:Str0ng#Pass99@h/db", "Str0ng#Pass99"),
            ("'password: aB3dE5fG7', 'b'", "aB3dE5fG7"),
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
        for text in [
            "token = config[\"api\"]",
            "token = tokens[i].value",
            "secret: Vec[u8]",
            "see https://h/?mail=ann:long@h and https://h#a",
        ] {
            assert!(found(text).is_empty(), "{text} {:?}", found(text));
        }
    }

    #[test]
    fn values_of_options_and_of_lists_of_variables_are_credentials() {
        for (text, secret) in [
            ("deploy --password zQ7kVb9Xw2 now", "zQ7kVb9Xw2"),
            ("deploy --db-password 'open sesame 1'", "open sesame 1"),
            ("call --api-key zQ7kVb9Xw2", "zQ7kVb9Xw2"),
            ("curl -s -u ann:zQ7kVb9Xw2 https://h/x", "zQ7kVb9Xw2"),
            ("curl -u 'ann:correcthorse' https://h/x", "correcthorse"),
            ("curl --user=ann:zQ7kVb9Xw2 https://h/x", "zQ7kVb9Xw2"),
            ("mysql -u root -pzQ7kVb9Xw2 shop", "zQ7kVb9Xw2"),
            ("cd db && mysqldump -pletmein42 shop", "letmein42"),
            ("sshpass -p zQ7kVb9Xw2 ssh h", "zQ7kVb9Xw2"),
            ("set SECRET_KEY 'zQ7kVb9Xw2'", "zQ7kVb9Xw2"),
            ("set -gx API_TOKEN zQ7kVb9Xw2", "zQ7kVb9Xw2"),
            (
                "env:\n- name: API_TOKEN\n  value: zQ7kVb9Xw2\n",
                "zQ7kVb9Xw2",
            ),
            ("- name: \"DB_PASSWORD\"\r\n  value: \"letmein\"", "letmein"),
            ("<user>ann</user><password>letmein</password>", "letmein"),
            ("db:\n  password:\n    zQ7kVb9Xw2\n", "zQ7kVb9Xw2"),
            ("token: |-\n  zQ7kVb9Xw2", "zQ7kVb9Xw2"),
            ("secret: |\n  correcthorse\nuser: ann", "correcthorse"),
            ("'password' => 'letmein',", "letmein"),
            ("smtp.pass=zQ7kVb9Xw2", "zQ7kVb9Xw2"),
            ("pass\u{200b}word: zQ7kVb9Xw2", "zQ7kVb9Xw2"),
            ("https://h/?cookie=zQ7kVb9Xw2&x=1", "zQ7kVb9Xw2"),
            (
                "<td>{&quot;password&quot;: &quot;letmein&quot;}</td>",
                "letmein",
            ),
        ] {
            assert_eq!(found(text), [secret], "{text}");
            let json = json!({"text": text}).to_string();
            assert!(may_hold_credential(&json), "{text}");
        }
        for text in [
            "the option --password requires a value, --token comes from the config",
            "docker run -u 1000:1000 -p 8080:8080 image1234",
            "mkdir -p build2024 && cp -p a1b2c3d4 x",
            "mysql -P 3306 -p shop2024",
            "set token expiry, and reset TOKEN afterwards",
            "- name: REGION\n  value: eu-west-12345\n",
            "deploy --password $PASSWORD1 --token {{token}}",
            "curl -u $USER1:$PASSWORD1 https://h",
            "<token> stands for yours1, and if token>limit2 fails",
            "The password:\n  somewhere in the house",
            "secret:\n  name1: db-2024-x\n",
            "lists.map(token => tokens2.has(token))",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn keys_in_colours_and_of_every_language_are_seen() {
        for text in [
            "\u{1b}[36mAPI_TOKEN\u{1b}[0m=zQ7kVb9Xw2",
            "\u{1b}[34;1m\"password\"\u{1b}[0m\u{1b}[39m:\u{1b}[0m \u{1b}[32m\"zQ7kVb9Xw2\"\u{1b}[0m",
            "DB_PASSWORD=zQ7kVb9Xw2\u{1b}[K",
        ] {
            assert_eq!(found(text), ["zQ7kVb9Xw2"], "{text}");
            assert!(
                may_hold_credential(&json!({ "text": text }).to_string()),
                "{text}"
            );
        }
        for key in CREDENTIALS.iter().chain(PASSWORDS) {
            let json = json!({ *key: "zQ7kVb9Xw2" });
            assert!(may_hold_credential(&json.to_string()), "{json}");
            assert_eq!(found(&json.to_string()), ["zQ7kVb9Xw2"], "{json}");
        }
    }

    #[test]
    fn the_value_of_a_field_that_its_target_names_is_a_credential() {
        let field = json!({"uid": "1_2", "value": "4711", "target": {"role": "textbox", "name": "Password"}});
        let pin = json!({"element": "PIN", "text": "4711"});
        let other =
            json!({"value": "4711", "target": {"role": "textbox", "name": "Pin to the top"}});
        for (json, expected) in [(field, vec!["4711"]), (pin, vec!["4711"]), (other, vec![])] {
            let mut found = Vec::new();
            find_credentials(&json, &mut found);
            assert_eq!(found, expected, "{json}");
            assert!(
                expected.is_empty() || may_hold_credential(&json.to_string()),
                "{json}"
            );
        }
    }

    #[test]
    fn letters_that_are_mixed_as_in_no_word_are_a_credential() {
        for (text, secret) in [
            ("Authorization: Basic QWxhZGRpbjpvcGVu", "QWxhZGRpbjpvcGVu"),
            (
                "curl -H 'Authorization: Bearer febwNEJIEbTXevfYua' https://h",
                "febwNEJIEbTXevfYua",
            ),
            ("password: febwNEJIEbTXevfYuc", "febwNEJIEbTXevfYuc"),
            (
                "git clone https://febwNEJIEbTXevfYua8Q@github.com/x.git",
                "febwNEJIEbTXevfYua8Q",
            ),
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
        for text in [
            "Authorization: Bearer AuthenticationScheme",
            "password: getPasswordFromStore",
            "Basic HTTPAuthentication is old",
            "https://octocat@github.com/x.git",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_variable_is_no_credential() {
        let mut found = Vec::new();
        let text =
            "put it into the config: \"headers\": { \"Authorization\": \"Bearer ${TOKEN}\" }";
        find_credentials_in_text(text, &mut found);
        let json = serde_json::json!({ "token": "{{api_token}}", "password": "${DB_PASSWORD}" });
        find_credentials(&json, &mut found);
        assert_eq!(found, Vec::<String>::new());
        find_credentials(
            &serde_json::json!({ "password": "${x}hunter2" }),
            &mut found,
        );
        assert_eq!(found, ["${x}hunter2"]);
    }

    #[test]
    fn all_below_a_key_that_names_a_credential_is_found_and_masked() {
        let json = json!({
            "api_key": {"a": "deep-1", "list": ["deep-2", 12345678, "abc", 99]},
            "password": ["deep-3"],
            "token": 4096,
            "other": {"secret": {"type": "string", "description": "of a schema"}, "token": "string"},
            "passwords": ["deep-4"],
            "smtp": {"user": "ann", "pass": "deep-5"},
            "tests": {"pass": "all five"},
        });
        let mut found = Vec::new();
        find_credentials(&json, &mut found);
        assert_eq!(
            found,
            ["deep-1", "deep-2", "12345678", "deep-3", "deep-4", "deep-5"]
        );
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
    fn an_argument_behind_an_option_that_names_a_credential_is_one() {
        let call =
            json!({ "args": ["login", "--db-password", "Winter2026", "--token-file", "a.txt"] });
        let as_text = json!({ "text": format!("ran {call}") }).to_string();
        let lines = serde_json::to_string_pretty(&call).expect("JSON");
        for json in [call, Json::from(as_text), Json::from(lines)] {
            let mut found = Vec::new();
            find_credentials(&json, &mut found);
            assert_eq!(found, ["Winter2026"], "{json}");
            let mut masked = json.clone();
            mask_credentials(&mut masked);
            assert!(!masked.to_string().contains("Winter2026"), "{masked}");
            assert!(masked.to_string().contains("a.txt"), "{masked}");
            assert!(may_hold_credential(&json.to_string()), "{json}");
        }
    }

    #[test]
    fn a_value_beside_the_name_of_a_credential_is_one() {
        for (members, key) in [
            (
                json!({"element": "Password textbox", "text": "Winter2026"}),
                "Password",
            ),
            (
                json!({"element": "Your API key (required)", "text": "Winter2026"}),
                "API key",
            ),
            (
                json!({"name": "Password", "type": "textbox", "value": "Winter2026"}),
                "Password",
            ),
            (
                json!({"selector": "input[type=password]", "text": "Winter2026"}),
                "password",
            ),
            (
                json!({"selector": "#login-password-field", "value": "Winter2026"}),
                "password",
            ),
            (
                json!({"name": "API_TOKEN", "value": "Winter2026"}),
                "API_TOKEN",
            ),
            (
                json!({"key": "DB_PASSWORD", "value": "Winter2026"}),
                "DB_PASSWORD",
            ),
        ] {
            let mut found = Vec::new();
            let form = json!({ "fields": [members] });
            find_credentials(&form, &mut found);
            assert_eq!(found, ["Winter2026"], "{members}");
            let mut masked = form.clone();
            mask_credentials(&mut masked);
            assert!(!masked.to_string().contains("Winter2026"), "{masked}");
            assert!(may_hold_credential(&form.to_string()), "{form}");
            let members = members.as_object().expect("an object");
            let value = if members.contains_key("text") {
                "text"
            } else {
                "value"
            };
            assert_eq!(key_of(members, value), key);
        }
        for members in [
            json!({"name": "token_count", "value": 5}),
            json!({"name": "token_count", "value": "Winter2026"}),
            json!({"name": "password_policy", "value": "at least 12 letters"}),
            json!({"selector": "#password-hint", "text": "at least 12 letters"}),
            json!({"key": "theme", "value": "Winter2026"}),
            json!({"key": "primary_key", "value": "Winter2026"}),
            json!({"name": "nextPageToken", "value": "Winter2026"}),
            json!({"element": "Search box", "text": "Winter2026"}),
            json!({"type": "text", "text": "Winter2026"}),
            json!({"name": "password.md", "text": "# Rules\nEach has Winter2026"}),
            json!({"name": "password", "value": "{{PASSWORD}}"}),
            json!({"name": "password", "type": "string", "hint": "Winter2026"}),
        ] {
            let mut found = Vec::new();
            find_credentials(&members, &mut found);
            assert_eq!(found, [""; 0], "{members}");
        }
    }

    #[test]
    fn short_words_name_credentials_behind_what_they_are_of() {
        for key in ["db_pass", "dbPass", "gh_pat", "user_pin"] {
            assert!(names_credential(key), "{key}");
        }
        for key in [
            "first_pass",
            "boarding_pass",
            "pat",
            "pin",
            "map_pin",
            "compass",
        ] {
            assert!(!names_credential(key), "{key}");
        }
    }

    #[test]
    fn keys_of_forms_and_configs_are_known_in_texts() {
        for key in [
            "password_confirmation",
            "passwordConfirmation",
            "ssh_key",
            "db_pass",
            "dbPass",
            "user_pin",
        ] {
            assert!(names_credential(key), "{key}");
            for text in [format!("{key}=ab12cd34"), format!("a: 1, {key}: ab12cd34")] {
                assert_eq!(found(&text), ["ab12cd34"], "{text}");
                assert!(may_hold_credential(&text), "{text}");
            }
        }
        for text in [
            "confirmation=ab12cd34",
            "first_pass=ab12cd34",
            "map_pin: ab12cd34",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    /// Of both uses: in texts, and in configs.
    #[test]
    fn keys_that_name_credentials_are_known() {
        for key in [
            "password",
            "DB_PASSWORD",
            "PGPASSWORD",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "accessToken",
            "Authorization",
            "client_secret",
            "private_key",
            "DB_PASS",
            "GH_PAT",
            "DB_PASS_2",
            "SIGNING_KEY",
            "signingKey",
            "PASSPHRASE",
            "CARD_PIN",
            "PIN",
        ] {
            assert!(names_credential(key), "{key}");
            assert!(names_credential_in_config(key), "{key} in a config");
            if key.contains('_') || key == "PIN" {
                assert_eq!(found(&format!("{key}=ab12cd34")), ["ab12cd34"], "{key}");
            }
        }
        // A config gives values to programs.
        for key in [
            "key",
            "OPENAI_KEY",
            "db-pass",
            "X-Auth",
            "signature",
            "authtoken",
            "GOOGLE_CREDENTIALS_JSON",
        ] {
            assert!(names_credential_in_config(key), "{key}");
        }
        for key in [
            "tokens",
            "max_tokens",
            "token_count",
            "MAX_TOKENS",
            "author",
            "keyboard",
            "KEYBOARD",
            "secretary",
            "primary_key",
            "pat_count",
            "passenger",
            "compass",
            "COMPASS",
            "monkey",
            "MONKEY",
            "PASS",
            "pin_to_top",
            "SPIN",
            "COMPAT",
            "NODE_ENV",
            "nextPageToken",
            "page_token",
            "ContinuationToken",
        ] {
            assert!(!names_credential(key), "{key}");
            let is_config = !matches!(key, "PASS") && !key.to_lowercase().ends_with("token");
            assert!(
                !(is_config && names_credential_in_config(key)),
                "{key} in a config"
            );
            assert_eq!(found(&format!("{key}: ab12cd34")), [""; 0], "{key}");
        }
        for key in ["key", "first_pass", "STORAGE_KEY"] {
            assert!(!names_credential(key), "{key}");
        }
    }

    #[test]
    fn json_inside_a_text_is_taken_apart() {
        let text = r#"Exit code: 0
Output: [1] {"user": "ann", "token": "abcd", "more": [{"password": {"secret": "hunter2"}}]} and {"pin": 1"#;
        assert_eq!(found(text), ["abcd", "hunter2"]);
        let masked = without_credentials(text);
        assert!(
            masked.contains(r#"{"user": "ann", "token": "[redacted]", "#),
            "{masked}"
        );
        let cut = r#"{"token": "abc\u0026de1", "data": "abc…"#;
        assert_eq!(found(cut), ["abc&de1"]);
        assert_eq!(
            without_credentials(cut),
            r#"{"token": "[redacted]", "data": "abc…"#
        );
        assert_eq!(
            found(r#"a line: "{\"api_key\": \"abcd1234\"}""#),
            ["abcd1234"]
        );
    }

    #[test]
    fn keys_of_providers_are_found_by_their_looks() {
        let many = |part: &str, n: usize| part.repeat(n);
        for key in [
            format!("sk-{}", many("a1B2-", 6)),
            format!("ghp_{}", many("x9", 18)),
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("hf_{}", many("aB", 17)),
            format!("xoxb-{}", many("12-ab", 5)),
            format!("pypi-AgEIcHlwaS5vcmc{}", many("x9", 4)),
            format!("dop_v1_{}", many("a1", 12)),
            format!("sk_test_{}", many("x9", 12)),
            "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/=\n-----END RSA PRIVATE KEY-----".to_owned(),
        ] {
            assert_eq!(found(&format!("export A=({key}; curl")), [key]);
        }
        let words = "a task-list sk-short risk-assessment-of-the-whole-project sk-learn-is-the-name-of-a-package ghp_1 AKIA \
            eyJhbGciOi.x";
        assert_eq!(found(words), [] as [String; 0]);
    }

    const PLACES: &[&str] = &[
        "DB_PASSWORD=HERE",
        "export API_KEY='HERE'",
        "password: HERE",
        "  \"client_secret\": \"HERE\",",
        "Authorization: Bearer HERE",
        "curl -H \"authorization: token HERE\" http://h/",
        "https://ann:HERE@h.example/x",
        "GET /x?token=HERE&page=2",
        "http://h/?a=b&amp;api_key=HERE&amp;c=d",
        "**Token:** HERE",
        "secret = \"HERE\"",
        "{\"out\": \"API_TOKEN=HERE\\nX=1\"}",
        "Set-Cookie: session=HERE; Path=/",
        "Wall time: 0.1\nOutput:\n{\"pwd\":\"HERE\"}\n",
        "AWS_SECRET_ACCESS_KEY: HERE.",
        "a.accessToken=HERE, and",
    ];

    const HARMLESS: &[&str] = &[
        "PWD=/home/ann/project\nX=1",
        "{\"pwd\": \"/home/ann/project\"}",
        "token: 15",
        "max_tokens=100",
        "password: string",
        "tokens used: 1234",
        "the key: value pairs",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        "password: required, 8-64 characters",
        "token = next_token();",
        "if token == expected1 {",
        "Token::Word1",
        "token => 12345678",
        "API_KEY=$API_KEY ./run",
        "api_key=os.environ[\"X1\"]",
        "token: ${{ secrets.TOKEN_1 }}",
        "password=<password1>",
        "connect(token=self.token, password=db_password)",
        "let token: Option<String1> = None;",
        "secret: \"{{SECRET_1}}\"",
        "authorization: required",
        "Basic JavaScript and basic authentication",
        "the bearer token is missing",
        "mailto:ann@example.com http://h:80/x",
        "https://h/a:b?x=c@d",
        "primary_key: users_id1",
        "cookie: accept all",
        "expires: 2026-01-01 secret: 2026-01-01",
        "postgres://user:password@host/db",
        "token: ***",
        "TOKEN=xxxxxxxx",
        "{\"name\": \"token\", \"type\": \"string\"}",
        "token: str",
        "password: String,",
        "[redacted]",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_credential_is_found_in_each_place_and_ordinary_text_around_it_stays(
            value in "[a-z][A-Za-z0-9_-]{6,30}[0-9][A-Za-z]",
            place in select(PLACES),
            before in select(HARMLESS),
            after in select(HARMLESS),
        ) {
            let text = format!("{before}\n{}\n{after}", place.replace("HERE", &value));
            let expected = format!("{before}\n{}\n{after}", place.replace("HERE", REDACTED));
            prop_assert_eq!(without_credentials(&text), expected);
        }

        #[test]
        fn prose_holds_no_credential(words in r"([a-zA-Z]{1,12}[ ,.:]{1,2}){0,30}") {
            prop_assert_eq!(without_credentials(&words), words.as_str());
        }
    }

    #[test]
    fn ordinary_text_holds_no_credential() {
        for text in HARMLESS {
            assert_eq!(found(text), [] as [String; 0], "{text}");
        }
    }
}

//! What servers and configs say, made fit to be shown: no control characters, no secrets, bounded.

use std::borrow::Cow;
use std::time::Duration;

use cuecard_source::value::{
    Redactor, find_credentials_in_text, is_folder, names_credential_in_config, turns_direction,
};

/// The shortest value that counts as a secret; anything shorter would mask ordinary words.
const SHORTEST_SECRET: usize = 8;
/// The longest name of a header or variable inside an argument.
const LONGEST_NAME: usize = 64;

/// Secrets of one server, to be replaced by their names in every text that leaves the session.
#[derive(Default)]
pub(super) struct Mask {
    /// (what finds the secret, its length, the name shown instead), longest secret first, so that no part of one stays.
    secrets: Vec<(Redactor, usize, String)>,
}

impl Mask {
    /// Adds `secret`, shown as `[name]`. Values under eight characters are left alone.
    pub(super) fn add(&mut self, secret: &str, name: &str) {
        if secret.chars().count() < SHORTEST_SECRET {
            return;
        }
        let at = self
            .secrets
            .partition_point(|(_, length, _)| *length >= secret.len());
        let redactor = Redactor::new([secret.to_owned()]);
        self.secrets
            .insert(at, (redactor, secret.len(), format!("[{name}]")));
    }

    /// `text` with every secret replaced by its name.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (redactor, _, name) in &self.secrets {
            if let Cow::Owned(masked) = redactor.text_with(&text, name) {
                text = masked;
            }
        }
        text
    }
}

/// The secrets in the value of a variable: all of it if its name says so, else the credentials that stand in it.
pub(super) fn in_variable(name: &str, value: &str) -> Vec<String> {
    if names_credential_in_config(name) && !is_folder(name, value) {
        return vec![value.to_owned()];
    }
    let mut found = Vec::new();
    find_credentials_in_text(value, &mut found);
    found
}

/// The secret in an argument that follows `previous`: `--token=abc`, `--token abc`, `--env=TOKEN=abc`, `TOKEN=abc` or
/// `Authorization: Bearer abc`.
pub(super) fn in_argument<'t>(previous: Option<&str>, arg: &'t str) -> Option<&'t str> {
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

/// A command line to be read, not run: quoted where needed, with values of secret flags left out.
pub(super) fn command_line(command: &str, args: &[String]) -> String {
    let mut line = quoted(command);
    let mut previous = None;
    for arg in args {
        line.push(' ');
        let secret = in_argument(previous, arg).filter(|secret| !secret.is_empty());
        match secret.map(|secret| arg.find(secret).unwrap_or_default()) {
            Some(0) => line.push_str("***"),
            Some(start) => line.push_str(&format!("{}***", quoted(&arg[..start]))),
            None => line.push_str(&quoted(arg)),
        }
        previous = Some(arg.as_str());
    }
    cut(&clean(&line), 500)
}

/// A URL to be read: without its password and without the values of secret parameters.
pub(super) fn url(text: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(text) else {
        return cut(&clean(text.split('?').next().unwrap_or_default()), 500);
    };
    if url.password().is_some() {
        let _ = url.set_password(Some("***"));
    }
    if url
        .query_pairs()
        .any(|(name, _)| names_credential_in_config(&name))
    {
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(name, value)| {
                let value = if names_credential_in_config(&name) {
                    "***".into()
                } else {
                    value
                };
                (name.into_owned(), value.into_owned())
            })
            .collect();
        url.query_pairs_mut().clear().extend_pairs(pairs);
    }
    cut(&clean(url.as_str()), 500)
}

/// `text` without control characters, terminal escape sequences and text-direction overrides; tabs and
/// line ends become spaces. What a server prints ends up on a terminal.
pub(super) fn clean(text: &str) -> String {
    let text = strip_ansi_escapes::strip_str(text.replace(['\t', '\n'], " "));
    let is_shown = |letter: &char| !letter.is_control() && !turns_direction(*letter);
    text.chars().filter(is_shown).collect()
}

/// At most `limit` characters of `text`, the last of them `…` if something was left out.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
            short.push('…');
            short
        }
    }
}

/// A duration for a sentence: `12 ms`, `0.3 s`, `60 s`.
pub(super) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 0.1 {
        format!("{} ms", duration.as_millis())
    } else if seconds < 10.0 {
        format!("{seconds:.1} s").replace(".0 s", " s")
    } else {
        format!("{seconds:.0} s")
    }
}

/// A size for a sentence: whole MiB where it is that, else bytes.
pub(super) fn size(bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{bytes} bytes")
    }
}

/// A word as shells read it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./~-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// What an address makes of a secret in one of its places is still found.
    fn is_found(secret: &str, place: &str) -> Result<(), TestCaseError> {
        let redactor = Redactor::new([secret.to_owned()]);
        if let Ok(address) = reqwest::Url::parse(&place.replace("HERE", secret)) {
            prop_assert!(redactor.finds(address.as_str()), "{address}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_secret_in_an_address_is_found(
            // What ends a part of an address would tear the secret.
            secret in r"[a-z][ -~&&[^?#/%\\]]{6,20}[a-z]",
            place in select(vec![
                "http://h/HERE", "http://h/x/HERE/y?z", "http://h/?q=HERE", "http://h/#HERE",
                "http://user:HERE@h/",
            ]),
        ) {
            is_found(&secret, place)?;
        }
    }

    #[test]
    fn a_mask_knows_a_secret_of_several_lines() {
        let mut mask = Mask::default();
        mask.add("AAAAbbbb\nCCCCdddd", "KEY");
        assert_eq!(mask.apply("AAAAbbbb CCCCdddd"), "[KEY]");
        assert_eq!(mask.apply("a line: CCCCdddd"), "a line: [KEY]");
    }

    #[test]
    fn a_mask_replaces_the_longest_secret_first() {
        let mut mask = Mask::default();
        mask.add("abcdefgh", "SHORT");
        mask.add("abcdefghijkl", "LONG");
        mask.add("abc", "WORD");
        assert_eq!(
            mask.apply("x abcdefghijkl y abcdefgh z abc"),
            "x [LONG] y [SHORT] z abc"
        );
    }

    #[test]
    fn a_command_line_hides_what_flags_call_secret() {
        let args: Vec<String> = [
            "-y",
            "server",
            "--api-key=sk-123",
            "--token",
            "t0k",
            "--password",
            "--verbose",
            "a b",
            "--author=Ann",
        ]
        .map(String::from)
        .to_vec();
        assert_eq!(
            command_line("npx", &args),
            "npx -y server --api-key=*** --token *** --password --verbose 'a b' --author=Ann"
        );
    }

    #[test]
    fn a_url_hides_password_and_secret_parameters() {
        assert_eq!(
            url("https://ann:hunter22@example.com/mcp?page=2&api_key=sk-1"),
            "https://ann:***@example.com/mcp?page=2&api_key=***"
        );
        assert_eq!(
            url("http://127.0.0.1:8000/mcp"),
            "http://127.0.0.1:8000/mcp"
        );
        assert_eq!(url("no url?token=x"), "no url");
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(
            clean(
                "a\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}b\u{1b}]8;;x\u{1b}\\c\rd\u{202e}e\tf"
            ),
            "ared bcde f"
        );
        assert_eq!(clean("\u{1b}[31"), "");
    }

    #[test]
    fn durations_and_sizes_read_well() {
        let of = |ms| seconds(Duration::from_millis(ms));
        assert_eq!(
            [of(12), of(300), of(1000), of(60_000)],
            ["12 ms", "0.3 s", "1 s", "60 s"]
        );
        assert_eq!(size(64 * 1024 * 1024), "64 MiB");
        assert_eq!(size(1000), "1000 bytes");
        assert_eq!(cut("héllo", 4), "hél…");
        assert_eq!(cut("héllo", 5), "héllo");
    }
}

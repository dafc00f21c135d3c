//! Secrets by what stands around them: options of programs, pipes, headers, cookies, fields, and files of settings.

use std::sync::LazyLock;

use cuecard_source::value::{
    SHORTEST_SECRET, as_text, names_credential, names_credential_in_config,
};
use regex::Regex;
use serde_json::{Map, Value};

use super::fields::{secret_of, typed_values};
use super::passwords::is_state;

/// A word of a command. What the shell makes is none.
const WORD: &str = r#"(?:"([^"$`\\]+)"|'([^']+)'|([^\s"'$`\\;|&<>()-][^\s"'$`\\;|&<>()]*))"#;

/// The forms of texts with a secret, `WORD` or a group. A group `name` or `flag` must name one, a group `field` must be what a page
/// calls a field for one, and a `word` must be none that says how a secret is.
const FORMS: &[&str] = &[
    r"(?:^|\s)--?(?P<flag>[A-Za-z][A-Za-z0-9-]+)(?:=|\s+)WORD",
    r"\bset\s+(?P<name>[^\s=]+)[\s=]+WORD",
    r#"(?:-H\s*|--header[=\s]+)["'](?P<name>[A-Za-z0-9-]+):\s*(?:(?:Bearer|[Tt]oken|Basic)\s+)?([^\s"'$]+)["']"#,
    r#"\b(?i:pass|password)-command[=\s]+["'](?:echo|printf)\s+([^\s"'$]+)["']"#,
    // In code: `set_password('X')`, `getByLabel('Password').fill('X')`, `fill('#password', 'X')`.
    r#"(?P<name>\bset_?[A-Za-z_]+)\(\s*["'`]([^"'`]+)["'`]\s*\)"#,
    r#"\(\s*["'`](?P<field>[^"'`]{1,100})["'`][^()]*\)\s*\.(?:fill|type|pressSequentially|send_keys|setValue)\(\s*["'`]([^"'`]+)["'`]"#,
    r#"\.(?:fill|type)\(\s*["'`](?P<field>[^"'`]{1,100})["'`]\s*,\s*["'`]([^"'`]+)["'`]"#,
    // In forms, in `.netrc` and in XML.
    r#"(?:^|[\s"'?&])(?:pass|pin|otp)=([^&\s"'$<>]+)"#,
    r#"\blogin\s+\S+\s+password\s+([^\s"'$<>]+)"#,
    r"<(?P<name>[A-Za-z_.-]+)>([^<>\s$]+)</",
    r"\bpass:WORD",
    r"\b(?:lftp\s[^\n|;&]*-u\s*[^\s,]+,|xfreerdp\s[^\n|;&]*/p:|(?:nmcli|mysqladmin)\s[^\n|;&]*\spassword\s+)WORD",
    r"\bsqlplus\s+(?:-\S+\s+)*[^\s/]+/([^\s@$]+)@",
    // In SQL, in the options of Kubernetes, and in `.pgpass`.
    r"\b(?i:password|identified\s+by)\s+'([^'$]+)'",
    r"\bsecret\b[^\n|;&]*\s--from-literal[=\s]+[^\s=]+=WORD",
    r"(?m)^[^\s:]+:\d+:[^\s:]+:[^\s:]+:([^\s$]+)$",
    r"\s-U\s*[^\s%]+%WORD",
    r"\b(?:(?:cargo|vault)\s+login|ansible-vault\s+encrypt_string)\s+WORD",
    r"\bhtpasswd\s+-\w*b\w*(?:\s+[^\s-]\S*){1,2}\s+WORD",
    // A line of a file of settings. Those with digits are found wherever they stand.
    r#"(?m)^[\s-]*["']?(?P<name>[\w.-]+)["']?\s*[:=]\s*["']?(?P<word>[a-z][a-z-]{7,})["']?,?\s*$"#,
    r#"(?:\bcurl\b[^\n|;]*?\s-b\s*|--cookie[=\s]+|(?i:cookie):\s*)["']?(?P<cookies>[^"'\n$]+)"#,
];

/// Programs with their options for secrets that no other program calls so.
const PROGRAMS: &[(&str, &str)] = &[
    (
        r"(?:docker|podman|nerdctl|helm\s+registry|oc|az)\s+login|twine\s+\w+|mongo\w*|sshpass",
        "-p",
    ),
    (r"(?:redis|valkey)-cli", "-a"),
    (r"zip|unzip|sqlcmd|ipmitool", "-P"),
    (r"7z\w*|user(?:add|mod)", "-p"),
    (r"openssl\s+\w+", "-k|-K"),
    (r"ssh-keygen", "-N"),
    (r"keytool|jarsigner", "-(?:dest|src|new)?(?:store|key)pass"),
    (
        r"(?:az\s+keyvault\s+secret\s+set|aws\s+ssm\s+put-parameter)",
        "--value",
    ),
    (r"ldap\w+", "-w"),
    (r"snmp\w+", "-A|-X"),
    (r"(?:gh|glab)\s+(?:secret|variable)\s+set", "-b|--body"),
];

/// What programs get to read: the arguments of what prints into a pipe, a here-string, the lines behind the head of a
/// here-document up to its `end`.
const INPUTS: &[&str] = &[
    r#"\b(?:echo|printf|yes)\s(?P<input>(?:[^|;&\n"']|"[^"]*"|'[^']*')*)\|(?P<reader>[^|\n;&][^\n;&]*)"#,
    r#"(?m)(?P<reader>[^\n;&]*)<<<\s*(?P<input>"[^"]*"|'[^']*'|[^\s"';|&<>()]+)"#,
    r#"(?m)^(?P<reader>(?:[^\n]*[^\n<])?<<-?\s*["']?(?P<end>\w+)[^\n]*)\n"#,
];

/// Programs and options that read a secret there.
const READERS: &str = r"(?x) \b\w*passwd\b | \bsudo\s(?:.*\s)?(?:-[A-Za-z]*S|--stdin)\b | \b(?:cryptsetup|kinit)\b
    | \s(?:login|secrets?\s+(?:add|create|import|put|set))\b | \bpass\s+insert\b | \bsu\s.*-c\b | --with-token\b
    | -[\w-]*(?:pass|pin|secret|token)[\w-]*(?:stdin|[\s=:]+(?:fd:)?(?:0|-|stdin|/dev/stdin))(?:\s|$)";

/// Keys of parameters that are other words elsewhere.
const KEYS: &[&str] = &["pass", "pin", "otp", "pw"];

/// Parameters that say which field the `text` or `value` beside them is for.
const LABELS: &[&str] = &["field", "input", "locator", "placeholder"];

/// Calls `visit` with the secrets in arguments.
pub(crate) fn each_secret(members: &Map<String, Value>, visit: &mut impl FnMut(String)) {
    let mut take = |value: &Value| {
        let text = as_text(value);
        if text.chars().count() >= SHORTEST_SECRET && !text.contains(char::is_whitespace) {
            visit(text.into_owned());
        }
    };
    let label = |key: &&str| members.get(*key)?.as_str().and_then(secret_of);
    if LABELS.iter().any(|key| label(key).is_some()) {
        typed_values(members).for_each(|text| take(&text.into()));
    }
    for (key, member) in members {
        let is_key = KEYS.contains(&key.to_lowercase().as_str());
        if is_key && (member.is_string() || member.is_number()) {
            take(member);
        }
        if key.eq_ignore_ascii_case("session")
            && let Some(text) = member.as_str().filter(|text| is_opaque(text))
        {
            take(&text.into());
        }
    }
    for member in members.values() {
        in_value(member, visit);
    }
}

fn in_value(value: &Value, visit: &mut impl FnMut(String)) {
    match value {
        Value::String(text) => in_text(text, visit),
        Value::Array(items) => items.iter().for_each(|item| in_value(item, visit)),
        Value::Object(members) => each_secret(members, visit),
        _ => {}
    }
}

/// Whether a text is no word and no name that people give.
fn is_opaque(text: &str) -> bool {
    const SHORTEST: usize = 16;
    let has = |test: fn(char) -> bool| text.contains(test);
    text.len() >= SHORTEST
        && has(|letter| letter.is_ascii_digit())
        && has(char::is_alphabetic)
        && !has(|letter| letter.is_whitespace() || "/:@".contains(letter))
}

fn in_text(text: &str, visit: &mut impl FnMut(String)) {
    static REGEXES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let programs = PROGRAMS.iter().map(|(programs, options)| {
            format!(r"(?:^|[\s;&|(])(?:{programs})\s(?:[^\n|;&]*?\s)?(?:{options})(?:=|\s*)WORD")
        });
        let forms = FORMS.iter().map(|form| (*form).to_owned());
        let forms = forms.chain(programs).map(|form| form.replace("WORD", WORD));
        let regexes = forms.map(|form| Regex::new(&form).expect("it is fixed"));
        regexes.collect()
    });
    in_inputs(text, visit);
    let mut add = |secret: &str| {
        if secret.chars().count() >= SHORTEST_SECRET {
            visit(secret.to_owned());
        }
    };
    for found in REGEXES.iter().flat_map(|regex| regex.captures_iter(text)) {
        let [name, flag, field] = ["name", "flag", "field"].map(|group| found.name(group));
        let mut groups = found.iter().skip(1).flatten();
        let secret = groups.find(|group| ![name, flag, field].contains(&Some(*group)));
        let is_plain = |word: &str| names_credential(word) || is_state(word);
        if name.is_some_and(|name| !names_credential(name.as_str()))
            || flag.is_some_and(|flag| !names_credential_in_config(flag.as_str()))
            || field.is_some_and(|field| secret_of(field.as_str()).is_none())
            || found
                .name("word")
                .is_some_and(|word| is_plain(word.as_str()))
        {
            continue;
        }
        match found.name("cookies") {
            Some(all) => cookies(all.as_str()).for_each(&mut add),
            None => secret.iter().for_each(|secret| add(secret.as_str())),
        }
    }
}

/// Calls `visit` with what programs read that read secrets. A line may name the user before it: `ann:secret`.
fn in_inputs(text: &str, visit: &mut impl FnMut(String)) {
    static REGEXES: LazyLock<(Regex, Vec<Regex>)> = LazyLock::new(|| {
        let regex = |form: &&str| Regex::new(form).expect("it is fixed");
        (regex(&READERS), INPUTS.iter().map(regex).collect())
    });
    static PIECES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""([^"]*)"|'([^']*)'|([^\s"']+)"#).expect("it is fixed"));
    let (readers, inputs) = &*REGEXES;
    for found in inputs.iter().flat_map(|regex| regex.captures_iter(text)) {
        let reader = &found["reader"];
        if !readers.is_match(reader) {
            continue;
        }
        let mut add = |line: &str| {
            let names_user = reader.contains("chpasswd");
            let user = line.split_once(':').filter(|_| names_user);
            let secret = user.map_or(line, |(_, secret)| secret).trim();
            let is_text = secret.contains(['$', '`', '%']) || secret.starts_with('-');
            if secret.chars().count() >= SHORTEST_SECRET && !is_text {
                visit(secret.to_owned());
            }
        };
        if let Some(end) = found.name("end") {
            let lines = text[found.get_match().end()..].lines().map(str::trim);
            let lines = lines.take_while(|line| *line != end.as_str());
            let lines = lines.filter(|line| !line.contains(char::is_whitespace));
            lines.for_each(&mut add);
        }
        let input = found.name("input").map_or("", |input| input.as_str());
        for piece in PIECES.captures_iter(input) {
            let piece = piece.iter().skip(1).flatten().next();
            let lines = piece
                .into_iter()
                .flat_map(|piece| piece.as_str().split("\\n"));
            lines.flat_map(str::lines).for_each(&mut add);
        }
    }
}

/// The values of cookies by which servers know users.
pub(super) fn cookies(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        let name = name.to_lowercase();
        let names = ["sess", "sid", "auth", "token"];
        let is_secret = names.iter().any(|part| name.contains(part));
        is_secret.then(|| value.trim())
    })
}

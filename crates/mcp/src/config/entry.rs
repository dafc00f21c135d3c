//! One server's entry: the struct is the format, and here is what it can't say.

use std::collections::HashSet;
use std::time::Duration;

use cuecard_source::Span;
use cuecard_source::decode::{Decoded, Spanned, entries};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::json::{Member, Node};
use cuecard_source::reader::{Format, Reader};
use cuecard_source::value::push_pointer;
use reqwest::header::HeaderName;
use serde::Deserialize;

use super::ConfigFile;
use super::findings::{Findings, Located, cut, into_one};
use crate::Protocol;

/// Above this many seconds a timeout was probably meant in milliseconds.
const LONG_TIMEOUT: f64 = 3600.0;
/// The longest timeout, about thirty years in seconds: clocks can still add it.
const LONGEST_TIMEOUT: f64 = 1e9;
/// The name of a project's config that other programs read too.
const SHARED: &str = ".mcp.json";
/// What its arguments are is not repeated, since they may be secrets.
const SPLIT: &str = r#"write "command": "npx", "args": ["…"]"#;
/// The longest name of a server, in bytes.
const LONGEST_NAME: usize = 256;

/// The keys of an address, which mean the same.
const ADDRESS_KEYS: [&str; 4] = ["url", "endpoint", "serverUrl", "httpUrl"];

/// Keys of other clients that don't change what a server is.
const SILENT_KEYS: &str =
    "alwaysAllow autoApprove description dev gallery icon sandbox sandboxEnabled trust";

/// What other clients call a key of ours.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("cmd", "command"),
    ("environment", "env"),
    ("workingDirectory", "cwd"),
    ("uri", "url"),
    ("transport", "type"),
    ("transportType", "type"),
    ("allowedTools", "tools"),
    ("includeTools", "tools"),
    ("oauth", "auth"),
];

const FORMAT: Format = Format {
    missing: codes::CONFIG_INVALID,
    wrong_type: codes::CONFIG_INVALID,
    unknown: codes::CONFIG_INVALID,
    value: codes::CONFIG_INVALID,
    path: codes::CONFIG_INVALID,
    check: codes::CONFIG_INVALID,
    null_is_absent: true,
};

type Text = Spanned<String>;

/// An entry as it is written.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Written {
    command: Option<Text>,
    args: Vec<Text>,
    #[serde(deserialize_with = "entries")]
    env: Vec<(Text, Text)>,
    env_file: Option<Text>,
    cwd: Option<Text>,
    url: Option<Text>,
    endpoint: Option<Text>,
    server_url: Option<Text>,
    http_url: Option<Text>,
    #[serde(rename = "type")]
    kind: Option<Spanned<Kind>>,
    #[serde(deserialize_with = "entries")]
    headers: Vec<(Text, Text)>,
    auth: Option<Spanned<WrittenAuth>>,
    timeout: Option<Spanned<f64>>,
    tools: Option<Vec<String>>,
    protocol: Protocol,
    #[serde(rename = "disabled")]
    _disabled: bool,
    #[serde(rename = "enabled")]
    _enabled: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenAuth {
    #[serde(rename = "type")]
    kind: String,
    client_id: Option<Text>,
    client_secret: Option<Text>,
    private_key: Option<Text>,
    scope: Option<Text>,
    token_url: Option<Text>,
}

/// How a server is reached, as its `type` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Stdio,
    #[serde(alias = "streamable-http", alias = "streamableHttp")]
    Http,
    Sse,
    #[serde(rename = "ws", alias = "websocket")]
    WebSocket,
    Unix,
}

/// An entry of the right shape. Its texts are as written.
pub(super) struct Entry {
    pub name: String,
    pub pointer: String,
    pub reach: Reach,
    pub timeout: Option<Duration>,
    /// The only tools that may be called.
    pub tools: Option<Vec<String>>,
    pub protocol: Protocol,
}

pub(super) enum Reach {
    /// Not at all: `"disabled": true` stands at the span.
    Disabled(Span),
    Command {
        command: Field,
        args: Vec<Field>,
        env: Vec<(String, Field)>,
        /// A file of further variables.
        env_file: Option<Field>,
        cwd: Option<Field>,
    },
    Url {
        url: Field,
        headers: Vec<(String, Field)>,
        auth: Option<Auth>,
        /// Without one the URL's scheme decides.
        kind: Option<Kind>,
    },
}

/// A text of an entry.
pub(super) struct Field {
    pub text: String,
    pub span: Span,
    pub pointer: String,
    /// Its path inside the entry, for messages: `env.TOKEN`.
    pub place: String,
}

/// Client credentials, as written.
pub(super) struct Auth {
    pub client_id: Field,
    pub proof: Proof,
    pub scope: Option<Field>,
    pub token_url: Option<Field>,
}

/// What proves the client's identity, as written.
pub(super) enum Proof {
    /// `client_secret`.
    Secret(Field),
    /// `private_key`.
    Key(Field),
}

/// Reads the entry of the server called like the key of `member`, which stands in `list`.
///
/// # Errors
/// What is wrong with its shape, all in one. It concerns nobody but those who use the server, so it is
/// none of the findings, and neither are the warnings that came with it.
pub(super) fn read(
    findings: &mut Findings<'_>,
    file: &ConfigFile,
    list: &Located<'_>,
    member: &Member,
) -> Result<Entry, Box<Diagnostic>> {
    let mut reader = EntryReader {
        findings: &*findings,
        here: list.child(&member.key, &member.value),
        name: &member.key,
        name_span: member.key_span,
        found: Vec::new(),
        is_shared: file.path.file_name().is_some_and(|name| name == SHARED),
    };
    let name_problem = reader.bad_name();
    let entry = reader.entry();
    let found = reader.found;
    // Nobody can use such a server, so this would never be told if it waited for that.
    name_problem
        .into_iter()
        .for_each(|found| findings.add(found));
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    match entry.filter(|_| !found.iter().any(is_error)) {
        Some(entry) => {
            found.into_iter().for_each(|found| findings.add(found));
            Ok(entry)
        }
        None => {
            let problem = into_one(found, in_words);
            Err(Box::new(problem.unwrap_or_else(|| {
                Diagnostic::error(codes::CONFIG_INVALID, "the entry can't be read")
            })))
        }
    }
}

/// A further problem of an entry, as a note.
fn in_words(problem: Diagnostic) -> String {
    match problem.label.or(problem.help) {
        Some(more) if problem.message.ends_with('?') => format!("{} {more}", problem.message),
        Some(more) => format!("{}: {more}", problem.message),
        None => problem.message,
    }
}

struct EntryReader<'f, 's, 'n> {
    findings: &'f Findings<'s>,
    here: Located<'n>,
    name: &'n str,
    name_span: Span,
    found: Vec<Diagnostic>,
    /// Whether the file is a `.mcp.json`, which Claude Code reads too.
    is_shared: bool,
}

impl EntryReader<'_, '_, '_> {
    /// The entry; `None` if there is an error.
    fn entry(&mut self) -> Option<Entry> {
        let entry = |reach| Entry {
            name: self.name.to_owned(),
            pointer: self.here.pointer.clone(),
            reach,
            timeout: None,
            tools: None,
            protocol: Protocol::Auto,
        };
        // Nothing else is looked at then: a server is often disabled because its entry isn't finished.
        let is_off = |(key, off): (&str, bool)| {
            let value = self.here.node.get(key)?;
            (value.as_bool() == Some(off)).then_some(value.span)
        };
        if let Some(span) = [("disabled", true), ("enabled", false)]
            .into_iter()
            .find_map(is_off)
        {
            return Some(entry(Reach::Disabled(span)));
        }
        let entry = entry(Reach::Disabled(self.name_span));
        let mut written = self.written()?;
        let tools = written.tools.take();
        // Other clients write `["*"]` for what we mean by no list.
        let tools = tools.filter(|tools| !tools.iter().any(|tool| tool == "*"));
        let (protocol, timeout) = (written.protocol, self.timeout(written.timeout));
        let reach = self.reach(written)?;
        Some(Entry {
            reach,
            timeout,
            tools,
            protocol,
            ..entry
        })
    }

    /// What the struct reads. Its findings name the server.
    fn written(&mut self) -> Option<Written> {
        let whose = self.whose();
        let Decoded {
            value, diagnostics, ..
        } = Reader::new(self.findings.source, &FORMAT).decoded::<Written>(
            self.here.node,
            &self.here.pointer,
            &whose,
        );
        for mut found in diagnostics {
            let pointer = found.pointer.clone().unwrap_or_default();
            let key = pointer.rsplit('/').next().unwrap_or_default();
            let is_unknown = found.severity == Severity::Warning;
            if is_unknown && SILENT_KEYS.split(' ').any(|silent| silent == key) {
                continue;
            }
            if is_unknown {
                let meant = OTHER_WORDS.iter().find(|(word, _)| *word == key);
                let label = meant.map(|(_, ours)| format!("did you mean `{ours}`?"));
                found.label = label.or(found.label);
                found.help = match found.label {
                    Some(_) => None,
                    None => Some("remove it, unless another client needs it".to_owned()),
                };
            }
            if !found.message.contains(&whose) {
                let path = pointer.strip_prefix(&self.here.pointer).unwrap_or_default();
                let around = path.trim_start_matches('/').rsplit_once('/');
                // An item is called by its list, and an unknown key by what holds it.
                let around = around.filter(|(_, key)| !is_unknown && key.parse::<usize>().is_err());
                let around = around.map_or_else(String::new, |(around, _)| format!(", `{around}`"));
                found.message = format!("{whose}{around}: {}", found.message);
            }
            let is_line = pointer.ends_with("/command")
                && self
                    .here
                    .node
                    .get("command")
                    .is_some_and(|it| it.as_array().is_some());
            if is_line {
                found.help = Some(SPLIT.to_owned());
            }
            self.found.push(found);
        }
        value
    }

    fn bad_name(&self) -> Option<Diagnostic> {
        let problem = match self.name {
            "" => "the name of a server is empty".to_owned(),
            name if name.len() > LONGEST_NAME => {
                format!("the name of a server has at most {LONGEST_NAME} bytes")
            }
            name if name.contains(char::is_control) => {
                "the name of a server contains a control character".to_owned()
            }
            _ => return None,
        };
        let error = self
            .findings
            .error(self.name_span, &self.here.pointer, problem);
        Some(error.with_help("scenarios use the name: NAME in `mcp__NAME__tool`"))
    }

    fn reach(&mut self, written: Written) -> Option<Reach> {
        let Written { command, kind, .. } = &written;
        let addresses = [
            &written.url,
            &written.endpoint,
            &written.server_url,
            &written.http_url,
        ];
        let addresses = ADDRESS_KEYS.into_iter().zip(addresses);
        let addresses = addresses.filter_map(|(key, url)| Some((key, url.clone()?)));
        let mut addresses = addresses.collect::<Vec<_>>().into_iter();
        let (address, second) = (addresses.next(), addresses.next());
        if let (Some((first, _)), Some((key, url))) = (&address, second) {
            let what = format!("has both `{first}` and `{key}`, which mean the same");
            self.error(url.span, key, &what, "remove one of them");
        }
        let is_started = kind.as_ref().map(|kind| kind.value == Kind::Stdio);
        match (command, address) {
            (Some(_), Some((key, url))) => {
                let help = format!(
                    "keep `command` to start a program, or `{key}` to use one that is already running"
                );
                self.error(
                    url.span,
                    key,
                    &format!("has both `command` and `{key}`"),
                    &help,
                );
                None
            }
            (Some(command), None) if is_started != Some(false) => {
                let command = self.field(&["command"], command.clone())?;
                Some(self.program(command, written))
            }
            (None, Some((key, url))) if is_started != Some(true) => {
                let url = self.field(&[key], url)?;
                Some(self.address(url, written))
            }
            _ => {
                let (what, help) = match is_started {
                    Some(true) => ("`command`", r#"add "command": "…", or another `type`"#),
                    Some(false) => ("`url`", r#"add "url": "https://…", or another `type`"#),
                    None => (
                        "`command` or `url`",
                        r#"add "command": "…" for a program, "url": "https://…" for an address"#,
                    ),
                };
                let (span, key) = kind
                    .as_ref()
                    .map_or((self.name_span, ""), |kind| (kind.span, "type"));
                // A wrong one was told of.
                if !self.has_error() {
                    self.error(span, key, &format!("has no {what}"), help);
                }
                None
            }
        }
    }

    fn program(&mut self, command: Field, written: Written) -> Reach {
        self.warn_of_unused(&["headers", "auth"], "`command` starts it");
        // A command with its arguments in one string is looked up as the name of one program.
        let mut words = command.text.split_whitespace();
        let program = words.next().unwrap_or_default();
        if written.args.is_empty()
            && words.next().is_some()
            && !program.contains(['/', '\\', '$', '~'])
        {
            let what = "has a `command` that is used as the name of one program, including spaces";
            self.warn(command.span, "command", what, SPLIT);
        }
        for (name, _) in &written.env {
            if name.value.is_empty() || name.value.contains(['=', '\0']) {
                let what = format!(
                    "has a variable `{}`, which is not a valid name",
                    cut(&name.value)
                );
                self.error(
                    name.span,
                    "env",
                    &what,
                    "names consist of letters, digits and `_`",
                );
            }
        }
        let args = written.args.into_iter().enumerate();
        Reach::Command {
            command,
            args: args
                .filter_map(|(idx, arg)| self.field(&["args", &idx.to_string()], arg))
                .collect(),
            env: self.fields("env", written.env),
            env_file: written
                .env_file
                .and_then(|file| self.field(&["envFile"], file)),
            cwd: written.cwd.and_then(|cwd| self.field(&["cwd"], cwd)),
        }
    }

    fn address(&mut self, url: Field, written: Written) -> Reach {
        let why = "the server is not started, but reached by its URL";
        self.warn_of_unused(&["args", "env", "envFile", "cwd"], why);
        let mut names = HashSet::new();
        for (name, _) in &written.headers {
            let what = match HeaderName::from_bytes(name.value.as_bytes()) {
                Err(_) => format!(
                    "has a header `{}`, which is not a valid name",
                    cut(&name.value)
                ),
                // Names of headers have no case.
                Ok(name) if !names.insert(name.clone()) => {
                    format!("has a duplicate header `{name}`")
                }
                Ok(_) => continue,
            };
            let help = r#"headers look like this: "Authorization": "Bearer ${TOKEN}""#;
            self.error(name.span, "headers", &what, help);
        }
        let is_authorization =
            |(name, _): &&(Text, Text)| name.value.eq_ignore_ascii_case("authorization");
        let authorization = written
            .headers
            .iter()
            .find(is_authorization)
            .map(|(name, _)| name.span);
        Reach::Url {
            url,
            auth: written.auth.and_then(|auth| self.auth(auth, authorization)),
            headers: self.fields("headers", written.headers),
            kind: written.kind.map(|kind| kind.value),
        }
    }

    /// `None` if there is a problem with it. A header `Authorization` may stand at a span.
    fn auth(&mut self, auth: Spanned<WrittenAuth>, authorization: Option<Span>) -> Option<Auth> {
        let Spanned { span, value: auth } = auth;
        let span = Span::new(span.start as usize, span.start as usize + 1);
        if auth.kind != "client_credentials" {
            let help =
                r#"if you already have a token: "headers": { "Authorization": "Bearer ${TOKEN}" }"#;
            self.error(
                span,
                "auth",
                "has an `auth` whose `type` is not `client_credentials`",
                help,
            );
            return None;
        }
        if let Some(span) = authorization {
            self.error(
                span,
                "headers",
                "has `auth` and the header `Authorization`",
                "remove one of them",
            );
        }
        let (secret, key) = (auth.client_secret, auth.private_key);
        let missing = match (&auth.client_id, &secret, &key) {
            (None, ..) => "no `client_id`",
            (_, None, None) => "neither `client_secret` nor `private_key`",
            (_, Some(_), Some(_)) => "both `client_secret` and `private_key`",
            _ => "",
        };
        if !missing.is_empty() && !self.has_error() {
            let help = r#"write { "type": "client_credentials", "client_id": "…", "client_secret": "${SECRET}" }"#;
            self.error(span, "auth", &format!("has an `auth` with {missing}"), help);
        }
        let mut field = |key: &str, text: Option<Text>| self.field(&["auth", key], text?);
        Some(Auth {
            client_id: field("client_id", auth.client_id)?,
            proof: match key {
                Some(key) => Proof::Key(field("private_key", Some(key))?),
                None => Proof::Secret(field("client_secret", secret)?),
            },
            scope: field("scope", auth.scope),
            token_url: field("token_url", auth.token_url),
        })
    }

    fn timeout(&mut self, written: Option<Spanned<f64>>) -> Option<Duration> {
        let Spanned {
            span,
            value: seconds,
        } = written?;
        let duration = Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|it| !it.is_zero());
        let Some(duration) = duration.filter(|_| seconds <= LONGEST_TIMEOUT) else {
            let help = "write seconds, such as 30 or 0.5; the default is 60";
            self.error(
                span,
                "timeout",
                "has a `timeout` that is not a number of seconds above 0",
                help,
            );
            return None;
        };
        if seconds > LONG_TIMEOUT && self.is_shared {
            let what = format!(
                "has the `timeout` {seconds}, which is in milliseconds, as Claude Code has it"
            );
            let help = "in a file that only Cuecard reads, and up to 3600, it is in seconds";
            self.warn(span, "timeout", &what, help);
            if let Some(found) = self.found.last_mut() {
                found.severity = Severity::Note;
                found.code = codes::TIME_MILLISECONDS;
            }
            return Some(duration / 1000);
        }
        if seconds > LONG_TIMEOUT {
            let what = format!(
                "has a `timeout` of {seconds} seconds, which is more than an hour: did you mean milliseconds?"
            );
            let help = format!(
                "`timeout` is in seconds: write {} if you meant milliseconds",
                seconds / 1000.0
            );
            self.warn(span, "timeout", &what, &help);
            if let Some(found) = self.found.last_mut() {
                found.code = codes::TIME_MILLISECONDS;
            }
        }
        Some(duration)
    }

    fn warn_of_unused(&mut self, keys: &[&str], reason: &str) {
        let node: &Node = self.here.node;
        for member in node
            .members()
            .iter()
            .filter(|member| keys.contains(&member.key.as_str()))
        {
            let what = format!("has a `{}` without effect: {reason}", member.key);
            self.warn(member.key_span, &member.key, &what, "remove it");
        }
    }

    fn fields(&mut self, key: &str, pairs: Vec<(Text, Text)>) -> Vec<(String, Field)> {
        let pairs = pairs.into_iter();
        let fields = pairs.filter_map(|(name, text)| {
            Some((name.value.clone(), self.field(&[key, &name.value], text)?))
        });
        fields.collect()
    }

    /// The text at a path in the entry.
    fn field(&mut self, path: &[&str], text: Text) -> Option<Field> {
        let mut pointer = self.here.pointer.clone();
        path.iter().for_each(|key| push_pointer(&mut pointer, key));
        let place = match path {
            ["args", idx] => format!("args[{idx}]"),
            path => path
                .iter()
                .map(|key| cut(key))
                .collect::<Vec<_>>()
                .join("."),
        };
        if text.value.contains('\0') {
            let what = format!("has the character U+0000 in `{place}`");
            self.error(text.span, path[0], &what, "remove it");
            return None;
        }
        Some(Field {
            text: text.value,
            span: text.span,
            pointer,
            place,
        })
    }

    fn has_error(&self) -> bool {
        self.found
            .iter()
            .any(|found| found.severity == Severity::Error)
    }

    /// Says that the server has something that keeps it from being used.
    fn error(&mut self, span: Span, key: &str, what: &str, help: &str) {
        let mut pointer = self.here.pointer.clone();
        if !key.is_empty() {
            push_pointer(&mut pointer, key);
        }
        let message = format!("{} {what}", self.whose());
        let error = self.findings.error(span, &pointer, message);
        self.found.push(error.with_help(help));
    }

    fn warn(&mut self, span: Span, key: &str, what: &str, help: &str) {
        self.error(span, key, what, help);
        if let Some(found) = self.found.last_mut() {
            found.severity = Severity::Warning;
        }
    }

    fn whose(&self) -> String {
        format!("server `{}`", cut(self.name))
    }
}

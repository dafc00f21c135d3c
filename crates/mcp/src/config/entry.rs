//! One server's entry: the struct is the format, and here is what it can't say, and what the entry means.
//!
//! What is wrong with an entry concerns nobody but those who use its server.

use std::collections::HashSet;
use std::time::Duration;

use cuecard_source::Span;
use cuecard_source::decode::{Decoded, Spanned, entries};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::json::{Member, Node};
use cuecard_source::reader::{Format, Reader};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;

use super::ConfiguredServer;
use super::address::{self, Address};
use super::fill::FileScope;
use super::findings::{Located, cut, into_one};
use super::secrets::Secrets;
use crate::{ClientCredentials, ClientProof, Protocol, ServerSpec, TransportSpec};

/// How long the start of a server may take.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Above this many seconds a timeout was probably meant in milliseconds.
const LONG_TIMEOUT: f64 = 3600.0;
/// The longest timeout, about thirty years in seconds: clocks can still add it.
const LONGEST_TIMEOUT: f64 = 1e9;
/// The name of a project's config that other programs read too.
const SHARED: &str = ".mcp.json";
/// What its arguments are is not repeated, since they may be secrets.
const SPLIT: &str = r#"write "command": "npx", "args": ["…"]"#;
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
};

pub(super) type Text = Spanned<String>;

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

/// Reads the entry of the server called like the key of `member`, which stands in `list`. Beside the server stands what
/// deserves a look in an entry that can be used.
pub(super) fn read(
    file: &mut FileScope<'_>,
    list: &Located<'_>,
    member: &Member,
) -> (ConfiguredServer, Vec<Diagnostic>) {
    let mut reader = EntryReader {
        file,
        here: list.child(&member.key, &member.value),
        name: &member.key,
        name_span: member.key_span,
        found: Vec::new(),
        secrets: Secrets::default(),
    };
    // Nothing else is looked at then: a server is often disabled because its entry isn't finished.
    let off_at = |(key, off): (&str, bool)| {
        let value = member.value.get(key)?;
        (value.as_bool() == Some(off)).then_some(value.span)
    };
    let off_at = [("disabled", true), ("enabled", false)]
        .into_iter()
        .find_map(off_at);
    let (spec, timeout) = match off_at {
        Some(span) => {
            let help = r#"remove `"disabled": true` or `"enabled": false` from its entry"#;
            reader.error(span, &[], "is disabled", help);
            (None, None)
        }
        None => reader.spec(),
    };
    let spec = spec.filter(|_| !reader.has_error()).ok_or_else(|| {
        let problem = into_one(std::mem::take(&mut reader.found), in_words);
        problem
            .unwrap_or_else(|| Diagnostic::error(codes::CONFIG_INVALID, "the entry can't be read"))
    });
    let server = ConfiguredServer {
        name: member.key.clone(),
        spec,
        is_disabled: off_at.is_some(),
        from: reader.file.file.shown.clone(),
        project_local: reader.file.file.project_local,
        secrets: reader.secrets.into_list(),
        timeout,
        warnings: Vec::new(),
    };
    (server, reader.found)
}

/// A further problem of an entry, as a note.
fn in_words(problem: Diagnostic) -> String {
    match problem.label.or(problem.help) {
        _ if problem.code == codes::CONFIG_VARIABLE => problem.message,
        Some(more) if problem.message.ends_with('?') => format!("{} {more}", problem.message),
        Some(more) => format!("{}: {more}", problem.message),
        None => problem.message,
    }
}

pub(super) struct EntryReader<'r, 'f, 'n> {
    pub(super) file: &'r mut FileScope<'f>,
    pub(super) here: Located<'n>,
    pub(super) name: &'n str,
    name_span: Span,
    /// What is wrong with the entry, and what deserves a look.
    pub(super) found: Vec<Diagnostic>,
    pub(super) secrets: Secrets,
}

impl EntryReader<'_, '_, '_> {
    /// What a usable entry says, and how long a call may take.
    fn spec(&mut self) -> (Option<ServerSpec>, Option<Duration>) {
        let Some(mut written) = self.written() else {
            return (None, None);
        };
        let tools = written.tools.take();
        // Other clients write `["*"]` for what we mean by no list.
        let allowed_tools = tools.filter(|tools| !tools.iter().any(|tool| tool == "*"));
        let (protocol, timeout) = (written.protocol, written.timeout.take());
        let timeout = timeout.and_then(|timeout| self.timeout(timeout));
        let spec = self.transport(written).map(|transport| ServerSpec {
            name: self.name.to_owned(),
            transport,
            protocol,
            start_timeout: START_TIMEOUT,
            allowed_tools,
            source: self.file.file.shown.display().to_string(),
        });
        (spec, timeout)
    }

    /// What the struct reads. Its findings name the server.
    fn written(&mut self) -> Option<Written> {
        let whose = self.whose();
        let Decoded {
            value, diagnostics, ..
        } = Reader::new(self.file.source, &FORMAT).decoded::<Written>(
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

    fn transport(&mut self, written: Written) -> Option<TransportSpec> {
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
            self.error(url.span, &[key], &what, "remove one of them");
        }
        let is_started = kind.as_ref().map(|kind| kind.value == Kind::Stdio);
        match (command, address) {
            (Some(_), Some((key, url))) => {
                let help = format!(
                    "keep `command` to start a program, or `{key}` to use one that is already running"
                );
                let what = format!("has both `command` and `{key}`");
                self.error(url.span, &[key], &what, &help);
                None
            }
            (Some(command), None) if is_started != Some(false) => {
                self.program(&command.clone(), written)
            }
            (None, Some((key, url))) if is_started != Some(true) => {
                self.address(key, &url, written)
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
                let (span, path): (_, &[&str]) = match kind {
                    Some(kind) => (kind.span, &["type"]),
                    None => (self.name_span, &[]),
                };
                // A wrong one was told of.
                if !self.has_error() {
                    self.error(span, path, &format!("has no {what}"), help);
                }
                None
            }
        }
    }

    fn program(&mut self, command: &Text, written: Written) -> Option<TransportSpec> {
        self.warn_of_unused(&["headers", "auth"], "`command` starts it");
        // A command with its arguments in one string is looked up as the name of one program.
        let mut words = command.value.split_whitespace();
        let program = words.next().unwrap_or_default();
        if written.args.is_empty()
            && words.next().is_some()
            && !program.contains(['/', '\\', '$', '~'])
        {
            let what = "has a `command` that is used as the name of one program, including spaces";
            self.warn(command.span, &["command"], what, SPLIT);
        }
        for (name, _) in &written.env {
            if name.value.is_empty() || name.value.contains(['=', '\0']) {
                let shown = cut(&name.value);
                let what = format!("has a variable `{shown}`, which is not a valid name");
                let help = "names consist of letters, digits and `_`";
                self.error(name.span, &["env"], &what, help);
            }
        }
        let program = self.fill(&["command"], command);
        let args = written.args.iter().enumerate();
        let args: Vec<String> = args
            .map(|(idx, arg)| self.fill(&["args", &idx.to_string()], arg))
            .collect();
        let mut env = self.fill_all("env", &written.env);
        let cwd = written.cwd.map(|cwd| self.fill(&["cwd"], &cwd));
        let cwd = cwd.map(|cwd| self.file.folder(&cwd));
        let folder = cwd.iter().map(|cwd| cwd.display().to_string());
        self.file.values.extend(folder);
        if let Some(file) = &written.env_file {
            // What the entry says itself goes first.
            let mut more = self.variables_of_file(file);
            more.retain(|(name, _)| env.iter().all(|(other, _)| other != name));
            env.extend(more);
        }
        self.secrets.add_args(&args);
        for (name, value) in &env {
            self.secrets.add_env(name, value);
        }
        self.is_usable("command", command, &program).then(|| {
            let command = self.file.below_home(program);
            TransportSpec::Stdio {
                command,
                args,
                env,
                cwd,
            }
        })
    }

    fn address(&mut self, key: &str, url: &Text, written: Written) -> Option<TransportSpec> {
        let why = "the server is not started, but reached by its URL";
        self.warn_of_unused(&["args", "env", "envFile", "cwd"], why);
        let mut names = HashSet::new();
        for (name, _) in &written.headers {
            let what = match HeaderName::from_bytes(name.value.as_bytes()) {
                Err(_) => {
                    let shown = cut(&name.value);
                    format!("has a header `{shown}`, which is not a valid name")
                }
                // Names of headers have no case.
                Ok(name) if !names.insert(name.clone()) => {
                    format!("has a duplicate header `{name}`")
                }
                Ok(_) => continue,
            };
            let help = r#"headers look like this: "Authorization": "Bearer ${TOKEN}""#;
            self.error(name.span, &["headers"], &what, help);
        }
        let text = self.fill(&[key], url).trim().to_owned();
        let headers = self.fill_all("headers", &written.headers);
        self.secrets.add_url(&text);
        for ((name, value), (_, text)) in headers.iter().zip(&written.headers) {
            if HeaderValue::from_str(value).is_err() {
                let what = "contains a character that is not allowed in a header";
                let help = "look for a line break, perhaps at the end of a variable's value, and for letters outside ASCII";
                self.about(&["headers", name], text, what, help);
            }
            self.secrets.add_header(value);
        }
        let auth = written.auth.as_ref();
        let auth = auth.and_then(|auth| self.auth(auth, &written.headers));
        if !self.is_usable(key, url, &text) {
            return None;
        }
        let kind = written.kind.map(|kind| kind.value);
        let address = match address::read(&text, kind) {
            Ok(address) => address,
            Err((what, help)) => {
                self.about(&[key], url, &what, help);
                return None;
            }
        };
        if let Some(auth) = written.auth
            && !matches!(address, Address::Http { .. })
        {
            let what = "has an `auth` without effect: tokens are fetched for Streamable HTTP only";
            let help = "put a token into `headers`: \"Authorization\": \"Bearer ${TOKEN}\"";
            self.warn(first_of(auth.span), &["auth"], what, help);
        }
        Some(match address {
            Address::Http { url, or_sse } => TransportSpec::Http {
                url,
                headers,
                or_sse,
                auth,
            },
            Address::Sse(url) => TransportSpec::Sse { url, headers },
            Address::WebSocket(url) => TransportSpec::WebSocket { url, headers },
            Address::Unix(path) => {
                let help = "remove them, or write `http+unix://` if the server speaks HTTP over its socket";
                self.warn_of_unused_with(
                    &["headers"],
                    "messages over a Unix socket have none",
                    help,
                );
                let path = self.file.folder(&path);
                TransportSpec::Unix { path }
            }
            Address::HttpUnix { socket, path } => TransportSpec::HttpUnix {
                socket: self.file.folder(&socket),
                path,
                headers,
            },
        })
    }

    /// `None` if there is a problem with it.
    fn auth(
        &mut self,
        auth: &Spanned<WrittenAuth>,
        headers: &[(Text, Text)],
    ) -> Option<ClientCredentials> {
        let Spanned { span, value: auth } = auth;
        let span = first_of(*span);
        if auth.kind != "client_credentials" {
            let what = "has an `auth` whose `type` is not `client_credentials`";
            let help =
                r#"if you already have a token: "headers": { "Authorization": "Bearer ${TOKEN}" }"#;
            self.error(span, &["auth"], what, help);
            return None;
        }
        let is_authorization =
            |(name, _): &&(Text, Text)| name.value.eq_ignore_ascii_case("authorization");
        if let Some((name, _)) = headers.iter().find(is_authorization) {
            let what = "has `auth` and the header `Authorization`";
            self.error(name.span, &["headers"], what, "remove one of them");
        }
        let missing = match (&auth.client_id, &auth.client_secret, &auth.private_key) {
            (None, ..) => "no `client_id`",
            (_, None, None) => "neither `client_secret` nor `private_key`",
            (_, Some(_), Some(_)) => "both `client_secret` and `private_key`",
            _ => "",
        };
        if !missing.is_empty() && !self.has_error() {
            let what = format!("has an `auth` with {missing}");
            let help = r#"write { "type": "client_credentials", "client_id": "…", "client_secret": "${SECRET}" }"#;
            self.error(span, &["auth"], &what, help);
        }
        let mut fill = |key: &str, text: &Option<Text>| {
            let text = text.as_ref()?;
            Some(self.fill(&["auth", key], text))
        };
        let key = fill("private_key", &auth.private_key).map(ClientProof::Key);
        let secret = fill("client_secret", &auth.client_secret).map(ClientProof::Secret);
        let credentials = ClientCredentials {
            client_id: fill("client_id", &auth.client_id)?,
            proof: key.or(secret)?,
            scope: fill("scope", &auth.scope),
            token_url: fill("token_url", &auth.token_url),
        };
        self.secrets.add(credentials.proof.secret());
        Some(credentials)
    }

    fn timeout(&mut self, written: Spanned<f64>) -> Option<Duration> {
        let Spanned {
            span,
            value: seconds,
        } = written;
        let duration = Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|it| !it.is_zero());
        let Some(duration) = duration.filter(|_| seconds <= LONGEST_TIMEOUT) else {
            let what = "has a `timeout` that is not a number of seconds above 0";
            let help = "write seconds, such as 30 or 0.5; the default is 60";
            self.error(span, &["timeout"], what, help);
            return None;
        };
        if seconds <= LONG_TIMEOUT {
            return Some(duration);
        }
        // Claude Code reads the same file.
        let path = &self.file.file.path;
        let is_shared = path.file_name().is_some_and(|name| name == SHARED);
        let (severity, what, help) = match is_shared {
            true => (
                Severity::Note,
                format!(
                    "has the `timeout` {seconds}, which is in milliseconds, as Claude Code has it"
                ),
                "in a file that only Cuecard reads, and up to 3600, it is in seconds".to_owned(),
            ),
            false => (
                Severity::Warning,
                format!(
                    "has a `timeout` of {seconds} seconds, which is more than an hour: did you mean milliseconds?"
                ),
                format!(
                    "`timeout` is in seconds: write {} if you meant milliseconds",
                    seconds / 1000.0
                ),
            ),
        };
        self.error(span, &["timeout"], &what, &help);
        if let Some(found) = self.found.last_mut() {
            found.severity = severity;
            found.code = codes::TIME_MILLISECONDS;
        }
        Some(if is_shared { duration / 1000 } else { duration })
    }

    fn warn_of_unused(&mut self, keys: &[&str], reason: &str) {
        self.warn_of_unused_with(keys, reason, "remove it");
    }

    fn warn_of_unused_with(&mut self, keys: &[&str], reason: &str, help: &str) {
        let node: &Node = self.here.node;
        for member in node.members() {
            if keys.contains(&member.key.as_str()) {
                let what = format!("has a `{}` without effect: {reason}", member.key);
                self.warn(member.key_span, &[&member.key], &what, help);
            }
        }
    }

    /// Whether there is no error, and the program or the address of the server is no empty text.
    fn is_usable(&mut self, key: &str, written: &Text, text: &str) -> bool {
        if !self.has_error() && text.trim().is_empty() {
            let help = match written.value.contains("${") {
                true => "the variable in it is empty",
                false => {
                    "write a program, as in \"npx\", or an address, as in \"http://localhost:8000/mcp\""
                }
            };
            self.about(&[key], written, "is empty", help);
        }
        !self.has_error()
    }

    fn has_error(&self) -> bool {
        self.found
            .iter()
            .any(|found| found.severity == Severity::Error)
    }

    /// Says that the server has something that keeps it from being used, at a path of its entry.
    pub(super) fn error(&mut self, span: Span, path: &[&str], what: &str, help: &str) {
        let message = format!("{} {what}", self.whose());
        let error = self.finding(codes::CONFIG_INVALID, span, path, message);
        self.found.push(error.with_help(help));
    }

    fn warn(&mut self, span: Span, path: &[&str], what: &str, help: &str) {
        self.error(span, path, what, help);
        if let Some(found) = self.found.last_mut() {
            found.severity = Severity::Warning;
        }
    }

    fn whose(&self) -> String {
        format!("server `{}`", cut(self.name))
    }
}

/// The first character of an object, of which nothing is shown.
fn first_of(span: Span) -> Span {
    Span::new(span.start as usize, span.start as usize + 1)
}

//! The shape of one server's entry: which keys it has, and of which kind.

use std::collections::HashSet;
use std::time::Duration;

use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::json::Member;
use reqwest::header::HeaderName;

use super::ConfigFile;
use super::auth::Auth;
use super::fields::{Field, article, cut};
use super::findings::{Findings, Located, Problems};
use super::keys::{ADDRESS_KEYS, Kind, PROTOCOLS, TYPES};
use crate::Protocol;

/// Above this many seconds a timeout was probably meant in milliseconds.
const LONG_TIMEOUT: f64 = 3600.0;
/// The longest timeout, about thirty years in seconds: clocks can still add it.
const LONGEST_TIMEOUT: f64 = 1e9;
/// The name of a project's config that other programs read too.
const SHARED: &str = ".mcp.json";
/// What its arguments are is not repeated, since they may be secrets.
const SPLIT: &str = r#"write "command": "npx", "args": ["…"]"#;
const SECONDS: &str = "write seconds, such as 30 or 0.5; the default is 60";
/// The longest name of a server, in bytes.
const LONGEST_NAME: usize = 256;

/// An entry of the right shape. Its texts are as written.
pub(super) struct Entry<'n> {
    pub name: &'n str,
    pub pointer: String,
    pub reach: Reach<'n>,
    pub timeout: Option<Duration>,
    /// The only tools that may be called.
    pub tools: Option<Vec<String>>,
    pub protocol: Protocol,
}

pub(super) enum Reach<'n> {
    /// Not at all: `"disabled": true` stands at the span.
    Disabled(Span),
    Command {
        command: Field<'n>,
        args: Vec<Field<'n>>,
        env: Vec<(&'n str, Field<'n>)>,
        /// A file of further variables.
        env_file: Option<Field<'n>>,
        cwd: Option<Field<'n>>,
    },
    Url {
        url: Field<'n>,
        headers: Vec<(&'n str, Field<'n>)>,
        auth: Option<Auth<'n>>,
        /// The type and where it stands; without one the URL's scheme decides.
        kind: Option<(Kind, Span)>,
    },
}

/// Reads the entry of the server called like the key of `member`, which stands in `list`.
///
/// # Errors
/// What is wrong with its shape, all in one. It concerns nobody but those who use the server, so it is
/// none of the findings, and neither are the warnings that came with it.
pub(super) fn read<'n>(
    findings: &mut Findings<'_>,
    file: &ConfigFile,
    list: &Located<'n>,
    member: &'n Member,
) -> Result<Entry<'n>, Box<Diagnostic>> {
    let here = list.child(&member.key, &member.value);
    let mut reader = EntryReader {
        findings: &mut *findings,
        name: &member.key,
        name_span: member.key_span,
        here,
        problems: Problems::default(),
        warnings: Vec::new(),
        is_shared: file.path.file_name().is_some_and(|name| name == SHARED),
    };
    let entry = reader.entry();
    let EntryReader {
        mut problems,
        warnings,
        ..
    } = reader;
    if problems.is_empty() {
        for warning in warnings {
            findings.add(warning);
        }
        return Ok(entry);
    }
    for warning in warnings {
        problems.add(|| warning);
    }
    match problems.into_one(in_words) {
        Some(problem) => Err(Box::new(problem)),
        None => Ok(entry),
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

/// Reads one entry; what it is made of is spread over the files beside this one.
pub(super) struct EntryReader<'f, 's, 'n> {
    pub findings: &'f mut Findings<'s>,
    pub name: &'n str,
    pub name_span: Span,
    pub here: Located<'n>,
    pub problems: Problems,
    pub warnings: Vec<Diagnostic>,
    /// Whether the file is a `.mcp.json`, which Claude Code reads too.
    is_shared: bool,
}

impl<'n> EntryReader<'_, '_, 'n> {
    /// The entry, as far as it can be read; `problems` says how far that is.
    fn entry(&mut self) -> Entry<'n> {
        self.check_name();
        let mut entry = Entry {
            name: self.name,
            pointer: self.here.pointer.clone(),
            reach: Reach::Disabled(self.name_span),
            timeout: None,
            tools: None,
            protocol: Protocol::Auto,
        };
        if self.here.node.as_object().is_none() {
            let message = format!(
                "{} must be an object, not {}",
                self.whose(),
                article(self.here.node)
            );
            let help = r#"write { "command": "npx", "args": ["…"] } for a program, { "url": "https://…" } for an address"#;
            self.error(self.findings.invalid(&self.here, message).with_help(help));
            return entry;
        }
        if let Some(span) = self.disabled() {
            // Nothing else is looked at: a server is often disabled because its entry isn't finished.
            entry.reach = Reach::Disabled(span);
            return entry;
        }
        self.warn_of_unknown_keys();
        if let Some(reach) = self.reach() {
            entry.reach = reach;
        }
        entry.timeout = self.timeout();
        entry.tools = self.tools();
        entry.protocol = self
            .word("protocol", PROTOCOLS)
            .map_or(Protocol::Auto, |(protocol, _)| protocol);
        entry
    }

    fn check_name(&mut self) {
        let problem = match self.name {
            "" => "the name of a server is empty".to_owned(),
            name if name.len() > LONGEST_NAME => {
                format!("the name of a server has at most {LONGEST_NAME} bytes")
            }
            name if name.contains(char::is_control) => {
                "the name of a server contains a control character".to_owned()
            }
            _ => return,
        };
        let help = "scenarios use the name: NAME in `mcp__NAME__tool`";
        // Nobody can use such a server, so this would never be told if it waited for that.
        let error = self.found_at(self.name_span, problem).with_help(help);
        self.findings.add(error);
    }

    fn disabled(&mut self) -> Option<Span> {
        let keys = [("disabled", true), ("enabled", false)];
        keys.into_iter().find_map(|(key, is_disabled)| {
            let value = self.here.get(key)?;
            if value.node.as_bool().is_none() {
                self.wrong_kind(&value, key, "true or false", None);
            }
            (value.node.as_bool() == Some(is_disabled)).then_some(value.node.span)
        })
    }

    /// `None` only if there is a problem with it.
    fn reach(&mut self) -> Option<Reach<'n>> {
        let command = self.here.get("command");
        let here = self.here.clone();
        let mut addresses = ADDRESS_KEYS
            .into_iter()
            .filter_map(|key| Some((key, here.get(key)?)));
        let address = addresses.next();
        if let (Some((first, _)), Some((key, second))) = (&address, addresses.next()) {
            let message = format!(
                "{} has both `{first}` and `{key}`, which mean the same",
                self.whose()
            );
            self.error(
                self.findings
                    .invalid(&second, message)
                    .with_help("remove one of them"),
            );
        }
        let kind = self.word("type", TYPES);
        match (command, address) {
            (Some(_), Some((key, second))) => {
                let message = format!("{} has both `command` and `{key}`", self.whose());
                let help = format!(
                    "keep `command` to start a program, or `{key}` to use one that is already running"
                );
                self.error(self.findings.invalid(&second, message).with_help(help));
                None
            }
            (Some(command), None) => match kind {
                None | Some((Kind::Stdio, _)) => self.program(&command),
                Some((_, span)) => {
                    self.missing("url", r#""url": "https://…", or remove `type`"#, Some(span));
                    None
                }
            },
            (None, Some((key, address))) => match kind {
                Some((Kind::Stdio, span)) => {
                    self.missing("command", r#""command": "…", or remove `type`"#, Some(span));
                    None
                }
                kind => self.address(key, &address, kind),
            },
            (None, None) => {
                match kind {
                    Some((Kind::Stdio, span)) => {
                        self.missing("command", r#""command": "…""#, Some(span));
                    }
                    Some((_, span)) => self.missing("url", r#""url": "https://…""#, Some(span)),
                    None => self.missing(
                        "command` or `url",
                        r#""command": "…" for a program, "url": "https://…" for an address"#,
                        None,
                    ),
                }
                None
            }
        }
    }

    fn program(&mut self, command: &Located<'n>) -> Option<Reach<'n>> {
        self.warn_of_unused(&["headers", "auth"], "`command` starts it");
        let args = self.texts("args");
        let env = self.pairs("env");
        let env_file = self
            .here
            .get("envFile")
            .and_then(|file| self.field(&file, "envFile".to_owned()));
        let cwd = self
            .here
            .get("cwd")
            .and_then(|cwd| self.field(&cwd, "cwd".to_owned()));
        if command.node.as_array().is_some() {
            self.wrong_kind(command, "command", "a string", Some(SPLIT.to_owned()));
            return None;
        }
        let command = self.field(command, "command".to_owned())?;
        self.warn_of_whole_line(&command, args.is_empty());
        Some(Reach::Command {
            command,
            args,
            env,
            env_file,
            cwd,
        })
    }

    /// A command with its arguments in one string is looked up as the name of one program.
    fn warn_of_whole_line(&mut self, command: &Field<'n>, is_alone: bool) {
        let is_line = command.text.split_whitespace().nth(1).is_some();
        let program = command.text.split_whitespace().next().unwrap_or_default();
        if is_alone && is_line && !program.contains(['/', '\\', '$', '~']) {
            let message = format!(
                "`command` of {} is used as the name of one program, including spaces",
                self.whose()
            );
            let (span, pointer) = (command.span, &command.pointer);
            let warning = self.findings.warning(span, pointer, message);
            self.warn(warning.with_help(SPLIT));
        }
    }

    fn address(
        &mut self,
        key: &'static str,
        address: &Located<'n>,
        kind: Option<(Kind, Span)>,
    ) -> Option<Reach<'n>> {
        self.warn_of_unused(
            &["args", "env", "envFile", "cwd"],
            "the server is not started, but reached by its URL",
        );
        let headers = self.pairs("headers");
        let mut names = HashSet::new();
        for (name, field) in &headers {
            let problem = match HeaderName::from_bytes(name.as_bytes()) {
                Err(_) => format!(
                    "`{}` of {} is not a valid header name",
                    cut(name),
                    self.whose()
                ),
                // Names of headers have no case.
                Ok(name) if !names.insert(name.clone()) => {
                    format!("{} has a duplicate header `{name}`", self.whose())
                }
                Ok(_) => continue,
            };
            self.error(
                self.found(field, problem)
                    .with_help("headers look like this: \"Authorization\": \"Bearer ${TOKEN}\""),
            );
        }
        let auth = self.auth(&headers);
        let url = self.field(address, key.to_owned())?;
        Some(Reach::Url {
            url,
            headers,
            auth,
            kind,
        })
    }

    fn timeout(&mut self) -> Option<Duration> {
        let value = self.here.get("timeout")?;
        let seconds = value
            .node
            .as_f64()
            .filter(|seconds| (0.0..=LONGEST_TIMEOUT).contains(seconds));
        let duration = seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|duration| !duration.is_zero());
        let Some(duration) = duration else {
            let (found, help) = match (value.node.as_number_text(), value.node.as_str()) {
                (Some(number), _) => (cut(number), SECONDS),
                (_, Some(text)) if text.trim().parse::<f64>().is_ok() => {
                    (article(value.node).to_owned(), "write it without quotes")
                }
                _ => (article(value.node).to_owned(), SECONDS),
            };
            let wanted = "a number of seconds above 0";
            self.wrong_value(&value, "timeout", wanted, &found, Some(help.to_owned()));
            return None;
        };
        let seconds = seconds.filter(|&seconds| seconds > LONG_TIMEOUT);
        if let Some(number) = seconds.filter(|_| self.is_shared) {
            let message = format!(
                "the `timeout` {number} of {} is in milliseconds, as Claude Code has it",
                self.whose()
            );
            let note = Diagnostic {
                severity: Severity::Note,
                code: codes::TIME_MILLISECONDS,
                ..self.findings.invalid(&value, message)
            };
            self.warn(
                note.with_help(
                    "in a file that only Cuecard reads, and up to 3600, it is in seconds",
                ),
            );
            return Some(duration / 1000);
        }
        if let Some(seconds) = seconds {
            let message = format!(
                "`timeout` of {} is {seconds} seconds, which is more than an hour: did you mean milliseconds?",
                self.whose()
            );
            let warning = Diagnostic {
                severity: Severity::Warning,
                code: codes::TIME_MILLISECONDS,
                ..self.findings.invalid(&value, message)
            };
            self.warn(warning.with_help(format!(
                "`timeout` is in seconds: write {} if you meant milliseconds",
                seconds / 1000.0
            )));
        }
        Some(duration)
    }

    fn tools(&mut self) -> Option<Vec<String>> {
        self.here.get("tools")?;
        let tools: Vec<String> = self
            .texts("tools")
            .into_iter()
            .map(|tool| tool.text.to_owned())
            .collect();
        // Other clients write `["*"]` for what we mean by no list.
        (!tools.iter().any(|tool| tool == "*")).then_some(tools)
    }
}

//! Why a server could not be started, and why a call got no answer: every fact, and one sentence.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::exit::Exit;
use super::spec::Protocol;
use super::text::{clean, cut, seconds, size};

/// The longest text of a server's that goes into a sentence, in characters.
const LONGEST_QUOTE: usize = 2_000;

/// A server could not be started or reached.
#[derive(Debug, Clone)]
pub struct StartError {
    /// What happened.
    pub kind: StartErrorKind,
    /// Which server, how it was started, and what it said.
    pub facts: Box<ServerFacts>,
}

/// What went wrong while a server was started.
#[derive(Debug, Clone, PartialEq)]
pub enum StartErrorKind {
    /// Its program could not be run.
    NotRun {
        /// Why, as a lowercase fragment.
        text: String,
        /// What to do about it.
        help: Advice,
    },
    /// What was configured, or found, is of no use.
    Unusable {
        /// What is wrong with the server, as a fragment that follows its name.
        text: String,
        /// What to do about it.
        help: Advice,
    },
    /// The process ended before it answered.
    Exited {
        /// How.
        exit: Exit,
        /// How long it lived.
        after: Duration,
    },
    /// The server closed the connection before it answered; its process, if it has one, runs on.
    Closed,
    /// No connection came about in time.
    NoConnection {
        /// The time it had.
        within: Duration,
    },
    /// No answer came in time.
    NoAnswer {
        /// The time it had.
        within: Duration,
    },
    /// No connection, for example because it was refused. Nothing was sent.
    Unreachable {
        /// Why.
        text: String,
    },
    /// An HTTP status instead of an answer.
    Http {
        /// The status code.
        status: u16,
        /// The beginning of the body.
        text: String,
        /// What was answered with it.
        to: HttpRequest,
    },
    /// The server answered the handshake with an error.
    RpcError {
        /// The JSON-RPC code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// Server and client share no protocol version.
    NoCommonVersion {
        /// What the server speaks.
        server: Vec<String>,
    },
    /// The handshake broke the protocol.
    Protocol {
        /// How.
        text: String,
    },
    /// A frame was larger than we accept.
    TooLarge {
        /// The bound, in bytes.
        bound: usize,
    },
}

impl StartErrorKind {
    /// A key of the config has a value that can't be used.
    pub(super) fn wrong(key: &'static str, text: impl Into<String>) -> Self {
        let (text, help) = (text.into(), Advice::Correct(key));
        Self::Unusable { text, help }
    }

    /// No token was to be had.
    pub(super) fn no_token(why: &str) -> Self {
        // What stands behind `token:` would be taken for one.
        let text = format!("requires a token, which can't be fetched{}", quote(why));
        Self::wrong("auth", text)
    }
}

/// What to do about a server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// This.
    Do(&'static str),
    /// Correct this key of the config.
    Correct(&'static str),
    /// Install this program.
    Install(String),
}

/// What an HTTP status answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpRequest {
    /// A message of the handshake.
    Initialize,
    /// The request for the event stream of HTTP with SSE.
    EventStream,
    /// The handshake of WebSocket.
    WebSocket,
}

/// A call got no answer. A result that reports a failure is no such error: see
/// [`super::ToolReply::is_error`].
#[derive(Debug, Clone)]
pub struct CallError {
    /// What happened.
    pub kind: CallErrorKind,
    /// The tool called; none while the tools were listed.
    pub tool: Option<String>,
    /// Which server, how it was started, and what it said.
    pub facts: Box<ServerFacts>,
}

/// What went wrong with a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallErrorKind {
    /// No answer in time. The call was cancelled at the server; the session goes on.
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// The server ended, or closed the connection.
    ServerGone {
        /// How its process ended, if it has one and that ended.
        exit: Option<Exit>,
    },
    /// No connection, for example because it was refused. Nothing was sent.
    Unreachable {
        /// Why.
        text: String,
    },
    /// An HTTP status instead of an answer.
    Http {
        /// The status code.
        status: u16,
        /// The beginning of the body.
        text: String,
    },
    /// The server wants a token, and none was to be had.
    NoToken {
        /// Why.
        text: String,
    },
    /// The answer broke the protocol.
    Protocol {
        /// How.
        text: String,
    },
    /// The server answered with a JSON-RPC error.
    RpcError {
        /// The code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
    /// The server says that it has no such tool.
    NoSuchTool {
        /// Its message.
        message: String,
    },
    /// A frame was larger than we accept. The session is over.
    TooLarge {
        /// The bound, in bytes.
        bound: usize,
    },
    /// The tool is not on the server's allow-list; nothing was sent.
    Refused {
        /// The allow-list.
        allowed: Vec<String>,
    },
    /// The server wants input from a user or a model before it goes on.
    NeedsInput {
        /// The methods it asks for, such as `elicitation/create`.
        methods: Vec<String>,
    },
    /// The server asks on and on.
    TooManyRounds {
        /// How often it may ask during one call.
        bound: usize,
    },
}

/// What both errors know about the server.
#[derive(Debug, Clone)]
pub struct ServerFacts {
    /// Its name in the config.
    pub server: String,
    /// Its command line or URL, without secrets.
    pub started_as: String,
    /// How it is reached, as [`super::TransportSpec::as_str`].
    pub transport: &'static str,
    /// Where its config came from.
    pub source: String,
    /// The protocol era asked for.
    pub protocol: Protocol,
    /// How long the start or the call had taken.
    pub elapsed: Duration,
    /// The last lines of its standard error, oldest first.
    pub last_words: Vec<String>,
    /// The first line of its standard output that was not JSON.
    pub stray_output: Option<String>,
    /// Why the connection broke, if it did and that is known.
    pub break_reason: Option<String>,
    /// What is wrong with what came last meanwhile and was no answer.
    pub trouble: Option<String>,
}

impl StartError {
    /// How the server was started, or where it was sought, as a note.
    pub fn start_note(&self) -> String {
        let how = match (self.facts.transport, &self.kind) {
            ("stdio", StartErrorKind::NotRun { .. }) => "start command",
            ("stdio" | "built in", _) => "started as",
            _ => "URL",
        };
        format!(
            "{how}: {} (from {})",
            self.facts.started_as, self.facts.source
        )
    }

    /// The last lines of the server's standard error, oldest first.
    pub fn last_words(&self) -> &[String] {
        &self.facts.last_words
    }
}

impl CallError {
    /// The last lines of the server's standard error, oldest first.
    pub fn last_words(&self) -> &[String] {
        &self.facts.last_words
    }
}

impl ServerFacts {
    /// The server's last lines as one note; none if it said nothing.
    pub fn last_words_note(&self) -> Option<String> {
        match self.last_words.as_slice() {
            [] => None,
            [line] => Some(format!("its last output: {line}")),
            lines => Some(format!("its last output:\n{}", lines.join("\n"))),
        }
    }

    /// A colon and the reason why the connection broke; nothing if it is not known.
    fn why_it_broke(&self) -> String {
        let reason = self.break_reason.as_ref().or(self.trouble.as_ref());
        quote(reason.map(String::as_str).unwrap_or_default())
    }

    /// What came in place of an answer, at the end of a sentence; nothing if nothing did.
    fn instead(&self) -> String {
        let trouble = self.trouble.as_deref();
        trouble.map_or_else(String::new, |trouble| {
            format!("; something else was received{}", quote(trouble))
        })
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.kind {
            StartErrorKind::NotRun { text, .. } => format!("failed to start: {text}"),
            StartErrorKind::Unusable { text, .. } => text.clone(),
            StartErrorKind::Exited { exit, after } => {
                let after = seconds(*after);
                format!("exited before it answered initialize ({exit}, after {after})")
            }
            StartErrorKind::Closed => {
                let how = match self.facts.break_reason {
                    Some(_) => "was cut off",
                    None => "closed the connection",
                };
                let why = self.facts.why_it_broke();
                format!("{how} before it answered initialize{why}")
            }
            StartErrorKind::NoConnection { within } => {
                format!("did not accept the connection within {}", seconds(*within))
            }
            StartErrorKind::NoAnswer { within } => {
                let instead = match &self.facts.stray_output {
                    Some(line) => format!(", but printed `{line}`"),
                    None => self.facts.instead(),
                };
                format!(
                    "did not answer initialize within {}{instead}",
                    seconds(*within)
                )
            }
            StartErrorKind::Unreachable { text } => format!("cannot be reached: {text}"),
            StartErrorKind::Http { status, text, to } => {
                let to = match to {
                    HttpRequest::Initialize => "initialize",
                    HttpRequest::EventStream => "the request for its event stream",
                    HttpRequest::WebSocket => "the WebSocket handshake",
                };
                format!("answered {to} with HTTP {status}{}", quote(text))
            }
            StartErrorKind::RpcError { code, message } => {
                format!("refused initialize (code {code}){}", quote(message))
            }
            StartErrorKind::NoCommonVersion { server: theirs } => {
                let theirs = cut(&clean(&theirs.join(", ")), 200);
                format!("does not support any known protocol version (it offers {theirs})")
            }
            StartErrorKind::Protocol { text } => {
                format!("violated the protocol during initialize{}", quote(text))
            }
            StartErrorKind::TooLarge { bound } => {
                format!("sent a message larger than the limit of {}", size(*bound))
            }
        };
        write!(f, "server `{}` {what}", self.facts.server)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.facts.server;
        let tool = clean(self.tool.as_deref().unwrap_or("tools/list"));
        let what = match &self.kind {
            CallErrorKind::Timeout { after } => {
                let (after, instead) = (seconds(*after), self.facts.instead());
                format!("did not answer `{tool}` within {after}; the call was cancelled{instead}")
            }
            CallErrorKind::ServerGone { exit: Some(exit) } => {
                let after = seconds(self.facts.elapsed);
                format!("exited before it answered `{tool}` ({exit}, after {after})")
            }
            CallErrorKind::ServerGone { exit: None } => {
                let why = self.facts.why_it_broke();
                format!("closed the connection before it answered `{tool}`{why}")
            }
            CallErrorKind::Unreachable { text } => {
                format!("could not be reached for `{tool}`: {text}")
            }
            CallErrorKind::Http { status, text } => {
                format!("answered `{tool}` with HTTP {status}{}", quote(text))
            }
            CallErrorKind::NoToken { text } => {
                let why = quote(text);
                format!("requires a token for `{tool}`, which can't be fetched{why}")
            }
            CallErrorKind::Protocol { text } => {
                format!(
                    "violated the protocol while answering `{tool}`{}",
                    quote(text)
                )
            }
            CallErrorKind::RpcError {
                code,
                message,
                data,
            } => {
                let data = data.as_ref().map_or_else(String::new, |data| {
                    format!(" (data: {})", cut(&clean(&data.to_string()), LONGEST_QUOTE))
                });
                format!("refused `{tool}` (code {code}){}{data}", quote(message))
            }
            CallErrorKind::NoSuchTool { message } => {
                format!("has no tool `{tool}`{}", quote(message))
            }
            CallErrorKind::TooLarge { bound } => {
                let limit = size(*bound);
                format!(
                    "sent a message larger than the limit of {limit} during the call of `{tool}`"
                )
            }
            CallErrorKind::Refused { .. } => {
                return write!(
                    f,
                    "tool `{tool}` is not on the allow-list of server `{server}`"
                );
            }
            CallErrorKind::TooManyRounds { bound } => {
                format!("kept requesting input for `{tool}`, {bound} times in total")
            }
            CallErrorKind::NeedsInput { methods } => {
                let methods = cut(&clean(&methods.join(", ")), 200);
                format!("requests input for `{tool}` that can't be provided ({methods})")
            }
        };
        write!(f, "server `{server}` {what}")
    }
}

impl std::error::Error for StartError {}
impl std::error::Error for CallError {}

/// A server's own words at the end of a sentence; nothing if there are none.
pub(super) fn quote(text: &str) -> String {
    match clean(text).trim() {
        "" => String::new(),
        text => format!(": {}", cut(text, LONGEST_QUOTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(words: &[&str], stray: Option<&str>) -> Box<ServerFacts> {
        Box::new(ServerFacts {
            server: "github".into(),
            started_as: "npx -y server-github".into(),
            transport: "stdio",
            source: "~/.cursor/mcp.json".into(),
            protocol: Protocol::Auto,
            elapsed: Duration::from_millis(300),
            last_words: words.iter().map(|word| (*word).to_owned()).collect(),
            stray_output: stray.map(str::to_owned),
            break_reason: None,
            trouble: None,
        })
    }

    #[test]
    fn a_dead_server_reads_as_designed() {
        let error = StartError {
            kind: StartErrorKind::Exited {
                exit: Exit::Code(1),
                after: Duration::from_millis(300),
            },
            facts: facts(&["Error: GITHUB_TOKEN is not set"], None),
        };
        assert_eq!(
            error.to_string(),
            "server `github` exited before it answered initialize (exit code 1, after 0.3 s)"
        );
        assert_eq!(
            error.help().expect("there is help"),
            "`cuecard doctor` tries every server; pass environment variables with \"env\": { \"GITHUB_TOKEN\": \
             \"${GITHUB_TOKEN}\" }"
        );
        assert_eq!(error.last_words(), ["Error: GITHUB_TOKEN is not set"]);
    }

    #[test]
    fn a_silent_server_shows_what_it_printed_instead() {
        let kind = StartErrorKind::NoAnswer {
            within: Duration::from_secs(60),
        };
        let error = StartError {
            kind,
            facts: facts(&[], Some("Content-Length: 52")),
        };
        assert_eq!(
            error.to_string(),
            "server `github` did not answer initialize within 60 s, but printed `Content-Length: 52`"
        );
        assert!(
            error
                .help()
                .expect("there is help")
                .contains("one JSON message per line")
        );
    }

    #[test]
    fn a_call_error_is_one_clean_sentence_with_the_servers_words() {
        let call = |kind| CallError {
            kind,
            tool: Some("create_issue".into()),
            facts: facts(&[], None),
        };
        let texts = [
            call(CallErrorKind::RpcError {
                code: -32602,
                message: "bad \u{1b}[1mtitle".into(),
                data: None,
            }),
            call(CallErrorKind::ServerGone {
                exit: Some(Exit::Signal(9)),
            }),
            call(CallErrorKind::Timeout {
                after: Duration::from_millis(1500),
            }),
            call(CallErrorKind::Http {
                status: 500,
                text: String::new(),
            }),
        ]
        .map(|error| error.to_string());
        assert_eq!(
            texts,
            [
                "server `github` refused `create_issue` (code -32602): bad title",
                "server `github` exited before it answered `create_issue` (killed by SIGKILL, after 0.3 s)",
                "server `github` did not answer `create_issue` within 1.5 s; the call was cancelled",
                "server `github` answered `create_issue` with HTTP 500",
            ]
        );
    }
}

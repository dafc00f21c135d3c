//! Why a server could not be started, or a call got no answer: every fact, and one sentence.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::exit::Exit;
use super::link::{LONGEST_TEXT, Link};
use super::spec::Protocol;
use super::text::{clean, cut, seconds, size};

/// The longest text of a server's that goes into a sentence, in characters.
const LONGEST_QUOTE: usize = 2_000;

/// A server could not be started or reached, or a call got no answer. A result that reports a failure is no such error:
/// see [`super::ToolReply::is_error`].
#[derive(Debug, Clone)]
pub struct ServerError {
    /// What happened.
    pub kind: ErrorKind,
    /// What the server should have answered.
    pub request: Request,
    /// Which server, how it was started, and what it said.
    pub facts: Box<ServerFacts>,
}

/// What a server should answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The handshake.
    Start,
    /// The list of its tools.
    ListTools,
    /// A call of this tool.
    Call(String),
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("initialize"),
            Self::ListTools => f.write_str("`tools/list`"),
            Self::Call(tool) => write!(f, "`{}`", clean(tool)),
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorKind {
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
        /// How long it lived, or the call had taken.
        after: Duration,
    },
    /// The server closed the connection before it answered; its process, if it has one, runs on, or nothing is known of
    /// its end.
    Closed,
    /// No connection came about in time.
    NoConnection {
        /// The time it had.
        within: Duration,
    },
    /// No answer came in time. A call was cancelled at the server; the session goes on.
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
    /// The server wants a token, and none was to be had.
    NoToken {
        /// Why.
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
    /// Server and client share no protocol version.
    NoCommonVersion {
        /// What the server speaks.
        server: Vec<String>,
    },
    /// The answer broke the protocol.
    Protocol {
        /// How.
        text: String,
    },
    /// A frame was larger than we accept. The session is over.
    TooLarge {
        /// The bound, in bytes.
        bound: usize,
    },
    /// The server says that it has no such tool.
    NoSuchTool {
        /// Its message.
        message: String,
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

impl ErrorKind {
    /// A key of the config has a value that can't be used.
    pub(super) fn wrong(key: &'static str, text: impl Into<String>) -> Self {
        let (text, help) = (text.into(), Advice::Correct(key));
        Self::Unusable { text, help }
    }

    /// The same with what the server said fit to be shown: before there is a handshake, it may repeat the secrets that
    /// it was sent.
    pub(super) fn masked(mut self, link: &Link) -> Self {
        if let Self::Http { text, .. }
        | Self::Protocol { text }
        | Self::NoToken { text }
        | Self::Unreachable { text }
        | Self::Unusable { text, .. } = &mut self
        {
            *text = link.shown(text, LONGEST_TEXT);
        }
        self
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
    /// A message.
    Message,
    /// The request for the event stream of HTTP with SSE.
    EventStream,
    /// The handshake of WebSocket.
    WebSocket,
}

/// What an error knows about the server.
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
    /// The last lines of its standard error, oldest first.
    pub last_words: Vec<String>,
    /// The first line of its standard output that was not JSON.
    pub stray_output: Option<String>,
    /// Why the connection broke, if it did and that is known.
    pub break_reason: Option<String>,
    /// What is wrong with what came last meanwhile and was no answer.
    pub trouble: Option<String>,
}

impl ServerError {
    /// How the server was started, or where it was sought, as a note.
    pub fn start_note(&self) -> String {
        let how = match (self.facts.transport, &self.kind) {
            ("stdio", ErrorKind::NotRun { .. }) => "start command",
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

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServerFacts { server, .. } = &*self.facts;
        let (request, is_call) = (&self.request, self.request != Request::Start);
        let what = match &self.kind {
            ErrorKind::NotRun { text, .. } => format!("failed to start: {text}"),
            ErrorKind::Unusable { text, .. } => text.clone(),
            ErrorKind::Exited { exit, after } => {
                let after = seconds(*after);
                format!("exited before it answered {request} ({exit}, after {after})")
            }
            ErrorKind::Closed => {
                let how = match self.facts.break_reason {
                    Some(_) if !is_call => "was cut off",
                    _ => "closed the connection",
                };
                let why = self.facts.why_it_broke();
                format!("{how} before it answered {request}{why}")
            }
            ErrorKind::NoConnection { within } => {
                format!("did not accept the connection within {}", seconds(*within))
            }
            ErrorKind::NoAnswer { within } => {
                let instead = match &self.facts.stray_output {
                    _ if is_call => format!("; the call was cancelled{}", self.facts.instead()),
                    Some(line) => format!(", but printed `{line}`"),
                    None => self.facts.instead(),
                };
                let within = seconds(*within);
                format!("did not answer {request} within {within}{instead}")
            }
            ErrorKind::Unreachable { text } => format!("cannot be reached: {text}"),
            ErrorKind::Http { status, text, to } => {
                let to = match to {
                    HttpRequest::Message => request.to_string(),
                    HttpRequest::EventStream => "the request for its event stream".to_owned(),
                    HttpRequest::WebSocket => "the WebSocket handshake".to_owned(),
                };
                format!("answered {to} with HTTP {status}{}", quote(text))
            }
            ErrorKind::NoToken { text } => {
                // What stands behind `token:` would be taken for one.
                let why = quote(text);
                format!("requires a token for {request}, which can't be fetched{why}")
            }
            ErrorKind::RpcError {
                code,
                message,
                data,
            } => {
                let data = data.as_ref().map_or_else(String::new, |data| {
                    format!(" (data: {})", cut(&clean(&data.to_string()), LONGEST_QUOTE))
                });
                format!("refused {request} (code {code}){}{data}", quote(message))
            }
            ErrorKind::NoCommonVersion { server: theirs } => {
                let theirs = cut(&clean(&theirs.join(", ")), 200);
                format!("does not support any known protocol version (it offers {theirs})")
            }
            ErrorKind::Protocol { text } => {
                format!(
                    "violated the protocol while answering {request}{}",
                    quote(text)
                )
            }
            ErrorKind::NoSuchTool { message } => format!("has no tool {request}{}", quote(message)),
            ErrorKind::TooLarge { bound } => {
                let limit = size(*bound);
                format!("sent a message larger than the limit of {limit} while answering {request}")
            }
            ErrorKind::Refused { .. } => {
                return write!(
                    f,
                    "tool {request} is not on the allow-list of server `{server}`"
                );
            }
            ErrorKind::TooManyRounds { bound } => {
                format!("kept requesting input for {request}, {bound} times in total")
            }
            ErrorKind::NeedsInput { methods } => {
                let methods = cut(&clean(&methods.join(", ")), 200);
                format!("requests input for {request} that can't be provided ({methods})")
            }
        };
        write!(f, "server `{server}` {what}")
    }
}

impl std::error::Error for ServerError {}

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
            last_words: words.iter().map(|word| (*word).to_owned()).collect(),
            stray_output: stray.map(str::to_owned),
            break_reason: None,
            trouble: None,
        })
    }

    #[test]
    fn a_dead_server_reads_as_designed() {
        let error = ServerError {
            kind: ErrorKind::Exited {
                exit: Exit::Code(1),
                after: Duration::from_millis(300),
            },
            request: Request::Start,
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
        let kind = ErrorKind::NoAnswer {
            within: Duration::from_secs(60),
        };
        let error = ServerError {
            kind,
            request: Request::Start,
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
        let call = |kind| ServerError {
            kind,
            request: Request::Call("create_issue".into()),
            facts: facts(&[], None),
        };
        let texts = [
            call(ErrorKind::RpcError {
                code: -32602,
                message: "bad \u{1b}[1mtitle".into(),
                data: None,
            }),
            call(ErrorKind::Exited {
                exit: Exit::Signal(9),
                after: Duration::from_millis(300),
            }),
            call(ErrorKind::NoAnswer {
                within: Duration::from_millis(1500),
            }),
            call(ErrorKind::Http {
                status: 500,
                text: String::new(),
                to: HttpRequest::Message,
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

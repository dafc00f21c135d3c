//! What to do about a server that does not start, or does not answer.

use cuecard_tool_call::model::QuestionKind;

use super::config::COMMAND_LINE;
use super::error::{Advice, ErrorKind, HttpRequest, Request, ServerError, ServerFacts};
use super::spec::Protocol;
use super::text::{clean, cut};

/// The JSON-RPC code for a call that needs a client to answer questions.
const MISSING_CAPABILITY: i64 = -32021;
/// The JSON-RPC code for a call that needs a user to visit a web page.
const PAGE_REQUIRED: i64 = -32042;

/// What tries servers without playing anything.
const DOCTOR: &str = "`cuecard doctor` tries every server";

impl ServerError {
    /// What to do about it, with what finds out more.
    pub fn help(&self) -> Option<String> {
        let advice = self.advice();
        match self.kind {
            ErrorKind::Exited { .. } | ErrorKind::Closed | ErrorKind::Unreachable { .. } => {
                advice.map(|advice| format!("{DOCTOR}; {advice}"))
            }
            _ => advice,
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<String> {
        let is_call = self.request != Request::Start;
        let advice = match &self.kind {
            ErrorKind::NotRun { help, .. } | ErrorKind::Unusable { help, .. } => {
                return Some(match help {
                    Advice::Do(what) => (*what).to_owned(),
                    Advice::Correct(key) => correct(key, &self.facts),
                    Advice::Install(program) => install_help(program, &self.facts),
                });
            }
            ErrorKind::NoAnswer { .. } if is_call => {
                "a step's `timeout` and `--timeout` are in seconds"
            }
            ErrorKind::Exited { .. } | ErrorKind::Closed | ErrorKind::Unreachable { .. }
                if is_call =>
            {
                return None;
            }
            ErrorKind::Exited { .. } | ErrorKind::Closed => return Some(self.exited_help()),
            ErrorKind::NoAnswer { .. } => self.silent_help(),
            ErrorKind::Unreachable { .. } => "is it running?",
            ErrorKind::NoConnection { .. } => {
                "increase `--timeout` if the server starts slowly; is this the URL of an MCP server?"
            }
            // Some servers refuse an unknown path like this.
            ErrorKind::Http {
                status: 403,
                to: HttpRequest::WebSocket,
                ..
            } => {
                "check the path of the URL (often `/ws`), and what the config says to log in: \"headers\": { \"Authorization\": \"Bearer ${TOKEN}\" }"
            }
            ErrorKind::Http { status: 401, .. } => {
                "log in elsewhere and put the token into the config: \"headers\": { \"Authorization\": \"Bearer ${TOKEN}\" }; \
                 a client with a secret of its own: \"auth\": { \"type\": \"client_credentials\", … }"
            }
            ErrorKind::Http { status: 403, .. } => {
                "the credentials in `headers` or `auth` are not enough: ask for more scopes, or for another account"
            }
            ErrorKind::Http {
                status: 404 | 405,
                to,
                ..
            } if !is_call => match to {
                HttpRequest::Message => {
                    "check the path of the URL (often `/mcp`), and its `type` (an older server may need `sse`)"
                }
                HttpRequest::EventStream => {
                    "check the path of the URL (often `/sse`), and its `type` (a newer server needs `http`)"
                }
                HttpRequest::WebSocket => "check the path of the URL (often `/ws`)",
            },
            ErrorKind::NoToken { .. } => return Some(correct("auth", &self.facts)),
            ErrorKind::RpcError {
                code: MISSING_CAPABILITY,
                message,
                ..
            } if is_call => {
                let mut kinds = QuestionKind::ALL.into_iter();
                let kind = kinds.find(|kind| message.contains(kind.key()))?;
                return Some(format!(
                    "it asks a question: answer it with \"answers\": {{ \"{}\": [ {} ] }}",
                    kind.key(),
                    kind.general_entry()
                ));
            }
            ErrorKind::RpcError {
                code: PAGE_REQUIRED,
                ..
            } if is_call => {
                "it wants a user to visit a web page first, which can't be automated: do it manually"
            }
            ErrorKind::NoCommonVersion { .. }
            | ErrorKind::RpcError { .. }
            | ErrorKind::Protocol { .. }
                if !is_call && self.facts.protocol != Protocol::Auto =>
            {
                "\"protocol\": \"auto\" detects what the server speaks"
            }
            ErrorKind::Refused { allowed } => {
                let all = allowed.join(", ");
                let all = if all.is_empty() { "nothing" } else { &all };
                let all = cut(&clean(all), 300);
                return Some(format!("`tools` in {} allows {all}", self.facts.source));
            }
            ErrorKind::NoSuchTool { .. } => {
                "`cuecard check FILE --connect` checks every step's tool before anything runs"
            }
            _ => return None,
        };
        Some(advice.to_owned())
    }

    fn exited_help(&self) -> String {
        match self
            .facts
            .last_words
            .iter()
            .find_map(|line| variable_in(line))
        {
            Some(name) => {
                format!(
                    "pass environment variables with \"env\": {{ \"{name}\": \"${{{name}}}\" }}"
                )
            }
            None if self.facts.transport != "stdio" => {
                "is this the URL of an MCP server, and is the transport right?".to_owned()
            }
            None => {
                "servers only inherit PATH, HOME and the like; pass other variables with \"env\""
                    .to_owned()
            }
        }
    }

    fn silent_help(&self) -> &'static str {
        match &self.facts.stray_output {
            Some(line) if line.to_lowercase().starts_with("content-length") => {
                "it frames messages with Content-Length; MCP has one JSON message per line"
            }
            Some(_) => "does it need an argument such as `stdio`? stdout is for JSON messages only",
            None if self.facts.transport == "unix" => {
                "a server that speaks HTTP over its socket needs `http+unix://`; a slow start needs a larger `--timeout`"
            }
            None => {
                "a slow start needs a larger `--timeout`; `\"protocol\": \"legacy\"` skips the probe for the newer protocol"
            }
        }
    }
}

/// Where a missing command usually comes from.
fn install_help(command: &str, facts: &ServerFacts) -> String {
    let from = match command {
        "npx" | "npm" | "node" => "install Node.js",
        "uvx" | "uv" => "install uv",
        "docker" => "install Docker",
        "python" | "python3" => "install Python",
        "bunx" | "bun" => "install Bun",
        "deno" => "install Deno",
        _ => return format!("{}, or install it", correct("command", facts)),
    };
    let place = match facts.source.as_str() {
        COMMAND_LINE => "after `--`".to_owned(),
        source => format!("as `command` in {source}"),
    };
    format!("{from}, or give the full path {place}")
}

fn correct(key: &str, facts: &ServerFacts) -> String {
    match facts.source.as_str() {
        COMMAND_LINE => "check the command after `--`".to_owned(),
        source => format!("correct `{key}` in {source}"),
    }
}

/// The name of an environment variable in `line`: capitals, digits and at least one underscore.
fn variable_in(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .find(|word| {
            word.len() > 3
                && word.contains('_')
                && word.starts_with(|c: char| c.is_ascii_uppercase())
                && !word.contains(|c: char| c.is_ascii_lowercase())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_capitals_with_an_underscore() {
        assert_eq!(variable_in("Missing API_KEY2, sorry"), Some("API_KEY2"));
        assert_eq!(variable_in("ERROR: it_broke A_B Foo_BAR"), None);
    }
}

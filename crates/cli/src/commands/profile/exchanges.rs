//! The tools that the requests in a log of exchanges advertise.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::profiles::AdvertisedTool;
use cuecard_timeline::script::Endpoint;
use cuecard_wire::llm::advertised_tools;
use serde_json::Value;

use crate::inputs::{io_reason, unreadable};

/// The longest line that is read, in bytes. A log keeps less of each request.
const MAX_LINE: u64 = 16 * 1024 * 1024;
/// More exchanges are not looked at: an agent advertises the same tools again and again.
const MAX_EXCHANGES: usize = 10_000;

/// What the requests of an agent advertise.
#[derive(Debug, Default)]
pub(super) struct Advertised {
    /// The tools, in the order in which they came, those of one name only once.
    pub(super) tools: Vec<AdvertisedTool>,
    /// The API of the first request.
    pub(super) endpoint: Option<Endpoint>,
    /// The agent and its version, as its `user-agent` has it.
    pub(super) agent: Option<(String, String)>,
}

/// Reads a log of `serve llm`, or the body of one request.
///
/// # Errors
/// The file can't be read, or isn't such a one.
pub(super) fn read(path: &Path, found: &mut Advertised) -> Result<(), Diagnostic> {
    let name = path.display();
    let wrong = |line: usize, why: String| {
        Diagnostic::error(
            codes::ARGUMENT,
            format!("line {line} of `{name}` is not an exchange: {why}"),
        )
        .with_help("pass the `exchanges.jsonl` of a run of `cuecard serve llm`, or a request body")
    };
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut lines = BufReader::new(file);
    for number in 1..=MAX_EXCHANGES {
        let mut line = Vec::new();
        let read = lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let length = read.map_err(|error| wrong(number, io_reason(&error)))?;
        if length == 0 {
            break;
        }
        if length as u64 == MAX_LINE {
            return Err(wrong(number, format!("it is longer than {MAX_LINE} bytes")));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let json: Value =
            serde_json::from_slice(&line).map_err(|error| wrong(number, error.to_string()))?;
        take(&json, found).map_err(|why| wrong(number, why))?;
    }
    Ok(())
}

/// Takes the tools of an exchange, or of a request.
fn take(json: &Value, found: &mut Advertised) -> Result<(), String> {
    let is_exchange = json.get("dialect").is_some() && json.get("request").is_some();
    let body = match is_exchange {
        true => &json["request"],
        false => json,
    };
    // What is beside the conversation has tools of its own, or none.
    if body.is_null() || json["lane"] == "side" {
        return Ok(());
    }
    let endpoint = match is_exchange {
        true => endpoint_of(&json["dialect"]),
        false => endpoint_like(body),
    };
    let endpoint =
        endpoint.ok_or("it has neither `dialect` and `request` nor the keys of a request")?;
    let tools = advertised_tools(endpoint, body).map_err(|error| error.message)?;
    if tools.is_empty() {
        return Ok(());
    }
    found.endpoint.get_or_insert(endpoint);
    if found.agent.is_none() {
        found.agent = json["headers"]["user-agent"].as_str().and_then(agent_of);
    }
    for tool in tools {
        if found.tools.iter().all(|known| known.name != tool.name) {
            found.tools.push(tool);
        }
    }
    Ok(())
}

fn endpoint_of(dialect: &Value) -> Option<Endpoint> {
    let all = [
        Endpoint::Messages,
        Endpoint::Chat,
        Endpoint::Responses,
        Endpoint::Gemini,
    ];
    all.into_iter()
        .find(|endpoint| dialect == endpoint.as_str())
}

/// The API that a body without more looks like.
fn endpoint_like(body: &Value) -> Option<Endpoint> {
    let tools = body["tools"].as_array();
    let is_messages =
        tools.is_some_and(|tools| tools.iter().any(|tool| tool.get("input_schema").is_some()));
    if body.get("contents").is_some() {
        Some(Endpoint::Gemini)
    } else if body.get("input").is_some() {
        Some(Endpoint::Responses)
    } else if body.get("messages").is_some() {
        Some(match is_messages {
            true => Endpoint::Messages,
            false => Endpoint::Chat,
        })
    } else {
        None
    }
}

/// The agent and its version in a `user-agent`, for agents that name themselves there.
fn agent_of(user_agent: &str) -> Option<(String, String)> {
    const AGENTS: &[(&str, &str)] = &[
        ("claude-cli/", "claude-code"),
        ("codex_exec/", "codex"),
        ("codex_cli_rs/", "codex"),
        ("GeminiCLI-tui/", "gemini-cli"),
        ("GeminiCLI/", "gemini-cli"),
        ("opencode/", "opencode"),
        ("QwenCode/", "qwen-code"),
    ];
    let (agent, rest) = AGENTS
        .iter()
        .find_map(|(start, agent)| Some((*agent, user_agent.strip_prefix(start)?)))?;
    let end = rest.find(['/', ' ']).unwrap_or(rest.len());
    Some((agent.to_owned(), rest[..end].to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_that_name_themselves_are_known() {
        let known =
            |text: &str| agent_of(text).map(|(agent, version)| format!("{agent}@{version}"));
        assert_eq!(
            known("codex_exec/0.169.0 (Debian)").as_deref(),
            Some("codex@0.169.0")
        );
        assert_eq!(
            known("GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux)").as_deref(),
            Some("gemini-cli@0.61.0")
        );
        assert_eq!(known("OpenAI/JS 6.26.0"), None);
    }

    #[test]
    fn bodies_are_known_by_their_keys() {
        for (body, endpoint) in [
            (json!({"contents": []}), Endpoint::Gemini),
            (json!({"input": "x"}), Endpoint::Responses),
            (json!({"messages": []}), Endpoint::Chat),
            (
                json!({"messages": [], "tools": [{"input_schema": {}}]}),
                Endpoint::Messages,
            ),
        ] {
            assert_eq!(endpoint_like(&body), Some(endpoint), "{body}");
        }
        assert_eq!(endpoint_like(&json!({"x": 1})), None);
    }

    #[test]
    fn what_is_beside_the_conversation_does_not_count() {
        let mut found = Advertised::default();
        let tool = json!({"type": "function", "function": {"name": "edit"}});
        let exchange = |lane: &str| {
            json!({
                "dialect": "chat", "lane": lane, "headers": {"user-agent": "QwenCode/0.15.10 (linux)"},
                "request": {"model": "m", "messages": [], "tools": [tool]},
            })
        };
        take(&exchange("side"), &mut found).expect("an exchange");
        assert!(found.tools.is_empty());
        take(&exchange("main"), &mut found).expect("an exchange");
        take(&exchange("main"), &mut found).expect("an exchange");
        assert_eq!(found.tools.len(), 1);
        assert_eq!(found.agent, Some(("qwen-code".into(), "0.15.10".into())));
        assert!(take(&json!([1]), &mut found).is_err());
    }
}

//! `sandy__wait_for_element` and `sandy__wait_until`: ask the page until it says yes.

use std::sync::Arc;
use std::time::Duration;

use cuecard_source::json::read_value;
use cuecard_source::value::cut;
use cuecard_tool_call::model::BuiltinTool;
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind};
use serde_json::{Map, Value as Json, json};

use super::super::mcp_call::{failed_call, permit};
use super::super::page;
use super::super::pool::record_notices;
use super::super::requests::{Peer, Polling};
use super::super::target::literal;
use super::super::toolbox::Toolbox;
use super::arguments::Arguments;
use super::refused;
use cuecard_mcp::{ErrorKind, Session, ToolInfo, result};
use cuecard_runtime::policy::ScriptShape;
use cuecard_runtime::tap::Recorder;

/// The browser that is asked unless the step names another.
const DEFAULT_SERVER: &str = "chrome-devtools";

/// Tools that run a script on the page, by the servers that have them.
const EVALUATE_TOOLS: &[&str] = &[
    "evaluate_script",
    "browser_evaluate",
    "evaluate",
    "puppeteer_evaluate",
];

pub(super) async fn wait(
    toolbox: &mut Toolbox,
    tool: BuiltinTool,
    arguments: &Arguments<'_>,
    request: &CallRequest,
    recorder: &mut Recorder<'_>,
) -> Result<Json, Failure> {
    let (name, default_timeout) = match tool {
        BuiltinTool::WaitForElement => ("selector", 10.0),
        _ => ("expression", 30.0),
    };
    let text = arguments.required_text(name);
    let function = match tool {
        // The selector is data: as a JSON literal it can't become code. One that the page can't read never fits.
        BuiltinTool::WaitForElement => format!(
            "() => {{ try {{ return document.querySelector({}) !== null; }} catch (error) {{ return {{ invalid: String(error.message) }}; }} }}",
            literal(&Json::from(text.to_string()))
        ),
        _ => format!(
            "async () => {{ const it = await ({}\n); return !!(typeof it === \"function\" ? await it() : it); }}",
            toolbox
                .policy
                .script(&text, ScriptShape::Condition)
                .map_err(refused)?
        ),
    };
    let timeout = seconds(arguments.number("timeout").unwrap_or(default_timeout));
    let timeout = request.timeout.map_or(timeout, |limit| limit.min(timeout));
    let interval =
        seconds(arguments.number("interval").unwrap_or(0.5)).max(Duration::from_millis(10));
    let server = match arguments.text("mcp_server") {
        // A server is a program that is started.
        Some(name) if !name.is_trusted() => {
            let message =
                "`mcp_server` comes from a server response, which must not decide what is started";
            return Err(Failure::new(FailureKind::RefusedData, message)
                .with_help("write the server name literally, or use a variable"));
        }
        Some(name) => name.to_string(),
        None => DEFAULT_SERVER.to_owned(),
    };
    let session = toolbox.pool.session(&server, recorder).await?;
    toolbox.last_server = Some(server.clone());
    let evaluate = evaluate_tool(&server, &session).await?;
    permit(&toolbox.policy, &server, &session, &evaluate.name).await?;

    let clock = recorder.clock();
    let started = clock.now();
    let deadline = started + timeout;
    let mut attempts = 0_u64;
    let mut last_error = None;
    let mut polling = Polling::default();
    let passed = loop {
        attempts += 1;
        let peer = Peer {
            server: &server,
            session: &session,
            call_id: Some(&request.call_id),
            timeout: deadline.saturating_sub(clock.now()).max(LAST_LOOK),
        };
        let look = ask(toolbox, peer, &evaluate, &function, &mut polling, recorder);
        let answer = look.await?;
        let passed = clock.now().saturating_sub(started);
        match answer {
            Answer::Yes => {
                record_notices(&server, &session, recorder);
                let elapsed = passed.as_millis() as f64 / 1000.0;
                let found = if tool == BuiltinTool::WaitForElement {
                    "found"
                } else {
                    "condition_met"
                };
                return Ok(json!({found: true, "elapsed": elapsed, "attempts": attempts}));
            }
            Answer::No => last_error = None,
            Answer::Error(error) => last_error = Some(error),
            Answer::Late => {}
            Answer::Invalid(reason) => {
                record_notices(&server, &session, recorder);
                let selector = cut(&text.to_string(), 120).into_owned();
                let message = format!("the page can't read the selector `{selector}`: {reason}");
                return Err(Failure::new(FailureKind::BadParameters, message));
            }
        }
        let left = timeout.saturating_sub(passed);
        if left.is_zero() {
            break passed;
        }
        // The last look is at the deadline.
        tokio::time::sleep(interval.min(left)).await;
    };
    polling.record_last(recorder);
    record_notices(&server, &session, recorder);
    let what = cut(&text.to_string(), 120).into_owned();
    let shown = cuecard_report::duration(passed);
    let times = if attempts == 1 {
        "once".to_owned()
    } else {
        format!("{attempts} times")
    };
    let message = match tool {
        BuiltinTool::WaitForElement => {
            format!("timed out: no element matched `{what}` within {shown} (checked {times})")
        }
        _ => format!("timed out: `{what}` was not true within {shown} (checked {times})"),
    };
    let mut failure = Failure::new(FailureKind::Timeout, message);
    if let Some(error) = last_error {
        failure.notes.push(format!(
            "the last answer was an error: {}",
            cut(error.trim(), 500)
        ));
    }
    Err(failure)
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.min(86_400.0)).unwrap_or_default()
}

async fn evaluate_tool(server: &str, session: &Arc<Session>) -> Result<ToolInfo, Failure> {
    let tools = session.tools().await.map_err(|error| {
        let mut failure = Failure::new(FailureKind::CallFailed, error.to_string());
        failure.notes.extend(error.facts.last_words_note());
        failure
    })?;
    let tools = tools.as_deref().unwrap_or_default();
    EVALUATE_TOOLS
        .iter()
        .find_map(|name| tools.iter().find(|tool| tool.name == *name))
        .cloned()
        .ok_or_else(|| {
            Failure::new(
                FailureKind::BadParameters,
                format!("server `{server}` has no tool to run scripts on a page"),
            )
            .with_help("set `mcp_server` to a browser's server")
        })
}

enum Answer {
    Yes,
    No,
    Error(String),
    Late,
    /// The page can't read the selector.
    Invalid(String),
}

/// How long the last look may take at least, which begins when the time is over.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Asks once. A server that is broken is an error at once; a script that throws may work later.
async fn ask(
    toolbox: &mut Toolbox,
    peer: Peer<'_>,
    evaluate: &ToolInfo,
    function: &str,
    polling: &mut Polling,
    recorder: &mut Recorder<'_>,
) -> Result<Answer, Failure> {
    let mut arguments = Map::new();
    let parameter = ["function", "script", "expression"]
        .iter()
        .find(|name| {
            evaluate
                .input_schema
                .pointer(&format!("/properties/{name}"))
                .is_some()
        })
        .unwrap_or(&"function");
    arguments.insert((*parameter).to_owned(), Json::from(function));
    let arguments = page::complete(toolbox, peer, evaluate, arguments, recorder).await;
    let asked = polling.ask(peer, &evaluate.name, arguments, recorder);
    let reply = match asked.await {
        Ok(reply) => reply,
        Err(error) if matches!(error.kind, ErrorKind::NoAnswer { .. }) => {
            return Ok(Answer::Late);
        }
        Err(error) => return Err(failed_call(&error)),
    };
    page::follow(toolbox, peer.server, &evaluate.name, &reply);
    if reply.is_error {
        return Ok(Answer::Error(result::text_of(&reply)));
    }
    let value = returned(result::script_result(&reply));
    Ok(match value.get("invalid").and_then(Json::as_str) {
        Some(reason) => Answer::Invalid(cut(reason, 200).into_owned()),
        None if value == Json::Bool(true) => Answer::Yes,
        None => Answer::No,
    })
}

/// What the script returned. server-puppeteer puts it into text, with what the page logged below.
fn returned(value: Json) -> Json {
    let Some(rest) = value
        .as_str()
        .and_then(|text| text.trim_start().strip_prefix("Execution result:"))
    else {
        return value;
    };
    let result = rest.split("\n\nConsole output:").next().unwrap_or(rest);
    read_value(result).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_logs_is_not_what_the_script_returned() {
        let text = |text: &str| returned(Json::from(text));
        assert_eq!(
            text("Execution result:\ntrue\n\nConsole output:\nfalse"),
            Json::Bool(true)
        );
        assert_eq!(
            text("Execution result:\nfalse\n\nConsole output:\n[log] a\ntrue\n"),
            Json::Bool(false)
        );
        assert_eq!(returned(Json::Bool(true)), Json::Bool(true));
    }
}

//! What a scenario may ask for and a browser's server can't do, older ones above all: typing a text, and writing a
//! picture where the scenario wants it.

use base64::Engine as _;
use cuecard_source::value::as_text;
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind};
use serde_json::{Map, Value as Json};

use super::builtin::refused;
use super::page;
use super::requests::Peer;
use super::toolbox::{Toolbox, timed_out};
use cuecard_mcp::result::text_of;
use cuecard_mcp::{ContentBlock, ServerError, Session, ToolInfo, ToolReply};
use cuecard_runtime::clock::Stopwatch;
use cuecard_runtime::tap::Recorder;
use cuecard_workspace::files;

const TYPE_TOOL: &str = "type_text";
const KEY_TOOL: &str = "press_key";
const SCREENSHOT_TOOL: &str = "take_screenshot";

/// The tool that presses a key, if `tool` types a text and the server has only that.
pub(super) async fn key_tool(session: &Session, tool: &str) -> Option<ToolInfo> {
    if tool != TYPE_TOOL {
        return None;
    }
    let tools = session.tools().await.ok()??;
    types_by_keys(tool, &tools).cloned()
}

/// The same for a server with these tools.
pub(super) fn types_by_keys<'a>(tool: &str, tools: &'a [ToolInfo]) -> Option<&'a ToolInfo> {
    let find = |name: &str| tools.iter().find(|info| info.name == name);
    match find(TYPE_TOOL) {
        None if tool == TYPE_TOOL => find(KEY_TOOL),
        _ => None,
    }
}

/// Why a text was not typed.
pub(super) enum NotTyped {
    /// A call got no answer.
    Call(ServerError),
    /// Anything else.
    Failed(Failure),
}

/// Types a text by pressing a key for each of its characters.
pub(super) async fn type_by_keys(
    toolbox: &mut Toolbox,
    peer: Peer<'_>,
    info: &ToolInfo,
    mut arguments: Map<String, Json>,
    recorder: &mut Recorder<'_>,
) -> Result<ToolReply, NotTyped> {
    let text = arguments.remove("text").unwrap_or_default();
    let text = as_text(&text).replace("\r\n", "\n");
    let submit = arguments.remove("submitKey");
    let mut keys: Vec<String> = text.chars().map(key).collect();
    let typed = keys.len();
    keys.extend(submit.as_ref().and_then(Json::as_str).map(str::to_owned));
    // Recorded in one piece, and the answers not at all: letter by letter, no secret would be found in them.
    let mut together = arguments.clone();
    together.insert("text".to_owned(), Json::from(text));
    peer.record_sent(KEY_TOOL, &together, recorder);
    recorder.settle();
    let began = Stopwatch::start();
    for (index, key) in keys.iter().enumerate() {
        let left = peer.timeout.saturating_sub(began.elapsed());
        if left.is_zero() {
            let mut failure = timed_out(peer.timeout);
            failure.notes.push(progress(index, typed));
            return Err(NotTyped::Failed(failure));
        }
        let mut press = arguments.clone();
        press.insert("key".to_owned(), Json::from(key.as_str()));
        let peer = Peer {
            timeout: left,
            ..peer
        };
        let press = page::complete(toolbox, peer, info, press, recorder).await;
        let reply = peer.session.call(KEY_TOOL, press, left).await;
        let reply = reply.map_err(NotTyped::Call)?;
        if reply.is_error {
            let said = text_of(&reply);
            // Some servers list all keys there are.
            let said = said.split(" Valid keys are").next().unwrap_or_default();
            let mut failure = Failure::new(
                FailureKind::ToolError,
                format!(
                    "the key `{key}` can't be pressed: {}",
                    said.trim().trim_end_matches('.')
                ),
            )
            .with_help("use `fill` to enter arbitrary text");
            failure.notes.push(progress(index, typed));
            return Err(NotTyped::Failed(failure));
        }
    }
    Ok(said(format!(
        "Typed {typed} characters with {KEY_TOOL}, since the server has no {TYPE_TOOL}."
    )))
}

fn progress(index: usize, typed: usize) -> String {
    format!(
        "the server has no {TYPE_TOOL}, so each character is a separate call of {KEY_TOOL}: {index} of {typed} were typed"
    )
}

fn key(character: char) -> String {
    match character {
        '\n' => "Enter".to_owned(),
        '\t' => "Tab".to_owned(),
        other => other.to_string(),
    }
}

/// The arguments of a screenshot without its path, if `tool` takes one that is to be written somewhere: for another
/// call, should the server refuse the path.
pub(super) fn without_path(tool: &str, arguments: &Map<String, Json>) -> Option<Map<String, Json>> {
    if tool != SCREENSHOT_TOOL || !arguments.contains_key("filePath") {
        return None;
    }
    let mut arguments = arguments.clone();
    arguments.remove("filePath");
    Some(arguments)
}

/// Takes a screenshot again, after the `refusal` of its path, and writes it there. Gives nothing if there is nothing
/// to write: then the server's own answer stands.
pub(super) async fn save_screenshot(
    toolbox: &Toolbox,
    request: &CallRequest,
    peer: Peer<'_>,
    arguments: Map<String, Json>,
    refusal: &ToolReply,
    recorder: &mut Recorder<'_>,
) -> Option<Result<ToolReply, Failure>> {
    let path = request.params.text("/filePath")?;
    let again = peer.ask(SCREENSHOT_TOOL, arguments, recorder).await.ok()?;
    if again.is_error {
        return None;
    }
    let Some(data) = again.content.iter().find_map(|block| match block {
        ContentBlock::Image { data_base64, .. } => Some(data_base64),
        _ => None,
    }) else {
        let mut failure = Failure::new(FailureKind::ToolError, text_of(refusal).trim().to_owned());
        failure.notes.push(format!(
            "without a path the server returned no image either: {}",
            text_of(&again).trim()
        ));
        return Some(Err(failure));
    };
    let saved = save(toolbox, &path, data);
    Some(saved.map(|path| {
        said(format!(
            "{}\nSaved screenshot to {path}.",
            text_of(&again).trim()
        ))
    }))
}

fn save(
    toolbox: &Toolbox,
    path: &cuecard_source::value::Text,
    data: &str,
) -> Result<String, Failure> {
    let path = toolbox.policy.write_path(path).map_err(refused)?;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data.trim())
        .map_err(|error| {
            Failure::new(
                FailureKind::CallFailed,
                format!("the screenshot is not valid base64: {error}"),
            )
        })?;
    files::write_bytes(&path, &bytes)
        .map_err(|error| Failure::new(FailureKind::ToolError, error.to_string()))?;
    Ok(path.display().to_string())
}

/// An answer of nothing but text.
fn said(text: String) -> ToolReply {
    ToolReply {
        content: vec![ContentBlock::Text(text)],
        ..ToolReply::default()
    }
}

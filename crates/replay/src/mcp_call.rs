//! Calls of MCP tools: arguments fitted to the tool's schema, data bound in scripts, answers made values.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use cuecard_source::diagnostic::{Severity, did_you_mean};
use cuecard_source::json::is_large_integer;
use cuecard_source::value::{Mark, Value, cut, push_pointer};
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind, Unanswered};
use regex::Regex;
use serde_json::{Map, Value as Json, json};

use super::connect::{check_arguments, unknown_names};
use super::fit::{fit, record_warnings};
use super::older::{self, NotTyped};
use super::pool::{log, record_notices};
use super::requests::Peer;
use super::toolbox::{Answer, DEFAULT_TIMEOUT, Prepared, Toolbox, timed_out};
use super::{builtin, page, target};
use cuecard_mcp::result::{self, Blob};
use cuecard_mcp::{ErrorKind, ServerError, Session, ToolInfo, ToolReply};
use cuecard_runtime::policy::{Policy, ScriptShape};
use cuecard_runtime::tap::Recorder;

/// A call to a server, ready to be made.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) server: String,
    session: Arc<Session>,
    tool: String,
    arguments: Map<String, Json>,
    timeout: Duration,
    /// The arguments for another call, should the server refuse the path of a picture.
    without_path: Option<Map<String, Json>>,
}

/// What a server answered.
pub(super) type Reply = Result<ToolReply, ServerError>;

impl Call {
    /// Makes the call.
    pub(super) async fn reply(&mut self) -> Reply {
        let arguments = std::mem::take(&mut self.arguments);
        let called = self.session.call(&self.tool, arguments, self.timeout);
        called.await
    }

    /// Whether the server says that it needs the older protocol for this.
    pub(super) fn lacks_back_channel(&self, reply: &Reply) -> bool {
        self.session.lacks_back_channel(reply)
    }

    /// Ends the session, whose server speaks the older protocol from its next start on.
    pub(super) async fn fall_back(self, toolbox: &mut Toolbox, recorder: &mut Recorder<'_>) {
        record_notices(&self.server, &self.session, recorder);
        let pool = &mut toolbox.pool;
        pool.fall_back_to_legacy(&self.server, self.session, recorder)
            .await;
    }
}

/// Prepares a call to an MCP tool: the server is up, the arguments are what it gets.
pub(super) async fn prepare(
    toolbox: &mut Toolbox,
    request: &CallRequest,
    recorder: &mut Recorder<'_>,
) -> Result<Prepared, Failure> {
    let (server, tool) = request
        .tool
        .server_and_tool(|name| toolbox.pool.knows(name))
        .ok_or_else(|| {
            Failure::new(
                FailureKind::BadParameters,
                format!("`{}` is not a valid tool name", request.tool),
            )
        })?;
    let timeout = request
        .timeout
        .or(toolbox.timeout)
        .or(toolbox.pool.call_timeout(server))
        .unwrap_or(DEFAULT_TIMEOUT);
    let arguments = bind_scripts(toolbox, tool, &request.params)?;
    let session = toolbox.pool.session(server, recorder).await?;
    permit(&toolbox.policy, server, &session, tool).await?;
    toolbox.turn_to(server);
    if !request.targets.is_empty() || page::is_browser(&session) {
        // The server is asked more than the call, which may take its time.
        recorder.settle();
    }
    let peer = Peer {
        server,
        session: &session,
        call_id: Some(&request.call_id),
        timeout,
    };
    let preparing = async {
        // What few calls need is boxed, so that the others don't carry its room.
        if toolbox.viewport.is_some() {
            Box::pin(page::resize(toolbox, peer, recorder)).await;
        }
        // The descriptions stay where they are: some schemas are large.
        let is_fitted = toolbox.is_strict || !arguments.is_empty() || page::is_browser(&session);
        let tools = match is_fitted {
            // A server that can't list its tools may still be able to call them.
            true => session.tools().await.ok().flatten(),
            false => None,
        };
        let info = tools
            .iter()
            .flat_map(|tools| tools.iter())
            .find(|info| info.name == tool);
        let mut arguments = match info {
            Some(info) if info.requires_task => return Err(needs_task(server, tool)),
            Some(info) => {
                if request.attempt == 1 {
                    let unknown = unknown_names(info, server, &arguments).into_iter();
                    let unknown = unknown.map(|message| format!("C-PARAM-03: {message}"));
                    let unknown: Vec<_> = unknown.collect();
                    toolbox.unless_lossy(Json::Null, &unknown, recorder)?;
                }
                let arguments = fitted(toolbox, &request.params, arguments, info, recorder)?;
                page::complete(toolbox, peer, info, arguments, recorder).await
            }
            None => arguments,
        };
        if !request.targets.is_empty() {
            let place = target::Place {
                peer,
                page: arguments.get(page::PAGE_ID).cloned(),
            };
            let targets = &request.targets;
            let aim = target::aim(toolbox, place, tool, targets, &mut arguments, recorder);
            for element in Box::pin(aim).await? {
                recorder.record(log("debug", format!("the target is {element}")));
            }
        }
        if let Some(info) = info.filter(|_| toolbox.is_strict) {
            check_strictly(info, &arguments)?;
        }
        Ok(arguments)
    };
    let arguments = match request.timeout {
        Some(limit) => tokio::time::timeout(limit, preparing)
            .await
            .map_err(|_| timed_out(limit))?,
        None => preparing.await,
    }?;
    if let Some(info) = older::key_tool(&session, tool).await {
        let typed = older::type_by_keys(toolbox, peer, &info, arguments, recorder);
        let typed = Box::pin(typed).await;
        record_notices(server, &session, recorder);
        return Ok(Prepared::Over(match typed {
            Ok(reply) => value_of(toolbox, request, &session, tool, &reply).await,
            Err(NotTyped::Failed(failure)) => Err(failure),
            Err(NotTyped::Call(error)) => Err(call_failure(&session, tool, &error).await),
        }));
    }
    let arguments = peer.complete(arguments);
    if request.params.json.as_object() != Some(&arguments) {
        peer.record_sent(tool, &arguments, recorder);
        recorder.write();
    }
    // What was asked before belongs to other calls.
    toolbox.pool.take_unanswered(&session);
    let without_path = older::without_path(tool, &arguments);
    if let (Some(_), Some(path)) = (&without_path, request.params.text("/filePath")) {
        toolbox.policy.write_path(&path).map_err(builtin::refused)?;
    }
    Ok(Prepared::Mcp(Box::new(Call {
        server: server.to_owned(),
        tool: tool.to_owned(),
        session,
        arguments,
        timeout,
        without_path,
    })))
}

/// Makes a reply the value of its call.
pub(super) async fn finish(
    toolbox: &mut Toolbox,
    request: &CallRequest,
    call: Call,
    reply: Reply,
    recorder: &mut Recorder<'_>,
) -> Result<Answer, Failure> {
    let Call {
        server,
        session,
        tool,
        without_path,
        timeout,
        ..
    } = call;
    let (server, tool) = (&*server, &*tool);
    toolbox.turn_to(server);
    record_notices(server, &session, recorder);
    let peer = Peer {
        server,
        session: &session,
        call_id: Some(&request.call_id),
        timeout,
    };
    let unanswered = toolbox.pool.take_unanswered(&session);
    let is_all = matches!(&reply, Err(error) if matches!(error.kind, ErrorKind::NeedsInput { .. }));
    let answer = match reply {
        Ok(mut reply) => {
            page::follow(toolbox, server, tool, &reply);
            let changed = result::changes(&reply).into_iter();
            let changed = changed.map(|warning| format!("{}: {}", warning.code, warning.message));
            let changed: Vec<String> = changed.collect();
            let checked = toolbox.unless_lossy(Json::Null, &changed, recorder);
            if let Some(arguments) = without_path.filter(|_| reply.is_error) {
                let saved =
                    older::save_screenshot(toolbox, request, peer, arguments, &reply, recorder);
                if let Some(saved) = Box::pin(saved).await {
                    reply = saved?;
                }
            }
            match Box::pin(broken_promise(peer, tool, &reply)).await {
                Some(failure) => Err(failure),
                None => {
                    let answer = value_of(toolbox, request, &session, tool, &reply).await;
                    answer.and_then(|answer| checked.map(|_| answer))
                }
            }
        }
        Err(error) => Err(Box::pin(call_failure(&session, tool, &error)).await),
    };
    match unanswered.into_iter().next() {
        Some(first) => with_unanswered(answer, first, is_all),
        None => answer,
    }
}

/// Refuses a tool that may change something, if the policy limits these.
pub(super) async fn permit(
    policy: &Policy,
    server: &str,
    session: &Session,
    tool: &str,
) -> Result<(), Failure> {
    if !policy.limits_tools() {
        return Ok(());
    }
    // Nothing is known of a tool that is not listed.
    let tools = session.tools().await.ok().flatten();
    let mut listed = tools.iter().flat_map(|tools| tools.iter());
    match listed.find(|info| info.name == tool) {
        Some(info) if info.is_read_only => Ok(()),
        _ => policy.writing_tool(server, tool).map_err(builtin::refused),
    }
}

fn needs_task(server: &str, tool: &str) -> Failure {
    let found = super::connect::needs_task(server, tool);
    let mut failure = Failure::new(FailureKind::BadParameters, found.message);
    failure.help = found.help;
    failure
}

/// The outcome of a call during which a question got no answer. A server that was told to ask has no answer to
/// go on with. One that asks all the same and goes on is its own affair.
fn with_unanswered(
    answer: Result<Answer, Failure>,
    question: Unanswered,
    is_all: bool,
) -> Result<Answer, Failure> {
    match (answer, question.is_offered) {
        (Ok(answer), false) => Ok(answer),
        (Err(mut failure), false) => {
            failure.notes.push(question.message);
            failure.help = Some(question.help);
            Err(failure)
        }
        (answer, true) => {
            let mut failure = Failure::new(question.kind, question.message);
            failure.help = Some(question.help);
            failure.span = question.span;
            match answer {
                // The call failed for want of this answer, which says it all.
                Err(_) if is_all => {}
                Ok(answer) => failure.result = Some(answer.value),
                Err(call) => {
                    failure
                        .notes
                        .push(format!("the call itself failed with: {}", call.message));
                    failure.notes.extend(call.notes);
                    failure.result = call.result;
                }
            }
            Err(failure)
        }
    }
}

/// The arguments as the tool's schema asks for them. What can't be settled is sent as it is, unless the run is strict.
fn fitted(
    toolbox: &Toolbox,
    params: &Value,
    arguments: Map<String, Json>,
    info: &ToolInfo,
    recorder: &mut Recorder<'_>,
) -> Result<Map<String, Json>, Failure> {
    let fitted = fit(arguments, &info.input_schema, &params.marks);
    record_warnings(&fitted.converted, recorder);
    let mut unsettled = fitted.unsettled.into_iter();
    let Some(first) = unsettled.next() else {
        return Ok(fitted.arguments);
    };
    if !toolbox.is_strict {
        record_warnings(&[first], recorder);
        record_warnings(&unsettled.collect::<Vec<_>>(), recorder);
        return Ok(fitted.arguments);
    }
    let mut failure = Failure::new(FailureKind::BadParameters, first);
    failure
        .notes
        .extend(unsettled.map(|text| format!("also {text}")));
    failure.help = Some("give the value its type: `--var-json NAME=JSON`".to_owned());
    Err(failure)
}

/// Compares arguments with all that the schema of their tool says.
fn check_strictly(tool: &ToolInfo, arguments: &Map<String, Json>) -> Result<(), Failure> {
    let found = check_arguments(tool, arguments.clone());
    let mut errors = found.iter().filter(|it| it.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return Ok(());
    };
    let mut failure = Failure::new(FailureKind::BadParameters, &first.message);
    let also = errors.map(|error| format!("also {}", error.message));
    failure.notes.extend(also);
    failure.help.clone_from(&first.help);
    Err(failure)
}

/// Binds data inside script parameters, so that what a peer answered never becomes code.
fn bind_scripts(
    toolbox: &Toolbox,
    tool: &str,
    params: &Value,
) -> Result<Map<String, Json>, Failure> {
    let mut arguments = Json::clone(&params.json);
    let mut scripts = Vec::new();
    if params.marks.iter().any(|mark| !mark.origin.is_trusted()) {
        find_scripts(tool, &arguments, "", &mut scripts);
    }
    let is_program = arguments["format"] == "script";
    for (name, pointer) in scripts {
        // Below a list or in the name of a member it can't be bound.
        let below = format!("{pointer}/");
        let is_below = |mark: &&Mark| mark.pointer.starts_with(&below) && !mark.origin.is_trusted();
        let place = arguments.pointer_mut(&pointer);
        let is_whole = matches!(place, Some(Json::Object(_) | Json::Array(_)));
        let whole = params.data_around(&pointer).filter(|_| is_whole);
        if let Some(mark) = params.marks.iter().find(is_below).or(whole) {
            let message = format!(
                "the data of `{{{{{}}}}}` is used inside `{name}`, which is not a string",
                mark.reference
            );
            return Err(Failure::new(FailureKind::RefusedData, message)
                .with_help("write the script as one string"));
        }
        let text = params.text(&pointer).filter(|text| !text.is_trusted());
        let (Some(text), Some(place)) = (text, place) else {
            continue;
        };
        let is_function = matches!(folded(&name).as_str(), "function" | "pagefunction");
        let shape = match is_function && !is_program {
            true => ScriptShape::Function,
            false => ScriptShape::Program,
        };
        let script = toolbox.policy.script(&text, shape);
        *place = Json::String(script.map_err(builtin::refused)?);
    }
    match arguments {
        Json::Object(arguments) => Ok(arguments),
        _ => Err(Failure::new(
            FailureKind::BadParameters,
            "the parameters are not an object",
        )),
    }
}

/// Parameters that hold a script in whatever tool, as [`folded`] writes them, and those that do so in a tool that runs
/// scripts.
const SCRIPTS: &[&str] = &["initscript", "pagefunction", "jsscript"];
const SCRIPTS_OF_SCRIPT_TOOLS: &[&str] = &[
    "function",
    "expression",
    "script",
    "code",
    "js",
    "javascript",
];

/// Adds the name and pointer of each parameter of a tool that holds a script, at any depth. That of Claude in Chrome's
/// `javascript_tool` is `text`.
fn find_scripts(tool: &str, json: &Json, at: &str, found: &mut Vec<(String, String)>) {
    let is_script = |key: &str| {
        let name = folded(key);
        let is_name = |names: &[&str]| names.contains(&name.as_str());
        is_name(SCRIPTS)
            || (is_name(SCRIPTS_OF_SCRIPT_TOOLS) && is_script_tool(tool))
            || (name == "text" && folded(tool).contains("javascript"))
    };
    let mut add = |key: &str, value| {
        let mut pointer = at.to_owned();
        push_pointer(&mut pointer, key);
        match is_script(key) {
            true => found.push((key.to_owned(), pointer)),
            false => find_scripts(tool, value, &pointer, found),
        }
    };
    match json {
        Json::Object(members) => members.iter().for_each(|(key, value)| add(key, value)),
        Json::Array(items) => (0..)
            .zip(items)
            .for_each(|(at, item)| add(&i32::to_string(&at), item)),
        _ => {}
    }
}

/// A name without its case and what joins its words: `init_script` is `initScript`.
fn folded(name: &str) -> String {
    name.replace(['_', '-'], "").to_lowercase()
}

/// Whether a tool runs scripts, by the words of its name, which `description` and `subscription` don't have.
fn is_script_tool(tool: &str) -> bool {
    static RUNS: LazyLock<Regex> = LazyLock::new(|| {
        let words =
            "eval(?:uate)?(?:script|expression|function)?|js|(?:java|js|run|execute)?scripts?";
        let phrases =
            "run_?code|run_?playwright|playwright_?run|execute_?playwright|wait_?for_?function";
        let runs = format!("^execute$|(?:^|[_.-])(?:{words})(?:[_.-]|$)|{phrases}");
        Regex::new(&runs).expect("a fixed pattern")
    });
    // `evaluateScript`
    static HUMP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("([a-z0-9])([A-Z])").expect("a fixed pattern"));
    RUNS.is_match(&HUMP.replace_all(tool, "${1}_$2").to_lowercase())
}

/// What an answer lacks of what its tool promises: the SDKs refuse it, and agents never get to see it. Like them, it
/// asks for no list of its own: what was not listed has promised nothing.
async fn broken_promise(peer: Peer<'_>, tool: &str, reply: &ToolReply) -> Option<Failure> {
    const LONGEST: usize = 300;
    if reply.is_error {
        return None;
    }
    let tools = peer.session.listed_tools().await?;
    let info = tools.iter().find(|info| info.name == tool)?;
    let schema = info.output_schema.as_ref()?;
    let message = match &reply.structured {
        None => format!(
            "the answer has no structured content, which the output schema of `{tool}` requires"
        ),
        Some(structured) => {
            let validator = jsonschema::validator_for(schema).ok()?;
            // An integer that is too large for us stands there as the text of its digits.
            let is_ours = |value: &Json| value.as_str().is_some_and(is_large_integer);
            let mut errors = validator.iter_errors(structured);
            let error = errors.find(|error| !is_ours(error.instance()))?;
            let place = match error.instance_path().to_string() {
                place if place.is_empty() => String::new(),
                place => format!(" at `{place}`"),
            };
            let reason = error.to_string();
            let reason = cut(&reason, LONGEST);
            format!(
                "the structured content of the answer does not match the output schema of `{tool}`{place}: {reason}"
            )
        }
    };
    let mut failure = Failure::new(FailureKind::CallFailed, message);
    failure.help = Some("fix the server: the MCP SDKs reject such a response".to_owned());
    failure.result.clone_from(&reply.structured);
    Some(failure)
}

async fn value_of(
    toolbox: &Toolbox,
    request: &CallRequest,
    session: &Session,
    tool: &str,
    reply: &ToolReply,
) -> Result<Answer, Failure> {
    let extracted = result::value_of(tool, reply, request.parse);
    let text = result::text_of(reply);
    let failed = if reply.is_error {
        Some(match &reply.structured {
            _ if !text.trim().is_empty() => text.clone(),
            Some(structured) if !structured.is_null() => structured.to_string(),
            _ => "the tool reported an error without a message".to_owned(),
        })
    } else {
        result::hidden_failure(&text).or_else(|| {
            let line = result::failed_navigation(tool, &text)?;
            Some(format!("the navigation failed: {line}"))
        })
    };
    let answer = extracted.map(|extracted| {
        Ok(Answer {
            value: save_files(toolbox, request, extracted.value, &extracted.blobs)?,
            text: extracted.text,
            structured: extracted.structured,
        })
    });
    let Some(message) = failed else {
        return answer.unwrap_or_else(|unmet| {
            let message = format!("the answer can't be parsed as `parse` requires: {unmet}");
            let mut failure = Failure::new(FailureKind::ToolError, message);
            failure.result = Some(Json::String(text));
            Err(failure)
        });
    };
    let mut failure = Failure::new(FailureKind::ToolError, message.trim().to_owned());
    failure.result = Some(match answer {
        Ok(answer) => answer?.value,
        Err(_) => Json::String(text),
    });
    explain_unknown_tool(session, tool, &mut failure).await;
    Err(failure)
}

/// Writes images and other files of an answer into the run directory and puts their paths into the value.
fn save_files(
    toolbox: &Toolbox,
    request: &CallRequest,
    mut value: Json,
    blobs: &[Blob],
) -> Result<Json, Failure> {
    for blob in blobs {
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(blob.base64.trim())
            .map_err(|error| {
                Failure::new(
                    FailureKind::CallFailed,
                    format!("a file in the answer is not valid base64: {error}"),
                )
            })?;
        let saved = match &toolbox.run_dir {
            Some(run_dir) => {
                let name = format!(
                    "{}_{}.{}",
                    request.call_id,
                    blob.index,
                    extension(&blob.media_type)
                );
                let path = run_dir.save(&name, &bytes).map_err(|error| {
                    Failure::new(
                        FailureKind::RunFile,
                        format!("`{name}` can't be written into the run directory: {error}"),
                    )
                })?;
                Json::String(path.display().to_string())
            }
            None => Json::Null,
        };
        place_file(&mut value, blob.index, &saved, bytes.len());
    }
    Ok(value)
}

/// Replaces the placeholder of file `index` by where it was saved.
fn place_file(value: &mut Json, index: usize, saved: &Json, bytes: usize) {
    match value {
        Json::Array(items) => items
            .iter_mut()
            .for_each(|item| place_file(item, index, saved, bytes)),
        Json::Object(members) if is_file(members, index) => {
            members.remove("blob");
            members.insert("path".to_owned(), saved.clone());
            members.insert("bytes".to_owned(), bytes.into());
        }
        _ => {}
    }
}

fn is_file(members: &Map<String, Json>, index: usize) -> bool {
    let blob = members.get("blob").and_then(Json::as_u64);
    blob.and_then(|blob| usize::try_from(blob).ok()) == Some(index)
        && members.contains_key("media_type")
}

pub(super) fn extension(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "application/pdf" => "pdf",
        "application/json" => "json",
        other if other.starts_with("text/") => "txt",
        _ => "bin",
    }
}

async fn call_failure(session: &Session, tool: &str, error: &ServerError) -> Failure {
    let mut failure = failed_call(error);
    if matches!(error.kind, ErrorKind::RpcError { .. }) {
        explain_unknown_tool(session, tool, &mut failure).await;
    }
    failure
}

/// A call that got no answer, as a step's failure.
pub(super) fn failed_call(error: &ServerError) -> Failure {
    let kind = match &error.kind {
        ErrorKind::NoAnswer { .. } => FailureKind::Timeout,
        _ => FailureKind::CallFailed,
    };
    let mut failure = Failure::new(kind, error.to_string());
    if let ErrorKind::RpcError {
        code,
        message,
        data: Some(data),
    } = &error.kind
    {
        failure.result = Some(json!({ "code": code, "message": message, "data": data }));
    }
    failure.notes.extend(error.facts.last_words_note());
    failure.help = error.help();
    failure
}

/// If the tool is not one that the server lists, that is the likely reason.
async fn explain_unknown_tool(session: &Session, tool: &str, failure: &mut Failure) {
    if session.is_over() {
        return;
    }
    let Ok(Ok(Some(tools))) = tokio::time::timeout(Duration::from_secs(5), session.tools()).await
    else {
        return;
    };
    if tools.iter().any(|info| info.name == tool) {
        return;
    }
    failure
        .notes
        .push(format!("the server does not list the tool `{tool}`"));
    let names = tools.iter().map(|info| info.name.as_str());
    if let Some(proposal) = did_you_mean(tool, names) {
        failure.help = Some(format!("did you mean `{proposal}`?"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(tool: &str, params: Json) -> Vec<String> {
        let mut found = Vec::new();
        find_scripts(tool, &params, "", &mut found);
        found.into_iter().map(|(_, pointer)| pointer).collect()
    }

    #[test]
    fn scripts_are_found_at_any_depth_by_the_words_of_the_tool() {
        let params = json!({"Function": "f", "options": {"script": "s", "list": [{"init_script": "i"}]}, "text": "t"});
        let all = [
            "/Function",
            "/options/script",
            "/options/list/0/init_script",
        ];
        for tool in [
            "evaluate_script",
            "browser_evaluate",
            "evaluateScript",
            "browser_run_code",
            "puppeteer_eval",
            "execute",
            "run-js",
            "list_scripts",
            "wait_for_function",
        ] {
            assert_eq!(scripts(tool, params.clone()), all, "{tool}");
        }
        let tool = "javascript_tool";
        assert_eq!(
            scripts(tool, params.clone()),
            [&all[..], &["/text"]].concat()
        );
        for tool in [
            "create_subscription",
            "update_description",
            "get_transcript",
            "find_evaluation",
            "execute_query",
            "run_tests",
        ] {
            assert_eq!(scripts(tool, params.clone()), all[2..], "{tool}");
        }
    }
}

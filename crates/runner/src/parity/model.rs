//! The APIs of a model: a client goes through a conversation, with the tools of the timeline.

use std::time::Duration;

use cuecard_llm::{LlmOptions, MockLlm};
use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{EventKind, ExpectedResult, Timeline, ToolStatus};
use cuecard_timeline::profiles::AbstractCall;
use cuecard_timeline::script::{Endpoint, ExpectedBlock, LlmScript, RequestedBlock, Turn};
use cuecard_wire::llm::answer::{CallInput, Element};
use cuecard_wire::llm::decode::read_body;
use cuecard_wire::llm::media::user_message;
use serde_json::json;

use super::players::{first_error, play_options};
use super::{Face, Seen, View, scripted_text};
use crate::timeline::{RunOptions, RunScript};

const TIMEOUT: Duration = Duration::from_secs(120);
/// A scripted error is asked again so often.
const MAX_RETRIES: usize = 20;
const MODEL: &str = "scripted";

/// What a client of the model sees over the API of `face`.
pub(super) async fn play(
    script: &RunScript,
    options: &RunOptions,
    face: Face,
) -> Result<View, String> {
    let workspace = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut play = play_options(options);
    play.require_complete = true;
    // What asserts look at is made by nobody here.
    let settings = LlmOptions {
        play,
        keep_going: true,
        workspace: workspace.path().to_owned(),
        environment: options.environment.clone(),
        ..LlmOptions::default()
    };
    let running = MockLlm::from_file(script.file()).options(settings).start();
    let running = running.await.map_err(|error| error.to_string())?;
    let url = running.base_url();
    let seen = converse(&url, script.timeline(), face).await;
    let verdict = running.stop().await;
    let mut findings = verdict.findings;
    findings.retain(|found| {
        found.code != codes::MODEL_ASSERT_FAILED && found.code != codes::EXPECTATION_FAILED
    });
    match (first_error(&findings), seen) {
        (Some(error), _) | (None, Err(error)) => Err(error),
        (None, Ok(view)) => Ok(view),
    }
}

/// Goes through the turns of a timeline.
async fn converse(
    url: &str,
    timeline: &std::sync::Arc<Timeline>,
    face: Face,
) -> Result<View, String> {
    let (timeline, _) = cuecard_runtime::media::embedded(timeline.clone(), |_| true);
    let timeline = &timeline;
    let (script, _) = LlmScript::compile(timeline.clone(), false);
    let mut client = Client::new(url, face, timeline)?;
    let mut view = View::default();
    let mut waits_for_results = false;
    for turn in script.turns.turns.iter().filter(|turn| !turn.is_history) {
        match (&turn.input, waits_for_results) {
            (Some(input), _) => {
                let text = input.text.as_deref();
                let shown = text.map(str::to_owned);
                // It may be that of a resource.
                let mut inputs = timeline.inputs();
                let at_its_place = || inputs.find(|it| it.span == input.span)?.prompt_text();
                let shown = shown.or_else(at_its_place);
                view.seen.extend(shown.map(Seen::Prompt));
                let blocks = input.blocks.iter().map(ExpectedBlock::to_requested);
                client.say(text.as_slice(), &blocks.collect::<Vec<_>>());
            }
            // A turn without calls was the last of a request; the next one needs something to answer.
            (None, false) => client.say(&["Go on"], &[]),
            (None, true) => {}
        }
        let elements = client.ask(turn).await?;
        // After an error the same request is asked again.
        if elements.is_empty()
            && turn
                .attempts
                .last()
                .is_some_and(|last| last.error.is_some())
        {
            waits_for_results = true;
            continue;
        }
        let mut calls = Vec::new();
        for element in elements {
            let text = |pieces: Vec<cuecard_wire::llm::answer::Piece>| {
                pieces
                    .into_iter()
                    .map(|piece| piece.text.to_string())
                    .collect::<String>()
            };
            match element {
                Element::Thinking(pieces) => view.seen.push(Seen::Thought(text(pieces))),
                Element::Text(pieces) | Element::Refusal(pieces) => {
                    view.seen.push(Seen::Message(text(pieces)));
                }
                Element::Call(call) => {
                    let args = match call.input {
                        CallInput::Arguments(args) => (*args).clone(),
                        CallInput::Text(text) | CallInput::Raw(text) => json!(text),
                    };
                    calls.push((call.id.clone(), call.name.clone()));
                    view.seen.push(Seen::Call {
                        id: call.id,
                        tool: call.name,
                        args,
                    });
                }
            }
        }
        waits_for_results = !calls.is_empty();
        client.give(timeline, &calls);
    }
    Ok(view)
}

/// A client of one API.
struct Client {
    http: reqwest::Client,
    url: String,
    endpoint: Endpoint,
    /// Names of tools with their schemas.
    tools: Vec<(String, Json)>,
    /// The conversation, as the API has it.
    history: Vec<Json>,
}

impl Client {
    fn new(url: &str, face: Face, timeline: &Timeline) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(TIMEOUT)
            .build();
        Ok(Self {
            http: http.map_err(|error| error.to_string())?,
            url: url.to_owned(),
            endpoint: match face {
                Face::Responses => Endpoint::Responses,
                Face::Messages => Endpoint::Messages,
                Face::Gemini => Endpoint::Gemini,
                _ => Endpoint::Chat,
            },
            tools: tools_of(timeline),
            history: Vec::new(),
        })
    }

    fn say(&mut self, texts: &[&str], blocks: &[RequestedBlock]) {
        self.history
            .push(user_message(self.endpoint, texts, blocks));
    }

    /// Asks for a turn: once for each of its attempts that end in an error, and for its answer, if it has one.
    async fn ask(&mut self, turn: &Turn) -> Result<Vec<Element>, String> {
        let has_answer = turn.attempts.last().is_none_or(|last| last.error.is_none());
        let may_fail = turn.attempts.iter().any(|attempt| attempt.error.is_some());
        let mut n_errors = 0;
        while n_errors < MAX_RETRIES {
            let (path, body) = self.request();
            let request = self.http.post(format!("{}{path}", self.url));
            let request = match self.endpoint {
                Endpoint::Messages => request.header("anthropic-version", "2023-06-01"),
                _ => request,
            };
            let said = |error: reqwest::Error| format!("the model can't be reached: {error}");
            let request = request.bearer_auth("cuecard").json(&body);
            let answer = request.send().await.map_err(said)?;
            let status = answer.status();
            let bytes = answer.bytes().await.map_err(said)?;
            if status.is_success() {
                self.remember(&bytes)?;
                let bytes = described_images(&bytes, turn).unwrap_or(bytes.into());
                let decoded = read_body(self.endpoint, &bytes, 0)?;
                return Ok(decoded.elements);
            }
            if !may_fail {
                let text = String::from_utf8_lossy(&bytes);
                return Err(format!("the model answered {status}: {}", cut(&text, 400)));
            }
            n_errors += 1;
            if !has_answer && n_errors == turn.attempts.len() {
                return Ok(Vec::new());
            }
        }
        Err("the model answered nothing but errors".to_owned())
    }

    fn request(&self) -> (String, Json) {
        let tools = self.tools.iter();
        let history = &self.history;
        match self.endpoint {
            Endpoint::Chat => {
                let tools = tools.map(|(name, schema)| json!({"type": "function", "function": {"name": name, "parameters": schema}}));
                let tools: Vec<Json> = tools.collect();
                let mut body = json!({"model": MODEL, "messages": history});
                if !tools.is_empty() {
                    body["tools"] = tools.into();
                }
                ("/v1/chat/completions".into(), body)
            }
            Endpoint::Messages => {
                let tools: Vec<Json> = tools
                    .map(|(name, schema)| json!({"name": name, "input_schema": schema}))
                    .collect();
                let body = json!({"model": MODEL, "max_tokens": 4096, "messages": history, "tools": tools,
                    "thinking": {"type": "enabled", "budget_tokens": 1024}});
                ("/v1/messages".into(), body)
            }
            Endpoint::Responses => {
                let tools = tools.map(|(name, schema)| json!({"type": "function", "name": name, "parameters": schema}));
                let tools: Vec<Json> = tools.collect();
                let body = json!({"model": MODEL, "input": history, "tools": tools, "reasoning": {"summary": "auto"}});
                ("/v1/responses".into(), body)
            }
            Endpoint::Gemini => {
                let tools: Vec<Json> = tools
                    .map(|(name, schema)| json!({"name": name, "parametersJsonSchema": schema}))
                    .collect();
                let body = json!({"contents": history, "tools": [{"functionDeclarations": tools}],
                    "generationConfig": {"thinkingConfig": {"includeThoughts": true}}});
                (format!("/v1beta/models/{MODEL}:generateContent"), body)
            }
        }
    }

    /// Takes an answer into the conversation, as clients do.
    fn remember(&mut self, bytes: &[u8]) -> Result<(), String> {
        let body: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match self.endpoint {
            Endpoint::Chat => self.history.push(body["choices"][0]["message"].clone()),
            Endpoint::Messages => {
                self.history
                    .push(json!({"role": "assistant", "content": body["content"]}));
            }
            Endpoint::Responses => {
                self.history
                    .extend(body["output"].as_array().into_iter().flatten().cloned());
            }
            // What is withheld has none.
            Endpoint::Gemini => {
                let content = &body["candidates"][0]["content"];
                self.history
                    .extend(content.is_object().then(|| content.clone()));
            }
        }
        Ok(())
    }

    /// Gives the results of calls as the timeline has them.
    fn give(&mut self, timeline: &Timeline, calls: &[(String, String)]) {
        let results: Vec<(&str, &str, String, bool)> = calls
            .iter()
            .map(|(id, name)| {
                let (text, is_error) = result_of(timeline, id);
                (id.as_str(), name.as_str(), text, is_error)
            })
            .collect();
        let results = results.into_iter();
        match self.endpoint {
            Endpoint::Chat => self.history.extend(results.map(|(id, _, text, _)| {
                json!({"role": "tool", "tool_call_id": id, "content": text})
            })),
            Endpoint::Responses => self.history.extend(results.map(|(id, _, text, _)| {
                json!({"type": "function_call_output", "call_id": id, "output": text})
            })),
            Endpoint::Messages => {
                let blocks: Vec<Json> = results
                    .map(|(id, _, text, is_error)| {
                        json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error})
                    })
                    .collect();
                if !blocks.is_empty() {
                    self.history.push(json!({"role": "user", "content": blocks}));
                }
            }
            Endpoint::Gemini => {
                let parts: Vec<Json> = results
                    .map(|(id, name, text, _)| {
                        json!({"functionResponse": {"id": id, "name": name, "response": {"output": text}}})
                    })
                    .collect();
                if !parts.is_empty() {
                    self.history.push(json!({"role": "user", "parts": parts}));
                }
            }
        }
    }
}

/// The tools that a client advertises: those of the timeline, by all of their names, with all of their arguments.
fn tools_of(timeline: &Timeline) -> Vec<(String, Json)> {
    let mut tools: Vec<(String, Json)> = Vec::new();
    let mut add = |name: &str, args: &Json| {
        let known = tools.iter().position(|(known, _)| known == name);
        let idx = known.unwrap_or_else(|| {
            tools.push((name.to_owned(), json!({"type": "object", "properties": {}})));
            tools.len() - 1
        });
        for key in args.as_object().into_iter().flat_map(serde_json::Map::keys) {
            tools[idx].1["properties"][key] = json!({});
        }
    };
    for event in &timeline.events {
        match &event.kind {
            EventKind::ToolUse(call) => {
                add(&call.tool, &call.args);
                let args = call.written_args.as_ref().unwrap_or(&call.args);
                add(call.written_tool.as_ref().unwrap_or(&call.tool), args);
            }
            EventKind::AgentEdits(edit) => {
                if let Some(call) = AbstractCall::of_edit(edit, event.span) {
                    add(&call.tool, &call.args);
                }
            }
            _ => {}
        }
    }
    tools
}

/// The result that the timeline has for a call, and whether it is an error.
fn result_of(timeline: &Timeline, id: &str) -> (String, bool) {
    let call = timeline.events.iter().find_map(|event| match &event.kind {
        EventKind::ToolUse(call) if call.call_id == id => Some(call),
        _ => None,
    });
    let Some(call) = call else {
        return ("done".to_owned(), false);
    };
    let text = match &call.result {
        Some(ExpectedResult::Contains(part)) => part.clone(),
        result => scripted_text(result.as_ref()).unwrap_or_default(),
    };
    (text, call.status == ToolStatus::Error)
}

/// The answer of a turn with the text of the timeline in place of each image of Gemini's; none if there can be none.
fn described_images(bytes: &[u8], turn: &Turn) -> Option<Vec<u8>> {
    let mut body: Json = serde_json::from_slice(bytes).ok()?;
    let parts = body.pointer_mut("/candidates/0/content/parts")?;
    for part in parts.as_array_mut()? {
        let data = &part["inlineData"]["data"];
        if let Some((_, text)) = turn.images().find(|(image, _)| image.data == *data) {
            *part = json!({"text": text});
        }
    }
    serde_json::to_vec(&body).ok()
}

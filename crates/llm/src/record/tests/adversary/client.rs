//! A client that reads JSON and server-sent events by itself, and an upstream's answers in bytes.

use cuecard_timeline::script::Endpoint;
use serde_json::{Map, Value, json};

/// Members that come in pieces.
const IN_PIECES: &[&str] = &[
    "arguments",
    "content",
    "input",
    "reasoning",
    "reasoning_content",
    "refusal",
];
/// What is about an answer, and made anew by each server.
const ABOUT: &[&str] = &[
    "call_id",
    "completed_at",
    "createTime",
    "created",
    "created_at",
    "encrypted_content",
    "id",
    "item_id",
    "model",
    "modelVersion",
    "object",
    "responseId",
    "service_tier",
    "signature",
    "system_fingerprint",
    "thoughtSignature",
];
/// What a Responses answer says of its own.
const RESPONSE: &[&str] = &["error", "incomplete_details", "output", "status", "usage"];

/// An answer in bytes.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn error((status, body): (u16, Value)) -> Self {
        let (kind, body) = ("application/json", body.to_string());
        Self { status, kind, body }
    }

    /// The answer with this body, which may come as a stream.
    pub(super) fn of(endpoint: Endpoint, streams: bool, body: &Value) -> Self {
        if !streams {
            return Self::error((200, body.clone()));
        }
        let events = match endpoint {
            Endpoint::Chat => chat_events(body),
            Endpoint::Messages => messages_events(body),
            Endpoint::Responses => responses_events(body),
            Endpoint::Gemini => gemini_events(body),
        };
        let named = |event: &Value| match event["type"].as_str() {
            Some(name) if endpoint != Endpoint::Chat => format!("event: {name}\ndata: {event}\n\n"),
            _ => format!("data: {event}\n\n"),
        };
        let mut body: String = events.iter().map(named).collect();
        if endpoint == Endpoint::Chat {
            body.push_str("data: [DONE]\n\n");
        }
        Self {
            status: 200,
            kind: "text/event-stream",
            body,
        }
    }
}

/// A text in two pieces.
fn pieces(text: &str) -> Vec<&str> {
    let middle = text.char_indices().nth(text.chars().count() / 2);
    let (left, right) = text.split_at(middle.map_or(0, |(at, _)| at));
    [left, right]
        .into_iter()
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn without(json: &Value, names: &[&str]) -> Value {
    let mut json = json.clone();
    if let Some(members) = json.as_object_mut() {
        members.retain(|name, _| !names.contains(&name.as_str()));
    }
    json
}

fn chat_events(body: &Value) -> Vec<Value> {
    let mut chunks = vec![without(body, &["choices", "usage"])];
    for (index, choice) in body["choices"]
        .as_array()
        .expect("choices")
        .iter()
        .enumerate()
    {
        let mut add =
            |delta: Value| chunks.push(json!({"choices": [{"index": index, "delta": delta}]}));
        let message = choice["message"].as_object().expect("a message");
        for (name, member) in message {
            match member {
                Value::String(text) if IN_PIECES.contains(&name.as_str()) => {
                    pieces(text)
                        .into_iter()
                        .for_each(|piece| add(json!({ name: piece })));
                }
                Value::Array(calls) if name == "tool_calls" => {
                    for (number, call) in calls.iter().enumerate() {
                        let key = call["type"].as_str().expect("a type");
                        let input = if key == "custom" {
                            "input"
                        } else {
                            "arguments"
                        };
                        let mut begun = call.clone();
                        begun["index"] = json!(number);
                        begun[key][input] = json!("");
                        add(json!({"tool_calls": [begun]}));
                        for piece in pieces(call[key][input].as_str().expect("a text")) {
                            add(json!({"tool_calls": [{"index": number, key: {input: piece}}]}));
                        }
                    }
                }
                Value::Null => {}
                member => add(json!({ name: member })),
            }
        }
        let mut end = without(choice, &["message"]);
        end["delta"] = json!({});
        end["index"] = json!(index);
        chunks.push(json!({"choices": [end]}));
    }
    if !body["usage"].is_null() {
        chunks.push(json!({"choices": [], "usage": body["usage"]}));
    }
    chunks
}

fn messages_events(body: &Value) -> Vec<Value> {
    let mut message = without(body, &["stop_reason", "stop_sequence", "stop_details"]);
    message["content"] = json!([]);
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in body["content"]
        .as_array()
        .expect("content")
        .iter()
        .enumerate()
    {
        let mut begun = without(block, &["citations"]);
        let mut deltas = Vec::new();
        for (name, kind) in [("text", "text_delta"), ("thinking", "thinking_delta")] {
            if let Some(text) = block[name].as_str() {
                begun[name] = json!("");
                deltas.extend(
                    pieces(text)
                        .into_iter()
                        .map(|piece| json!({"type": kind, name: piece})),
                );
            }
        }
        for citation in block["citations"].as_array().into_iter().flatten() {
            deltas.push(json!({"type": "citations_delta", "citation": citation}));
        }
        if block["signature"].is_string() {
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        let input = match &block["input"] {
            Value::Null => None,
            // As it is cut.
            Value::String(text) => Some(text.clone()),
            input => Some(input.to_string()),
        };
        if let Some(input) = input {
            begun["input"] = json!({});
            let parts = pieces(&input).into_iter();
            deltas.extend(
                parts.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
            );
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = without(
        body,
        &[
            "id",
            "type",
            "role",
            "model",
            "content",
            "usage",
            "container",
        ],
    );
    events.push(json!({"type": "message_delta", "delta": delta, "usage": body["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn responses_events(body: &Value) -> Vec<Value> {
    let mut begun = body.clone();
    begun["output"] = json!([]);
    begun["status"] = json!("in_progress");
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in body["output"]
        .as_array()
        .expect("output")
        .iter()
        .enumerate()
    {
        let mut added = item.clone();
        let mut deltas = Vec::new();
        let mut add = |kind: &str, at: &str, number: usize, text: &Value| {
            for piece in pieces(text.as_str().unwrap_or_default()) {
                deltas.push(json!({"type": format!("response.{kind}.delta"), "output_index": index, at: number, "delta": piece}));
            }
        };
        for (number, part) in item["content"].as_array().into_iter().flatten().enumerate() {
            add("output_text", "content_index", number, &part["text"]);
            add("refusal", "content_index", number, &part["refusal"]);
            added["content"] = json!([]);
        }
        for (number, part) in item["summary"].as_array().into_iter().flatten().enumerate() {
            add(
                "reasoning_summary_text",
                "summary_index",
                number,
                &part["text"],
            );
            added["summary"] = json!([]);
        }
        let arguments = match item["type"].as_str() {
            Some("mcp_call") => "mcp_call_arguments",
            _ => "function_call_arguments",
        };
        for (name, kind) in [
            ("arguments", arguments),
            ("input", "custom_tool_call_input"),
        ] {
            if item[name].is_string() {
                add(kind, "n", 0, &item[name]);
                added[name] = json!("");
            }
        }
        // The text of what is thought has deltas of its own.
        if item["type"] == "reasoning" {
            deltas.retain(|delta| delta["type"] != "response.output_text.delta");
        }
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": added}),
        );
        events.extend(deltas);
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let end = format!("response.{}", body["status"].as_str().expect("a status"));
    events.push(json!({"type": end, "response": body}));
    events
}

fn gemini_events(body: &Value) -> Vec<Value> {
    let mut chunks = Vec::new();
    let mut last = body.clone();
    for (index, candidate) in last["candidates"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let content = candidate["content"].take();
        let mut add = |part: Value| {
            let content = json!({"role": "model", "parts": [part]});
            chunks.push(json!({"candidates": [{"index": index, "content": content}]}));
        };
        for part in content["parts"].as_array().into_iter().flatten() {
            match part["text"].as_str() {
                Some(text) => pieces(text).into_iter().for_each(|piece| {
                    let mut more = part.clone();
                    more["text"] = json!(piece);
                    add(more);
                }),
                None => add(part.clone()),
            }
        }
    }
    chunks.push(last);
    chunks
}

/// What a client sees of an answer: without what is about it, and without what says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observed(pub(super) Value);

pub(super) struct Client {
    http: reqwest::Client,
    url: String,
    endpoint: Endpoint,
    streams: bool,
    asks_for_thinking: bool,
    history: Vec<Value>,
    observed: Vec<Observed>,
}

impl Client {
    pub(super) fn new(
        http: reqwest::Client,
        url: String,
        endpoint: Endpoint,
        streams: bool,
        asks_for_thinking: bool,
    ) -> Self {
        Self {
            http,
            url,
            endpoint,
            streams,
            asks_for_thinking,
            history: Vec::new(),
            observed: Vec::new(),
        }
    }

    /// The same client in the middle of a conversation, which nobody recorded.
    pub(super) fn begun(mut self) -> Self {
        let call = json!({"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"});
        let history = match self.endpoint {
            Endpoint::Chat => json!([
                {"role": "user", "content": "Is it warm in Oslo?"},
                {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "call_old", "type": "function", "function": call}]},
                {"role": "tool", "tool_call_id": "call_old", "content": "Cold"},
                {"role": "assistant", "content": "It is cold."},
            ]),
            Endpoint::Messages => json!([
                {"role": "user", "content": "Is it warm in Oslo?"},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_old", "name": "get_weather", "input": {"city": "Oslo"}},
                ]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_old", "content": "Cold"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "It is cold."}]},
            ]),
            Endpoint::Gemini => json!([
                {"role": "user", "parts": [{"text": "Is it warm in Oslo?"}]},
                {"role": "model", "parts": [
                    {"text": "I look."}, {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "get_weather", "response": {"output": "Cold"}}},
                ]},
                {"role": "model", "parts": [{"text": "It is cold."}]},
            ]),
            Endpoint::Responses => json!([
                {"role": "user", "content": "Is it warm in Oslo?"},
                {"type": "function_call", "call_id": "call_old", "name": call["name"], "arguments": call["arguments"]},
                {"type": "function_call_output", "call_id": "call_old", "output": "Cold"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is cold."}]},
            ]),
        };
        self.history = history.as_array().cloned().expect("a list");
        self
    }

    /// Says two things, and returns what the calls want to know.
    pub(super) async fn converse(mut self) -> Vec<Observed> {
        for text in ["Begin with it", "Now something else"] {
            self.history.push(match self.endpoint {
                Endpoint::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
                _ => json!({"role": "user", "content": text}),
            });
            loop {
                let Some(answer) = self.ask().await else {
                    return self.observed;
                };
                if !self.keep(&answer) {
                    break;
                }
            }
        }
        self.observed
    }

    /// Asks, and asks again after an error.
    async fn ask(&mut self) -> Option<Value> {
        for _ in 0..6 {
            let (path, body) = self.request();
            let request = self.http.post(format!("{}{path}", self.url)).json(&body);
            let response = request.send().await.expect("an answer");
            let status = response.status().as_u16();
            let text = response.text().await.expect("a body");
            let answer = match status == 200 && self.streams {
                true => together(self.endpoint, &text),
                false => serde_json::from_str(&text).expect("JSON"),
            };
            self.observed.push(Observed(
                json!({"http": status, "answer": shown(self.endpoint, &answer)}),
            ));
            if status == 200 {
                return Some(answer);
            }
        }
        None
    }

    fn request(&self) -> (&'static str, Value) {
        let schema = json!({
            "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        });
        let (streams, history) = (self.streams, &self.history);
        match self.endpoint {
            Endpoint::Chat => (
                "/v1/chat/completions",
                json!({
                    "model": "m", "messages": history, "stream": streams,
                    "stream_options": streams.then(|| json!({"include_usage": true})),
                    "tools": [
                        {"type": "function", "function": {"name": "get_weather", "parameters": schema}},
                        {"type": "custom", "custom": {"name": "patch"}},
                    ],
                }),
            ),
            Endpoint::Messages => (
                "/v1/messages",
                json!({
                    "model": "m", "max_tokens": 9000, "messages": history, "stream": streams,
                    "thinking": match self.asks_for_thinking {
                        true => json!({"type": "enabled", "budget_tokens": 1024}),
                        false => json!({"type": "disabled"}),
                    },
                    "tools": [{"name": "get_weather", "input_schema": schema}],
                }),
            ),
            Endpoint::Gemini => (
                match streams {
                    true => "/v1beta/models/m:streamGenerateContent?alt=sse",
                    false => "/v1beta/models/m:generateContent",
                },
                json!({
                    "contents": history,
                    "generationConfig": {"thinkingConfig": {"includeThoughts": self.asks_for_thinking}},
                    "tools": [{"functionDeclarations": [
                        {"name": "get_weather", "parametersJsonSchema": schema},
                    ]}],
                }),
            ),
            Endpoint::Responses => (
                "/v1/responses",
                json!({
                    "model": "m", "input": history, "stream": streams,
                    "reasoning": match self.asks_for_thinking {
                        true => json!({"summary": "auto"}),
                        false => json!({}),
                    },
                    "tools": [
                        {"type": "function", "name": "get_weather", "parameters": schema},
                        {"type": "custom", "name": "patch"},
                    ],
                }),
            ),
        }
    }

    /// Keeps an answer as it came, and gives results for its calls, if it has some.
    fn keep(&mut self, answer: &Value) -> bool {
        let (items, id): (Vec<Value>, _) = match self.endpoint {
            Endpoint::Chat => {
                let message = &answer["choices"][0]["message"];
                // What the API had before there were tools is no call here.
                self.history.push(without(message, &["function_call"]));
                (
                    message["tool_calls"]
                        .as_array()
                        .cloned()
                        .unwrap_or_default(),
                    "id",
                )
            }
            Endpoint::Messages => {
                self.history
                    .push(json!({"role": "assistant", "content": answer["content"]}));
                (
                    answer["content"].as_array().cloned().expect("content"),
                    "id",
                )
            }
            Endpoint::Gemini => {
                let mut content = answer["candidates"][0]["content"].clone();
                content["role"] = json!("model");
                let parts = content["parts"].as_array().cloned().unwrap_or_default();
                self.history.push(content);
                let calls = parts.iter().map(|part| part["functionCall"].clone());
                (calls.filter(Value::is_object).collect(), "id")
            }
            Endpoint::Responses => {
                let output = answer["output"].as_array().expect("output");
                self.history.extend(output.iter().cloned());
                (output.clone(), "call_id")
            }
        };
        let calls = [
            "function",
            "custom",
            "tool_use",
            "function_call",
            "custom_tool_call",
        ];
        let calls: Vec<&Value> = items
            .iter()
            .filter(|item| {
                let is_call = |kind| calls.contains(&kind);
                self.endpoint == Endpoint::Gemini || item["type"].as_str().is_some_and(is_call)
            })
            .collect();
        let results: Vec<Value> = calls
            .iter()
            .map(|call| match self.endpoint {
                Endpoint::Chat => {
                    json!({"role": "tool", "tool_call_id": call[id], "content": "Sunny"})
                }
                Endpoint::Messages => {
                    json!({"type": "tool_result", "tool_use_id": call[id], "content": "Sunny"})
                }
                Endpoint::Gemini => json!({"functionResponse": {
                    "id": call[id], "name": call["name"], "response": {"output": "Sunny"},
                }}),
                Endpoint::Responses => json!({
                    "type": format!("{}_output", call["type"].as_str().expect("a type")),
                    "call_id": call[id], "output": "Sunny",
                }),
            })
            .collect();
        let has_calls = !results.is_empty();
        match self.endpoint {
            Endpoint::Messages if has_calls => self
                .history
                .push(json!({"role": "user", "content": results})),
            Endpoint::Gemini if has_calls => {
                self.history.push(json!({"role": "user", "parts": results}));
            }
            Endpoint::Messages | Endpoint::Gemini => {}
            Endpoint::Chat | Endpoint::Responses => self.history.extend(results),
        }
        has_calls
    }
}

/// A stream put together, as clients do.
fn together(endpoint: Endpoint, text: &str) -> Value {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut answer = json!({});
    for event in events {
        match endpoint {
            Endpoint::Chat => fold(&mut answer, &event),
            Endpoint::Messages => fold_messages(&mut answer, &event),
            Endpoint::Gemini => fold_gemini(&mut answer, &event),
            Endpoint::Responses if event["response"].is_object() => {
                answer = event["response"].clone();
            }
            Endpoint::Responses => {}
        }
    }
    for choice in answer["choices"].as_array_mut().into_iter().flatten() {
        choice["message"] = choice["delta"].take();
        if let Some(members) = choice.as_object_mut() {
            members.remove("delta");
        }
    }
    for block in answer["content"].as_array_mut().into_iter().flatten() {
        if let Some(text) = block
            .as_object_mut()
            .and_then(|block| block.remove("partial"))
        {
            let text = text.as_str().unwrap_or_default();
            block["input"] = serde_json::from_str(text).unwrap_or_else(|_| json!({"broken": text}));
        }
    }
    answer
}

fn fold_messages(answer: &mut Value, event: &Value) {
    let index = usize::try_from(event["index"].as_u64().unwrap_or(0)).expect("small");
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => *answer = event["message"].clone(),
        "content_block_start" => {
            let blocks = answer["content"].as_array_mut().expect("content");
            blocks.push(event["content_block"].clone());
        }
        "content_block_delta" => {
            let block = &mut answer["content"][index];
            let delta = &event["delta"];
            for (name, member) in [
                ("text", "text"),
                ("thinking", "thinking"),
                ("signature", "signature"),
                ("partial_json", "partial"),
            ] {
                if let Some(more) = delta[name].as_str() {
                    let known = block[member].as_str().unwrap_or_default();
                    block[member] = json!(format!("{known}{more}"));
                }
            }
            if let Some(citation) = delta.get("citation") {
                fold(block, &json!({"citations": [citation]}));
            }
        }
        "message_delta" => {
            fold(answer, &event["delta"]);
            fold(answer, &json!({"usage": event["usage"]}));
        }
        _ => {}
    }
}

fn fold_gemini(answer: &mut Value, event: &Value) {
    fold(answer, &without(event, &["candidates"]));
    for candidate in event["candidates"].as_array().into_iter().flatten() {
        let index = usize::try_from(candidate["index"].as_u64().unwrap_or(0)).expect("small");
        if answer["candidates"].is_null() {
            answer["candidates"] = json!([]);
        }
        let known = answer["candidates"].as_array_mut().expect("candidates");
        while known.len() <= index {
            known.push(json!({"content": {"parts": []}}));
        }
        let known = &mut known[index];
        fold(known, &without(candidate, &["content"]));
        let parts = known["content"]["parts"].as_array_mut().expect("parts");
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            match (parts.last_mut(), part["text"].as_str()) {
                (Some(last), Some(more))
                    if last["text"].is_string() && last["thought"] == part["thought"] =>
                {
                    let text = last["text"].as_str().unwrap_or_default();
                    last["text"] = json!(format!("{text}{more}"));
                }
                _ => parts.push(part.clone()),
            }
        }
    }
}

/// Adds what a chunk says to what was said before.
fn fold(into: &mut Value, more: &Value) {
    let Some(members) = more.as_object() else {
        return;
    };
    for (name, member) in members {
        match (&mut into[name], member) {
            (_, Value::Null) => {}
            (Value::String(known), Value::String(more)) if IN_PIECES.contains(&name.as_str()) => {
                known.push_str(more);
            }
            (known @ Value::Object(_), Value::Object(_)) => fold(known, member),
            (Value::Array(known), Value::Array(items)) => {
                for item in items {
                    let same = item["index"]
                        .as_u64()
                        .and_then(|index| known.iter().position(|it| it["index"] == index));
                    match same {
                        Some(at) => fold(&mut known[at], item),
                        None => known.push(item.clone()),
                    }
                }
            }
            (known, member) => *known = member.clone(),
        }
    }
}

/// Puts thoughts, texts and calls behind each other, and texts of one kind together.
pub(super) fn regroup(answer: &mut Value) {
    for candidate in answer["answer"]["candidates"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        let Some(parts) = candidate["content"]["parts"].as_array_mut() else {
            continue;
        };
        parts.sort_by_key(|part| (part["thought"] != true, !part["text"].is_string()));
        parts.dedup_by(|next, last| {
            let is_more = last["text"].is_string()
                && next["text"].is_string()
                && last["thought"] == next["thought"];
            if let (true, Some(text), Some(more)) =
                (is_more, last["text"].as_str(), next["text"].as_str())
            {
                last["text"] = json!(format!("{text}{more}"));
            }
            is_more
        });
    }
}

/// What of an answer is compared.
fn shown(endpoint: Endpoint, answer: &Value) -> Value {
    let mut shown = answer.clone();
    if endpoint == Endpoint::Responses
        && answer["output"].is_array()
        && let Some(members) = shown.as_object_mut()
    {
        members.retain(|name, _| RESPONSE.contains(&name.as_str()));
        for item in members["output"].as_array_mut().into_iter().flatten() {
            item.as_object_mut().expect("an item").remove("status");
        }
    }
    clean(&mut shown);
    shown
}

/// Takes out what is about an answer, and what says nothing.
pub(super) fn clean(json: &mut Value) {
    match json {
        Value::Object(members) => {
            members.retain(|name, _| !ABOUT.contains(&name.as_str()) && name != "index");
            for (name, member) in members.iter_mut() {
                if let (true, Value::String(text)) = (name == "arguments", &*member)
                    && let Ok(json @ Value::Object(_)) = serde_json::from_str(text)
                {
                    *member = json;
                }
                clean(member);
            }
            let kept = std::mem::take(members)
                .into_iter()
                .filter(|(_, member)| says_something(member));
            *members = kept.collect::<Map<_, _>>();
            // A text, or a message, in which nothing is said.
            let kind = members
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if ["text", "output_text", "message"].contains(&kind)
                && members.keys().all(|name| name == "type" || name == "role")
                || members.get("thought") == Some(&json!(true)) && members.len() == 1
                || members.get("role") == Some(&json!("model")) && members.len() == 1
            {
                members.clear();
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(clean);
            items.retain(|item| *item != json!({}));
        }
        _ => {}
    }
}

fn says_something(json: &Value) -> bool {
    match json {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) => true,
    }
}

//! A client of each API: it keeps its history, answers calls, asks again after an error, and keeps what it has seen.

use cuecard_timeline::script::Endpoint;
use reqwest::Client as Http;
use serde_json::{Value, json};

use cuecard_wire::llm::answer::{CallInput, Element, Piece};
use cuecard_wire::llm::decode::{Decoded, StreamDecoder, read_body};
use cuecard_wire::llm::events::Framing;
use cuecard_wire::llm::usage::Usage;

/// How a client asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) endpoint: Endpoint,
    pub(super) streams: bool,
    /// Responses: goes on from the answer before, instead of sending everything.
    pub(super) goes_on: bool,
    /// Adds a note for the model to what the user says.
    pub(super) reminds: bool,
}

/// What a client saw of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    Answer {
        said: Vec<Said>,
        stop: Option<String>,
        usage: Option<Usage>,
    },
    Error {
        status: u16,
        body: Value,
        retry_after: Option<String>,
    },
    /// An error in the middle of a stream, after what was said.
    Failure { said: Vec<Said>, message: String },
}

/// A part of an answer, without ids and times.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    Thinking(String),
    Text(String),
    Call(String, CallInput),
}

pub(super) struct Client {
    http: Http,
    url: String,
    manner: Manner,
    history: Vec<Value>,
    /// What is new since the answer before.
    new: Vec<Value>,
    previous: Option<String>,
    pub(super) seen: Vec<Seen>,
}

impl Client {
    pub(super) fn new(url: String, manner: Manner) -> Self {
        let http = http();
        Self {
            http,
            url,
            manner,
            history: Vec::new(),
            new: Vec::new(),
            previous: None,
            seen: Vec::new(),
        }
    }

    /// Says something, and lets the model go on until it calls no more tools. `false` if it got no answer.
    pub(super) async fn says(&mut self, text: &str) -> bool {
        let reminder = "<system-reminder>Be brief.</system-reminder>";
        let content = match (self.manner.reminds, self.manner.endpoint) {
            (false, _) => json!(text),
            (true, Endpoint::Responses) => json!([
                {"type": "input_text", "text": reminder}, {"type": "input_text", "text": text},
            ]),
            (true, _) => {
                json!([{"type": "text", "text": reminder}, {"type": "text", "text": text}])
            }
        };
        self.add(json!({"role": "user", "content": content}));
        // A script that never ends its calls is none.
        for _ in 0..20 {
            let Some(answer) = self.ask().await else {
                return false;
            };
            if !self.keep(&answer) {
                return true;
            }
        }
        false
    }

    fn add(&mut self, item: Value) {
        self.history.push(item.clone());
        self.new.push(item);
    }

    /// Asks, and asks again after an error, five times at most.
    async fn ask(&mut self) -> Option<Decoded> {
        for _ in 0..5 {
            let (path, body) = self.request();
            let mut request = self.http.post(format!("{}{path}", self.url)).json(&body);
            if self.manner.endpoint == Endpoint::Messages {
                request = request.header("anthropic-version", "2023-06-01");
            }
            let mut response = request.send().await.expect("an answer");
            let status = response.status().as_u16();
            if status != 200 {
                let retry_after = response.headers().get("retry-after");
                let retry_after = retry_after.map(|value| value.to_str().expect("text").to_owned());
                let body = response.json().await.expect("JSON");
                self.seen.push(Seen::Error {
                    status,
                    body,
                    retry_after,
                });
                continue;
            }
            let decoded = match self.manner.streams {
                false => read_body(
                    self.manner.endpoint,
                    &response.bytes().await.expect("a body"),
                    0,
                )
                .expect("an answer"),
                true => {
                    let mut decoder = StreamDecoder::new(self.manner.endpoint, Framing::Sse);
                    while let Some(bytes) = response.chunk().await.expect("a chunk") {
                        decoder.read(&bytes, 0);
                    }
                    decoder.finish().expect("a stream")
                }
            };
            assert!(decoded.is_complete);
            if let Some((error, _)) = &decoded.failure {
                self.seen.push(Seen::Failure {
                    said: said(&decoded),
                    message: error.message.clone(),
                });
                continue;
            }
            self.seen.push(Seen::Answer {
                said: said(&decoded),
                stop: decoded
                    .stop_beside_elements()
                    .map(|stop| stop.anthropic().to_owned()),
                usage: decoded.usage,
            });
            return Some(decoded);
        }
        None
    }

    fn request(&self) -> (&'static str, Value) {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let tools = ["get_weather", "Bash", "Read"];
        let streams = self.manner.streams;
        match self.manner.endpoint {
            Endpoint::Messages => {
                let tools: Vec<Value> = tools
                    .map(|name| {
                        json!({"name": name, "input_schema": match name {
                            "get_weather" => schema.clone(),
                            _ => json!({"type": "object"}),
                        }})
                    })
                    .to_vec();
                (
                    "/v1/messages",
                    json!({
                        "model": "m", "max_tokens": 9000, "stream": streams, "messages": self.history, "tools": tools,
                        "thinking": {"type": "adaptive"},
                    }),
                )
            }
            Endpoint::Chat => {
                let tools: Vec<Value> = tools
                    .map(|name| json!({"type": "function", "function": {"name": name}}))
                    .to_vec();
                let mut body = json!({
                    "model": "m", "stream": streams, "messages": self.history, "tools": tools,
                });
                if streams {
                    body["stream_options"] = json!({"include_usage": true});
                }
                ("/v1/chat/completions", body)
            }
            _ => {
                let tools: Vec<Value> = tools
                    .map(|name| json!({"type": "function", "name": name}))
                    .to_vec();
                let mut body = json!({
                    "model": "m", "stream": streams, "input": self.history, "tools": tools,
                    "reasoning": {"summary": "auto"},
                });
                if let Some(previous) = &self.previous {
                    body["input"] = json!(self.new);
                    body["previous_response_id"] = json!(previous);
                }
                ("/v1/responses", body)
            }
        }
    }

    /// Keeps an answer, and gives results for its calls, if it makes some.
    fn keep(&mut self, answer: &Decoded) -> bool {
        let calls: Vec<_> = answer
            .elements
            .iter()
            .filter_map(|element| match element {
                Element::Call(call) => Some(call),
                _ => None,
            })
            .collect();
        let text: String = answer
            .elements
            .iter()
            .filter_map(|element| match element {
                Element::Text(pieces) => Some(joined(pieces)),
                _ => None,
            })
            .collect();
        let arguments = |input: &CallInput| match input {
            CallInput::Arguments(json) => Value::clone(json),
            CallInput::Text(text) | CallInput::Raw(text) => json!(text),
        };
        let mut kept = Vec::new();
        match self.manner.endpoint {
            Endpoint::Messages => {
                let block = |element: &Element| match element {
                    Element::Text(pieces) => Some(json!({"type": "text", "text": joined(pieces)})),
                    Element::Call(call) => Some(json!({
                        "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(&call.input),
                    })),
                    _ => None,
                };
                let content: Vec<Value> = answer.elements.iter().filter_map(block).collect();
                kept.push(json!({"role": "assistant", "content": content}));
            }
            Endpoint::Chat => {
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    let calls: Vec<Value> = calls
                        .iter()
                        .map(|call| {
                            json!({"id": call.id, "type": "function", "function": {
                                "name": call.name, "arguments": arguments(&call.input).to_string(),
                            }})
                        })
                        .collect();
                    message["tool_calls"] = json!(calls);
                }
                kept.push(message);
            }
            _ => {
                kept.extend(answer.elements.iter().filter_map(|element| match element {
                    Element::Text(pieces) => Some(json!({
                        "type": "message", "role": "assistant",
                        "content": [{"type": "output_text", "text": joined(pieces)}],
                    })),
                    Element::Call(call) => Some(json!({
                        "type": "function_call", "call_id": call.id, "name": call.name,
                        "arguments": arguments(&call.input).to_string(),
                    })),
                    _ => None,
                }));
            }
        }
        self.history.extend(kept);
        self.new.clear();
        self.previous = answer.id.clone().filter(|_| self.manner.goes_on);
        let results: Vec<Value> = calls
            .iter()
            .map(|call| {
                let result = format!("result of {}\nin two lines", call.name);
                match self.manner.endpoint {
                    Endpoint::Messages => json!({"type": "tool_result", "tool_use_id": call.id, "content": result}),
                    Endpoint::Chat => json!({"role": "tool", "tool_call_id": call.id, "content": result}),
                    _ => json!({"type": "function_call_output", "call_id": call.id, "output": result}),
                }
            })
            .collect();
        match self.manner.endpoint {
            Endpoint::Messages if !results.is_empty() => {
                self.add(json!({"role": "user", "content": results}));
            }
            Endpoint::Messages => {}
            _ => results
                .into_iter()
                .rev()
                .for_each(|result| self.add(result)),
        }
        !calls.is_empty()
    }
}

/// A client for HTTP.
pub(super) fn http() -> Http {
    cuecard_runtime::tls::install();
    Http::builder()
        .timeout(std::time::Duration::from_secs(30))
        .build()
        .expect("a client")
}

fn joined(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| &*piece.text).collect()
}

fn said(decoded: &Decoded) -> Vec<Said> {
    decoded
        .elements
        .iter()
        .map(|element| match element {
            Element::Thinking(pieces) => Said::Thinking(joined(pieces)),
            Element::Text(pieces) | Element::Refusal(pieces) => Said::Text(joined(pieces)),
            Element::Call(call) => Said::Call(call.name.clone(), call.input.clone()),
        })
        .collect()
}

//! Pairs of requests that say the same and differ in one member: each gets its own answer again, whichever came first.

use super::*;

/// What one request of a pair has and the other has not.
type Change = (&'static str, fn(&mut Asked));

/// A request, by its path and its body.
#[derive(Debug, Clone)]
struct Asked {
    endpoint: Endpoint,
    path: String,
    body: Value,
}

const PROMPT: &str = "Describe it.";
/// Two images, as far as anybody looks.
const IMAGES: [&str; 2] = ["iVBORw0KGgoAAAA=", "iVBORw0KGgoBBBA="];

impl Asked {
    fn new(endpoint: Endpoint) -> Self {
        let system = "You look at images.";
        let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
        let (path, body) = match endpoint {
            Endpoint::Chat => (
                "/v1/chat/completions",
                json!({"messages": [{"role": "system", "content": system}], "tools": [
                    {"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": schema}},
                ]}),
            ),
            Endpoint::Messages => (
                "/v1/messages",
                json!({"system": system, "max_tokens": 90, "messages": [], "tools": [
                    {"name": "find", "description": "Finds.", "input_schema": schema},
                ]}),
            ),
            Endpoint::Responses => (
                "/v1/responses",
                json!({"instructions": system, "input": [], "tools": [
                    {"type": "function", "name": "find", "description": "Finds.", "parameters": schema},
                ]}),
            ),
            Endpoint::Gemini => (
                "/v1beta/models/m:generateContent",
                json!({"systemInstruction": {"parts": [{"text": system}]}, "contents": [], "tools": [
                    {"functionDeclarations": [{"name": "find", "description": "Finds.", "parameters": schema}]},
                ]}),
            ),
        };
        let mut asked = Self {
            endpoint,
            path: path.to_owned(),
            body,
        };
        if endpoint != Endpoint::Gemini {
            asked.body["model"] = json!("m");
        }
        asked.set_image(IMAGES[0]);
        asked
    }

    fn messages(&mut self) -> &mut Vec<Value> {
        let name = match self.endpoint {
            Endpoint::Chat | Endpoint::Messages => "messages",
            Endpoint::Responses => "input",
            Endpoint::Gemini => "contents",
        };
        self.body[name].as_array_mut().expect("a list")
    }

    /// Begins with the prompt and this image; without one, if it is empty.
    fn set_image(&mut self, data: &str) {
        let url = format!("data:image/png;base64,{data}");
        let (text, image) = match self.endpoint {
            Endpoint::Chat => (
                json!({"type": "text", "text": PROMPT}),
                json!({"type": "image_url", "image_url": {"url": url}}),
            ),
            Endpoint::Messages => (
                json!({"type": "text", "text": PROMPT}),
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}),
            ),
            Endpoint::Responses => (
                json!({"type": "input_text", "text": PROMPT}),
                json!({"type": "input_image", "image_url": url}),
            ),
            Endpoint::Gemini => (
                json!({"text": PROMPT}),
                json!({"inlineData": {"mimeType": "image/png", "data": data}}),
            ),
        };
        let parts = if data.is_empty() {
            vec![text]
        } else {
            vec![text, image]
        };
        let content = if self.endpoint == Endpoint::Gemini {
            "parts"
        } else {
            "content"
        };
        let messages = self.messages();
        messages.retain(|message| message["role"] != "user");
        messages.push(json!({"role": "user", content: parts}));
    }

    /// The text of the answer, which it goes on from with another question.
    async fn ask(&mut self, http: &reqwest::Client, url: &str) -> String {
        let request = http.post(format!("{url}{}", self.path)).json(&self.body);
        let response = request.send().await.expect("an answer");
        let (status, body) = (response.status(), response.bytes().await.expect("a body"));
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        if !status.is_success() {
            return answer.to_string();
        }
        let (texts, said) = match self.endpoint {
            Endpoint::Chat => {
                let message = &answer["choices"][0]["message"];
                (message["content"].clone(), message.clone())
            }
            Endpoint::Messages => (
                answer["content"][0]["text"].clone(),
                json!({"role": "assistant", "content": answer["content"]}),
            ),
            Endpoint::Responses => (
                answer["output"][0]["content"][0]["text"].clone(),
                answer["output"][0].clone(),
            ),
            Endpoint::Gemini => {
                let content = &answer["candidates"][0]["content"];
                (content["parts"][0]["text"].clone(), content.clone())
            }
        };
        let more = match self.endpoint {
            Endpoint::Gemini => json!({"role": "user", "parts": [{"text": "More."}]}),
            _ => json!({"role": "user", "content": "More."}),
        };
        self.messages().extend([said, more]);
        texts.as_str().unwrap_or_default().to_owned()
    }
}

fn changes(endpoint: Endpoint) -> Vec<Change> {
    let mut changes: Vec<Change> = vec![
        ("another image", |asked| asked.set_image(IMAGES[1])),
        ("no image", |asked| asked.set_image("")),
        ("no tools", |asked| {
            asked.body.as_object_mut().expect("a body").remove("tools");
        }),
        ("another tool", |asked| {
            let tools = match asked.endpoint {
                Endpoint::Gemini => &mut asked.body["tools"][0]["functionDeclarations"],
                _ => &mut asked.body["tools"],
            };
            let mut other = tools[0].clone();
            match asked.endpoint {
                Endpoint::Chat => other["function"]["name"] = json!("other"),
                _ => other["name"] = json!("other"),
            }
            tools.as_array_mut().expect("a list").push(other);
        }),
        ("a tool described otherwise", |asked| match asked.endpoint {
            Endpoint::Gemini => {
                asked.body["tools"][0]["functionDeclarations"][0]["description"] = json!("Seeks.");
            }
            Endpoint::Chat => asked.body["tools"][0]["function"]["description"] = json!("Seeks."),
            _ => asked.body["tools"][0]["description"] = json!("Seeks."),
        }),
        ("another system text", |asked| match asked.endpoint {
            Endpoint::Chat => asked.body["messages"][0]["content"] = json!("You are blind."),
            Endpoint::Messages => asked.body["system"] = json!("You are blind."),
            Endpoint::Responses => asked.body["instructions"] = json!("You are blind."),
            Endpoint::Gemini => {
                asked.body["systemInstruction"]["parts"][0]["text"] = json!("You are blind.");
            }
        }),
        ("another model", |asked| match asked.endpoint {
            Endpoint::Gemini => asked.path = "/v1beta/models/m-2:generateContent".to_owned(),
            _ => asked.body["model"] = json!("m-2"),
        }),
        ("a temperature", |asked| match asked.endpoint {
            Endpoint::Gemini => asked.body["generationConfig"] = json!({"temperature": 0.5}),
            _ => asked.body["temperature"] = json!(0.5),
        }),
    ];
    let schema = |asked: &mut Asked| {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        match asked.endpoint {
            Endpoint::Chat => {
                let format = json!({"name": "n", "schema": schema});
                asked.body["response_format"] =
                    json!({"type": "json_schema", "json_schema": format});
            }
            Endpoint::Gemini => {
                asked.body["generationConfig"] =
                    json!({"responseMimeType": "application/json", "responseJsonSchema": schema});
            }
            _ => {
                let format = json!({"type": "json_schema", "name": "n", "schema": schema});
                asked.body["text"] = json!({ "format": format });
            }
        }
    };
    if endpoint != Endpoint::Messages {
        changes.push(("a format", schema));
    }
    changes
}

/// What is said with a server is recorded, and played: what is wrong. `converse` gives the answers, whoever it asks for
/// first.
async fn try_both_orders(
    endpoint: Endpoint,
    numbers: &[u64],
    converse: impl AsyncFn(&str, bool) -> Vec<String>,
) -> Option<String> {
    let answers = numbers.iter().map(|n| {
        let body = fields::plain(endpoint, &json!({ "n": n }).to_string());
        client::Answer::of(endpoint, false, &body)
    });
    let recording = Recorded::of(&upstream(answers.collect()).await).await;
    let recorded = converse(&recording.url(), false).await;
    let ended = recording.end().await;
    let texts: Vec<String> = ["r.yaml", "r-2.yaml"].map(|file| ended.text(file)).into();
    for other_first in [false, true] {
        let model = play(ended.folder.path(), &Buffer::default()).await;
        let played = converse(&model.base_url(), other_first).await;
        let verdict = model.stop().await;
        if played != recorded || !verdict.findings.is_empty() {
            return Some(format!(
                "recorded {recorded:?}\nplayed {played:?}\n{:#?}\nnotes {:?}\n{}",
                verdict.findings,
                ended.notes(),
                texts.join("\n")
            ));
        }
    }
    None
}

/// Both ask.
async fn both_ask(
    http: &reqwest::Client,
    url: &str,
    pair: &mut [Asked; 2],
    other_first: bool,
) -> [String; 2] {
    let mut answers = [String::new(), String::new()];
    for idx in if other_first { [1, 0] } else { [0, 1] } {
        answers[idx] = pair[idx].ask(http, url).await;
    }
    answers
}

/// Both ask, and then both go on.
async fn try_pair(
    http: &reqwest::Client,
    pair: [Asked; 2],
    is_same_at_first: bool,
) -> Option<String> {
    let numbers = if is_same_at_first {
        [1, 1, 3, 4]
    } else {
        [1, 2, 3, 4]
    };
    try_both_orders(pair[0].endpoint, &numbers, async |url, other_first| {
        let mut pair = pair.clone();
        let first = both_ask(http, url, &mut pair, other_first).await;
        let then = both_ask(http, url, &mut pair, other_first).await;
        [first, then].concat()
    })
    .await
}

/// One asks, and goes on in two ways: as it was, and with a change.
async fn try_fork(http: &reqwest::Client, asked: Asked, change: fn(&mut Asked)) -> Option<String> {
    try_both_orders(asked.endpoint, &[1, 2, 3], async |url, other_first| {
        let mut asked = asked.clone();
        let first = asked.ask(http, url).await;
        let mut changed = asked.clone();
        change(&mut changed);
        let then = both_ask(http, url, &mut [asked, changed], other_first).await;
        [vec![first], then.into()].concat()
    })
    .await
}

#[tokio::test]
async fn requests_that_differ_in_one_member_get_their_own_answers_again() {
    let http = super::super::client::http();
    let mut problems = Vec::new();
    for endpoint in [
        Endpoint::Chat,
        Endpoint::Messages,
        Endpoint::Responses,
        Endpoint::Gemini,
    ] {
        for (name, change) in changes(endpoint) {
            let plain = Asked::new(endpoint);
            let mut changed = plain.clone();
            change(&mut changed);
            // Equal answers at first tell nothing about who goes on.
            for (pair, is_same_at_first) in [
                ([plain.clone(), changed.clone()], false),
                ([changed, plain], true),
            ] {
                let problem = try_pair(&http, pair, is_same_at_first).await;
                problems.extend(problem.map(|it| format!("{endpoint:?}, {name}: {it}")));
            }
            // What is there already stays as it is.
            if !name.contains("image") {
                let problem = try_fork(&http, Asked::new(endpoint), change).await;
                problems.extend(problem.map(|it| format!("{endpoint:?}, then {name}: {it}")));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems\n{}",
        problems.len(),
        problems.join("\n\n")
    );
}

//! A running stand-in, asked over real HTTP.

mod adversary;
mod agents;
mod answers;
mod asserts;
mod blocks;
mod conditions;
mod demands;
mod dialects;
mod faults;
mod limits;
mod refusals;
mod rules;
mod run_in;
mod surfaces;

use std::sync::{Arc, Mutex};

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{LlmOptions, MockLlm, Notice, RunningLlm, StartError, TraceOutput};

/// A stand-in with the folder of its scenarios.
struct Played {
    folder: tempfile::TempDir,
    running: RunningLlm,
    client: reqwest::Client,
}

impl Played {
    /// Plays one scenario; its name is `scenario`, and `timeline` is what stands below that key.
    async fn timeline(timeline: &str) -> Self {
        Self::with(timeline, |_| {}).await
    }

    async fn with(timeline: &str, change: impl FnOnce(&mut LlmOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!("name: scenario\ntimeline:\n{timeline}");
        std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
        let workspace = folder.path().join("work");
        std::fs::create_dir(&workspace).expect("writable");
        Self::start(folder, |options| {
            options.workspace = workspace;
            change(options);
        })
        .await
    }

    async fn start(folder: tempfile::TempDir, change: impl FnOnce(&mut LlmOptions)) -> Self {
        let running = MockLlm::from_file(folder.path())
            .with(change)
            .start()
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        Self {
            folder,
            running,
            client: client(),
        }
    }

    /// The same, with what `build` adds to the stand-in: a trace, a watcher.
    async fn built(timeline: &str, build: impl FnOnce(MockLlm) -> MockLlm) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!("name: scenario\ntimeline:\n{timeline}");
        std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
        let running = build(MockLlm::from_file(folder.path())).start().await;
        Self {
            folder,
            running: running.unwrap_or_else(|error| panic!("{error}")),
            client: client(),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.base_url())
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &[]).await
    }

    async fn post_with(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.client.post(self.url(path)).json(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(request).await
    }

    async fn get(&self, path: &str) -> Answer {
        Answer::of(self.client.get(self.url(path))).await
    }

    /// A Chat request with these messages.
    async fn chat(&self, messages: Value) -> Answer {
        self.post(CHAT, &json!({"model": "m", "messages": messages}))
            .await
    }

    /// The codes of all findings.
    async fn codes(self) -> Vec<&'static str> {
        let verdict = self.running.stop().await;
        verdict
            .findings
            .iter()
            .map(|found| found.code.name())
            .collect()
    }
}

fn client() -> reqwest::Client {
    cuecard_runtime::tls::install();
    reqwest::Client::builder()
        .timeout(std::time::Duration::from_secs(30))
        .build()
        .expect("a client")
}

const CHAT: &str = "/v1/chat/completions";

fn said(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

/// An answer, read to its end.
struct Answer {
    status: StatusCode,
    headers: reqwest::header::HeaderMap,
    text: String,
}

impl Answer {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            text: response.text().await.expect("a body"),
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("JSON: {}", self.text))
    }

    fn content(&self) -> Value {
        self.json()["choices"][0]["message"]["content"].clone()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use cuecard_source::value::Json;
use cuecard_timeline::script::Speed;
use serde_json::json;
use tower::ServiceExt as _;

use super::*;

const FIX: &str = r#"
name: fix
timeline:
  - userInputs: [[0, "Fix the test"]]
  - llmResponse:
      - think: [[200, "First a look."]]
      - assistant: [[100, "The tests run."]]
  - agentToolUse:
      toolName: runCmd
      args: {cmd: "cargo test"}
      toolExecution:
        startTimeMs: 0
        events:
          - {timeMs: 50, type: stdout, content: "1 failed\n"}
          - {timeMs: 60, type: stderr, content: "slow\n"}
          - {timeMs: 100, type: completion, exitCode: 1}
      result: "1 failed"
      status: error
  - agentEdits: {path: src/lib.rs, oldText: "a\n", newText: "b\nc\n"}
  - userInputs: [[450, "Thanks"]]
  - llmResponse: [{assistant: [[100, "Gladly."]]}]
  - complete: true
"#;

/// A service that plays timelines, between lines of `---`, as fast as it can.
struct Served {
    running: RunningService,
    router: axum::Router,
    _folder: tempfile::TempDir,
}

impl Served {
    async fn start(timeline: &str) -> Self {
        Self::with(timeline, |_| {}).await
    }

    async fn with(timeline: &str, change: impl FnOnce(&mut ServiceOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (idx, timeline) in timeline.split("\n---\n").enumerate() {
            let file = folder.path().join(format!("{idx}.yaml"));
            std::fs::write(file, timeline).expect("written");
        }
        let mut options = ServiceOptions {
            play: PlayOptions {
                speed: Speed::new(0.0, 0.0).expect("a speed"),
                ..PlayOptions::default()
            },
            fixed_time: Some("2026-01-31T09:00:00Z".parse().expect("a time")),
            ..ServiceOptions::default()
        };
        change(&mut options);
        let running = MockService::from_files([folder.path()]).options(options);
        let running = running.start().await.expect("it starts");
        let guard = Guard::new(running.service.options.bind, None).expect("a guard");
        let router = routes::router(running.service.clone(), &guard);
        Self {
            running,
            router,
            _folder: folder,
        }
    }

    async fn send(
        &self,
        request: axum::http::request::Builder,
        body: String,
    ) -> (StatusCode, String) {
        let request = request.header("host", "127.0.0.1").body(Body::from(body));
        let request: Request<Body> = request.expect("a request");
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .expect("an answer");
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX)
            .await
            .expect("a body");
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }

    async fn ask(&self, method: &str, path: &str, body: Json) -> (StatusCode, Json) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"));
        let (status, body) = self.send(request, body).await;
        (status, serde_json::from_str(&body).unwrap_or(Json::Null))
    }

    async fn task(&self, prompt: &str) -> (StatusCode, Json) {
        self.ask("POST", "/tasks", json!({"prompt": prompt})).await
    }

    /// The stream of a session behind an event, to its end.
    async fn stream(&self, id: &str, last: Option<usize>) -> (StatusCode, Vec<String>) {
        let mut request = Request::builder().uri(format!("/api/v1/sessions/{id}/events"));
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let (status, body) = self.send(request, String::new()).await;
        let frames = body.split_terminator("\n\n").map(str::to_owned);
        (status, frames.collect())
    }

    /// What a session tells, in short: `status running`, `log 1 failed`.
    async fn told(&self, id: &str) -> Vec<String> {
        let (_, frames) = self.stream(id, None).await;
        frames
            .iter()
            .enumerate()
            .map(|(idx, frame)| {
                let (head, data) = frame.split_once("\ndata: ").expect("data");
                assert_eq!(head, format!("id: {}\nevent: session", idx + 1));
                let event: Json = serde_json::from_str(data).expect("JSON");
                let keys = [
                    "status",
                    "thought",
                    "content",
                    "message",
                    "tool_output",
                    "file_path",
                    "path",
                ];
                let kind = event["type"].as_str().expect("a type");
                let says = keys.iter().find_map(|key| event[key].as_str());
                format!("{kind} {}", says.unwrap_or_default().trim())
            })
            .collect()
    }
}

#[tokio::test]
async fn a_task_becomes_a_session_that_tells_its_timeline() {
    let served = Served::start(FIX).await;
    let (status, task) = served.task("Fix the test").await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(task["session_ids"], json!(["session-1"]));
    assert_eq!(
        served.told("session-1").await,
        [
            "status queued",
            "status running",
            "message Fix the test",
            "thought First a look.",
            "message The tests run.",
            "tool_use started",
            "log 1 failed",
            "log slow",
            "tool_result failed",
            "file_edit src/lib.rs",
            "diff src/lib.rs",
            "message Thanks",
            "message Gladly.",
            "status completed"
        ]
    );
    let (_, frames) = served.stream("session-1", None).await;
    assert!(
        frames[3].contains(r#""ts":"2026-01-31T09:00:00.200Z""#),
        "{}",
        frames[3]
    );
    let (_, session) = served.ask("GET", "/sessions/session-1", Json::Null).await;
    assert_eq!(
        session["changes"],
        json!({"files_changed": 1, "lines_added": 2, "lines_removed": 1})
    );
    assert_eq!(session["recent_events"].as_array().map(Vec::len), Some(3));
    assert_eq!(session["completedAt"], "2026-01-31T09:00:00.500Z");
    // Nothing made it be listed.
    let (_, list) = served.ask("GET", "/sessions", Json::Null).await;
    assert_eq!(list["total"], 0);
    let (_, list) = served
        .ask("GET", "/sessions?status=completed", Json::Null)
        .await;
    assert_eq!(list["total"], 1);
    let verdict = served.running.stop().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn whoever_comes_late_or_again_gets_what_is_missing_and_nothing_twice() {
    let served = Arc::new(Served::with(FIX, |options| options.waits_for_prompts = true).await);
    served.task("Fix the test").await;
    // They read while the session goes on, from every place in it.
    let readers: Vec<_> = (0..200)
        .map(|number| {
            let served = served.clone();
            tokio::spawn(async move {
                let from = number % 15;
                (
                    from,
                    served.stream("session-1", (from > 0).then_some(from)).await,
                )
            })
        })
        .collect();
    let (status, _) = served
        .ask(
            "POST",
            "/sessions/session-1/prompt",
            json!({"message": "Thanks"}),
        )
        .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    // There is no place for another one in the script.
    let (status, _) = served
        .ask(
            "POST",
            "/sessions/session-1/prompt",
            json!({"message": "More"}),
        )
        .await;
    assert!(
        matches!(status, StatusCode::CONFLICT | StatusCode::GONE),
        "{status}"
    );
    let (_, whole) = served.stream("session-1", None).await;
    assert_eq!(whole.len(), 14);
    // An id that the session never had is of an earlier run of the service.
    assert_eq!(
        served.stream("session-1", Some(15)).await.0,
        StatusCode::CONFLICT
    );
    for (id, status) in [
        ("last", StatusCode::CONFLICT),
        ("-1", StatusCode::CONFLICT),
        ("", StatusCode::OK),
    ] {
        let request = Request::builder().uri("/api/v1/sessions/session-1/events");
        let request = request.header("last-event-id", id);
        assert_eq!(served.send(request, String::new()).await.0, status, "{id}");
    }
    for reader in readers {
        let (from, (status, frames)) = reader.await.expect("it reads");
        assert_eq!(frames, whole[from.min(14)..], "from {from}");
        assert!(status == StatusCode::OK || (from == 14 && status == StatusCode::NO_CONTENT));
    }
    assert_eq!(
        served.stream("session-1", Some(14)).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        served.stream("session-2", None).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_session_is_paused_resumed_and_stopped() {
    let served = Served::with(FIX, |options| options.waits_for_prompts = true).await;
    served.task("Fix the test").await;
    let post = async |verb: &str, body: Json| {
        served
            .ask("POST", &format!("/sessions/session-1/{verb}"), body)
            .await
    };
    let thanks = || json!({"prompt": [{"type": "text", "text": "Thanks"}]});
    assert_eq!(post("resume", Json::Null).await.0, StatusCode::CONFLICT);
    // Once the script waits for its prompt.
    let session = served.running.service.session("session-1").expect("there");
    let mut changed = session.watch();
    while session.events_from(0, usize::MAX).0.len() < 11 {
        changed.changed().await.expect("more");
    }
    let (status, paused) = post("pause", Json::Null).await;
    assert_eq!(
        (status, &paused["status"]),
        (StatusCode::OK, &json!("paused"))
    );
    assert_eq!(post("pause", Json::Null).await.0, StatusCode::CONFLICT);
    assert_eq!(post("prompt", thanks()).await.0, StatusCode::CONFLICT);
    assert_eq!(post("resume", Json::Null).await.1["status"], "running");
    assert_eq!(
        post("prompt", json!({"message": " "})).await.0,
        StatusCode::BAD_REQUEST
    );
    let long = json!({"message": "x".repeat(17_000)});
    assert_eq!(post("prompt", long).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(post("prompt", thanks()).await.0, StatusCode::ACCEPTED);
    let told = served.told("session-1").await;
    assert_eq!(
        told[11..],
        [
            "status pausing",
            "status paused",
            "status resuming",
            "status running",
            "message Thanks",
            "message Gladly.",
            "status completed"
        ]
    );
    assert_eq!(post("prompt", thanks()).await.0, StatusCode::GONE);
    assert_eq!(post("stop", Json::Null).await.0, StatusCode::CONFLICT);

    // A second one is stopped while it waits: its history stays.
    served.task("Fix the test").await;
    let stopped = served
        .ask("POST", "/sessions/session-2/stop", Json::Null)
        .await;
    assert_eq!(stopped.1["status"], "stopped");
    let told = served.told("session-2").await;
    assert_eq!(
        told[told.len() - 2..],
        ["status stopping", "status stopped"]
    );
    assert_eq!(
        served
            .ask("DELETE", "/sessions/session-2", Json::Null)
            .await
            .0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        served.ask("GET", "/sessions/session-2", Json::Null).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_task_is_chosen_by_its_prompt_and_done_once_for_a_key() {
    let served = Served::start(FIX).await;
    let (status, problem) = served.task("Bake bread").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(
        problem["errors"][0]
            .as_str()
            .is_some_and(|error| error.contains("Fix the test")),
        "{problem}"
    );
    for body in [
        json!({}),
        json!({"prompt": ""}),
        json!({"prompt": 5}),
        json!({"prompt": "Fix the test", "agents": [{"type": "x", "count": 0}]}),
    ] {
        let (status, problem) = served.ask("POST", "/tasks", body.clone()).await;
        assert_eq!(
            (status, &problem["status"]),
            (StatusCode::BAD_REQUEST, &json!(400)),
            "{body}"
        );
    }
    let keyed = |prompt: &str, name: &str| {
        let request = Request::builder().method("POST").uri("/api/v1/tasks");
        let request = request
            .header("idempotency-key", "k1")
            .header("x-scenario-name", name);
        (
            request,
            json!({"prompt": prompt, "agents": [{"type": "x", "count": 2}]}).to_string(),
        )
    };
    let (request, body) = keyed("anything", "fix");
    let (_, first) = served.send(request, body).await;
    let (request, body) = keyed("anything", "fix");
    assert_eq!(served.send(request, body).await.1, first);
    assert!(
        first.contains("session-2") && !first.contains("session-3"),
        "{first}"
    );
    let (request, body) = keyed("something", "fix");
    assert_eq!(served.send(request, body).await.0, StatusCode::CONFLICT);
    let verdict = served.running.stop().await;
    assert!(!verdict.passed, "no scenario had the prompt");
}

#[tokio::test]
async fn a_session_that_waits_takes_the_scripted_prompt_only() {
    for takes_any in [false, true] {
        let served = Served::with(FIX, |options| {
            options.waits_for_prompts = true;
            options.play.any_prompt = takes_any;
        })
        .await;
        served.task("Fix the test").await;
        let path = "/sessions/session-1/prompt";
        let prompt = async |text: &str| {
            let (status, problem) = served.ask("POST", path, json!({"message": text})).await;
            (status, problem["errors"].clone())
        };
        let other = prompt("Thank you").await;
        if takes_any {
            assert_eq!(other.0, StatusCode::ACCEPTED);
            assert!(served.running.stop().await.passed);
            continue;
        }
        let why = json!([r#"expected "Thanks""#, r#"arrived  "Thank you""#]);
        assert_eq!(other, (StatusCode::CONFLICT, why));
        let blocks = json!({"prompt": [{"type": "text", "text": " thanks"}]});
        assert_eq!(
            served.ask("POST", path, blocks).await.0,
            StatusCode::ACCEPTED
        );
        served.told("session-1").await;
        let verdict = served.running.stop().await;
        let codes: Vec<_> = verdict
            .findings
            .iter()
            .map(|found| found.code.name())
            .collect();
        assert!(!verdict.passed, "{codes:?}");
        assert_eq!(codes, ["T-REST-03"]);
    }
}

#[tokio::test]
async fn each_session_comes_to_its_end() {
    for (steer, is_complete) in [("", false), ("stop", true), ("prompt", true)] {
        let served = Served::with(FIX, |options| {
            options.waits_for_prompts = true;
            options.play.require_complete = true;
        })
        .await;
        for id in ["session-1", "session-2"] {
            served.task("Fix the test").await;
            let steer = if id == "session-1" { "prompt" } else { steer };
            let path = format!("/sessions/{id}/{steer}");
            if !steer.is_empty() {
                served
                    .ask("POST", &path, json!({"message": "Thanks"}))
                    .await;
                served.told(id).await;
            }
        }
        let verdict = served.running.stop().await;
        assert_eq!(verdict.passed, is_complete, "{steer} {verdict:?}");
        assert_eq!(verdict.unplayed.is_empty(), is_complete);
        if let [found] = &verdict.findings[..] {
            assert_eq!(found.message, "not played to their end: fix");
            assert_eq!(found.notes, ["`session-2` had not come to its end"]);
        }
    }
}

#[tokio::test]
async fn a_prompt_without_text_is_no_prompt() {
    let served = Served::start(FIX).await;
    let text = json!({"type": "text", "text": "Fix the test"});
    for (blocks, status) in [
        (json!([text]), StatusCode::CREATED),
        (json!([{"type": "text"}]), StatusCode::BAD_REQUEST),
        (
            json!([{"type": "text", "text": " "}]),
            StatusCode::BAD_REQUEST,
        ),
        (
            json!([text, {"type": "text", "text": 1}]),
            StatusCode::BAD_REQUEST,
        ),
        (json!([{"type": "image"}]), StatusCode::NOT_FOUND),
    ] {
        let task = json!({"prompt": blocks});
        assert_eq!(
            served.ask("POST", "/tasks", task).await.0,
            status,
            "{blocks}"
        );
    }
}

/// Two images of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgZGAAAAAHAALpEtlMAAAAAElFTkSuQmCC";
const OTHER_PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYmAAAAAKAANQonMOAAAAAElFTkSuQmCC";

const OTHER_IMAGE: &str = "a block of type `image` differs: `/data`: expected \"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgZGAAAAAHAALpEtlMAAAAAElFTkSuQmCC\", got \"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYmAAAAAKAANQonMOAAAAAElFTkSuQmCC\"";

#[tokio::test]
async fn a_session_that_waits_compares_the_blocks_of_a_prompt() {
    let timeline = format!(
        r#"
name: look
timeline:
  - userInputs: [[0, "Begin"]]
  - userInputs:
      - relativeTime: 0
        input:
          - {{type: text, text: Look}}
          - {{type: image, mimeType: image/png, data: "{PIXEL}"}}
          - {{type: resource_link, uri: "file:///a.txt", name: a.txt}}
"#
    );
    let served = Served::with(&timeline, |options| options.waits_for_prompts = true).await;
    let text = json!({"type": "text", "text": "look"});
    let image = |data: &str| json!({"type": "image", "mimeType": "image/png", "data": data});
    let link = |uri: &str| json!({"type": "resource_link", "uri": uri, "name": "a.txt"});
    let (red, file) = (image(PIXEL), link("file:///a.txt"));
    let cases = [
        (json!([text]), "a block of type `image` is missing"),
        (json!([text, image(OTHER_PIXEL), file]), OTHER_IMAGE),
        (
            json!([text, red, link("file:///b.txt")]),
            "a block of type `resource_link` differs: `/uri`: expected \"file:///a.txt\", got \"file:///b.txt\"",
        ),
        (
            json!([text, file, red]),
            "a block of type `resource_link` is missing",
        ),
        (
            json!([text, red, {"type": "resource_link", "uri": "file:///a.txt"}]),
            "a block of type `resource_link` differs: `/name`: expected \"a.txt\", got null",
        ),
        (
            json!([text, {"type": "image", "mimeType": "image/jpeg", "data": PIXEL}, file]),
            "a block of type `image` differs: `/mimeType`: expected \"image/png\", got \"image/jpeg\"",
        ),
        (
            json!([text, red, file, red]),
            "a block of type `image` is too many",
        ),
        (json!([text, red, file]), ""),
    ];
    served.task("Begin").await;
    for (blocks, why) in cases {
        let prompt = json!({"prompt": blocks});
        let (status, problem) = served
            .ask("POST", "/sessions/session-1/prompt", prompt)
            .await;
        let told = problem["errors"][2].as_str().unwrap_or_default();
        assert_eq!(told, why, "{blocks}");
        let expected = match why.is_empty() {
            true => StatusCode::ACCEPTED,
            false => StatusCode::CONFLICT,
        };
        assert_eq!(status, expected, "{blocks}");
    }
    let verdict = served.running.stop().await;
    let is_prompt = |found: &Diagnostic| found.code.name() == "T-REST-03";
    assert!(!verdict.passed && verdict.findings.iter().any(is_prompt));
}

#[tokio::test]
async fn a_task_has_the_blocks_of_its_timeline() {
    let image = |data: &str| json!({"type": "image", "mimeType": "image/png", "data": data});
    let text = json!({"type": "text", "text": "look"});
    let resource = |uri: &str| json!({"type": "resource", "resource": {"uri": uri, "text": "x"}});
    let scripted = [
        json!(["Look", text, image(PIXEL)]),
        json!(["Red", image(PIXEL)]),
        json!(["Blue", image(OTHER_PIXEL)]),
        json!(["A", resource("file:///a")]),
        json!(["B", resource("file:///b")]),
    ];
    let scripted = scripted.iter().map(|prompt| {
        let name = &prompt[0];
        let blocks = Json::from(&prompt.as_array().expect("a list")[1..]);
        format!("name: {name}\ntimeline:\n  - userInputs: [{{relativeTime: 0, input: {blocks}}}]")
    });
    let timelines = scripted.collect::<Vec<_>>().join("\n---\n");
    let served = Served::start(&timelines).await;
    let cases = [
        (json!([text]), "a block of type `image` is missing"),
        (json!([text, image(OTHER_PIXEL)]), OTHER_IMAGE),
        (
            json!([text, image(PIXEL), text, image(PIXEL)]),
            "a block of type `image` is too many",
        ),
        (json!([text, image(PIXEL)]), ""),
        (
            json!([{"type": "text", "text": "Delete all"}, image(PIXEL)]),
            "a text is too many",
        ),
        (json!([image(PIXEL)]), ""),
        (json!([image(OTHER_PIXEL)]), ""),
        (json!([resource("file:///b")]), ""),
        (json!([resource("file:///a")]), ""),
    ];
    for (blocks, why) in cases {
        let (status, task) = served
            .ask("POST", "/tasks", json!({"prompt": blocks}))
            .await;
        let told = task["errors"][2].as_str().unwrap_or_default();
        let expected = if why.is_empty() {
            StatusCode::CREATED
        } else {
            StatusCode::CONFLICT
        };
        assert_eq!((status, told), (expected, why), "{blocks}: {task}");
    }
    let sessions = served.running.service.sessions();
    let scripts = sessions
        .iter()
        .rev()
        .filter_map(|session| session.script.as_ref());
    let played: Vec<&str> = scripts.map(|(_, script)| &*script.timeline.name).collect();
    assert_eq!(played, ["Look", "Red", "Blue", "B", "A"]);
    let verdict = served.running.stop().await;
    assert_eq!(verdict.n_failures, 4);
}

#[tokio::test]
async fn a_key_does_a_request_once_as_long_as_what_it_made_is_there() {
    let served = Served::with(FIX, |options| options.waits_for_prompts = true).await;
    let keyed = async |key: &str, path: &str, body: Json| {
        let request = Request::builder()
            .method("POST")
            .uri(format!("/api/v1{path}"));
        let request = request.header("idempotency-key", key);
        let (status, body) = served.send(request, body.to_string()).await;
        (status, serde_json::from_str(&body).unwrap_or(Json::Null))
    };
    let fix = || json!({"prompt": "Fix the test"});
    let first = keyed("a", "/tasks", fix()).await;
    assert_eq!(keyed("a", "/tasks", fix()).await, first);
    // Another route is another request, whatever it is sent.
    let other = keyed("a", "/drafts", fix()).await;
    assert_eq!(other.0, StatusCode::CONFLICT);
    // What is refused is not done, and can be asked again.
    let path = "/sessions/session-1/prompt";
    for (text, status) in [
        ("No", StatusCode::CONFLICT),
        ("Thanks", StatusCode::ACCEPTED),
        ("Thanks", StatusCode::ACCEPTED),
    ] {
        let (answered, _) = keyed("b", path, json!({"message": text})).await;
        assert_eq!(answered, status, "{text}");
    }
    let told = served.told("session-1").await;
    let thanks = told.iter().filter(|event| *event == "message Thanks");
    assert_eq!(thanks.count(), 1, "{told:?}");
    let draft = keyed("c", "/drafts", fix()).await;
    assert_eq!(draft.0, StatusCode::CREATED);
    assert_eq!(keyed("c", "/drafts", fix()).await, draft);
    // Then it is free again.
    for path in ["/sessions/session-1", "/drafts/draft-1"] {
        let (status, _) = served.ask("DELETE", path, Json::Null).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{path}");
    }
    let again = keyed("a", "/tasks", fix()).await;
    assert_eq!(again.1["session_ids"], json!(["session-2"]));
    assert_eq!(keyed("c", "/drafts", fix()).await.1["id"], json!("draft-2"));
    for (verb, status) in [("pause", "paused"), ("stop", "stopped")] {
        let path = format!("/sessions/session-2/{verb}");
        let steered = keyed(verb, &path, Json::Null).await;
        assert_eq!(
            (steered.0, &steered.1["status"]),
            (StatusCode::OK, &json!(status))
        );
        assert_eq!(keyed(verb, &path, Json::Null).await, steered);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_one_key_at_once_start_one_session() {
    let served = Arc::new(Served::with(FIX, |options| options.play.max_sessions = 3).await);
    let keyed = |served: &Arc<Served>, key: &str, count: u32| {
        let request = Request::builder().method("POST").uri("/api/v1/tasks");
        let request = request.header("idempotency-key", key);
        let agents = json!([{"type": "x", "count": count}]);
        let body = json!({"prompt": "Fix the test", "agents": agents}).to_string();
        let served = served.clone();
        async move { served.send(request, body).await }
    };
    let tasks: Vec<_> = (0..50)
        .map(|_| tokio::spawn(keyed(&served, "k", 2)))
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("an answer"));
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    // All of a task's sessions, or none.
    let full = StatusCode::TOO_MANY_REQUESTS;
    assert_eq!(keyed(&served, "two", 2).await.0, full);
    assert_eq!(keyed(&served, "one", 1).await.0, StatusCode::CREATED);
    assert_eq!(served.running.service.n_sessions(), 3);
    // The key lasts as long as its sessions.
    let delete = async |id: &str| {
        let path = format!("/sessions/{id}");
        served.ask("DELETE", &path, Json::Null).await.0
    };
    assert_eq!(delete("session-1").await, StatusCode::NO_CONTENT);
    assert_eq!(keyed(&served, "k", 2).await, answers[0]);
    for number in 3..20 {
        delete(&format!("session-{number}")).await;
        let key = number.to_string();
        assert_eq!(keyed(&served, &key, 1).await.0, StatusCode::CREATED);
        assert_eq!(keyed(&served, &key, 1).await.0, StatusCode::CREATED);
        assert_eq!(keyed(&served, "k", 2).await, answers[0]);
    }
}

#[tokio::test]
async fn a_session_ends_as_its_timeline_says() {
    let of =
        |events: &str| format!("name: fix\ntimeline:\n  - userInputs: [[0, \"Go\"]]\n{events}");
    let error = "  - llmResponse: [{error: {message: \"overloaded\", statusCode: 529}}]\n";
    for (events, last, found) in [
        (error.to_owned(), "status failed", &["T-REST-02"][..]),
        (
            format!("{error}  - log: \"again\"\n"),
            "status completed",
            &["T-REST-02"],
        ),
        (
            "  - status: cancelled\n".to_owned(),
            "status cancelled",
            &[],
        ),
        (
            "  - complete: true\n  - log: \"late\"\n".to_owned(),
            "status completed",
            &["T-REST-01"],
        ),
    ] {
        let served = Served::start(&of(&events)).await;
        let codes: Vec<_> = served
            .running
            .diagnostics()
            .iter()
            .map(|found| found.code.name())
            .collect();
        assert_eq!(codes, found, "{events}");
        served.task("Go").await;
        assert_eq!(
            served.told("session-1").await.last().map(String::as_str),
            Some(last),
            "{events}"
        );
    }
    let served = Served::start(&of("  - complete: true\n  - merge: true\n")).await;
    served.task("Go").await;
    served.told("session-1").await;
    assert_eq!(
        served.ask("GET", "/sessions", Json::Null).await.1["total"],
        1
    );
}

#[tokio::test]
async fn events_are_filtered_and_paged() {
    let served = Served::start(FIX).await;
    served.task("Fix the test").await;
    served.told("session-1").await;
    let events = async |query: &str| {
        served
            .ask(
                "GET",
                &format!("/sessions/session-1/events?{query}"),
                Json::Null,
            )
            .await
    };
    let (_, logs) = events("type=log&perPage=1").await;
    assert_eq!((&logs["total"], &logs["nextPage"]), (&json!(2), &json!(2)));
    assert_eq!(events("type=log,thought&level=warn").await.1["total"], 1);
    assert_eq!(
        events("sort=desc").await.1["items"][0]["status"],
        "completed"
    );
    assert_eq!(
        events("since=2026-01-31T09:00:00.450Z&until=2026-01-31T09:00:00.500Z")
            .await
            .1["total"],
        1
    );
    for bad in [
        "page=0",
        "perPage=1001",
        "page=x",
        "sort=up",
        "since=today",
        "type=nothing",
        "level=nothing",
    ] {
        let (status, problem) = events(bad).await;
        assert_eq!(
            (status, &problem["title"]),
            (StatusCode::BAD_REQUEST, &json!("Bad Request")),
            "{bad}"
        );
    }
    let (_, tail) = served
        .ask("GET", "/sessions/session-1/logs?tail=1", Json::Null)
        .await;
    assert_eq!(tail["items"][0]["stream"], "stderr");
    let request = Request::builder().uri("/api/v1/sessions/session-1/pty");
    let (_, pty) = served.send(request, String::new()).await;
    assert!(
        pty.starts_with("event: pty\ndata: {\"type\":\"terminal_resize\""),
        "{pty}"
    );
    assert!(pty.contains("MSBmYWlsZWQK"), "{pty}");
}

#[tokio::test]
async fn lists_have_what_the_timeline_says_and_drafts_are_kept() {
    let seed = "server:\n  seed:\n    agents: [{type: reviewer}]\n    repositories: {web: {branches: [main, next], files: [a.ts]}}\n    drafts: [{id: d1, prompt: Later}]\n";
    let served = Served::start(&format!("{FIX}{seed}")).await;
    let get = async |path: &str| served.ask("GET", path, Json::Null).await;
    assert_eq!(
        get("/agents").await.1["items"],
        json!([{"type": "reviewer"}])
    );
    assert_eq!(
        get("/repositories/web/branches").await.1["items"],
        json!(["main", "next"])
    );
    for path in [
        "/runtimes",
        "/executors",
        "/projects",
        "/repos",
        "/workspaces",
        "/repositories/other/files",
    ] {
        assert_eq!(get(path).await.1["total"], 1, "{path}");
    }
    assert_eq!(get("/drafts/d1").await.1["prompt"], "Later");
    let (status, draft) = served
        .ask("POST", "/drafts", json!({"prompt": "Soon"}))
        .await;
    assert_eq!(status, StatusCode::CREATED);
    let path = format!("/drafts/{}", draft["id"].as_str().expect("an id"));
    assert_eq!(
        served.ask("PUT", &path, json!({"prompt": "Now"})).await.1["prompt"],
        "Now"
    );
    assert_eq!(get("/drafts").await.1["total"], 2);
    assert_eq!(
        served.ask("DELETE", &path, Json::Null).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(get(&path).await.0, StatusCode::NOT_FOUND);
    assert_eq!(get("/nothing").await.0, StatusCode::NOT_FOUND);
    assert_eq!(
        served.ask("PATCH", "/agents", Json::Null).await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    for path in ["/healthz", "/readyz", "/version"] {
        assert_eq!(get(path).await.0, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn pages_of_others_are_refused_unless_they_are_named() {
    let from = |origin: &str| {
        Request::builder()
            .uri("/api/v1/agents")
            .header("origin", origin.to_owned())
    };
    let served = Served::start(FIX).await;
    let (status, problem) = served
        .send(from("https://evil.example"), String::new())
        .await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(problem.contains("\"type\":\"about:blank\""), "{problem}");
    let (status, page) = served
        .send(Request::builder().uri("/"), String::new())
        .await;
    assert!(status == StatusCode::OK && page.contains("<h1>Sessions</h1>"));
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "the page asks for nothing elsewhere"
    );
}

#[test]
fn a_long_diff_keeps_its_ends() {
    let long: String = (0..5000).map(|number| format!("line {number}\n")).collect();
    let timeline = json!({
        "name": "long",
        "timeline": [{"userInputs": [[0, "Go"]]}, {"agentEdits": {"path": "a.txt", "newText": long}}],
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("long.yaml");
    std::fs::write(&file, timeline.to_string()).expect("written");
    let scripts = MockService::from_files([file]).load().scripts;
    let mut diffs = scripts[0].steps.iter().filter_map(|step| match &step.act {
        script::StepAct::Tell(event) if event["type"] == "diff" => Some(event),
        _ => None,
    });
    let diff = diffs.next().expect("a diff");
    let shown = diff["newText"].as_str().expect("a text");
    assert_eq!(diff["truncated"], true);
    assert!(
        shown.starts_with("line 0\n")
            && shown.ends_with("line 4999")
            && shown.lines().count() == 401
    );
}

#[test]
fn each_route_is_in_the_document() {
    let document: Json = serde_json::from_str(&openapi()).expect("JSON");
    let paths = document["paths"].as_object().expect("paths");
    let n_operations: usize = paths
        .values()
        .filter_map(Json::as_object)
        .map(serde_json::Map::len)
        .sum();
    assert_eq!((paths.len(), n_operations), (24, 28));
    for (path, item) in paths {
        for (method, operation) in item.as_object().expect("an item") {
            assert!(operation["summary"].is_string(), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn faults_spoil_the_first_stream_that_comes_to_them() {
    let clean = Served::start(FIX).await;
    clean.task("Fix the test").await;
    let (_, whole) = clean.stream("session-1", None).await;
    for kind in [
        "cut",
        "garbage",
        "split",
        "merge",
        "duplicate",
        "reorder",
        "wrong_id",
    ] {
        let event = match kind {
            "wrong_id" => "  - agentToolUse:\n",
            _ => "  - llmResponse:\n",
        };
        let faulty = FIX.replacen(
            event,
            &event.replace("  - ", &format!("  - fault: {{kind: {kind}}}\n    ")),
            1,
        );
        let served = Served::start(&faulty).await;
        assert!(served.running.diagnostics().is_empty(), "{kind}");
        served.task("Fix the test").await;
        let (_, spoiled) = served.stream("session-1", None).await;
        let id = |frame: &str| frame.lines().next().map(str::to_owned);
        match kind {
            // A service sends each event as soon as it can, so pieces are seen on the wire only.
            "split" | "merge" => assert_eq!(spoiled, whole, "{kind}"),
            "cut" => {
                assert_eq!(spoiled[..3], whole[..3]);
                assert!(
                    spoiled.len() == 4 && whole[3].starts_with(&spoiled[3]),
                    "{spoiled:?}"
                );
            }
            "garbage" => {
                assert!(whole[3].starts_with(&spoiled[3]) && spoiled[3] != whole[3]);
                assert_eq!(spoiled[4..], whole[4..]);
            }
            "duplicate" => assert_eq!(spoiled[3..5], [whole[3].clone(), whole[3].clone()]),
            "reorder" => assert_eq!(spoiled[3..5], [whole[4].clone(), whole[3].clone()]),
            _ => {
                let spoiled = spoiled
                    .iter()
                    .filter(|frame| frame.contains("call_987654321"));
                assert_eq!(
                    spoiled.map(|frame| id(frame)).next(),
                    Some(id(&whole[5])),
                    "{kind}"
                );
            }
        }
        // Whoever comes again gets what it missed.
        let (_, rest) = served.stream("session-1", Some(3)).await;
        match kind {
            "wrong_id" => {}
            _ => assert_eq!(rest, whole[3..], "{kind}"),
        }
        let verdict = served.running.stop().await;
        assert!(
            verdict.passed && verdict.findings.is_empty(),
            "{kind}: {:?}",
            verdict.findings
        );
    }
}

#[tokio::test]
async fn a_crash_breaks_the_stream_and_silence_lasts_to_the_end() {
    let faulty = |kind: &str| {
        FIX.replacen(
            "  - llmResponse:\n",
            &format!("  - fault: {{kind: {kind}}}\n    llmResponse:\n"),
            1,
        )
    };
    let request = || {
        let request = Request::builder().uri("/api/v1/sessions/session-1/events");
        request
            .header("host", "127.0.0.1")
            .body(Body::empty())
            .expect("a request")
    };
    let served = Served::start(&faulty("crash")).await;
    served.task("Fix the test").await;
    let response = served
        .router
        .clone()
        .oneshot(request())
        .await
        .expect("an answer");
    assert!(to_bytes(response.into_body(), usize::MAX).await.is_err());

    let served = Served::start(&faulty("stall")).await;
    served.task("Fix the test").await;
    let response = served
        .router
        .clone()
        .oneshot(request())
        .await
        .expect("an answer");
    let reading = tokio::spawn(to_bytes(response.into_body(), usize::MAX));
    let session = served.running.service.session("session-1").expect("there");
    let mut changed = session.watch();
    while !session.events_from(0, usize::MAX).1 || lock_len(&session) == 0 {
        tokio::select! {
            _ = changed.changed() => {}
            () = tokio::task::yield_now() => {}
        }
    }
    let verdict = served.running.stop().await;
    assert!(verdict.passed, "{:?}", verdict.findings);
    let read = reading.await.expect("it reads").expect("a body");
    let text = String::from_utf8(read.to_vec()).expect("text");
    assert!(
        text.contains("id: 3\n") && !text.contains("id: 4\n"),
        "{text}"
    );
}

/// How many faults have hit a session's streams.
fn lock_len(session: &session::Session) -> usize {
    service::lock(&session.hit).len()
}

#[tokio::test]
async fn a_fault_that_nobody_streamed_is_told() {
    let faulty = FIX.replacen(
        "  - llmResponse:\n",
        "  - fault: {kind: cut}\n    llmResponse:\n",
        1,
    );
    let served = Served::start(&faulty).await;
    served.task("Fix the test").await;
    let verdict = served.running.stop().await;
    let codes: Vec<_> = verdict
        .findings
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert_eq!(codes, ["T-FAULT-01"]);
}

#[tokio::test]
async fn half_a_surrogate_pair_in_a_body_is_replaced_with_a_warning() {
    let served = Served::start(FIX).await;
    let request = Request::builder().method("POST").uri("/api/v1/drafts");
    let (status, draft) = served
        .send(request, r#"{"prompt": "a\ud83d"}"#.to_owned())
        .await;
    assert_eq!(status, StatusCode::CREATED);
    assert!(draft.contains("\"a\u{fffd}\""), "{draft}");
    let verdict = served.running.stop().await;
    let codes: Vec<_> = verdict
        .findings
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert!(codes.contains(&"C-JSON-04"), "{codes:?}");
}

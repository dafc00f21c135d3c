//! Whole files in the shapes that people write.

use super::{codes, reading, reading_with, said};
use crate::model::{
    ApiStyle, EventKind, ExpectedResult, ResponseElement, ServerMode, ServingCount, ToolStatus,
    When,
};

#[test]
fn the_whole_format_is_read() {
    let read = reading(include_str!("whole.yaml"));
    assert_eq!(codes(&read), [""; 0], "{:#?}", said(&read));
    assert!(read.converted.is_none());
    let timeline = read.timeline.unwrap();
    let words: Vec<&str> = timeline
        .events
        .iter()
        .map(|event| event.kind.as_str())
        .collect();
    for spec in crate::script::EVENTS {
        assert!(words.contains(&spec.key), "{} is in no example", spec.key);
    }
    assert_eq!(timeline.boundary(), Some(4));
    assert_eq!(timeline.effective_prompt().as_deref(), Some("Look at this"));
    assert_eq!(timeline.session_id(), Some("session-7"));
    assert_eq!(timeline.server.models, ["small", "large"]);
    assert_eq!(
        timeline.repository.as_ref().unwrap().files[1].contents,
        [0, 1, 2]
    );
    assert_eq!(timeline.included_files.len(), 6);
    let check_keys: Vec<String> = timeline
        .events
        .iter()
        .find_map(|event| match &event.kind {
            EventKind::Assert(assert) => Some(
                assert
                    .checks
                    .iter()
                    .map(|check| check.key.clone())
                    .collect(),
            ),
            _ => None,
        })
        .unwrap();
    assert_eq!(
        check_keys,
        [
            "fs.exists[0]",
            "fs.notExists[0]",
            "fs.contains[0]",
            "text.contains[0]",
            "text.notContains[0]",
            "json.file",
            "git.branch",
            "git.remoteExists",
            "git.commitsAheadOf",
            "git.commit[0]",
            "git.headMessageContains",
            "acp.session[0]",
            "exitCode",
            "screen"
        ]
    );
}

#[test]
fn a_session_with_a_mock_agent() {
    let text = "\
name: write_a_note
tags: ['cli', 'local']
terminalRef: 'terminals/100x30.json'
compat:
  allowInlineTerminal: true
  allowTypeSteps: true
repo:
  init: true
  branch: 'topic/note'
  dir: './start'
  files:
    - path: 'NOTES.md'
      contents: 'one'
ah:
  cmd: 'task'
  flags: ['--agent=mock']
  env:
    LEVEL: 'trace'
server:
  mode: 'none'
acp:
  cwd: '/tmp/place'
  mcpServers: []
timeline:
  - think:
      - [500, \"Reading what is asked\"]
      - [800, 'A note is needed']
  - agentToolUse:
      toolName: 'runCmd'
      args:
        cmd: 'sh note.sh'
        cwd: '.'
      progress:
        - [300, 'Starting...']
        - [100, 'Ended']
      result: 'noted'
      status: 'ok'
  - agentEdits:
      path: 'note.sh'
      linesAdded: 1
      linesRemoved: 0
  - screenshot: 'written'
  - baseTimeDelta: 50
  - assert:
      fs:
        exists: ['notes']
  - applyPatch:
      path: './patches/note.patch'
      commit: true
      message: 'Add a note'
expect:
  exitCode: 0
  artifacts:
    - type: 'taskFile'
      pattern: 'notes/*'
";
    let read = reading(text);
    assert_eq!(codes(&read), ["T-LOAD-10"], "{:#?}", said(&read));
    let timeline = read.timeline.unwrap();
    let EventKind::Response(response) = &timeline.events[0].kind else {
        panic!("a response");
    };
    let ResponseElement::Think(entries) = &response.elements[0] else {
        panic!("thinking");
    };
    assert_eq!(entries[1].when, When::Delay(800));
    let EventKind::ToolUse(tool) = &timeline.events[1].kind else {
        panic!("a call");
    };
    assert_eq!(tool.status, ToolStatus::Ok);
    assert!(matches!(&tool.result, Some(ExpectedResult::Value(value)) if value == "noted"));
    assert_eq!(
        timeline.repository.unwrap().folder.unwrap().to_str(),
        Some("./start")
    );
}

#[test]
fn settings_that_depend_on_symbols() {
    let text = "\
name: settings
acp:
  rules:
    - when: '$everything'
      config:
        capabilities:
          promptCapabilities: {image: true}
          mcpCapabilities: {http: true}
    - default: true
      config:
        capabilities:
          promptCapabilities: {image: false}
server:
  rules:
    - when: '$in_production'
      config: {mode: 'mock', llmApiStyle: 'openai'}
    - when: '$in_development'
      config: {mode: 'none', llmApiStyle: 'anthropic', coalesceThinkingWithToolUse: false}
    - default: true
      config: {mode: 'none', llmApiStyle: 'openai'}
timeline:
  - initialize:
      protocolVersion: 1
  - rules:
      - when: \"$protocol >= 2\"
        config:
          - userInputs:
              - relativeTime: 0
                input:
                  - type: \"text\"
                    text: \"The richer test\"
      - default: true
        config:
          - userInputs:
              - relativeTime: 0
                input: \"The plain test\"
";
    let prompt = |definitions: &[&str]| {
        let read = reading_with(text, definitions);
        assert_eq!(codes(&read), [""; 0], "{:#?}", said(&read));
        let timeline = read.timeline.unwrap();
        let style = timeline.server.api_style.map(|style| style.value);
        let image = timeline
            .acp
            .has_capability(&["promptCapabilities", "image"]);
        (
            timeline.effective_prompt().unwrap(),
            timeline.server.mode,
            style,
            image,
        )
    };
    assert_eq!(
        prompt(&[]),
        (
            "The plain test".into(),
            Some(ServerMode::None),
            Some(ApiStyle::OpenAi),
            false
        )
    );
    assert_eq!(
        prompt(&["protocol=2", "in_development", "everything"]),
        (
            "The richer test".into(),
            Some(ServerMode::None),
            Some(ApiStyle::Anthropic),
            true
        )
    );
}

#[test]
fn metadata_at_every_place() {
    let text = "\
name: metadata
timeline:
  - initialize:
      protocolVersion: 1
      _meta: {client.extensions: {extra: true}}
    expectedResponse:
      protocolVersion: 1
      _meta: {agent: {version: 1}}
  - sessionStart:
      expectedPromptResponse:
        sessionId: s-1
        stopReason: completed
        usage: {inputTokens: 1}
  - userInputs:
      - relativeTime: 0
        input: [{type: text, text: Hello}]
        expectedResponse: {stopReason: interrupted}
        _meta: {request: r1}
  - llmResponse:
      - assistant:
          - [100, Hello back]
    _meta: {model: m}
";
    let read = reading(text);
    assert_eq!(codes(&read), ["T-ACP-10", "T-ACP-10"], "{:#?}", said(&read));
    let timeline = read.timeline.unwrap();
    assert_eq!(timeline.events[0].meta["client.extensions"]["extra"], true);
    let EventKind::Initialize(call) = &timeline.events[0].kind else {
        panic!("initialize");
    };
    assert!(call.request.get("_meta").is_none());
    assert_eq!(call.expected_response["_meta"]["agent"]["version"], 1);
    let EventKind::UserInputs(inputs) = &timeline.events[2].kind else {
        panic!("inputs");
    };
    assert_eq!(inputs[0].expected_response["stopReason"], "cancelled");
    assert_eq!(inputs[0].meta["request"], "r1");
    assert_eq!(timeline.events[3].meta["model"], "m");
}

#[test]
fn a_simulated_session() {
    let text = "\
name: simulated
timeline:
  - llmResponse:
      - think:
          - relativeTime: 500
            content: 'First the code'
          - relativeTime: 300
            content: 'Then the tests...'
      - assistant:
          - relativeTime: 200
            content: 'I look for the functions.'
  - agentToolUse:
      toolName: 'grep'
      args: {pattern: 'fn', path: '.', glob: '*.rs'}
      progress:
        - [200, 'Looking...']
      result: 'a.rs:1'
      toolExecution:
        startTimeMs: 0
        events:
          - {type: 'stdout', timeMs: 50, content: 'a'}
          - {type: 'completion', timeMs: 200, exitCode: 0}
  - agentActions:
      - runCmd: {cmd: 'make'}
        toolExecution:
          events: [{type: 'stderr', timeMs: 1, content: 'w'}]
  - userActions:
      - userInputs:
          - [700, 'q']
        target: 'tui'
  - llmResponse:
      - error:
          errorType: 'rate_limit_exceeded'
          statusCode: 429
          message: 'Too many.'
          retryAfterSeconds: 60
  - baseTimeDelta: 1000 # at least what the others took
";
    let read = reading(text);
    assert_eq!(codes(&read), [""; 0], "{:#?}", said(&read));
    let timeline = read.timeline.unwrap();
    let EventKind::Response(response) = &timeline.events[4].kind else {
        panic!("a response");
    };
    let ResponseElement::Error(error) = &response.elements[0] else {
        panic!("an error");
    };
    assert_eq!(error.repeat, ServingCount::Times(1));
    assert_eq!((error.status, error.retry_after_seconds), (429, Some(60)));
}

#[test]
fn a_session_with_history() {
    let text = "\
name: 'continued'
acp:
  capabilities:
    loadSession: true
    promptCapabilities: {image: false, audio: false, embeddedContext: false}
timeline:
  - llmResponse:
      - assistant:
          - relativeTime: 100
            content: \"I wrote the script.\"
  - agentToolUse:
      toolName: 'runCmd'
      args:
        cmd: 'echo \"print(\\\\\"Hi\\\\\")\" > hi.py'
      result: 'ok'
      status: 'ok'
  - agentEdits: {path: 'hi.py', linesAdded: 1, linesRemoved: 0}
  - sessionStart
  - llmResponse:
      - assistant:
          - relativeTime: 100
            content: \"Now I change it.\"
  - complete: true
";
    let read = reading(text);
    assert_eq!(codes(&read), [""; 0], "{:#?}", said(&read));
    let timeline = read.timeline.unwrap();
    assert_eq!(timeline.boundary(), Some(3));
    // The same file, which says that it can't be loaded.
    let read = reading(&text.replace("loadSession: true", "loadSession: false"));
    assert_eq!(codes(&read), ["T-ACP-02"], "{:#?}", said(&read));
}

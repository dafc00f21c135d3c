//! The socket of the browser extension "Claude in Chrome", with a stand-in at its other end.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

use super::*;
use crate::program::{only_trace, trace_lines};

/// What a scenario says to the extension: the tools and arguments of its calls.
type Calls = Vec<(String, Value)>;

fn request(stream: &mut UnixStream) -> Option<Value> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut frame).ok()?;
    serde_json::from_slice(&frame).ok()
}

fn answer(stream: &mut UnixStream, answer: &Value) {
    let text = answer.to_string();
    let length = u32::try_from(text.len()).expect("short");
    stream.write_all(&length.to_le_bytes()).expect("written");
    stream.write_all(text.as_bytes()).expect("written");
}

/// Answers one connection until it ends, and gives what was called.
fn bridge(listener: &UnixListener) -> Calls {
    let (mut stream, _) = listener.accept().expect("a connection");
    let mut calls = Vec::new();
    while let Some(request) = request(&mut stream) {
        assert_eq!(request["method"], "execute_tool", "{request}");
        let params = &request["params"];
        let tool = params["tool"].as_str().expect("a tool").to_owned();
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let id = &request["id"];
        let reply = match &*tool {
            "tabs_context_mcp" => {
                json!({"id": id, "result": text("{\"availableTabs\":[{\"tabId\":41}]}")})
            }
            "navigate" => json!({"id": id, "result": text("{\"title\":\"Home\"}")}),
            // Without an id it is to the only open call.
            "find" => json!({"result": text("ref_3")}),
            "computer" => json!({"id": id, "result": {"content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
            ]}}),
            _ => json!({"id": id, "error": {"message": format!("Unknown tool: {tool}")}}),
        };
        calls.push((tool, params["args"].clone()));
        answer(&mut stream, &reply);
    }
    calls
}

fn place() -> (Scratch, PathBuf) {
    let mut scratch = program::scratch();
    let work = scratch.work();
    scratch.set("USER", "ada");
    scratch.set("TMPDIR", &work);
    let folder = work.join("claude-mcp-browser-bridge-ada");
    std::fs::create_dir(&folder).expect("it can be made");
    (scratch, folder)
}

#[test]
fn the_extension_needs_no_config() {
    let (scratch, folder) = place();
    let listener = UnixListener::bind(folder.join("1.sock")).expect("a socket");
    let other_end = thread::spawn(move || bridge(&listener));
    let steps = json!([
        {"id": "go", "tool": "mcp__claude-in-chrome__navigate", "params": {"url": "https://example.com"},
         "output": {"title": "$.title"}},
        {"id": "find", "tool": "mcp__claude-in-chrome__find", "params": {"query": "{{go.title}}", "tabId": 5},
         "output": {"ref": "$"}},
        {"id": "shot", "tool": "mcp__claude-in-chrome__computer", "params": {"action": "screenshot"},
         "output": {"type": "$.media_type"}},
        {"tool": "mcp__claude-in-chrome__teleport", "params": {}, "on_error": "skip"},
    ]);
    let played = play(&scratch, &steps, 0);
    assert_eq!(
        played.statuses(),
        ["passed", "passed", "passed", "tolerated"]
    );
    assert_eq!(played.output("go", "title"), "Home");
    assert_eq!(played.output("find", "ref"), "ref_3");
    assert_eq!(played.output("shot", "type"), "image/png");
    assert_eq!(played.step(4)["error"], "Unknown tool: teleport");
    let calls = other_end.join().expect("no panic");
    let wanted: Calls = [
        ("tabs_context_mcp", json!({"createIfEmpty": false})),
        (
            "navigate",
            json!({"url": "https://example.com", "tabId": 41}),
        ),
        ("find", json!({"query": "Home", "tabId": 5})),
        ("computer", json!({"action": "screenshot", "tabId": 41})),
        ("teleport", json!({"tabId": 41})),
    ]
    .map(|(tool, args)| (tool.to_owned(), args))
    .into();
    assert_eq!(calls, wanted);
    // What was added is in the trace.
    let lines = trace_lines(&only_trace(&scratch));
    let sent = lines.iter().filter(|line| line["type"] == "request_sent");
    let tabs: Vec<&Value> = sent
        .map(|line| &line["data"]["params"]["arguments"]["tabId"])
        .collect();
    assert_eq!(tabs, [41, 41, 41]);
}

#[test]
fn a_dry_run_says_that_its_tools_are_not_known() {
    let (scratch, folder) = place();
    let listener = UnixListener::bind(folder.join("1.sock")).expect("a socket");
    let other_end = thread::spawn(move || bridge(&listener));
    let steps = json!([{"tool": "mcp__claude-in-chrome__anything", "params": {"at": 1}}]);
    let document = dry_run(&scratch, &steps, 0);
    assert_eq!(
        document["connected"],
        json!([{
            "server": "claude-in-chrome",
            "transport": "chrome",
            "protocol": null,
            "tools": null,
            // Nothing says that it only reads.
            "writing_tools": ["anything"],
            "destructive_tools": [],
            "warnings": [],
        }])
    );
    let calls = other_end.join().expect("no panic");
    assert_eq!(calls.len(), 1, "{calls:?}");
}

#[test]
fn without_a_socket_the_error_says_where_it_looked() {
    let (scratch, folder) = place();
    let steps = json!([{"tool": "mcp__claude-in-chrome__navigate", "params": {"url": "u"}}]);
    let played = play(&scratch, &steps, 2);
    let error = played.step(1)["error"].as_str().expect("an error");
    let wanted = format!("there is no socket in `{}`", folder.display());
    assert!(error.contains(&wanted), "{error}");
    assert!(
        played.stderr.contains("help: start Chrome"),
        "{}",
        played.stderr
    );
}

#[test]
fn an_entry_of_its_name_wins() {
    let (scratch, _folder) = place();
    let entry = json!({"command": env!("CARGO_BIN_EXE_cuecard"), "args": ["mcp", "demo"]});
    let config = json!({"mcpServers": {"claude-in-chrome": entry}});
    scratch
        .write(".mcp.json", config.to_string())
        .expect("writable");
    let steps = json!([{"tool": "mcp__claude-in-chrome__count", "params": {}}]);
    play(&scratch, &steps, 0);
}

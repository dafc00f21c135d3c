//! Real servers and real clients.

use cuecard_testing::peers;

use cuecard_testing::site::Site;

use super::*;
use crate::inferring::{Client, id_in};
use crate::servers::{npm, script};
use crate::targets::Peer;

fn everything() -> Vec<Value> {
    vec![
        call("echo", json!({"message": "hello"})),
        call("get-sum", json!({"a": 2, "b": 3})),
        call(
            "trigger-long-running-operation",
            json!({"duration": 0.2, "steps": 2}),
        ),
        call("get-structured-content", json!({"location": "Chicago"})),
        call("no-such-tool", json!({})),
    ]
}

#[test]
fn server_everything_over_stdio() {
    let Some(server) = npm("mcp-server-everything") else {
        return;
    };
    let scratch = records_and_plays(
        &json!({"command": server, "args": ["stdio"]}),
        &everything(),
    );
    let introduction = &cassette(&scratch)[0];
    assert!(
        introduction["introduction"]["serverInfo"]["name"].is_string(),
        "{introduction}"
    );
    assert!(
        introduction["tools"]
            .as_array()
            .is_some_and(|tools| tools.len() > 5),
        "{introduction}"
    );
}

#[test]
fn server_everything_over_streamable_http() {
    let Some(server) = npm("mcp-server-everything") else {
        return;
    };
    let preload = format!("--require={}", script("loopback.cjs").display());
    let server = HttpServer::start(&server, &[("NODE_OPTIONS", preload)], &["streamableHttp"]);
    records_and_plays(
        &json!({"url": format!("{}/mcp", server.url)}),
        &everything(),
    );
}

#[test]
fn a_server_over_sse_is_refused() {
    let scratch = program::scratch();
    let config = r#"{"mcpServers": {"old": {"type": "sse", "url": "http://127.0.0.1:9/sse"}}}"#;
    scratch.write("servers.json", config).expect("writable");
    let finished = program::run(
        &scratch,
        &["record", "mcp", "--config", "servers.json", "--", "claude"],
    );
    assert_eq!(finished.code(), Some(2));
    let wanted = "server `old` can't be recorded: it is reached over sse";
    assert!(finished.stderr.contains(wanted), "{}", finished.stderr);
}

#[test]
fn the_filesystem_and_the_memory_server() {
    let (Some(files), Some(memory)) = (npm("mcp-server-filesystem"), npm("mcp-server-memory"))
    else {
        return;
    };
    let folder = program::scratch();
    let path = |name: &str| folder.work().join(name);
    let steps = [
        call(
            "write_file",
            json!({"path": path("a.txt"), "content": r#"{{"{{"}}one}}"#}),
        ),
        call("read_text_file", json!({"path": path("a.txt")})),
        call("read_text_file", json!({"path": path("b.txt")})),
    ];
    records_and_plays(&json!({"command": files, "args": [folder.work()]}), &steps);
    let env = json!({"MEMORY_FILE_PATH": path("memory.json")});
    let steps = [
        call("delete_entities", json!({"entityNames": ["Ada"]})),
        call(
            "create_entities",
            json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}),
        ),
        call("read_graph", json!({})),
    ];
    records_and_plays(&json!({"command": memory, "env": env}), &steps);
}

#[test]
fn a_browser_of_chrome_devtools_mcp() {
    let Some(script) =
        peers::require("npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js")
    else {
        return;
    };
    let node = peers::require_program("node").expect("node is there");
    let chromium = peers::require_program("chromium-headless-shell").expect("chromium is there");
    let entry = json!({
        "command": node,
        "args": [
            script, "--executablePath", chromium, "--headless", "--isolated", "--no-usage-statistics",
            "--chromeArg=--no-sandbox", "--chromeArg=--disable-gpu", "--chromeArg=--disable-dev-shm-usage",
        ],
    });
    let page = "data:text/html,<title>Shop</title><button>Buy</button>";
    let steps = [
        call("list_pages", json!({})),
        call(
            "navigate_page",
            json!({"pageId": 1, "type": "url", "url": page}),
        ),
        call(
            "evaluate_script",
            json!({"pageId": 1, "function": "() => document.title"}),
        ),
    ];
    records_and_plays(&entry, &steps);
}

#[test]
fn a_browser_of_playwright_mcp() {
    let peer = Peer::Playwright;
    let Some(scratch) = peer.start() else {
        return;
    };
    let site = Site::start().expect("a site");
    let config = read(&scratch, ".mcp.json");
    let mut proxied: Value = serde_json::from_str(&config).expect("a config");
    let entry = &mut proxied["mcpServers"][peer.server()];
    *entry = through_proxy(entry);
    scratch
        .write(".mcp.json", proxied.to_string())
        .expect("writable");
    let mut client = Client::start(&scratch, peer.server());
    let url = site.url("shop.html");
    client.call("browser_navigate", &json!({"url": url}));
    let snapshot = client.call("browser_snapshot", &json!({}));
    let id = id_in(&snapshot, "link \"Sign in\"");
    client.call(
        "browser_click",
        &json!({"element": "the link", "target": id}),
    );
    client.leave();

    let recorded = calls(&scratch);
    let asked = |call: &Value| (call["tool"].clone(), call["arguments"].clone());
    let asked: Vec<(Value, Value)> = recorded.iter().map(asked).collect();
    let expected = [
        ("browser_navigate", json!({"url": url})),
        ("browser_snapshot", json!({})),
        (
            "browser_click",
            json!({"element": "the link", "target": id}),
        ),
    ];
    let expected = expected.map(|(tool, arguments)| (json!(tool), arguments));
    assert_eq!(asked, expected);
    assert_eq!(recorded[1]["result"]["content"][0]["text"], snapshot);
    let after = recorded[2]["result"]["content"][0]["text"].as_str();
    assert!(
        after.is_some_and(|text| text.contains("login.html")),
        "{recorded:#?}"
    );

    // What the element is called holds in a fresh browser too.
    let infer = ["infer", "rec.cassette.jsonl", "-o", "shop.json"];
    let inferred = program::run(&scratch, &infer);
    assert_eq!(inferred.code(), Some(0), "{}", told(&inferred));
    let scenario: Value = serde_json::from_str(&read(&scratch, "shop.json")).expect("JSON");
    let steps = scenario["steps"].as_array().expect("a list");
    let target = json!({"role": "link", "name": "Sign in"});
    assert_eq!(steps.last().map(|step| &step["target"]), Some(&target));
    let config = config.replace("\"playwright\"", "\"peer\"");
    scratch.write(".mcp.json", config).expect("writable");
    let played = program::play(&scratch, &["shop.json"], 0);
    assert!(
        played.statuses().iter().all(|status| *status == "passed"),
        "{scenario:#}"
    );
}

/// What the client on the Python SDK prints.
fn python(client: &Path, era: &str, server: &[String]) -> Value {
    let mut scratch = Scratch::new(client).expect("a scratch folder");
    scratch.limit(std::time::Duration::from_secs(180));
    let client = script("python_client.py").display().to_string();
    let mut args = vec![client, era.to_owned()];
    args.extend(server.iter().cloned());
    let finished = scratch.run(&args).expect("it starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    serde_json::from_str(finished.stdout.trim()).expect("JSON")
}

#[test]
fn clients_on_the_python_sdk_see_no_difference() {
    let (Some(newer), Some(older), Some(server)) = (
        peers::require("venv/bin/python"),
        peers::require("venv-legacy/bin/python"),
        npm("mcp-server-everything"),
    ) else {
        return;
    };
    let everything = [server.display().to_string(), "stdio".to_owned()];
    let both_eras = [
        newer.display().to_string(),
        script("python_sdk.py").display().to_string(),
        "stdio".to_owned(),
    ];
    for (client, era, server) in [
        (&older, "legacy", &everything[..]),
        (&newer, "legacy", &everything),
        (&newer, "auto", &everything),
        (&newer, "auto", &both_eras),
        (&older, "legacy", &both_eras),
    ] {
        let place = program::scratch();
        let out = place.work().join("rec.json").display().to_string();
        let proxy = [
            PROGRAM, "record", "mcp", "--server", "peer", "-o", &out, "--",
        ]
        .map(str::to_owned);
        let through = python(client, era, &[&proxy[..], server].concat());
        assert_eq!(through, python(client, era, server));
        let tools: Vec<Value> = calls(&place)
            .iter()
            .map(|call| call["tool"].clone())
            .collect();
        assert_eq!(tools, ["echo", "get-sum", "no-such-tool"]);
    }
}

#[test]
fn a_client_on_the_python_sdk_over_http() {
    let (Some(client), Some(server)) = (
        peers::require("venv/bin/python"),
        npm("mcp-server-everything"),
    ) else {
        return;
    };
    let preload = format!("--require={}", script("loopback.cjs").display());
    let server = HttpServer::start(&server, &[("NODE_OPTIONS", preload)], &["streamableHttp"]);
    let url = format!("{}/mcp", server.url);
    let place = program::scratch();
    let (proxy, own) = listening_proxy(&place, &url);
    assert_eq!(
        python(&client, "auto", &[own]),
        python(&client, "auto", &[url])
    );
    proxy.terminate();
    assert_eq!(proxy.finish().code(), Some(0));
    assert_eq!(calls(&place).len(), 3);
}

//! One scenario, played over every transport and in every era: what comes out is the same.

use super::*;

/// The SDK that speaks both eras.
fn newer() -> Option<PathBuf> {
    peers::require("venv/bin/python")
}

/// The SDK before version 2, with the transports that went away with it.
fn older() -> Option<PathBuf> {
    peers::require("venv-legacy/bin/python")
}

fn path(name: &str) -> String {
    let path = script(name);
    path.to_str().expect("a path of UTF-8").to_owned()
}

/// A server on the older SDK, up for as long as this lives.
fn older_server(transport: &str) -> Option<HttpServer> {
    let args = [&*path("python_sdk_legacy.py"), transport, "mcp.sock"].map(str::to_owned);
    Some(HttpServer::start(
        &older()?,
        &[],
        &args.each_ref().map(String::as_str),
    ))
}

/// A socket that starts a server over standard streams for each connection.
fn behind_socat(python: &Path, script: &str) -> Option<HttpServer> {
    let socat = peers::require_program("socat")?;
    let listen = "UNIX-LISTEN:mcp.sock,fork";
    let command = format!("EXEC:{} {} stdio", python.display(), path(script));
    // `-d -d` makes it say when it listens.
    Some(HttpServer::start(
        &socat,
        &[],
        &["-d", "-d", listen, &command],
    ))
}

/// Ten steps: typed and converted values, references, an image, errors, a condition and a loop.
fn ten_steps() -> Value {
    json!([
        {"id": "add", "tool": "mcp__peer__add", "params": {"a": "20", "b": 22}, "output": {"sum": "$.sum", "all": "$"}},
        {"id": "double", "tool": "mcp__peer__add", "params": {"a": "{{add.sum}}", "b": "{{add.sum}}"},
         "output": {"sum": "$.sum"}},
        {"id": "shout", "tool": "mcp__peer__shout", "params": {"text": "über {{double.sum}} \"{{add.all}}\"\n"},
         "output": {"text": "$"}},
        {"id": "picture", "tool": "mcp__peer__picture", "params": {}, "output": {"type": "$.media_type", "bytes": "$.bytes"}},
        {"id": "fail", "tool": "mcp__peer__fail", "params": {"reason": "{{shout.text}}"}, "on_error": "skip"},
        {"id": "say", "tool": "mcp__peer__say", "params": {"message": "{{shout.text}}, listen"}, "output": {"text": "$"}},
        {"id": "json", "tool": "mcp__peer__shout", "params": {"text": "{\"list\": [1, {\"deep\": \"é\"}]}"},
         "output": {"first": "$.LIST[0]", "deep": "$.LIST[*].DEEP"}},
        {"id": "long", "tool": "mcp__peer__shout", "params": {"text": "x".repeat(300_000)},
         "expect": {"equals": "X".repeat(300_000)}},
        {"id": "unknown", "tool": "mcp__peer__add", "params": {"a": "no number", "b": 1}, "on_error": "skip"},
        {"id": "never", "tool": "mcp__peer__add", "params": {"a": 1, "b": 1}, "condition": "{{double.sum}} < 84"},
    ])
}

/// What comes out of the ten steps.
struct Outcome {
    outputs: Value,
    statuses: Vec<String>,
    /// The error of the step that fails as it is told to.
    failure: Value,
}

/// Plays the ten steps against the server of `entry`, which is reached over `transport`.
#[track_caller]
fn outcome(entry: &Value, transport: &str) -> Outcome {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    write_scenario(&scratch, &ten_steps());
    let args = [
        "scenario.json",
        "--include-results",
        "true",
        "-v",
        "--debug",
    ];
    let played = program::play(&scratch, &args, 0);
    let up = format!("is up: {transport}, protocol ");
    assert!(played.stderr.contains(&up), "{}", played.stderr);
    assert!(
        played.stderr.contains("peer: ÜBER 84 \"{"),
        "{}",
        played.stderr
    );
    let image = saved_file(&scratch, &played.step(4)["result"], "image/png");
    assert_png(&image);
    Outcome {
        outputs: played.json["outputs"].clone(),
        statuses: played.statuses().into_iter().map(str::to_owned).collect(),
        failure: played.step(5)["error"].clone(),
    }
}

/// Plays the ten steps in each of the eras, where the first is that of `auto`.
#[track_caller]
fn same_as_ever(mut entry: Value, transport: &str, protocols: &[&str]) {
    for protocol in protocols {
        entry["protocol"] = json!(protocol);
        let Outcome {
            outputs,
            statuses,
            failure,
        } = outcome(&entry, transport);
        let mut wanted = vec!["passed"; 10];
        wanted[4] = "tolerated";
        wanted[8] = "tolerated";
        wanted[9] = "skipped";
        assert_eq!(statuses, wanted, "{transport} {protocol}");
        assert_eq!(outputs, wanted_outputs(), "{transport} {protocol}");
        assert_eq!(
            failure, "Error executing tool fail: no luck: ÜBER 84 \"{\"SUM\":42}\"",
            "{transport} {protocol}"
        );
    }
}

fn wanted_outputs() -> Value {
    json!({
        "add": {"sum": 42, "all": {"sum": 42}},
        "double": {"sum": 84},
        "shout": {"text": "ÜBER 84 \"{\"SUM\":42}\"\n"},
        "picture": {"type": "image/png", "bytes": 70},
        "say": {"text": "said"},
        "json": {"first": 1, "deep": ["É"]},
    })
}

const BOTH_ERAS: &[&str] = &["auto", "legacy", "modern"];
const OLDER_ERA: &[&str] = &["auto", "legacy"];

fn stdio(python: &Path, script: &str) -> Value {
    json!({"command": python, "args": [path(script), "stdio"]})
}

#[test]
fn ten_steps_over_stdio() {
    let Some((newer, older)) = newer().zip(older()) else {
        return;
    };
    same_as_ever(stdio(&newer, "python_sdk.py"), "stdio", BOTH_ERAS);
    same_as_ever(stdio(&older, "python_sdk_legacy.py"), "stdio", OLDER_ERA);
}

#[test]
fn ten_steps_over_streamable_http() {
    let Some((newer, older)) = newer().zip(older_server("http")) else {
        return;
    };
    let newer = HttpServer::start(&newer, &[], &[&path("python_sdk.py"), "http"]);
    same_as_ever(json!({"url": newer.url}), "http", BOTH_ERAS);
    same_as_ever(json!({"url": older.url}), "http", OLDER_ERA);
}

#[test]
fn ten_steps_over_sse() {
    let Some(server) = older_server("sse") else {
        return;
    };
    same_as_ever(json!({"type": "sse", "url": server.url}), "sse", OLDER_ERA);
    // Without a type it is found out.
    same_as_ever(json!({"url": server.url}), "sse", OLDER_ERA);
}

#[test]
fn ten_steps_over_websocket() {
    let Some(server) = older_server("ws") else {
        return;
    };
    same_as_ever(json!({"url": server.url}), "ws", OLDER_ERA);
}

#[test]
fn ten_steps_over_unix_sockets() {
    let Some((newer, older)) = newer().zip(older()) else {
        return;
    };
    for (python, script, protocols) in [
        (newer, "python_sdk.py", BOTH_ERAS),
        (older, "python_sdk_legacy.py", OLDER_ERA),
    ] {
        let Some(server) = behind_socat(&python, script) else {
            return;
        };
        same_as_ever(json!({"url": server.url}), "unix", protocols);
    }
}

#[test]
fn ten_steps_over_http_over_unix_sockets() {
    let Some(newer) = newer() else { return };
    let args = [&*path("python_sdk.py"), "http-unix", "mcp.sock"];
    let newer = HttpServer::start(&newer, &[], &args);
    same_as_ever(json!({"url": newer.url}), "http+unix", BOTH_ERAS);
    let Some(older) = older_server("http-unix") else {
        return;
    };
    same_as_ever(json!({"url": older.url}), "http+unix", OLDER_ERA);
}

/// Every transport of the older SDK beside stdio, with the entry that reaches it.
fn older_servers() -> Option<Vec<(HttpServer, Value)>> {
    let mut servers = Vec::new();
    for transport in ["sse", "ws", "http-unix"] {
        let server = older_server(transport)?;
        let mut entry = json!({"url": server.url});
        if transport == "sse" {
            entry["type"] = json!("sse");
        }
        servers.push((server, entry));
    }
    let server = behind_socat(&older()?, "python_sdk_legacy.py")?;
    let entry = json!({"url": server.url});
    servers.push((server, entry));
    Some(servers)
}

#[test]
fn calls_are_cancelled_and_requests_refused_over_every_transport() {
    let Some(servers) = older_servers() else {
        return;
    };
    for (server, entry) in servers {
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let steps = json!([
            {"id": "ask", "tool": "mcp__peer__ask", "params": {}, "output": {"text": "$"}},
            {"tool": "mcp__peer__hang", "params": {}, "timeout": 1, "on_error": "skip"},
            {"tool": "mcp__peer__hung", "params": {}, "expect": {"json_path": "$.cancelled", "equals": 1},
             "on_error": "retry", "retry": {"count": 200, "delay": 50, "backoff": "constant"}},
        ]);
        let played = play(&scratch, &steps, 0);
        let answer = played.output("ask", "text").as_str().expect("a text");
        assert!(
            answer.starts_with("refused: cuecard has no answer to this question"),
            "{}: {answer}",
            server.url
        );
        assert_timed_out(played.step(2));
    }
}

#[test]
fn a_model_and_roots_are_answered_over_every_transport() {
    let Some((mut servers, http)) = older_servers().zip(older_server("http")) else {
        return;
    };
    let entry = json!({"url": http.url});
    servers.push((http, entry));
    for (_server, entry) in servers {
        super::questions::consults(&entry, "consult_directly");
    }
}

#[test]
fn a_connection_that_breaks_fails_the_call_at_once_and_is_made_again() {
    let Some(servers) = older_servers() else {
        return;
    };
    for (server, entry) in servers {
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let steps = json!([
            {"tool": "mcp__peer__add", "params": {"a": 1, "b": 1}},
            {"tool": "mcp__peer__crash", "params": {}, "on_error": "skip"},
            {"tool": "mcp__peer__add", "params": {"a": 1, "b": 1}},
        ]);
        // Behind socat each connection has a server of its own; the others went down as a whole.
        let is_up_again = server.url.starts_with("unix:");
        let played = play(&scratch, &steps, if is_up_again { 0 } else { 1 });
        let crashed = played.step(2);
        assert_eq!(crashed["code"], "C-RUN-02", "{crashed:#}");
        let error = crashed["error"].as_str().expect("an error");
        assert!(
            error.contains("server `peer` closed the connection before it answered `crash`"),
            "{}: {error}",
            server.url
        );
        let took = crashed["duration"].as_f64().expect("a number");
        assert!(took < HARD_LIMIT, "{crashed:#}");
        if is_up_again {
            let again = "the connection to server `peer` was lost and is being re-established";
            assert!(played.stderr.contains(again), "{}", played.stderr);
        } else {
            // Refused, or taken by the socket of a process that is about to be no more.
            let after = played.step(3);
            assert_eq!(after["code"], "C-RUN-02", "{}: {after:#}", server.url);
        }
    }
}

#[test]
fn an_address_that_is_neither_http_nor_sse_tells_both() {
    let Some(server) = older_server("http") else {
        return;
    };
    let scratch = with_server(&json!({"url": format!("{}/nope", server.url)}));
    let steps = json!([{"tool": "mcp__peer__add", "params": {}}]);
    let played = play(&scratch, &steps, 2);
    let error = played.step(1)["error"].as_str().expect("an error");
    assert!(
        error.contains(
            "answered initialize with HTTP 404, and the older transport, HTTP with SSE, failed too"
        ) && error.contains("answered the request for its event stream with HTTP 404"),
        "{error}"
    );
}

#[test]
fn connections_are_encrypted_and_certificates_checked() {
    let Some(python) = older() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tls");
    for transport in ["http", "sse", "ws"] {
        let tls = [("TLS_FOLDER", folder.display().to_string())];
        let args = [&*path("python_sdk_legacy.py"), transport];
        let server = HttpServer::start(&python, &tls, &args);
        let mut entry = json!({"url": server.url});
        if transport == "sse" {
            entry["type"] = json!("sse");
        }
        let steps = json!([{"tool": "mcp__peer__add", "params": {"a": 1, "b": 1}}]);
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        scratch.set("SSL_CERT_FILE", folder.join("authority.pem"));
        play(&scratch, &steps, 0);

        // Nobody vouches for it without the authority.
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let played = play(&scratch, &steps, 2);
        let refused = played.step(1)["error"].as_str().expect("an error");
        assert!(refused.contains("certificate"), "{refused}");
    }
}

#[test]
fn headers_reach_the_server_over_websocket_and_sse_and_are_not_shown() {
    let Some(python) = older() else { return };
    for transport in ["sse", "ws", "http-unix"] {
        let token = [("WANTED_TOKEN", "very-secret-word".to_owned())];
        let args = [&*path("python_sdk_legacy.py"), transport, "mcp.sock"];
        let server = HttpServer::start(&python, &token, &args);
        let entry = |token: &str| {
            let mut entry =
                json!({"url": server.url, "headers": {"Authorization": format!("Bearer {token}")}});
            if transport == "sse" {
                entry["type"] = json!("sse");
            }
            entry
        };
        let steps = json!([{"tool": "mcp__peer__add", "params": {"a": 1, "b": 1}}]);
        let mut scratch = with_server(&entry("${TOKEN}"));
        patient(&mut scratch);
        scratch.set("TOKEN", "very-secret-word");
        let played = play(&scratch, &steps, 0);
        assert!(!played.stderr.contains("very-secret-word"));

        let mut scratch = with_server(&entry("another-secret"));
        patient(&mut scratch);
        let played = play(&scratch, &steps, 2);
        let refused = played.step(1)["error"].as_str().expect("an error");
        assert!(
            refused.contains("HTTP 401") || refused.contains("HTTP 403"),
            "{refused}"
        );
        assert!(
            played.stderr.contains("\"headers\": { \"Authorization\""),
            "{}",
            played.stderr
        );
        assert!(
            !played.stderr.contains("another-secret"),
            "{}",
            played.stderr
        );
    }
}

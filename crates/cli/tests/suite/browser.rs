//! A real browser behind chrome-devtools-mcp, on pages that the test serves itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::program::{self, Played, read};

/// What the pages come from: `/` is the shop, on `/late` something appears later, `/hangup` closes the connection
/// without an answer, anything else is not there.
pub(crate) struct Site {
    port: u16,
    /// How often `/ready` was asked for.
    asked: Arc<AtomicUsize>,
}

/// The products' names are what an unfriendly page may hold: quotes of every kind, a script's end, a comment.
const SHOP: &str = r#"<!doctype html>
<meta charset="utf-8">
<title>Shop</title>
<h1>Tea</h1>
<div class="product"><span class="name">Green tea</span> <span class="price">4.20</span></div>
<div class="product"><span class="name">'); document.title = 'stolen'; //</span> <span class="price">0.01</span></div>
<div class="product"><span class="name">`${document.title = "stolen"}` "&lt;/script>" \u0027</span> <span class="price">3.90 €</span></div>
<form><input id="query" aria-label="Query"></form>
<button onclick="document.querySelector('#log').textContent = 'clicked'">Buy</button>
<p id="log"></p>
"#;

const HOSTILE: [&str; 2] = [
    "'); document.title = 'stolen'; //",
    r#"`${document.title = "stolen"}` "</script>" \u0027"#,
];

/// Shows an element once the server has been asked often enough, so that a wait must ask more than once.
const LATE: &str = r#"<!doctype html>
<title>Late</title>
<script>
window.asked = 0;
window.step = async () => {
  const ready = await (await fetch('/ready')).text();
  window.asked += 1;
  if (ready !== 'yes') return setTimeout(window.step, 20);
  document.body.insertAdjacentHTML('beforeend', '<div class="late">It\'s "here"</div>');
};
window.onload = window.step;
</script>
<body>Loading</body>
"#;

/// `/ready` says yes from this request on.
const READY_AFTER: usize = 10;

impl Site {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        // It ends with the test process; it holds nothing that must be given back.
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let counter = Arc::clone(&counter);
                thread::spawn(move || answer(&connection, &counter));
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// Answers one request. A browser that goes away is no failure.
fn answer(connection: &TcpStream, asked: &AtomicUsize) {
    let _ = connection.set_read_timeout(Some(Duration::from_secs(60)));
    let mut lines = BufReader::new(connection).lines();
    let Some(Ok(request)) = lines.next() else {
        return;
    };
    // The headers are of no interest, but unread they would reset the connection.
    for line in lines {
        match line {
            Ok(line) if !line.is_empty() => {}
            _ => break,
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match path {
        "/hangup" => return,
        "/" => ("200 OK", SHOP),
        "/late" => ("200 OK", LATE),
        "/actions" | "/actions?two" => ("200 OK", crate::browser_actions::PAGE),
        "/ready" if asked.fetch_add(1, Ordering::SeqCst) + 1 >= READY_AFTER => ("200 OK", "yes"),
        "/ready" => ("200 OK", "no"),
        _ => ("404 Not Found", "nothing here"),
    };
    let mut connection = connection;
    let _ = write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// A place with the browser's server in its config; nothing when this run leaves real peers out.
fn with_browser() -> Option<Scratch> {
    with_server(NEWER)
}

/// The browser's server as it is now: each call names a page, and paths outside the temporary folder are refused.
pub(crate) const NEWER: &str =
    "npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js";

/// As it was when many scenarios were recorded: without pages in its calls, and without a tool that types.
pub(crate) const OLDER: &str = "npm/node_modules/chrome-devtools-mcp-old/build/src/index.js";

/// A place with this version of the browser's server in its config.
pub(crate) fn with_server(script: &str) -> Option<Scratch> {
    let script = peers::require(script)?;
    let node = peers::require_program("node")?;
    let chromium = peers::require_program("chromium-headless-shell")?;
    let mut scratch = program::scratch();
    scratch.limit(Duration::from_secs(240));
    let config = json!({"mcpServers": {"chrome-devtools": {
        "command": node,
        "args": [
            script, "--executablePath", chromium, "--headless", "--isolated", "--no-usage-statistics",
            "--chromeArg=--no-sandbox", "--chromeArg=--disable-gpu", "--chromeArg=--disable-dev-shm-usage",
        ],
    }}});
    scratch
        .write(".mcp.json", config.to_string())
        .expect("writable");
    Some(scratch)
}

/// Plays steps with the variable `SITE`, which is the root of the site. The exit code must be `exit`.
#[track_caller]
fn play(scratch: &Scratch, site: &Site, steps: &Value, options: &[&str], exit: i32) -> Played {
    let mut steps = steps.clone();
    for (index, step) in steps.as_array_mut().expect("a list").iter_mut().enumerate() {
        step["step"] = json!(index + 1);
    }
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "Browse"},
        "environment": {"mcp": "chrome-devtools", "viewport": {"width": 911, "height": 613}},
        "variables": {"SITE": site.url("")},
        "steps": steps,
    });
    scratch
        .write("scenario.json", format!("{scenario:#}"))
        .expect("writable");
    let args = [&["scenario.json", "--include-results", "true"], options].concat();
    program::play(scratch, &args, exit)
}

fn navigate(path: &str) -> Value {
    json!({"tool": "mcp__chrome-devtools__navigate_page", "params": {"url": format!("{{{{SITE}}}}{path}")}})
}

fn evaluate(id: &str, function: &str) -> Value {
    json!({"id": id, "tool": "mcp__chrome-devtools__evaluate_script", "params": {"function": function}, "output": {"value": "$"}})
}

const SCRAPE: &str = "() => Array.from(document.querySelectorAll('.product')).map(el => ({ name: el.querySelector('.name')?.innerText, price: el.querySelector('.price')?.innerText }))";

#[test]
fn a_page_is_scraped_into_json_lines() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/"),
            {"id": "snapshot", "tool": "mcp__chrome-devtools__take_snapshot", "params": {}, "output": {"text": "$"}},
            {"id": "scrape", "tool": "mcp__chrome-devtools__evaluate_script", "params": {"function": SCRAPE}, "output": {"items": "$"}},
            {"tool": "sandy__append_file", "params": {"path": "products.jsonl", "format": "jsonl", "data": "{{scrape.items}}"}},
            {"tool": "mcp__chrome-devtools__wait_for", "params": {"text": "Green tea"}},
            evaluate("size", "() => [window.innerWidth, window.innerHeight]"),
            {"id": "picture", "tool": "mcp__chrome-devtools__take_screenshot", "params": {}, "output": {"path": "$[1].path"}},
        ]),
        &[],
        0,
    );
    assert_eq!(played.statuses(), ["passed"; 7]);
    let lines: Vec<Value> = read(&scratch, "products.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON Lines"))
        .collect();
    assert_eq!(
        lines,
        [
            json!({"name": "Green tea", "price": "4.20"}),
            json!({"name": HOSTILE[0], "price": "0.01"}),
            json!({"name": HOSTILE[1], "price": "3.90 €"}),
        ]
    );
    let snapshot = played.output("snapshot", "text").as_str().expect("text");
    for part in [
        "heading \"Tea\"",
        "textbox \"Query\"",
        "button \"Buy\"",
        "uid=",
    ] {
        assert!(snapshot.contains(part), "{snapshot}");
    }
    // The tool wants a list of texts.
    let converted = "C-PARAM-04: `text` was the text \"Green tea\" and is sent as [\"Green tea\"]";
    assert!(played.stderr.contains(converted), "{}", played.stderr);
    assert_eq!(played.output("size", "value"), &json!([911, 613]));
    let picture = played.output("picture", "path").as_str().expect("a path");
    assert_png(Path::new(picture), 911, 613);
}

#[test]
fn waits_ask_until_the_page_says_yes() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/late"),
            {"tool": "sandy__wait_for_element", "params": {"selector": "div.late", "timeout": 120, "interval": 0.02}},
            {"id": "text", "tool": "mcp__chrome-devtools__evaluate_script",
             "params": {"function": "() => document.querySelector('div.late').innerText"}, "output": {"value": "$"}},
            {"tool": "sandy__wait_until", "params": {
                "expression": "window.asked >= 10 && document.querySelector('div.late').innerText === {{text.value}}",
                "timeout": 120, "interval": 0.02}},
            {"tool": "sandy__wait_until", "params": {"expression": "nothing.here", "timeout": 0.2, "interval": 0.05}, "on_error": "skip"},
            {"tool": "sandy__wait_for_element", "params": {"selector": "'\"); document.title = 'stolen'; ('", "timeout": 0.2, "interval": 0.05},
             "on_error": "skip"},
            evaluate("title", "() => document.title"),
        ]),
        &[],
        0,
    );
    assert_eq!(
        played.statuses(),
        [
            "passed",
            "passed",
            "passed",
            "passed",
            "tolerated",
            "tolerated",
            "passed"
        ]
    );
    assert_eq!(played.step(2)["result"]["found"], true);
    assert!(site.asked.load(Ordering::SeqCst) >= READY_AFTER);
    assert_eq!(played.output("text", "value"), "It's \"here\"");
    assert_eq!(played.step(4)["result"]["condition_met"], true);

    let never = played.step(5);
    assert_eq!(never["code"], "C-RUN-03", "{never:#}");
    let error = never["error"].as_str().expect("an error");
    assert!(
        error.starts_with("timed out: `nothing.here` was not true within "),
        "{error}"
    );
    let no_selector = played.step(6);
    assert_eq!(no_selector["code"], "C-PARAM-02", "{no_selector:#}");
    // The selector is data; if it were spliced in, it would have run.
    assert_eq!(played.output("title", "value"), "Late");
}

#[test]
fn what_a_page_says_stays_data_in_a_script() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/"),
            {"id": "scrape", "tool": "mcp__chrome-devtools__evaluate_script", "params": {"function": SCRAPE},
             "output": {"first": "$[1].name", "second": "$[2].name", "all": "$"}},
            evaluate("single", "() => ['{{scrape.first}}', '{{scrape.second}}']"),
            evaluate("double", "() => [\"{{scrape.first}}\", \"{{scrape.second}}\"]"),
            evaluate("template", "() => [`{{scrape.first}}`, `{{scrape.second}}`]"),
            evaluate("bare", "() => [{{scrape.first}}, {{scrape.all}}[2].name]"),
            evaluate("title", "() => document.title"),
        ]),
        &[],
        0,
    );
    for form in ["single", "double", "template", "bare"] {
        assert_eq!(played.output(form, "value"), &json!(HOSTILE), "{form}");
    }
    assert_eq!(played.output("title", "value"), "Shop");
}

#[test]
fn a_click_that_fails_leaves_a_picture() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/"),
            {"tool": "mcp__chrome-devtools__take_snapshot", "params": {}},
            {"tool": "mcp__chrome-devtools__click", "params": {"uid": "9_99"}},
            navigate("/never"),
        ]),
        &["--screenshot-on-failure", "--screenshot-dir", "pictures"],
        1,
    );
    assert_eq!(played.statuses(), ["passed", "passed", "failed"]);
    let failed = played.step(3);
    assert_eq!(failed["code"], "C-RUN-01");
    let error = failed["error"].as_str().expect("an error");
    assert!(error.contains("Element uid \"9_99\" not found"), "{error}");
    let pictures = played.json["screenshots"].as_array().expect("a list");
    let [picture] = pictures.as_slice() else {
        panic!("one picture, not {pictures:?}");
    };
    let picture = picture.as_str().expect("a path");
    assert!(picture.starts_with("pictures/step3_failure_"), "{picture}");
    assert!(picture.ends_with(".png"), "{picture}");
    assert_png(&scratch.work().join(picture), 911, 613);
    assert!(played.stderr.contains(picture), "{}", played.stderr);
}

#[test]
fn each_step_in_the_browser_leaves_a_picture_on_request() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/"),
            {"tool": "claude__bash", "params": {"command": "true"}},
            evaluate("title", "() => document.title"),
        ]),
        &["--screenshot-each-step", "--report", "html:report.html"],
        0,
    );
    let pictures = played.json["screenshots"].as_array().expect("a list");
    let pictures: Vec<&str> = pictures.iter().filter_map(Value::as_str).collect();
    let [first, third] = pictures[..] else {
        panic!("two pictures, not {pictures:?}");
    };
    assert!(first.starts_with("./screenshots/step1_2"), "{first}");
    assert!(third.starts_with("./screenshots/step3_2"), "{third}");
    assert_png(&scratch.work().join(first), 911, 613);
    let report = read(&scratch, "report.html");
    assert_eq!(report.matches("<img class=\"shot\"").count(), 2);
}

#[test]
fn a_navigation_that_fails_fails_its_step() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/"),
            {"tool": "mcp__chrome-devtools__navigate_page", "params": {"url": "{{SITE}}/hangup"},
             "on_error": "skip"},
            // A page that says 404 is a page.
            navigate("/nowhere"),
            evaluate("text", "() => document.body.innerText"),
            {"tool": "mcp__chrome-devtools__navigate_page", "params": {"url": "{{SITE}}/hangup"}},
        ]),
        &[],
        1,
    );
    assert_eq!(
        played.statuses(),
        ["passed", "tolerated", "passed", "passed", "failed"]
    );
    for number in [2, 5] {
        let step = played.step(number);
        assert_eq!(step["code"], "C-RUN-01", "{step:#}");
        let error = step["error"].as_str().expect("an error");
        assert!(error.contains("net::ERR_EMPTY_RESPONSE"), "{error}");
    }
    assert_eq!(played.output("text", "value"), "nothing here");
    assert_eq!(played.json["screenshots"], json!([]));
}

#[test]
fn steps_without_a_page_go_to_the_selected_one() {
    let Some(scratch) = with_browser() else {
        return;
    };
    let site = Site::start();
    let played = play(
        &scratch,
        &site,
        &json!([
            navigate("/"),
            {"tool": "mcp__chrome-devtools__new_page", "params": {"url": "{{SITE}}/late"}},
            evaluate("second", "() => document.title"),
            {"tool": "mcp__chrome-devtools__select_page", "params": {"pageId": 1}},
            evaluate("first", "() => document.title"),
            {"id": "named", "tool": "mcp__chrome-devtools__evaluate_script",
             "params": {"function": "() => document.title", "pageId": "2"}, "output": {"value": "$"}},
            {"tool": "mcp__chrome-devtools__evaluate_script", "params": {"function": "() => { throw new Error('no tea') }"}, "on_error": "skip"},
            {"tool": "mcp__chrome-devtools__close_page", "params": {"pageId": 2}},
            evaluate("last", "() => document.title"),
        ]),
        &[],
        0,
    );
    assert_eq!(played.output("second", "value"), "Late");
    assert_eq!(played.output("first", "value"), "Shop");
    assert_eq!(played.output("named", "value"), "Late");
    let error = played.step(7)["error"].as_str().expect("an error");
    assert!(error.contains("no tea"), "{error}");
    assert_eq!(played.output("last", "value"), "Shop");
}

/// The file is a whole PNG of this size.
#[track_caller]
pub(crate) fn assert_png(path: &Path, width: u32, height: u32) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(
        bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "{}",
        path.display()
    );
    assert!(bytes.ends_with(b"IEND\xaeB`\x82"), "{}", path.display());
    // Both stand in the header, most significant byte first.
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    assert_eq!(bytes[16..24], size);
}

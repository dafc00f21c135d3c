use std::fs;
use std::sync::{Arc, Mutex};

use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ProxyReport, RecordedFiles, Session, SessionFolder, Tap, Upstream};
use crate::Recording;
use crate::cassette::Cassette;
use crate::infer::infer;

fn files(folder: &TempDir, replaces: bool) -> RecordedFiles {
    RecordedFiles::new(&folder.path().join("a.json"), replaces)
}

fn client(tap: &Mutex<Tap>, message: &Value) {
    let frame = message.to_string();
    tap.lock()
        .expect("no panic")
        .client("", Some(frame.as_bytes()));
}

fn server(tap: &Mutex<Tap>, message: &Value) {
    let frame = message.to_string();
    tap.lock()
        .expect("no panic")
        .server("", Some(frame.as_bytes()));
}

fn call(id: impl Into<Value>, tool: &str) -> Value {
    json!({"id": id.into(), "method": "tools/call", "params": {"name": tool}})
}

fn answer(id: impl Into<Value>) -> Value {
    json!({"id": id.into(), "result": {"content": []}})
}

fn recording(files: &RecordedFiles) -> Recording {
    let text = fs::read_to_string(&files.cassette).expect("it is there");
    let (cassette, found) = Cassette::read(&SourceFile::new("a.cassette.jsonl", text));
    assert!(found.is_empty(), "{found:?}");
    cassette.expect("no finding").recording()
}

#[test]
fn what_a_config_gives_a_server_in_its_environment_is_a_secret() {
    let folder = TempDir::new().expect("a folder");
    let files = files(&folder, false);
    let mut session = Session::new(&files, Vec::new(), &[]);
    let env = [
        ("DB_URL", "supersecretvalue99"),
        ("LEVEL", "debug"),
        ("HOME", "/home/somebody"),
    ];
    let server_of = Upstream::Command {
        program: "x".to_owned(),
        args: Vec::new(),
        env: env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        cwd: None,
    };
    session.servers.insert("peer".to_owned(), server_of);
    let tap = session.tap("peer", true);
    client(&tap, &call(1, "echo"));
    let text = "supersecretvalue99 debug /home/somebody";
    let content = json!([{"type": "text", "text": text}]);
    server(&tap, &json!({"id": 1, "result": {"content": content}}));
    let text = fs::read_to_string(&files.cassette).expect("it is there");
    assert!(!text.contains("supersecret"), "{text}");
    assert!(text.contains("] debug /home/somebody"), "{text}");
}

#[test]
fn parallel_calls_have_the_order_in_which_they_began() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files(&folder, false);
    let tap = Session::new(&files, Vec::new(), &[]).tap("peer", true);
    // At once, so that only the order tells them apart.
    let batch: Vec<Value> = (0..20).map(|id| call(id, &format!("t{id}"))).collect();
    client(&tap, &batch.into());
    for id in (0..20).rev().filter(|id| *id != 7) {
        server(&tap, &answer(id));
    }
    let n_lines = || {
        fs::read_to_string(&files.cassette)
            .expect("text")
            .lines()
            .count()
    };
    assert_eq!(n_lines(), 20, "each line is there with its answer");
    tap.lock().expect("no panic").end();
    let calls = recording(&files).calls;
    for (number, call) in calls.iter().enumerate() {
        assert_eq!(call.tool, format!("t{number}"));
        assert_eq!(call.is_missing(), number == 7);
    }
    assert_eq!(calls.len(), 20);
}

#[test]
fn what_breaks_the_protocol_leaves_the_cassette_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files(&folder, false);
    let mut session = Session::new(&files, Vec::new(), &[]);
    // The recording goes on for more than a day.
    session.began -= 100_000.0;
    let tap = session.tap("peer", true);
    client(&tap, &json!({"id": 1, "method": "tools/list"}));
    server(
        &tap,
        &json!({"id": 1, "result": {"tools": [7, {"title": "no name"}, {"name": "t"}]}}),
    );
    client(
        &tap,
        &json!({"id": 2, "method": "tools/call", "params": {"name": "list", "arguments": [1]}}),
    );
    server(&tap, &json!({"id": 2, "error": "no"}));
    client(&tap, &call(Value::Null, "null"));
    server(&tap, &answer(Value::Null));
    let recording = recording(&files);
    assert_eq!(recording.servers[0].tools.len(), 1);
    let tools: Vec<_> = recording
        .calls
        .iter()
        .map(|call| call.tool.as_str())
        .collect();
    assert_eq!(tools, ["list", "null"]);
    assert_eq!(files.checkpoint().expect("writable").n_answered(), 2);
}

#[test]
fn texts_and_numbers_that_json_values_cannot_hold_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files(&folder, false);
    let tap = Session::new(&files, Vec::new(), &[]).tap("peer", true);
    let frame = br#"{"id": 1, "method": "tools/call", "params": {"name": "t", "arguments":
        {"n": 123456789012345678901234567890, "cut": "a\ud83d"}}}"#;
    tap.lock().expect("no panic").client("", Some(frame));
    server(&tap, &answer(1));
    let arguments = json!({"n": "123456789012345678901234567890", "cut": "a\u{fffd}"});
    assert_eq!(
        Value::Object(recording(&files).calls[0].arguments.clone()),
        arguments
    );
}

#[test]
fn integers_of_any_length_are_written_as_they_came() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files(&folder, false);
    let tap = Session::new(&files, Vec::new(), &[]).tap("peer", true);
    let (arguments, result) = (
        r#"{"id":123456789012345678901,"text":"123456789012345678901","api_key":"k3y-of-ann"}"#,
        r#"{"content":[],"structuredContent":{"ids":[-18446744073709551617,7]}}"#,
    );
    let frames = [
        format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        ),
        format!(r#"{{"id":1,"result":{result}}}"#),
    ];
    let mut tap = tap.lock().expect("no panic");
    tap.client("", Some(frames[0].as_bytes()));
    tap.server("", Some(frames[1].as_bytes()));
    let text = fs::read_to_string(&files.cassette).expect("it is there");
    let kept = arguments.split("k3y").next().unwrap_or_default();
    assert!(text.contains(kept) && text.contains(result), "{text}");
    assert!(!text.contains("k3y"), "{text}");
    assert_eq!(
        recording(&files).calls[0].arguments["id"],
        "123456789012345678901"
    );
}

#[test]
fn folders_of_sessions_that_are_over_are_removed_and_those_of_others_stay() {
    let parent = tempfile::tempdir().expect("a folder");
    let session = Session::new(&files(&parent, false), Vec::new(), &[]);
    let killed = parent.path().join("cuecard-record-killed");
    fs::create_dir(&killed).expect("writable");
    fs::write(killed.join("session.json"), "{}").expect("writable");
    let first = SessionFolder::create(parent.path(), &session).expect("writable");
    assert!(!killed.exists());
    let second = SessionFolder::create(parent.path(), &session).expect("writable");
    assert!(first.session().exists() && second.session().exists());
    let found = Diagnostic::warning(codes::FILE_WRITE, "it is\nfull");
    ProxyReport::new("a b", 0, &[]).send(&first.session());
    ProxyReport::new("a b", 3, &[found]).send(&first.session());
    let reports = first.reports();
    let counts = reports
        .iter()
        .map(|it| (it.server.as_str(), it.n_unrecorded));
    assert_eq!(counts.collect::<Vec<_>>(), [("a b", 0), ("a b", 3)]);
    let problems: Vec<Diagnostic> = reports.iter().flat_map(ProxyReport::problems).collect();
    assert_eq!(problems[0].message, "it is full");
    drop((first, second));
    let left = fs::read_dir(parent.path()).expect("readable");
    assert_eq!(left.count(), 0);
}

#[test]
fn calls_that_cannot_be_read_are_named_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let tap = Session::new(&files(&folder, false), Vec::new(), &[]).tap("peer", true);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let unread = |id: u32, arguments: &str| {
        format!(
            r#"{{"id": {id}, "method": "tools/call", "params": {{"name": "t{id}", "arguments": {{"a": {arguments}}}}}}}"#
        )
    };
    let batch = format!("[{}, {}]", unread(3, "1e400"), unread(4, "1"));
    let mut tap = tap.lock().expect("no panic");
    tap.client("", Some(unread(1, "1e400").as_bytes()));
    tap.client("", Some(unread(2, &deep).as_bytes()));
    tap.client("", Some(batch.as_bytes()));
    tap.client("", Some(unread(5, "1").as_bytes()));
    assert_eq!(*tap.n_open().borrow(), 5);
    tap.server("", Some(br#"{"id": 1, "result": {}}"#));
    // The answer alone can't be read.
    tap.server("", Some(br#"{"id": 5, "result": {"n": -1e999}}"#));
    assert_eq!(*tap.n_open().borrow(), 3);
    tap.client("", Some(b"{no JSON\n"));
    let why = "a frame has a number beyond the range of doubles, or more than 127 levels";
    let calls = (1..=5).map(|id| format!("the call {id} of `t{id}` is not recorded: {why}"));
    let expected: Vec<String> = calls.chain(["a frame was not JSON".to_owned()]).collect();
    assert_eq!(tap.notes().collect::<Vec<_>>(), expected);
    assert_eq!(tap.n_unrecorded, 5);
    tap.end();
    assert!(tap.missing().is_empty());
}

#[test]
fn half_a_surrogate_pair_is_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let tap = Session::new(&files(&folder, false), Vec::new(), &[]).tap("peer", true);
    client(&tap, &call(1, "say"));
    let mut tap = tap.lock().expect("no panic");
    assert!(tap.changed.is_empty());
    let answer = br#"{"id": 1, "result": {"content": [{"type": "text", "text": "\ud83d"}]}}"#;
    tap.server("", Some(answer));
    assert_eq!(tap.changed.len(), 1);
}

#[test]
fn questions_that_the_client_does_not_answer_are_told_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let tap = Session::new(&files(&folder, false), Vec::new(), &[]).tap("peer", true);
    let question = |id: u32| json!({"id": id, "result": {"resultType": "input_required"}});
    for id in [1, 2] {
        client(&tap, &call(id, if id == 1 { "pay" } else { "book" }));
        server(&tap, &question(id));
    }
    let mut again = call(3, "pay");
    again["params"]["inputResponses"] = json!({"sure": {"action": "accept"}});
    client(&tap, &again);
    server(&tap, &answer(3));
    let mut tap = tap.lock().expect("no panic");
    assert_eq!(tap.notes().count(), 0);
    tap.end();
    let note = "the call 2 of `book` is not recorded: the server asked for input, and the client did not go on";
    assert_eq!(tap.notes().collect::<Vec<_>>(), [note]);
    assert_eq!(tap.n_unrecorded, 1);
}

#[test]
fn an_old_recording_stands_until_the_new_one_has_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = files(&folder, false);
    let first = Session::new(&old, Vec::new(), &[]).tap("peer", true);
    client(&first, &call(1, "old"));
    server(&first, &answer(1));
    assert_eq!(old.checkpoint().expect("writable").n_calls, 1);
    let scenario = fs::read_to_string(&old.scenario).expect("it is written");

    let new = files(&folder, true);
    let session = Session::new(&new, Vec::new(), &[]);
    // Each server has a proxy of its own, which is a process.
    let proxies: Vec<Arc<Mutex<Tap>>> = ["a", "b"].map(|name| session.tap(name, true)).into();
    for proxy in &proxies {
        client(proxy, &call(1, "new"));
    }
    assert_eq!(new.checkpoint().expect("writable").n_calls, 0);
    assert_eq!(recording(&new).calls[0].tool, "old");
    assert_eq!(
        fs::read_to_string(&new.scenario).expect("it stands"),
        scenario
    );

    server(&proxies[0], &answer(1));
    proxies[1].lock().expect("no panic").end();
    let tools: Vec<_> = recording(&new)
        .calls
        .into_iter()
        .map(|call| call.tool)
        .collect();
    assert_eq!(tools, ["new", "new"]);
    let summary = new.checkpoint().expect("writable");
    assert_eq!((summary.n_calls, summary.n_answered()), (2, 1));

    // Without leave, a recording that came in between stands.
    let third = Session::new(&files(&folder, false), Vec::new(), &[]).tap("peer", true);
    client(&third, &call(1, "third"));
    server(&third, &answer(1));
    let error = third
        .lock()
        .expect("no panic")
        .write_error()
        .map(str::to_owned);
    assert!(error.is_some_and(|error| error.ends_with("it is another recording")));
    assert_eq!(recording(&new).calls.len(), 2);
}

/// The calls to two servers that get three passwords, and the scenario that was written.
fn with_passwords([one, two, three]: [&str; 3]) -> (Recording, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files(&folder, false);
    let session = Session::new(&files, Vec::new(), &[]);
    let taps = ["a", "b"].map(|name| session.tap(name, true));
    let note = format!("Password: {one}\nPassword: {two}\nPassword: {three}");
    let calls = [
        json!({"site": "shop", "password": one}),
        json!({"site": "bank", "password": two}),
        json!({"old": {"password": one}, "new": {"password": two}}),
        json!({"password": one, "confirm": one}),
        json!({"refresh_token": format!("refresh-{one}")}),
        json!({ "note": note }),
    ];
    for (arguments, id) in calls.into_iter().zip(0..) {
        let tap = &taps[id % 2];
        let params = json!({"name": "login", "arguments": arguments});
        client(
            tap,
            &json!({"id": id, "method": "tools/call", "params": params}),
        );
        let text =
            json!({"token": format!("token-{one}"), "refresh_token": format!("refresh-{one}")});
        let content = json!([{"type": "text", "text": text.to_string()}]);
        server(tap, &json!({"id": id, "result": {"content": content}}));
    }
    files.checkpoint().expect("writable");
    let [cassette, scenario] = [&files.cassette, &files.scenario].map(|path| {
        let text = fs::read_to_string(path).expect("it is written");
        assert!(
            [one, two, three]
                .iter()
                .all(|secret| !text.contains(secret)),
            "{text}"
        );
        text
    });
    assert_eq!(cassette.lines().count(), 8);
    (
        recording(&files),
        serde_json::from_str(&scenario).expect("JSON"),
    )
}

/// Each secret is one variable, whatever it is called, and in whichever server's calls and longer texts it stands.
#[test]
fn secrets_are_told_apart_without_being_written() {
    let (first, written) = with_passwords(["first-pass-1", "second-pass-2", "third-pass-3"]);
    let (second, _) = with_passwords(["other-pass-4", "more-pass-5", "last-pass-6"]);
    let inferred = [None, Some(&second)].map(|second| {
        let inferred = infer(&first, second, "x").expect("a scenario");
        let asked: Vec<&str> = inferred.questions.iter().map(|note| note.text.as_str()).collect();
        let twice = "`refresh_token` is in `login` as `$.refresh_token` and in `login_2` as `$.refresh_token`: the first was taken";
        assert_eq!(asked, if second.is_none() { vec![twice] } else { vec![] });
        json!(inferred.scenario)
    });
    let [one, two] = inferred;
    for (scenario, token) in [
        (written, "{{REFRESH_TOKEN}}"),
        (one, "{{login.refresh_token}}"),
        (two, "{{login.refresh_token}}"),
    ] {
        let steps = scenario["steps"].as_array().expect("steps").iter();
        let params: Vec<&Value> = steps.map(|step| &step["params"]).collect();
        let note = "Password: {{PASSWORD}}\nPassword: {{PASSWORD_2}}\nPassword: {{NOTE_SECRET}}";
        assert_eq!(
            json!(params),
            json!([
                {"site": "shop", "password": "{{PASSWORD}}"},
                {"site": "bank", "password": "{{PASSWORD_2}}"},
                {"old": {"password": "{{PASSWORD}}"}, "new": {"password": "{{PASSWORD_2}}"}},
                {"password": "{{PASSWORD}}", "confirm": "{{PASSWORD}}"},
                {"refresh_token": token},
                {"note": note},
            ])
        );
    }
}

#[test]
fn what_is_typed_into_a_field_for_a_password_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = files(&folder, false);
    let tap = Session::new(&files, Vec::new(), &[]).tap("peer", true);
    client(&tap, &call(1, "take_snapshot"));
    let page = "uid=1_0 RootWebArea \"Sign in\"\n  uid=1_1 textbox \"E-mail\"\n  uid=1_2 textbox \"Password\"";
    let content = json!([{"type": "text", "text": page}]);
    server(&tap, &json!({"id": 1, "result": {"content": content}}));
    for (id, uid, value) in [(2, "1_1", "ann-lee-7"), (3, "1_2", "open sesame")] {
        let params = json!({"name": "fill", "arguments": {"uid": uid, "value": value}});
        client(
            &tap,
            &json!({"id": id, "method": "tools/call", "params": params}),
        );
        server(&tap, &answer(id));
    }
    let text = fs::read_to_string(&files.cassette).expect("it is there");
    assert!(
        text.contains("ann-lee-7") && !text.contains("sesame"),
        "{text}"
    );
    let scenario = infer(&recording(&files), None, "test").expect("a scenario");
    let variables = json!(scenario.scenario.variables);
    assert_eq!(variables, json!({"PASSWORD": ""}));
}

#[test]
fn what_a_command_gives_to_a_program_as_its_password_is_not_written() {
    let folder = TempDir::new().expect("a folder");
    let files = files(&folder, false);
    let tap = Session::new(&files, Vec::new(), &[]).tap("peer", true);
    let commands = [
        "docker login -u bot -p correcthorse9 reg.example",
        "echo correcthorse9 | sudo -S ls",
        "redis-cli -a correcthorse9 ping",
    ];
    for (id, command) in commands.into_iter().enumerate() {
        let params = json!({"name": "shell", "arguments": {"command": command}});
        client(
            &tap,
            &json!({"id": id, "method": "tools/call", "params": params}),
        );
        server(&tap, &answer(id));
    }
    let text = fs::read_to_string(&files.cassette).expect("it is there");
    assert!(!text.contains("correcthorse9"), "{text}");
}

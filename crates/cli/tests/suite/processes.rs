//! Signals, and servers that hang, stay, flood and die. Whatever happens, nothing is left running.
//!
//! The server is `tests/servers/unruly.sh`. The tests wait for what the program says, never for time; limits
//! only end a test that has failed already.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use cuecard_testing::scratch::{Ended, Finished, Running, Scratch};
use serde_json::{Value, json};

use crate::program::{
    self, INTERRUPTED, Played, only_trace, read, run_dirs, scratch, told, trace_lines,
};

/// SIGKILL.
const KILLED: Ended = Ended::Signalled(9);

#[test]
fn interrupted_during_a_call_the_step_is_unknown_and_the_servers_are_gone() {
    let mut signals = vec![Running::interrupt, Running::terminate];
    // Tests that were started with `nohup` hand that on, and then the program outlives its terminal as it should.
    if !ignores_hangup() {
        signals.push(Running::hang_up);
    }
    for signal in signals {
        let place = with_server(&["child"]);
        let running = start_hanging(&place);
        let ids = said_ids(&place);
        assert!(is_alive(ids.leader) && is_alive(ids.child), "{ids:?}");
        signal(&running);
        let finished = running.finish();
        assert!(finished.stderr.contains("1 unknown"), "{}", told(&finished));
        let played = Played::of(finished, INTERRUPTED);
        assert_ended(ids);
        assert_eq!(played.statuses(), ["passed", "unknown"]);
        let attempts = &played.step(2)["attempts"];
        assert_eq!(attempts[0]["error"], "interrupted before it returned");
        assert_eq!(played.json["status"], "interrupted");
        assert_eq!(played.json["success"], false);
        assert_eq!(played.json["passed_steps"], 1);

        let trace = trace_lines(&only_trace(&place));
        let finished: Vec<(&Value, &Value)> = trace
            .iter()
            .filter(|line| line["type"] == "step_finished")
            .map(|line| (&line["data"]["step"], &line["data"]["status"]))
            .collect();
        assert_eq!(
            finished,
            [
                (&json!(1), &json!("passed")),
                (&json!(2), &json!("unknown"))
            ]
        );
        let end = trace.last().expect("a trace has lines");
        assert_eq!(end["kind"], "end");
        assert_eq!(end["status"], "blocked");
    }
}

/// Whether SIGHUP is ignored here, and so by what is started from here.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is readable");
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("the signals that are ignored");
    u64::from_str_radix(ignored.trim(), 16).expect("a mask") & 1 == 1
}

#[test]
fn interrupted_during_a_wait_the_run_ends_without_the_rest_of_it() {
    let place = scratch();
    let steps = [
        json!({"step": 1, "tool": "mcp__demo__echo", "params": {"message": "a"}, "wait_after": 3000}),
        json!({"step": 2, "tool": "mcp__demo__echo", "params": {"message": "b"}}),
    ];
    write_scenario(&place, &steps);
    let running = start(&place, &["--json", "--report", "junit:report.xml"]);
    assert!(
        running.wait_for(|stdout, stderr| {
            stderr.contains("1 ✓") && stdout.contains(r#""step":1"#)
        }),
        "it shows the first step, and its result stands in the document already"
    );
    running.interrupt();
    let finished = running.finish();
    let counts = "interrupted: 1 passed · 1 not run";
    assert!(finished.stderr.contains(counts), "{}", told(&finished));
    let played = Played::of(finished, INTERRUPTED);
    assert_eq!(played.statuses(), ["passed"]);
    assert_eq!(played.json["status"], "interrupted");
    assert_eq!(played.json["error"], "interrupted");
    assert_eq!(played.json["not_run_steps"], 1);

    let trace = trace_lines(&only_trace(&place));
    let said = trace
        .iter()
        .any(|line| line["data"]["message"] == "the run was interrupted");
    assert!(said, "the trace says so");
    let report = read(&place, "report.xml");
    assert!(
        report.contains(r#"errors="1""#) && report.contains(r#"message="interrupted""#),
        "{report}"
    );
    let [run_dir] = &run_dirs(&place)[..] else {
        panic!("one run")
    };
    let described = std::fs::read_to_string(run_dir.join("run.json")).expect("it is there");
    let described: Value = serde_json::from_str(&described).expect("JSON");
    assert_eq!(described["status"], "interrupted");
}

#[test]
fn the_second_interrupt_kills_at_once() {
    let place = with_server(&["stay", "child"]);
    let running = start_hanging(&place);
    let ids = said_ids(&place);
    running.interrupt();
    assert!(
        running.wait_for(|_, stderr| stderr.contains("again to kill them")),
        "it says that it is stopping"
    );
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code(), Some(INTERRUPTED), "{}", told(&finished));
    program::assert_nothing_left(&finished);
    assert_ended(ids);
    // It did not wait for the servers, as the first alone would have had it.
    assert!(
        !finished.stderr.contains("1 unknown"),
        "{}",
        told(&finished)
    );
}

#[test]
fn killed_itself_it_takes_the_server_along_and_leaves_a_readable_trace() {
    let place = with_server(&["stay"]);
    let running = start_hanging(&place);
    let ids = said_ids(&place);
    assert!(is_alive(ids.leader), "{ids:?}");
    running.kill();
    let finished = running.finish();
    assert_eq!(finished.ended, KILLED, "{}", told(&finished));
    program::assert_nothing_left(&finished);
    assert_ended(ids);

    let trace = only_trace(&place);
    let lines = trace_lines(&trace);
    assert_eq!(lines[0]["kind"], "header");
    assert!(
        lines
            .iter()
            .any(|line| line["type"] == "tool_call" && line["data"]["call_id"] == "call_2_1"),
        "the call under way is in the trace\n{trace}"
    );
    assert!(
        lines.iter().all(|line| line["kind"] != "end"),
        "a run that died has no end\n{trace}"
    );
}

#[test]
fn a_server_that_neither_its_input_nor_sigterm_ends_is_killed_with_its_child() {
    let place = with_server(&["stay", "child"]);
    write_scenario(&place, &[ok(1)]);
    let played = program::play(&place, &["scenario.json"], 0);
    let ids = ids_of(&played);
    assert_ended(ids);
}

#[test]
fn a_child_that_outlives_its_server_is_killed() {
    let place = with_server(&["child"]);
    write_scenario(&place, &[ok(1)]);
    let played = program::play(&place, &["scenario.json"], 0);
    let ids = ids_of(&played);
    assert!(ids.child > 0, "{ids:?}");
    assert_ended(ids);
}

#[test]
fn what_left_the_group_of_a_command_is_killed_too() {
    for (leave, is_gone_at_once) in [
        ("setsid", true),
        // Neither its parent nor its environment tells whose it is, so that it goes with the run.
        ("env -i setsid", false),
    ] {
        let place = scratch();
        let command = format!(
            "({leave} bash -c 'echo $$ > id; exec sleep 600' &); until [ -s id ]; do :; done; cat id"
        );
        write_scenario(
            &place,
            &[
                json!({"step": 1, "id": "left", "tool": "claude__bash", "params": {"command": command}, "output": {"id": "$.stdout"}}),
                json!({"step": 2, "id": "later", "tool": "claude__bash", "params": {"command": "read -r id < id; ps -o stat= -p $id | grep -v Z; :"}, "output": {"state": "$.stdout"}}),
            ],
        );
        let played = program::play(&place, &["scenario.json"], 0);
        let is_there = played
            .output("later", "state")
            .as_str()
            .is_some_and(|state| !state.is_empty());
        assert!(!(is_there && is_gone_at_once), "{}", played.json);
        let id = played.output("left", "id");
        let leader = id
            .as_u64()
            .or_else(|| id.as_str()?.trim().parse().ok())
            .expect("a process id");
        assert_ended(Ids { leader, child: 0 });
    }
}

#[test]
fn a_server_that_dies_fails_its_step_at_once_with_its_last_words() {
    let place = with_server(&["child"]);
    // The call may take half an hour: only the server's end can end it within the limit of this test. Its
    // child still holds its streams open.
    write_scenario(&place, &[ok(1), call(2, "die", json!({"timeout": 1800}))]);
    let played = program::play(&place, &["scenario.json"], 1);
    assert_eq!(played.statuses(), ["passed", "failed"]);
    assert_eq!(played.step(2)["code"], "C-RUN-02");
    let error = played.json["error"].as_str().unwrap_or_default();
    assert!(error.contains("exit code 7"), "{error}");
    assert!(
        played
            .stderr
            .contains("its last output: out of memory, good bye"),
        "{}",
        played.stderr
    );
}

#[test]
fn after_a_server_died_the_next_step_starts_it_again() {
    let place = with_server(&[]);
    write_scenario(
        &place,
        &[ok(1), call(2, "die", json!({"on_error": "skip"})), ok(3)],
    );
    let played = program::play(&place, &["scenario.json", "--include-results"], 0);
    assert_eq!(played.statuses(), ["passed", "tolerated", "passed"]);
    let leaders = [1, 3].map(|step| &played.step(step)["result"]["leader"]);
    assert_ne!(leaders[0], leaders[1], "it is another process");
    assert!(
        played.stderr.contains("is being restarted"),
        "{}",
        played.stderr
    );
}

#[test]
fn a_flood_on_standard_error_is_neither_kept_nor_blocking() {
    let place = with_server(&[]);
    write_scenario(
        &place,
        &[
            call(1, "flood", json!({})),
            call(2, "hang", json!({"timeout": 1800})),
        ],
    );
    let running = start(&place, &["--json"]);
    assert!(
        running.wait_for(|_, stderr| stderr.contains("1 ✓")),
        "the flood is over"
    );
    if let Some(peak) = peak_memory(running.id()) {
        assert!(peak < 64 << 20, "it used {peak} bytes");
    }
    running.interrupt();
    let played = Played::of(running.finish(), INTERRUPTED);
    assert_eq!(played.statuses(), ["passed", "unknown"]);
}

#[test]
fn a_line_over_the_bound_fails_its_step_and_nothing_else() {
    let place = with_server(&[]);
    write_scenario(
        &place,
        &[
            ok(1),
            call(2, "huge", json!({"on_error": "skip", "timeout": 1800})),
            ok(3),
        ],
    );
    let played = program::play(&place, &["scenario.json"], 0);
    assert_eq!(played.statuses(), ["passed", "tolerated", "passed"]);
    let error = played.step(2)["error"].as_str().unwrap_or_default();
    assert!(error.contains("64 MiB"), "{error}");
}

#[test]
fn a_server_that_never_answers_initialize_ends_the_run_at_its_timeout() {
    let mut place = with_server(&["silent", "child"]);
    write_scenario(&place, &[ok(1), ok(2)]);
    // Far below the minute that a start may take when nobody says otherwise.
    place.limit(Duration::from_secs(30));
    let played = program::play(&place, &["scenario.json", "--timeout", "1"], 2);
    assert_eq!(played.json["status"], "blocked");
    assert_eq!(played.statuses(), ["failed"]);
    assert_eq!(played.step(1)["code"], "C-RUN-04");
    assert!(
        played
            .stderr
            .contains("its last output: this server is not in the mood"),
        "{}",
        played.stderr
    );
}

#[test]
fn interrupted_while_servers_are_tried_nothing_is_left_of_them() {
    let attempts: [&[&str]; 2] = [&["doctor"], &["check", "scenario.json", "--connect"]];
    for command in attempts {
        let place = with_server(&["silent", "stay", "child"]);
        write_scenario(&place, &[ok(1)]);
        let running = place.start(command).expect("the program starts");
        let is_trying =
            running.wait_for(|_, stderr| stderr.contains("trying unruly (from .mcp.json)"));
        assert!(is_trying, "it says what it starts");
        running.interrupt();
        let finished = running.finish();
        program::assert_nothing_left(&finished);
        assert_eq!(finished.code(), Some(INTERRUPTED), "{}", told(&finished));
    }
}

#[test]
fn one_server_that_says_nothing_does_not_keep_the_doctor_from_the_others() {
    let mut place = with_server(&["silent", "child"]);
    place.limit(Duration::from_secs(30));
    let finished = place
        .run(&["doctor", "demo", "unruly", "--timeout", "2", "--json"])
        .expect("it starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.code(), Some(2), "{}", told(&finished));
    let document: Value = serde_json::from_str(&finished.stdout).expect("it is JSON");
    let servers = document["servers"].as_array().expect("a list");
    let facts: Vec<_> = servers
        .iter()
        .map(|server| (&server["name"], &server["status"], &server["from"]))
        .collect();
    assert_eq!(
        facts,
        [
            (&json!("unruly"), &json!("failed"), &json!(".mcp.json")),
            (&json!("demo"), &json!("ok"), &json!("built in")),
        ]
    );
    assert_eq!(servers[0]["error"], "did not answer initialize within 2 s");
    assert!(
        servers[0]["notes"]
            .to_string()
            .contains("its last output: this server is not in the mood"),
        "{document:#}"
    );
}

#[test]
fn a_reader_that_leaves_early_is_no_panic_and_no_hang() {
    for (options, exit) in [
        // The document did not arrive.
        ("--json", "2"),
        // The one line of the result can still be written, or not: nobody cares.
        ("", "0"),
    ] {
        let place = shell();
        let steps: Vec<Value> = (1..=100)
            .map(|number| {
                json!({
                    "step": number,
                    "tool": "mcp__demo__echo",
                    "params": {"message": "x".repeat(5000)},
                })
            })
            .collect();
        write_scenario(&place, &steps);
        let script = format!(
            "\"$CUECARD\" play scenario.json {options} 2>stderr.txt | head -c 10 >/dev/null; echo \"${{PIPESTATUS[0]}}\""
        );
        let finished = place.run(&["-c", &script]).expect("bash starts");
        program::assert_nothing_left(&finished);
        let stderr = read(&place, "stderr.txt");
        assert_eq!(finished.stdout.trim(), exit, "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(stderr.contains("100 ✓"), "it played to its end\n{stderr}");
    }
}

#[test]
fn standard_output_is_one_document_whatever_is_said_meanwhile() {
    let place = with_server(&[]);
    write_scenario(
        &place,
        &[
            call(1, "chatter", json!({})),
            json!({"step": 2, "tool": "sandy__log", "params": {"message": "a log of the scenario"}}),
            call(3, "die", json!({"on_error": "skip"})),
            call(4, "chatter", json!({})),
        ],
    );
    // `play` parses all of standard output as one document.
    let played = program::play(&place, &["scenario.json", "-v", "--debug"], 0);
    assert_eq!(
        played.statuses(),
        ["passed", "passed", "tolerated", "passed"]
    );
    for said in ["a message of the server", "a log of the scenario"] {
        assert!(played.stderr.contains(said), "{}", played.stderr);
    }
    let logged: Vec<Value> = trace_lines(&only_trace(&place))
        .into_iter()
        .filter(|line| line["type"] == "log" && line["data"]["stream"] == "unruly")
        .map(|line| line["data"]["message"].clone())
        .collect();
    for said in ["a message of the server", "noise on standard output"] {
        assert!(
            logged
                .iter()
                .any(|message| message.as_str().is_some_and(|text| text.contains(said))),
            "`{said}` is not in {logged:?}"
        );
    }
}

#[test]
fn what_a_server_says_during_a_call_is_shown_and_kept_at_once() {
    let place = with_server(&[]);
    write_scenario(&place, &[call(1, "announce", json!({"timeout": 1800}))]);
    let running = start(&place, &["--json", "-v"]);
    let shown = running.wait_for(|_, stderr| stderr.contains("this may take a while"));
    running.kill();
    let finished = running.finish();
    assert!(shown, "{}", told(&finished));
    let trace = only_trace(&place);
    assert!(
        trace_lines(&trace)
            .iter()
            .any(|line| line["data"]["message"] == "this may take a while"),
        "{trace}"
    );
}

#[test]
fn a_server_that_hangs_is_replaced_before_the_next_call() {
    let place = with_server(&[]);
    let leader = |number: u64, id: &str| {
        call(
            number,
            "ok",
            json!({"id": id, "output": {"leader": "$.leader"}}),
        )
    };
    write_scenario(
        &place,
        &[
            leader(1, "before"),
            call(2, "hang", json!({"timeout": 0.1, "on_error": "skip"})),
            leader(3, "after"),
        ],
    );
    let played = program::play(&place, &["scenario.json"], 0);
    assert_eq!(played.statuses(), ["passed", "tolerated", "passed"]);
    assert_ne!(
        played.output("before", "leader"),
        played.output("after", "leader")
    );
    let said = "server `unruly` stopped responding and is being restarted";
    assert!(played.stderr.contains(said), "{}", played.stderr);
}

#[test]
fn two_runs_at_once_in_one_folder_keep_apart() {
    let place = shell();
    // Each run waits for a word of the other, so both go on at the same time or neither ends.
    let scenario = |write: &str, read: &str| {
        let command =
            format!("exec 3<>{read}; echo {write} >{write}; read -r word <&3; echo $word");
        json!({
            "version": "2.1",
            "metadata": {"name": write},
            "steps": [{
                "step": 1,
                "id": "meet",
                "tool": "claude__bash",
                "params": {"command": command, "expect_exit": 0},
                "output": {"word": "$.stdout"},
            }],
        })
        .to_string()
    };
    place
        .write("one.json", scenario("one", "two"))
        .expect("writable");
    place
        .write("two.json", scenario("two", "one"))
        .expect("writable");
    let script = "mkfifo one two || exit
        \"$CUECARD\" play one.json --json >one.out & first=$!
        \"$CUECARD\" play two.json --json >two.out & second=$!
        wait $first && wait $second";
    let finished = place.run(&["-c", script]).expect("bash starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));

    let results = ["one.out", "two.out"]
        .map(|file| serde_json::from_str::<Value>(&read(&place, file)).expect("one document"));
    assert_eq!(results[0]["outputs"]["meet"]["word"], "two\n");
    assert_eq!(results[1]["outputs"]["meet"]["word"], "one\n");
    assert_ne!(results[0]["run_dir"], results[1]["run_dir"]);
    assert_eq!(run_dirs(&place).len(), 2);
    for (result, name) in results.iter().zip(["one", "two"]) {
        let path = result["trace_path"].as_str().expect("a path");
        let lines = trace_lines(&read(&place, path));
        assert_eq!(lines[0]["scenario"]["name"], name);
        let sequence: Vec<u64> = lines
            .iter()
            .filter_map(|line| line["seq"].as_u64())
            .collect();
        let expected: Vec<u64> = (1..=sequence.len() as u64).collect();
        assert_eq!(sequence, expected, "nobody else wrote into it");
    }
}

#[test]
fn a_server_that_only_prints_does_not_keep_the_others_from_starting() {
    let mut place = scratch();
    place.limit(Duration::from_secs(60));
    let server = cuecard_testing::repository_root().join("tests/servers/note.sh");
    let note = json!({"command": "sh", "args": [server]});
    let config = json!({"mcpServers": {"flood": {"command": "yes"}, "one": note, "two": note}});
    place
        .write(".mcp.json", config.to_string())
        .expect("writable");
    let finished = place.run(&["doctor", "--timeout", "20", "--json"]);
    let finished = finished.expect("it starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.code(), Some(2), "{}", told(&finished));
    let document: Value = serde_json::from_str(&finished.stdout).expect("it is JSON");
    let servers = document["servers"].as_array().expect("a list");
    let statuses: Vec<&Value> = servers.iter().map(|server| &server["status"]).collect();
    assert_eq!(statuses, ["failed", "ok", "ok"], "{document:#}");
    assert_eq!(
        servers[0]["error"],
        "was cut off before it answered initialize: it printed more than 100000 lines in a row that are not messages"
    );
}

/// The process ids that the server's tool `ok` answers with.
#[derive(Debug, Clone, Copy)]
struct Ids {
    leader: u64,
    /// 0 if it has none.
    child: u64,
}

fn ids_of(played: &Played) -> Ids {
    let id = |name| played.output("ids", name).as_u64().expect("a process id");
    Ids {
        leader: id("leader"),
        child: id("child"),
    }
}

/// The ids from the trace of the run that is under way.
#[track_caller]
fn said_ids(place: &Scratch) -> Ids {
    let trace = only_trace(place);
    let lines = trace_lines(&trace);
    let outputs = lines
        .iter()
        .find(|line| line["type"] == "step_finished" && line["data"]["id"] == "ids")
        .map(|line| &line["data"]["outputs"])
        .unwrap_or_else(|| panic!("step 1 is not in the trace\n{trace}"));
    Ids {
        leader: outputs["leader"].as_u64().expect("a process id"),
        child: outputs["child"].as_u64().expect("a process id"),
    }
}

/// A place whose config starts the server `unruly` with these arguments.
fn with_server(arguments: &[&str]) -> Scratch {
    let place = scratch();
    let server = cuecard_testing::repository_root().join("tests/servers/unruly.sh");
    let args = [&[server.to_str().expect("a readable path")], arguments].concat();
    let config = json!({
        "mcpServers": {"unruly": {"command": "bash", "args": args, "protocol": "legacy"}}
    });
    place
        .write(".mcp.json", config.to_string())
        .expect("writable");
    place
}

/// A place to run bash in, which finds the program as `$CUECARD`.
fn shell() -> Scratch {
    let mut place = Scratch::new(Path::new("/bin/bash")).expect("a scratch folder");
    place.set("CUECARD", OsString::from(env!("CARGO_BIN_EXE_cuecard")));
    place
}

/// A step that asks the server for its process ids; the first has the id `ids`.
fn ok(number: u64) -> Value {
    let mut step = call(number, "ok", json!({}));
    if number == 1 {
        step["id"] = "ids".into();
        step["output"] = json!({"leader": "$.leader", "child": "$.child"});
    }
    step
}

/// A step that calls a tool of the server, with more fields.
fn call(number: u64, tool: &str, more: Value) -> Value {
    let mut step = json!({"step": number, "tool": format!("mcp__unruly__{tool}"), "params": {}});
    for (key, value) in more.as_object().expect("an object") {
        step[key] = value.clone();
    }
    step
}

fn write_scenario(place: &Scratch, steps: &[Value]) {
    let scenario = json!({"version": "2.1", "metadata": {"name": "Processes"}, "steps": steps});
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
}

fn start(place: &Scratch, options: &[&str]) -> Running {
    place
        .start(&[&["play", "scenario.json"], options].concat())
        .expect("the program starts")
}

/// Plays a step that passes and one that never ends, and returns when the second has begun.
#[track_caller]
fn start_hanging(place: &Scratch) -> Running {
    write_scenario(
        place,
        &[ok(1), call(2, "hang", json!({"timeout": 1800})), ok(3)],
    );
    let running = start(place, &["--json"]);
    // What a step did is shown when the next call goes out.
    let began = running.wait_for(|_, stderr| stderr.contains("1 ✓"));
    if !began {
        let finished: Finished = running.finish();
        panic!("it does not show the first step: {}", told(&finished));
    }
    running
}

/// Both processes end. They may have been killed this very moment, and a killed process is seen a while.
#[track_caller]
fn assert_ended(ids: Ids) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let limit = Timespec {
        tv_sec: 30,
        tv_nsec: 0,
    };
    for id in [ids.leader, ids.child].into_iter().filter(|id| *id > 0) {
        let pid = Pid::from_raw(i32::try_from(id).expect("an id")).expect("not zero");
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
            // It is gone, and so is its id.
            continue;
        };
        // Becomes readable when the process ends.
        let mut events = [PollFd::new(&process, PollFlags::IN)];
        let ended = poll(&mut events, Some(&limit)).expect("it can be awaited");
        assert!(ended == 1 || !is_alive(id), "{ids:?}");
    }
}

/// Whether there is a process of this id that has not ended.
fn is_alive(id: u64) -> bool {
    // The state stands behind the name, which may hold anything.
    std::fs::read_to_string(format!("/proc/{id}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

/// The most memory that a process has used so far, in bytes, without that of its own file, where the system tells.
fn peak_memory(id: i32) -> Option<u64> {
    let most = program::proc_number(id, "status", "VmHWM:")?;
    let of_files = program::proc_number(id, "status", "RssFile:")?;
    Some(most.saturating_sub(of_files) << 10)
}

//! Every fault on every transport, in every era that the transport has.
//!
//! Each cell of the table is one run of the program against the demo server, with a relay in between that lets
//! the second and the fourth call go wrong. What is to come of it stands in `expected.txt`, and in short in the
//! table of `docs/faults.md`; both are compared with what came of it.

mod bad_servers;
mod injector;
mod recorded;
mod relay;
mod wire;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cuecard_testing::scratch::Scratch;
use cuecard_timeline::model::FaultKind;
use serde_json::{Value, json};

use self::injector::FaultPlan;
use self::relay::Relay;
use crate::program::{self, Played, only_trace, trace_lines};
use crate::servers;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Transport {
    Stdio,
    Unix,
    WebSocket,
    Sse,
    /// Streamable HTTP whose answers are event streams.
    HttpEvents,
    /// Streamable HTTP whose answers are one JSON text each.
    HttpJson,
    HttpUnix,
    Chrome,
}

const TRANSPORTS: [Transport; 8] = [
    Transport::Stdio,
    Transport::Unix,
    Transport::WebSocket,
    Transport::Sse,
    Transport::HttpEvents,
    Transport::HttpJson,
    Transport::HttpUnix,
    Transport::Chrome,
];

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Unix => "unix",
            Self::WebSocket => "ws",
            Self::Sse => "sse",
            Self::HttpEvents => "http, events",
            Self::HttpJson => "http, JSON",
            Self::HttpUnix => "http+unix",
            Self::Chrome => "chrome",
        }
    }

    fn protocols(self) -> &'static [&'static str] {
        match self {
            // The newer era came after its end.
            Self::Sse => &["legacy"],
            // It has a protocol of its own.
            Self::Chrome => &["auto"],
            _ => &["legacy", "modern"],
        }
    }

    /// Whether all messages share one connection.
    fn is_one_connection(self) -> bool {
        !matches!(self, Self::HttpEvents | Self::HttpJson | Self::HttpUnix)
    }
}

/// Whether the fault exists there at all.
fn exists(fault: FaultKind, transport: Transport) -> bool {
    match fault {
        FaultKind::Stderr => transport == Transport::Stdio,
        // One answer of HTTP holds one message, of one request.
        FaultKind::Merge | FaultKind::Duplicate | FaultKind::Reorder => {
            transport != Transport::HttpJson
        }
        _ => true,
    }
}

/// Whether only the step's timeout can end the call: nothing that comes has to do with it.
fn times_out(fault: FaultKind, transport: Transport) -> bool {
    match fault {
        FaultKind::Stall | FaultKind::Reorder => true,
        // A banner, which says nothing about what follows it.
        FaultKind::Garbage => matches!(
            transport,
            Transport::Stdio | Transport::Unix | Transport::Sse | Transport::Chrome
        ),
        // Over HTTP each answer comes to its request, so that another one is missed there.
        FaultKind::WrongId => transport.is_one_connection(),
        _ => false,
    }
}

/// Plays one cell.
fn play(transport: Transport, protocol: &str, fault: FaultKind) -> Seen {
    play_in(&place(), transport, protocol, fault, |_| {})
}

/// The same with another way to reach the relay.
fn play_in(
    place: &Scratch,
    transport: Transport,
    protocol: &str,
    fault: FaultKind,
    change: impl Fn(&mut Relay),
) -> Seen {
    let plan = FaultPlan {
        fault,
        calls: match fault {
            // What is noted about the last answer may come too late for the trace.
            FaultKind::Duplicate => vec![2],
            _ => vec![2, 4],
        },
    };
    let mut relay = Relay::start(transport, plan, &place.work());
    change(&mut relay);
    let hit = if times_out(fault, transport) { 1 } else { 1800 };
    let steps = [
        json!({}),
        json!({"timeout": hit, "on_error": "skip"}),
        json!({"timeout": 1800, "on_error": "skip"}),
        json!({"timeout": hit}),
    ];
    write(place, &relay, protocol, &steps);
    let mut seen = Seen::of(place, &[]);
    // Whether anything behind its answer is read from an answer of HTTP is left open.
    if fault == FaultKind::Reorder && !transport.is_one_connection() {
        seen.notes.clear();
    }
    seen
}

/// A place that has the environment of Claude in Chrome.
fn place() -> Scratch {
    let mut place = program::scratch();
    let work = place.work();
    place.set("USER", "ada");
    place.set("TMPDIR", &work);
    place
}

/// Writes a config that reaches the relay, and a scenario whose steps have these keys beside what they call.
fn write(place: &Scratch, relay: &Relay, protocol: &str, steps: &[Value]) {
    let server = match &relay.entry {
        Some(entry) => {
            let mut entry = entry.clone();
            entry["protocol"] = protocol.into();
            let config = json!({"mcpServers": {"peer": entry}}).to_string();
            place.write(".mcp.json", config).expect("writable");
            "peer"
        }
        None => "claude-in-chrome",
    };
    let steps: Vec<Value> = (1..)
        .zip(steps)
        .map(|(number, keys)| {
            let mut step = keys.clone();
            step["step"] = number.into();
            step["tool"] = format!("mcp__{server}__count").into();
            step["params"] = json!({});
            step
        })
        .collect();
    let scenario = json!({"version": "2.1", "metadata": {"name": "Faults"}, "steps": steps});
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
}

/// What came of a run.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    exit: Option<i32>,
    /// The status of each step.
    statuses: Vec<String>,
    /// The codes and the errors of the steps that were hit, with times taken out.
    errors: Vec<String>,
    /// What was said besides about broken messages.
    notes: Vec<String>,
}

impl Seen {
    /// Plays the scenario. A process that is left behind, or one that hangs, fails the test here.
    fn of(place: &Scratch, options: &[&str]) -> Self {
        let args = [&["play", "scenario.json", "--json", "-v"], options].concat();
        let finished = program::run(place, &args);
        let exit = finished.code();
        let exit_code = exit.unwrap_or_else(|| panic!("it hung or was killed: {finished:?}"));
        let played = Played::of(finished, exit_code);
        let steps = played.json["step_results"].as_array().expect("a list");
        let word = |step: &Value, key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let failed = steps.iter().filter(|step| !step["error"].is_null());
        Self {
            exit,
            statuses: steps.iter().map(|step| word(step, "status")).collect(),
            errors: failed
                .map(|step| {
                    let error = without_times(&word(step, "error"));
                    format!("step {}: {} {error}", step["step"], word(step, "code"))
                })
                .collect(),
            notes: notes(&trace_lines(&only_trace(place))),
        }
    }

    /// In a few words, as the documentation tells it.
    fn in_short(&self) -> &'static str {
        match self.errors.first() {
            None if self.notes.is_empty() => "works",
            None => "works, noted",
            Some(error)
                if error.contains("C-RUN-03") || error.contains("did not answer initialize") =>
            {
                "times out"
            }
            Some(error) if error.contains("did not accept the connection") => "times out",
            Some(_) => "fails at once",
        }
    }
}

/// `after 0.3 s` differs from run to run.
fn without_times(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for index in 1..words.len() {
        if words[index - 1] == "after" && words[index].parse::<f64>().is_ok() {
            words[index] = "N";
            // `ms` as well as `s`.
            if let Some(unit) = words.get_mut(index + 1) {
                *unit = unit.trim_start_matches('m');
            }
        }
    }
    words.join(" ")
}

/// What the trace says about messages that were none.
fn notes(trace: &[Value]) -> Vec<String> {
    let mut notes: Vec<String> = trace
        .iter()
        .filter(|line| line["type"] == "log")
        .filter_map(|line| line["data"]["message"].as_str())
        .filter(|message| {
            message.contains("an invalid message") || message.contains("is not a message")
        })
        .map(|message| message.chars().take(110).collect())
        .collect();
    notes.dedup();
    notes
}

/// By row and transport, and then by era.
type Table = BTreeMap<(usize, Transport), BTreeMap<&'static str, Seen>>;

/// A cell to be played: its row, its transport and its era.
type Cell = (usize, Transport, &'static str);

#[test]
fn every_fault_on_every_transport() {
    let (names, kinds): (Vec<&str>, Vec<FaultKind>) = FaultKind::NAMED.iter().copied().unzip();
    let table = table(
        names.len(),
        |(row, transport, _)| exists(kinds[row], transport),
        |(row, transport, protocol)| play(transport, protocol, kinds[row]),
    );
    compare(
        "crates/cli/tests/suite/faults/expected.txt",
        &told(&table, &names),
        None,
    );
    let short = in_short(&table, &names);
    compare("docs/faults.md", &short, Some("<!-- faults -->\n"));
}

/// Plays every cell that exists, of `rows` rows.
fn table(rows: usize, exists: impl Fn(Cell) -> bool, play: impl Fn(Cell) -> Seen + Sync) -> Table {
    let mut cells: Vec<Cell> = Vec::new();
    for row in 0..rows {
        for transport in TRANSPORTS {
            let protocols = transport.protocols().iter();
            cells.extend(protocols.map(|protocol| (row, transport, *protocol)));
        }
    }
    cells.retain(|cell| exists(*cell));
    let next = AtomicUsize::new(0);
    let table: Mutex<Table> = Mutex::default();
    // Most of the time is spent waiting for timeouts.
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                    let seen = play(cell);
                    let (row, transport, protocol) = cell;
                    let mut table = table.lock().expect("no cell failed");
                    let eras = table.entry((row, transport)).or_default();
                    eras.insert(protocol, seen);
                }
            });
        }
    });
    table.into_inner().expect("no cell failed")
}

/// Everything that was seen.
fn told(table: &Table, names: &[&str]) -> String {
    let mut text = String::new();
    for ((row, transport), eras) in table {
        let mut told: Vec<(String, &Seen)> = Vec::new();
        for (protocol, seen) in eras {
            match told.iter_mut().find(|(_, same)| *same == seen) {
                Some((protocols, _)) => write!(protocols, ", {protocol}").expect("a string"),
                None => told.push(((*protocol).to_owned(), seen)),
            }
        }
        for (protocols, seen) in told {
            let exit = seen.exit.map_or("none".to_owned(), |exit| exit.to_string());
            let statuses = seen.statuses.join(", ");
            let (name, transport) = (names[*row], transport.name());
            writeln!(text, "{name} | {transport} | {protocols}").expect("a string");
            writeln!(text, "  exit {exit}: {statuses}").expect("a string");
            for line in seen.errors.iter().chain(&seen.notes) {
                writeln!(text, "  {line}").expect("a string");
            }
        }
    }
    text
}

/// The table of the documentation.
fn in_short(table: &Table, names: &[&str]) -> String {
    let columns = TRANSPORTS.map(Transport::name);
    let mut text = format!("| | {} |\n", columns.join(" | "));
    text.push_str(&"|---".repeat(columns.len() + 1));
    text.push_str("|\n");
    for (row, name) in names.iter().enumerate() {
        let cells = TRANSPORTS.map(|transport| match table.get(&(row, transport)) {
            None => "–".to_owned(),
            Some(eras) => {
                let mut words: Vec<&str> = eras.values().map(Seen::in_short).collect();
                words.dedup();
                words.join(" / ")
            }
        });
        writeln!(text, "| {name} | {} |", cells.join(" | ")).expect("a string");
    }
    text
}

/// The file holds this text, or holds it between two of these marks; with `CUECARD_BLESS=1` it does from now on.
#[track_caller]
fn compare(file: &str, text: &str, mark: Option<&str>) {
    let path: PathBuf = cuecard_testing::repository_root().join(file);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let whole = match mark {
        None => text.to_owned(),
        Some(mark) => {
            let parts: Vec<&str> = before.split(mark).collect();
            let [head, _, tail] = parts[..] else {
                panic!("`{file}` needs two lines `{}`", mark.trim_end());
            };
            [head, mark, text, mark, tail].concat()
        }
    };
    if std::env::var_os(cuecard_testing::golden::BLESS).is_some_and(|bless| bless == "1") {
        assert!(std::env::var_os("CI").is_none(), "nothing is blessed in CI");
        std::fs::write(&path, &whole).expect("writable");
        return;
    }
    assert!(
        before == whole,
        "`{file}` tells something else; CUECARD_BLESS=1 writes this:\n{whole}"
    );
}

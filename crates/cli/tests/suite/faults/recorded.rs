//! The same faults with `record mcp` between the client and the server that has them.

use super::*;
use crate::record_mcp::{cassette, through_proxy};

/// How a run ended: its exit code, and the status and the code of each step.
fn outcome(seen: &Seen) -> (Option<i32>, &[String], Vec<&str>) {
    let codes = seen
        .errors
        .iter()
        .map(|error| error.split(' ').nth(2).unwrap_or_default());
    (seen.exit, &seen.statuses, codes.collect())
}

/// Over standard streams each fault reaches the client as it is; over HTTP calls fail or go well, and none hangs. What
/// was recorded is whole, and no call in it has another's answer.
#[test]
fn faults_pass_the_proxy() {
    for transport in [Transport::Stdio, Transport::HttpEvents, Transport::HttpJson] {
        for (name, fault) in FaultKind::NAMED.iter().copied() {
            if !exists(fault, transport) {
                continue;
            }
            let mut place = place();
            // Two programs and their server, of which some pass a huge frame, on a busy machine.
            place.limit(std::time::Duration::from_secs(300));
            let through = play_in(&place, transport, "legacy", fault, |relay| {
                relay.entry = relay.entry.as_ref().map(through_proxy);
            });
            if transport == Transport::Stdio {
                let without = play(transport, "legacy", fault);
                assert_eq!(outcome(&through), outcome(&without), "{name}: {through:#?}");
            }
            assert!(matches!(through.exit, Some(0 | 1)), "{name}: {through:#?}");
            let lines = cassette(&place);
            for call in lines.iter().filter(|line| line["cassette"].is_null()) {
                assert_eq!(call["tool"], "count", "{name}: {call}");
                assert!(
                    call["error"].is_object()
                        || call["result"].is_object()
                        || call["duration"].is_null(),
                    "{name}: {call}"
                );
            }
        }
    }
}

/// Each fault of a cassette reaches its client, and those that lose nothing lose nothing.
#[test]
fn faults_of_a_cassette_reach_its_client() {
    for (name, fault) in FaultKind::NAMED.iter().copied() {
        let place = place();
        let record =
            |number| json!({"tool": "count", "arguments": {"n": number}, "result": {"n": number}});
        let mut first = record(1);
        first["fault"] = json!({"kind": name});
        let cassette = format!("{{\"cassette\": 1}}\n{first}\n{}\n", record(2));
        let expected = match fault {
            FaultKind::Split | FaultKind::Merge | FaultKind::Duplicate | FaultKind::Stderr => None,
            FaultKind::Stall | FaultKind::Reorder | FaultKind::WrongId => Some("C-RUN-03"),
            // What was cut begins like a message, so it is no banner.
            FaultKind::Cut | FaultKind::Garbage | FaultKind::Oversize | FaultKind::Crash => {
                Some("C-RUN-02")
            }
        };
        // What never answers ends by its time; the rest has the time that a busy machine needs (64 MiB in a line).
        let timeout = match expected {
            Some("C-RUN-03") => 3,
            _ => 60,
        };
        let call = |number| json!({"step": number, "tool": "mcp__peer__count", "params": {"n": number}, "timeout": timeout});
        let scenario =
            json!({"version": "2.1", "metadata": {"name": "Counts"}, "steps": [call(1), call(2)]});
        let server = json!({"command": env!("CARGO_BIN_EXE_cuecard"), "args": ["serve", "mcp", "c.cassette.jsonl"]});
        for (file, text) in [
            ("c.cassette.jsonl", cassette),
            ("counts.json", scenario.to_string()),
            (
                ".mcp.json",
                json!({"mcpServers": {"peer": server}}).to_string(),
            ),
        ] {
            place.write(file, text).expect("writable");
        }
        let exit = i32::from(expected.is_some());
        let played = program::play(&place, &["counts.json"], exit);
        let code = played.step(1)["code"].as_str();
        assert_eq!(code, expected, "{name}: {}", played.stderr);
    }
}

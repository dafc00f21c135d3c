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

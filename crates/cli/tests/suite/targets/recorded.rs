//! A session as it was recorded, in fresh browsers.

use super::*;

/// How often it is played here; `benches/run --only targets` plays it ten times.
const TIMES: usize = 3;

/// A session of an agent with chrome-devtools-mcp, its element ids replaced by the targets that `check` proposed.
const SESSION: &str = include_str!("session.json");

#[test]
fn a_recorded_session_replays_in_fresh_browsers() {
    for peer in [Peer::Newer, Peer::Older] {
        let Some(scratch) = peer.start() else {
            return;
        };
        let site = Site::start().expect("a site");
        scratch.write("session.json", SESSION).expect("writable");
        let root = format!("SITE={}", site.url("").trim_end_matches('/'));
        for _ in 0..TIMES {
            let played = program::play(&scratch, &["session.json", "--var", &root], 0);
            assert_eq!(played.statuses(), ["passed"; 13], "{peer:?}");
            assert_eq!(
                played.output("seen", "text"),
                "Red wool scarf was added.",
                "{peer:?}"
            );
        }
        assert_eq!(site.count("login"), TIMES as u64, "{peer:?}");
        assert_eq!(site.count("delete-3"), TIMES as u64, "{peer:?}");
    }
}

//! What may use what. A change here is a change of the architecture: say why in its commit.

/// A crate and the crates of the workspace that it may depend on.
pub(super) const CRATES: &[(&str, &[&str])] = &[
    ("cuecard-core", &[]),
    ("cuecard-players", &["cuecard-core"]),
    ("cuecard", &["cuecard-core", "cuecard-players"]),
    // It says what must hold of their readers.
    ("cuecard-testing", &["cuecard-core", "cuecard-players"]),
];

/// The crate that any other may use in its tests.
pub(super) const FOR_TESTS: &str = "cuecard-testing";

/// Crates that do I/O or run tasks, none of which may be below the core.
pub(super) const NOT_BELOW_CORE: &[&str] = &[
    "async-std",
    "hyper",
    "mio",
    "polling",
    "reqwest",
    "rmcp",
    "rustix",
    "smol",
    "socket2",
    "tempfile",
    "tokio",
];

/// The modules of the core in layers: a module may use those of the layers above its own in this list.
pub(super) const CORE_LAYERS: &[&[&str]] = &[
    &["source", "diagnostic", "value"],
    &["scenario"],
    &["trace", "matching"],
    &["formats", "profiles", "page"],
    &["script"],
    &["assertions"],
    &["reports"],
];

/// Within one layer of the core: the first may use the second.
pub(super) const CORE_SIBLINGS: &[(&str, &str)] = &[
    ("diagnostic", "source"),
    ("value", "source"),
    ("value", "diagnostic"),
    // Exports write the selectors of steps in other notations, and lints propose targets from snapshots.
    ("formats", "page"),
];

/// What the layers would allow and the architecture doesn't: the first never uses the second.
pub(super) const CORE_NEVER: &[(&str, &str)] = &[("formats", "trace"), ("reports", "formats")];

/// A module of the players and the modules beside it that it may use.
pub(super) const PLAYERS: &[(&str, &[&str])] = &[
    ("runtime", &[]),
    ("wire", &[]),
    ("workspace", &["runtime"]),
    ("mcp", &["runtime", "wire", "workspace"]),
    ("replay", &["runtime", "wire", "workspace", "mcp"]),
    ("doctor", &["runtime", "mcp"]),
    // A test case may play a scenario for its trace.
    ("judging", &["runtime", "mcp", "replay", "browser"]),
    ("llm", &["runtime", "wire", "workspace"]),
    ("acp", &["runtime", "wire", "workspace"]),
    ("rest", &["runtime", "wire", "workspace"]),
    ("agent", &["runtime", "wire", "workspace"]),
    ("terminal", &["runtime", "wire", "workspace"]),
    ("browser", &["runtime", "wire", "workspace"]),
    ("recording", &["runtime", "wire", "workspace", "mcp"]),
    // The executor is the only player that composes players.
    (
        "run",
        &[
            "runtime",
            "wire",
            "workspace",
            "mcp",
            "replay",
            "llm",
            "acp",
            "rest",
            "agent",
            "terminal",
            "browser",
            "recording",
        ],
    ),
];

/// What may name the protocol crate besides `mcp/`: the bare loop around it that the benchmarks compare us with.
pub(super) const MAY_NAME_RMCP: &[&str] = &["crates/players/examples/rmcp_loop.rs"];

/// May the core's module `from` use its module `to`?
pub(super) fn core_may_use(from: &str, to: &str) -> bool {
    if from == to {
        return true;
    }
    let (Some(from_layer), Some(to_layer)) = (core_layer(from), core_layer(to)) else {
        return false;
    };
    let allowed = to_layer < from_layer || CORE_SIBLINGS.contains(&(from, to));
    allowed && !CORE_NEVER.contains(&(from, to))
}

/// Is this a module of the core?
pub(super) fn is_core_module(name: &str) -> bool {
    core_layer(name).is_some()
}

/// May the players' module `from` use the module `to` beside it?
pub(super) fn players_may_use(from: &str, to: &str) -> bool {
    from == to
        || PLAYERS
            .iter()
            .any(|(name, allowed)| *name == from && allowed.contains(&to))
}

/// Is this a module of the players?
pub(super) fn is_players_module(name: &str) -> bool {
    PLAYERS.iter().any(|(known, _)| *known == name)
}

fn core_layer(name: &str) -> Option<usize> {
    CORE_LAYERS.iter().position(|layer| layer.contains(&name))
}

#[test]
fn the_core_edges_are_those_of_the_architecture() {
    for (from, to, allowed) in [
        ("scenario", "source", true),
        ("source", "scenario", false),
        ("trace", "matching", false),
        ("matching", "scenario", true),
        ("formats", "matching", true),
        ("formats", "trace", false),
        ("profiles", "formats", false),
        ("formats", "page", true),
        ("page", "formats", false),
        ("script", "formats", true),
        ("assertions", "trace", true),
        ("reports", "assertions", true),
        ("reports", "formats", false),
        ("value", "source", true),
        ("source", "value", false),
        ("reports", "nonsense", false),
    ] {
        assert_eq!(core_may_use(from, to), allowed, "{from} → {to}");
    }
    assert!(players_may_use("replay", "mcp"));
    assert!(!players_may_use("mcp", "replay"));
    assert!(!players_may_use("llm", "mcp"));
}

//! The rules. Each is a pure function over one file, with what to do instead.

use super::manifest;
use super::rust_text::{NamedPath, code, paths, without_tests};
use super::{Violation, tables};

/// More lines than this, tests not counted, and a file is split by topic.
const MAX_LINES: usize = 800;

/// One rule.
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// What to do instead.
    instead: &'static str,
    /// The lines that break it, and how.
    find: fn(&Source<'_>) -> Vec<(usize, String)>,
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "core-modules",
        instead: "depend on an earlier layer only (tables.rs, CORE_LAYERS), or move the shared part there",
        find: core_modules,
    },
    Rule {
        name: "core-io",
        instead: "take it as an argument: cuecard-players does I/O and reads the clock, crates/cli prints",
        find: core_io,
    },
    Rule {
        name: "players-modules",
        instead: "share through runtime, wire or workspace (tables.rs, PLAYERS); only run/ composes players",
        find: players_modules,
    },
    Rule {
        name: "exit-and-environment",
        instead: "return an error or take the value as an argument: only crates/cli exits and reads the environment",
        find: exit_and_environment,
    },
    Rule {
        name: "clock",
        instead: "ask runtime::clock, so that tests can set the time",
        find: clock,
    },
    Rule {
        name: "processes",
        instead: "start it with runtime::process, which leaves no orphans",
        find: processes,
    },
    Rule {
        name: "rmcp",
        instead: "use the types of crate::mcp: those of the protocol crate stay in its folder",
        find: rmcp,
    },
    Rule {
        name: "driver-process",
        instead: "start the driver as browser/driver.rs does: runtime::process spawns it, so that it ends with us",
        find: driver_process,
    },
    Rule {
        name: "playwright",
        instead: "use the types of crate::browser: those of Playwright stay in its folder",
        find: playwright,
    },
    Rule {
        name: "long-file",
        instead: "split it by topic",
        find: long_file,
    },
    Rule {
        name: "unfinished",
        instead: "finish it, or leave it out",
        find: unfinished,
    },
    Rule {
        name: "crate-lints",
        instead: "add `[lints]` with `workspace = true`",
        find: manifest::lints,
    },
    Rule {
        name: "crate-direction",
        instead: "keep core ← players ← cli (tables.rs, CRATES); cuecard-testing is for [dev-dependencies]",
        find: manifest::direction,
    },
];

/// The violations of `rules` in one file, in the order of the rules.
pub(super) fn check(rules: &[Rule], path: &str, text: &str) -> Vec<Violation> {
    let source = Source::new(path, text);
    let mut violations = Vec::new();
    for rule in rules {
        for (line, what) in (rule.find)(&source) {
            violations.push(Violation {
                rule: rule.name,
                path: path.to_owned(),
                line,
                what,
                instead: rule.instead,
            });
        }
    }
    violations
}

/// One file, read as the rules need it.
pub(super) struct Source<'a> {
    path: &'a str,
    pub(super) text: &'a str,
    /// Rust without comments and texts; empty for a manifest.
    code: String,
    /// The lines that only tests have.
    test_lines: usize,
    /// The paths named outside tests.
    paths: Vec<NamedPath>,
}

impl<'a> Source<'a> {
    fn new(path: &'a str, text: &'a str) -> Self {
        let mut source = Source {
            path,
            text,
            code: String::new(),
            test_lines: 0,
            paths: Vec::new(),
        };
        if path.ends_with(".rs") {
            source.code = code(text);
            if source.is_test() {
                source.test_lines = text.lines().count();
            } else {
                let (live, test_lines) = without_tests(&source.code);
                source.test_lines = test_lines;
                source.paths = paths(&live);
            }
        }
        source
    }

    pub(super) fn is_manifest(&self) -> bool {
        self.path.ends_with("Cargo.toml")
    }

    /// Is the whole file a test?
    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs")
            || self.path.contains("/tests/")
            || self.path.contains("/benches/")
    }

    /// The path below the sources of a crate, such as `formats/detect.rs`, if it is one of that crate's.
    fn below(&self, crate_name: &str) -> Option<&'a str> {
        self.path
            .strip_prefix("crates/")?
            .strip_prefix(crate_name)?
            .strip_prefix("/src/")
    }

    /// The module that is a child of the crate's root and holds this file; nothing for the root itself.
    fn top_module(&self, crate_name: &str) -> Option<&'a str> {
        let below = self.below(crate_name)?;
        let first = below.split('/').next()?;
        let module = first.strip_suffix(".rs").unwrap_or(first);
        (!matches!(module, "lib" | "main")).then_some(module)
    }

    /// The violations of all paths that `breaks` says something about.
    fn named(&self, breaks: impl Fn(&NamedPath) -> Option<String>) -> Vec<(usize, String)> {
        self.paths
            .iter()
            .filter_map(|path| Some((path.line, breaks(path)?)))
            .collect()
    }

    /// What `crate::…` or `super::…` names in the root of the crate.
    fn in_root<'p>(&self, crate_name: &str, path: &'p NamedPath) -> Option<&'p str> {
        if path.segments.first()? == "crate" {
            return path.segments.get(1).map(String::as_str);
        }
        let supers = path
            .segments
            .iter()
            .take_while(|segment| *segment == "super")
            .count();
        let below = self.below(crate_name)?.strip_suffix(".rs")?;
        let below = below.strip_suffix("/mod").unwrap_or(below);
        (supers == below.split('/').count())
            .then(|| path.segments.get(supers).map(String::as_str))
            .flatten()
    }
}

fn core_modules(source: &Source<'_>) -> Vec<(usize, String)> {
    module_edges(source, "core", tables::is_core_module, tables::core_may_use)
}

fn players_modules(source: &Source<'_>) -> Vec<(usize, String)> {
    module_edges(
        source,
        "players",
        tables::is_players_module,
        tables::players_may_use,
    )
}

fn module_edges(
    source: &Source<'_>,
    crate_name: &str,
    known: fn(&str) -> bool,
    may_use: fn(&str, &str) -> bool,
) -> Vec<(usize, String)> {
    let Some(from) = source.top_module(crate_name) else {
        return Vec::new();
    };
    if !known(from) {
        return vec![(1, format!("`{from}` is not in the table of modules"))];
    }
    source.named(|path| {
        let to = source.in_root(crate_name, path)?;
        if !known(to) {
            return Some(format!(
                "`{path}` hides which module it uses: name it through its own module"
            ));
        }
        (!may_use(from, to)).then(|| format!("`{from}` may not use `{to}` (`{path}`)"))
    })
}

fn core_io(source: &Source<'_>) -> Vec<(usize, String)> {
    const NEVER: &[&[&str]] = &[
        &["std", "env"],
        &["std", "fs"],
        &["std", "net"],
        &["std", "os"],
        &["std", "process"],
        &["std", "thread"],
        &["std", "io", "stdin"],
        &["std", "io", "stdout"],
        &["std", "io", "stderr"],
        &["std", "time", "Instant"],
        &["std", "time", "SystemTime"],
        &["std", "time", "*"],
        &["std", "*"],
        &["Timestamp", "now"],
        &["Zoned", "now"],
        &["io", "stdin"],
        &["io", "stdout"],
        &["io", "stderr"],
    ];
    if source.below("core").is_none() {
        return Vec::new();
    }
    let mut found = source.named(|path| {
        let breaks = NEVER.iter().any(|never| path.has(never)) || io_macro(source, path);
        breaks.then(|| format!("the core names `{path}`"))
    });
    found.sort();
    found.dedup();
    found
}

/// Is the path a printing macro, called? Its line decides, since paths don't hold the `!`.
fn io_macro(source: &Source<'_>, path: &NamedPath) -> bool {
    let [name] = path.segments.as_slice() else {
        return false;
    };
    matches!(
        name.as_str(),
        "print" | "println" | "eprint" | "eprintln" | "dbg"
    ) && line(&source.code, path.line).contains(&format!("{name}!"))
}

fn exit_and_environment(source: &Source<'_>) -> Vec<(usize, String)> {
    if source.below("core").is_none() && source.below("players").is_none() {
        return Vec::new();
    }
    source.named(|path| {
        let constant = path.has(&["env", "consts"]);
        let breaks = path.has(&["process", "exit"])
            || path.has(&["process", "abort"])
            || (path.starts_with(&["std", "env"]) && !constant)
            || (path.starts_with(&["env"]) && path.segments.len() > 1 && !constant);
        breaks.then(|| format!("`{path}` outside crates/cli"))
    })
}

fn clock(source: &Source<'_>) -> Vec<(usize, String)> {
    let Some(below) = source.below("players") else {
        return Vec::new();
    };
    if below == "runtime/clock.rs" || below.starts_with("runtime/clock/") {
        return Vec::new();
    }
    source.named(|path| {
        let breaks = ["Instant", "SystemTime", "Timestamp", "Zoned"]
            .iter()
            .any(|clock| path.has(&[*clock, "now"]));
        breaks.then(|| format!("`{path}` reads the clock"))
    })
}

fn processes(source: &Source<'_>) -> Vec<(usize, String)> {
    let ours = ["core", "players", "cli"]
        .iter()
        .any(|crate_name| source.below(crate_name).is_some());
    let spawner = source.below("players").is_some_and(|below| {
        below == "runtime/process.rs" || below.starts_with("runtime/process/")
    });
    if !ours || spawner {
        return Vec::new();
    }
    source.named(|path| {
        let breaks = path.has(&["process", "Command"]) || path.has(&["process", "*"]);
        breaks.then(|| format!("`{path}` starts processes"))
    })
}

fn rmcp(source: &Source<'_>) -> Vec<(usize, String)> {
    let is_allowed = tables::MAY_NAME_RMCP.contains(&source.path);
    if is_allowed || source.top_module("players") == Some("mcp") {
        return Vec::new();
    }
    source.named(|path| {
        path.starts_with(&["rmcp"])
            .then(|| format!("`{path}` outside crates/players/src/mcp"))
    })
}

/// Playwright's crate can start its driver by itself; ours is a child like any other.
fn driver_process(source: &Source<'_>) -> Vec<(usize, String)> {
    if source.below("players").is_none() {
        return Vec::new();
    }
    source.named(|path| {
        let breaks = path.has(&["PlaywrightServer"]) || path.has(&["Playwright", "launch"]);
        breaks.then(|| format!("`{path}` starts a driver"))
    })
}

fn playwright(source: &Source<'_>) -> Vec<(usize, String)> {
    let is_driven = |path: &str| path.starts_with("browser/driven/");
    if source.below("players").is_some_and(is_driven) {
        return Vec::new();
    }
    source.named(|path| {
        path.starts_with(&["playwright_rs"])
            .then(|| format!("`{path}` outside crates/players/src/browser/driven"))
    })
}

fn long_file(source: &Source<'_>) -> Vec<(usize, String)> {
    let lines = source
        .text
        .lines()
        .count()
        .saturating_sub(source.test_lines);
    if source.is_manifest() || lines <= MAX_LINES {
        return Vec::new();
    }
    vec![(
        1,
        format!("{lines} lines without tests, more than {MAX_LINES}"),
    )]
}

fn unfinished(source: &Source<'_>) -> Vec<(usize, String)> {
    const WORDS: &[&str] = &["todo!", "unimplemented!", "#[ignore"];
    let mut found = Vec::new();
    for (idx, line) in source.code.lines().enumerate() {
        for word in WORDS.iter().filter(|word| line.contains(**word)) {
            found.push((idx + 1, format!("`{word}` in the tree")));
        }
    }
    found
}

/// A line by its number from 1; nothing if there is none.
fn line(text: &str, number: usize) -> &str {
    text.lines().nth(number.saturating_sub(1)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each rule: a file that breaks it, the lines where, and one that is right.
    const SAMPLES: &[(&str, &str, &str, &[usize], &str)] = &[
        (
            "core-modules",
            "crates/core/src/formats/detect.rs",
            "//! x\nuse crate::{\n    scenario::S,\n    trace::Event,\n};\nfn f() { super::super::reports::r() }\n",
            &[4, 6],
            "use crate::{scenario::S, matching::M};\nuse super::detect_more;\n// crate::trace\n#[cfg(test)]\nmod tests { use crate::trace::Event; }\n",
        ),
        (
            "core-modules",
            "crates/core/src/nonsense/mod.rs",
            "use crate::source::Span;\n",
            &[1],
            "",
        ),
        (
            "core-modules",
            "crates/core/src/value.rs",
            "use super::Span;\n",
            &[1],
            "use super::source::Span;\n",
        ),
        (
            "core-io",
            "crates/core/src/trace/reader.rs",
            "use std::{io, fs};\nuse std::time::{Duration, Instant};\nfn f() { println!(\"x\"); io::stdout(); }\nfn g() { jiff::Timestamp::now() }\n",
            &[1, 2, 3, 3, 4],
            "use std::io::{Read, Write};\nuse std::time::Duration;\n/// println! and std::fs\nfn print() { write!(out, \"std::fs\"); env!(\"X\"); }\n",
        ),
        (
            "players-modules",
            "crates/players/src/llm/server.rs",
            "use crate::mcp::Session;\nuse crate::wire::llm;\n",
            &[1],
            "use crate::runtime::clock;\nuse cuecard_core::trace;\n",
        ),
        (
            "exit-and-environment",
            "crates/players/src/mcp/config.rs",
            "use std::env;\nfn f() { std::process::exit(1); env::var(\"X\"); }\n",
            &[1, 2, 2],
            "fn f() { env!(\"CARGO_PKG_VERSION\"); std::env::consts::OS; }\n",
        ),
        (
            "clock",
            "crates/players/src/run/mod.rs",
            "use std::time::SystemTime;\nfn f() { SystemTime::now();\n tokio::time::Instant::now() }\n",
            &[2, 3],
            "use std::time::SystemTime;\nfn f(t: SystemTime) {}\n#[test]\nfn t() { Instant::now() }\n",
        ),
        (
            "processes",
            "crates/players/src/workspace/commands.rs",
            "use tokio::process::{Child, Command};\nfn f() { std::process::Command::new(\"x\") }\n",
            &[1, 2],
            "use crate::runtime::process::ProcessGroup;\nuse clap::Command;\nfn f() { Command::new(\"cuecard\") }\n",
        ),
        (
            "rmcp",
            "crates/players/src/replay/mod.rs",
            "use rmcp::model::Tool;\n",
            &[1],
            "use crate::mcp::Tool;\n",
        ),
        (
            "playwright",
            "crates/players/src/browser/session/mod.rs",
            "use playwright_rs::protocol::Page;\n",
            &[1],
            "use crate::browser::BrowserBridge;\n",
        ),
        // It would start the driver by itself, where nothing ends it with us.
        (
            "driver-process",
            "crates/players/src/browser/driven/driver.rs",
            "use playwright_rs::protocol::Playwright;\nuse playwright_rs::server::playwright_server::PlaywrightServer;\nasync fn f() { Playwright::launch().await; }\n",
            &[2, 3],
            "use playwright_rs::server::connection::Connection;\nuse playwright_rs::protocol::Playwright;\n",
        ),
        (
            "unfinished",
            "crates/cli/src/main.rs",
            "fn f() { todo!() }\nfn g() { unimplemented!() }\n#[test]\n#[ignore = \"slow\"]\nfn t() {}\n",
            &[1, 2, 4],
            "// todo!\nfn f() { \"unimplemented!\" }\n",
        ),
        (
            "crate-lints",
            "crates/core/Cargo.toml",
            "[package]\nname = \"cuecard-core\"\n[lints]\n",
            &[1],
            "[lints]\nworkspace = true\n",
        ),
        (
            "crate-direction",
            "crates/core/Cargo.toml",
            "[package]\nname = \"cuecard-core\"\n[dependencies]\ncuecard-players.workspace = true\ncuecard-testing = { path = \"x\" }\n[target.'cfg(unix)'.dependencies]\ncuecard = \"1\"\n[dependencies.cuecard-players]\n",
            &[4, 5, 7, 8],
            "[package]\nname = \"cuecard-core\"\n[dependencies]\nserde = \"1\"\n[dev-dependencies]\ncuecard-testing.workspace = true\n",
        ),
        (
            "crate-direction",
            "crates/new/Cargo.toml",
            "[package]\nname = \"cuecard-new\"\n",
            &[2],
            "[package]\nname = \"cuecard\"\n[dependencies]\ncuecard-core.workspace = true\n",
        ),
    ];

    fn broken_lines(rule: &str, path: &str, text: &str) -> Vec<usize> {
        check(RULES, path, text)
            .into_iter()
            .filter(|violation| violation.rule == rule)
            .map(|violation| violation.line)
            .collect()
    }

    #[test]
    fn each_rule_finds_its_violation_and_lets_right_code_pass() {
        for (rule, path, wrong, lines, right) in SAMPLES {
            assert_eq!(&broken_lines(rule, path, wrong), lines, "{rule}: {wrong}");
            let none: Vec<usize> = Vec::new();
            // A module that is in no table stays wrong whatever is in it.
            if !right.is_empty() {
                assert_eq!(broken_lines(rule, path, right), none, "{rule}: {right}");
            }
        }
    }

    #[test]
    fn every_rule_is_tested() {
        for rule in RULES {
            let tested =
                rule.name == "long-file" || SAMPLES.iter().any(|sample| sample.0 == rule.name);
            assert!(tested, "`{}` has no sample", rule.name);
        }
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_do_not_count() {
        let lines = "fn f() {}\n".repeat(MAX_LINES);
        let path = "crates/core/src/value.rs";
        assert_eq!(broken_lines("long-file", path, &lines), Vec::<usize>::new());
        let with_tests = format!("{lines}#[cfg(test)]\nmod tests {{\n{lines}}}\n");
        assert_eq!(
            broken_lines("long-file", path, &with_tests),
            Vec::<usize>::new()
        );
        assert_eq!(
            broken_lines("long-file", path, &format!("{lines}fn g() {{}}\n")),
            [1]
        );
    }

    #[test]
    fn the_places_that_may_are_exempt() {
        for (path, text) in [
            (
                "crates/players/src/runtime/clock.rs",
                "fn f() { Instant::now() }",
            ),
            (
                "crates/players/src/runtime/process.rs",
                "use tokio::process::Command;",
            ),
            (
                "crates/players/src/mcp/session.rs",
                "use rmcp::model::Tool;",
            ),
            (
                "crates/cli/src/main.rs",
                "fn f() { std::process::exit(1); std::env::var(\"X\"); println!(\"\"); }",
            ),
            (
                "crates/testing/src/scratch.rs",
                "use std::process::Command; fn f() { std::env::var(\"X\"); }",
            ),
            (
                "crates/core/tests/round_trip.rs",
                "use std::fs; use crate::nonsense;",
            ),
            (
                "crates/core/src/formats/tests.rs",
                "use std::fs; use crate::trace;",
            ),
        ] {
            assert_eq!(check(RULES, path, text), Vec::new(), "{path}");
        }
    }

    #[test]
    fn a_violation_says_where_what_and_what_to_do() {
        let found = check(RULES, "crates/core/src/value.rs", "use std::fs;\n");
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "crates/core/src/value.rs:1: [core-io] the core names `std::fs`\n    instead: take it as an argument: cuecard-players does I/O and reads the clock, crates/cli prints"
            ]
        );
    }
}

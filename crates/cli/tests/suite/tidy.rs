//! What Cargo can't enforce of the architecture: which crates are pure, where the clock is read and processes start, and
//! how long a file may be. Who may use whom stands in the manifests.

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;

/// Crates without I/O: what they need is handed to them.
const PURE: &[&str] = &[
    "source",
    "trace",
    "tool-call",
    "timeline",
    "page",
    "browser-steps",
    "judge",
    "wire",
    "report",
];

/// Crates that do I/O or run tasks, none of which may be below a pure one.
const NOT_PURE: &[&str] = &[
    "hyper", "mio", "polling", "reqwest", "rmcp", "rustix", "socket2", "tempfile", "tokio",
];

/// More lines than this, tests not counted, and a file is split by topic.
const MOST_LINES: usize = 800;

/// A pattern that no line may have outside tests.
struct Rule {
    pattern: &'static str,
    /// Where it is looked for, as beginnings of paths; anywhere if there are none.
    only_in: &'static [&'static str],
    /// Where it may stand all the same.
    but_in: &'static [&'static str],
    /// What to do instead.
    instead: &'static str,
    /// A line that breaks it, and one that looks like it and doesn't.
    samples: (&'static str, &'static str),
}

const RULES: &[Rule] = &[
    Rule {
        pattern: r"\bstd::(env|fs|net|os|process|thread)\b|\bio::(stdin|stdout|stderr)\b|\be?print(ln)?!",
        only_in: PURE,
        but_in: &[],
        instead: "take it as an argument: this crate is pure",
        samples: (
            "use std::{fs};\nlet x = std::fs::read(p);",
            "use std::io::Write;",
        ),
    },
    Rule {
        pattern: r"\b(Instant|SystemTime|Timestamp|Zoned)::now\b",
        only_in: &[],
        but_in: &["runtime/src/clock", "cli/", "testing/"],
        instead: "ask `cuecard_runtime::clock`, so that tests can set the time",
        samples: ("let t = Instant::now();", "let t = clock.now();"),
    },
    Rule {
        pattern: r"\bprocess::(Command|\{[^}]*Command)\b|\bCommand::new\b",
        only_in: &[],
        but_in: &[
            "runtime/src/process",
            "cli/src/args",
            "cli/src/main.rs",
            "cli/build.rs",
            "testing/",
        ],
        instead: "start it with `cuecard_runtime::process`, which leaves no orphans",
        samples: (
            "use tokio::process::{Child, Command};",
            "use clap::Command;",
        ),
    },
    Rule {
        pattern: r"\bprocess::(exit|abort)\b|\benv::(vars?|vars?_os|args|args_os|current_dir|temp_dir)\b",
        only_in: &[],
        but_in: &["cli/", "testing/"],
        instead: "return an error or take the value as an argument: only crates/cli exits and reads the environment",
        samples: ("std::process::exit(1);", "env!(\"CARGO_PKG_VERSION\")"),
    },
    Rule {
        pattern: r"\bPlaywrightServer\b|\bPlaywright::launch\b",
        only_in: &[],
        but_in: &[],
        instead: "start the driver as `browser/src/driven/driver.rs` does, so that it ends with us",
        samples: (
            "Playwright::launch().await",
            "use playwright_rs::protocol::Playwright;",
        ),
    },
    Rule {
        pattern: r"\btodo!|\bunimplemented!",
        only_in: &[],
        but_in: &[],
        instead: "finish it, or leave it out",
        samples: ("todo!()", "let todo = 1;"),
    },
];

impl Rule {
    /// Whether the rule is about a file, whose path begins behind `crates/`.
    fn is_about(&self, path: &str) -> bool {
        let is_in = |prefix: &&str| {
            path.strip_prefix(*prefix)
                .is_some_and(|rest| prefix.contains('/') || rest.starts_with('/'))
        };
        (self.only_in.is_empty() || self.only_in.iter().any(is_in))
            && !self.but_in.iter().any(is_in)
    }

    fn broken_lines(&self, text: &str) -> Vec<usize> {
        let pattern = Regex::new(self.pattern).expect("a pattern");
        let lines = live(text).enumerate();
        lines
            .filter(|(_, line)| !line.trim_start().starts_with("//") && pattern.is_match(line))
            .map(|(place, _)| place + 1)
            .collect()
    }
}

/// The lines before the tests of a file.
fn live(text: &str) -> impl Iterator<Item = &str> {
    let end = text
        .find("\n#[cfg(test)]\nmod tests {")
        .unwrap_or(text.len());
    text[..end].lines()
}

#[test]
fn the_sources_keep_the_rules() {
    let root = cuecard_testing::repository_root().join("crates");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 500, "only {} files were read", files.len());
    let mut broken = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).expect("below crates");
        let path = path.display().to_string().replace('\\', "/");
        let text = fs::read_to_string(&file).expect("sources are UTF-8");
        if file.ends_with("Cargo.toml") {
            if !text.contains("\n[lints]\nworkspace = true\n") {
                broken.push(format!("crates/{path}: take the lints of the workspace"));
            }
            continue;
        }
        let is_test = ["/tests/", "tests.rs", "/examples/", "/testing.rs"];
        if is_test.iter().any(|part| path.contains(part)) {
            continue;
        }
        if live(&text).count() > MOST_LINES {
            broken.push(format!(
                "crates/{path}: more than {MOST_LINES} lines: split it by topic"
            ));
        }
        for rule in RULES.iter().filter(|rule| rule.is_about(&path)) {
            let lines = rule.broken_lines(&text).into_iter();
            broken.extend(lines.map(|line| format!("crates/{path}:{line}: {}", rule.instead)));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn collect(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") || path.ends_with("Cargo.toml") {
            found.push(path);
        }
    }
}

#[test]
fn each_rule_finds_what_breaks_it() {
    for rule in RULES {
        let (wrong, right) = rule.samples;
        assert!(!rule.broken_lines(wrong).is_empty(), "{wrong}");
        assert!(rule.broken_lines(right).is_empty(), "{right}");
        let in_tests = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{wrong}\n}}\n");
        assert!(rule.broken_lines(&in_tests).is_empty(), "{wrong}");
    }
    assert!(RULES[0].is_about("trace/src/file.rs"));
    assert!(!RULES[0].is_about("runtime/src/process/mod.rs"));
    assert!(!RULES[1].is_about("runtime/src/clock.rs"));
}

/// A pure crate can't do I/O, because nothing that it is made of can.
#[test]
fn pure_crates_depend_on_nothing_that_does_io() {
    for name in PURE {
        let package = format!("cuecard-{name}");
        let tree = Command::new(env!("CARGO"))
            .args([
                "tree",
                "--locked",
                "--offline",
                "-e",
                "normal",
                "--prefix",
                "none",
            ])
            .args(["--format", "{p}", "-p", &package])
            .current_dir(cuecard_testing::repository_root())
            .output()
            .expect("cargo runs, since it runs this test");
        let tree = String::from_utf8(tree.stdout).expect("UTF-8");
        let names: Vec<&str> = tree
            .lines()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(
            names.contains(&package.as_str()) && names.contains(&"serde_json"),
            "{names:?}"
        );
        let found: Vec<_> = NOT_PURE.iter().filter(|one| names.contains(one)).collect();
        assert!(
            found.is_empty(),
            "{package} depends on {found:?}: see `cargo tree -p {package} -e normal -i NAME`"
        );
    }
}

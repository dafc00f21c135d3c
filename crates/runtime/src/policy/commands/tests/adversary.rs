//! Each program of the table, with data in every place and quoting, in real shells: data never runs, nothing is
//! written outside of the root, and nothing there is read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::super::programs;
use super::shells::{SHELLS, run};
use super::{policy, text};

const SECRET: &str = "nobody may read this";

const WORDS: &[&str] = &[
    "D",
    "'D'",
    "\"D\"",
    "\"in/D\"",
    "./D",
    "xD",
    "-- D",
    "-- \"D\" in/a.txt",
    "in/a.txt D",
    "D in/a.txt",
    "D D",
    "--option=D",
    "-oD",
    "-n D",
    "-f D",
    "-c D",
    "-e D",
    "-t D",
    "-d D",
    "-o out D",
    "-r D",
    "D*",
    "*D",
    "[D]",
    "{x,D}",
    "~/D",
    "\"$HOME/D\"",
    "\"$X\"D",
    "\"$(printf %s D)\"",
    "$(printf %s D)",
    "\"`printf %s D`\"",
    "in/a.txt -o D",
    "x = D",
    "D = D",
    "-v D",
    "! D",
    "D -eq 5",
    "D ]",
    "= D ]",
    "D = x ]",
    "-v D ]",
    "",
];

const PLACES: &[&str] = &[
    "P W",
    "P W W",
    "echo x | P W",
    "printf '%s\\n' D | P W",
    "P W | cat",
    "P W > out.txt",
    "P in/a.txt > W",
    "P < W",
    "printf '%s\\n' D > in/list; P W",
    "printf '%s\\n' D > run; P run",
    "printf '%s\\n' D > run; sh run",
    "cd W && P a.txt",
    "cd in && P W",
    "(P W)",
    "{ P W; }",
    "if P W; then P W; fi",
    "mkdir -p W; P W/x",
    "P W; ls; find . -name x",
    "P W && cat out.txt",
    "x=W; P \"$x\"",
    "for x in W; do P \"$x\"; done",
    "P \\\n W",
    "P W &\nwait",
    "! P W || P W",
    "cp W here; cat here",
    "printf '%s\\n' D | tee W; P W",
    "P W; P -- *",
];

/// `OUT` is the folder beside the root.
const VALUES: &[&str] = &[
    "x",
    "in/a.txt",
    "OUT/secret.txt",
    "../outside/secret.txt",
    "in/../../outside/secret.txt",
    "../outside",
    "OUT/",
    "in/link",
    "in/link/secret.txt",
    "-rf",
    "-n",
    "--",
    "-",
    "--files0-from=in/list",
    "-foutside",
    "--help",
    "-o../outside/new",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary;",
    "'; touch canary; '",
    "\"; touch canary; \"",
    "\ntouch canary\n",
    "a[$(touch canary)]",
    "*",
    "OUT/*",
    "/etc/pass",
    "{OUT/secret.txt}",
    "e touch canary",
    "BEGIN{system(\"touch canary\")}",
    "%s",
    "a b",
    "",
    ".",
    "..",
    "]",
    "!",
    "(",
    "=",
    "5",
];

struct World {
    _dir: tempfile::TempDir,
    base: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("it exists");
        fs::create_dir_all(base.join("outside")).expect("made");
        fs::write(base.join("outside/secret.txt"), SECRET).expect("written");
        Self { _dir: dir, base }
    }

    fn root(&self) -> PathBuf {
        self.base.join("root")
    }

    fn reset(&self) {
        let _ = fs::remove_dir_all(self.root());
        fs::create_dir_all(self.root().join("in")).expect("made");
        fs::write(self.root().join("in/a.txt"), "a\nb\n").expect("written");
        std::os::unix::fs::symlink(self.base.join("outside"), self.root().join("in/link"))
            .expect("linked");
    }

    /// What is beside the root.
    fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for folder in [self.base.clone(), self.base.join("outside")] {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let text = fs::read_to_string(&path).unwrap_or_default();
                all.insert(path, text);
            }
        }
        all
    }
}

#[test]
fn listed_programs_do_no_harm_with_any_data() {
    let cases: u32 = std::env::var("CUECARD_FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(1_200);
    let names: Vec<&str> = programs::names().collect();
    let world = World::new();
    world.reset();
    let before = world.outside();
    let policy = policy(|options| {
        options.root = world.root();
        options.working_directory = world.root();
    });
    // So the test can fail: spliced, the data does all three.
    let spliced = |command: &str| {
        let bound = policy.command(&command.into()).expect("trusted");
        run("/bin/sh", &bound, &world.root(), "/bin:/usr/bin")
    };
    assert!(spliced("cat ../outside/secret.txt").contains(SECRET));
    spliced("echo $(touch canary) > ../outside/new");
    assert!(world.root().join("canary").exists() && world.outside() != before);
    fs::remove_file(world.base.join("outside/new")).expect("it is there");

    let strategy = (
        prop::sample::select(names),
        prop::sample::select(WORDS),
        prop::sample::select(PLACES),
        prop::sample::select(VALUES),
    );
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(44),
        failure_persistence: None,
        ..Config::default()
    });
    let (mut ran, mut failures) = (0, String::new());
    for _ in 0..cases {
        let (name, word, place, value) = strategy.new_tree(&mut runner).expect("a case").current();
        let template = place
            .split('P')
            .collect::<Vec<_>>()
            .join(name)
            .replace('W', word)
            .replace('D', "{{a.b}}")
            .replace("{{{", "{ {{");
        let value = value.replace("OUT", world.base.join("outside").to_str().expect("UTF-8"));
        if !template.contains("{{") {
            continue;
        }
        world.reset();
        let Ok(bound) = policy.command(&text(&template, &[("a.b", &value)])) else {
            continue;
        };
        ran += 1;
        let shell = SHELLS[ran % SHELLS.len()];
        let printed = run(shell, &bound, &world.root(), "/bin:/usr/bin");
        let harm = [
            (has_canary(&world.root()), "the data ran"),
            (
                world.outside() != before,
                "something changed outside of the root",
            ),
            (
                printed.contains(SECRET),
                "something was read outside of the root",
            ),
        ];
        for (_, what) in harm.iter().filter(|(is_so, _)| *is_so) {
            let _ = writeln!(
                failures,
                "{what}: {shell}, {value:?}:\n{template}\n---\n{}\n",
                bound.script
            );
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(
        ran * 8 > cases as usize,
        "only {ran} of {cases} were not refused"
    );
}

fn has_canary(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() == "canary"))
    })
}

//! The packages: built from the program of the tests, installed as users install them, and tried in their test runners.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Finished, Scratch};
use serde_json::Value;

use crate::program;

/// The packages, built once for all tests of this file.
fn packages() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
        // What an earlier build left has another name where the version or the platform changed.
        let _ = fs::remove_dir_all(&folder);
        let scratch = Scratch::new(&repository("packaging/build")).expect("a scratch folder");
        let out = folder.as_os_str();
        let binary = OsStr::new(env!("CARGO_BIN_EXE_cuecard"));
        let args = [
            "--fast".as_ref(),
            "--out".as_ref(),
            out,
            "--binary".as_ref(),
            binary,
        ];
        succeeded(&scratch.run(&args).expect("Python starts it"));
        folder
    })
}

fn repository(relative: &str) -> PathBuf {
    cuecard_testing::repository_root().join(relative)
}

/// A package by the end of its name.
fn package(end: &str) -> String {
    let entries = fs::read_dir(packages()).expect("the folder is there");
    let mut paths: Vec<String> = entries
        .map(|entry| entry.expect("readable").path().display().to_string())
        .filter(|path| path.ends_with(end))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no package ends with `{end}`");
    paths.swap_remove(0)
}

/// A place for shell lines that has the files of `tests/packages/NAME`.
fn place(name: &str) -> Scratch {
    let scratch = Scratch::new(Path::new("/bin/bash")).expect("a scratch folder");
    scratch
        .copy_tree(&repository("tests/packages").join(name))
        .expect("copied");
    scratch
}

#[track_caller]
fn bash(scratch: &Scratch, line: &str) -> Finished {
    let line = format!("set -eu; {line}");
    scratch.run(&["-c", &line]).expect("a shell starts")
}

#[track_caller]
fn succeeded(finished: &Finished) {
    program::assert_nothing_left(finished);
    assert_eq!(finished.code(), Some(0), "{}", program::told(finished));
}

#[test]
fn a_wheel_is_installed_and_plays() {
    let Some(python) = peers::require("venv-packages/bin/python") else {
        return;
    };
    let scratch = place("python");
    let hello = fs::read_to_string(repository("examples/quickstart.json")).expect("the example");
    scratch.write("hello.json", hello).expect("writable");
    let line = format!(
        "{} -m venv new; new/bin/pip install --quiet --no-index {}; export PATH=$PWD/new/bin:/usr/bin:/bin; \
         cuecard play hello.json; python -c 'import cuecard; print(cuecard.find_binary())'",
        python.display(),
        package(".whl"),
    );
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    assert!(
        finished.stdout.trim_end().ends_with("/new/bin/cuecard"),
        "{}",
        program::told(&finished)
    );
}

/// Installs the wheel for the `python` of later lines.
fn installed_wheel(python: &Path) -> String {
    let python = python.display();
    format!(
        "{python} -m pip install --quiet --no-index --no-deps --target site {}; export PYTHONPATH=$PWD/site; \
         pytest() {{ {python} -m pytest -q -p no:cacheprovider \"$@\"; }}; ",
        package(".whl"),
    )
}

#[track_caller]
fn contains(finished: &Finished, texts: &[&str]) {
    for text in texts {
        assert!(
            finished.stdout.contains(text),
            "no `{text}`\n{}",
            program::told(finished)
        );
    }
}

#[test]
fn fixtures_of_pytest_start_mocks_and_judge_them() {
    let Some(python) = peers::require("venv-packages/bin/python") else {
        return;
    };
    let scratch = place("python");
    let line = installed_wheel(&python) + "pytest -n 2 test_passing.py";
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    contains(&finished, &["17 passed"]);
}

#[test]
fn fixtures_of_pytest_fail_tests_at_their_end_and_in_their_teardown() {
    let Some(python) = peers::require("venv-packages/bin/python") else {
        return;
    };
    for in_parallel in ["", "-n 2"] {
        let scratch = place("python");
        let line = format!(
            "{}pytest {in_parallel} test_failing.py || echo exit $?",
            installed_wheel(&python)
        );
        let finished = bash(&scratch, &line);
        succeeded(&finished);
        assert!(
            finished.stdout.trim_end().ends_with("exit 1"),
            "{}",
            program::told(&finished)
        );
        contains(
            &finished,
            &[
                "8 failed, 3 passed, 3 errors in",
                // At the end of the test: with its place and what differs.
                "  --> capital.yaml:5:5",
                "expected \"What is the capital of France?\" (capital.yaml:4), received \"What is the capital of Spain?\"",
                "error[X-IO-01]: `missing.yaml` can't be read: no such file",
                "T-ACP-20: the prompt is not the one that the script expects",
                // In the teardown.
                "ERROR at teardown of test_nothing_asked",
                "error[T-LLM-07]: turn 1 of `capital` was not played",
                "ERROR at teardown of test_a_miss_of_a_fixture_in_its_teardown",
                "╭▸ farewell.yaml:10:5",
                "expected \"Goodbye\" (farewell.yaml:9), received \"See you\"",
                "ERROR at teardown of test_an_agent_that_nobody_starts",
                "was not started by the client",
                // A test that has failed by itself fails once.
                "assert 1 == 2",
                "assert 3 == 4",
                "Captured cuecard teardown",
            ],
        );
    }
}

/// Waits until the mocks have started, kills the runner `$!`, and waits until their traces have their ends.
const KILLED: &str = "killed=$!; until [ -s started ]; do sleep 0.05; done; kill -9 $killed; wait $killed || echo killed $?; \
    for _ in {1..200}; do \
        ends=$(cat .cuecard/runs/*/trace.jsonl | grep -c '\"kind\":\"end\"') || true; \
        [ \"$ends\" = 2 ] && break; sleep 0.05; \
    done; echo $ends traces end; tail -qn 1 .cuecard/runs/*/trace.jsonl";

#[track_caller]
fn ended_after_the_runner(finished: &Finished) {
    succeeded(finished);
    contains(
        finished,
        &["killed 137", "2 traces end", "\"status\":\"failed\""],
    );
}

#[test]
fn mocks_end_with_their_verdicts_when_their_runner_is_killed() {
    let (Some(python), Some(_)) = (
        peers::require("venv-packages/bin/python"),
        peers::require("packages/node_modules/.bin/vitest"),
    ) else {
        return;
    };
    let scratch = place("python");
    let install = installed_wheel(&python);
    let line = format!(
        "{install}{} -m pytest test_hanging.py >runner.txt 2>&1 & {KILLED}; {} -c '{}'",
        python.display(),
        python.display(),
        "import json; print([json.loads(line)[\"status\"] for line in open(\"exchanges.jsonl\")])",
    );
    let finished = bash(&scratch, &line);
    ended_after_the_runner(&finished);
    contains(&finished, &["[200]"]);

    let scratch = place("node");
    let line = format!("{} node hanging.mjs & {KILLED}", installed_module());
    ended_after_the_runner(&bash(&scratch, &line));
}

/// Installs the npm packages for the `node` of later lines.
fn installed_module() -> String {
    format!(
        "echo '{{\"private\": true, \"type\": \"module\"}}' >package.json; \
         npm install --offline --no-audit --no-fund --loglevel error {} {};",
        package("-x64-0.1.0.tgz"),
        package("/cuecard-0.1.0.tgz"),
    )
}

/// The same, with vitest beside them, which `vitest` then runs.
fn installed_module_and_vitest(vitest: &Path) -> String {
    let modules = vitest.ancestors().nth(2).expect("a folder of modules");
    format!(
        "{} for name in {}/*; do [ -e node_modules/${{name##*/}} ] || ln -s $name node_modules/; done; \
         vitest() {{ {} run --root . \"$@\" 2>&1; }};",
        installed_module(),
        modules.display(),
        vitest.display(),
    )
}

#[test]
fn an_npm_package_is_installed_and_runs_in_both_test_runners() {
    let Some(vitest) = peers::require("packages/node_modules/.bin/vitest") else {
        return;
    };
    let scratch = place("node");
    let line = installed_module_and_vitest(&vitest)
        + "npx --offline cuecard --version; node --test node.test.mjs; vitest vitest.spec.mjs; \
           npx --offline cuecard play missing.json || echo exit $?";
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    contains(&finished, &["pass 8", "8 passed"]);
    assert!(
        finished.stdout.trim_end().ends_with("exit 3"),
        "{}",
        program::told(&finished)
    );
}

#[test]
fn mocks_that_nobody_stops_are_judged_and_do_not_keep_node_alive() {
    let Some(vitest) = peers::require("packages/node_modules/.bin/vitest") else {
        return;
    };
    let scratch = place("node");
    let line = installed_module_and_vitest(&vitest)
        + "run() { echo \"--- $*\"; status=0; \"$@\" 2>&1 || status=$?; echo \"exit $status\"; }; \
           run node forgotten.mjs; run node forgotten-and-exit.mjs; run node --test forgotten.test.mjs; \
           run vitest forgotten.spec.mjs; run node --test failing.test.mjs; run vitest failing.spec.mjs";
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    let runs: Vec<&str> = finished.stdout.split("--- ").skip(1).collect();
    let unplayed = "T-LLM-07]: turn 1 of `capital` was not played";
    let expected: [(&str, &[&str]); 6] = [
        ("0", &[]),
        (
            "1",
            &["`cuecard serve llm capital.yaml` was not judged: the program ended before"],
        ),
        ("1", &["ok 1 - it passes", unplayed, "fail 1"]),
        ("1", &["FAIL  forgotten.spec.mjs", unplayed]),
        (
            "1",
            &[
                "not ok 1 - a turn that nobody asks for",
                unplayed,
                "1 !== 2",
                "fail 2",
            ],
        ),
        (
            "1",
            &[
                "failing.spec.mjs > a turn that nobody asks for",
                unplayed,
                "1 !== 2",
                "2 failed",
            ],
        ),
    ];
    assert_eq!(runs.len(), expected.len(), "{}", program::told(&finished));
    for (run, (code, texts)) in runs.iter().zip(expected) {
        assert!(run.trim_end().ends_with(&format!("exit {code}")), "{run}");
        for text in texts {
            assert!(run.contains(text), "no `{text}`\n{run}");
        }
    }
}

#[test]
fn archives_have_their_checksums_and_licenses() {
    if peers::require("venv-packages/bin/python").is_none() {
        return;
    }
    let scratch = place("node");
    let line = format!(
        "cd {}; sha256sum -c --quiet SHA256SUMS; tar -xzf {} -C $HOME; ls $HOME/cuecard-*; $HOME/cuecard-*/cuecard --version; \
         grep -c $(sha256sum <{} | cut -d' ' -f1) cuecard.rb",
        packages().display(),
        package("-linux.tar.gz"),
        package("-linux.tar.gz"),
    );
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    assert!(
        finished.stdout.contains("LICENSE-APACHE"),
        "{}",
        program::told(&finished)
    );
}

#[test]
fn the_formula_names_the_archives_with_their_checksums() {
    if peers::require("venv-packages/bin/python").is_none() {
        return;
    }
    let read = |name: &str| fs::read_to_string(packages().join(name)).expect("it was built");
    let (formula, sums) = (read("cuecard.rb"), read("SHA256SUMS"));
    let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let lines_of = |key: &str| -> Vec<String> {
        let lines = formula.lines().map(str::trim_start);
        lines
            .filter(|line| line.starts_with(key))
            .map(quoted)
            .collect()
    };
    let (urls, checksums) = (lines_of("url "), lines_of("sha256 "));
    assert_eq!(urls.len(), 4);
    assert_eq!(checksums.len(), 4);
    let mut n_built = 0;
    for (url, checksum) in urls.iter().zip(&checksums) {
        let archive = url.rsplit('/').next().unwrap_or_default();
        match sums
            .lines()
            .find(|line| line.ends_with(&format!("  {archive}")))
        {
            Some(line) => {
                assert_eq!(line, format!("{checksum}  {archive}"));
                n_built += 1;
            }
            // The builds of the other platforms fill in theirs.
            None => {
                let target = checksum
                    .trim_matches(['{', '}'])
                    .trim_start_matches("SHA256_");
                assert_eq!(archive, format!("cuecard-0.1.0-{target}.tar.gz"));
            }
        }
    }
    assert_eq!(n_built, 1, "{formula}");
}

/// A place as a job of GitHub has it, with the program in `PATH`.
fn job(run: &str) -> Scratch {
    let mut scratch =
        Scratch::new(&repository("packaging/action/run.sh")).expect("a scratch folder");
    let binary = Path::new(env!("CARGO_BIN_EXE_cuecard"));
    let folder = binary.parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    scratch.set("PATH", format!("{}:{path}", folder.display()));
    for (name, file) in [
        ("CUECARD_REPORTS", "reports"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
        ("GITHUB_OUTPUT", "output"),
    ] {
        scratch.set(name, scratch.work().join(file));
    }
    scratch.set("CUECARD_RUN", run);
    scratch.copy_tree(&repository("examples")).expect("copied");
    scratch
}

/// A scenario with a misspelt key in its fifth line.
const BROKEN: &str = r#"{
  "version": "2.1",
  "metadata": { "name": "Broken" },
  "steps": [
    { "step": 1, "tool": "mcp__demo__echo", "prams": { "message": "hi" } }
  ]
}
"#;

#[test]
fn the_action_runs_and_reports() {
    let scratch = job("play quickstart.json");
    let finished = scratch.run::<&str>(&[]).expect("it starts");
    succeeded(&finished);
    assert!(
        program::read(&scratch, "summary.md").starts_with("### ✅ `cuecard play quickstart.json`")
    );
    assert!(program::read(&scratch, "reports/junit.xml").contains("<testsuite"));
    assert!(program::read(&scratch, "reports/report.html").contains("<html"));
    assert_eq!(program::read(&scratch, "output"), "exit-code=0\n");

    let scratch = job("test 'tests/failing/output'");
    let finished = scratch.run::<&str>(&[]).expect("it starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.code(), Some(1), "{}", program::told(&finished));
    assert!(program::read(&scratch, "summary.md").contains("(exit 1)"));
    assert!(program::read(&scratch, "reports/junit.xml").contains("<failure"));

    let scratch = job("check 'two words.json' broken.json");
    scratch.write("broken.json", BROKEN).expect("writable");
    let finished = scratch.run::<&str>(&[]).expect("it starts");
    assert_eq!(finished.code(), Some(3), "{}", program::told(&finished));
    for annotation in [
        "::error::X-IO-01: `two words.json` can't be read",
        "::error file=broken.json,line=5,col=45::C-FIELD-01: `steps[0]` has no `params`",
    ] {
        assert!(
            finished.stdout.contains(annotation),
            "no `{annotation}`\n{}",
            program::told(&finished)
        );
    }
}

#[test]
fn the_book_has_every_page_once() {
    let docs = repository("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("it is there");
    let mut listed: Vec<String> = groups(r"\]\(([a-z-]+\.md|README\.md)\)", &summary)
        .into_iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(listed.len(), summary.matches("](").count());
    listed.push("SUMMARY.md".to_owned());
    listed.sort();
    let mut pages: Vec<String> = fs::read_dir(&docs)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".md"))
        .collect();
    pages.sort();
    assert_eq!(listed, pages);
}

#[test]
fn the_book_has_no_links_to_files_outside_of_it() {
    let Some(python) = peers::require("venv-packages/bin/python") else {
        return;
    };
    let chapter =
        "[a page](play.md), [Examples](../examples/README.md), [`CHANGELOG.md`](../CHANGELOG.md)";
    let rewritten = |html: Value| {
        let scratch = Scratch::new(&python).expect("a scratch folder");
        let book = serde_json::json!([
            {"config": {"output": {"html": html}}},
            {"items": [{"Chapter": {"content": chapter, "sub_items": []}}]},
        ]);
        let program = repository("packaging/book-links");
        let finished = scratch
            .run_with_input(&[program], book.to_string().as_bytes())
            .expect("it starts");
        succeeded(&finished);
        let book: Value = serde_json::from_str(&finished.stdout).expect("a book");
        book["items"][0]["Chapter"]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        rewritten(Value::Null),
        "[a page](play.md), Examples (`examples/README.md`), `CHANGELOG.md`"
    );
    assert_eq!(
        rewritten(serde_json::json!({"git-repository-url": "https://example.org/cuecard/"})),
        "[a page](play.md), [Examples](https://example.org/cuecard/blob/HEAD/examples/README.md), \
         [`CHANGELOG.md`](https://example.org/cuecard/blob/HEAD/CHANGELOG.md)"
    );
}

#[test]
fn the_book_is_built_with_search_and_its_links_hold() {
    let Some(mdbook) = peers::require("venv-packages/bin/mdbook") else {
        return;
    };
    let scratch = Scratch::new(&mdbook).expect("a scratch folder");
    let (root, book) = (repository(""), scratch.work().join("book"));
    let args = [
        "build".as_ref(),
        root.as_os_str(),
        "--dest-dir".as_ref(),
        book.as_os_str(),
    ];
    succeeded(&scratch.run(&args).expect("it starts"));
    let mut names: Vec<String> = fs::read_dir(&book)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    assert!(
        names.iter().any(|name| name.starts_with("searchindex")),
        "{names:?}"
    );
    let pages: Vec<&String> = names
        .iter()
        .filter(|name| name.ends_with(".html"))
        .collect();
    assert!(pages.len() > 50, "{pages:?}");
    for page in pages {
        let text = fs::read_to_string(book.join(page)).expect("text");
        for link in groups(r#"(?:href|src)="([^"]+)""#, &text) {
            let file = link.split(['#', '?']).next().unwrap_or_default();
            let is_address = link.contains("://") || link.starts_with("mailto:");
            let is_loaded = text.contains(&format!("src=\"{link}\""));
            assert!(!(is_address && is_loaded), "{page} loads {link}");
            let is_there = file.is_empty() || is_address || book.join(file).exists();
            assert!(is_there || page == "404.html", "{page}: {link}");
        }
    }
}

/// Serves the packages on 127.0.0.1 at `$address`, until the shell ends.
fn served(python: &Path) -> String {
    format!(
        "{} -u -m http.server 0 --bind 127.0.0.1 --directory {} >server.txt 2>&1 & server=$!; trap 'kill $server' EXIT; \
         until grep -q 'port [0-9]' server.txt; do sleep 0.05; done; \
         address=http://127.0.0.1:$(grep -o 'port [0-9]*' server.txt | cut -d' ' -f2);",
        python.display(),
        packages().display(),
    )
}

#[test]
fn the_action_installs_a_wheel_with_the_right_checksum_only() {
    let Some(python) = peers::require("venv-packages/bin/python") else {
        return;
    };
    let mut scratch = Scratch::new(Path::new("/bin/bash")).expect("a scratch folder");
    let github_path = scratch.work().join("github-path");
    scratch.set("RUNNER_TEMP", scratch.work().join("runner temp"));
    scratch.set("GITHUB_PATH", github_path);
    let wheel = package(".whl");
    let line = format!(
        "{} url=$address/$(basename {wheel}); right=$(sha256sum <{wheel} | cut -d' ' -f1); export CUECARD_PACKAGE; \
         CUECARD_PACKAGE=$url#sha256=${{right//[0-9]/0}} {install} || echo refused $?; [ ! -e github-path ]; \
         CUECARD_PACKAGE=$url#sha256=$right {install}; \"$(cat github-path)/cuecard\" call demo echo --arg message=hi",
        served(&python),
        install = repository("packaging/action/install.sh").display(),
    );
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    contains(&finished, &["refused 1", "cuecard 0.1.0", "hi"]);
    assert!(
        finished.stderr.contains("DO NOT MATCH THE HASHES"),
        "{}",
        program::told(&finished)
    );
}

#[test]
fn the_action_uses_its_inputs_and_its_lines_are_shell() {
    let text = fs::read_to_string(repository("packaging/action/action.yml")).expect("it is there");
    let parsed = cuecard_source::yaml::parse(&text, &cuecard_source::json::Limits::default());
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let action = parsed.root.expect("a document").to_value();

    let declared: BTreeSet<&str> = keys(&action["inputs"]).collect();
    assert_eq!(declared, groups(r"inputs\.([A-Za-z-]+)", &text));

    let scratch = Scratch::new(Path::new("/bin/bash")).expect("a scratch folder");
    let steps = action["runs"]["steps"].as_array().expect("a list");
    let mut n_scripts = 0;
    for step in steps {
        let Some(run) = step["run"].as_str() else {
            assert!(step["uses"].is_string(), "{step}");
            continue;
        };
        assert_eq!(step["shell"], "bash");
        succeeded(&scratch.run(&["-n", "-c", run]).expect("a shell starts"));
        // The step is a script beside it, which reads what the step gives it and nothing else of ours.
        let name = run
            .strip_prefix("\"$GITHUB_ACTION_PATH/")
            .and_then(|rest| rest.strip_suffix('"'))
            .expect("a script of the action");
        let path = repository("packaging/action").join(name);
        let script = fs::read_to_string(&path).expect("the script is there");
        succeeded(&bash(
            &scratch,
            &format!("bash -n {0}; [ -x {0} ]", path.display()),
        ));
        let read = groups(r"\$\{?(CUECARD_[A-Z_]+)", &script);
        assert_eq!(read, keys(&step["env"]).collect(), "{name}");
        n_scripts += 1;
    }
    assert_eq!(n_scripts, 2);
    for (name, output) in action["outputs"].as_object().expect("outputs") {
        let value = output["value"].as_str().unwrap_or_default();
        assert_eq!(value, format!("${{{{ steps.run.outputs.{name} }}}}"));
        assert!(steps.iter().any(|step| step["id"] == "run"));
    }
}

fn keys(object: &Value) -> impl Iterator<Item = &str> {
    object
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
}

/// The texts of the first group of `pattern`.
fn groups<'a>(pattern: &str, text: &'a str) -> BTreeSet<&'a str> {
    let pattern = regex::Regex::new(pattern).expect("a pattern");
    let found = pattern.captures_iter(text);
    found
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .collect()
}

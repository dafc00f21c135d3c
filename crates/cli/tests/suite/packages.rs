//! The packages: built from the program of the tests, installed as users install them, and tried in their test runners.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Finished, Scratch};

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

#[test]
fn fixtures_of_pytest_start_mocks_and_judge_them() {
    let Some(python) = peers::require("venv-packages/bin/python") else {
        return;
    };
    let scratch = place("python");
    let python = python.display();
    let line = format!(
        "{python} -m pip install --quiet --no-index --no-deps --target site {}; export PYTHONPATH=$PWD/site; \
         {python} -m pytest -q -p no:cacheprovider -n 2 test_passing.py; \
         {python} -m pytest -q -p no:cacheprovider --junit-xml failing.xml test_failing.py || echo exit $?",
        package(".whl"),
    );
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    assert!(
        finished.stdout.contains("12 passed"),
        "{}",
        program::told(&finished)
    );
    assert!(
        finished.stdout.trim_end().ends_with("exit 1"),
        "{}",
        program::told(&finished)
    );
    assert!(
        finished.stdout.contains("6 failed in"),
        "{}",
        program::told(&finished)
    );
    for text in [
        "received \"What is the capital of Spain?\"",
        "turn 1 of `capital` was not played",
        "assert 1 == 2",
        "error[X-IO-01]: `missing.yaml` can't be read: no such file",
        "was not started by the client",
        "T-ACP-20: the prompt is not the one that the script expects",
    ] {
        assert!(
            finished.stdout.contains(text),
            "no `{text}`\n{}",
            program::told(&finished)
        );
    }
}

#[test]
fn an_npm_package_is_installed_and_runs_in_both_test_runners() {
    let Some(vitest) = peers::require("packages/node_modules/.bin/vitest") else {
        return;
    };
    let scratch = place("node");
    let modules = vitest.ancestors().nth(2).expect("a folder of modules");
    let line = format!(
        "echo '{{\"private\": true, \"type\": \"module\"}}' >package.json; \
         npm install --offline --no-audit --no-fund --loglevel error {} {}; \
         npx --offline cuecard --version; node --test node.test.mjs; \
         for name in {}/*; do [ -e node_modules/${{name##*/}} ] || ln -s $name node_modules/; done; \
         {} run --root . vitest.spec.mjs; npx --offline cuecard play missing.json || echo exit $?",
        package("-x64-0.1.0.tgz"),
        package("/cuecard-0.1.0.tgz"),
        modules.display(),
        vitest.display(),
    );
    let finished = bash(&scratch, &line);
    succeeded(&finished);
    let is_said = |text: &str| finished.stdout.contains(text);
    assert!(is_said("pass 6"), "{}", program::told(&finished));
    assert!(is_said("6 passed"), "{}", program::told(&finished));
    assert!(
        finished.stdout.trim_end().ends_with("exit 3"),
        "{}",
        program::told(&finished)
    );
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
        "::error file=broken.json,line=5,col=45::C-FIELD-01: this step has no `params`",
    ] {
        assert!(
            finished.stdout.contains(annotation),
            "no `{annotation}`\n{}",
            program::told(&finished)
        );
    }
}

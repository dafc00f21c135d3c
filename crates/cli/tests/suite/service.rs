//! `serve rest` from outside: a client that drops its streams, and the page in a real browser.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_testing::scratch::{Finished, Scratch};
use cuecard_testing::{peers, repository_root};

use crate::program;

/// Runs a command of the shell against the example of the book.
fn served(scratch: &Scratch, more: &[&str], command: &str) -> Finished {
    let example = repository_root().join("examples/service/fix-test.yaml");
    let example = example.display().to_string();
    let mut args = vec![
        "serve",
        "rest",
        &example,
        "--speed",
        "0",
        "--require-complete",
    ];
    args.extend(more);
    args.extend(["--", "sh", "-c", command]);
    program::run(scratch, &args)
}

#[test]
fn a_client_that_is_cut_off_misses_nothing_and_hears_nothing_twice() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = program::scratch();
    let client = repository_root().join("tests/service/client.py");
    let mut whole = None;
    for cut_after in [100, 1, 3, 7] {
        let command = format!(
            "{} {} \"$CUECARD_SERVICE_URL\" {cut_after}",
            python.display(),
            client.display()
        );
        let finished = served(&scratch, &[], &command);
        let said = &finished.stdout;
        assert_eq!(finished.code(), Some(0), "{said}\n{}", &finished.stderr);
        let events: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with(|sign: char| sign.is_ascii_digit()))
            .collect();
        let numbers = events.iter().map(|event| {
            event
                .split(' ')
                .next()
                .and_then(|number| number.parse().ok())
        });
        assert!(numbers.eq((1..=events.len()).map(Some)), "{said}");
        assert_eq!(
            events.last(),
            Some(&format!("{} status completed", events.len()).as_str())
        );
        assert!(said.contains("\"lines_added\": 1"), "{said}");
        let events = events.join("\n");
        assert_eq!(
            *whole.get_or_insert(events.clone()),
            events,
            "cut after {cut_after}"
        );
    }
}

#[test]
fn what_fits_no_scenario_fails_the_run() {
    let Some(curl) = peers::require_program("curl") else {
        return;
    };
    let scratch = program::scratch();
    let command = format!(
        "{} -s \"$CUECARD_SERVICE_URL/api/v1/tasks\" -d '{{\"prompt\": \"Bake a cake\"}}'",
        curl.display()
    );
    let finished = served(&scratch, &[], &command);
    assert_eq!(finished.code(), Some(1), "{}", &finished.stderr);
    let told = &finished.stderr;
    assert!(
        told.contains("T-SEL-02") && told.contains("T-LLM-07"),
        "{told}"
    );
}

#[test]
fn the_page_shows_a_session_and_steers_it() {
    let Some(parts) = page_peers() else {
        return;
    };
    let [playwright, node, browser] = parts;
    let mut scratch = program::scratch();
    scratch.limit(Duration::from_secs(120));
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("service");
    std::fs::create_dir_all(&pictures).expect("a folder for pictures");
    let script = repository_root().join("tests/service/page.mjs");
    let command = format!(
        "{} {} {} {} \"$CUECARD_SERVICE_URL\" {}",
        node.display(),
        script.display(),
        playwright.display(),
        browser.display(),
        pictures.display()
    );
    let hostile = repository_root().join("tests/service/hostile.yaml");
    let hostile = hostile.display().to_string();
    let finished = served(&scratch, &[&hostile, "--wait-for-prompts"], &command);
    let said = format!("{}\n{}", &finished.stdout, &finished.stderr);
    assert_eq!(finished.code(), Some(0), "{said}");
    assert!(said.contains("the page is in order"), "{said}");
}

/// playwright-core, Node and Chromium. Nothing when peers are left out.
fn page_peers() -> Option<[PathBuf; 3]> {
    Some([
        peers::require("npm/node_modules/playwright-core")?,
        peers::require_program("node")?,
        peers::require_program("chromium-headless-shell")?,
    ])
}

#[test]
fn the_api_is_as_its_document_says() {
    let Some(schemathesis) = peers::require("venv-service/bin/schemathesis") else {
        return;
    };
    let mut scratch = program::scratch();
    scratch.limit(Duration::from_secs(300));
    let command = format!(
        "{} --config-file {} run --seed 1 --max-examples 20 \"$CUECARD_SERVICE_URL/api/v1/openapi.json\"",
        schemathesis.display(),
        repository_root()
            .join("tests/service/schemathesis.toml")
            .display()
    );
    let finished = served(&scratch, &["--any-prompt"], &command);
    let said = &finished.stdout;
    // A name that no scenario has is not found, which fails the run.
    assert!(
        said.contains("passed") && !said.contains("Failures:"),
        "{said}"
    );
    assert!(said.contains("Tested: 28"), "{said}");
}

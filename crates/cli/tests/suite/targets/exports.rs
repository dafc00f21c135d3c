//! Steps as scenarios and as tests of Playwright: each export does on the site what the steps say.

use std::process::Command;

use super::*;

/// A file of steps with the variables that it needs beside `SITE`, and what its export did to the site.
struct Steps {
    name: &'static str,
    text: &'static str,
    /// How many calls the scenario has.
    calls: usize,
    /// What was counted on the site.
    counts: &'static [(&'static str, u64)],
    /// What an export can't say.
    warnings: usize,
}

const ALL: [Steps; 3] = [
    Steps {
        name: "login",
        text: include_str!("steps/login.json"),
        calls: 13,
        counts: &[("login", 1)],
        warnings: 0,
    },
    Steps {
        name: "invoices",
        text: include_str!("steps/invoices.json"),
        calls: 13,
        counts: &[("delete-2", 1), ("delete-4", 1)],
        // Two elements are told apart by their place alone; by Playwright's own only one.
        warnings: 2,
    },
    Steps {
        name: "shop",
        text: include_str!("steps/shop.json"),
        calls: 26,
        counts: &[("upload", 1), ("download", 1)],
        warnings: 0,
    },
];

/// Converts steps in a place of their own.
#[track_caller]
fn export(scratch: &Scratch, steps: &Steps, to: &[&str], into: &str) -> usize {
    let file = format!("{}.json", steps.name);
    scratch.write(&file, steps.text).expect("writable");
    let args = [&["convert", &file, "-o", into, "--force", "--json"], to].concat();
    let finished = program::run(scratch, &args);
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    let document: Value = serde_json::from_str(&finished.stdout).expect("one document");
    let findings = document["diagnostics"].as_array().expect("a list");
    for finding in findings {
        assert_eq!(finding["code"], "B-export_incomplete", "{finding:#}");
    }
    findings.len()
}

/// A picture that can be sent, where a server may read it: chrome-devtools-mcp in the folder for temporary files,
/// @playwright/mcp in its working directory.
fn picture(scratch: &Scratch, peer: Peer) -> String {
    let work = scratch.work();
    let folder = match peer.is_playwright() {
        true => work,
        false => work.with_file_name("tmp"),
    };
    let path = folder.join("picture.svg");
    std::fs::write(&path, "<svg/>").expect("writable");
    path.display().to_string()
}

/// What the steps did, each time.
#[track_caller]
fn assert_done(site: &Site, steps: &Steps, times: u64, by: &str) {
    for (what, count) in steps.counts {
        assert_eq!(
            site.count(what),
            count * times,
            "{} {what} {by}",
            steps.name
        );
    }
}

#[test]
fn scenarios_made_of_steps_play_through_both_servers() {
    for peer in [Peer::Newer, Peer::Playwright] {
        let Some(scratch) = peer.start() else {
            return;
        };
        for steps in &ALL {
            let site = Site::start().expect("a site");
            let to = ["--to", "tool-call", "--server", peer.server()];
            let warnings = export(&scratch, steps, &to, "exported.json");
            assert_eq!(warnings, steps.warnings, "{} {peer:?}", steps.name);
            let root = format!("SITE={}", site.url("").trim_end_matches('/'));
            let file = format!("FILE={}", picture(&scratch, peer));
            let mut args = vec!["exported.json", "--var", &root];
            match steps.name {
                "login" => args.extend(["--var", "PASSWORD=correct horse"]),
                "shop" => args.extend(["--var", &file]),
                _ => {}
            }
            let played = program::play(&scratch, &args, 0);
            assert_done(&site, steps, 1, peer.server());
            let total = played.json["total_steps"].as_u64().expect("a number");
            let expected = match (steps.name, peer) {
                // There a file is sent in two calls, since the first only opens the browser's window for it.
                ("shop", Peer::Playwright) => steps.calls + 1,
                _ => steps.calls,
            };
            assert_eq!(total, expected as u64, "{} {peer:?}", steps.name);
        }
    }
}

#[test]
fn tests_made_of_steps_run_with_the_runner_of_playwright() {
    let Some(runner) = peers::require("npm/node_modules/@playwright/test/cli.js") else {
        return;
    };
    let (Some(node), Some(chromium)) = (
        peers::require_program("node"),
        peers::require_program("chromium"),
    ) else {
        return;
    };
    let scratch = program::scratch();
    let modules = runner
        .ancestors()
        .find(|folder| folder.ends_with("node_modules"))
        .expect("it is installed");
    let work = scratch.work();
    std::os::unix::fs::symlink(modules, work.join("node_modules")).expect("a link");
    let config = format!(
        "export default {{ workers: 1, reporter: 'line', use: {{ launchOptions: {{ executablePath: {}, args: ['--no-sandbox'] }} }} }};\n",
        json!(chromium)
    );
    scratch
        .write("playwright.config.ts", config)
        .expect("writable");
    for steps in &ALL {
        let site = Site::start().expect("a site");
        let spec = format!("{}.spec.ts", steps.name);
        let warnings = export(&scratch, steps, &["--to", "playwright"], &spec);
        assert_eq!(warnings, steps.warnings.saturating_sub(1), "{}", steps.name);
        let ran = Command::new(&node)
            .arg(&runner)
            .args(["test", &spec])
            .current_dir(&work)
            .env("CI", "1")
            .env("CUECARD_VAR_SITE", site.url("").trim_end_matches('/'))
            .env("CUECARD_VAR_PASSWORD", "correct horse")
            .env("CUECARD_VAR_FILE", picture(&scratch, Peer::Playwright))
            .output()
            .expect("node starts");
        let told = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{}\n{told}", steps.name);
        assert!(told.contains("1 passed"), "{}\n{told}", steps.name);
        assert_done(&site, steps, 1, "playwright test");
    }
}

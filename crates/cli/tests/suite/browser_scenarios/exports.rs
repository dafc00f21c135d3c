//! What all scenarios are exported to runs, through each server and with Playwright's own runner.

use std::path::Path;
use std::process::Command;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Running, Scratch};
use serde_json::{Value, json};

use super::place::{LIMIT, Place, SECRETS, base};
use super::{COUNT, folder, side_by_side, steps, whole};
use crate::program;

/// The code of the warning that an export has nothing for a step.
const LEFT_OUT: &str = "B-export_left_out";

/// Steps of kinds that no scenario has, by their name.
const UNCOMMON: (&str, &str) = ("uncommon", include_str!("uncommon.json"));

/// Scenarios of which a server's export can't have every step, and so does not run: a frame of another site that is in a
/// frame is not in the snapshots of chrome-devtools-mcp, and no call chooses from a list that a page makes itself.
const NOT_WHOLE: [(&str, &str); 3] = [
    ("09-frames", "chrome-devtools"),
    ("22-rentals", "chrome-devtools"),
    ("22-rentals", "playwright"),
];

#[test]
fn exports_play_through_chrome_devtools() {
    let Some((node, script)) = server("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js")
    else {
        return;
    };
    let (Some(shell), Some(chromium)) = (
        peers::require_program("chromium-headless-shell"),
        peers::require_program("chromium"),
    ) else {
        return;
    };
    let server = |scenario: &str| {
        // A dialog that Puppeteer accepts is dismissed all the same in the shell.
        let browser = match scenario.contains("alerts") {
            true => &chromium,
            false => &shell,
        };
        json!({"command": node, "args": [
            script,
            "--executablePath",
            browser,
            "--headless",
            "--isolated",
            "--no-usage-statistics",
            "--chromeArg=--no-sandbox",
            "--chromeArg=--disable-gpu",
            "--chromeArg=--disable-dev-shm-usage",
            // The files that are uploaded.
            "--workspace",
            ".",
        ]})
    };
    exports_play("chrome-devtools", 0, server);
}

/// All of them through one server, which has a browser context of its own for each.
#[test]
fn exports_play_through_playwrights_server() {
    let Some((node, script)) = server("@playwright/mcp/cli.js") else {
        return;
    };
    let (Some(chromium), Some(_)) = (peers::require_program("chromium-headless-shell"), steps())
    else {
        return;
    };
    let mut scratch = Scratch::new(&node).expect("a scratch folder");
    scratch.limit(LIMIT);
    // The files that are uploaded.
    scratch.copy_tree(&folder()).expect("readable");
    let args: Vec<&Path> = [
        script.as_path(),
        Path::new("--executable-path"),
        chromium.as_path(),
    ]
    .into_iter()
    .chain(
        [
            "--headless",
            "--isolated",
            "--no-sandbox",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
        ]
        .map(Path::new),
    )
    .collect();
    let running = scratch.start(&args).expect("it starts");
    let address = address(&running);
    exports_play(
        "playwright",
        1,
        |_| json!({"url": format!("{address}/mcp")}),
    );
    running.terminate();
    running.finish();
}

/// Every step of every scenario is exported, but for those that are known to lack a step, and every other export is played
/// and passes: the other server plays the rest.
#[track_caller]
fn exports_play(name: &str, turn: usize, server: impl Fn(&str) -> Value + Sync) {
    let Some(steps) = steps() else {
        return;
    };
    let to = ["--to", "tool-call", "--server", name];
    let all: Vec<_> = whole(steps).chain([UNCOMMON]).enumerate().collect();
    let failed = side_by_side(&all, Place::new, |place, &(nth, (scenario, text))| {
        let config = json!({"mcpServers": {name: server(scenario)}});
        place.write(".mcp.json", &config.to_string());
        let exported = format!("{scenario}.{name}.json");
        let left_out = export(place, scenario, text, &to, &exported)?;
        match (left_out, NOT_WHOLE.contains(&(scenario, name))) {
            (None, false) => {}
            (Some(_), true) => return Ok(()),
            (Some(finding), false) => return Err(format!("{scenario} lacks a step: {finding:#}")),
            (None, true) => return Err(format!("{scenario} has every step, and may run")),
        }
        if nth % 2 != turn {
            return Ok(());
        }
        // A scenario doesn't say which of its variables are secrets.
        let text = program::read(&place.scratch, &exported);
        let used = SECRETS
            .iter()
            .filter(|(secret, _)| text.contains(&format!("{{{{{secret}}}}}")));
        let mut args = vec!["play", &exported, "--json"];
        args.extend(used.flat_map(|(secret, _)| ["--secret", secret]));
        let played = place.cuecard(&args);
        played
            .map(drop)
            .map_err(|said| format!("{scenario}: {said}"))
    });
    assert!(failed.is_empty(), "{name}\n{}", failed.join("\n\n"));
}

/// All of them in one run of Playwright's own runner.
#[test]
fn exports_run_by_playwrights_own_runner() {
    let (Some(steps), Some(place)) = (steps(), Place::new()) else {
        return;
    };
    let (Some((node, runner)), Some(chromium)) = (
        server("@playwright/test/cli.js"),
        peers::require_program("chromium-headless-shell"),
    ) else {
        return;
    };
    for (scenario, text) in whole(steps).chain([UNCOMMON]) {
        let spec = format!("{scenario}.spec.ts");
        let left_out = export(&place, scenario, text, &["--to", "playwright"], &spec);
        assert_eq!(left_out, Ok(None), "{scenario}");
    }
    let config = json!({
        "workers": super::WORKERS,
        "fullyParallel": true,
        "reporter": "line",
        "globalTimeout": LIMIT.as_millis() as u64,
        "use": {"launchOptions": {"executablePath": chromium, "args": ["--no-sandbox"]}},
    });
    place.write(
        "playwright.config.ts",
        &format!("export default {config};\n"),
    );
    let ran = Command::new(node)
        .arg(runner)
        .arg("test")
        .current_dir(place.scratch.work())
        .env("CI", "1")
        .env("CUECARD_VAR_BASE", base(&place.site))
        .envs(SECRETS.map(|(name, value)| (format!("CUECARD_VAR_{name}"), value)))
        .output()
        .expect("node starts");
    let said = String::from_utf8_lossy(&ran.stdout);
    let passed = format!("{} passed", COUNT + 1);
    assert!(ran.status.success() && said.contains(&passed), "{said}");
}

/// Writes the export of steps, and gives the warning of a step that it lacks.
fn export(
    place: &Place,
    scenario: &str,
    steps: &str,
    to: &[&str],
    into: &str,
) -> Result<Option<Value>, String> {
    let file = place.write(&format!("{scenario}.json"), steps);
    let args = [&["convert", &file, "-o", into, "--force", "--json"], to].concat();
    let said = place
        .cuecard(&args)
        .map_err(|said| format!("{scenario} is not exported: {said}"))?;
    let document: Value = serde_json::from_str(&said).expect("one document");
    let findings = document["diagnostics"].as_array().expect("a list");
    let left_out = findings.iter().find(|finding| finding["code"] == LEFT_OUT);
    Ok(left_out.cloned())
}

/// Node and a script of a package; nothing when they are left out.
fn server(script: &str) -> Option<(std::path::PathBuf, std::path::PathBuf)> {
    let script = peers::require(&format!("npm/node_modules/{script}"))?;
    Some((peers::require_program("node")?, script))
}

/// Where a server listens, as it says.
#[track_caller]
fn address(running: &Running) -> String {
    let mut address = None;
    running.wait_for(|stdout, stderr| {
        address = [stdout, stderr]
            .iter()
            .flat_map(|said| said.lines())
            .find_map(|line| line.strip_prefix("Listening on "))
            .map(|url| url.trim().trim_end_matches('/').to_owned());
        address.is_some()
    });
    address.expect("it says where it listens")
}

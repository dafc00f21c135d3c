//! The HTML report of browser steps in a real browser: `tests/report/steps.mjs` opens it from disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuecard_testing::{peers, repository_root};

use super::place;
use super::playing::{made, write};
use crate::program;

/// Where the pictures of the last run can be looked at.
fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("report")
}

#[test]
fn a_browser_shows_each_step_with_its_target_outlined() {
    let (Some((scratch, site)), Some(playwright)) =
        (place(), peers::require("npm/node_modules/playwright-core"))
    else {
        return;
    };
    let (Some(node), Some(chromium)) = (
        peers::require_program("node"),
        peers::require_program("chromium-headless-shell"),
    ) else {
        return;
    };
    let file = made("dialogs.html", async |maker| {
        maker.click("button", "Open settings").await;
        maker.click("button", "Save").await;
        maker.click("button", "Delete account").await;
        maker.click("button", "Delete").await;
        maker.shows("Account: deleted").await;
    });
    write(&scratch, &site, &file, "next/dialogs.html");
    let failed = program::play(&scratch, &["steps.json", "--report", "html:report.html"], 1);
    assert_eq!(failed.json["not_run_steps"], 1);
    assert!(failed.stderr.contains("1 failed · 1 not run"));
    let file = made("dialogs.html", async |maker| {
        maker.click("button", "Say hello").await;
        maker.click("button", "Open settings").await;
    });
    write(&scratch, &site, &file, "next/dialogs.html");
    let asked = [
        "steps.json",
        "--report",
        "html:healed.html",
        "--screenshot-each-step",
    ];
    let healed = program::play(&scratch, &asked, 4);
    let kept = healed.json["screenshots"].as_array().expect("a list");
    assert_eq!(kept.len(), 2, "{kept:?}");
    let places = [
        "click 'Say hello'",
        "alert `",
        "click 'Open settings'",
        "healed: ",
    ]
    .map(|words| healed.stderr.find(words));
    assert!(
        places.is_sorted() && places[0].is_some(),
        "what is noted of a step stands below it: {}",
        healed.stderr
    );
    std::fs::create_dir_all(pictures()).expect("a folder for pictures");
    let output = Command::new(node)
        .arg(repository_root().join("tests/report/steps.mjs"))
        .arg(playwright)
        .arg(chromium)
        .arg(scratch.work().join("report.html"))
        .arg(scratch.work().join("healed.html"))
        .arg(pictures())
        .current_dir(scratch.work())
        .env("HOME", scratch.home())
        .output()
        .expect("node starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

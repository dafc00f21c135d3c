//! A browser that is shown, slowed down, recorded, or somebody else's.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Running, Scratch};
use serde_json::Value;

use super::document;
use crate::parse::Lab;
use crate::program::told;

/// Stands in for Playwright's own ffmpeg, which is no package: the pictures that it is given are its video.
const RECORDER: &str = "#!/bin/sh\nfor last; do :; done\nexec cat > \"$last\"\n";

/// All that is recorded of a run, slowly.
const RECORDED: [&str; 3] = ["--video", "--playwright-trace", "--slow-mo"];

/// Puts the stand-in where Playwright looks for its ffmpeg, and says so to the program.
fn with_recorder(lab: &mut Lab) {
    let list = lab
        .scratch
        .work()
        .join("node_modules/playwright-core/browsers.json");
    let text = std::fs::read_to_string(list).expect("Playwright says what it needs");
    let list: Value = serde_json::from_str(&text).expect("JSON");
    let ffmpeg = list["browsers"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["name"] == "ffmpeg"))
        .expect("it needs ffmpeg");
    let revision = ffmpeg["revision"].as_str().expect("a revision");
    let path = lab
        .scratch
        .write(format!("own/ffmpeg-{revision}/ffmpeg-linux"), RECORDER)
        .expect("writable");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    let folder = lab.scratch.work().join("own");
    lab.scratch.set("PLAYWRIGHT_BROWSERS_PATH", folder);
}

#[test]
fn a_run_is_slowed_down_and_recorded_in_all_commands_alike() {
    let Some(mut lab) = Lab::new() else { return };
    with_recorder(&mut lab);
    lab.make_steps(&[]);
    for (command, run_dir, slow) in [
        ("play", "played", "2000"),
        ("verify", "verified", "10"),
        ("parse", "parsed", "10"),
    ] {
        let file = if command == "parse" {
            "scenario.json"
        } else {
            "steps.json"
        };
        let place = [command, file, "--json", "--run-dir", run_dir];
        let finished = lab.run(&[&place[..], &RECORDED, &[slow]].concat(), 0);
        let run = only_entry(&lab.scratch.work().join(run_dir));
        let videos = run.join("videos");
        let video = std::fs::read(only_entry(&videos)).expect("a video");
        assert!(!video.is_empty(), "{command}");
        let trace = std::fs::read(run.join("playwright-trace.zip")).expect("a trace");
        assert!(trace.starts_with(b"PK"), "{command}");
        // Names of entries stand in an archive as they are.
        for entry in [&b"trace.trace"[..], b"trace.network"] {
            assert!(
                trace.windows(entry.len()).any(|part| part == entry),
                "{command}"
            );
        }
        let shown = run.strip_prefix(lab.scratch.work()).expect("below");
        for line in [
            format!("video: {}", shown.join("videos").display()),
            format!(
                "Playwright trace: {}",
                shown.join("playwright-trace.zip").display()
            ),
        ] {
            assert!(
                finished.stderr.contains(&line),
                "{line}: {}",
                finished.stderr
            );
        }
        if command == "play" {
            // It opens the page and clicks twice.
            let seconds = document(&finished)["duration"].as_f64();
            assert!(seconds.expect("a duration") > 6.0, "{}", told(&finished));
        }
    }
}

#[test]
fn without_its_recorder_a_video_names_what_it_lacks() {
    let Some(mut lab) = Lab::new() else { return };
    let nothing = lab.scratch.work().join("nothing");
    lab.scratch.set("PLAYWRIGHT_BROWSERS_PATH", nothing);
    lab.make_steps(&[]);
    let finished = lab.run(&["play", "steps.json", "--video"], 2);
    assert!(
        finished.stderr.contains("install ffmpeg"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_window_needs_a_display() {
    let Some(mut lab) = Lab::new() else { return };
    lab.make_steps(&[]);
    for command in ["play", "verify"] {
        let finished = lab.run(&[command, "steps.json", "--headed"], 2);
        for words in ["neither DISPLAY nor WAYLAND_DISPLAY is set", "xvfb-run"] {
            assert!(finished.stderr.contains(words), "{}", finished.stderr);
        }
    }
    // One that nobody answers at.
    lab.scratch.set("DISPLAY", ":987");
    let finished = lab.run(&["parse", "scenario.json", "--headed"], 2);
    assert!(
        finished.stderr.contains("its display does not respond"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_browser_that_is_not_ours_stays_as_it_is() {
    let Some(lab) = Lab::new() else { return };
    let own_tab = lab.site.url("login.html");
    let Some(browser) = ForeignBrowser::start(&own_tab) else {
        return;
    };
    assert_eq!(browser.tabs(), std::slice::from_ref(&own_tab));
    let cdp = ["--cdp", browser.address.as_str()];
    lab.make_steps(&cdp);
    for command in ["play", "verify"] {
        lab.run(&[&[command, "steps.json"][..], &cdp].concat(), 0);
        assert_eq!(browser.tabs(), std::slice::from_ref(&own_tab), "{command}");
    }
    // Nor does it end with us.
    lab.scratch
        .write(
            "long.json",
            serde_json::json!({"url": lab.site.url("dialogs.html"), "actions": [super::SENTENCES[0], "wait 60 s"]})
                .to_string(),
        )
        .expect("writable");
    let args = [&["parse", "long.json"][..], &cdp].concat();
    let running = lab.scratch.start(&args).expect("the program starts");
    assert!(running.wait_for(|_, stderr| stderr.contains("1 ✓")));
    assert_eq!(browser.tabs().len(), 2);
    running.kill();
    crate::program::assert_nothing_left(&running.finish());
    browser.wait_for_tabs(&[own_tab]);
}

#[test]
fn what_is_no_browser_is_told() {
    let Some(lab) = Lab::new() else { return };
    lab.make_steps(&[]);
    // The test site answers, but is no browser.
    let site = lab.site.url("");
    let finished = lab.run(&["play", "steps.json", "--cdp", &site], 2);
    assert!(
        finished.stderr.contains("no browser is reachable at"),
        "{}",
        told(&finished)
    );
    assert!(
        finished.stderr.contains("--remote-debugging-port"),
        "{}",
        told(&finished)
    );
}

/// A browser that the test started, with one tab.
struct ForeignBrowser {
    address: String,
    running: Running,
    _place: Scratch,
}

impl ForeignBrowser {
    fn start(url: &str) -> Option<Self> {
        let chromium = peers::require_program("chromium")?;
        let mut place = Scratch::new(&chromium).expect("a scratch folder");
        place.limit(Duration::from_secs(240));
        let running = place
            .start(&[
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-port=0",
                "--user-data-dir=profile",
                url,
            ])
            .expect("chromium starts");
        let mut address = None;
        running.wait_for(|_, stderr| {
            let begin = stderr.split_once("DevTools listening on ws://");
            address = begin
                .and_then(|(_, rest)| rest.split_once('/'))
                .map(|(host, _)| format!("http://{host}"));
            address.is_some()
        });
        let browser = Self {
            address: address.expect("it says where it listens"),
            running,
            _place: place,
        };
        browser.wait_for_tabs(&[url.to_owned()]);
        Some(browser)
    }

    /// The addresses of its tabs.
    fn tabs(&self) -> Vec<String> {
        let host = self.address.trim_start_matches("http://");
        let mut connection = TcpStream::connect(host).expect("it listens");
        write!(
            connection,
            "GET /json/list HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("it reads");
        let mut answer = Vec::new();
        // It says how long the answer is, and may keep the connection.
        let body = loop {
            let mut piece = [0; 4096];
            let read = connection.read(&mut piece).expect("it answers");
            answer.extend_from_slice(&piece[..read]);
            let text = String::from_utf8_lossy(&answer);
            if let Some((_, body)) = text.split_once("\r\n\r\n")
                && let Ok(list) = serde_json::from_str::<Value>(body)
            {
                break list;
            }
            assert!(read > 0, "{text}");
        };
        let targets = body.as_array().expect("a list");
        targets
            .iter()
            .filter(|target| target["type"] == "page")
            .map(|target| target["url"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Asks until these are its tabs: a connection that ended is noticed a moment later.
    #[track_caller]
    fn wait_for_tabs(&self, expected: &[String]) {
        let is_there = || self.tabs() == expected;
        let began = std::time::Instant::now();
        while !is_there() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{:?}",
                self.tabs()
            );
        }
    }
}

impl Drop for ForeignBrowser {
    fn drop(&mut self) {
        self.running.terminate();
    }
}

/// What is in a folder that has one entry.
#[track_caller]
fn only_entry(folder: &Path) -> std::path::PathBuf {
    let entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| !path.ends_with(".gitignore"))
        .collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

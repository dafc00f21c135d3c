//! Pages that are not there, browsers that end, and what is left running: nothing.

use std::path::Path;
use std::time::Duration;

use cuecard_browser::{BrowserBridge, BrowserOptions, Navigation, WaitPolicy};
use cuecard_source::diagnostic::codes;
use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, with_browser};

/// Set for the copy of this program that only starts a browser.
const ONLY_START: &str = "CUECARD_TEST_ONLY_START";

#[test]
fn a_page_that_can_not_be_loaded_says_why() {
    with_browser(async |lab| {
        let mut failed = Vec::new();
        for url in [
            lab.site.url("nothing.html"),
            lab.site.url("status/503"),
            "http://127.0.0.1:1/".to_owned(),
            "http://nowhere.invalid/".to_owned(),
            lab.site.url("").replace("http:", "https:"),
        ] {
            let to = Navigation::To(url);
            let error = lab
                .bridge
                .navigate(&to, PATIENCE)
                .await
                .expect_err("it fails");
            assert!(error.is(codes::BROWSER_NAVIGATION), "{error}");
            failed.push(error.message);
        }
        let words = [
            "status 404",
            "status 503",
            "net::ERR_",
            "net::ERR_",
            "net::ERR_SSL",
        ];
        for (message, word) in failed.iter().zip(words) {
            assert!(message.contains(word), "{message}");
        }
        let to = Navigation::To(lab.site.url("api/hang"));
        let error = lab.bridge.navigate(&to, Duration::from_millis(500)).await;
        assert!(error.is_err_and(|error| error.is(codes::BROWSER_TIMEOUT)));
        // And it goes on.
        lab.open("login.html").await;
        lab.find("button", "Log in").await;
    });
}

#[test]
fn a_crash_and_a_driver_that_ends_are_errors_and_not_hangs() {
    with_browser(async |lab| {
        let to = Navigation::To("chrome://crash".to_owned());
        let crashed = lab
            .bridge
            .navigate(&to, PATIENCE)
            .await
            .expect_err("it crashes");
        let error = lab
            .bridge
            .settle(WaitPolicy::Whole)
            .await
            .expect_err("it has crashed");
        assert!(error.is(codes::BROWSER_CRASHED), "{crashed} {error}");
    });
    with_browser(async |lab| {
        lab.open("login.html").await;
        let driver = Pid::from_raw(lab.bridge.driver_process()).expect("a process");
        kill_process(driver, Signal::KILL).expect("it is there");
        let to = Navigation::To(lab.site.url("home.html"));
        let error = lab
            .bridge
            .navigate(&to, PATIENCE)
            .await
            .expect_err("nobody answers");
        assert!(error.is(codes::BROWSER_LOST), "{error}");
    });
}

#[test]
fn a_browser_that_does_not_start_is_named() {
    let Some(mut tools) = peers::browser_tools() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        tools.browser = Some("/bin/false".into());
        let options = BrowserOptions::new(tools, "/nowhere".into());
        let error = BrowserBridge::start(&options)
            .await
            .expect_err("it is no browser");
        assert!(error.is(codes::BROWSER_UNAVAILABLE), "{error}");
        assert!(
            error
                .message
                .starts_with("the browser `/bin/false` failed to start"),
            "{error}"
        );
    });
}

/// The copy of this program that the next test kills. It does nothing in an ordinary run.
#[test]
fn only_start_a_browser() {
    if std::env::var_os(ONLY_START).is_none() {
        return;
    }
    with_browser(async |lab| {
        lab.open("login.html").await;
        let mut out = std::io::stdout();
        std::io::Write::write_all(&mut out, b"started\n").expect("somebody reads");
        std::future::pending::<()>().await;
    });
}

#[test]
fn nothing_is_left_running_when_the_program_is_killed() {
    let Some(folder) = peers::folder() else {
        return;
    };
    let program = std::env::current_exe().expect("this program");
    let mut place = Scratch::new(&program).expect("a place");
    place.set(ONLY_START, "1").set(peers::VARIABLE, folder);
    let running = place
        .start(&[
            "--exact",
            "bridge::failures::only_start_a_browser",
            "--nocapture",
        ])
        .expect("it starts");
    assert!(
        running.wait_for(|stdout, _| stdout.contains("started")),
        "it starts a browser"
    );
    let home = place.home();
    assert!(count_with_home(&home) > 2, "node and the browser run");
    kill_process(
        Pid::from_raw(running.id()).expect("a process"),
        Signal::KILL,
    )
    .expect("it runs");
    let began = std::time::Instant::now();
    while count_with_home(&home) > 0 {
        assert!(
            began.elapsed() < PATIENCE,
            "{} are left",
            count_with_home(&home)
        );
        std::thread::yield_now();
    }
    running.finish();
}

/// How many processes have this folder as their home.
fn count_with_home(home: &Path) -> usize {
    let wanted = format!("HOME={}", home.display());
    let entries = std::fs::read_dir("/proc").expect("it can be read");
    entries
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("environ")).ok())
        .filter(|environ| {
            environ
                .split(|byte| *byte == 0)
                .any(|variable| variable == wanted.as_bytes())
        })
        .count()
}

//! `cuecard parse` with a model: our own stand-in for one, a timeline for each test, on the test site.

mod cassettes;
mod misbehaving;

use std::path::PathBuf;

use cuecard_llm::{MockLlm, RunningLlm};
use cuecard_testing::peers;
use cuecard_testing::scratch::{Ended, Finished, Scratch};
use cuecard_testing::site::Site;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::program;

/// A key that must stand nowhere.
const KEY: &str = "sk-very-secret-key-of-a-model";
/// The password of the test site, a secret too.
const PASSWORD: &str = "correct horse";

/// How what the model is asked begins in a timeline.
const INPUT: &str = "  - userInputs:";

/// A model, the site, and a place to run the program in.
struct Lab {
    runtime: Runtime,
    model: Option<RunningLlm>,
    site: Option<Site>,
    scratch: Scratch,
}

impl Lab {
    /// A model that plays this timeline. Nothing when peers are left out.
    fn new(timeline: &str) -> Option<Self> {
        let driver = peers::require("npm/node_modules/playwright-core")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime can be made");
        let mut scratch = program::scratch();
        let modules = scratch.work().join("node_modules");
        std::fs::create_dir(&modules).expect("a folder");
        std::os::unix::fs::symlink(driver, modules.join("playwright-core")).expect("a link");
        // Each sentence begins a conversation of its own, which is a scenario of its own.
        for (number, sentence) in timeline.split(INPUT).skip(1).enumerate() {
            let text = format!("name: sentence {number}\ntimeline:\n{INPUT}{sentence}");
            let file = format!("model/{number:02}.yaml");
            scratch.write(file, text).expect("writable");
        }
        let model = runtime
            .block_on(MockLlm::from_file(scratch.work().join("model")).start())
            .unwrap_or_else(|error| panic!("{error}"));
        scratch
            .set("OPENAI_BASE_URL", format!("{}/v1", model.base_url()))
            .set("ANTHROPIC_BASE_URL", model.base_url())
            .set("OPENAI_API_KEY", KEY)
            .set("ANTHROPIC_API_KEY", KEY)
            .set("CUECARD_VAR_PASSWORD", PASSWORD);
        Some(Self {
            runtime,
            model: Some(model),
            site: Some(Site::start().expect("the site starts")),
            scratch,
        })
    }

    /// Writes a scenario on the page for signing in.
    fn scenario(&self, options: &str, actions: &[&str]) -> PathBuf {
        let site = self.site.as_ref().expect("the site runs");
        let actions: Vec<String> = actions
            .iter()
            .map(|action| format!("  - {}\n", serde_json::json!(action)))
            .collect();
        let text = format!(
            "url: {}\nsecrets: [PASSWORD]\nvariables: {{EMAIL: ana@example.org}}\noptions: {options}\nactions:\n{}",
            site.url("/login.html"),
            actions.concat()
        );
        self.scratch.write("login.yaml", text).expect("writable")
    }

    fn parse(&self, arguments: &[&str]) -> Finished {
        let all: Vec<&str> = ["parse", "login.yaml"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.scratch.run(&all).expect("it can be started")
    }

    /// Stops the model: everything that it has was asked for, and nothing else.
    fn passed(&mut self) {
        let model = self.model.take().expect("the model runs");
        let verdict = self.runtime.block_on(model.stop());
        assert!(verdict.passed, "{:?}", verdict.findings);
    }

    /// That a text stands in no file of the place, but for those that the test wrote.
    fn is_nowhere(&self, text: &str) {
        let mut open = vec![self.scratch.work()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).expect("a file");
                let found = bytes
                    .windows(text.len())
                    .any(|window| window == text.as_bytes());
                assert!(!found, "{}", path.display());
            }
        }
    }
}

/// A turn of the model: a sentence that it is asked, and its calls, each in a reply of its own.
fn turn(sentence: &str, calls: &[&str]) -> String {
    let replies: Vec<String> = calls
        .iter()
        .map(|call| format!("  - llmResponse: []\n{}", self::call(call)))
        .collect();
    format!(
        "  - userInputs: [[0, {}]]\n{}",
        serde_json::json!(sentence),
        replies.concat()
    )
}

/// A call with these arguments, and what every call has.
fn call(arguments: &str) -> String {
    let surely = match arguments.contains("confidence") {
        true => "",
        false => ", isAmbiguous: false, confidence: 0.95",
    };
    format!(
        "  - agentToolUse: {{toolName: perform_browser_action, args: {{{arguments}, description: what it does{surely}}}}}\n"
    )
}

fn result(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {}", finished.stdout, finished.stderr))
}

fn exited(finished: &Finished, code: i32) {
    assert_eq!(
        finished.ended,
        Ended::Exited(code),
        "{}\n{}",
        finished.stdout,
        finished.stderr
    );
    assert!(
        finished.left_behind.is_empty(),
        "{:?}",
        finished.left_behind
    );
}

/// Sentences of the login flow that the rules can't read, and what a model makes of them.
const FLOW: [&str; 4] = [
    "my address is {{EMAIL}}",
    "my secret word is {{PASSWORD}}",
    "let me in",
    "verify that 'You are signed in.' is visible",
];

fn flow() -> String {
    [
        turn(
            FLOW[0],
            &["actionType: input, targetSelector: highlightIndex=2, inputValue: '{{EMAIL}}'"],
        ),
        turn(
            FLOW[1],
            &["actionType: input, targetSelector: highlightIndex=3, inputValue: '{{PASSWORD}}'"],
        ),
        // At first an element that is not there.
        turn(
            FLOW[2],
            &[
                "actionType: click, targetSelector: highlightIndex=77",
                "actionType: click, targetSelector: highlightIndex=6",
            ],
        ),
    ]
    .concat()
}

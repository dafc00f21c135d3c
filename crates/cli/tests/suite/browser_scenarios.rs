//! The browser scenarios of `tests/scenarios/browser/`: the rules read each of them, their steps replay, and what they
//! are exported to runs. Ten times is for `benches/browser.py`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use cuecard_core::formats::browser;
use cuecard_core::page::rules::{Understanding, understand};
use cuecard_core::source::SourceFile;
use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;
use cuecard_testing::{peers, repository_root};
use serde_json::{Value, json};

use crate::program::{self, told};

/// How many scenarios there are.
const COUNT: usize = 20;

/// Scenarios that are replayed three times, the others once: forms and secrets, twins, frames of other sites.
const THRICE: [&str; 3] = ["01-sign-in", "03-cart", "09-frames"];

/// Scenarios whose exports are run here; those of all are run by the benchmark, and `docs/browser-export.md` tells what
/// some of them can't say.
const EXPORTED: [&str; 2] = ["01-sign-in", "06-dialogs"];

/// Values of the secrets; none may stand in steps or in what is printed.
const SECRETS: [(&str, &str); 3] = [
    ("PASSWORD", "correct horse"),
    ("MISTAKE", "battery staple"),
    ("CARD", "4111 1111 1111 1111"),
];

/// How long one run may take before a test fails.
const LIMIT: Duration = Duration::from_secs(300);

/// What each is exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A tool-call scenario for chrome-devtools-mcp.
    DevTools,
    /// The same for @playwright/mcp.
    PlaywrightServer,
    /// A test for Playwright's own runner.
    Spec,
}

/// A running site, and a place with the scenarios and the driver in it.
struct Place {
    site: Site,
    scratch: Scratch,
    modules: PathBuf,
}

#[test]
fn the_rules_understand_every_sentence() {
    let names = names();
    assert_eq!(names.len(), COUNT, "{names:?}");
    for name in &names {
        let actions = actions(name);
        assert!(
            (5..=25).contains(&actions.len()),
            "{name}: {}",
            actions.len()
        );
        for action in actions {
            let understood = understand(&action);
            assert!(
                matches!(understood, Understanding::Understood(_)),
                "{name}: {action}\n{understood:?}"
            );
        }
    }
}

#[test]
fn every_scenario_is_parsed_by_rules_alone() {
    let Some(steps) = steps() else {
        return;
    };
    let failed: Vec<&str> = steps
        .values()
        .filter_map(|parsed| parsed.as_ref().err().map(String::as_str))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    for (name, text) in whole(steps) {
        let document: Value = serde_json::from_str(text).expect("steps are JSON");
        let steps = document["testSteps"].as_array().expect("a list");
        assert_eq!(steps.len(), actions(name).len(), "{name}");
        for step in steps {
            assert_eq!(step["translator"], "rules", "{name}: {step:#}");
        }
        for (secret, value) in SECRETS {
            assert!(!text.contains(value), "{name} holds the value of {secret}");
        }
    }
}

#[test]
fn what_was_parsed_replays() {
    let (Some(steps), Some(place)) = (steps(), Place::new()) else {
        return;
    };
    let mut failed = Vec::new();
    for (name, text) in whole(steps) {
        let times = if THRICE.contains(&name) { 3 } else { 1 };
        for time in 1..=times {
            let file = place.write(&format!("{name}.json"), text);
            let played = place.cuecard(&["play", &file, "--json"]);
            if let Err(said) = played.and_then(|said| all_passed(&said, actions(name).len())) {
                failed.push(format!("{name}, time {time} of {times}: {said}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// In the next release of the market the apples are gone, and the pears stand where they stood.
#[test]
fn what_is_gone_is_not_taken_for_its_neighbour() {
    let (Some(steps), Some(place)) = (steps(), Place::new()) else {
        return;
    };
    let (_, text) = whole(steps)
        .find(|(name, _)| *name == "10-market")
        .expect("it is parsed");
    let next = text.replace("{{BASE}}/market.html", "{{BASE}}/next/market.html");
    let mut next: Value = serde_json::from_str(&next).expect("steps are JSON");
    // Without the assertions, which would stop it before.
    let steps = next["testSteps"].as_array_mut().expect("a list");
    steps.retain(|step| step["action"] == "click");
    let file = place.write("market.json", &next.to_string());
    let played = program::run(&place.scratch, &["play", &file]);
    assert_eq!(played.code(), Some(1), "{}", told(&played));
    for fruit in ["pears", "plums"] {
        let count = place.site.count(&format!("more-{fruit}"));
        assert_eq!(count, 0, "{fruit}\n{}", told(&played));
    }
}

#[test]
fn exports_play_through_chrome_devtools() {
    exports_run(Form::DevTools);
}

#[test]
fn exports_play_through_playwrights_server() {
    exports_run(Form::PlaywrightServer);
}

#[test]
fn exports_run_by_playwrights_own_runner() {
    exports_run(Form::Spec);
}

/// Exports steps whole, and runs what comes of them.
#[track_caller]
fn exports_run(form: Form) {
    let (Some(steps), Some(place)) = (steps(), Place::new()) else {
        return;
    };
    if !place.prepare(form) {
        return;
    }
    let mut failed = Vec::new();
    for (name, text) in whole(steps).filter(|(name, _)| EXPORTED.contains(name)) {
        let file = place.write(&format!("{name}.json"), text);
        match place.export(&file, name, form) {
            Err(said) => failed.push(format!("{name} is not exported: {said}")),
            Ok(exported) if exported.is_whole => {
                if let Err(said) = place.run(&exported.file, form) {
                    failed.push(format!("{name}: {said}"));
                }
            }
            Ok(_) => failed.push(format!("{name} is exported with a step left out")),
        }
    }
    assert!(failed.is_empty(), "{form:?}\n{}", failed.join("\n\n"));
}

/// The steps of all scenarios by their names, or what was said instead. They are parsed once, by the test that needs
/// them first. Nothing when peers are left out.
fn steps() -> Option<&'static BTreeMap<String, Result<String, String>>> {
    static STEPS: OnceLock<Option<BTreeMap<String, Result<String, String>>>> = OnceLock::new();
    STEPS
        .get_or_init(|| {
            let place = Place::new()?;
            let parsed = |name: String| {
                let file = format!("{name}.yaml");
                let said = place.cuecard(&["parse", &file, "--translator", "rules"]);
                let said = said.map_err(|said| format!("{name}: {said}"));
                (name, said)
            };
            Some(names().into_iter().map(parsed).collect())
        })
        .as_ref()
}

/// Those that were parsed as a whole.
fn whole(steps: &BTreeMap<String, Result<String, String>>) -> impl Iterator<Item = (&str, &str)> {
    steps
        .iter()
        .filter_map(|(name, text)| Some((name.as_str(), text.as_deref().ok()?)))
}

/// An export, and whether every step is in it.
struct Exported {
    file: String,
    is_whole: bool,
}

impl Place {
    /// Nothing when peers are left out.
    fn new() -> Option<Self> {
        let driver = peers::require("npm/node_modules/playwright-core")?;
        peers::require_program("node")?;
        peers::require_program("chromium")?;
        let modules = driver.parent()?.to_owned();
        let mut scratch = program::scratch();
        scratch.limit(LIMIT);
        let site = Site::start().expect("the site starts");
        let base = site.url("").trim_end_matches('/').to_owned();
        scratch.set("CUECARD_VAR_BASE", base);
        for (name, value) in SECRETS {
            scratch.set(format!("CUECARD_VAR_{name}"), value);
        }
        scratch.copy_tree(&folder()).expect("readable");
        std::os::unix::fs::symlink(&modules, scratch.work().join("node_modules"))
            .expect("a link can be made");
        Some(Self {
            site,
            scratch,
            modules,
        })
    }

    /// Writes what the runs of a form need. False when its peer is left out.
    fn prepare(&self, form: Form) -> bool {
        let chromium = peers::require_program("chromium");
        let (script, args) = match form {
            Form::DevTools => (
                "npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
                json!([
                    "--executablePath",
                    chromium,
                    "--headless",
                    "--isolated",
                    "--no-usage-statistics",
                    "--chromeArg=--no-sandbox",
                    "--chromeArg=--disable-gpu",
                    "--chromeArg=--disable-dev-shm-usage",
                ]),
            ),
            Form::PlaywrightServer => (
                "npm/node_modules/@playwright/mcp/cli.js",
                json!([
                    "--headless",
                    "--isolated",
                    "--no-sandbox",
                    "--executable-path",
                    chromium
                ]),
            ),
            Form::Spec => {
                let launch = json!({"executablePath": chromium, "args": ["--no-sandbox"]});
                let config =
                    json!({"workers": 1, "reporter": "line", "use": {"launchOptions": launch}});
                self.write(
                    "playwright.config.ts",
                    &format!("export default {config};\n"),
                );
                return peers::require("npm/node_modules/@playwright/test/cli.js").is_some();
            }
        };
        let Some(script) = peers::require(script) else {
            return false;
        };
        let mut all = vec![json!(script)];
        all.extend(args.as_array().cloned().unwrap_or_default());
        let config = json!({"mcpServers": {form.server(): {"command": "node", "args": all}}});
        self.write(".mcp.json", &config.to_string());
        true
    }

    fn write(&self, name: &str, text: &str) -> String {
        self.scratch.write(name, text).expect("writable");
        name.to_owned()
    }

    /// What the program prints if it succeeds, else all that it says.
    fn cuecard(&self, args: &[&str]) -> Result<String, String> {
        let finished = program::run(&self.scratch, args);
        match finished.code() {
            Some(0) => {
                for (secret, value) in SECRETS {
                    let printed = [&finished.stdout, &finished.stderr];
                    assert!(
                        printed.iter().all(|text| !text.contains(value)),
                        "{args:?} prints the value of {secret}"
                    );
                }
                Ok(finished.stdout)
            }
            _ => Err(told(&finished)),
        }
    }

    fn export(&self, file: &str, name: &str, form: Form) -> Result<Exported, String> {
        let (to, into) = match form {
            Form::Spec => ("playwright", format!("{name}.spec.ts")),
            _ => ("tool-call", format!("{name}.{}.json", form.server())),
        };
        let mut args = vec!["convert", file, "--to", to, "-o", &into, "--json"];
        if form != Form::Spec {
            args.extend(["--server", form.server()]);
        }
        let said = self.cuecard(&args)?;
        let document: Value = serde_json::from_str(&said).expect("one document");
        let findings = document["diagnostics"].as_array().expect("a list");
        let is_left_out = |finding: &Value| {
            let message = finding["message"].as_str();
            message.is_some_and(|message| message.contains("left out"))
        };
        Ok(Exported {
            is_whole: !findings.iter().any(is_left_out),
            file: into,
        })
    }

    fn run(&self, file: &str, form: Form) -> Result<(), String> {
        if form != Form::Spec {
            // A scenario doesn't say which of its variables are secrets.
            let text = program::read(&self.scratch, file);
            let secrets = SECRETS.map(|(secret, _)| secret);
            let used = secrets
                .into_iter()
                .filter(|secret| text.contains(&format!("{{{{{secret}}}}}")));
            let mut args = vec!["play", file, "--json"];
            args.extend(used.flat_map(|secret| ["--secret", secret]));
            return self.cuecard(&args).map(drop);
        }
        let runner = self.modules.join("@playwright/test/cli.js");
        let base = self.site.url("");
        let ran = Command::new("node")
            .args([runner.as_path(), Path::new("test"), Path::new(file)])
            .current_dir(self.scratch.work())
            .env("CI", "1")
            .env("CUECARD_VAR_BASE", base.trim_end_matches('/'))
            .envs(SECRETS.map(|(name, value)| (format!("CUECARD_VAR_{name}"), value)))
            .output()
            .expect("node starts");
        let said = String::from_utf8_lossy(&ran.stdout);
        match ran.status.success() && said.contains("1 passed") {
            true => Ok(()),
            false => Err(said.into_owned()),
        }
    }
}

impl Form {
    /// What configs call the server.
    fn server(self) -> &'static str {
        match self {
            Self::DevTools => "chrome-devtools",
            Self::PlaywrightServer | Self::Spec => "playwright",
        }
    }
}

/// Whether as many steps passed as there are, in the document of `play --json`.
fn all_passed(said: &str, count: usize) -> Result<(), String> {
    let document: Value = serde_json::from_str(said).map_err(|error| error.to_string())?;
    let passed = document["step_results"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|step| step["status"] == "passed")
        .count();
    match passed == count {
        true => Ok(()),
        false => Err(format!("{passed} of {count} steps passed\n{document:#}")),
    }
}

fn folder() -> PathBuf {
    repository_root().join("tests/scenarios/browser")
}

/// The names of all scenarios, in order.
fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the scenarios")
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".yaml")?.to_owned())
        })
        .collect();
    names.sort();
    names
}

/// The sentences of a scenario.
#[track_caller]
fn actions(name: &str) -> Vec<String> {
    let file = format!("{name}.yaml");
    let text = fs::read_to_string(folder().join(&file)).expect("readable");
    let reading = browser::read(&SourceFile::new(file, text));
    assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
    let scenario = reading.scenario.expect("a scenario");
    scenario
        .actions
        .into_iter()
        .map(|action| action.text)
        .collect()
}

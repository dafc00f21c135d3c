//! `cuecard parse` with a real Chromium on the test site, by the rules alone.

mod flows;
mod mistakes;
mod secrets;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Finished, Scratch};
use cuecard_testing::site::Site;
use serde_json::{Value, json};

use crate::program::{self, run_dirs, told};

/// The program beside a running test site.
pub(crate) struct Lab {
    pub(crate) site: Site,
    pub(crate) scratch: Scratch,
}

/// A parse that is over.
pub(crate) struct Parsed {
    pub(crate) json: Value,
    pub(crate) text: String,
    pub(crate) stderr: String,
}

impl Lab {
    /// Nothing when peers are left out.
    pub(crate) fn new() -> Option<Self> {
        let driver = peers::require("npm/node_modules/playwright-core")?;
        let mut scratch = program::scratch();
        // Many browsers may share a small machine.
        scratch.limit(std::time::Duration::from_secs(240));
        let packages = driver.parent()?;
        std::os::unix::fs::symlink(packages, scratch.work().join("node_modules"))
            .expect("a link can be made");
        Some(Self {
            site: Site::start().expect("the site starts"),
            scratch,
        })
    }

    /// Parses these actions on a page of the site. The exit code must be `exit`.
    #[track_caller]
    pub(crate) fn parse(&self, path: &str, actions: &[&str], exit: i32) -> Parsed {
        self.parse_with(path, json!(actions), json!({}), &[], exit)
    }

    /// The same with options, and with more arguments.
    #[track_caller]
    pub(crate) fn parse_with(
        &self,
        path: &str,
        actions: Value,
        more: Value,
        args: &[&str],
        exit: i32,
    ) -> Parsed {
        let mut scenario = json!({"url": self.site.url(path), "actions": actions});
        for (key, value) in more.as_object().expect("an object") {
            scenario[key] = value.clone();
        }
        self.scratch
            .write("scenario.json", scenario.to_string())
            .expect("writable");
        let args = [&["parse", "scenario.json"], args].concat();
        Parsed::of(program::run(&self.scratch, &args), exit)
    }

    /// Every file of the run directories, with its content.
    pub(crate) fn run_files(&self) -> Vec<(String, Vec<u8>)> {
        let mut waiting = run_dirs(&self.scratch);
        let mut files = Vec::new();
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => waiting.push(path),
                    false => {
                        let content = std::fs::read(&path).expect("a file");
                        files.push((path.display().to_string(), content));
                    }
                }
            }
        }
        files
    }
}

impl Parsed {
    #[track_caller]
    fn of(finished: Finished, exit: i32) -> Self {
        assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
        let json = serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", told(&finished)));
        Self {
            json,
            text: finished.stdout,
            stderr: finished.stderr,
        }
    }

    pub(crate) fn steps(&self) -> &[Value] {
        self.json["testSteps"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The selectors of all steps, empty where there is none.
    pub(crate) fn selectors(&self) -> Vec<&str> {
        self.steps()
            .iter()
            .map(|step| step["selector"].as_str().unwrap_or_default())
            .collect()
    }

    /// The first error.
    #[track_caller]
    pub(crate) fn error(&self) -> &Value {
        assert!(!self.json["errors"].is_null(), "{}", self.stderr);
        &self.json["errors"][0]
    }
}

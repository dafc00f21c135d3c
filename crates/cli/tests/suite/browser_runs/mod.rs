//! Runs with a real Chromium as people see them: how the browser is shown and recorded, what stays of a run, and what
//! stays of one that was broken off.

mod broken_off;
mod flags;
mod traces;

use cuecard_testing::scratch::Finished;
use serde_json::Value;

use crate::parse::Lab;
use crate::program::{self, told};

/// Sentences on `dialogs.html`.
const SENTENCES: [&str; 3] = [
    "click 'Open settings'",
    "click 'Save'",
    "verify 'Settings: save' is visible",
];

impl Lab {
    /// Runs the program. The exit code must be `exit`.
    #[track_caller]
    fn run(&self, args: &[&str], exit: i32) -> Finished {
        let finished = program::run(&self.scratch, args);
        assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
        finished
    }

    /// Parses the sentences into `steps.json`.
    #[track_caller]
    fn make_steps(&self, args: &[&str]) -> Finished {
        let scenario =
            serde_json::json!({"url": self.site.url("dialogs.html"), "actions": SENTENCES});
        self.scratch
            .write("scenario.json", scenario.to_string())
            .expect("writable");
        let args = [&["parse", "scenario.json", "-o", "steps.json"], args].concat();
        self.run(&args, 0)
    }
}

/// A document on standard output.
#[track_caller]
fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", told(finished)))
}

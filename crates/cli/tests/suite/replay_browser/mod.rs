//! Steps that were made on the pages of the test site, played again: on the same pages, and on their next release.

mod bad_input;
mod maker;
mod playing;
mod report;
mod said;
pub(crate) mod verdicts;

use std::path::PathBuf;
use std::sync::Arc;

use cuecard_browser::session::{Program, Session};
use cuecard_browser::stage::{LiveStage, Values};
use cuecard_browser_steps::model::BrowserOptions;
use cuecard_runtime::policy::{Policy, PolicyOptions};
use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;

use crate::bridge::tempfile_dir::Folder;
use crate::program;

/// Runs `test` with a stage on the test site, whose pages tell what was clicked.
fn with_stage(test: impl AsyncFnOnce(&mut LiveStage, &Site)) {
    with_site(Site::start_watched, test);
}

/// The same with a site of another kind.
pub(crate) fn with_site(
    start: impl FnOnce() -> std::io::Result<Site>,
    test: impl AsyncFnOnce(&mut LiveStage, &Site),
) {
    let Some(tools) = peers::browser_tools() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let folder = Folder::new();
        let working_directory = folder.path();
        let modules = working_directory.join("node_modules");
        std::os::unix::fs::symlink(tools.driver.parent().expect("a folder"), modules)
            .expect("a link can be made");
        for file in [
            "note.txt",
            "passport.pdf",
            "report.pdf",
            "schematic.png",
            "cv.pdf",
        ] {
            std::fs::write(working_directory.join(file), "A note.\n").expect("what is uploaded");
        }
        let policy = Policy::new(PolicyOptions {
            root: working_directory.clone(),
            working_directory: working_directory.clone(),
            ..PolicyOptions::default()
        });
        let session = Session {
            program: Program::default(),
            environment: &tools.environment,
            working_directory: &working_directory,
            options: &BrowserOptions::default(),
            storage: None,
            policy: Arc::new(policy.expect("a policy")),
            root: working_directory.clone(),
            downloads: working_directory.join("downloads"),
            values: Values::default(),
        };
        let mut stage = session.start().await.expect("the browser starts");
        let site = start().expect("the site starts");
        test(&mut stage, &site).await;
        stage.stop().await;
    });
}

/// A place to run the program in with a browser, and the site. Nothing when peers are left out.
fn place() -> Option<(Scratch, Site)> {
    let tools = peers::browser_tools()?;
    let mut scratch = program::scratch();
    scratch.limit(crate::bridge::PATIENCE * 2);
    let modules = scratch.work().join("node_modules");
    std::os::unix::fs::symlink(tools.driver.parent().expect("a folder"), modules)
        .expect("a link can be made");
    let site = Site::start_watched().expect("the site starts");
    Some((scratch, site))
}

/// The files of the last run.
fn run_files(scratch: &Scratch) -> Vec<PathBuf> {
    let runs = program::run_dirs(scratch);
    let last = runs.last().expect("a run");
    std::fs::read_dir(last.join("files")).map_or_else(
        |_| Vec::new(),
        |entries| {
            entries
                .filter_map(Result::ok)
                .map(|entry| entry.path())
                .collect()
        },
    )
}

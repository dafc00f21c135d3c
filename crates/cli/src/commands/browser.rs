//! `cuecard browser install`: the driver into the data folder, and is there a browser?

use std::ffi::OsString;

use cuecard_browser::{Installed, install};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use serde_json::json;

use crate::args::{BrowserArgs, BrowserCommand};
use crate::asynchronous::asynchronously;
use crate::exit_code::ExitCode;
use crate::output::{Output, stdout};

pub(crate) fn run(
    args: &BrowserArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let BrowserCommand::Install { json } = args.what;
    let done = asynchronously(async |stop| {
        tokio::select! {
            done = install(environment) => Some(done),
            () = stop.cancelled() => None,
        }
    });
    let installed = match done {
        Ok(Some(Ok(installed))) => installed,
        Ok(Some(Err(error))) => {
            let mut diagnostic = Diagnostic::error(codes::BROWSER_UNAVAILABLE, error.message);
            if let Some(help) = error.help {
                diagnostic = diagnostic.with_help(help);
            }
            output.diagnostics(&[diagnostic], json, &Redactor::default());
            return ExitCode::CouldNotRun;
        }
        Ok(None) => return ExitCode::Interrupted,
        Err(exit) => return exit,
    };
    match json {
        true => stdout(&format!("{:#}\n", document(&installed))),
        false => stdout(&text(&installed, output)),
    }
    match installed.browser {
        Some(_) => ExitCode::Passed,
        None => ExitCode::CouldNotRun,
    }
}

fn text(installed: &Installed, output: &Output) -> String {
    let style = output.stdout;
    let good = style.good(style.symbol("✓", "ok"));
    let how = match installed.was_there {
        true => "already installed",
        false => "installed",
    };
    let driver = installed.driver.display();
    let browser = match &installed.browser {
        Some(browser) => format!("{good} browser          {}", browser.display()),
        None => format!(
            "{} browser          not found  {}",
            style.bad(style.symbol("✗", "x")),
            installed.browser_help.as_deref().unwrap_or_default()
        ),
    };
    format!("{good} playwright-core  {how}  {driver}\n{browser}\n")
}

fn document(installed: &Installed) -> serde_json::Value {
    json!({
        "success": installed.browser.is_some(),
        "driver": {"path": installed.driver, "was_there": installed.was_there},
        "browser": {"path": installed.browser, "help": installed.browser_help},
    })
}

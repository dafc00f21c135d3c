//! `cuecard browser install`: the driver into the data folder, and is there a browser?

use cuecard_browser::{Installed, install};
use cuecard_report::Style;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use serde_json::json;

use crate::args::{BrowserArgs, BrowserCommand};
use crate::asynchronous::interruptibly;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;

pub(crate) fn run(args: &BrowserArgs, context: &Context) -> Result<ExitCode, Stop> {
    let BrowserCommand::Install { .. } = args.what;
    let installed = interruptibly(async || install(&context.environment).await)?;
    let installed = installed.map_err(|error| {
        let mut found = Diagnostic::error(codes::BROWSER_UNAVAILABLE, error.message);
        found.help = error.help;
        Stop::could_not_run(found)
    })?;
    let (document, text) = (|| document(&installed), |style| text(&installed, style));
    (context.output).result(&Redactor::default(), document, text);
    Ok(match installed.browser {
        Some(_) => ExitCode::Passed,
        None => ExitCode::CouldNotRun,
    })
}

fn text(installed: &Installed, style: Style) -> String {
    let good = style.mark(true);
    let how = match installed.was_there {
        true => "already installed",
        false => "installed",
    };
    let driver = installed.driver.display();
    let browser = match &installed.browser {
        Some(browser) => format!("{good} browser          {}", browser.display()),
        None => format!(
            "{} browser          not found  {}",
            style.mark(false),
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

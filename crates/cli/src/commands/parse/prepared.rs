//! Everything that is known before a browser starts.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use cuecard_browser::session::{Missing, bind};
use cuecard_browser::stage::Values;
use cuecard_browser::storage_state::StorageFile;
use cuecard_browser_steps::format::{Declared, read};
use cuecard_browser_steps::model::BrowserScenario;
use cuecard_runtime::policy::Policy;
use cuecard_runtime::text_file::folder_of;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::document::read_document;
use cuecard_source::value::Redactor;
use serde_json::{Value as Json, json};

use crate::args::ParseArgs;
use crate::commands::browser_stage;
use crate::context::{Problems, Stop};
use crate::inputs;

/// What is to be parsed, and with what.
pub(super) struct Prepared {
    pub(super) scenario: BrowserScenario,
    /// `options` as the author wrote them.
    pub(super) options: Json,
    pub(super) request_values: Values,
    pub(super) secrets: Vec<String>,
    pub(super) storage: Option<StorageFile>,
    pub(super) policy: Policy,
    pub(super) root: PathBuf,
    pub(super) working_directory: PathBuf,
    pub(super) warnings: Vec<Diagnostic>,
}

impl Prepared {
    /// What must not be told, that of the storage state too.
    pub(super) fn hidden(&self) -> Redactor {
        let mut hidden = self.request_values.redactor().clone();
        hidden.add(
            self.storage
                .iter()
                .flat_map(|storage| storage.secrets.clone()),
        );
        hidden
    }
}

/// Reads the scenario and everything that belongs to it.
///
/// # Errors
/// With all that is wrong.
pub(super) fn prepared(
    args: &ParseArgs,
    environment: &[(OsString, OsString)],
) -> Result<Prepared, Stop> {
    let source = inputs::read_source(&args.file).map_err(Stop::invalid)?;
    let reading = read(&source);
    let mut found = reading.diagnostics;
    let Some(mut scenario) = reading.scenario else {
        return Err(Stop::invalid(found));
    };
    if let Some(translator) = args.reading.translator {
        scenario.options.translator = translator;
    }
    let variables = inputs::variables_of(&args.variables, environment);
    found.extend(variables.diagnostics);
    let mut ask = |name: &str| inputs::secret(name, environment);
    let declared = Declared::of_scenario(&scenario);
    let resolved = bind(
        &declared,
        &variables.given,
        &args.variables.secrets,
        Missing::Ask(&mut ask),
    );
    found.extend(resolved.diagnostics);
    found.extend(declared.check(&source, &resolved.names, true));
    found.extend(browser_stage::check(
        &args.browser,
        !resolved.secrets.is_empty(),
    ));
    if args.reading.interactive && !io::stdin().is_terminal() {
        found.push(
            Diagnostic::error(codes::ARGUMENT, "`--interactive` requires a terminal")
                .with_help("run it in a terminal, or omit the option"),
        );
    }
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let storage = browser_stage::storage_state(&scenario.options, folder_of(&args.file));
    let policy = inputs::policy(&args.safety, Some(&args.runs.run_dir), &working_directory);
    let mut found = Problems(found);
    let checked = found.take(storage).zip(found.take(policy));
    let Some((storage, policy)) = checked.filter(|_| !any_error(&found.0)) else {
        return Err(Stop::invalid(found.0));
    };
    Ok(Prepared {
        options: options(&source),
        request_values: resolved.values,
        secrets: resolved.secrets,
        storage,
        policy,
        root: args.safety.root_in(&working_directory),
        working_directory,
        warnings: found
            .0
            .into_iter()
            .filter(|diagnostic| diagnostic.severity != Severity::Error)
            .collect(),
        scenario,
    })
}

/// `options` as they stand in the file.
fn options(source: &SourceFile) -> Json {
    read_document(source)
        .root
        .as_ref()
        .and_then(|root| root.get("options"))
        .map_or_else(|| json!({}), cuecard_source::json::Node::to_value)
}

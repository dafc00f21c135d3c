//! Reads what the user names: scenarios, variables, secrets, environment files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::policy::{Policy, PolicyOptions};
pub(crate) use cuecard_runtime::text_file::io_reason;
use cuecard_runtime::{env_file, text_file};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::json;
use cuecard_source::value::{is_credential, names_credential, without_credentials};
use cuecard_timeline::format::Symbols;
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Given, help_on_unknown_variable, short_secret};
use serde_json::Map;
use tokio::task::spawn_blocking;

use crate::args::{EnvFileArgs, SafetyArgs, SymbolArgs, VariableArgs};
use crate::asynchronous::until_stopped;
use crate::signals::leave_now;

/// Variables that hold lists of symbols, and whether `\,` is a comma of a value in them.
const SYMBOL_VARIABLES: &[(&str, bool)] =
    &[("AH_SCENARIO_DEFINES", false), ("CUECARD_DEFINES", true)];

/// The prefix of variables in the environment.
const VARIABLE_PREFIX: &str = "CUECARD_VAR_";

/// Reads a file, or standard input for `-`.
pub(crate) fn read_source(path: &Path) -> Result<SourceFile, Diagnostic> {
    let source = match path.as_os_str() == "-" {
        true => text_file::read_from(io::stdin().lock(), "<standard input>", "-"),
        false => text_file::read(path, &path.display().to_string()),
    };
    source.map_err(|mut error| {
        // A variable in the place of a file has its value.
        error.message = without_credentials(&error.message).into_owned();
        error
    })
}

/// That a file can't be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("`{}` can't be read: {}", path.display(), io_reason(error));
    Diagnostic::error(codes::FILE_READ, message)
}

/// The folder that relative paths of the command line start in.
pub(crate) fn working_directory() -> Result<PathBuf, Diagnostic> {
    std::env::current_dir().map_err(|error| {
        let message = format!("the working directory can't be read: {}", io_reason(&error));
        Diagnostic::error(codes::FILE_READ, message)
    })
}

/// The values that the user gave for variables, weakest first, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// In order of strength.
    pub given: Vec<Given>,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
    /// What the environment file sets.
    pub of_file: Vec<(String, String)>,
    /// The process's environment with the environment file over it: for configs.
    pub environment: BTreeMap<String, String>,
}

/// The variables of the environment that are text.
pub(crate) fn text_environment(environment: &[(OsString, OsString)]) -> BTreeMap<String, String> {
    environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .collect()
}

/// Values without a word on the command line: those of the environment, and of the file of `--env` over it.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn variables_of_file(
    env_file: Option<&PathBuf>,
    environment: &[(OsString, OsString)],
) -> Result<Variables, Vec<Diagnostic>> {
    let given = VariableArgs {
        env: EnvFileArgs {
            env_file: env_file.cloned(),
        },
        ..VariableArgs::default()
    };
    let variables = variables_of(&given, environment);
    match any_error(&variables.diagnostics) {
        true => Err(variables.diagnostics),
        false => Ok(variables),
    }
}

/// Collects variables: environment file < `CUECARD_VAR_*` < `--var` and `--var-json`.
pub(crate) fn variables_of(args: &VariableArgs, environment: &[(OsString, OsString)]) -> Variables {
    let mut variables = Variables {
        environment: text_environment(environment),
        ..Variables::default()
    };
    let is_secret = |name: &str| args.secrets.iter().any(|secret| secret == name);
    let is_hidden = |name: &str| args.hide_environment || is_secret(name);
    if let Some(path) = &args.env.env_file {
        match read_source(path) {
            Ok(source) => {
                let (pairs, diagnostics) = env_file::parse(&source);
                variables.diagnostics.extend(diagnostics);
                for (name, value) in &pairs {
                    let (value, from) = (value.as_str().into(), path.display().to_string());
                    variables.give(name, value, from, is_hidden(name), true);
                }
                variables.environment.extend(pairs.iter().cloned());
                variables.of_file = pairs;
            }
            Err(error) => variables.diagnostics.push(error),
        }
    }
    let from_environment: Vec<(String, String)> = variables
        .environment
        .iter()
        .filter_map(|(name, value)| {
            Some((
                name.strip_prefix(VARIABLE_PREFIX)?.to_owned(),
                value.clone(),
            ))
        })
        .collect();
    for (name, value) in from_environment {
        let (secret, from) = (is_hidden(&name), format!("{VARIABLE_PREFIX}{name}"));
        variables.give(&name, value.into(), from, secret, true);
    }
    for text in &args.variables {
        match pair(text, "--var", "NAME=VALUE") {
            Ok((name, value)) => {
                let (secret, from) = (is_secret(name), "--var".to_owned());
                variables.give(name, value.into(), from, secret, false);
            }
            Err(error) => variables.diagnostics.push(error),
        }
    }
    for text in &args.json_variables {
        let values = match text.strip_prefix('@') {
            Some(file) => json_values_of(Path::new(file)),
            None => pair(text, "--var-json", "NAME=JSON, or @FILE").and_then(|(name, text)| {
                let value = json_value(text).map_err(|error| {
                    let is_hidden = is_secret(name) || names_credential(name);
                    let error = match is_hidden {
                        true => String::new(),
                        false => format!(": {error}"),
                    };
                    let message =
                        format!("the value of `--var-json {name}` can't be read as JSON{error}");
                    Diagnostic::error(codes::ARGUMENT, message).with_help(format!(
                        "quote strings: --var-json '{name}=\"text\"', or use --var {name}=text"
                    ))
                });
                Ok(Map::from_iter([(name.to_owned(), value?)]))
            }),
        };
        match values {
            Ok(values) => {
                for (name, value) in values {
                    let secret = is_secret(&name);
                    variables.give(&name, value, "--var-json".to_owned(), secret, false);
                }
            }
            Err(error) => variables.diagnostics.push(error),
        }
    }
    for name in &args.secrets {
        let given = variables
            .given
            .iter()
            .rev()
            .find(|given| given.name == *name);
        let short = given.and_then(|given| short_secret(name, &given.value));
        variables.diagnostics.extend(short);
        if let Some(empty) = given.filter(|given| given.value == "") {
            let message = format!("the secret `{name}` from {} is empty", empty.from);
            variables
                .diagnostics
                .push(Diagnostic::warning(codes::ARGUMENT, message));
        }
    }
    for given in &mut variables.given {
        // A short value that another one replaced hides nothing, and stands in every second number.
        let is_hidden = given.secret && short_secret(&given.name, &given.value).is_none();
        given.secret = is_hidden || is_credential(&given.name, &given.value);
    }
    variables
}

/// The same arguments with each `--var-json @FILE` as the variables that are in it, so that the file is read once and each
/// variable can be looked at.
pub(crate) fn with_json_files(args: &VariableArgs) -> Result<VariableArgs, Diagnostic> {
    let mut args = args.clone();
    let mut pairs = Vec::new();
    for pair in args.json_variables {
        match pair.strip_prefix('@') {
            Some(file) => {
                let values = json_values_of(Path::new(file))?;
                pairs.extend(values.iter().map(|(name, value)| format!("{name}={value}")));
            }
            None => pairs.push(pair),
        }
    }
    args.json_variables = pairs;
    Ok(args)
}

/// The variables in a file that is a JSON object of them; `-` is standard input.
fn json_values_of(path: &Path) -> Result<Map<String, serde_json::Value>, Diagnostic> {
    let source = read_source(path)?;
    let error = match json_value(source.text()) {
        Ok(serde_json::Value::Object(values)) if !values.contains_key("") => return Ok(values),
        Ok(serde_json::Value::Object(_)) => "a variable in it has no name".to_owned(),
        Ok(_) => "it is no object".to_owned(),
        Err(error) => error,
    };
    let message = format!("`--var-json @{}` can't be read: {error}", path.display());
    let help = "the file has the variables as members of a JSON object: {\"NAME\": \"value\"}";
    Err(Diagnostic::error(codes::ARGUMENT, message).with_help(help))
}

/// The value of a JSON text that somebody typed.
///
/// # Errors
/// What is wrong with it, which is also a duplicate key.
pub(crate) fn json_value(text: &str) -> Result<serde_json::Value, String> {
    let parsed = json::parse(text, &json::Limits::default());
    match (parsed.root, parsed.errors.first()) {
        (Some(root), None) => Ok(root.to_value()),
        (_, Some(error)) => Err(error.message.clone()),
        (None, None) => Err("it is empty".to_owned()),
    }
}

/// The name and the value of a text like `NAME=VALUE`; `form` is how it is written.
///
/// # Errors
/// One of them is missing. The text is not repeated: it may be a secret that lacks its name.
pub(crate) fn pair<'t>(
    text: &'t str,
    option: &str,
    form: &str,
) -> Result<(&'t str, &'t str), Diagnostic> {
    let split = text.split_once('=');
    let named = split.filter(|(name, _)| !name.is_empty());
    named
        .map(|(name, value)| (name.trim(), value))
        .ok_or_else(|| {
            let what = if split.is_some() { "name" } else { "value" };
            let error = Diagnostic::error(codes::ARGUMENT, format!("`{option}` has no {what}"));
            error.with_help(format!("write {option} {form}"))
        })
}

impl Variables {
    fn give(
        &mut self,
        name: &str,
        value: serde_json::Value,
        from: String,
        secret: bool,
        may_be_unknown: bool,
    ) {
        self.given.push(Given {
            name: name.to_owned(),
            value,
            from,
            secret,
            may_be_unknown,
        });
    }

    /// Prompts for a secret of a scenario on a terminal, unless it was given. That of no variable would hide nothing.
    pub(crate) fn secret_for(&mut self, name: &str, scenario: &ToolCallScenario) {
        if self.given.iter().any(|given| given.name == name) {
            return;
        }
        let mut declared = scenario.variables.iter();
        let Some(variable) = declared.find(|variable| variable.name == name) else {
            let message = format!("`--secret {name}`: the scenario has no variable `{name}`");
            let error = Diagnostic::error(codes::VARIABLE_UNKNOWN, message);
            let help = help_on_unknown_variable(name, scenario);
            self.diagnostics.push(error.with_help(help));
            return;
        };
        // The value in the file is a secret like any other.
        if !variable.is_required() {
            let default = variable.default.clone();
            self.diagnostics.extend(short_secret(name, &default));
            self.give(name, default, "the scenario".to_owned(), true, true);
            return;
        }
        if !io::stdin().is_terminal() {
            return;
        }
        match prompt(name) {
            Ok(value) => {
                let value = value.into();
                self.diagnostics.extend(short_secret(name, &value));
                self.give(name, value, "the prompt".to_owned(), true, false);
            }
            Err(error) => self.diagnostics.push(Diagnostic::error(
                codes::ARGUMENT,
                format!("failed to prompt for the secret `{name}`: {error}"),
            )),
        }
    }
}

/// The symbols that rules of timelines ask for, weakest first: two variables of the environment, then what was typed.
pub(crate) fn symbols(
    args: &SymbolArgs,
    environment: &[(OsString, OsString)],
) -> Result<Symbols, Vec<Diagnostic>> {
    let environment = text_environment(environment);
    let mut symbols = Symbols::new();
    let mut found = Vec::new();
    for (name, has_escapes) in SYMBOL_VARIABLES {
        if let Some(list) = environment.get(*name) {
            found.extend(symbols.parse_list(list, *has_escapes, name));
        }
    }
    for definition in &args.defines {
        found.extend(symbols.define(definition, "--define").err());
    }
    match found.is_empty() {
        true => Ok(symbols),
        false => Err(found),
    }
}

/// The value of a secret: that of its variable, or what is typed on a terminal.
///
/// # Errors
/// There is neither, or it is too short to be kept secret.
pub(crate) fn secret(
    name: &str,
    environment: &[(OsString, OsString)],
) -> Result<String, Diagnostic> {
    let variable = format!("{VARIABLE_PREFIX}{name}");
    let long_enough = |value: String| match short_secret(name, &value.as_str().into()) {
        Some(short) => Err(short),
        None => Ok(value),
    };
    if let Some(value) = text_environment(environment).remove(&variable) {
        return long_enough(value);
    }
    let missing = |reason: String| {
        Diagnostic::error(
            codes::ARGUMENT,
            format!("the secret `{name}` has no value: {reason}"),
        )
        .with_help(format!(
            "set `{variable}`, or run in a terminal to be asked"
        ))
    };
    match io::stdin().is_terminal() {
        true => prompt(name)
            .map_err(|error| missing(io_reason(&error)))
            .and_then(long_enough),
        false => Err(missing(format!("`{variable}` is not set"))),
    }
}

/// Reads a line from the terminal without showing it. Ctrl-C ends the program, and so do the signals that end a run: the
/// terminal shows what is typed again.
fn prompt(name: &str) -> io::Result<String> {
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let interrupt = before.special_codes[SpecialCodeIndex::VINTR];
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    // A signal would end us while the terminal shows nothing, so Ctrl-C ends the line instead.
    silent.local_modes.remove(LocalModes::ISIG);
    silent.special_codes[SpecialCodeIndex::VEOL] = interrupt;
    tcsetattr(&stdin, OptionalActions::Flush, &silent)?;
    let mut stderr = io::stderr();
    let shown = write!(stderr, "{name}: ");
    // A signal from elsewhere ends the waiting, not us.
    let read = until_stopped(async |stop| {
        let reading = spawn_blocking(move || read_line(io::stdin().lock(), interrupt));
        stop.run_until_cancelled(reading).await
    });
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    writeln!(stderr)?;
    shown?;
    let line = match read {
        Ok(Some(read)) => read.map_err(io::Error::other)??,
        Ok(None) => leave_now(),
        Err(_) => return Err(io::Error::other("the terminal can't be read")),
    };
    if interrupt != 0 && line.ends_with(char::from(interrupt)) {
        leave_now();
    }
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// A line up to its end or `interrupt`, with it.
fn read_line(input: impl BufRead, interrupt: u8) -> io::Result<String> {
    let mut input = input.take(64 << 10);
    let mut line = Vec::new();
    loop {
        let read = input.fill_buf()?;
        let end = read
            .iter()
            .position(|byte| [b'\n', interrupt].contains(byte));
        let length = end.map_or(read.len(), |end| end + 1);
        line.extend_from_slice(&read[..length]);
        input.consume(length);
        if end.is_some() || length == 0 {
            return String::from_utf8(line).map_err(io::Error::other);
        }
    }
}

/// A word about seconds where milliseconds were probably meant.
pub(crate) fn too_long(option: &str, value: Option<Duration>) -> Option<Diagnostic> {
    let value = value.map(|it| it.as_secs_f64()).filter(|it| *it > 3600.0)?;
    let message = format!("`{option} {value}` is more than an hour: did you mean milliseconds?");
    let help = format!(
        "`{option}` is in seconds: write {} if you meant milliseconds",
        value / 1000.0
    );
    Some(Diagnostic::warning(codes::TIME_MILLISECONDS, message).with_help(help))
}

/// Where this program is.
pub(crate) fn own_program() -> Result<PathBuf, Diagnostic> {
    std::env::current_exe().map_err(|error| {
        let message = format!("our own program can't be found: {}", io_reason(&error));
        Diagnostic::error(codes::FILE_READ, message)
    })
}

/// What a run may do. `run_dir` may be written whatever else is forbidden.
pub(crate) fn policy(
    safety: &SafetyArgs,
    run_dir: Option<&Path>,
    working_directory: &Path,
) -> Result<Policy, Diagnostic> {
    Policy::new(policy_options(safety, run_dir, working_directory)).map_err(|refusal| {
        Diagnostic::error(codes::ARGUMENT, refusal.message).with_help(refusal.help)
    })
}

/// The same as options.
pub(crate) fn policy_options(
    safety: &SafetyArgs,
    run_dir: Option<&Path>,
    working_directory: &Path,
) -> PolicyOptions {
    let absolute = |path: &PathBuf| working_directory.join(path);
    PolicyOptions {
        root: safety.root_in(working_directory),
        working_directory: working_directory.to_owned(),
        allow_paths: safety.allow_paths.iter().map(absolute).collect(),
        allow_hosts: safety.allow_hosts.clone(),
        allow_commands: safety.allow_commands.clone(),
        allow_tools: safety.allow_tools.clone(),
        only_hosts: safety.only_hosts.clone(),
        only_commands: safety.only_commands.clone(),
        confine: safety.confine,
        read_only: safety.read_only,
        run_dir: run_dir.map(|run_dir| working_directory.join(run_dir)),
    }
}

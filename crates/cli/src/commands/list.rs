//! `cuecard list`: the scenarios of a project.

use std::path::{Component, Path, PathBuf};

use cuecard_replay::prepare::secrets;
use cuecard_report::Style;
use cuecard_report::diagnostics::to_json;
use cuecard_runtime::collect::is_made;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes, did_you_mean};
use cuecard_source::json::{self, Limits};
use cuecard_source::value::{Redactor, printable, without_credentials};
use cuecard_tool_call::format::{self as tool_call, Scope, effects};
use cuecard_tool_call::model::ToolCallScenario;
use ignore::WalkBuilder;
use serde_json::{Value as Json, json as json_of};

use crate::args::ListArgs;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{self, unreadable};
use crate::output::counted;

/// Where scenarios are kept, below the working directory.
pub(super) const FOLDERS: &[&str] = &[".cuecard/scenarios", ".sandy/scenarios"];
/// How deep folders are looked into.
const DEEPEST: usize = 8;
/// How many files are listed, and how many entries of folders are looked at.
const MOST_FILES: usize = 10_000;
const MOST_ENTRIES: usize = 100_000;

/// A file that may be a scenario.
struct Listed {
    file: String,
    /// `version` as the file has it.
    version: Option<String>,
    scenario: Option<ToolCallScenario>,
    /// The first error, if there is one.
    error: Option<Diagnostic>,
}

pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<ExitCode, Stop> {
    let output = &context.output;
    let folders: Vec<PathBuf> = match args.folders.as_slice() {
        [] => FOLDERS.iter().map(PathBuf::from).collect(),
        folders => folders.to_vec(),
    };
    let mut found = Found::default();
    for folder in &folders {
        // Only a folder that somebody named must be there.
        let looked = found.look_into(folder, !args.folders.is_empty());
        looked.map_err(Stop::invalid)?;
    }
    if let Some(bound) = found.stopped_at {
        let warning = Diagnostic::warning(codes::FILE_READ, bound)
            .with_help("specify the directories to search: `cuecard list DIR`");
        output.diagnostic(&warning);
    }
    let listed: Vec<Listed> = found.files.iter().map(|path| read(path)).collect();
    let folders: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
    let document = || {
        let scenarios: Vec<Json> = listed.iter().map(document).collect();
        json_of!({ "folders": folders, "scenarios": scenarios })
    };
    output.result(&Redactor::default(), document, |style| match &listed[..] {
        [] => format!("no scenarios in {}\n", folders.join(" and ")),
        listed => listed.iter().map(|listed| text(listed, style)).collect(),
    });
    Ok(ExitCode::Passed)
}

/// What the folders hold.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    entries: usize,
    /// Why the rest was not looked at.
    stopped_at: Option<&'static str>,
}

impl Found {
    /// Adds the files of a folder and of those in it, by their paths. What is hidden, ignored by git, or made by programs is
    /// left out; a link to a folder, which may lead anywhere, is not followed. A folder that somebody named must exist.
    fn look_into(&mut self, folder: &Path, is_named: bool) -> Result<(), Diagnostic> {
        if let Err(error) = std::fs::read_dir(folder) {
            if !is_named && is_absent(&error) {
                return Ok(());
            }
            return Err(unreadable(folder, &error));
        }
        let walk = WalkBuilder::new(folder)
            // Our own folders count also where git ignores what is around them.
            .parents(is_named)
            .require_git(false)
            .git_global(false)
            .max_depth(Some(DEEPEST + 1))
            .filter_entry(|entry| entry.depth() == 0 || !is_made(entry.path()))
            .build();
        let mut files = Vec::new();
        // One folder among others that can't be read is no reason to show nothing.
        for entry in walk.flatten() {
            self.entries += 1;
            if self.entries > MOST_ENTRIES || files.len() + self.files.len() >= MOST_FILES {
                self.stopped_at = Some(
                    "there are more than 10,000 scenarios or 100,000 other files; the rest is not listed",
                );
                break;
            }
            let path = entry.into_path();
            if path.extension().is_some_and(|it| it == "json") && path.is_file() {
                files.push(path);
            }
        }
        files.sort();
        self.files.append(&mut files);
        Ok(())
    }
}

/// The file that a scenario's name means, if it is neither a file nor a folder itself: `login` is `.cuecard/scenarios/login.json`.
pub(crate) fn named(file: &Path) -> Result<PathBuf, Diagnostic> {
    named_in(Path::new(""), file)
}

/// The same for a project elsewhere; the file is seen from there.
pub(super) fn named_in(base: &Path, file: &Path) -> Result<PathBuf, Diagnostic> {
    if file.as_os_str() == "-" {
        return Ok(file.to_owned());
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_name = file.extension().is_none() && file.components().all(is_plain);
    let metadata = base.join(file).metadata();
    // The name of a scenario is meant rather than a folder that is called the same.
    let is_folder = metadata.as_ref().is_ok_and(std::fs::Metadata::is_dir);
    if !is_name || (metadata.is_ok() && !is_folder) {
        return Ok(file.to_owned());
    }
    let places = FOLDERS.iter().map(|folder| Path::new(folder).join(file));
    let places: Vec<PathBuf> = places.map(|place| place.with_extension("json")).collect();
    let mut found = places.iter().filter(|place| base.join(place).is_file());
    let shown = |places: &[PathBuf]| {
        let names = places.iter().map(|place| format!("`{}`", place.display()));
        names.collect::<Vec<_>>().join(" and ")
    };
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(_), Some(_)) => Err(Diagnostic::error(
            codes::ARGUMENT,
            format!(
                "the name `{}` is ambiguous: it means {}",
                file.display(),
                shown(&places)
            ),
        )
        .with_help("pass the path")),
        (None, _) if is_folder => Ok(file.to_owned()),
        (None, _) => Err(Diagnostic::error(
            codes::FILE_READ,
            // A variable in the place of a file has its value.
            without_credentials(&format!(
                "`{}` is neither a file nor the name of a scenario",
                file.display()
            )),
        )
        .with_note(without_credentials(&format!("searched {}", shown(&places))))
        .with_help(match similar(base, file) {
            Some(name) => format!("did you mean `{name}`?"),
            None if file.to_string_lossy().contains('=') => {
                "write `--var NAME=VALUE` to set a variable".to_owned()
            }
            None => "`cuecard list` shows the scenarios of a project".to_owned(),
        })),
    }
}

/// The name of a scenario that is like this one, or is its last part: `shop/login` for `login`.
fn similar(base: &Path, file: &Path) -> Option<String> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        let mut found = Found::default();
        found.look_into(&base.join(folder), false).ok()?;
        let inside = found
            .files
            .iter()
            .filter_map(|path| path.strip_prefix(base.join(folder)).ok());
        names.extend(inside.map(|path| path.with_extension("")));
    }
    if let Some(name) = names.iter().find(|name| name.ends_with(file)) {
        return Some(name.display().to_string());
    }
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    let asked = file.to_string_lossy();
    did_you_mean(&asked, names.iter().map(AsRef::as_ref)).map(str::to_owned)
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

fn read(path: &Path) -> Listed {
    let file = path.display().to_string();
    let source = match inputs::read_source(path) {
        Ok(source) => source,
        Err(error) => {
            return Listed {
                file,
                version: None,
                scenario: None,
                error: Some(error),
            };
        }
    };
    let reading = tool_call::read(&source);
    let mut findings = reading.diagnostics;
    if let Some(scenario) = &reading.scenario {
        findings.extend(tool_call::check_references(scenario, &Scope::default()));
    }
    let errors = findings
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error);
    let start = |error: &Diagnostic| error.place.as_ref().map_or(0, |place| place.span.start);
    Listed {
        file,
        version: version(source.text()),
        error: errors.min_by_key(start),
        scenario: reading.scenario,
    }
}

fn version(text: &str) -> Option<String> {
    let root = json::parse(text, &Limits::default()).root?;
    let version = root.get("version")?;
    let written = version.as_str().or_else(|| version.as_number_text())?;
    Some(line(written))
}

fn text(listed: &Listed, style: Style) -> String {
    let file = style.faint(&listed.file);
    let mut text = match &listed.scenario {
        Some(scenario) => {
            let mut facts = vec![counted(scenario.steps.len(), "step")];
            let servers = servers(scenario);
            if !servers.is_empty() {
                facts.push(servers.join(", "));
            }
            let dot = style.dot();
            format!(
                "{}{dot}{}\n  {file}\n",
                style.strong(&line(&scenario.name)),
                line(&facts.join(dot))
            )
        }
        None => format!("{file}\n"),
    };
    if let Some(scenario) = &listed.scenario {
        if let Some(description) = described(scenario) {
            text.push_str(&format!("  {}\n", line(description)));
        }
        let required = required(scenario);
        if !required.is_empty() {
            text.push_str(&format!("  needs {}\n", required.join(", ")));
        }
    }
    if let Some(error) = &listed.error {
        let place = error.place.as_ref().map_or(String::new(), |place| {
            let position = place.source.position(place.span.start);
            format!(" (line {}, column {})", position.line, position.column)
        });
        text.push_str(&format!(
            "  {} {}: {}{place}\n",
            style.mark(false),
            error.code,
            line(&error.message)
        ));
    }
    text
}

fn document(listed: &Listed) -> Json {
    let scenario = listed.scenario.as_ref();
    let mut document = json_of!({
        "file": listed.file,
        "valid": listed.error.is_none(),
        "scenario_name": scenario.map(|scenario| scenario.name.as_str()),
        "description": scenario.and_then(described),
        "version": listed.version,
        "total_steps": scenario.map(|scenario| scenario.steps.len()),
        "servers": scenario.map(servers),
        "variables": scenario.map(|scenario| scenario.variables.iter().map(|variable| json_of!({
            "name": variable.name, "default": variable.default, "required": variable.is_required(),
        })).collect::<Vec<_>>()),
        "metadata": scenario.map(|scenario| &scenario.metadata),
        "environment": scenario.map(|scenario| &scenario.environment),
        "error": listed.error.as_ref().map(to_json),
    });
    // Defaults of variables that are named like credentials are shown nowhere.
    let secrets = scenario.map(|scenario| secrets(scenario, &[]));
    Redactor::new(secrets.into_iter().flatten()).json(&mut document);
    document
}

/// The servers it needs. A name with `__` in it is known only with a config, which a list does without.
fn servers(scenario: &ToolCallScenario) -> Vec<String> {
    effects(scenario, &(0..=u64::MAX), |_| false).servers
}

fn required(scenario: &ToolCallScenario) -> Vec<&str> {
    let required = scenario
        .variables
        .iter()
        .filter(|variable| variable.is_required());
    required.map(|variable| variable.name.as_str()).collect()
}

fn described(scenario: &ToolCallScenario) -> Option<&str> {
    scenario.metadata.get("description")?.as_str()
}

/// A text of the file in one line.
fn line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    printable(&words.join(" ")).into_owned()
}

//! The server for agents: a project's scenarios as tools. A tool does what its command does, within the limits that the
//! user set when the server was started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cuecard_mcp::server::{Client, Handler, Introduction, RpcError};
use cuecard_replay::check_arguments;
use cuecard_runtime::policy::inside;
use cuecard_source::value::{cut, find_credentials};
use cuecard_workspace::files;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, Semaphore};

use super::child::{self, Finished};
use super::tools::{
    CheckScenario, Explain, ListScenarios, PlayScenario, RecordTranscript, Results, SaveScenario,
    TOOLS, Tool,
};
use super::trim::{fit, without_empty};
use crate::args::{McpArgs, word};
use crate::commands::list::{FOLDERS, named_in};
use crate::commands::stop::Stop;
use crate::inputs;

/// How many commands run at a time; further calls wait.
const MOST_RUNNING: usize = 4;
/// The longest message about what an agent wrote, in characters.
const LONGEST_MESSAGE: usize = 400;
/// The longest name of a scenario, in bytes.
const LONGEST_NAME: usize = 200;

/// The project, and what its tools may do.
pub(super) struct Project {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    /// Where paths start, without links.
    root: PathBuf,
    /// Folders beside the root that the user allowed.
    allowed: Vec<PathBuf>,
    is_read_only: bool,
    /// Options of every command that meets servers.
    server_options: Vec<OsString>,
    /// Options of runs.
    run_options: Vec<OsString>,
    running: Semaphore,
    /// Held while a scenario is saved, so that two calls can't both find that there is none yet.
    saving: Mutex<()>,
}

/// What a tool answers.
struct Answer {
    document: Value,
    is_error: bool,
}

impl Answer {
    fn refused(error: impl Into<String>, help: impl Into<String>) -> Self {
        let (error, help) = (error.into(), help.into());
        Self {
            document: json!({ "error": error, "help": help }),
            is_error: true,
        }
    }
}

impl Project {
    /// # Errors
    /// What is wrong with the arguments.
    pub(super) fn of(args: &McpArgs, environment: &[(OsString, OsString)]) -> Result<Self, Stop> {
        let here = inputs::working_directory().map_err(Stop::could_not_run)?;
        let safety = &args.safety;
        inputs::policy(safety, Some(&args.runs.run_dir), &here).map_err(Stop::invalid)?;
        let (timeout, _) = inputs::seconds("--timeout", args.timeout).map_err(Stop::invalid)?;
        let root = safety.root_in(&here);
        let file = |option: &str, path: &Option<PathBuf>| {
            path.as_ref().map(|path| word(option, here.join(path)))
        };
        let mut server_options: Vec<OsString> =
            file("--config", &args.config).into_iter().collect();
        server_options.extend(file("--env", &args.env_file));
        let mut run_options = safety.words(&here);
        run_options.extend(timeout.map(|it| word("--timeout", it.as_secs_f64().to_string())));
        run_options.push(word("--run-dir", &args.runs.run_dir));
        Ok(Self {
            program: inputs::own_program().map_err(Stop::could_not_run)?,
            environment: environment.to_vec(),
            // The policy has found that it is there.
            root: root.canonicalize().unwrap_or(root),
            allowed: safety
                .allow_paths
                .iter()
                .map(|path| here.join(path))
                .collect(),
            is_read_only: safety.read_only,
            server_options,
            run_options,
            running: Semaphore::new(MOST_RUNNING),
            saving: Mutex::new(()),
        })
    }

    /// A path that an agent named, seen from the root.
    fn path(&self, path: &Path) -> Result<PathBuf, Answer> {
        let absolute = self.root.join(path);
        let found = inside(&self.root, &absolute).or_else(|error| {
            let mut allowed = self.allowed.iter();
            allowed
                .find_map(|folder| inside(folder, &absolute).ok())
                .ok_or(error)
        });
        match found {
            Ok(found) => Ok(found
                .strip_prefix(&self.root)
                .map_or_else(|_| found.clone(), Path::to_owned)),
            Err(error) => Err(Answer::refused(
                format!("the path `{}` {error}", shown(path)),
                "name a file of the project; the user can allow another folder with `cuecard mcp --allow-path DIR`",
            )),
        }
    }

    /// The file of a scenario that an agent named.
    fn scenario(&self, name: &Path) -> Result<PathBuf, Answer> {
        match named_in(&self.root, name) {
            Ok(file) => self.path(&file),
            Err(error) => Err(Answer::refused(
                cut(&error.message, LONGEST_MESSAGE),
                error
                    .help
                    .unwrap_or_else(|| "list_scenarios lists them".to_owned()),
            )),
        }
    }

    /// Runs a command. `operand` is what it is about, whatever that looks like.
    async fn command(
        &self,
        words: &[&str],
        options: Vec<OsString>,
        operand: Option<&OsStr>,
        input: Option<String>,
        client: &Client,
    ) -> Result<Finished, Answer> {
        let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
        args.extend(["--json".into(), "--color=never".into()]);
        args.extend(options);
        if let Some(operand) = operand {
            args.extend(["--".into(), operand.to_owned()]);
        }
        let running = self.running.acquire().await;
        let finished = child::run(
            &self.program,
            &self.root,
            &self.environment,
            args,
            input,
            client,
        )
        .await;
        drop(running);
        finished.map_err(|error| {
            let message = format!("`cuecard {}` didn't finish: {error}", words.join(" "));
            Answer::refused(message, "try a smaller part: fewer steps or files")
        })
    }

    async fn list(&self, asked: ListScenarios, client: &Client) -> Result<Answer, Answer> {
        let folders: Vec<PathBuf> = match asked.folder {
            Some(folder) => vec![folder],
            None => FOLDERS.iter().map(PathBuf::from).collect(),
        };
        let mut options = Vec::new();
        for folder in &folders {
            let path = self.path(folder)?;
            let is_there = folders.len() == 1 || self.root.join(&path).is_dir();
            options.extend(is_there.then(|| path.into_os_string()));
        }
        if options.is_empty() {
            let help = "save_scenario saves one; there is no .cuecard/scenarios yet";
            return Ok(answer(json!({ "scenarios": [], "help": help }), true, ""));
        }
        options.insert(0, "--".into());
        let finished = self.command(&["list"], options, None, None, client).await?;
        let mut document = without_document(finished)?;
        if let Some(listed) = document["scenarios"].as_array_mut() {
            // What a link leads to outside of the project is nobody's business.
            listed.retain(|it| {
                self.path(Path::new(it["file"].as_str().unwrap_or_default()))
                    .is_ok()
            });
            for scenario in listed {
                for key in ["metadata", "environment", "version"] {
                    scenario.as_object_mut().map(|it| it.shift_remove(key));
                }
            }
        }
        Ok(answer(document, true, "pass a `folder`"))
    }

    async fn check(&self, asked: CheckScenario, client: &Client) -> Result<Answer, Answer> {
        let file = self.scenario(&asked.scenario)?;
        let mut options = self.server_options.clone();
        options.extend(asked.connect.then(|| "--connect".into()));
        let finished = self
            .command(&["check"], options, Some(file.as_os_str()), None, client)
            .await?;
        let has_passed = finished.has_passed;
        let whole = format!("`cuecard check {} --json`", file.display());
        Ok(answer(without_document(finished)?, has_passed, &whole))
    }

    async fn play(&self, asked: PlayScenario, client: &Client) -> Result<Answer, Answer> {
        let file = self.scenario(&asked.scenario)?;
        let mut options = [&self.server_options[..], &self.run_options].concat();
        let include = match asked.results {
            Results::Failed => "on_failure",
            Results::All => "true",
            Results::None => "false",
        };
        options.push(word("--include-results", include));
        for (name, value) in &asked.variables {
            options.push(word("--var-json", format!("{name}={value}")));
        }
        for (option, step) in [("--start", asked.start), ("--end", asked.end)] {
            options.extend(step.map(|step| word(option, step.to_string())));
        }
        options.extend(asked.dry_run.then(|| "--dry-run".into()));
        let finished = self
            .command(&["play"], options, Some(file.as_os_str()), None, client)
            .await?;
        let has_passed = finished.has_passed;
        let findings = finished.findings.clone();
        let mut document = without_document(finished)?;
        if let Some(steps) = document["step_results"].as_array_mut() {
            let is_told =
                |step: &Value| asked.results == Results::All || step["status"] != "passed";
            steps.retain(is_told);
            for step in steps {
                for key in ["success", "skipped", "started_at", "attempts"] {
                    step.as_object_mut().map(|it| it.shift_remove(key));
                }
            }
        }
        for key in ["completed_steps", "context", "run_dir"] {
            document.as_object_mut().map(|it| it.shift_remove(key));
        }
        if document.get("diagnostics").is_none() && !findings.is_empty() {
            document["diagnostics"] = findings.into();
        }
        if asked.dry_run && has_passed {
            document["next"] = "nothing was run: pass `dry_run: false` to play it".into();
        }
        let trace = document["trace_path"].as_str().map(str::to_owned);
        let whole = trace.unwrap_or_else(|| format!("`cuecard play {} --json`", file.display()));
        Ok(answer(document, has_passed, &whole))
    }

    async fn explain(&self, asked: Explain, client: &Client) -> Result<Answer, Answer> {
        let text = asked.what.to_string_lossy();
        let is_code = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_path = !text.bytes().all(is_code) || self.root.join(&asked.what).exists();
        let what = match is_path {
            true => self.path(&asked.what)?,
            false => asked.what.clone(),
        };
        let finished = self
            .command(
                &["explain"],
                Vec::new(),
                Some(what.as_os_str()),
                None,
                client,
            )
            .await?;
        let has_passed = finished.has_passed;
        Ok(answer(
            without_document(finished)?,
            has_passed,
            "`cuecard explain`",
        ))
    }

    async fn record(&self, asked: RecordTranscript, client: &Client) -> Result<Answer, Answer> {
        let transcript = self.path(&asked.transcript)?;
        let _saving = self.saving.lock().await;
        let file = self.new_file(&asked.name, asked.overwrite)?;
        let options = vec![word("--output", self.root.join(&file))];
        let operand = Some(transcript.as_os_str());
        let finished = self
            .command(&["record", "transcript"], options, operand, None, client)
            .await?;
        let has_passed = finished.has_passed;
        let mut document = without_document(finished)?;
        if has_passed {
            document["saved"] = file.display().to_string().into();
        }
        Ok(answer(
            document,
            has_passed,
            &format!("`{}`", file.display()),
        ))
    }

    async fn save(&self, asked: SaveScenario, client: &Client) -> Result<Answer, Answer> {
        let _saving = self.saving.lock().await;
        let file = self.new_file(&asked.name, asked.overwrite)?;
        let is_there = self.root.join(&file).exists();
        let scenario = Value::Object(asked.scenario);
        let mut credentials = Vec::new();
        find_credentials(&scenario, &mut credentials);
        if !credentials.is_empty() {
            return Err(Answer::refused(
                "not saved: the scenario contains what looks like a password or a token",
                "write {{NAME}} in their place and \"NAME\": \"\" in `variables`; the user sets CUECARD_VAR_NAME",
            ));
        }
        let text = format!("{scenario:#}\n");
        let options = self.server_options.clone();
        let operand = Some(OsStr::new("-"));
        let checked = self
            .command(&["check"], options, operand, Some(text.clone()), client)
            .await?;
        let has_passed = checked.has_passed;
        let mut document = without_document(checked)?;
        if let Some(first) = document["files"].as_array_mut().and_then(Vec::pop) {
            document = first;
            document.as_object_mut().map(|it| it.shift_remove("file"));
        }
        if has_passed {
            files::write(&self.root.join(&file), &text).map_err(|error| {
                Answer::refused(
                    format!("not saved: {error}"),
                    error.help().unwrap_or_default(),
                )
            })?;
            document["saved"] = file.display().to_string().into();
            document["replaced"] = is_there.into();
        } else {
            document["error"] = "not saved: the scenario has errors".into();
        }
        Ok(answer(document, has_passed, "`cuecard check`"))
    }

    /// The file that a scenario is saved in.
    fn new_file(&self, name: &str, overwrite: bool) -> Result<PathBuf, Answer> {
        let is_plain = |part: &str| {
            let mut bytes = part.bytes();
            !part.is_empty()
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if name.len() > LONGEST_NAME || !name.split('/').all(is_plain) {
            return Err(Answer::refused(
                format!("`{}` can't be the name of a scenario", cut(name, 60)),
                format!(
                    "use letters, digits, `-` and `_`, at most {LONGEST_NAME}; with `/` for folders"
                ),
            ));
        }
        if self.is_read_only {
            let help = "the user can start `cuecard mcp` without `--read-only`";
            return Err(Answer::refused(
                "nothing may be saved under `--read-only`",
                help,
            ));
        }
        let file = self.path(&Path::new(FOLDERS[0]).join(format!("{name}.json")))?;
        match overwrite || !self.root.join(&file).exists() {
            true => Ok(file),
            false => Err(Answer::refused(
                format!("not saved: `{}` is there already", file.display()),
                "choose another name, or pass `overwrite: true` to replace it",
            )),
        }
    }
}

impl Handler for Project {
    fn introduction(&self) -> Introduction {
        Introduction {
            name: "cuecard".to_owned(),
            title: Some("Cuecard".to_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: Some(INSTRUCTIONS.to_owned()),
        }
    }

    fn tools(&self) -> Vec<Value> {
        TOOLS.iter().map(Tool::entry).collect()
    }

    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<Value, RpcError> {
        let Some(known) = TOOLS.iter().find(|known| known.name == tool) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let (tool, names) = (cut(tool, 60), names.join(", "));
            let message = format!("there is no tool `{tool}`; there are {names}");
            return Err(RpcError::invalid_params(message));
        };
        let arguments = Value::Object(arguments);
        let answered = match known.name {
            "list_scenarios" => with(known, arguments, |asked| self.list(asked, client)).await,
            "check_scenario" => with(known, arguments, |asked| self.check(asked, client)).await,
            "play_scenario" => with(known, arguments, |asked| self.play(asked, client)).await,
            "explain" => with(known, arguments, |asked| self.explain(asked, client)).await,
            "record_transcript" => with(known, arguments, |asked| self.record(asked, client)).await,
            _ => with(known, arguments, |asked| self.save(asked, client)).await,
        };
        let Answer { document, is_error } = answered.unwrap_or_else(|refused| refused);
        Ok(json!({
            "content": [{ "type": "text", "text": document.to_string() }],
            "structuredContent": document,
            "isError": is_error,
        }))
    }
}

/// What a model is told of the server.
const INSTRUCTIONS: &str = "Replays tool calls without a model. When a task may come again, save its tool calls with \
    save_scenario, and next time play them with play_scenario instead of calling the tools one by one. Look at \
    list_scenarios first.";

/// Reads the arguments, and does the work.
async fn with<T: DeserializeOwned, F: Future<Output = Result<Answer, Answer>>>(
    tool: &Tool,
    arguments: Value,
    work: impl FnOnce(T) -> F,
) -> Result<Answer, Answer> {
    match T::deserialize(&arguments) {
        Ok(asked) => work(asked).await,
        Err(error) => {
            let Value::Object(arguments) = arguments else {
                return Err(Answer::refused(error.to_string(), ""));
            };
            let found = check_arguments(&tool.info(), arguments);
            let first = found.first();
            let message = first.map_or_else(|| error.to_string(), |first| first.message.clone());
            let help = first.and_then(|first| first.help.clone());
            Err(Answer::refused(
                cut(&message, LONGEST_MESSAGE),
                help.unwrap_or_else(|| "see the tool's inputSchema".to_owned()),
            ))
        }
    }
}

/// The document of a command; what it said instead if there is none.
fn without_document(finished: Finished) -> Result<Value, Answer> {
    match finished.document {
        document @ Value::Object(_) if document.get("text").is_none_or(|text| text != "") => {
            Ok(document)
        }
        _ => {
            let document = match finished.findings.first() {
                Some(first) => {
                    json!({ "error": first["message"], "diagnostics": finished.findings })
                }
                None => json!({ "error": finished.lines.join("\n") }),
            };
            Err(answer(document, false, "the command line shows it"))
        }
    }
}

fn answer(mut document: Value, has_passed: bool, whole: &str) -> Answer {
    without_empty(&mut document);
    Answer {
        document: fit(document, whole),
        is_error: !has_passed,
    }
}

fn shown(path: &Path) -> String {
    cut(&path.display().to_string(), 200).into_owned()
}

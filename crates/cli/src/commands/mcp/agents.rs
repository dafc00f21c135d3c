//! The server for agents: a project's scenarios as tools. A tool does what its command does, within the limits that the
//! user set when the server was started.

use std::ffi::OsString;
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
use crate::context::Stop;
use crate::inputs;

/// How many scenarios are played at a time, and how many other commands run; further calls wait.
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
    /// Runs may take long; other calls don't wait for them.
    playing: Semaphore,
    running: Semaphore,
    /// Held while a scenario is saved, so that two calls can't both find that there is none yet.
    saving: Mutex<()>,
}

/// What a tool answers: a document, or one that says why it has not done what was asked.
type Answer = Result<Value, Value>;

fn refused(error: &str, help: &str) -> Value {
    json!({ "error": cut(error, LONGEST_MESSAGE), "help": help })
}

impl Project {
    /// # Errors
    /// What is wrong with the arguments.
    pub(super) fn of(args: &McpArgs, environment: &[(OsString, OsString)]) -> Result<Self, Stop> {
        let here = inputs::working_directory().map_err(Stop::could_not_run)?;
        let safety = &args.safety;
        inputs::policy(safety, Some(&args.runs.run_dir), &here).map_err(Stop::invalid)?;
        let timeout = args.server.connect.timeout;
        let root = safety.root_in(&here);
        let mut server_options = Vec::new();
        for (option, path) in [
            ("--config", &args.server.connect.config),
            ("--env", &args.server.env.env_file),
        ] {
            server_options.extend(path.as_ref().map(|path| word(option, here.join(path))));
        }
        let mut run_options = safety.words(&here);
        run_options.extend(timeout.map(|it| word("--timeout", it.as_secs_f64().to_string())));
        run_options.push(word("--run-dir", &args.runs.run_dir));
        // What the agent shall not see.
        run_options.push("--hide-environment".into());
        let allowed = safety.allow_paths.iter().map(|path| here.join(path));
        Ok(Self {
            program: inputs::own_program().map_err(Stop::could_not_run)?,
            environment: environment.to_vec(),
            // The policy has found that it is there.
            root: root.canonicalize().unwrap_or(root),
            allowed: allowed.collect(),
            is_read_only: safety.read_only,
            server_options,
            run_options,
            playing: Semaphore::new(MOST_RUNNING),
            running: Semaphore::new(MOST_RUNNING),
            saving: Mutex::new(()),
        })
    }

    /// A path that an agent named, seen from the root.
    fn path(&self, path: &Path) -> Result<PathBuf, Value> {
        let absolute = self.root.join(path);
        let mut allowed = self.allowed.iter();
        match inside(&self.root, &absolute) {
            Ok(found) => Ok(found.strip_prefix(&self.root).unwrap_or(&found).to_owned()),
            Err(error) => allowed
                .find_map(|folder| inside(folder, &absolute).ok())
                .ok_or_else(|| {
                    let shown = path.display().to_string();
                    let error = format!("the path `{}` {error}", cut(&shown, 200));
                    refused(&error, "name a file of the project; the user can allow another directory with `cuecard mcp --allow-path DIR`")
                }),
        }
    }

    /// The file of a scenario that an agent named.
    fn scenario(&self, name: &Path) -> Result<PathBuf, Value> {
        match named_in(&self.root, name) {
            // What is in a folder may be a link to anywhere.
            Ok(file) if self.root.join(&file).is_dir() => {
                let error = format!("`{}` is a directory", cut(&name.to_string_lossy(), 200));
                Err(refused(
                    &error,
                    "name one scenario; list_scenarios lists them",
                ))
            }
            Ok(file) => self.path(&file),
            Err(error) => {
                let help = error.help.as_deref();
                Err(refused(
                    &error.message,
                    help.unwrap_or("list_scenarios lists them"),
                ))
            }
        }
    }

    /// Runs a command. `operand` is what it is about, whatever that looks like.
    async fn command(
        &self,
        client: &Client,
        words: &str,
        options: Vec<OsString>,
        (operand, input): (Option<&Path>, Option<String>),
    ) -> Result<Finished, Value> {
        let mut args: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        args.extend(["--json".into(), "--color=never".into()]);
        args.extend(options);
        args.extend(operand.into_iter().flat_map(|it| ["--".into(), it.into()]));
        let running = match words {
            "play" => &self.playing,
            _ => &self.running,
        };
        let running = running.acquire().await;
        let (program, root, environment) = (&self.program, &self.root, &self.environment);
        let ran = child::run(program, root, environment, args, input, client).await;
        drop(running);
        let finished = ran.map_err(|error| {
            let error = format!("`cuecard {words}` didn't finish: {error}");
            refused(&error, "try a smaller part: fewer steps or files")
        })?;
        if finished.document.is_object() {
            return Ok(finished);
        }
        let mut findings = finished.findings.iter();
        let document = match findings.find(|finding| finding["severity"] == "error") {
            Some(first) => json!({ "error": first["message"], "diagnostics": finished.findings }),
            None => json!({ "error": finished.lines.join("\n") }),
        };
        Err(trimmed(document, "the command line shows it"))
    }

    async fn list(&self, _: ListScenarios, client: &Client) -> Answer {
        let listed = self.command(client, "list", Vec::new(), (None, None));
        let listed = listed.await?;
        let mut document = listed.document;
        if let Some(scenarios) = document["scenarios"].as_array_mut() {
            // What a link leads to outside of the project is nobody's business.
            let file = |it: &Value| PathBuf::from(it["file"].as_str().unwrap_or_default());
            scenarios.retain(|it| self.path(&file(it)).is_ok());
            for scenario in scenarios {
                without(scenario, &["metadata", "environment", "version"]);
            }
        }
        Ok(trimmed(document, "`cuecard list --json`"))
    }

    async fn check(&self, asked: CheckScenario, client: &Client) -> Answer {
        let file = self.scenario(&asked.scenario)?;
        let mut options = self.server_options.clone();
        options.extend(asked.connect.then(|| "--connect".into()));
        let checked = self.command(client, "check", options, (Some(&file), None));
        let whole = format!("`cuecard check {} --json`", file.display());
        checked.await?.answer(&whole)
    }

    async fn play(&self, asked: PlayScenario, client: &Client) -> Answer {
        let file = self.scenario(&asked.scenario)?;
        let mut options = [&self.server_options[..], &self.run_options].concat();
        let include = match asked.results {
            Results::Failed => "on_failure",
            Results::All => "true",
            Results::None => "false",
        };
        options.push(word("--include-results", include));
        // Not as words of the command: those are there for all to see while it runs.
        let is_given = !asked.variables.is_empty();
        options.extend(is_given.then(|| word("--var-json", "@-")));
        let variables = Value::from(asked.variables).to_string();
        for (option, step) in [("--start", asked.start), ("--end", asked.end)] {
            options.extend(step.map(|step| word(option, step.to_string())));
        }
        options.extend(asked.dry_run.then(|| "--dry-run".into()));
        let played = self.command(client, "play", options, (Some(&file), Some(variables)));
        let mut played = played.await?;
        let document = &mut played.document;
        if let Some(steps) = document["step_results"].as_array_mut() {
            steps.retain(|step| asked.results == Results::All || step["status"] != "passed");
            for step in steps {
                without(step, &["success", "skipped", "started_at", "attempts"]);
            }
        }
        without(document, &["completed_steps", "context", "run_dir"]);
        match document["diagnostics"].as_array_mut() {
            Some(known) => {
                let is_known =
                    |it: &Value| known.iter().any(|known| known["message"] == it["message"]);
                let warnings = played
                    .findings
                    .iter()
                    .filter(|it| it["severity"] == "warning");
                let new: Vec<Value> = warnings.filter(|it| !is_known(it)).cloned().collect();
                known.extend(new);
            }
            None => document["diagnostics"] = played.findings.clone().into(),
        }
        if asked.dry_run && played.has_passed {
            document["next"] = "nothing was run: pass `dry_run: false` to play it".into();
        }
        let trace = document["trace_path"].as_str().map(str::to_owned);
        let whole = trace.unwrap_or_else(|| format!("`cuecard play {} --json`", file.display()));
        played.answer(&whole)
    }

    async fn explain(&self, asked: Explain, client: &Client) -> Answer {
        let text = asked.what.to_string_lossy();
        let is_path = !text.bytes().all(is_name_byte) || self.root.join(&asked.what).exists();
        let what = match is_path {
            true => self.path(&asked.what)?,
            false => asked.what.clone(),
        };
        let explained = self.command(client, "explain", Vec::new(), (Some(&what), None));
        explained.await?.answer("`cuecard explain`")
    }

    async fn record(&self, asked: RecordTranscript, client: &Client) -> Answer {
        let transcript = self.path(&asked.transcript)?;
        // That of a scenario is read from there.
        self.path(&transcript.with_extension("cassette.jsonl"))?;
        let _saving = self.saving.lock().await;
        let file = self.new_file(&asked.name, asked.overwrite)?;
        let mut options = vec![word("--output", self.root.join(&file))];
        options.extend(asked.overwrite.then(|| "--force".into()));
        let about = (Some(&*transcript), None);
        let recorded = self.command(client, "record transcript", options, about);
        let mut recorded = recorded.await?;
        without(&mut recorded.document, &["written"]);
        if recorded.has_passed {
            recorded.document["saved"] = file.display().to_string().into();
        }
        recorded.answer(&format!("`{}`", file.display()))
    }

    async fn save(&self, asked: SaveScenario, client: &Client) -> Answer {
        let _saving = self.saving.lock().await;
        let file = self.new_file(&asked.name, asked.overwrite)?;
        let is_there = self.root.join(&file).exists();
        let scenario = Value::Object(asked.scenario);
        let mut credentials = Vec::new();
        find_credentials(&scenario, &mut credentials);
        if !credentials.is_empty() {
            return Err(refused(
                "not saved: the scenario contains what looks like a password or a token",
                "write {{NAME}} in its place and \"NAME\": \"\" in `variables`; the user sets CUECARD_VAR_NAME",
            ));
        }
        let text = format!("{scenario:#}\n");
        let about = (Some(Path::new("-")), Some(text.clone()));
        let checked = self.command(client, "check", self.server_options.clone(), about);
        let mut checked = checked.await?;
        // One file was checked.
        checked.document = checked.document["files"][0].clone();
        let document = &mut checked.document;
        without(document, &["file"]);
        if checked.has_passed {
            files::write(&self.root.join(&file), &text).map_err(|error| {
                let help = error.help().unwrap_or_default();
                refused(&format!("not saved: {error}"), &help)
            })?;
            document["saved"] = file.display().to_string().into();
            document["replaced"] = is_there.into();
        } else {
            document["error"] = match document["valid"] == true {
                true => "not saved: a config of servers has errors; `cuecard doctor` shows them",
                false => "not saved: the scenario has errors",
            }
            .into();
        }
        checked.answer("`cuecard check`")
    }

    /// The file that a scenario is saved in.
    fn new_file(&self, name: &str, overwrite: bool) -> Result<PathBuf, Value> {
        let is_plain = |part: &str| !part.is_empty() && part.bytes().all(is_name_byte);
        if name.len() > LONGEST_NAME || !name.split('/').all(is_plain) {
            let error = format!("`{}` can't be the name of a scenario", cut(name, 60));
            let help = "use letters, digits, `-` and `_`, at most 200; with `/` for directories";
            return Err(refused(&error, help));
        }
        if self.is_read_only {
            let help = "the user can start `cuecard mcp` without `--read-only`";
            return Err(refused("nothing may be saved under `--read-only`", help));
        }
        let file = Path::new(FOLDERS[0]).join(format!("{name}.json"));
        // What a link leads to is no scenario, perhaps a config that starts servers.
        if self.path(&file)? != file {
            let error = format!(
                "not saved: `{}` is a symbolic link, or in one",
                file.display()
            );
            return Err(refused(&error, "choose another name, or remove the link"));
        }
        if overwrite || !self.root.join(&file).exists() {
            return Ok(file);
        }
        let error = format!("not saved: `{}` is there already", file.display());
        Err(refused(
            &error,
            "choose another name, or pass `overwrite: true` to replace it",
        ))
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
    ) -> Result<String, RpcError> {
        let Some(known) = TOOLS.iter().find(|known| known.name == tool) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let (tool, names) = (cut(tool, 60), names.join(", "));
            let message = format!("there is no tool `{tool}`; there are {names}");
            return Err(RpcError::invalid_params(message));
        };
        let answered = match known.name {
            "list_scenarios" => with(known, arguments, |asked| self.list(asked, client)).await,
            "check_scenario" => with(known, arguments, |asked| self.check(asked, client)).await,
            "play_scenario" => with(known, arguments, |asked| self.play(asked, client)).await,
            "explain" => with(known, arguments, |asked| self.explain(asked, client)).await,
            "record_transcript" => with(known, arguments, |asked| self.record(asked, client)).await,
            _ => with(known, arguments, |asked| self.save(asked, client)).await,
        };
        let is_error = answered.is_err();
        let (Ok(document) | Err(document)) = answered;
        let result = json!({
            "content": [{ "type": "text", "text": document.to_string() }],
            "structuredContent": document,
            "isError": is_error,
        });
        Ok(result.to_string())
    }
}

/// What a model is told of the server.
const INSTRUCTIONS: &str = "Replays tool calls without a model. When a task may come again, save its tool calls with \
    save_scenario, and next time play them with play_scenario instead of calling the tools one by one. Look at \
    list_scenarios first.";

/// Reads the arguments, and does the work.
async fn with<T: DeserializeOwned, F: Future<Output = Answer>>(
    tool: &Tool,
    arguments: Map<String, Value>,
    work: impl FnOnce(T) -> F,
) -> Answer {
    match T::deserialize(&arguments) {
        Ok(asked) => work(asked).await,
        Err(error) => {
            let found = check_arguments(&tool.info(), arguments).into_iter().next();
            let (message, help) = match found {
                Some(found) => (found.message, found.help),
                None => (error.to_string(), None),
            };
            let help = help.unwrap_or_else(|| "see the tool's inputSchema".to_owned());
            Err(refused(&message, &help))
        }
    }
}

impl Finished {
    /// The document, as an error unless the command passed; `whole` says where all of it is.
    fn answer(self, whole: &str) -> Answer {
        let document = trimmed(self.document, whole);
        match self.has_passed {
            true => Ok(document),
            false => Err(document),
        }
    }
}

fn trimmed(mut document: Value, whole: &str) -> Value {
    without_empty(&mut document);
    fit(document, whole)
}

fn without(object: &mut Value, keys: &[&str]) {
    for key in keys {
        object
            .as_object_mut()
            .map(|object| object.shift_remove(*key));
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

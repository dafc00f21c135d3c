//! The calls of a coding agent's session, from the trace that its transcript became: calls of MCP servers as they were,
//! the agent's own tools for files and commands as the built-in tools of scenarios.

mod patch;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use cuecard_source::value::as_text;
use cuecard_timeline::profiles::shell::quote;
use cuecard_tool_call::model::BuiltinTool;
use cuecard_trace::{Event, EventData, ToolCall, ToolResult, Trace};
use serde_json::{Map, Value, json};

use self::patch::Files;
use crate::infer::{Note, Part, each_leaf, snake, takes_data};
use crate::recording::days;
use crate::{Call, Outcome, Recording, RpcError, Server};

/// What a session was.
#[derive(Debug, Default)]
pub struct Session {
    /// Its calls.
    pub recording: Recording,
    /// Calls that no tool of scenarios makes.
    pub left_out: Vec<Note>,
}

/// The recording of a session, and what is not in it.
pub fn session_of(trace: &Trace) -> Session {
    let mut session = Session::default();
    let recording = &mut session.recording;
    let results = results(trace);
    let told = |key: &str| trace.header.scenario.get(key);
    let cwd = told("cwd").and_then(Value::as_str);
    let start = trace.events.iter().find(|event| !event.ts_synthesized);
    let start = start.map(|event| event.ts.as_millisecond());
    let told_times = trace.events.iter().filter(|event| !event.ts_synthesized);
    let times: Vec<String> = told_times.map(|event| event.ts.to_string()).collect();
    recording.days = days(times.iter().map(String::as_str));
    let mut files = Files::default();
    for event in &trace.events {
        match &event.data {
            EventData::MessageReceived(message) if is_prompt(&message.content) => {
                recording.prompts.push(message.content.clone());
                recording.prompted_at.push(recording.calls.len());
            }
            EventData::ToolCall(call) => {
                let answer = results.get(call.call_id.as_ref());
                let result = answer.map(|(_, result)| *result);
                let at = start.filter(|_| !event.ts_synthesized);
                let at = at.map(|start| milliseconds(event.ts.as_millisecond() - start));
                // Traces of other formats, which lack the folder, don't tell how commands ended.
                let adapter = cwd.map_or("", |_| trace.header.adapter.name.as_str());
                let now = told("cwd_of").and_then(|folders| folders.get(call.call_id.as_ref()));
                let folders = Folders {
                    first: cwd,
                    now: now.and_then(Value::as_str),
                };
                let made = match result.is_some_and(|result| was_refused(adapter, result)) {
                    true => Err(REFUSED.to_owned()),
                    false => calls_of(call, result, folders, &mut files),
                };
                match made {
                    Ok(calls) => {
                        for (call, doubt) in calls {
                            recording.calls.push(Call {
                                started: at,
                                duration: answer.and_then(|answer| duration(event, answer)),
                                ..call
                            });
                            let number = recording.calls.len();
                            let doubts = doubts(&recording.calls[number - 1], result, cwd);
                            let doubts = doubts.chain(doubt).map(|doubt| (number, doubt));
                            recording.doubts.extend(doubts);
                        }
                    }
                    Err(text) if text == NO_TOOL || text == REFUSED => {
                        session.left_out.push(Note {
                            tool: call.tool.clone().into_owned(),
                            text,
                            ..Note::default()
                        });
                    }
                    Err(reason) => {
                        let gap = format!("`{}` was called, which is no step: {reason}", call.tool);
                        recording.gaps.push((recording.calls.len() + 1, gap));
                    }
                }
            }
            _ => {}
        }
    }
    for call in &recording.calls {
        if let Some(name) = &call.server
            && !recording.servers.iter().any(|server| server.name == *name)
        {
            recording.servers.push(Server {
                name: name.clone(),
                ..Server::default()
            });
        }
    }
    session
}

/// What a call does otherwise than the agent's did.
fn doubts(
    call: &Call,
    result: Option<&ToolResult>,
    cwd: Option<&str>,
) -> impl Iterator<Item = String> {
    let (mut names_folder, mut names_output) = (false, false);
    each_leaf(&json!(call.arguments), &mut |leaf| {
        let text = leaf.as_str().unwrap_or_default();
        names_folder |= cwd.is_some_and(|cwd| places(text, cwd).next().is_some());
        names_output |= text.contains("/tasks/") && text.contains(".output");
    });
    let kept = result.and_then(|result| result.structured.as_ref()?.get("userModified"));
    let in_background = call.arguments.get("run_in_background") == Some(&true.into());
    let folder = format!(
        "it names the agent's folder, `{}`: does it mean the folder of the run?",
        cwd.unwrap_or_default()
    );
    let all = [
        (names_folder, folder.as_str()),
        (
            kept == Some(&true.into()),
            "the user changed it before it was done: this is what the agent proposed",
        ),
        (
            in_background,
            "it goes on in the background: later steps don't wait for its end",
        ),
        (
            names_output,
            "it reads what a command in the background wrote: that file has another name in each run",
        ),
    ];
    all.map(|(is_one, text)| is_one.then(|| text.to_owned()))
        .into_iter()
        .flatten()
}

/// Whether a tool of Codex runs commands.
fn is_shell(tool: &str) -> bool {
    let tools = "exec_command shell shell_command container.exec local_shell";
    tools.split(' ').any(|known| known == tool)
}

/// Whether a call was not carried out, since the user, a rule or the agent's program refused it.
fn was_refused(adapter: &str, result: &ToolResult) -> bool {
    const WORDS: &str = "the user doesn't want to|[request interrupted by user|requested permissions to|you haven't granted it|\
        permission to use |permission denied by|requires approval|rejected by user|rejected by the user|denied by user|\
        denied by the user|user rejected|user cancelled mcp tool call|declined by the user|user denied|user declined|\
        aborted by user|blocked by app configuration|hook error|blocked by hook|hook blocked";
    /// Longer texts are what a call printed.
    const LONGEST: usize = 1_000;
    let text = text_of(result);
    // Claude Code marks what it refused, and tells the exit code of what it ran; Codex tells that of each command and patch.
    let tool = result.tool.as_ref();
    let is_marked = !result.success && text.starts_with("<tool_use_error>");
    let tells_end = match adapter {
        "claude-code" => {
            !result.success
                && matches!(
                    tool,
                    "Bash" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit"
                )
        }
        "codex" => tool == "apply_patch" || is_shell(tool),
        _ => false,
    };
    if is_marked || (tells_end && !has_run(result, &text)) {
        return true;
    }
    let start: String = text.trim_start().chars().take(200).collect();
    let start = start.to_lowercase();
    // Codex says so in answers that count as passed.
    let starts = "user rejected mcp|user cancelled mcp|err: user rejected|aborted";
    let may_be = !result.success || starts.split('|').any(|words| start.starts_with(words));
    may_be && text.len() <= LONGEST && WORDS.split('|').any(|words| start.contains(words))
}

/// Whether an answer to a command or a patch says how it ended, or that it goes on.
fn has_run(result: &ToolResult, text: &str) -> bool {
    let kept = result.structured.as_ref();
    let line = text.lines().next().unwrap_or_default();
    let starts = ["Success", "Command was aborted"];
    kept.is_some_and(|kept| kept.get("exit_code").is_some())
        || line.contains("Exit code")
        || starts.iter().any(|start| text.starts_with(start))
        || is_timed_out(text)
        || text.contains(GOES_ON)
}

/// What Codex says of a command that it leaves running.
const GOES_ON: &str = "Process running with session ID";

fn is_timed_out(text: &str) -> bool {
    const START: &str = "command timed out";
    text.get(..START.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(START))
}

/// The text of an answer, without the lines that Codex puts before it.
fn text_of(result: &ToolResult) -> Cow<'_, str> {
    let whole = result.text.as_deref();
    let text = whole.map_or_else(|| as_text(&result.result), Cow::Borrowed);
    let rest = text.strip_prefix("Wall time: ");
    let rest = rest.and_then(|rest| rest.split_once('\n'));
    match rest.and_then(|(_, rest)| rest.strip_prefix("Output:\n")) {
        Some(own) => own.to_owned().into(),
        None => text,
    }
}

/// Why calls are left out.
const NO_TOOL: &str = "no tool of scenarios does this";
const REFUSED: &str = "it was refused, and not done";

/// Whether a message is the user's own, and not what a command of the program printed.
fn is_prompt(text: &str) -> bool {
    !["<command-", "<local-command", "<system-reminder"]
        .iter()
        .any(|start| text.trim_start().starts_with(start))
}

fn results(trace: &Trace) -> HashMap<&str, (&Event, &ToolResult)> {
    let results = trace.events.iter().filter_map(|event| match &event.data {
        EventData::ToolResult(result) => Some((result.call_id.as_ref(), (event, result))),
        _ => None,
    });
    results.collect()
}

fn duration(call: &Event, (answer, result): &(&Event, &ToolResult)) -> Option<Duration> {
    let told = result.duration_ms;
    let told = told.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    let is_measured = !call.ts_synthesized && !answer.ts_synthesized;
    let between = answer.ts.as_millisecond() - call.ts.as_millisecond();
    told.or_else(|| is_measured.then(|| milliseconds(between)))
}

fn milliseconds(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(0))
}

/// Where the agent worked.
#[derive(Clone, Copy)]
struct Folders<'t> {
    /// At first, which is where a run of the scenario works.
    first: Option<&'t str>,
    /// When the call was made, if that was elsewhere.
    now: Option<&'t str>,
}

/// A call of a scenario, and what the session can't tell of it.
type Made = (Call, Option<String>);

/// The calls that do what one of the agent's did.
fn calls_of(
    call: &ToolCall,
    result: Option<&ToolResult>,
    folders: Folders<'_>,
    files: &mut Files,
) -> Result<Vec<Made>, String> {
    let cwd = folders.first;
    let arguments = match call.args.as_ref() {
        Value::Object(arguments) => arguments.clone(),
        Value::Null => Map::new(),
        _ => return Err("its arguments are not an object".to_owned()),
    };
    if let Some((server, tool)) = call
        .tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
    {
        let call = Call {
            server: Some(server.to_owned()),
            tool: tool.to_owned(),
            arguments,
            outcome: result.map_or(Outcome::Missing, mcp_outcome),
            ..Call::default()
        };
        return Ok(vec![(call, None)]);
    }
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let is_true = |key: &str| arguments.get(key) == Some(&true.into());
    let name = call.tool.as_ref();
    let tool = BuiltinTool::find(&format!("claude__{}", snake(name).to_lowercase()));
    match name {
        _ if is_shell(name) || tool == Some(BuiltinTool::Bash) => {
            let command = match is_shell(name) {
                true => ["cmd", "command"]
                    .iter()
                    .find_map(|key| command_text(arguments.get(*key)?)),
                false => text("command").map(str::to_owned),
            };
            let command = command.ok_or("it has no command")?;
            if let Some((_, patch)) = command
                .split_once("*** Begin Patch")
                .filter(|_| command.starts_with("apply_patch"))
            {
                return patched(&format!("*** Begin Patch{patch}"), result, cwd, files);
            }
            let folder = text("workdir").or_else(|| text("working_directory"));
            let now = folder.or(folders.now);
            let mut call = shell(command, Folders { now, ..folders }, result);
            for (key, own) in [
                ("timeout", "timeout"),
                ("timeout_ms", "timeout"),
                ("run_in_background", "run_in_background"),
            ] {
                if let Some(value) = arguments.get(key)
                    && call.tool == BuiltinTool::Bash.name()
                {
                    call.arguments.insert(own.to_owned(), value.clone());
                }
            }
            if is_true("run_in_background") {
                call.arguments.remove("expect_exit");
                // All that a scenario gets at first is the name under which it asks for the rest.
                if let (Outcome::BuiltIn(value), Some(result)) = (&mut call.outcome, result) {
                    let text = text_of(result);
                    let id = text.split_once("ID: ").map(|(_, rest)| rest);
                    let id = id.and_then(|rest| rest.split_whitespace().next());
                    *value = json!({ "shell_id": id.map(|id| id.trim_end_matches('.')) });
                }
            }
            if let (Some(command), Outcome::BuiltIn(value)) = (
                call.arguments.get("command").and_then(Value::as_str),
                &call.outcome,
            ) {
                files.see(command, value["stdout"].as_str().unwrap_or_default());
            }
            Ok(vec![(call, None)])
        }
        "write_stdin" | "TaskOutput" | "TaskStop" => Err(
            "it waited for a command in the background, or ended it: the scenario does neither"
                .to_owned(),
        ),
        "apply_patch" => {
            let patch = text("input").or_else(|| text("patch"));
            let patch = patch.ok_or("the session doesn't say what the patch changed")?;
            patched(patch, result, cwd, files)
        }
        "MultiEdit" => {
            let edits = arguments.get("edits").and_then(Value::as_array);
            let edits = edits.filter(|edits| !edits.is_empty());
            let edits = edits.ok_or("it has no `edits`")?.iter().map(|edit| {
                let mut one = arguments.clone();
                one.extend(edit.as_object().cloned().unwrap_or_default());
                let one = known_arguments(BuiltinTool::Edit, &one, cwd)?;
                Ok((built_in(BuiltinTool::Edit, one, result, cwd), None))
            });
            edits.collect()
        }
        _ => {
            let tool = tool.ok_or(NO_TOOL)?;
            let arguments = known_arguments(tool, &arguments, cwd)?;
            Ok(vec![(built_in(tool, arguments, result, cwd), None)])
        }
    }
}

fn made(tool: &str, arguments: Map<String, Value>, outcome: Outcome) -> Call {
    Call {
        tool: tool.to_owned(),
        arguments,
        outcome,
        ..Call::default()
    }
}

/// The answer of a server, as it went over the wire.
fn mcp_outcome(result: &ToolResult) -> Outcome {
    let text = |value: &Value| json!({ "type": "text", "text": as_text(value) });
    let whole = result.text.as_deref();
    let content = match (result.result.as_ref(), whole) {
        // Several blocks: the text is that of all of them.
        (Value::Array(blocks), Some(whole))
            if serde_json::from_str::<Value>(whole).ok().as_ref() != Some(&*result.result) =>
        {
            let block = |block: &Value| match block["type"].as_str() {
                Some("image") => json!({ "type": "image", "data": "", "mimeType": "image/png" }),
                _ => text(block),
            };
            blocks.iter().map(block).collect()
        }
        _ => vec![text(&text_of(result).as_ref().into())],
    };
    // Codex says so of a call that counts as passed.
    let has_failed = !result.success || text_of(result).starts_with("tool call error: ");
    let mut answer = json!({ "content": content, "isError": has_failed });
    if let Some(structured) = &result.structured {
        answer["structuredContent"] = structured.clone();
    }
    Outcome::Result(answer)
}

/// The call of a built-in tool, with as much of its result as the session tells what a scenario would get.
fn built_in(
    tool: BuiltinTool,
    arguments: Map<String, Value>,
    result: Option<&ToolResult>,
    cwd: Option<&str>,
) -> Call {
    let Some(result) = result else {
        return made(tool.name(), arguments, Outcome::Missing);
    };
    let text = text_of(result);
    let outcome = match (result.success, tool) {
        (false, _) => Outcome::Error(RpcError {
            message: text.into_owned(),
            ..RpcError::default()
        }),
        (true, BuiltinTool::Read) => {
            let lines: Vec<_> = text.split('\n').map(numbered).collect();
            Outcome::BuiltIn(json!({ "content": lines.join("\n") }))
        }
        (true, BuiltinTool::Bash) => {
            Outcome::BuiltIn(json!({ "stdout": "", "stderr": "", "exit_code": 0 }))
        }
        (true, BuiltinTool::Glob | BuiltinTool::Grep) => Outcome::BuiltIn(files(&text, cwd)),
        (true, _) => Outcome::BuiltIn(Value::Null),
    };
    made(tool.name(), arguments, outcome)
}

/// The files that a search found, as steps name them; null if it lists something else.
fn files(text: &str, cwd: Option<&str>) -> Value {
    let listed = match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("Found ") => rest,
        _ => text,
    };
    let files: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
    // The built-in tool gives whole paths; what agents print otherwise are lines of files, counts, and remarks.
    match files.iter().all(|file| file.starts_with('/')) {
        true => {
            let files = files.iter().map(|file| below(file, cwd).unwrap_or(file));
            json!({ "files": files.collect::<Vec<_>>() })
        }
        false => Value::Null,
    }
}

/// A line of a file as the built-in tool numbers it: some agents have an arrow in place of the tab.
fn numbered(line: &str) -> Cow<'_, str> {
    match line.split_once('→') {
        Some((number, text)) if number.trim_start().parse::<u32>().is_ok() => {
            format!("{number}\t{text}").into()
        }
        _ => line.into(),
    }
}

/// A command, or the wait that it is.
fn shell(command: String, folders: Folders<'_>, result: Option<&ToolResult>) -> Call {
    let seconds = command
        .trim()
        .strip_prefix("sleep ")
        .and_then(|rest| rest.trim().parse::<f64>().ok());
    if let Some(seconds) = seconds.filter(|seconds| (0.0..=3600.0).contains(seconds)) {
        let arguments = Map::from_iter([("duration".to_owned(), json!(seconds))]);
        return made("sandy__wait", arguments, Outcome::BuiltIn(Value::Null));
    }
    let folder = folders
        .now
        .map(|now| below(now, folders.first).unwrap_or(now));
    let (command, cwd) = match (folder.filter(|folder| *folder != "."), folders.first) {
        (Some(folder), _) => (format!("cd {} && {command}", quote(folder)), None),
        (None, Some(cwd)) => (from_here(&command, cwd), Some(cwd)),
        (None, None) => (command, None),
    };
    // What it prints names paths as it does.
    let names_folder = cwd.is_some_and(|cwd| places(&command, cwd).next().is_some());
    let printed = |text: &str| match cwd {
        Some(cwd) if !names_folder => without_folder(text, cwd),
        _ => text.to_owned(),
    };
    let mut arguments = Map::from_iter([("command".to_owned(), json!(command))]);
    let Some(result) = result else {
        return made("claude__bash", arguments, Outcome::Missing);
    };
    let kept = |key: &str| result.structured.as_ref().and_then(|kept| kept.get(key));
    let text = text_of(result);
    let said = text
        .lines()
        .next()
        .and_then(|line| line.split_once("Exit code "));
    let said = said.and_then(|(_, code)| code.trim().parse().ok());
    let code = kept("exit_code")
        .and_then(Value::as_i64)
        .or(said.filter(|_| !result.success));
    // As `timeout` ends.
    let code = code.or(is_timed_out(&text).then_some(124));
    let code = code.unwrap_or(i64::from(!result.success));
    // Codex goes on while it runs, and may end it.
    let goes_on = text.contains(GOES_ON);
    if goes_on {
        arguments.insert("run_in_background".to_owned(), json!(true));
    } else if code == 0 {
        arguments.insert("expect_exit".to_owned(), json!(0));
    }
    let mut stdout = printed(kept("stdout").and_then(Value::as_str).unwrap_or(&text));
    // Agents keep it without its last line end, which a scenario gets.
    if !stdout.is_empty() && !stdout.ends_with('\n') {
        stdout.push('\n');
    }
    let value = match goes_on {
        true => json!({ "shell_id": null }),
        false => json!({
            "stdout": stdout,
            "stderr": printed(kept("stderr").and_then(Value::as_str).unwrap_or_default()),
            "exit_code": code,
        }),
    };
    made("claude__bash", arguments, Outcome::BuiltIn(value))
}

/// The text of a command, which may be a list of words.
fn command_text(command: &Value) -> Option<String> {
    let words: Vec<&str> = match command {
        Value::String(text) => return Some(unwrapped(text)),
        Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    if let [shell, "-c" | "-lc", script] = words.as_slice()
        && shell.ends_with("sh")
    {
        return Some((*script).to_owned());
    }
    let is_plain = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_alphanumeric() || "_-./=:,@%+".contains(letter))
    };
    let quoted = words.iter().map(|word| match is_plain(word) {
        true => (*word).to_owned(),
        false => quote(word),
    });
    Some(quoted.collect::<Vec<String>>().join(" "))
}

/// A command without the shell that Codex prints around it, if its quotes are plain.
fn unwrapped(command: &str) -> String {
    let starts = "/bin/bash -lc |/usr/bin/bash -lc |bash -lc |/bin/sh -c |/bin/zsh -lc ";
    let Some(script) = starts
        .split('|')
        .find_map(|start| command.strip_prefix(start))
    else {
        return command.to_owned();
    };
    let inner = |quote: char| script.strip_prefix(quote)?.strip_suffix(quote);
    match (inner('\''), inner('"')) {
        (Some(inner), _) if !inner.contains('\'') => inner.to_owned(),
        (_, Some(inner)) if !inner.contains(['"', '\\', '$', '`']) => inner.to_owned(),
        (None, None) if !script.contains(char::is_whitespace) => script.to_owned(),
        _ => command.to_owned(),
    }
}

fn patched(
    patch: &str,
    result: Option<&ToolResult>,
    cwd: Option<&str>,
    files: &mut Files,
) -> Result<Vec<Made>, String> {
    let changes = patch::changes(patch, |path| below(path, cwd).unwrap_or(path), files)?;
    let calls = changes
        .into_iter()
        .map(|(tool, arguments, doubt)| (built_in(tool, arguments, result, cwd), doubt));
    Ok(calls.collect())
}

/// The arguments that a built-in tool knows.
fn known_arguments(
    tool: BuiltinTool,
    arguments: &Map<String, Value>,
    cwd: Option<&str>,
) -> Result<Map<String, Value>, String> {
    let specs = tool.params();
    let is_known = |key: &str| specs.iter().any(|spec| spec.name == key);
    let known = arguments.iter().filter(|(key, _)| is_known(key));
    let mut known: Map<String, Value> = known
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(missing) = specs
        .iter()
        .find(|spec| spec.required && !known.contains_key(spec.name))
    {
        return Err(format!("it has no `{}`", missing.name));
    }
    // It is what the command in the background gave as `shell_id`.
    if let Some(id) = known.remove("bash_id") {
        known.insert("shell_id".to_owned(), id);
    }
    for (key, value) in &mut known {
        let is_path = matches!(key.as_str(), "file_path" | "path" | "notebook_path")
            || (tool == BuiltinTool::Glob && key == "pattern");
        let path = value.as_str().filter(|_| is_path);
        if let Some(below) = path.and_then(|path| below(path, cwd)) {
            *value = below.into();
        }
    }
    Ok(known)
}

/// A path below the agent's folder, from there.
fn below<'p>(path: &'p str, cwd: Option<&str>) -> Option<&'p str> {
    let rest = path.strip_prefix(cwd?.trim_end_matches('/'))?;
    match rest.trim_start_matches('/') {
        "" => Some("."),
        below => rest.starts_with('/').then_some(below),
    }
}

/// A command whose paths below the folder that it starts in are written from there, until it goes elsewhere: at the `cd`
/// that it begins with, and where only programs get them that are known to name files of this machine.
fn from_here(command: &str, cwd: &str) -> String {
    if let Some(rest) = command.strip_prefix("cd ") {
        let end = rest.find(['&', ';', '|', '\n']).unwrap_or(rest.len());
        return format!("cd {}{}", without_folder(&rest[..end], cwd), &rest[end..]);
    }
    let goes = command.match_indices("cd ").find(|(at, _)| {
        let before = command[..*at].chars().next_back();
        before.is_none_or(|before| before.is_whitespace() || "&;|({`".contains(before))
    });
    let (here, there) = command.split_at(goes.map_or(command.len(), |(at, _)| at));
    let folder = cwd.trim_end_matches('/');
    // Patterns beside it name files, as names without them do.
    let text = |text: &str| Part::Text(text.replace(['*', '?'], "x"));
    let (mut parts, mut from) = (Vec::new(), 0);
    for at in places(here, cwd) {
        parts.push(text(&here[from..at]));
        parts.push(Part::Output(String::new(), folder.to_owned()));
        from = at + folder.len();
    }
    parts.push(text(&command[from..]));
    // These take any text, which may be no path.
    let prints = |word: &str| ["echo", "printf", "grep", "test", "[", "[["].contains(&word);
    let may_print = command.split_whitespace().any(prints);
    match parts.len() > 1 && !may_print && takes_data(&parts) {
        true => without_folder(here, cwd) + there,
        false => command.to_owned(),
    }
}

/// A text with `.` in place of a folder.
fn without_folder(text: &str, folder: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut from = 0;
    for at in places(text, folder) {
        written.push_str(&text[from..at]);
        written.push('.');
        from = at + folder.trim_end_matches('/').len();
    }
    written + &text[from..]
}

/// Where a text names a folder, or something below it.
fn places(command: &str, folder: &str) -> impl Iterator<Item = usize> {
    let folder = folder.trim_end_matches('/');
    let is_of_name = |letter: char| letter.is_alphanumeric() || "-_.~+@%".contains(letter);
    let found = command.match_indices(folder).filter(move |(at, _)| {
        let before = command[..*at].chars().next_back();
        let after = command[at + folder.len()..].chars().next();
        let begins = before.is_none_or(|before| !is_of_name(before) && before != '/')
            || is_option(command[..*at].rsplit(char::is_whitespace).next());
        begins && after.is_none_or(|after| !is_of_name(after)) && !folder.is_empty()
    });
    found.map(|(at, _)| at)
}

/// Whether a word is an option whose value follows at once: `-I`.
fn is_option(word: Option<&str>) -> bool {
    let letter = word.and_then(|word| word.strip_prefix('-'));
    letter
        .is_some_and(|letter| matches!(letter.as_bytes(), [letter] if letter.is_ascii_alphabetic()))
}

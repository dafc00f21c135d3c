//! The built-in tools: adapters between a step's parameters and the workspace. Each asks the policy first.

mod arguments;
pub(super) mod background;
mod files;
mod mistakes;
mod search;
mod shell;
mod waits;
mod web;

use std::borrow::Cow;
use std::time::Duration;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::{changes, read_value};
use cuecard_source::value::{Origin, Piece, Text};
use cuecard_tool_call::model::{
    BuiltinTool, DuplicateKey, Reference, Step, Template, ToolCallScenario, ToolName,
};
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind};
use serde_json::{Value as Json, json};

use self::arguments::Arguments;
pub use self::mistakes::mistakes;
use super::toolbox::{
    Answer, Found, Prepared, ToolSettings, Toolbox, command_timed_out, timed_out,
};
use cuecard_runtime::policy::{Policy, Refusal, RefusalKind};
use cuecard_runtime::tap::Recorder;

/// How much longer than the step's time a tool has that keeps this time itself: it has the better message about it, and a
/// command still has to be killed and its last output to be read.
const GRACE: Duration = Duration::from_secs(2);

/// Prepares a call of a built-in tool: of one that takes no time, or changes the toolbox, this is the call.
pub(super) async fn prepare(
    toolbox: &mut Toolbox,
    tool: BuiltinTool,
    request: &CallRequest,
    recorder: &mut Recorder<'_>,
) -> Result<Prepared, Failure> {
    let arguments = Arguments::new(tool, &request.params)?;
    let result = match tool {
        BuiltinTool::Log => {
            // Whoever shows the run shows the message: that it was called is all there is to a log.
            Ok(json!({"logged": arguments.content("message")}))
        }
        BuiltinTool::WaitForElement | BuiltinTool::WaitUntil => {
            Box::pin(waits::wait(toolbox, tool, &arguments, request, recorder)).await
        }
        BuiltinTool::AppendFile => files::append(toolbox, &arguments, recorder),
        BuiltinTool::Read => files::read(toolbox, &arguments, recorder),
        BuiltinTool::Write => files::write(toolbox, &arguments),
        BuiltinTool::Edit => files::edit(toolbox, &arguments),
        BuiltinTool::NotebookEdit => files::notebook_edit(toolbox, &arguments),
        BuiltinTool::Bash if arguments.flag("run_in_background") => {
            Box::pin(shell::start(toolbox, &arguments, request)).await
        }
        BuiltinTool::BashOutput => background::output(toolbox, &arguments, request, recorder),
        BuiltinTool::KillShell => Box::pin(background::kill(toolbox, &arguments)).await,
        BuiltinTool::Wait
        | BuiltinTool::Glob
        | BuiltinTool::Grep
        | BuiltinTool::Bash
        | BuiltinTool::WebFetch => return Ok(Prepared::Builtin(tool)),
    };
    Ok(Prepared::Over(result.map(Answer::from)))
}

/// The work of a tool that [takes its time](Prepared::Builtin).
pub(super) async fn work(
    settings: &ToolSettings,
    tool: BuiltinTool,
    request: &CallRequest,
) -> Result<Found, Failure> {
    let working = async {
        let arguments = Arguments::new(tool, &request.params)?;
        let result = match tool {
            BuiltinTool::Wait => wait(settings, &arguments, request.timeout).await,
            BuiltinTool::Glob => search::glob(settings, &arguments, request.timeout).await,
            BuiltinTool::Grep => search::grep(settings, &arguments, request.timeout).await,
            BuiltinTool::WebFetch => return web::fetch(settings, &arguments, request).await,
            _ => return shell::run(settings, &arguments, request).await,
        };
        Ok((result?, Vec::new()))
    };
    let Some(limit) = request.timeout else {
        return working.await;
    };
    match tokio::time::timeout(limit + GRACE, working).await {
        Ok(found) => found,
        Err(_) if tool == BuiltinTool::Bash => Err(command_timed_out(limit)),
        Err(_) => Err(timed_out(limit)),
    }
}

/// The JSON that `text` is, with warnings if something in it can't be kept; `what` is what it is in messages.
///
/// # Errors
/// If it is none, or was cut.
fn json_of(what: &str, text: &str, is_cut: bool) -> Result<(Json, Vec<String>), Failure> {
    let text = text.trim_start_matches('\u{feff}');
    match read_value(text) {
        Ok(json) => {
            let changed = changes(what, text.as_bytes()).into_iter();
            let changed = changed.map(|it| format!("{}: {}", it.code, it.message));
            Ok((json, changed.collect()))
        }
        Err(error) => {
            let message = match is_cut {
                true => format!("{what} is too long to be read as JSON: a part of it was dropped"),
                false => format!("{what} is not JSON: {error}"),
            };
            Err(Failure::new(FailureKind::ToolError, message))
        }
    }
}

/// What the policy refused, as a step's failure.
pub(super) fn refused(refusal: Refusal) -> Failure {
    let kind = match refusal.kind {
        RefusalKind::Path => FailureKind::RefusedPath,
        RefusalKind::Command => FailureKind::RefusedCommand,
        RefusalKind::Data => FailureKind::RefusedData,
        RefusalKind::Host => FailureKind::RefusedHost,
        RefusalKind::Tool => FailureKind::RefusedTool,
    };
    Failure::new(kind, refusal.message).with_help(refusal.help)
}

/// What the policy says of a call before the run, whatever its references will be: what it refuses for each of the words
/// that could pass.
pub fn forbidden(policy: &Policy, tool: BuiltinTool, params: &Json) -> Option<Failure> {
    type Judge = fn(&Policy, &Text) -> Option<Refusal>;
    let writes: Judge = |policy, path| policy.write_path(path).err();
    let reads: Judge = |policy, path| policy.read_path(path).err();
    let (name, refused_for): (_, Judge) = match tool {
        BuiltinTool::Wait
        | BuiltinTool::Log
        | BuiltinTool::WaitForElement
        | BuiltinTool::WaitUntil
        | BuiltinTool::BashOutput
        | BuiltinTool::KillShell => return None,
        BuiltinTool::AppendFile => ("path", writes),
        BuiltinTool::Write | BuiltinTool::Edit => ("file_path", writes),
        BuiltinTool::NotebookEdit => ("notebook_path", writes),
        BuiltinTool::Read => ("file_path", reads),
        BuiltinTool::Glob | BuiltinTool::Grep => ("path", reads),
        BuiltinTool::Bash => ("command", |policy, command| policy.command(command).err()),
        BuiltinTool::WebFetch => ("url", |policy, url| policy.url(url).err()),
    };
    let written = params.get(name)?.as_str()?;
    if tool != BuiltinTool::Bash && is_part_of_name(written, tool == BuiltinTool::WebFetch) {
        return None;
    }
    let mut refused_text = None;
    for text in with_words(written, &policy.words())? {
        // What data may not be is told by itself.
        let refusal = refused_for(policy, &text).filter(|it| it.kind != RefusalKind::Data)?;
        refused_text.get_or_insert((text, refusal));
    }
    let (text, mut refusal) = refused_text?;
    refusal.message = refusal.message.replace(&text.to_string(), written);
    Some(refused(refusal))
}

/// Whether a reference is a part of a name of a path, or of the host or port of a URL: then its value may as well go on
/// with other names.
fn is_part_of_name(text: &str, is_url: bool) -> bool {
    let is_letter = |letter: char| !"/.:@?#".contains(letter);
    text.match_indices("{{").any(|(at, _)| {
        let before = &text[..at];
        let rest = text[at..].split_once("}}").map_or("", |(_, rest)| rest);
        let host = before.split_once("://").map_or(before, |(_, host)| host);
        let is_name = !is_url || !host.contains(['/', '?', '#']);
        is_name && (before.ends_with(is_letter) || rest.starts_with(is_letter))
    })
}

/// A text with each of the words in place of its reference, or of each of its two; none if it has more, or if one
/// decides how it begins.
fn with_words(text: &str, words: &[String]) -> Option<Vec<Text>> {
    let mut parts = text.split("{{");
    let first = parts.next().filter(|first| !first.is_empty())?;
    let parts = parts.map(|part| part.split_once("}}"));
    let parts: Vec<(&str, &str)> = parts.collect::<Option<_>>()?;
    let mut references: Vec<&str> = parts.iter().map(|(reference, _)| *reference).collect();
    references.sort_unstable();
    references.dedup();
    let count = u32::try_from(references.len()).ok().filter(|it| *it <= 2)?;
    let with = |nth: usize| {
        let mut pieces = vec![Piece::author(first)];
        for (reference, rest) in &parts {
            let is_first = references.first() == Some(reference);
            let word = if is_first {
                nth % words.len()
            } else {
                nth / words.len()
            };
            pieces.push(Piece {
                text: words[word].clone(),
                is_string: true,
                origin: Origin::Peer,
                reference: Some((*reference).into()),
            });
            pieces.push(Piece::author(rest));
        }
        Text::new(pieces)
    };
    Some((0..words.len().pow(count)).map(with).collect())
}

/// A note if the policy refuses a step's command whatever text a server gives, so that only a whole number passes.
pub fn refused_for_text(
    policy: &Policy,
    scenario: &ToolCallScenario,
    step: &Step,
) -> Option<Diagnostic> {
    let tool = BuiltinTool::Bash;
    if step.tool != ToolName::Builtin(tool)
        || matches!(
            step.params.member("command").as_deref(),
            None | Some(Template::Literal(_))
        )
    {
        return None;
    }
    let is_output = |reference: &Reference| {
        let mut steps = scenario.steps.iter();
        steps.any(|step| step.id.as_ref() == Some(&reference.name))
    };
    let params = step.params.fill::<DuplicateKey>(|placeholder| {
        // What is neither a variable nor a step gets its value from the user, or is an error of its own.
        let mut is_data = is_output(&placeholder.reference);
        let for_each = step.for_each.as_ref();
        if let Some(for_each) = for_each.filter(|_| step.is_element(placeholder)) {
            let list = &for_each.list;
            list.for_each_placeholder(&mut |it| is_data |= is_output(&it.reference));
        }
        let origin = match is_data {
            true => Origin::Peer,
            false => Origin::User,
        };
        Ok((Cow::Owned("text".into()), origin))
    });
    let params = params.ok()?;
    let arguments = Arguments::new(tool, &params).ok()?;
    let command = arguments.required_text("command");
    let env = arguments.members("env");
    let refusal = policy.command_with_env(&command, &env).err();
    let refusal = refusal.filter(|refusal| refusal.kind == RefusalKind::Data)?;
    let failure = refused(refusal);
    let message = format!(
        "{} is refused unless the value is a whole number: {}",
        step.label(),
        failure.message
    );
    let mut note =
        Diagnostic::note(failure.kind.code(), message).at(&scenario.source, step.params_span);
    note.help = failure.help;
    Some(note)
}

async fn wait(
    settings: &ToolSettings,
    arguments: &Arguments<'_>,
    limit: Option<Duration>,
) -> Result<Json, Failure> {
    /// A day: whoever waits longer wants a scheduler.
    const LONGEST: f64 = 86_400.0;
    let seconds = arguments.number("duration");
    let seconds = seconds.or_else(|| arguments.number("seconds"));
    let seconds = seconds.unwrap_or_default();
    if seconds > LONGEST {
        let message = format!("a wait of {seconds} s is longer than {LONGEST} s, a day");
        return Err(Failure::new(FailureKind::BadParameters, message));
    }
    let scaled = Duration::try_from_secs_f64(seconds * settings.speed).unwrap_or_default();
    match limit {
        Some(limit) if limit < scaled => {
            tokio::time::sleep(limit).await;
            return Err(timed_out(limit));
        }
        // A timer would cost more than nothing.
        _ if scaled.is_zero() => {}
        _ => tokio::time::sleep(scaled).await,
    }
    Ok(json!({"waited": number(seconds)}))
}

/// A number of seconds as it was asked for: 2 stays 2.
fn number(seconds: f64) -> Json {
    if seconds.fract() == 0.0 && seconds.abs() < 1e15 {
        // Checked to be whole and small enough.
        Json::from(seconds as i64)
    } else {
        Json::from(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_a_part_of_a_name_is_known_only_during_the_run() {
        for path in [
            "/srv/site{{a.p}}.html",
            "/srv/wt-{{a.branch}}/x",
            "/tmp/{{a.dir}}out/y.txt",
            "../{{a.p}}x.txt",
            ".git{{a.p}}",
            "/etc/{{a.p}}{{a.q}}",
        ] {
            assert!(is_part_of_name(path, false), "{path}");
        }
        for path in [
            "/etc/{{a.p}}",
            ".{{a.p}}",
            "/srv/{{a.p}}/{{a.q}}.md",
            "/etc/x",
        ] {
            assert!(!is_part_of_name(path, false), "{path}");
        }
        for url in [
            "http://h:8000{{a.p}}",
            "http://localhost{{a.p}}",
            "http://h:80{{a.p}}",
        ] {
            assert!(is_part_of_name(url, true), "{url}");
        }
        for url in [
            "http://h/x{{a.p}}y",
            "http://h?q={{a.p}}",
            "http://{{a.host}}/x",
            "http://h:{{a.port}}",
            "http://{{a.sub}}.example.com/",
        ] {
            assert!(!is_part_of_name(url, true), "{url}");
        }
    }
}

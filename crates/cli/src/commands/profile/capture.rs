//! `cuecard profile capture`: a profile from the tools that an agent advertised. It fails if somebody has to complete it.

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::profiles::{AgentName, Capture, Captured, Version, capture};
use cuecard_timeline::script::Endpoint;

use super::exchanges::{self, Advertised};
use crate::args::ProfileCaptureArgs;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr_line, stdout};
use crate::output_files::write_text;

pub(super) fn run(args: &ProfileCaptureArgs, output: &Output) -> Result<ExitCode, Stop> {
    let (name, captured) = captured(args).map_err(Stop::invalid)?;
    let code = match captured.missing.is_empty() {
        true => ExitCode::Passed,
        false => ExitCode::Failed,
    };
    for missing in &captured.missing {
        let found = Diagnostic::warning(codes::TOOL_NOT_IN_PROFILE, missing.as_str())
            .with_help("complete the file: uncertain entries are commented out");
        output.diagnostic(&found);
    }
    let Some(folder) = &args.out else {
        stdout(&captured.text);
        return Ok(code);
    };
    let path = folder.join(name);
    write_text(&path, &captured.text).map_err(Stop::could_not_run)?;
    stderr_line(&format!("wrote {}", path.display()));
    Ok(code)
}

/// The name of the file, and what stands in it.
fn captured(args: &ProfileCaptureArgs) -> Result<(String, Captured), Diagnostic> {
    let mut found = Advertised::default();
    for path in &args.files {
        exchanges::read(path, &mut found)?;
    }
    if found.tools.is_empty() {
        let message = "none of the requests advertises tools";
        return Err(Diagnostic::error(codes::ARGUMENT, message).with_help(
            "let the agent send at least one request: `cuecard serve llm FILE -- AGENT …`",
        ));
    }
    let (agent, version) = match (&args.agent, &found.agent) {
        (Some(text), _) => named(text)?,
        (None, Some((agent, version))) => {
            Version::parse(version).ok_or_else(|| unnamed(version))?;
            (agent.clone(), version.clone())
        }
        (None, None) => return Err(unnamed("")),
    };
    let captured = capture(&Capture {
        agent: &agent,
        version: &version,
        endpoint: match args.usual {
            true => found.endpoint.map(Endpoint::as_str),
            false => None,
        },
        tools: &found.tools,
    });
    Ok((format!("{agent}/{version}.toml"), captured))
}

fn named(text: &str) -> Result<(String, String), Diagnostic> {
    let is_plain = |name: &str| {
        name.chars()
            .all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character))
            && !name.starts_with('.')
    };
    match (AgentName::parse(text), text.split_once('@')) {
        (Some(_), Some((agent, version))) if is_plain(agent) && is_plain(version) => {
            Ok((agent.to_owned(), version.to_owned()))
        }
        _ => {
            let message = format!("`--agent {text}` is not NAME@VERSION");
            Err(Diagnostic::error(codes::ARGUMENT, message)
                .with_help("for example `--agent my-agent@1.2.0`"))
        }
    }
}

fn unnamed(version: &str) -> Diagnostic {
    let message = match version {
        "" => "the agent can't be detected from the requests".to_owned(),
        version => format!("the agent reports `{version}`, which is not a valid version"),
    };
    Diagnostic::error(codes::ARGUMENT, message).with_help("specify it with `--agent NAME@VERSION`")
}

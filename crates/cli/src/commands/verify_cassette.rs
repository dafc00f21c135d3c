//! `cuecard verify` of a cassette: the live server against what it answered when it was recorded.

use std::path::Path;
use std::time::Duration;

use cuecard_mcp::Era;
use cuecard_recording::cassette::{
    CallVerdict, Cassette, Direction, Verification, VerifyOptions, verify,
};
use cuecard_report::diagnostics::list_to_json;
use cuecard_runtime::clock::Clock;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::printable;
use serde_json::{Value as Json, json};
use serde_json_path::JsonPath;

use super::cassette;
use super::server::{self, Named};
use crate::args::{ServerArgs, VerifyArgs};
use crate::asynchronous::interruptibly;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{self, Output, stderr};
use crate::output_files::write_text;

pub(super) fn run(args: &VerifyArgs, context: &Context) -> Result<ExitCode, Stop> {
    let refused = |stop: &Stop| {
        let found = list_to_json(&stop.diagnostics);
        json!({ "success": false, "status": "invalid", "diagnostics": found })
    };
    let prepared = prepare(args, context).map_err(|stop| stop.with_document(refused));
    let (named, options, cassette) = prepared?;
    let verified = interruptibly(async || {
        let environment = &context.environment;
        let session = named.start(environment).await?;
        // In the other era a server answers otherwise, as when it asks.
        let recorded = cassette.server(options.server.as_deref())?;
        let is_older = recorded.introduction["protocolVersion"].is_string();
        let session = match is_older && session.info().era == Era::Modern {
            true => named.fall_back_to_legacy(session, environment).await?,
            false => session,
        };
        let verified = verify(&cassette, &session, &options).await;
        session.stop().await;
        verified
    })?;
    let verified = verified.map_err(|found| {
        let stop = Stop::could_not_run(found).redacted(&named.redactor);
        stop.with_document(refused)
    })?;
    let output = &context.output;
    Ok(finish(args, &cassette, &named, &verified, output))
}

fn prepare(args: &VerifyArgs, context: &Context) -> Result<(Named, VerifyOptions, Cassette), Stop> {
    let (_, cassette, found) = cassette::read(&args.file)?;
    context.output.diagnostics(&found);
    let ignore = args.ignore.iter().map(|path| {
        JsonPath::parse(path).map_err(|error| {
            let reason = error.message();
            let message = format!("`--ignore {path}` is not a valid JSONPath: {reason}");
            let help = "`$` is the value that scenarios see: '$.created_at', '$.items[*].id'";
            Stop::argument(message, help)
        })
    });
    let ignore = ignore.collect::<Result<Vec<_>, _>>()?;
    let server = cassette.server(args.server_name.as_deref());
    let server = server.map_err(Stop::invalid)?;
    let by_name = args.command.is_empty().then_some(server.name.as_str());
    let name = args.url.as_deref().or(by_name);
    let servers = ServerArgs {
        connect: args.servers.clone(),
        env: args.variables.env.clone(),
    };
    let mut named = server::named(name, &args.command, &servers, context)?;
    for name in &args.variables.secrets {
        let value = inputs::secret(name, &context.environment).map_err(Stop::invalid)?;
        named.redactor.add([value]);
    }
    let options = VerifyOptions {
        server: args.server_name.clone(),
        writes: args.writes,
        ignore,
        timeout: named.timeout,
        secrets: named.redactor.clone(),
    };
    Ok((named, options, cassette))
}

fn finish(
    args: &VerifyArgs,
    cassette: &Cassette,
    named: &Named,
    verification: &Verification,
    output: &Output,
) -> ExitCode {
    let count = |verdict| verification.count(verdict);
    let (n_failed, n_drifted) = (count("failed"), count("drifted"));
    let has_drifted = n_drifted > 0 || !verification.changes.is_empty();
    let mut directions = verification.changes.iter().map(|change| change.direction);
    let has_failed = n_failed > 0 || directions.any(|direction| direction == Direction::Removed);
    // What nobody has called is not proven.
    let is_incomplete = count("not_verified") > 0 || verification.is_empty();
    let (status, mut exit) = match (has_failed, has_drifted, is_incomplete) {
        (true, ..) => ("failed", ExitCode::Failed),
        (false, true, _) => ("drifted", ExitCode::Drifted),
        (false, false, true) => ("incomplete", ExitCode::Drifted),
        (false, false, false) => ("passed", ExitCode::Passed),
    };
    let redactor = &named.redactor;
    stderr(&redactor.text(&lines(verification, output)));
    if has_drifted && !args.update {
        let message = format!(
            "the server is not as recorded in `{}`",
            cassette.source.name()
        );
        let help = "if it is right, `--update` writes the cassette; `--ignore '$.PATH'` leaves out what differs each time";
        let found = Diagnostic::warning(codes::CASSETTE_DRIFT, message).with_help(help);
        output.redacted(&[found], redactor);
    }
    let mut is_updated = false;
    if args.update && has_drifted {
        match update(cassette, verification) {
            Ok(()) => is_updated = true,
            Err(found) => {
                output.redacted(&[found], redactor);
                exit = exit.worst(ExitCode::CouldNotRun);
            }
        }
    }
    let mut facts = vec![format!(
        "{} of {} calls are the same",
        count("same"),
        verification.calls.len()
    )];
    let mut add = |number: usize, words: &str| {
        if number > 0 {
            facts.push(format!("{number} {words}"));
        }
    };
    add(n_failed, "failed");
    add(n_drifted, "drifted");
    add(count("not_verified"), "not verified");
    add(verification.changes.len(), "changed in tools");
    if is_updated {
        facts.push(format!("wrote {}", cassette.source.name()));
    }
    output.summary(&format!("{status}: {}", facts.join(", ")));
    if args.json {
        let mut document = document(verification, status, is_updated);
        redactor.json(&mut document);
        output::document(&document);
    }
    exit
}

fn update(cassette: &Cassette, verification: &Verification) -> Result<(), Diagnostic> {
    let recorded_at = Clock::start().timestamp(Duration::ZERO).to_string();
    let text = verification.updated(cassette, &recorded_at);
    write_text(Path::new(cassette.source.name()), &text)
}

/// A line for each call and each change, and below it what is different.
fn lines(verification: &Verification, output: &Output) -> String {
    let style = output.stderr;
    let mut text = String::new();
    if let Some((recorded, now)) = &verification.protocol {
        let mark = style.symbol("!", "!");
        let line = format!("{mark} protocol  {now}, recorded with {recorded}");
        text.push_str(&format!("  {}\n", printable(&line)));
    }
    for change in &verification.changes {
        let mark = style.symbol("!", "!");
        let word = change.direction.as_str();
        let line = format!("{mark} {}  {word}: {}", change.tool, change.what);
        text.push_str(&format!("  {}\n", printable(&line)));
    }
    for (line, tool, verdict) in &verification.calls {
        let (mark, more) = match verdict {
            CallVerdict::Same => (style.symbol("✓", "ok"), String::new()),
            CallVerdict::Drifted(_) => (
                style.symbol("≠", "!="),
                "  answers otherwise than recorded".to_owned(),
            ),
            CallVerdict::Failed(why) => (style.symbol("✗", "x"), format!("  {why}")),
            CallVerdict::NotVerified(why) => {
                (style.symbol("–", "-"), format!("  not verified: {why}"))
            }
        };
        let shown = format!("{mark} line {line}  {tool}{more}");
        text.push_str(&format!("  {}\n", printable(&shown)));
        if let CallVerdict::Drifted(drifts) = verdict {
            for drift in drifts {
                let shown = format!("{}: {}", drift.place, drift.reason);
                text.push_str(&format!("      {}\n", printable(&shown)));
            }
        }
    }
    text
}

fn document(verification: &Verification, status: &str, is_updated: bool) -> Json {
    let changes = verification.changes.iter().map(|change| {
        json!({ "tool": change.tool, "change": change.direction.as_str(), "message": change.what })
    });
    let calls = verification.calls.iter().map(|(line, tool, verdict)| {
        let mut call = json!({ "line": line, "tool": tool, "verdict": verdict.as_str() });
        match verdict {
            CallVerdict::Same => {}
            CallVerdict::Drifted(drifts) => {
                let drifts = drifts
                    .iter()
                    .map(|drift| json!({ "path": drift.place, "message": drift.reason }));
                call["differences"] = drifts.collect();
            }
            CallVerdict::Failed(why) => call["message"] = why.as_str().into(),
            CallVerdict::NotVerified(why) => call["message"] = (*why).into(),
        }
        call
    });
    let versions = verification.protocol.as_ref();
    json!({
        "success": matches!(status, "passed"),
        "status": status,
        "protocol": versions.map(|(recorded, now)| json!({ "recorded": recorded, "now": now })),
        "tools": changes.collect::<Vec<_>>(),
        "calls": calls.collect::<Vec<_>>(),
        "updated": is_updated,
    })
}

//! `cuecard serve mcp`: a cassette as an MCP server.

use std::sync::Arc;

use cuecard_mcp::server::{self, HTTP_PATH, ServerError};
use cuecard_recording::cassette::{CassetteServer, Served};
use cuecard_source::diagnostic::Diagnostic;
use serde_json::json;

use super::stdin;
use crate::args::ServeMcpArgs;
use crate::asynchronous::until_stopped;
use crate::commands::cassette;
use crate::commands::mcp::failed;
use crate::commands::teller::OutputWriter;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::{Output, counted};

pub(crate) fn run(args: &ServeMcpArgs, output: &Output) -> Result<ExitCode, Stop> {
    // Over stdio standard output is the protocol's.
    let teller = OutputWriter::new(output, !args.http.http);
    let server = prepare(args, &teller)?;
    let ended = until_stopped(async |stop| {
        let stopped = stop.clone().cancelled_owned();
        let ready = |url: Option<String>| ready(&teller, &server, url);
        let watching = teller.clone();
        let on_warning = Arc::new(move |found: &Diagnostic| watching.finding(found));
        if args.http.http {
            let token = args.http.token.clone();
            let on_ready = |address| {
                ready(Some(format!("http://{address}{HTTP_PATH}")));
                if args.stop_on_stdin_eof {
                    stdin::follow(&stop);
                }
            };
            return server::serve_http(
                server.clone(),
                args.http.address.socket(),
                token,
                on_warning,
                on_ready,
                stopped,
            )
            .await;
        }
        ready(None);
        server::serve_stdio(server.clone(), server.faults(), on_warning, stopped).await
    });
    let code = ended.map(|ended| finish(&teller, &server.served(), ended));
    teller.drain();
    Ok(code?)
}

fn prepare(args: &ServeMcpArgs, teller: &OutputWriter) -> Result<CassetteServer, Stop> {
    let (_, cassette, found) = cassette::read(&args.file)?;
    teller.output.diagnostics(&found);
    let watching = teller.clone();
    let on_miss = Box::new(move |miss: &Diagnostic| watching.finding(miss));
    let name = args.server_name.as_deref();
    let server =
        CassetteServer::new(cassette, name, args.any_order, on_miss).map_err(Stop::invalid)?;
    if args.http.http && server.has_faults() {
        let message = "the cassette has faults, which are carried out over stdio only";
        let help = "serve it without `--http`, or remove `fault` from its records";
        return Err(Stop::argument(message, help));
    }
    Ok(server)
}

fn ready(teller: &OutputWriter, server: &CassetteServer, url: Option<String>) {
    let (n_tools, n_records) = (server.n_tools(), server.n_records());
    if teller.is_json {
        teller.event(
            "ready",
            json!({ "url": url, "tools": n_tools, "records": n_records }),
        );
        return;
    }
    let at = url.map_or("over stdio".to_owned(), |url| url);
    let tools = counted(n_tools, "tool");
    teller.line(&format!(
        "ready  {at}   {tools}, {}",
        counted(n_records, "record")
    ));
}

fn finish(teller: &OutputWriter, served: &Served, ended: Result<(), ServerError>) -> ExitCode {
    if let Some(note) = served.unused_note() {
        teller.finding(&note);
    }
    let code = match ended {
        Ok(()) => ExitCode::Passed,
        Err(error) => failed(error).print(&teller.output),
    };
    let passed = served.passed() && code == ExitCode::Passed;
    if teller.is_json {
        let verdict = json!({
            "passed": passed,
            "calls": served.n_calls,
            "misses": served.n_misses,
            "records": served.n_records,
            "unused": served.unused.len(),
        });
        teller.last_event("verdict", verdict);
    } else {
        let mut facts = vec![counted(served.n_calls, "call")];
        if served.n_misses > 0 {
            facts.push(format!("{} not in the cassette", served.n_misses));
        }
        let n_used = served.n_records - served.unused.len();
        facts.push(format!(
            "{n_used} of {} used",
            counted(served.n_records, "record")
        ));
        teller.verdict(passed, &facts);
    }
    teller.exit_code(code, passed, None)
}

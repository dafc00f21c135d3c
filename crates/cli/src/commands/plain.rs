//! Commands that only print: codes, `completions`, `man`.

use clap_complete::Shell;
use cuecard_source::diagnostic::{Code, catalogue, did_you_mean, find_code};
use cuecard_source::value::Redactor;
use serde_json::json;

use crate::args;
use crate::context::Stop;
use crate::exit_code::{self, ExitCode};
use crate::output::{Output, stdout};

/// Lists the codes that begin with `group`: all of them for an empty one.
pub(crate) fn list_codes(group: &str, output: &Output) {
    let codes = || catalogue().filter(|code| code.name().starts_with(group));
    let document =
        || (codes().map(|code| json!({"code": code.name(), "title": code.title()}))).collect();
    let width = codes().map(|code| code.name().len()).max().unwrap_or(0);
    let line = |code: Code| format!("{:<width$} {}\n", code.name(), code.title());
    output.result(&Redactor::default(), document, |_| {
        codes().map(line).collect()
    });
}

/// Prints the page of a code or of the exit codes, or lists the codes of a group such as `T-LLM`.
pub(crate) fn explain(name: &str, output: &Output) -> ExitCode {
    let group = format!("{}-", name.to_uppercase().trim_end_matches('-'));
    let (name, title, page) = match find_code(name) {
        _ if name == exit_code::TOPIC => (name, "exit codes", exit_code::PAGE.to_owned()),
        _ if catalogue().any(|code| code.name().starts_with(&group)) => {
            list_codes(&group, output);
            return ExitCode::Passed;
        }
        Some(code) => {
            // What follows the language of an example is for the tests of the pages.
            let lines = code.page().lines();
            let lines = lines.map(|line| match line.starts_with("```json ") {
                true => "```json\n".to_owned(),
                false => format!("{line}\n"),
            });
            (code.name(), code.title(), lines.collect())
        }
        None => {
            let names = catalogue().map(Code::name);
            let help = match did_you_mean(&name.to_uppercase(), names) {
                Some(proposal) => format!("did you mean `{proposal}`?"),
                None => "`cuecard explain` lists all codes".to_owned(),
            };
            return Stop::argument(format!("unknown code `{name}`"), &help).print(output);
        }
    };
    let document = || json!({"code": name, "title": title, "text": page});
    output.result(&Redactor::default(), document, |_| page.clone());
    ExitCode::Passed
}

pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "cuecard", &mut script);
    stdout(&String::from_utf8_lossy(&script));
    Ok(ExitCode::Passed)
}

pub(crate) fn man() -> Result<ExitCode, Stop> {
    let mut pages = Vec::new();
    // One document with a page for every command, as `man` of other tools with subcommands has it.
    let mut command = args::command();
    command.build();
    let render =
        |command: clap::Command, pages: &mut Vec<u8>| clap_mangen::Man::new(command).render(pages);
    let subcommands: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    let mut rendered = render(command, &mut pages);
    for subcommand in subcommands {
        rendered = rendered.and_then(|()| render(subcommand, &mut pages));
    }
    // Writing into memory can't fail.
    let _ = rendered;
    stdout(&String::from_utf8_lossy(&pages));
    Ok(ExitCode::Passed)
}

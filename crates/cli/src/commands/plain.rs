//! Commands that only print: codes, `completions`, `man`.

use clap_complete::Shell;
use cuecard_source::diagnostic::{Diagnostic, catalogue, codes, did_you_mean, find_code};
use cuecard_source::value::{Json, Redactor};
use serde_json::json;

use crate::args;
use crate::exit_code::{self, ExitCode};
use crate::output::{Output, stdout};

/// Lists the codes that begin with `group`: all of them for an empty one.
pub(crate) fn list_codes(group: &str, json: bool) {
    let codes = || catalogue().filter(|code| code.name().starts_with(group));
    if json {
        let list = codes().map(|code| json!({"code": code.name(), "title": code.title()}));
        stdout(&format!("{:#}\n", list.collect::<Json>()));
        return;
    }
    let width = codes().map(|code| code.name().len()).max().unwrap_or(0);
    let list: String = codes()
        .map(|code| format!("{:<width$} {}\n", code.name(), code.title()))
        .collect();
    stdout(&list);
}

/// Prints the page of a code or of the exit codes, or lists the codes of a group such as `T-LLM`.
pub(crate) fn explain(name: &str, json: bool, output: &Output) -> ExitCode {
    if name == exit_code::TOPIC {
        stdout(&match json {
            true => {
                let document =
                    json!({"code": name, "title": "exit codes", "text": exit_code::PAGE});
                format!("{document:#}\n")
            }
            false => exit_code::PAGE.to_owned(),
        });
        return ExitCode::Passed;
    }
    let group = format!("{}-", name.to_uppercase().trim_end_matches('-'));
    if catalogue().any(|code| code.name().starts_with(&group)) {
        list_codes(&group, json);
        return ExitCode::Passed;
    }
    match find_code(name) {
        Some(code) => {
            // What follows the language of an example is for the tests of the pages.
            let page: String = code
                .page()
                .lines()
                .map(|line| {
                    if line.starts_with("```json ") {
                        "```json\n".to_owned()
                    } else {
                        format!("{line}\n")
                    }
                })
                .collect();
            stdout(&match json {
                true => {
                    let (name, title) = (code.name(), code.title());
                    let document = json!({"code": name, "title": title, "text": page});
                    format!("{document:#}\n")
                }
                false => page,
            });
            ExitCode::Passed
        }
        None => {
            let names: Vec<&str> = catalogue()
                .map(cuecard_source::diagnostic::Code::name)
                .collect();
            let mut error = Diagnostic::error(codes::ARGUMENT, format!("unknown code `{name}`"));
            error.help = Some(match did_you_mean(&name.to_uppercase(), names) {
                Some(proposal) => format!("did you mean `{proposal}`?"),
                None => "`cuecard explain` lists all codes".to_owned(),
            });
            output.diagnostic(&error, json, &Redactor::default());
            ExitCode::Invalid
        }
    }
}

pub(crate) fn completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "cuecard", &mut script);
    stdout(&String::from_utf8_lossy(&script));
    ExitCode::Passed
}

pub(crate) fn man() -> ExitCode {
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
    ExitCode::Passed
}

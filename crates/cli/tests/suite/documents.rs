//! The documents keep their word: their scenarios pass or fail as they say, and their commands and options exist.

mod console;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cuecard_testing::scratch::Finished;
use serde_json::Value;

use crate::program;

/// Where the pages of the codes stand.
const PAGES: &str = "crates/source/src/diagnostic/pages";

/// What may stand behind the fence of a block that is not played.
const OTHER_BLOCKS: &[&str] = &[
    "console", "html", "js", "json", "jsonl", "python", "rust", "sh", "text", "toml", "yaml",
];

/// Options in the text that belong to other programs.
const FOREIGN_OPTIONS: &[&str] = &[
    "--build-arg",
    "--chrome",
    "--mcp-config",
    "--servers",
    "--strict-mcp-config",
    "--output-format",
    "--path",
    "--plugin-dir",
    "--release",
    "--fast",
    "--bless",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
];

/// A document.
struct Document {
    /// Its path below the root of the repository.
    name: String,
    text: String,
}

/// What stands between two fences.
struct Block {
    /// The document and the line.
    place: String,
    /// What stands behind the fence.
    info: String,
    /// The last line of text before it.
    lead: String,
    body: String,
}

fn markdown_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(cuecard_testing::repository_root().join(folder));
    let mut names: Vec<String> = entries
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").file_name())
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    names
}

/// All documents for users.
fn documents() -> Vec<Document> {
    let mut names = vec!["README.md".to_owned(), "examples/README.md".to_owned()];
    names.extend(markdown_in("docs"));
    names.extend(markdown_in(PAGES));
    let root = cuecard_testing::repository_root();
    names
        .into_iter()
        .map(|name| Document {
            text: fs::read_to_string(root.join(&name)).expect("a document is text"),
            name,
        })
        .collect()
}

impl Document {
    /// The blocks, and the text without them.
    fn parts(&self) -> (Vec<Block>, String) {
        let mut blocks: Vec<Block> = Vec::new();
        let mut prose = String::new();
        let mut lead = "";
        let mut open = false;
        for (index, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), open) {
                (Some(info), false) => {
                    open = true;
                    blocks.push(Block {
                        place: format!("{}:{}", self.name, index + 1),
                        info: info.to_owned(),
                        lead: lead.to_owned(),
                        body: String::new(),
                    });
                }
                (Some(_), true) => {
                    open = false;
                    lead = "";
                }
                (None, true) => {
                    let body = &mut blocks.last_mut().expect("a block is open").body;
                    body.push_str(line);
                    body.push('\n');
                }
                (None, false) => {
                    if !line.trim().is_empty() {
                        lead = line;
                    }
                    prose.push_str(line);
                    prose.push('\n');
                }
            }
        }
        assert!(!open, "{}: a block has no end", self.name);
        (blocks, prose)
    }
}

fn blocks() -> Vec<Block> {
    documents()
        .iter()
        .flat_map(|document| document.parts().0)
        .collect()
}

/// The code words of a text: what stands in single backticks.
fn code_spans(prose: &str) -> Vec<&str> {
    prose
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

/// The blocks marked `json KIND=CODE`, with the code: `least` of them, or they are no longer found.
fn marked<'a>(blocks: &'a [Block], kind: &str, least: usize) -> Vec<(&'a Block, &'a str)> {
    let start = format!("json {kind}=");
    let found: Vec<_> = blocks
        .iter()
        .filter_map(|block| Some((block, block.info.strip_prefix(&start)?)))
        .collect();
    assert!(found.len() >= least, "{} blocks of {kind}", found.len());
    found
}

/// Does `command` with the block as `scenario.json`, in a folder with nothing else but `config`.
fn with_block(block: &Block, command: &str, config: Option<&str>) -> Finished {
    let scratch = program::scratch();
    scratch
        .write("scenario.json", &block.body)
        .expect("writable");
    if let Some(config) = config {
        scratch.write(".mcp.json", config).expect("writable");
    }
    program::run(&scratch, &[command, "scenario.json"])
}

/// Fails with all of `problems`, so that one run shows what is to be done.
#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(
        problems.is_empty(),
        "{} problems:\n\n{}\n",
        problems.len(),
        problems.join("\n\n")
    );
}

#[test]
fn scenarios_pass_in_an_empty_folder() {
    let blocks = blocks();
    let scenarios: Vec<&Block> = blocks
        .iter()
        .filter(|block| block.info == "json scenario")
        .collect();
    assert!(scenarios.len() > 5, "{} scenarios", scenarios.len());
    let mut problems = Vec::new();
    for block in scenarios {
        for command in ["check", "play"] {
            let finished = with_block(block, command, None);
            if finished.code() != Some(0) {
                let told = program::told(&finished);
                problems.push(format!("{}: {command}: {told}", block.place));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn examples_of_errors_give_their_error() {
    let blocks = blocks();
    let mut problems = Vec::new();
    for (block, code) in marked(&blocks, "error", 30) {
        let finished = with_block(block, "play", None);
        let failed = matches!(finished.code(), Some(1..=3));
        if !failed || !finished.stderr.contains(&format!("error[{code}]")) {
            let told = program::told(&finished);
            problems.push(format!("{}: no {code}: {told}", block.place));
        }
    }
    assert_none(&problems);
}

#[test]
fn examples_of_warnings_and_notes_give_them() {
    let blocks = blocks();
    let mut problems = Vec::new();
    for (severity, least) in [("warning", 9), ("note", 1)] {
        for (block, code) in marked(&blocks, severity, least) {
            // Without any config nobody can say that a server is missing.
            let finished = with_block(block, "check", Some(r#"{"mcpServers": {}}"#));
            let is_said = finished.stderr.contains(&format!("{severity}[{code}]"));
            if finished.code() != Some(0) || !is_said {
                let told = program::told(&finished);
                problems.push(format!("{}: no {code}: {told}", block.place));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn blocks_are_of_known_kinds_and_json_is_json() {
    let codes = codes();
    let mut problems = Vec::new();
    for block in blocks() {
        let known = match block.info.split_once('=') {
            Some(("json error" | "json warning" | "json note", code)) => codes.contains(code),
            Some(_) => false,
            None => block.info == "json scenario" || OTHER_BLOCKS.contains(&block.info.as_str()),
        };
        // A block without a kind shows what the program says.
        if !known && !block.info.is_empty() {
            problems.push(format!("{}: what is `{}`?", block.place, block.info));
        }
        // Some blocks show members of an object that stands elsewhere.
        let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        if block.info == "json" && !is_json(&block.body) && !is_json(&format!("{{{}}}", block.body))
        {
            problems.push(format!("{}: this is no JSON", block.place));
        }
    }
    assert_none(&problems);
}

/// The codes that `explain` lists.
fn codes() -> BTreeSet<String> {
    let scratch = program::scratch();
    let listed = program::run(&scratch, &["explain"]);
    assert_eq!(listed.code(), Some(0), "{}", program::told(&listed));
    listed
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn explain_prints_the_page_of_every_code() {
    let codes = codes();
    let pages: BTreeSet<String> = markdown_in(PAGES)
        .iter()
        .filter_map(|name| Path::new(name).file_stem()?.to_str().map(str::to_owned))
        .collect();
    assert_eq!(codes, pages);
    let root = cuecard_testing::repository_root();
    let scratch = program::scratch();
    for (nth, code) in codes.iter().enumerate() {
        let page = fs::read_to_string(root.join(PAGES).join(format!("{code}.md")));
        let page = page.expect("the page is there");
        assert!(page.starts_with(&format!("# {code}: ")), "{page}");
        let written = match nth % 2 {
            0 => code.clone(),
            _ => code.to_lowercase(),
        };
        let explained = program::run(&scratch, &["explain", &written]);
        assert_eq!(explained.code(), Some(0), "{}", program::told(&explained));
        assert_eq!(explained.stdout.trim_end(), as_shown(&page).trim_end());
    }
}

#[test]
fn commands_can_be_typed_as_they_stand() {
    let scratch = program::scratch();
    let mut problems = Vec::new();
    let mut tried = 0;
    for document in documents() {
        let (blocks, prose) = document.parts();
        let mut commands: Vec<(String, Vec<String>)> = Vec::new();
        for block in &blocks {
            let commands_of_block = block_commands(block);
            commands.extend(
                commands_of_block
                    .into_iter()
                    .map(|words| (block.place.clone(), words)),
            );
        }
        for span in code_spans(&prose) {
            if let Some(words) = command_words(span) {
                commands.push((document.name.clone(), words));
            }
        }
        for (place, words) in commands {
            tried += 1;
            // Everything before `--help` is read, and nothing is done.
            // What follows `--` is another program's.
            let ours = words.iter().take_while(|word| *word != "--");
            let mut args: Vec<&str> = ours.map(|word| in_place_of(word)).collect();
            args.push("--help");
            let finished = program::run(&scratch, &args);
            if finished.code() != Some(0) {
                problems.push(format!(
                    "{place}: cuecard {}\n{}",
                    words.join(" "),
                    finished.stderr.trim_end()
                ));
            }
        }
    }
    assert_none(&problems);
    assert!(tried > 40, "{tried} commands were found");
}

/// The commands of `cuecard` in a block, as words behind the program's name.
fn block_commands(block: &Block) -> Vec<Vec<String>> {
    // A long command goes on in the next line with an option.
    let mut body = String::new();
    for line in block.body.lines() {
        if !line.trim_start().starts_with("--") {
            body.push('\n');
        }
        body.push(' ');
        body.push_str(line.trim());
    }
    let is_console = block.info == "console";
    body.lines()
        .filter(|_| is_console || matches!(block.info.as_str(), "sh" | "yaml"))
        .filter_map(|line| match is_console {
            true => line.trim().strip_prefix("$ "),
            false => Some(line),
        })
        .filter_map(command_words)
        .collect()
}

/// The words behind `cuecard`, up to the end of the command; nothing if the line has no such command.
fn command_words(line: &str) -> Option<Vec<String>> {
    let line = line.replace("cargo run --release -- ", "cuecard ");
    let mut words = shell_words(&line).into_iter();
    words
        .by_ref()
        .find(|word| word == "cuecard")
        .filter(|_| !line.contains("cargo install"))?;
    let words: Vec<String> = words
        .take_while(|word| !matches!(word.as_str(), "|" | ">" | "2>" | "&&" | ";" | "#"))
        .map(|word| word.trim_end_matches(';').to_owned())
        .collect();
    (!words.is_empty()).then_some(words)
}

/// Words as a shell splits them, as far as the documents go.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// A word that can be typed in place of one that stands for many.
fn in_place_of(word: &str) -> &str {
    match word {
        "SECONDS" | "STEP" | "N" | "FACTOR" => "1",
        "COMMAND" => "play",
        _ => word,
    }
}

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_lowercase() || c == '-'))
        .filter(|word| word.len() > 3 && word.starts_with("--"))
        .filter(|word| word.as_bytes()[2] != b'-')
        .map(str::to_owned)
        .collect()
}

fn help(args: &[&str]) -> BTreeSet<String> {
    let scratch = program::scratch();
    let finished = program::run(&scratch, &[args, &["--help"]].concat());
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    options(&finished.stdout)
}

#[test]
fn options_named_in_the_documents_exist() {
    let mut known = BTreeSet::new();
    for command in [
        &["play"][..],
        &["parse"],
        &["test"],
        &["diff"],
        &["check"],
        &["doctor"],
        &["tools"],
        &["call"],
        &["list"],
        &["verify"],
        &["convert"],
        &["schema"],
        &["explain"],
        &["mcp"],
        &["mcp", "demo"],
        &["skill", "install"],
        &["acp"],
        &["agent"],
        &["run"],
        &["parity"],
        &["audit"],
        &["show"],
        &["serve", "llm"],
        &["serve", "rest"],
        &["serve", "mcp"],
        &["profile", "capture"],
        &["record", "llm"],
        &["record", "mcp"],
        &["record", "transcript"],
        &["infer"],
        &["parse"],
        &["verify"],
    ] {
        known.extend(help(command));
    }
    let mut problems = Vec::new();
    for document in documents() {
        let (_, prose) = document.parts();
        // Options of a browser are passed through by its server.
        let spans = code_spans(&prose);
        let spans = spans.iter().filter(|span| !span.contains("--chromeArg="));
        for option in spans.flat_map(|span| options(span)) {
            if !known.contains(&option) && !FOREIGN_OPTIONS.contains(&option.as_str()) {
                problems.push(format!("{}: there is no `{option}`", document.name));
            }
        }
    }
    assert_none(&problems);
}

/// The page as people see it: without what the tests read behind the language of an example.
fn as_shown(page: &str) -> String {
    page.lines()
        .map(|line| {
            if line.starts_with("```json ") {
                "```json\n".to_owned()
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}

#[test]
fn the_page_on_playing_lists_every_option() {
    let path = cuecard_testing::repository_root().join("docs/play.md");
    let text = fs::read_to_string(path).expect("the page is there");
    let (_, table) = text
        .split_once("\n## All options\n")
        .expect("the page has a list");
    let rows: String = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next())
        .collect();
    let listed = options(&rows);
    let mut known = help(&["play"]);
    // Every command has them.
    known.remove("--help");
    known.remove("--version");
    assert_eq!(listed, known);
}

/// Readers type them after `cuecard examples`, so each file is an example.
#[test]
fn the_commands_of_the_chooser_have_their_files() {
    let root = cuecard_testing::repository_root();
    let readme = fs::read_to_string(root.join("README.md")).expect("readable");
    let (chooser, _) = readme.split_once("![").expect("a picture follows it");
    let words = code_spans(chooser);
    let files: Vec<_> = words
        .iter()
        .filter(|span| span.starts_with("cuecard "))
        .flat_map(|span| span.split(' '))
        .filter(|word| word.contains(['.', '/']))
        .collect();
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let is_example = file.starts_with("examples/") && root.join(file).exists();
        assert!(is_example, "README.md: `{file}` is no example");
    }
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let root = cuecard_testing::repository_root();
    let mut problems = Vec::new();
    let mut followed = 0;
    for document in documents() {
        let folder = root.join(&document.name).parent().map(PathBuf::from);
        let folder = folder.expect("a document stands in a folder");
        let (_, prose) = document.parts();
        for link in prose.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            followed += 1;
            if !folder.join(target).exists() {
                problems.push(format!("{}: there is no `{target}`", document.name));
            }
        }
    }
    assert_none(&problems);
    assert!(followed > 20, "{followed} links were found");
}

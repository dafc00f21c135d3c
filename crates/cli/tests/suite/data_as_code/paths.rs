//! Data that names a file which decides what runs next, spelled in many ways, for each tool that writes one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use super::Random;
use crate::program::{self, scratch};

/// What must not be written, relative to the root.
const TARGETS: &[&str] = &[
    ".mcp.json",
    ".cuecard/config.json",
    ".cuecard/config.toml",
    ".sandy/config.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".git/config",
    ".git/hooks/pre-commit",
    ".github/workflows/build.yml",
    "src/.git/config",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".vimrc",
    ".exrc",
    ".config/fish/config.fish",
    ".emacs.d/init.el",
];

/// Links from a name that says nothing to a part of a target.
const LINKS: &[(&str, &str)] = &[
    ("plain", ".git"),
    ("notes", ".git/hooks"),
    ("flows", ".github/workflows"),
    ("file.json", ".mcp.json"),
    ("again", "notes"),
    ("here", "."),
    ("src/up", ".."),
    ("start", ".bashrc"),
];

const CASES: usize = 240;

#[test]
fn data_leads_to_nothing_that_decides_what_runs_next() {
    let mut random = Random(20_262);
    let place = root();
    let paths: Vec<String> = (0..CASES)
        .map(|_| disguised(&place.work(), &mut random))
        .collect();
    let mut steps = Vec::new();
    for path in &paths {
        push_steps(&mut steps, path, &mut random);
    }
    let refused = play(&place, &steps, &[]);
    for (path, step) in paths.iter().zip(&refused) {
        assert_eq!(step["code"], "C-SAFE-01", "{path}: {step:#}");
    }
    assert_eq!(written(&place.work()), Vec::<PathBuf>::new());

    // The targets are free for the author, so that the test can fail.
    let mut free = 0;
    for target in TARGETS {
        let place = root();
        let step = json!({"step": 1, "tool": "claude__write", "params": {"file_path": target, "content": "written"}});
        play(&place, &[step], &[]);
        free += usize::from(written(&place.work()) == [place.work().join(target)]);
    }
    assert_eq!(free, TARGETS.len());
}

#[test]
fn a_name_that_the_user_allowed_is_free() {
    let place = root();
    let mut steps = Vec::new();
    let mut random = Random(20_263);
    for path in [
        ".github/workflows/build.yml",
        "flows/build.yml",
        ".git/config",
    ] {
        push_steps(&mut steps, path, &mut random);
    }
    let are_refused: Vec<bool> = play(&place, &steps, &["--allow-path", ".github"])
        .iter()
        .map(|step| step["code"] == "C-SAFE-01")
        .collect();
    assert_eq!(are_refused, [false, false, true]);
}

/// A project with links in it.
fn root() -> Scratch {
    let place = scratch();
    let work = place.work();
    for folder in [".git/hooks", ".github/workflows", "src"] {
        fs::create_dir_all(work.join(folder)).expect("made");
    }
    for (link, target) in LINKS {
        symlink(target, work.join(link)).expect("linked");
    }
    place
}

/// One of the targets, spelled so that it is hard to see.
fn disguised(root: &Path, random: &mut Random) -> String {
    let mut path = random.of(TARGETS).to_owned();
    for _ in 0..random.below(4) {
        path = match random.below(8) {
            0 => format!("./{path}"),
            1 => format!("src/../{path}"),
            2 => format!("here/{path}"),
            3 => format!("src/up/{path}"),
            4 => path.replace('/', "//"),
            5 => format!("missing/../{path}"),
            6 => through_link(&path, random),
            _ => {
                let parts: Vec<String> =
                    path.split('/').map(|part| shouted(part, random)).collect();
                parts.join("/")
            }
        };
    }
    match random.below(4) {
        0 => format!("{path}/"),
        1 => format!("{}/{path}", root.display()),
        _ => path,
    }
}

/// A name of those that are looked for, with some of its letters in upper case.
fn shouted(name: &str, random: &mut Random) -> String {
    let is_link = !name.starts_with('.');
    name.chars()
        .map(|letter| match is_link || random.below(2) == 0 {
            true => letter,
            false => letter.to_ascii_uppercase(),
        })
        .collect()
}

/// The path with its beginning replaced by a link to it, if there is one.
fn through_link(path: &str, random: &mut Random) -> String {
    let (link, target) = random.of(LINKS);
    match path.strip_prefix(target) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{link}{rest}"),
        _ => path.to_owned(),
    }
}

/// A server answers with the path or a part of it, and a tool is to write there.
fn push_steps(steps: &mut Vec<Value>, path: &str, random: &mut Random) {
    let number = steps.len() + 1;
    let id = format!("d{number}");
    let reference = format!("{{{{{id}.text}}}}");
    // A dot alone would be no part of a path but a sentence's end.
    let (before, data) =
        path.split_at([0, path.find('/').map_or(0, |at| at + 1), 1][random.below(3)]);
    let path = format!("{before}{reference}");
    let (tool, params) = match random.below(7) {
        0 => (
            "claude__write",
            json!({"file_path": path, "content": "written"}),
        ),
        1 => (
            "sandy__append_file",
            json!({"path": path, "data": {"text": "written"}}),
        ),
        2 => (
            "claude__edit",
            json!({"file_path": path, "old_string": "", "new_string": "written"}),
        ),
        3 => (
            "claude__notebook_edit",
            json!({"notebook_path": path, "new_source": "written", "cell_id": "a"}),
        ),
        4 => (
            "claude__bash",
            json!({"command": format!("printf written > \"{path}\"")}),
        ),
        5 => (
            "claude__bash",
            json!({"command": format!("printf written | tee \"{path}\"")}),
        ),
        _ => (
            "claude__bash",
            json!({"command": format!("printf written >> \"{path}\"")}),
        ),
    };
    steps.push(json!({
        "step": number,
        "id": id,
        "tool": "mcp__demo__echo",
        "params": {"message": data},
        "output": {"text": "$"},
    }));
    steps.push(json!({"step": number + 1, "tool": tool, "params": params, "on_error": "skip"}));
}

/// The results of the steps that write.
fn play(place: &Scratch, steps: &[Value], options: &[&str]) -> Vec<Value> {
    let scenario = json!({"version": "2.1", "metadata": {"name": "Paths"}, "steps": steps});
    // Outside of what is written: the root.
    let file = place.home().join("scenario.json");
    fs::write(&file, scenario.to_string()).expect("writable");
    let file = file.to_str().expect("UTF-8");
    let run_dir = place.home().join("runs");
    let run_dir = run_dir.to_str().expect("UTF-8");
    let played = program::play(place, &[&[file, "--run-dir", run_dir], options].concat(), 0);
    let results = played.json["step_results"].as_array().expect("a list");
    let of_tool = |result: &&Value| result["step"].as_u64().is_some_and(|step| step % 2 == 0);
    results.iter().filter(of_tool).cloned().collect()
}

/// The files below `folder` that hold what the steps write.
fn written(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)
        .expect("readable")
        .map(|entry| entry.expect("readable"))
    {
        let kind = entry.file_type().expect("known");
        if kind.is_dir() {
            found.extend(written(&entry.path()));
        } else if kind.is_file()
            && fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("written"))
        {
            found.push(entry.path());
        }
    }
    found
}

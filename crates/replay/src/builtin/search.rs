//! `claude__glob` and `claude__grep`. A search runs on a thread of its own, so that its time can be kept.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use cuecard_source::value::{Piece, Text, as_text};
use cuecard_tool_call::script::{Failure, FailureKind};
use serde::Serialize;
use serde_json::Value as Json;

use super::super::toolbox::{DEFAULT_TIMEOUT, ToolSettings, timed_out};
use super::arguments::Arguments;
use super::files::{failed, to_json};
use super::refused;
use cuecard_workspace::WorkspaceError;
use cuecard_workspace::search::{
    Grep, Limits, check_glob as check_files, check_grep as check_patterns, glob as find_files,
    grep as find_lines, split_absolute,
};

pub(super) async fn glob(
    settings: &ToolSettings,
    arguments: &Arguments<'_>,
    timeout: Option<Duration>,
) -> Result<Json, Failure> {
    let pattern = arguments.required_text("pattern");
    let written = data_as_text(&pattern, escaped_glob);
    let (root, below) = match split_absolute(&written) {
        Some((folder, below)) => (
            absolute_root(settings, &pattern, &folder)?,
            below.to_owned(),
        ),
        None => (folder(settings, arguments)?, written),
    };
    let mut found = in_background(settings, timeout, move |limits| {
        find_files(&root, &below, limits)
    })
    .await?;
    // Data in a pattern finds no file that it may not name.
    if let (Some(piece), Some(files)) = (pattern.untrusted(), found["files"].as_array_mut()) {
        let before = files.len();
        files.retain(|file| {
            let mut piece = piece.clone();
            piece.text = as_text(file).into_owned();
            settings.policy.read_path(&Text::new(vec![piece])).is_ok()
        });
        let removed = before - files.len();
        found["count"] = (found["count"].as_u64().unwrap_or_default() - removed as u64).into();
    }
    Ok(found)
}

/// A pattern in which data stands for itself: a title or a file name with brackets finds just that. Outputs of commands
/// end with a line end, which is no part of it.
fn data_as_text(pattern: &Text, escaped: impl Fn(&str) -> String) -> String {
    let pieces = pattern
        .pieces()
        .iter()
        .map(|piece| match piece.origin.is_trusted() {
            true => piece.text.clone(),
            false => escaped(piece.text.trim_end_matches(['\n', '\r'])),
        });
    pieces.collect()
}

fn escaped_glob(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        escaped.extend(r"*?[]{}\!#".contains(letter).then_some('\\'));
        escaped.push(letter);
    }
    escaped
}

/// The folder that an absolute pattern begins with is judged by where the pattern came from.
fn absolute_root(
    settings: &ToolSettings,
    pattern: &Text,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let mut piece = pattern.untrusted().cloned().unwrap_or(Piece::author(""));
    piece.text = folder.display().to_string();
    settings
        .policy
        .read_path(&Text::new(vec![piece]))
        .map_err(refused)
}

pub(super) async fn grep(
    settings: &ToolSettings,
    arguments: &Arguments<'_>,
    timeout: Option<Duration>,
) -> Result<Json, Failure> {
    let pattern = arguments.required_text("pattern");
    let request = request(arguments, &pattern, folder(settings, arguments)?);
    let without_numbers = arguments.any("-n").is_some() && !arguments.flag("-n");
    let search = in_background(settings, timeout, move |limits| {
        find_lines(&request, limits)
    });
    let mut found = search.await?;
    if without_numbers && let Some(matches) = found["matches"].as_array_mut() {
        for found in matches.iter_mut().filter_map(Json::as_object_mut) {
            found.shift_remove("line_num");
        }
    }
    Ok(found)
}

fn request(arguments: &Arguments<'_>, pattern: &Text, path: PathBuf) -> Grep {
    let size = |name| {
        let count = arguments.count(name);
        count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    };
    let around = size("-C").or_else(|| size("context")).unwrap_or(0);
    Grep {
        pattern: data_as_text(pattern, regex::escape),
        path,
        glob: arguments
            .text("glob")
            .map(|text| data_as_text(&text, |data| escaped_glob(data).replace([' ', ','], "?"))),
        file_type: arguments.text("type").map(|text| text.to_string()),
        output_mode: arguments.word("output_mode").unwrap_or_default(),
        context_before: size("-B").unwrap_or(around),
        context_after: size("-A").unwrap_or(around),
        head_limit: size("head_limit"),
        offset: size("offset").unwrap_or(0),
        case_insensitive: arguments.flag("case_insensitive") || arguments.flag("-i"),
        multiline: arguments.flag("multiline"),
        only_matching: arguments.flag("-o"),
    }
}

/// What the search says of its patterns, in no folder.
pub(super) fn check_grep(arguments: &Arguments<'_>) -> Result<(), Failure> {
    let pattern = arguments.text("pattern").unwrap_or_else(|| Text::from("x"));
    let request = request(arguments, &pattern, PathBuf::new());
    check_patterns(&request).map_err(failed)
}

/// The same of a glob.
pub(super) fn check_glob(arguments: &Arguments<'_>) -> Result<(), Failure> {
    let Some(pattern) = arguments.text("pattern") else {
        return Ok(());
    };
    let pattern = pattern.to_string();
    let below = split_absolute(&pattern).map_or(&*pattern, |(_, below)| below);
    check_files(below).map_err(failed)
}

fn folder(settings: &ToolSettings, arguments: &Arguments<'_>) -> Result<PathBuf, Failure> {
    let text = arguments.text("path").unwrap_or_else(|| Text::from("."));
    let path = settings.policy.read_path(&text).map_err(refused)?;
    // `.` at the end of each file found would be noise.
    Ok(path.components().collect())
}

async fn in_background<T: Serialize + Send + 'static>(
    settings: &ToolSettings,
    timeout: Option<Duration>,
    search: impl FnOnce(&Limits) -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<Json, Failure> {
    // What runs write would make each find something else than the one before it.
    let runs = settings.run_dir.as_ref();
    let limits = Limits {
        leave_out: runs.and_then(|run| Some(run.path().parent()?.to_owned())),
        ..Limits::default()
    };
    let cancel = limits.cancel.clone();
    let limit = timeout.or(settings.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let searching = tokio::task::spawn_blocking(move || search(&limits));
    let found = tokio::time::timeout(limit, searching).await;
    cancel.store(true, Ordering::Relaxed);
    match found {
        Err(_) => Err(timed_out(limit)),
        Ok(Err(panic)) => Err(Failure::new(
            FailureKind::ToolError,
            format!("the search panicked: {panic}"),
        )),
        Ok(Ok(Err(error))) => Err(failed(error)),
        Ok(Ok(Ok(found))) => to_json(&found),
    }
}

//! Cookies and local storage that a browser begins with. The file is a secret, and lies in the folder of its scenario.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cuecard_core::diagnostic::{Diagnostic, codes};
use cuecard_core::value::Json;

use crate::browser::stage::Values;
use crate::runtime::text_file::io_reason;

/// The largest file, in bytes: 16 MiB.
const LARGEST: u64 = 16 << 20;
/// Shorter values stand everywhere and tell nothing, in characters.
const SHORTEST_SECRET: usize = 8;

/// Reads the file that `options.storageState` names, seen from `folder`, which it may not leave. What it holds is
/// hidden by `values` from then on.
///
/// # Errors
/// If it lies elsewhere, can't be read, or is none.
pub fn storage_state(file: &Path, folder: &Path, values: &mut Values) -> Result<Json, Diagnostic> {
    let path = inside(file, folder)?;
    let failed = |reason: String| {
        Diagnostic::error(
            codes::FILE_READ,
            format!("the storage state `{}` can't be read: {reason}", file.display()),
        )
    };
    let opened = File::open(&path).map_err(|error| failed(io_reason(&error)))?;
    let is_file = opened.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(failed("it is no file".to_owned()));
    }
    let mut text = Vec::new();
    opened
        .take(LARGEST + 1)
        .read_to_end(&mut text)
        .map_err(|error| failed(io_reason(&error)))?;
    if text.len() as u64 > LARGEST {
        return Err(failed("it is larger than 16 MiB".to_owned()));
    }
    // The library's words may hold what stands in the file.
    let state: Json = serde_json::from_slice(&text)
        .map_err(|error| failed(format!("line {} is not JSON", error.line())))?;
    let is_state = ["cookies", "origins"]
        .iter()
        .all(|key| state.get(key).is_some_and(Json::is_array));
    if !is_state {
        return Err(failed(
            "it has no lists `cookies` and `origins`".to_owned(),
        ));
    }
    for secret in held(&state) {
        values.hide(secret);
    }
    Ok(state)
}

/// The file's path, if it lies in the folder, links followed.
fn inside(file: &Path, folder: &Path) -> Result<PathBuf, Diagnostic> {
    let shown = file.display();
    let refused = |message: String| {
        Diagnostic::error(codes::BROWSER_OPTION, message)
            .with_pointer("/options/storageState")
            .with_help("put it beside the file that names it, and keep both out of version control")
    };
    let real = |path: &Path| {
        path.canonicalize().map_err(|error| {
            let reason = io_reason(&error);
            refused(format!("the storage state `{shown}` can't be read: {reason}"))
        })
    };
    let (folder, path) = (real(folder)?, real(&folder.join(file))?);
    match path.starts_with(&folder) {
        true => Ok(path),
        false => Err(refused(format!(
            "the storage state `{shown}` is outside the folder of its file"
        ))),
    }
}

/// The values in a storage state.
fn held(state: &Json) -> impl Iterator<Item = &str> {
    let cookies = state["cookies"].as_array().into_iter().flatten();
    let stored = state["origins"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|origin| origin["localStorage"].as_array())
        .flatten();
    cookies
        .chain(stored)
        .filter_map(|item| item["value"].as_str())
        .filter(|value| value.chars().count() >= SHORTEST_SECRET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_state_stays_in_its_folder_and_its_values_are_hidden() {
        let outer = tempfile::tempdir().expect("a folder");
        let folder = outer.path().join("in");
        std::fs::create_dir(&folder).expect("a folder");
        let state = r#"{"cookies": [{"name": "s", "value": "session-4711"}], "origins": [
            {"origin": "https://x", "localStorage": [{"name": "t", "value": "token-0815"}, {"name": "d", "value": "on"}]}]}"#;
        std::fs::write(folder.join("state.json"), state).expect("written");
        std::fs::write(outer.path().join("state.json"), state).expect("written");
        std::fs::write(folder.join("broken.json"), "{\"cookies\": session-4711").expect("written");
        std::fs::write(folder.join("other.json"), "{}").expect("written");
        let mut values = Values::default();
        let read = storage_state(Path::new("state.json"), &folder, &mut values);
        assert!(read.is_ok());
        assert_eq!(values.mask("session-4711 token-0815 on"), "*** *** on");
        for (file, expected) in [
            ("../state.json", "outside the folder"),
            ("missing.json", "can't be read"),
            ("broken.json", "line 1 is not JSON"),
            ("other.json", "no lists"),
        ] {
            let error = storage_state(Path::new(file), &folder, &mut values).expect_err(file);
            assert!(error.message.contains(expected), "{}", error.message);
            assert!(!error.message.contains("4711"), "{}", error.message);
        }
        let outside = outer.path().join("state.json");
        assert!(storage_state(&outside, &folder, &mut values).is_err());
    }
}

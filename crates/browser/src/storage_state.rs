//! Cookies and local storage that a browser begins with: a file beside the scenario, and secret as a whole.

use std::path::Path;

use serde_json::Value;

use cuecard_runtime::text_file::io_reason;

/// The largest file, in bytes.
const LARGEST: u64 = 16 << 20;
/// The shortest value that is taken for a secret: shorter ones are flags and counters that stand everywhere.
const SHORTEST_SECRET: usize = 8;

/// What a browser begins with.
#[derive(Clone)]
pub struct StorageFile {
    /// As Playwright takes it.
    pub json: Value,
    /// The values of cookies and local storage.
    pub secrets: Vec<String>,
}

impl std::fmt::Debug for StorageFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StorageFile")
            .finish_non_exhaustive()
    }
}

impl StorageFile {
    /// Reads the file that a scenario in `folder` names. It may not leave that folder.
    ///
    /// # Errors
    /// In words, without anything that stands in the file.
    pub fn read(folder: &Path, file: &Path) -> Result<Self, String> {
        let name = file.display();
        let unreadable = |error: std::io::Error| {
            format!(
                "the storage state `{name}` can't be read: {}",
                io_reason(&error)
            )
        };
        let folder = folder.canonicalize().map_err(unreadable)?;
        let path = folder.join(file).canonicalize().map_err(unreadable)?;
        if !path.starts_with(&folder) {
            return Err(format!(
                "the storage state `{name}` is outside of the scenario's folder"
            ));
        }
        let size = std::fs::metadata(&path).map_err(unreadable)?.len();
        if size > LARGEST {
            return Err(format!(
                "the storage state `{name}` has {size} bytes, more than {LARGEST}"
            ));
        }
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        let json: Value = serde_json::from_str(&text).map_err(|error| {
            format!(
                "the storage state `{name}` is not valid JSON, at {}:{}",
                error.line(),
                error.column()
            )
        })?;
        if !json.is_object() {
            return Err(format!(
                "the storage state `{name}` is not an object with `cookies` and `origins`"
            ));
        }
        let items = |list: &Value| -> Vec<Value> { list.as_array().cloned().unwrap_or_default() };
        let stored = items(&json["origins"])
            .iter()
            .flat_map(|origin| items(&origin["localStorage"]))
            .collect::<Vec<_>>();
        let secrets = items(&json["cookies"])
            .iter()
            .chain(&stored)
            .filter_map(|item| item["value"].as_str())
            .filter(|value| value.chars().count() >= SHORTEST_SECRET)
            .map(str::to_owned)
            .collect();
        Ok(Self { json, secrets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beside_the_scenario_is_read_and_its_values_are_secrets() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = r#"{"cookies": [{"name": "a", "value": "0123456789"}, {"name": "b", "value": "1"}],
            "origins": [{"origin": "http://a", "localStorage": [{"name": "c", "value": "abcdefghij"}]}]}"#;
        std::fs::write(folder.path().join("state.json"), text).expect("it can be written");
        let read = StorageFile::read(folder.path(), Path::new("state.json")).expect("it is there");
        assert_eq!(read.secrets, ["0123456789", "abcdefghij"]);
    }

    #[test]
    fn what_is_elsewhere_or_something_else_is_refused_without_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        std::fs::write(folder.path().join("outside.json"), "{}").expect("it can be written");
        std::fs::write(inner.join("bad.json"), "hunter2").expect("it can be written");
        for (file, words) in [
            ("../outside.json", "outside of"),
            ("bad.json", "is not valid JSON, at 1:1"),
            ("nothing.json", "can't be read"),
        ] {
            let error = StorageFile::read(&inner, Path::new(file)).expect_err("it is refused");
            assert!(
                error.contains(words) && !error.contains("hunter2"),
                "{error}"
            );
        }
    }
}

//! Looks at files of a workspace, and changes nothing: whether they exist, what is in them.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use cuecard_source::json::Limits as ParseLimits;
use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, cut};
use cuecard_source::yaml;
use regex::Regex;

use super::search::any_match;
use cuecard_runtime::text_file::io_reason;

/// Larger files are not looked into, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// More of a value is not shown, in bytes.
const SHOWN: usize = 400;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResult {
    /// Whether it is as it should be.
    pub holds: bool,
    /// What is there, in words.
    pub evidence: String,
}

impl ProbeResult {
    fn new(holds: bool, evidence: impl Into<String>) -> Self {
        Self {
            holds,
            evidence: evidence.into(),
        }
    }
}

/// Whether a path or glob below `root` has a match: a file, a folder or a link; with a `/` at its end, a folder.
pub fn exists(root: &Path, pattern: &str) -> ProbeResult {
    match look(root, pattern) {
        Ok(seen) => seen,
        Err(reason) => ProbeResult::new(false, reason),
    }
}

/// Whether a path or glob has no match. What can't be looked at is not known to be absent.
pub fn is_absent(root: &Path, pattern: &str) -> ProbeResult {
    match look(root, pattern) {
        Ok(seen) => ProbeResult::new(!seen.holds, seen.evidence),
        Err(reason) => ProbeResult::new(false, reason),
    }
}

/// Whether something matches.
///
/// # Errors
/// Why nobody can tell.
fn look(root: &Path, pattern: &str) -> Result<ProbeResult, String> {
    let is_glob = pattern.contains(['*', '?', '[', '{']);
    let literally = inside(root, pattern).and_then(|path| match fs::symlink_metadata(&path) {
        Ok(_) if pattern.ends_with('/') && !path.is_dir() => Ok(ProbeResult::new(
            false,
            format!("`{pattern}` is not a folder"),
        )),
        Ok(_) => Ok(ProbeResult::new(true, format!("`{pattern}` exists"))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(
            ProbeResult::new(false, format!("`{pattern}`: {}", io_reason(&error))),
        ),
        Err(error) => Err(format!("`{pattern}`: {}", io_reason(&error))),
    });
    // A file may have a name that reads as a glob: `[id].js`.
    if !is_glob || matches!(&literally, Ok(seen) if seen.holds) {
        return literally;
    }
    let root =
        fs::canonicalize(root).map_err(|error| format!("the workspace: {}", io_reason(&error)))?;
    match any_match(&root, pattern) {
        Ok(true) => Ok(ProbeResult::new(true, format!("`{pattern}` has a match"))),
        Ok(false) => Ok(ProbeResult::new(
            false,
            format!("nothing matches `{pattern}`"),
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a text file holds `part`.
pub fn contains(root: &Path, path: &str, part: &str) -> ProbeResult {
    with_text(root, path, |text| {
        let holds = text.contains(part);
        let word = if holds { "holds" } else { "does not hold" };
        ProbeResult::new(
            holds,
            format!(
                "`{path}` {word} {:?}; it begins {:?}",
                cut(part, SHOWN),
                cut(text, SHOWN)
            ),
        )
    })
}

/// Whether a text file fits `pattern` somewhere.
pub fn fits(root: &Path, path: &str, pattern: &Regex) -> ProbeResult {
    with_text(root, path, |text| {
        let holds = pattern.is_match(text);
        let word = if holds { "fits" } else { "does not fit" };
        ProbeResult::new(
            holds,
            format!(
                "`{path}` {word} `{pattern}`; it begins {:?}",
                cut(text, SHOWN)
            ),
        )
    })
}

/// Whether the value at `pointer` (RFC 6901) of a JSON, YAML or TOML file equals `expected`.
pub fn has_value(root: &Path, path: &str, pointer: &str, expected: &Json) -> ProbeResult {
    with_text(root, path, |text| {
        let document = match parse(path, text) {
            Ok(document) => document,
            Err(reason) => {
                return ProbeResult::new(false, format!("`{path}` can't be read: {reason}"));
            }
        };
        match document.pointer(pointer) {
            None => ProbeResult::new(false, format!("`{path}` has nothing at `{pointer}`")),
            Some(found) => {
                let shown = found.to_string();
                ProbeResult::new(
                    is_same_json(found, expected),
                    format!("`{pointer}` of `{path}` is {}", cut(&shown, SHOWN)),
                )
            }
        }
    })
}

fn with_text(root: &Path, path: &str, look: impl FnOnce(&str) -> ProbeResult) -> ProbeResult {
    match inside(root, path).and_then(|place| read(&place, path)) {
        Ok(text) => look(&text),
        Err(reason) => ProbeResult::new(false, reason),
    }
}

fn read(place: &Path, shown: &str) -> Result<String, String> {
    let of_io = |error: std::io::Error| format!("`{shown}`: {}", io_reason(&error));
    let metadata = fs::metadata(place).map_err(of_io)?;
    // A pipe or a device would be waited for.
    if !metadata.is_file() {
        return Err(format!("`{shown}` is not a file"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(place).map_err(of_io)?;
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(of_io)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("`{shown}` is larger than {} MiB", MAX_FILE >> 20));
    }
    String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not UTF-8 text"))
}

fn parse(path: &str, text: &str) -> Result<Json, String> {
    let extension = Path::new(path)
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("yaml" | "yml") => {
            let parsed = yaml::parse(text, &ParseLimits::default());
            match (parsed.errors.first(), parsed.root) {
                (None, Some(root)) => Ok(root.to_value()),
                (Some(error), _) => Err(error.message.clone()),
                (None, None) => Ok(Json::Null),
            }
        }
        Some("toml") => toml::from_str(text)
            .map(of_toml)
            .map_err(|error| error.message().to_owned()),
        _ => serde_json::from_str(text).map_err(|error| error.to_string()),
    }
}

/// The value as JSON; dates and times are texts.
fn of_toml(value: toml::Value) -> Json {
    match value {
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(of_toml).collect(),
        toml::Value::Table(members) => {
            let members = members.into_iter();
            Json::Object(members.map(|(key, value)| (key, of_toml(value))).collect())
        }
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// The place of a path in the workspace.
fn inside(root: &Path, path: &str) -> Result<PathBuf, String> {
    let outside = || format!("`{path}` is outside the workspace");
    let root =
        fs::canonicalize(root).map_err(|error| format!("the workspace: {}", io_reason(&error)))?;
    let mut place = root.clone();
    for component in Path::new(path).components() {
        match component {
            Component::RootDir => place = PathBuf::from("/"),
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                place.pop();
            }
            Component::Prefix(_) => return Err(outside()),
        }
    }
    // A link on the way may lead out; the last part may be a link itself, or be missing.
    let parent = place.parent().unwrap_or(&place);
    let real = match fs::canonicalize(parent) {
        Ok(real) => real,
        Err(_) if place.starts_with(&root) => return Ok(place),
        Err(_) => return Err(outside()),
    };
    let real_target = fs::canonicalize(&place).unwrap_or_else(|_| place.clone());
    let is_inside = (real.starts_with(&root) || place == root) && place.starts_with(&root);
    match is_inside && (real_target.starts_with(&root) || !real_target.exists()) {
        true => Ok(place),
        false => Err(outside()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn workspace() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir(root.join("src")).expect("writable");
        fs::write(root.join("src/a.rs"), "fn main() {}\n").expect("writable");
        fs::write(root.join("a.json"), r#"{"list": [1, {"x": 1.0}]}"#).expect("writable");
        fs::write(root.join("a.yaml"), "list: [1, {x: 1}]\n").expect("writable");
        fs::write(
            root.join("a.toml"),
            "on = [2026-01-31]\n[package]\nname = \"x\"\n",
        )
        .expect("writable");
        folder
    }

    #[test]
    fn files_folders_and_globs_exist() {
        let folder = workspace();
        let root = folder.path();
        for pattern in [
            "src", "src/", "src/a.rs", "src/*.rs", "**/*.rs", "./a.json", "s*", "*/",
        ] {
            assert!(exists(root, pattern).holds, "{pattern}");
            assert!(!is_absent(root, pattern).holds, "{pattern}");
        }
        for pattern in ["b", "src/*.py", "src/a.rs/x", "a.json/", "a.*/", "src/*/"] {
            assert!(!exists(root, pattern).holds, "{pattern}");
            assert!(is_absent(root, pattern).holds, "{pattern}");
        }
    }

    #[test]
    fn a_name_that_reads_as_a_glob_is_found() {
        let folder = workspace();
        let root = folder.path();
        fs::write(root.join("src/[id].js"), "").expect("writable");
        for pattern in ["src/[id].js", "src/[[]*", "src/*"] {
            assert!(exists(root, pattern).holds, "{pattern}");
            assert!(!is_absent(root, pattern).holds, "{pattern}");
        }
        assert!(is_absent(root, "src/[ab].js").holds);
        assert!(!exists(root, "src/[ab].js").holds);
    }

    #[test]
    fn what_no_one_can_tell_does_not_hold() {
        let folder = workspace();
        for pattern in ["[", "src/[id.js", "../*", "/etc/*", "{a"] {
            assert!(!exists(folder.path(), pattern).holds, "{pattern}");
            assert!(!is_absent(folder.path(), pattern).holds, "{pattern}");
        }
    }

    #[test]
    fn nothing_outside_is_looked_at() {
        let folder = workspace();
        let root = folder.path().join("src");
        for path in ["../a.json", "/etc/passwd", "x/../../a.json"] {
            assert!(!exists(&root, path).holds, "{path}");
            assert!(!is_absent(&root, path).holds, "{path}");
            assert!(
                contains(&root, path, "").evidence.contains("outside"),
                "{path}"
            );
        }
        std::os::unix::fs::symlink(folder.path().join("a.json"), root.join("link"))
            .expect("writable");
        assert!(!contains(&root, "link", "list").holds);
    }

    #[test]
    fn texts_and_values_are_compared() {
        let folder = workspace();
        let root = folder.path();
        assert!(contains(root, "src/a.rs", "main").holds);
        assert!(!contains(root, "src/a.rs", "mane").holds);
        let pattern = Regex::new(r"fn \w+\(").expect("a pattern");
        assert!(fits(root, "src/a.rs", &pattern).holds);
        for (path, pointer, value) in [
            ("a.json", "/list/1/x", json!(1)),
            ("a.yaml", "/list/1", json!({"x": 1.0})),
            ("a.toml", "/package/name", json!("x")),
            ("a.toml", "/on/0", json!("2026-01-31")),
        ] {
            assert!(has_value(root, path, pointer, &value).holds, "{path}");
        }
        let missing = has_value(root, "a.json", "/list/7", &json!(1));
        assert_eq!(missing.evidence, "`a.json` has nothing at `/list/7`");
        assert!(!has_value(root, "src/a.rs", "", &json!(1)).holds);
    }
}

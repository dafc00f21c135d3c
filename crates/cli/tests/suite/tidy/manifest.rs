//! Rules about the manifests of the crates. A manifest is read line by line: ours have no need for more.

use super::rules::Source;
use super::tables::{CRATES, FOR_TESTS};

/// Does the crate take the lints of the workspace?
pub(super) fn lints(source: &Source<'_>) -> Vec<(usize, String)> {
    if !source.is_manifest() {
        return Vec::new();
    }
    let taken = entries(source.text)
        .any(|entry| entry.section == "lints" && entry.key == "workspace" && entry.value == "true");
    if taken {
        Vec::new()
    } else {
        vec![(
            1,
            "the crate doesn't take the lints of the workspace".to_owned(),
        )]
    }
}

/// Does the crate depend only on those crates of the workspace that it may depend on?
pub(super) fn direction(source: &Source<'_>) -> Vec<(usize, String)> {
    if !source.is_manifest() {
        return Vec::new();
    }
    let name = entries(source.text).find(|entry| entry.section == "package" && entry.key == "name");
    let Some(name) = name else {
        return Vec::new();
    };
    let own = name.value.trim_matches('"');
    let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == own) else {
        return vec![(name.line, format!("`{own}` is not in the table of crates"))];
    };
    let mut found = Vec::new();
    for entry in entries(source.text) {
        let Some((kind, dependency)) = dependency(&entry) else {
            continue;
        };
        let ours = CRATES.iter().any(|(known, _)| *known == dependency);
        let for_tests = kind == "dev-dependencies" && dependency == FOR_TESTS;
        if ours && !for_tests && !allowed.contains(&dependency) {
            found.push((
                entry.line,
                format!("`{own}` may not depend on `{dependency}`"),
            ));
        }
    }
    found
}

/// A line `key = value` with the section it stands in; a section's own line has an empty key.
struct Entry<'a> {
    line: usize,
    section: &'a str,
    key: &'a str,
    value: &'a str,
}

fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    text.lines().enumerate().filter_map(move |(idx, line)| {
        let line_number = idx + 1;
        let line = line.trim();
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = header.trim_matches(['[', ']']);
            return Some(Entry {
                line: line_number,
                section,
                key: "",
                value: "",
            });
        }
        let (key, value) = line.split_once('=')?;
        Some(Entry {
            line: line_number,
            section,
            key: key.trim(),
            value: value.trim(),
        })
    })
}

/// The kind of dependency and the name, if the entry is one: `[dependencies] x = …`, `x.workspace = true`, or the
/// header `[dependencies.x]`; below `[target.…]` too.
fn dependency<'a>(entry: &Entry<'a>) -> Option<(&'a str, &'a str)> {
    const KINDS: &[&str] = &["dev-dependencies", "build-dependencies", "dependencies"];
    for kind in KINDS {
        if entry.key.is_empty() {
            let (before, name) = entry.section.rsplit_once('.')?;
            if before == *kind || before.ends_with(&format!(".{kind}")) {
                return Some((kind, name));
            }
        } else if entry.section == *kind || entry.section.ends_with(&format!(".{kind}")) {
            return Some((kind, entry.key.split('.').next().unwrap_or(entry.key)));
        }
    }
    None
}

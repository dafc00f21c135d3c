//! Compares what a run left with what its case expects, or writes it there.

use std::fs;
use std::path::Path;

use similar::TextDiff;

use super::case::{Case, Run, read_lossy};
use crate::normalise::normalise;

/// Compares everything the case says.
///
/// # Errors
/// All differences, as text for the reader of the test.
pub(super) fn compare(case: &Case, run: &Run) -> Result<(), String> {
    let mut differences = run.faults.clone();
    for expected in expectations(case, run) {
        if expected.wanted != expected.seen {
            differences.push(diff(expected.name, &expected.wanted, expected.seen));
        }
    }
    differences.extend(after(case, run, false));
    differences.extend(unwanted(case, run));
    if differences.is_empty() {
        Ok(())
    } else {
        Err(differences.join("\n"))
    }
}

/// Writes what the run left into the case. True if a file changed.
///
/// # Errors
/// What can't be blessed: a fault, a path that must not exist, a file that is not there.
pub(super) fn bless(case: &Case, run: &Run) -> Result<bool, String> {
    let mut problems = run.faults.clone();
    problems.extend(unwanted(case, run));
    problems.extend(after(case, run, true));
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let mut changed = false;
    for expected in expectations(case, run) {
        if expected.wanted == expected.seen {
            continue;
        }
        changed = true;
        let path = case.folder.join(expected.name);
        let written = if expected.when_missing.as_deref() == Some(expected.seen) {
            fs::remove_file(&path)
        } else {
            fs::write(&path, expected.seen)
        };
        written.map_err(|error| format!("can't write `{}`: {error}", path.display()))?;
    }
    for (relative, expected) in &case.after {
        if let Some((_, seen)) = changed_file(run, relative, expected) {
            changed = true;
            fs::write(expected, seen)
                .map_err(|error| format!("can't write `{}`: {error}", expected.display()))?;
        }
    }
    Ok(changed)
}

/// One text file of the case.
struct Expectation<'a> {
    name: &'static str,
    wanted: String,
    seen: &'a str,
    /// The text that a missing file stands for, if the file may be missing.
    when_missing: Option<String>,
}

fn expectations<'a>(case: &Case, run: &'a Run) -> Vec<Expectation<'a>> {
    let optional = |name, seen, when_missing: String| {
        let path = case.folder.join(name);
        Expectation {
            name,
            wanted: if path.exists() {
                read_lossy(&path)
            } else {
                when_missing.clone()
            },
            seen,
            when_missing: Some(when_missing),
        }
    };
    let zeros = "0\n".repeat(case.commands.len());
    let mut all = vec![
        optional("exit", &run.exit, zeros),
        optional("stdout", &run.stdout, String::new()),
        optional("stderr", &run.stderr, String::new()),
    ];
    // A trace is long: only a case that has the file compares it.
    let trace = case.folder.join("trace");
    if trace.exists() {
        all.push(Expectation {
            name: "trace",
            wanted: read_lossy(&trace),
            seen: &run.trace,
            when_missing: None,
        });
    }
    all
}

/// The files of `after/` that differ or are missing; with `only_missing`, those that are missing.
fn after(case: &Case, run: &Run, only_missing: bool) -> Vec<String> {
    let mut differences = Vec::new();
    for (relative, expected) in &case.after {
        let name = format!("after/{}", relative.display());
        if !run.scratch.work().join(relative).is_file() {
            differences.push(format!(
                "`{}` must exist afterwards, and doesn't",
                relative.display()
            ));
        } else if let Some((wanted, seen)) =
            changed_file(run, relative, expected).filter(|_| !only_missing)
        {
            differences.push(match (String::from_utf8(wanted), String::from_utf8(seen)) {
                (Ok(wanted), Ok(seen)) => diff(&name, &wanted, &seen),
                _ => format!("`{name}` differs, and is not text"),
            });
        }
    }
    differences
}

/// What the case expects of a file and what is there, if they differ. Text is normalised.
fn changed_file(run: &Run, relative: &Path, expected: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    let wanted = fs::read(expected).unwrap_or_default();
    let seen = fs::read(run.scratch.work().join(relative)).unwrap_or_default();
    let seen = match String::from_utf8(seen) {
        Ok(text) => normalise(&text, &run.context).into_bytes(),
        Err(binary) => binary.into_bytes(),
    };
    (wanted != seen).then_some((wanted, seen))
}

fn unwanted(case: &Case, run: &Run) -> Vec<String> {
    case.absent
        .iter()
        .filter(|path| run.scratch.work().join(path).symlink_metadata().is_ok())
        .map(|path| format!("`{}` must not exist afterwards, and does", path.display()))
        .collect()
}

fn diff(name: &str, wanted: &str, seen: &str) -> String {
    TextDiff::from_lines(wanted, seen)
        .unified_diff()
        .context_radius(3)
        .header(&format!("{name} (expected)"), &format!("{name} (seen)"))
        .to_string()
}

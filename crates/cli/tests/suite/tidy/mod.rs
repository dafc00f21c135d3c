//! Reads the source tree as text and holds it to the rules of the architecture.
//!
//! What may import what stands in [`tables`], the rules in [`rules`]. A violation names the file, the line and
//! what to do instead.

mod manifest;
mod rules;
mod rust_text;
mod tables;
mod walk;

use std::fmt;
use std::path::Path;
use std::process::Command;

use rules::RULES;

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    rule: &'static str,
    path: String,
    line: usize,
    what: String,
    instead: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            path,
            line,
            what,
            instead,
        } = self;
        write!(f, "{path}:{line}: [{rule}] {what}\n    instead: {instead}")
    }
}

#[test]
fn the_source_tree_keeps_the_rules() {
    let root = cuecard_testing::repository_root();
    let files = walk::sources(&root.join("crates"), &root);
    // An empty walk would pass every rule.
    for file in [
        "crates/core/src/lib.rs",
        "crates/players/src/lib.rs",
        "crates/cli/Cargo.toml",
    ] {
        assert!(
            files.iter().any(|(path, _)| path == file),
            "`{file}` was not read"
        );
    }
    let violations: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| rules::check(RULES, path, text))
        .map(|violation| violation.to_string())
        .collect();
    assert!(
        violations.is_empty(),
        "{} violations of the source rules:\n\n{}\n",
        violations.len(),
        violations.join("\n\n")
    );
}

/// The core can't do I/O, because nothing that it is made of can.
#[test]
fn the_core_depends_on_nothing_that_does_io() {
    let names = dependency_names("cuecard-core");
    for expected in ["cuecard-core", "serde", "regex"] {
        assert!(
            names.iter().any(|name| name == expected),
            "`{expected}` is not in {names:?}"
        );
    }
    let found: Vec<&&str> = tables::NOT_BELOW_CORE
        .iter()
        .filter(|banned| names.iter().any(|name| name == *banned))
        .collect();
    assert!(
        found.is_empty(),
        "cuecard-core depends on {found:?}: see `cargo tree -p cuecard-core -e normal -i NAME`, and move what needs it to cuecard-players"
    );
}

/// The names of a package and of all it depends on in a normal build.
fn dependency_names(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "-p",
            package,
        ])
        .current_dir(cuecard_testing::repository_root())
        .output()
        .expect("cargo runs, since it runs this test");
    assert!(
        output.status.success(),
        "cargo tree: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

/// A few words that must match the tree, so that the tables don't describe one that is gone.
#[test]
fn the_tables_name_crates_that_exist() {
    let root = cuecard_testing::repository_root();
    for (name, _) in tables::CRATES {
        let folder = match *name {
            "cuecard" => "cli",
            name => name.strip_prefix("cuecard-").unwrap_or(name),
        };
        let manifest = root.join("crates").join(folder).join("Cargo.toml");
        assert!(
            Path::new(&manifest).is_file(),
            "`{}` is gone",
            manifest.display()
        );
    }
}

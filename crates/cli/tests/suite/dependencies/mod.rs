//! What the program is made of: licences, crates that must stay out, crates of which there must be one version.
//!
//! `deny.toml` says the same for people who run cargo-deny; a test keeps the two equal.

mod licence;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Command;

use serde_json::Value;

/// The licences that a dependency may have. GPL and its kind are out; a licence not listed is looked at first.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates with another licence, each looked at. MPL-2.0 asks for changes of the crate's own files, of which there are
/// none; playwright-rs brings it to find folders.
const EXCEPTIONS: &[(&str, &str)] = &[("option-ext", "MPL-2.0")];

/// Crates that must not come in, and why.
const BANNED: &[(&str, &str)] = &[
    (
        "aws-lc-rs",
        "needs a C toolchain and CMake; TLS is rustls with ring",
    ),
    (
        "aws-lc-sys",
        "needs a C toolchain and CMake; TLS is rustls with ring",
    ),
    (
        "chromiumoxide",
        "doesn't wait for elements, and takes 2.5 GB to compile",
    ),
    ("html2md", "is GPL; HTML becomes Markdown with htmd"),
    (
        "jsonpath_lib",
        "isn't RFC 9535; paths are read with serde_json_path",
    ),
    (
        "native-tls",
        "uses the TLS of the system; TLS is rustls with ring",
    ),
    (
        "openssl",
        "links a C library that differs from system to system; TLS is rustls with ring",
    ),
    (
        "openssl-sys",
        "links a C library that differs from system to system; TLS is rustls with ring",
    ),
    ("serde_yaml", "is unmaintained, and open to alias bombs"),
    ("yaml-edit", "changes quotes that nobody asked it to change"),
];

/// Crates of which two versions would be two worlds of types, or twice the time to compile.
const ONE_VERSION: &[&str] = &[
    "axum",
    "clap",
    "hyper",
    "jiff",
    "regex",
    "reqwest",
    "rmcp",
    "rustls",
    "serde",
    "serde_json",
    "tokio",
];

#[test]
fn every_licence_is_allowed() {
    let mut wrong = Vec::new();
    for package in packages() {
        match &package.licence {
            None => wrong.push(format!(
                "{} {}: names no licence",
                package.name, package.version
            )),
            Some(text) => match licence::allowed(text, LICENCES) {
                Ok(true) => {}
                Ok(false) if EXCEPTIONS.contains(&(package.name.as_str(), text.as_str())) => {}
                Ok(false) => wrong.push(format!(
                    "{} {}: `{text}` is not allowed",
                    package.name, package.version
                )),
                Err(error) => wrong.push(format!(
                    "{} {}: `{text}`: {error}",
                    package.name, package.version
                )),
            },
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn banned_crates_stay_out() {
    let found: Vec<String> = packages()
        .iter()
        .filter_map(|package| {
            let (_, why) = BANNED.iter().find(|(name, _)| *name == package.name)?;
            Some(format!(
                "{} {}: {why} (`cargo tree -i {}` says who wants it)",
                package.name, package.version, package.name
            ))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn key_crates_have_one_version() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        versions
            .entry(package.name)
            .or_default()
            .insert(package.version);
    }
    let twice: Vec<_> = versions
        .iter()
        .filter(|(name, found)| ONE_VERSION.contains(&name.as_str()) && found.len() > 1)
        .collect();
    assert!(twice.is_empty(), "more than one version of {twice:?}");
}

#[test]
fn every_crate_comes_from_the_registry() {
    let odd: Vec<String> = packages()
        .into_iter()
        .filter(|package| {
            package
                .source
                .as_ref()
                .is_some_and(|source| !source.starts_with("registry+"))
        })
        .map(|package| format!("{} from {:?}", package.name, package.source))
        .collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn deny_toml_says_the_same() {
    let path = cuecard_testing::repository_root().join("deny.toml");
    let text = std::fs::read_to_string(path).expect("deny.toml is there");
    assert_eq!(strings_of(&text, "allow"), LICENCES, "allow in [licenses]");
    for (name, licence) in EXCEPTIONS {
        let line = format!("{{ crate = \"{name}\", allow = [\"{licence}\"] }}");
        assert!(text.contains(&line), "exceptions in [licenses] lack {line}");
    }

    let mut banned = Vec::new();
    let mut one_version = Vec::new();
    for line in text
        .lines()
        .filter(|line| line.trim_start().starts_with("{ crate = "))
    {
        let values = quoted(line);
        match values.as_slice() {
            [name, reason] => banned.push((name.clone(), reason.clone())),
            [name] if line.contains("deny-multiple-versions = true") => {
                one_version.push(name.clone());
            }
            _ => panic!("a line of deny.toml that this test can't read: {line}"),
        }
    }
    let expected: Vec<(String, String)> = BANNED
        .iter()
        .map(|(name, reason)| ((*name).to_owned(), (*reason).to_owned()))
        .collect();
    assert_eq!(banned, expected, "deny in [bans]");
    assert_eq!(one_version, ONE_VERSION, "deny-multiple-versions in [bans]");
}

#[derive(Debug)]
struct Package {
    name: String,
    version: String,
    licence: Option<String>,
    /// Nothing for the crates of the workspace.
    source: Option<String>,
}

/// All packages of the lock file, for every platform if they can be had.
fn packages() -> Vec<Package> {
    let metadata = metadata();
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let packages: Vec<Package> = metadata["packages"]
        .as_array()
        .expect("cargo metadata lists packages")
        .iter()
        .map(|package| Package {
            name: text(package, "name").unwrap_or_default(),
            version: text(package, "version").unwrap_or_default(),
            licence: text(package, "license"),
            source: text(package, "source"),
        })
        .collect();
    // An empty list would pass every test here.
    for name in ["cuecard-source", "serde", "tokio"] {
        assert!(
            packages.iter().any(|package| package.name == name),
            "`{name}` is missing"
        );
    }
    packages
}

/// The answer of `cargo metadata`. Sources for other platforms may not have been downloaded yet: without them and
/// without a network, this platform's packages must do.
fn metadata() -> Value {
    let tries: [&[&str]; 3] = [&["--offline"], &[], &["--offline", "--filter-platform"]];
    let mut errors = Vec::new();
    for extra in tries {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(["metadata", "--locked", "--format-version", "1"])
            .args(extra)
            .current_dir(cuecard_testing::repository_root());
        if extra.contains(&"--filter-platform") {
            command.arg(this_platform());
        }
        let output = command
            .output()
            .expect("cargo runs, since it runs this test");
        if output.status.success() {
            if extra.contains(&"--filter-platform") {
                // Not `eprintln!`: the test runner would keep that for failures.
                let _ = writeln!(
                    std::io::stderr(),
                    "left out: licences of crates for other platforms than this one (no network)"
                );
            }
            return serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
        }
        errors.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    panic!("cargo metadata failed:\n{}", errors.join("\n"));
}

/// The target triple that rustc builds for by itself.
fn this_platform() -> String {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .expect("rustc runs, since it built this test");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("rustc -vV names its host")
        .to_owned()
}

/// The strings of the list `key = [ … ]`.
fn strings_of(toml: &str, key: &str) -> Vec<String> {
    let (_, after) = toml
        .split_once(&format!("\n{key} = ["))
        .unwrap_or_else(|| panic!("deny.toml has no list `{key}`"));
    let (list, _) = after.split_once(']').expect("the list ends");
    quoted(list)
}

/// What stands in double quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

//! The whole way, from files in a folder to servers and messages.

mod any_text;
mod entries;
mod places;
mod secrecy;
mod shapes;
mod variables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_source::diagnostic::Diagnostic;
use tempfile::TempDir;

use super::{Config, ConfigSearch, ConfiguredServer};
use crate::{Protocol, ServerSpec, TransportSpec};

/// A home folder with a project in it, and an environment.
struct Project {
    home: TempDir,
    folder: PathBuf,
    environment: BTreeMap<String, String>,
}

impl Project {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("project");
        fs::create_dir(&folder).expect("it can be made");
        let environment = BTreeMap::from([("HOME".to_owned(), text(home.path()))]);
        Self {
            home,
            folder,
            environment,
        }
    }

    /// Writes a file, `path` being relative to the project.
    fn with(self, path: &str, content: &str) -> Self {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, content).expect("it can be written");
        self
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn find(&self) -> Result<Config, Vec<Diagnostic>> {
        self.find_in(None)
    }

    fn find_in(&self, explicit: Option<&str>) -> Result<Config, Vec<Diagnostic>> {
        Config::find(&ConfigSearch {
            explicit: explicit.map(Path::new),
            working_directory: &self.folder,
            environment: &self.environment,
        })
    }

    fn errors(&self, explicit: Option<&str>) -> Vec<String> {
        let found = self.find_in(explicit).expect_err("it is refused");
        found
            .iter()
            .map(|diagnostic| self.shown(diagnostic))
            .collect()
    }

    fn shown(&self, diagnostic: &Diagnostic) -> String {
        shown(diagnostic).replace(&text(self.home.path()), "$HOME")
    }
}

fn text(path: &Path) -> String {
    path.to_str()
        .expect("temporary folders have plain names")
        .to_owned()
}

/// A diagnostic as `error[CODE] file:line:column-column pointer message`, and a line for each further part.
fn shown(diagnostic: &Diagnostic) -> String {
    let mut shown = format!("{}[{}]", diagnostic.severity.as_str(), diagnostic.code);
    if let Some(place) = &diagnostic.place {
        let (start, end) = (
            place.source.position(place.span.start),
            place.source.position(place.span.end),
        );
        assert_eq!(start.line, end.line);
        shown += &format!(
            " {}:{}:{}-{}",
            place.source.name(),
            start.line,
            start.column,
            end.column
        );
    }
    if let Some(pointer) = &diagnostic.pointer {
        shown += &format!(" {pointer}");
    }
    shown += &format!(" {}", diagnostic.message);
    if let Some(label) = &diagnostic.label {
        shown += &format!("\n| {label}");
    }
    for note in &diagnostic.notes {
        shown += &format!("\n= {note}");
    }
    if let Some(help) = &diagnostic.help {
        shown += &format!("\nhelp: {help}");
    }
    shown
}

/// The config that `.mcp.json` with these `servers` gives.
fn config(servers: &str, environment: &[(&str, &str)]) -> Result<Config, Vec<Diagnostic>> {
    let mut project = Project::new().with(".mcp.json", &format!("{{\"mcpServers\":\n{servers}}}"));
    for (name, value) in environment {
        project = project.set(name, value);
    }
    project.find()
}

/// The server `s` whose entry is `entry`.
fn server(entry: &str, environment: &[(&str, &str)]) -> ConfiguredServer {
    let config =
        config(&format!("{{\"s\":{entry}}}"), environment).expect("it is of the right shape");
    config.server("s").expect("it is there").clone()
}

fn spec(entry: &str, environment: &[(&str, &str)]) -> ServerSpec {
    server(entry, environment).spec.expect("it can be reached")
}

/// Why the server `s` can't be used.
fn refusal(entry: &str, environment: &[(&str, &str)]) -> String {
    shown(
        &server(entry, environment)
            .spec
            .expect_err("it can't be reached"),
    )
}

/// What is wrong with the shape of the entry of the server `s`, which only those who use it are told.
fn wrong(entry: &str) -> String {
    assert_eq!(findings(entry), [""; 0], "{entry}");
    refusal(entry, &[])
}

/// The findings about the entry of the server `s`.
fn findings(entry: &str) -> Vec<String> {
    let found = match config(&format!("{{\"s\":{entry}}}"), &[]) {
        Ok(config) => config.warnings,
        Err(found) => found,
    };
    found.iter().map(shown).collect()
}

/// Command, arguments, variables and folder of a program.
type Program = (String, Vec<String>, Vec<(String, String)>, Option<PathBuf>);

fn stdio(spec: &ServerSpec) -> Program {
    match &spec.transport {
        TransportSpec::Stdio {
            command,
            args,
            env,
            cwd,
        } => (command.clone(), args.clone(), env.clone(), cwd.clone()),
        other => panic!("it is {}", other.as_str()),
    }
}

fn http(spec: &ServerSpec) -> (String, Vec<(String, String)>) {
    match &spec.transport {
        TransportSpec::Http { url, headers, .. } => (url.clone(), headers.clone()),
        other => panic!("it is {}", other.as_str()),
    }
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

const ONE: &str = r#"{"mcpServers":{"NAME":{"command":"x"}}}"#;

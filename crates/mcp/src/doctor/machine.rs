//! What the machine has of what servers need.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::versions::{is_at_least, version_of};
use cuecard_runtime::browsers::{self, Mode};
use cuecard_runtime::programs::{Programs, Thing};

/// The oldest Node that servers for browsers run on.
const OLDEST_NODE: (u64, u64) = (20, 19);

/// What there is to look at.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// The environment, a snapshot.
    pub environment: &'a [(OsString, OsString)],
    /// The working directory; absolute.
    pub working_directory: &'a Path,
    /// The servers that are programs: the name and the command of each.
    pub commands: &'a [(String, String)],
}

/// One thing that servers may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is: `node`, `browser`, the name of a program.
    pub name: String,
    /// Whether it is there.
    pub status: Status,
    /// Its version, if it tells one.
    pub version: Option<String>,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// The servers that are started with it.
    pub needed_by: Vec<String>,
    /// What to do, if it is not there or too old.
    pub help: Option<String>,
}

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is.
    Found,
    /// It is there, and too old.
    Old,
    /// It is not.
    Missing,
}

/// Programs that servers are commonly started with, and what brings them.
const STARTERS: &[(&str, Thing)] = &[
    ("npx", Thing::Node),
    ("npm", Thing::Node),
    ("uvx", Thing::Uv),
    ("uv", Thing::Uv),
    ("python", Thing::Python),
    ("python3", Thing::Python),
    ("docker", Thing::Docker),
    ("bunx", Thing::Bun),
    ("bun", Thing::Bun),
    ("deno", Thing::Deno),
];

/// Looks at the machine. Programs are asked for their version; that takes a few seconds at most.
pub async fn examine(machine: &Machine<'_>) -> Vec<Finding> {
    let programs = Programs {
        environment: machine.environment,
    };
    let mut findings = vec![node(machine, &programs).await];
    for &(name, thing) in STARTERS {
        let needed_by = machine.needing(name);
        if !needed_by.is_empty() {
            findings.push(starter(name, thing, needed_by, machine, &programs).await);
        }
    }
    findings.push(browser(machine, &programs).await);
    findings.push(driver(machine, &findings[0]));
    findings
}

impl Machine<'_> {
    /// The servers that are started with `program`.
    fn needing(&self, program: &str) -> Vec<String> {
        let servers = self
            .commands
            .iter()
            .filter(|(_, command)| command == program);
        servers.map(|(server, _)| server.clone()).collect()
    }
}

async fn node(machine: &Machine<'_>, programs: &Programs<'_>) -> Finding {
    let needed_by = machine.needing("node");
    let mut finding = starter("node", Thing::Node, needed_by, machine, programs).await;
    let is_old = |version: &String| !is_at_least(version, OLDEST_NODE);
    if finding.version.as_ref().is_some_and(is_old) {
        let (major, minor) = OLDEST_NODE;
        finding.status = Status::Old;
        finding.help = Some(format!(
            "many servers need {major}.{minor} or newer: see https://nodejs.org/en/download"
        ));
    }
    finding
}

async fn starter(
    name: &str,
    thing: Thing,
    needed_by: Vec<String>,
    machine: &Machine<'_>,
    programs: &Programs<'_>,
) -> Finding {
    let path = programs.find(name);
    let version = match &path {
        Some(path) => version_of(path, machine.environment).await,
        None => None,
    };
    Finding {
        name: name.to_owned(),
        status: status(path.is_some()),
        help: path.is_none().then(|| thing.install().to_owned()),
        version,
        path,
        needed_by,
    }
}

async fn browser(machine: &Machine<'_>, programs: &Programs<'_>) -> Finding {
    let path = browsers::find(programs, Mode::Headless);
    let version = match &path {
        Some(path) => version_of(path, machine.environment).await,
        None => None,
    };
    Finding {
        name: "browser".to_owned(),
        status: status(path.is_some()),
        help: path.is_none().then(|| Thing::Browser.install().to_owned()),
        version,
        path,
        needed_by: Vec::new(),
    }
}

fn driver(machine: &Machine<'_>, node: &Finding) -> Finding {
    let found = browsers::driver(
        machine.environment,
        machine.working_directory,
        node.path.as_deref(),
    );
    let (path, version) = found.unzip();
    Finding {
        name: "playwright-core".to_owned(),
        status: status(path.is_some()),
        help: path.is_none().then(|| "cuecard browser install".to_owned()),
        version,
        path,
        needed_by: Vec::new(),
    }
}

fn status(is_there: bool) -> Status {
    match is_there {
        true => Status::Found,
        false => Status::Missing,
    }
}

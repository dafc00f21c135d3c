//! What an entry means: its texts with variables filled in, its paths, its transport.
//!
//! What goes wrong here concerns one server and waits for its use.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::{env_file, text_file};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use reqwest::header::HeaderValue;

use super::address::{self, Address};
use super::entry::{Entry, Field, Proof, Reach};
use super::expand::{Names, expand};
use super::findings::{Findings, into_one};
use super::secrets::Secrets;
use super::{ConfigFile, ConfigSearch, ConfiguredServer, places};
use crate::{ClientCredentials, ClientProof, ServerSpec, TransportSpec};

/// How long the start of a server may take.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How many bytes of variables are filled into one file.
const BUDGET: usize = 16 * 1024 * 1024;

/// Makes servers of the entries of one file.
pub(super) struct Resolver<'a> {
    /// The text as it was parsed.
    pub text: &'a str,
    /// The same, of which nothing is shown.
    pub source: &'a SourceFile,
    pub file: &'a ConfigFile,
    pub search: &'a ConfigSearch<'a>,
    names: Names<'a>,
    /// What may still be filled in, in bytes.
    budget: usize,
    /// What fields with variables become, and the values of files of variables.
    pub values: Vec<String>,
}

/// What is gathered while one entry is resolved.
#[derive(Default)]
struct Gathering {
    secrets: Secrets,
    problems: Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        text: &'a str,
        source: &'a SourceFile,
        file: &'a ConfigFile,
        search: &'a ConfigSearch<'a>,
    ) -> Self {
        Self {
            text,
            source,
            file,
            search,
            names: Names {
                environment: search.environment,
                editor: places::editor_names(file, search),
            },
            budget: BUDGET,
            values: Vec::new(),
        }
    }

    /// The server called `name`, whose entry has the wrong shape.
    pub(super) fn unusable(&self, name: &str, problem: Diagnostic) -> ConfiguredServer {
        ConfiguredServer {
            name: name.to_owned(),
            spec: Err(problem),
            is_disabled: false,
            from: self.file.shown.clone(),
            project_local: self.file.project_local,
            // Nothing of such an entry is ever used, and its findings show nothing of it.
            secrets: Vec::new(),
            timeout: None,
            warnings: Vec::new(),
        }
    }

    pub(super) fn resolve(
        &mut self,
        entry: &Entry,
        findings: &mut Findings<'_>,
    ) -> ConfiguredServer {
        let mut gathering = Gathering::default();
        let transport = self.transport(entry, &mut gathering, findings);
        ConfiguredServer {
            name: entry.name.clone(),
            spec: transport
                .map_err(|problem| *problem)
                .map(|transport| ServerSpec {
                    name: entry.name.clone(),
                    transport,
                    protocol: entry.protocol,
                    start_timeout: START_TIMEOUT,
                    allowed_tools: entry.tools.clone(),
                    source: self.file.shown.display().to_string(),
                }),
            is_disabled: matches!(entry.reach, Reach::Disabled(_)),
            from: self.file.shown.clone(),
            project_local: self.file.project_local,
            secrets: gathering.secrets.into_list(),
            timeout: entry.timeout,
            warnings: Vec::new(),
        }
    }

    fn transport(
        &mut self,
        entry: &Entry,
        gathering: &mut Gathering,
        findings: &mut Findings<'_>,
    ) -> Result<TransportSpec, Box<Diagnostic>> {
        match &entry.reach {
            Reach::Disabled(span) => Err(Box::new(self.disabled(entry, *span))),
            Reach::Command {
                command,
                args,
                env,
                env_file,
                cwd,
            } => {
                let mut fill = |field: &Field| self.fill(entry, field, gathering, findings);
                let program = fill(command);
                let args: Vec<String> = args.iter().map(&mut fill).collect();
                let mut env: Vec<(String, String)> = env
                    .iter()
                    .map(|(name, field)| (name.clone(), fill(field)))
                    .collect();
                let cwd = cwd.as_ref().map(&mut fill);
                let file = env_file.as_ref().map(|field| (field, fill(field)));
                let cwd = cwd.map(|cwd| self.folder(&cwd));
                self.values
                    .extend(cwd.iter().map(|cwd| cwd.display().to_string()));
                if let Some((field, path)) = file {
                    // What the entry says itself goes first.
                    let mut more = self.variables_of_file(entry, field, &path, gathering);
                    more.retain(|(name, _)| env.iter().all(|(other, _)| other != name));
                    env.extend(more);
                }
                gathering.secrets.add_args(&args);
                for (name, value) in &env {
                    gathering.secrets.add_env(name, value);
                }
                if let Some(problem) = gathering.problem() {
                    return Err(Box::new(problem));
                }
                if program.trim().is_empty() {
                    return Err(Box::new(self.empty(entry, command)));
                }
                Ok(TransportSpec::Stdio {
                    command: self.program(program),
                    args,
                    env,
                    cwd,
                })
            }
            Reach::Url {
                url: field,
                headers: written_headers,
                auth: written_auth,
                kind,
            } => {
                let url = self
                    .fill(entry, field, gathering, findings)
                    .trim()
                    .to_owned();
                let headers: Vec<(String, String)> = written_headers
                    .iter()
                    .map(|(name, field)| {
                        let value = self.header(entry, field, gathering, findings);
                        (name.clone(), value)
                    })
                    .collect();
                let auth = written_auth.as_ref().map(|auth| {
                    let mut fill = |field: &Field| self.fill(entry, field, gathering, findings);
                    ClientCredentials {
                        client_id: fill(&auth.client_id),
                        proof: match &auth.proof {
                            Proof::Secret(field) => ClientProof::Secret(fill(field)),
                            Proof::Key(field) => ClientProof::Key(fill(field)),
                        },
                        scope: auth.scope.as_ref().map(&mut fill),
                        token_url: auth.token_url.as_ref().map(&mut fill),
                    }
                });
                if let Some(auth) = &auth {
                    gathering.secrets.add(auth.proof.secret());
                }
                gathering.secrets.add_url(&url);
                for (_, value) in &headers {
                    gathering.secrets.add_header(value);
                }
                if let Some(problem) = gathering.problem() {
                    return Err(Box::new(problem));
                }
                if url.is_empty() {
                    return Err(Box::new(self.empty(entry, field)));
                }
                let address = address::read(&url, *kind)
                    .map_err(|(what, help)| Box::new(self.about(entry, field, &what, help)))?;
                if let Some(written) = written_auth
                    && !matches!(address, Address::Http { .. })
                {
                    findings.add(Diagnostic {
                        severity: Severity::Warning,
                        ..self.about(
                            entry,
                            &written.client_id,
                            "has no effect: tokens are fetched for Streamable HTTP only",
                            "put a token into `headers`: \"Authorization\": \"Bearer ${TOKEN}\"",
                        )
                    });
                }
                Ok(match address {
                    Address::Http { url, or_sse } => TransportSpec::Http {
                        url,
                        headers,
                        or_sse,
                        auth,
                    },
                    Address::Sse(url) => TransportSpec::Sse { url, headers },
                    Address::WebSocket(url) => TransportSpec::WebSocket { url, headers },
                    Address::Unix(path) => {
                        if let Some((_, first)) = written_headers.first() {
                            findings.add(Diagnostic {
                                severity: Severity::Warning,
                                ..self.about(entry, first, "has no effect: messages over a Unix socket have no headers",
                                    "remove it, or write `http+unix://` if the server speaks HTTP over its socket")
                            });
                        }
                        TransportSpec::Unix {
                            path: self.folder(&path),
                        }
                    }
                    Address::HttpUnix { socket, path } => TransportSpec::HttpUnix {
                        socket: self.folder(&socket),
                        path,
                        headers,
                    },
                })
            }
        }
    }

    /// The variables in the file at `path`, which `envFile` names.
    fn variables_of_file(
        &mut self,
        entry: &Entry,
        field: &Field,
        path: &str,
        gathering: &mut Gathering,
    ) -> Vec<(String, String)> {
        let path = self.folder(path);
        self.values.push(path.display().to_string());
        // What stands for `${NAME}` may be a secret.
        let name = match field.text.contains("${") {
            true => field.text.clone(),
            false => path.display().to_string(),
        };
        let read = match path.is_file() {
            true => text_file::read(&path, &name).map(|source| env_file::parse(&source)),
            false => Err(Diagnostic::error(
                codes::FILE_READ,
                format!("`{name}` is not a file"),
            )),
        };
        let (variables, problem) = match read {
            Err(problem) => (Vec::new(), Some(problem)),
            Ok((variables, found)) => {
                let mut errors = found
                    .into_iter()
                    .filter(|found| found.severity == Severity::Error);
                (variables, errors.next())
            }
        };
        if let Some(problem) = problem {
            gathering
                .problems
                .push(self.bad_env_file(entry, field, &problem));
        }
        let values = variables.iter().map(|(_, value)| value.clone());
        self.values.extend(values);
        variables
    }

    fn header(
        &mut self,
        entry: &Entry,
        field: &Field,
        gathering: &mut Gathering,
        findings: &mut Findings<'_>,
    ) -> String {
        let value = self.fill(entry, field, gathering, findings);
        if HeaderValue::from_str(&value).is_err() {
            gathering.problems.push(self.about(entry, field, "contains a character that is not allowed in a header",
                    "look for a line break, perhaps at the end of a variable's value, and for letters outside ASCII"));
        }
        value
    }

    /// The text of `field` with its references filled in; what is missing is left out and gathered.
    fn fill(
        &mut self,
        entry: &Entry,
        field: &Field,
        gathering: &mut Gathering,
        findings: &mut Findings<'_>,
    ) -> String {
        let expansion = expand(&field.text, &self.names, &mut self.budget);
        for (name, value) in &expansion.filled {
            gathering.secrets.add_variable(name, value);
        }
        for missing in &expansion.missing {
            gathering.problems.push(self.missing(entry, field, missing));
        }
        if expansion.is_too_long {
            gathering.problems.push(self.about(
                entry,
                field,
                "is where the variables in this file come to more than 16 MiB",
                "set them to shorter values",
            ));
        }
        if let Some(first) = expansion.unread.first() {
            let more = expansion.unread.len() - 1;
            findings.add(self.unread(entry, field, first.clone(), more));
        }
        if expansion.text != field.text {
            self.values.push(expansion.text.clone());
        }
        expansion.text
    }

    fn program(&self, command: String) -> String {
        match places::below_home(Path::new(&command), self.search).to_str() {
            Some(path) => path.to_owned(),
            None => command,
        }
    }

    fn folder(&self, cwd: &str) -> PathBuf {
        let folder = places::project_folder(&self.file.path)
            .join(places::below_home(Path::new(cwd), self.search));
        // Without `.` and a slash at the end.
        folder.components().collect()
    }
}

impl Gathering {
    fn problem(&mut self) -> Option<Diagnostic> {
        into_one(std::mem::take(&mut self.problems), |problem| {
            problem.message
        })
    }
}

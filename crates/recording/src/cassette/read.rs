//! From the text of a cassette to its records and back.

use cuecard_mcp::server::unfit_result;
use cuecard_source::decode::{Decoded, Items};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::Language;
use cuecard_source::json::{Limits, Node, parse_part, read_exact, read_value, write_exact};
use cuecard_source::reader::{Format, first_character};
use cuecard_source::value::{Json, Redactor, find_credentials, may_hold_credential};
use cuecard_source::{SourceFile, Span, reader};
use serde::de::DeserializeOwned;

use super::format::{ServerLine, VERSION};
use crate::marks::Marks;
use crate::recording::days;
use crate::{Call, Recording, Server};

/// More lines are not read.
const MAX_LINES: usize = 1_000_000;
/// After so many findings the rest of a cassette is not read.
const MAX_FINDINGS: usize = 100;
/// What a server is called that has no name.
const UNNAMED: &str = "server";

const FORMAT: Format = Format {
    missing: codes::CASSETTE_INVALID,
    wrong_type: codes::CASSETTE_INVALID,
    unknown: codes::CASSETTE_KEY,
    value: codes::CASSETTE_INVALID,
    path: codes::CASSETTE_INVALID,
    check: codes::CASSETTE_INVALID,
};

/// A cassette: servers, and the calls of their tools with the answers.
#[derive(Debug, Clone)]
pub struct Cassette {
    /// The file.
    pub source: SourceFile,
    /// The servers, as the last line about each describes it.
    pub servers: Vec<Server>,
    /// The calls, in the order in which they began: recordings have their lines in the order of the answers. A line
    /// without `started` stays behind the one before it.
    pub records: Vec<Record>,
    /// What the user asked for, as its lines say.
    prompts: Vec<String>,
    /// When it was recorded, as its lines say.
    recorded_at: Vec<String>,
}

/// A call of a cassette.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The call.
    pub call: Call,
    /// The line.
    pub span: Span,
    /// The result as JSON text, with each number as it is written; empty if there is none.
    pub result: String,
}

impl Cassette {
    /// Reads a cassette, or says what is wrong with it. A last line that was cut off, as by a crash, is left out with a
    /// warning.
    pub fn read(source: &SourceFile) -> (Option<Self>, Vec<Diagnostic>) {
        let mut reader = Reader {
            source,
            servers: Vec::new(),
            records: Vec::new(),
            prompts: Vec::new(),
            recorded_at: Vec::new(),
            findings: Vec::new(),
        };
        reader.lines();
        let Reader {
            servers,
            records,
            prompts,
            recorded_at,
            mut findings,
            ..
        } = reader;
        let mut began = None;
        let records = records.into_iter().map(|record| {
            began = record.call.started.or(began);
            (began, record)
        });
        let mut records: Vec<_> = records.collect();
        records.sort_by_key(|(began, _)| *began);
        if servers.is_empty() && !any_error(&findings) {
            let message = "the cassette is empty";
            let help = format!("its first line is `{{\"cassette\": {VERSION}}}`");
            findings.push(Diagnostic::error(codes::CASSETTE_INVALID, message).with_help(help));
        }
        let cassette = (!any_error(&findings)).then(|| Self {
            source: source.clone(),
            servers,
            records: records.into_iter().map(|(_, record)| record).collect(),
            prompts,
            recorded_at,
        });
        (cassette, findings)
    }

    /// Returns the recording that the cassette holds.
    pub fn recording(&self) -> Recording {
        Recording {
            prompts: self.prompts.clone(),
            servers: self.servers.clone(),
            calls: self
                .records
                .iter()
                .map(|record| record.call.clone())
                .collect(),
            days: days(self.recorded_at.iter().map(String::as_str)),
            ..Recording::default()
        }
    }

    /// Returns the server called `name`, or the only one.
    ///
    /// # Errors
    /// X-ARG-01 if there is no such server, or if there are several.
    pub fn server(&self, name: Option<&str>) -> Result<&Server, Diagnostic> {
        let names = || {
            let names = self
                .servers
                .iter()
                .map(|server| format!("`{}`", server.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let found = match (name, self.servers.as_slice()) {
            (Some(name), servers) => servers.iter().find(|server| server.name == name),
            (None, [server]) => Some(server),
            (None, _) => None,
        };
        found.ok_or_else(|| {
            let message = match name {
                Some(name) => format!("`{}` has no server `{name}`", self.source.name()),
                None => format!("`{}` has several servers", self.source.name()),
            };
            Diagnostic::error(codes::ARGUMENT, message)
                .with_help(format!("choose one with `--server NAME`: {}", names()))
        })
    }

    /// Returns the records of a server.
    pub fn records_of(&self, server: &str) -> impl Iterator<Item = &Record> {
        self.records
            .iter()
            .filter(move |record| record.call.server.as_deref() == Some(server))
    }
}

impl Recording {
    /// Returns the recording as the lines of a cassette, each with its line end. Calls of built-in tools have no place in
    /// it.
    pub fn to_cassette(&self) -> Vec<String> {
        let servers = self.servers.iter().enumerate().map(|(nth, server)| {
            let prompts = self.prompts.iter().filter(|_| nth == 0).cloned();
            line(&ServerLine {
                prompts: Items(prompts.collect()),
                ..ServerLine::from(server)
            })
        });
        let calls = self.calls.iter().filter(|call| call.server.is_some());
        let calls = calls.map(line);
        servers.chain(calls).collect()
    }
}

/// A line of a cassette, with its line end.
pub(crate) fn line(line: &impl serde::Serialize) -> String {
    write_exact(line) + "\n"
}

/// Returns a line without its secrets, unless it has none. What is a credential by its key, its place or its looks is
/// a secret from here on. The name of the server is none. With `marks`, they tell which secrets are equal.
pub(crate) fn redact(text: &str, redactor: &mut Redactor, marks: Option<&Marks>) -> Option<Json> {
    if !may_hold_credential(text) && !redactor.finds(text) {
        return None;
    }
    let mut line = read_exact(text).ok()?;
    let server = line.get_mut("server").map(Json::take);
    let mut found = Vec::new();
    find_credentials(&line, &mut found);
    redactor.learn(found);
    match marks {
        Some(marks) => marks.hide(redactor, &mut line),
        None => redactor.json(&mut line),
    }
    if let Some(server) = server {
        line["server"] = server;
    }
    Some(line)
}

impl From<&Server> for ServerLine {
    fn from(server: &Server) -> Self {
        let tools = (!server.tools.is_empty()).then(|| Items(server.tools.clone()));
        Self {
            cassette: VERSION,
            server: Some(server.name.clone()),
            introduction: server.introduction.as_object().cloned(),
            tools,
            ..Self::default()
        }
    }
}

struct Reader<'a> {
    source: &'a SourceFile,
    servers: Vec<Server>,
    records: Vec<Record>,
    prompts: Vec<String>,
    recorded_at: Vec<String>,
    findings: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn lines(&mut self) {
        let text = self.source.text();
        let mut end = cuecard_source::byte_order_mark(text);
        for (nth, piece) in text[end..].split_inclusive('\n').enumerate() {
            let span = Span::new(end, end + piece.trim_end().len());
            end += piece.len();
            if piece.trim().is_empty() {
                continue;
            }
            if nth >= MAX_LINES {
                return self.wrong(
                    self.first(span),
                    &format!("more than {MAX_LINES} lines"),
                    "",
                );
            }
            let parsed = parse_part(text, span, &Limits::default());
            match (parsed.root, parsed.errors.as_slice()) {
                (Some(root), []) => self.line(&root, span),
                _ if end == text.len() && !piece.ends_with('\n') && !self.servers.is_empty() => {
                    let message =
                        "the last line is cut off and was left out: the recording was interrupted";
                    let found = Diagnostic::warning(codes::CASSETTE_INVALID, message);
                    self.findings.push(found.at(self.source, self.first(span)));
                }
                (_, errors) => self.findings.extend(errors.iter().map(|error| Diagnostic {
                    code: codes::CASSETTE_INVALID,
                    ..error.diagnostic(self.source, Language::Json)
                })),
            }
            // What follows a wrong first line may be anything.
            let is_lost = self.servers.is_empty() && any_error(&self.findings);
            if is_lost || self.findings.len() >= MAX_FINDINGS {
                return;
            }
        }
    }

    fn line(&mut self, root: &Node, span: Span) {
        if root.get("cassette").is_some() {
            if let Some(line) = self.decode::<ServerLine>(root, "the line of a server") {
                self.server(line, span);
            }
            return;
        }
        if self.servers.is_empty() {
            let help = format!("a cassette begins with the line `{{\"cassette\": {VERSION}}}`");
            return self.wrong(
                self.first(span),
                "the first line of a cassette has no `cassette`",
                &help,
            );
        }
        if let Some(call) = self.decode::<Call>(root, "a record") {
            self.call(call, root, span);
        }
    }

    fn decode<T: DeserializeOwned>(&mut self, root: &Node, what: &str) -> Option<T> {
        let Decoded {
            value, diagnostics, ..
        } = reader::Reader::new(self.source, &FORMAT).decoded(root, "", what);
        self.findings.extend(diagnostics);
        value
    }

    fn server(&mut self, line: ServerLine, span: Span) {
        if line.cassette != VERSION {
            let message = format!("unsupported version {} of cassettes", line.cassette);
            return self.wrong(
                self.first(span),
                &message,
                &format!("this program reads version {VERSION}"),
            );
        }
        self.recorded_at.extend(line.recorded_at);
        self.prompts.extend(line.prompts.0);
        let introduction = line.introduction.map_or(Json::Null, Json::Object);
        let own_name = server_info(&introduction)["name"].as_str();
        let name = line.server.as_deref().or(own_name).unwrap_or(UNNAMED);
        let known = self.servers.iter().position(|server| server.name == name);
        let idx = known.unwrap_or(self.servers.len());
        if known.is_none() {
            self.servers.push(Server {
                name: name.to_owned(),
                ..Server::default()
            });
        }
        let server = &mut self.servers[idx];
        for tool in line.tools.unwrap_or_default().0 {
            server.tools.retain(|known| known.name != tool.name);
            server.tools.push(tool);
        }
        if !introduction.is_null() {
            server.introduction = introduction;
        }
    }

    fn call(&mut self, mut call: Call, root: &Node, span: Span) {
        let place = |key: &str| root.get(key).map_or(span, |node| node.span);
        match (&call.server, self.servers.as_slice()) {
            (Some(name), servers) if servers.iter().all(|server| server.name != *name) => {
                let message = format!("no line before this one is about the server `{name}`");
                return self.wrong(
                    place("server"),
                    &message,
                    "name the server as its line does",
                );
            }
            (None, [server]) => call.server = Some(server.name.clone()),
            (Some(_), _) => {}
            (None, _) => {
                let help = "add `\"server\"`: there are several servers";
                return self.wrong(self.first(span), "a record has no `server`", help);
            }
        }
        if call.result.is_some() && call.error.is_some() {
            let help = "an answer is a result or an error of the protocol: remove one of them";
            return self.wrong(
                place("error"),
                "a record has both `result` and `error`",
                help,
            );
        }
        let result = root.get("result").filter(|_| call.error.is_none());
        let result = result.map(whole_result);
        if let Some(why) = result.as_deref().and_then(unfit_result) {
            let message = format!("the result is not one of the protocol: {why}");
            let found = Diagnostic::warning(codes::CASSETTE_INVALID, message)
                .at(self.source, self.first(span))
                .with_help("`serve mcp` answers such a call with an error");
            self.findings.push(found);
        }
        call.result = result.as_ref().and_then(|result| read_value(result).ok());
        self.records.push(Record {
            call,
            span,
            result: result.unwrap_or_default(),
        });
    }

    fn first(&self, span: Span) -> Span {
        first_character(self.source, span)
    }

    fn wrong(&mut self, span: Span, message: &str, help: &str) {
        let mut found = Diagnostic::error(codes::CASSETTE_INVALID, message).at(self.source, span);
        found.help = (!help.is_empty()).then(|| help.to_owned());
        self.findings.push(found);
    }
}

/// Returns what a server calls itself: in the result of `initialize`, or in the metadata of that of `server/discover`.
pub(super) fn server_info(introduction: &Json) -> &Json {
    match &introduction["serverInfo"] {
        Json::Null => &introduction["_meta"]["io.modelcontextprotocol/serverInfo"],
        info => info,
    }
}

/// Returns the result of the protocol that was written by hand as a text or as any JSON value; a whole one as it is.
fn whole_result(result: &Node) -> String {
    const WHOLE: [&str; 3] = ["structuredContent", "isError", "resultType"];
    let has_content = result
        .get("content")
        .is_some_and(|it| it.as_array().is_some());
    if has_content || WHOLE.iter().any(|key| result.get(key).is_some()) {
        return result.to_string();
    }
    let written = result.to_string();
    let text = Json::from(result.as_str().unwrap_or(&written));
    let content = format!(r#""content":[{{"type":"text","text":{text}}}]"#);
    match result.as_object() {
        Some(_) => format!(r#"{{{content},"structuredContent":{written}}}"#),
        None => format!("{{{content}}}"),
    }
}

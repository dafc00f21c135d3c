//! `assert`: each entry is a check of its own.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::FORMAT;
use super::pieces::{filled, glob, invalid, json_pointer, object, pattern, stop_reason, texts};
use super::request::{JsonForm, TextTestForm};
use crate::model::{
    FileText, LocatedCheck, NameGlob, RequestCheck, TextTest, TimelineAssert, TimelineCheck,
};
use cuecard_source::checked;
use cuecard_source::decode::{OneOrMany, by_hand, one_or_many};
use cuecard_source::diagnostic::{any_error, codes};
use cuecard_source::json::Node;
use cuecard_source::reader::{Format, Object, Reader};
use cuecard_source::value::Json;

checked!(always FileContents);

/// What the mistakes of an assert are called.
static ASSERT: Format = Format {
    unknown: codes::TIMELINE_ASSERT_UNKNOWN,
    ..FORMAT
};

/// What must hold at this point.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssertForm {
    /// Files.
    fs: Option<FileChecks>,
    /// The screen.
    text: Option<ScreenTexts>,
    /// Structured files.
    json: Option<JsonFiles>,
    /// Repositories.
    git: Option<Git>,
    /// Sessions.
    acp: Option<Sessions>,
    /// Exit code of the last userCommand.
    exit_code: Option<i64>,
    /// A screenshot that was taken above.
    screen: Option<Screen>,
    /// The request for the model's next turn.
    request: Option<RequestForm>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileChecks {
    /// Paths or globs that have a match.
    #[serde(default, deserialize_with = "texts")]
    exists: Vec<String>,
    /// Paths or globs that have none.
    #[serde(default, deserialize_with = "texts")]
    not_exists: Vec<String>,
    /// Texts that files hold.
    #[serde(default, deserialize_with = "one_or_many")]
    contains: Vec<FileContents>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(remote = "Self")]
struct FileContents {
    /// The file.
    #[serde(deserialize_with = "filled")]
    path: String,
    /// Text that it holds.
    substring: Option<String>,
    /// Regular expression that it fits.
    #[serde(default, deserialize_with = "pattern")]
    #[schemars(with = "String")]
    regex: Option<Regex>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ScreenTexts {
    /// What is on the screen or above it.
    #[serde(default, deserialize_with = "texts")]
    contains: Vec<String>,
    /// What is not.
    #[serde(default, deserialize_with = "texts")]
    not_contains: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct JsonFiles {
    /// A file, a pointer into it, and the value there.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<JsonFile>")]
    file: Vec<JsonFile>,
}

#[derive(Deserialize, JsonSchema)]
struct JsonFile {
    /// The file.
    #[serde(deserialize_with = "filled")]
    path: String,
    /// JSON pointer (RFC 6901).
    #[serde(deserialize_with = "json_pointer")]
    pointer: String,
    /// The value, which may be null.
    #[serde(alias = "?equals")]
    equals: Json,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Git {
    /// A branch that exists.
    branch: Option<Name<Branch>>,
    /// Whether the branch exists (default: true).
    exists: Option<bool>,
    /// A remote that exists; a boolean says whether a remote has the branch.
    remote_exists: Option<RemoteExists>,
    /// The base that the branch is ahead of (default: main).
    #[serde(default, deserialize_with = "filled")]
    commits_ahead_of: Option<String>,
    /// By how many commits.
    commit_count: Option<u64>,
    /// What messages of commits hold.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Commit>")]
    commit: Vec<Commit>,
    /// What the message of the newest commit holds.
    #[serde(default, deserialize_with = "filled")]
    head_message_contains: Option<String>,
}

/// A name, or a mapping with it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(untagged, inline)]
enum Name<T> {
    String(#[serde(deserialize_with = "filled")] String),
    Object(T),
}

#[derive(Deserialize, JsonSchema)]
struct Branch {
    /// The branch.
    #[serde(deserialize_with = "filled")]
    name: String,
    /// Whether it exists (default: true).
    exists: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(untagged, inline)]
enum RemoteExists {
    String(#[serde(deserialize_with = "filled")] String),
    Object(Remote),
    Boolean(bool),
}

#[derive(Deserialize, JsonSchema)]
struct Remote {
    /// The remote.
    #[serde(deserialize_with = "filled")]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Commit {
    /// What the message holds.
    #[serde(deserialize_with = "filled")]
    message_contains: String,
    /// Which commit (default: HEAD).
    #[serde(rename = "ref", default, deserialize_with = "filled")]
    reference: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(
    dead_code,
    reason = "it is a form to check by; what is written is compared"
)]
struct Sessions {
    /// How the prompts since the last such assert ended.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Session>")]
    session: Vec<Session>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(
    dead_code,
    reason = "it is a form to check by; what is written is compared"
)]
struct Session {
    /// Why the agent stopped.
    #[serde(default, deserialize_with = "stop_reason")]
    stop_reason: Option<String>,
    /// Tokens.
    #[serde(default, deserialize_with = "object")]
    #[schemars(with = "std::collections::BTreeMap<String, Json>")]
    usage: Option<Json>,
}

#[derive(Deserialize, JsonSchema)]
struct Screen {
    /// The screenshot.
    #[serde(deserialize_with = "filled")]
    label: String,
    /// What it holds.
    #[serde(default, deserialize_with = "texts")]
    #[schemars(extend("type" = ["string", "array"]))]
    contains: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct RequestForm {
    /// The model, with `*` and `?`.
    #[serde(default, deserialize_with = "glob")]
    #[schemars(with = "String")]
    model: Option<NameGlob>,
    /// The system text.
    #[schemars(with = "Option<TextTestForm>")]
    system: Option<TextTest>,
    /// Tools that the request advertises, and does not.
    tools: Option<Tools>,
    /// Values in the body of the request.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<JsonForm>")]
    json: Vec<JsonForm>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tools {
    /// Tools that are advertised.
    #[serde(default, deserialize_with = "texts")]
    has: Vec<String>,
    /// Tools that are not.
    #[serde(default, deserialize_with = "texts")]
    has_not: Vec<String>,
}

impl<'de> Deserialize<'de> for TimelineAssert {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, |reader, node, pointer| {
            reader.with_format(&ASSERT, |reader| assert(reader, Object { node, pointer }))
        })
    }
}

fn assert(reader: &mut Reader<'_>, whole: Object<'_>) -> Option<TimelineAssert> {
    let form: AssertForm = reader.decode(whole.node, whole.pointer, "`assert`")?;
    let mut checks = form.checks(reader, whole);
    if checks.is_empty() && !any_error(&reader.diagnostics) {
        let code = codes::TIMELINE_ASSERT_NOTHING;
        let span = whole.node.span;
        let found = reader.error_at(code, span, whole.pointer, "this assert is empty");
        found.help = Some("add a key such as fs: {exists: [README.md]}".to_owned());
    }
    checks.sort_by_key(|check| check.span.start);
    (!checks.is_empty()).then_some(TimelineAssert { checks })
}

/// The checks found so far.
type Checks = Vec<LocatedCheck>;

/// A part of an assert, and the checks found so far.
struct Section<'a> {
    node: &'a Node,
    checks: &'a mut Checks,
}

impl<'a> Section<'a> {
    fn of(whole: Object<'a>, key: &str, checks: &'a mut Checks) -> Self {
        let node = whole.get(key).unwrap_or(whole.node);
        Self { node, checks }
    }

    /// Adds a check for each value of a key: one value, or a list of them.
    fn each<T>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
        check: impl Fn(T) -> TimelineCheck,
    ) {
        let section = self.node;
        let node = key.rsplit('.').next().and_then(|key| section.get(key));
        let items = node.and_then(Node::as_array);
        let values = values.into_iter().enumerate();
        self.checks.extend(values.map(|(idx, value)| {
            let (node, key) = match items {
                Some(items) => (items.get(idx), format!("{key}[{idx}]")),
                None => (node, key.to_owned()),
            };
            LocatedCheck {
                check: check(value),
                key,
                span: node.unwrap_or(section).span,
            }
        }));
    }
}

/// Reads checks of files.
pub(crate) fn file_checks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Checks, D::Error> {
    by_hand(deserializer, Some(Vec::new()), |reader, node, pointer| {
        let form = |reader: &mut Reader<'_>| reader.decode(node, pointer, "`fs`");
        let form: FileChecks = reader.with_format(&ASSERT, form)?;
        let mut checks = Vec::new();
        form.add(Section {
            node,
            checks: &mut checks,
        });
        Some(checks)
    })
}

impl AssertForm {
    fn checks(self, reader: &mut Reader<'_>, whole: Object<'_>) -> Checks {
        let mut found = Checks::new();
        if let Some(files) = self.fs {
            files.add(Section::of(whole, "fs", &mut found));
        }
        if let Some(texts) = self.text {
            let (has, omits) = (TimelineCheck::ScreenContains, TimelineCheck::ScreenOmits);
            Section::of(whole, "text", &mut found).each("text.contains", texts.contains, has);
            Section::of(whole, "text", &mut found).each(
                "text.notContains",
                texts.not_contains,
                omits,
            );
        }
        if let Some(json) = self.json {
            Section::of(whole, "json", &mut found).each("json.file", json.file, |it| {
                TimelineCheck::JsonFile {
                    path: it.path,
                    pointer: it.pointer,
                    equals: it.equals,
                }
            });
        }
        if let Some(git) = self.git {
            git.add(
                Section::of(whole, "git", &mut found),
                reader,
                &whole.child_pointer("git"),
            );
        }
        if self.acp.is_some() {
            let mut acp = Section::of(whole, "acp", &mut found);
            let written = acp.node.get("session").into_iter();
            let written = written.flat_map(|it| it.as_array().unwrap_or(std::slice::from_ref(it)));
            let sessions = written.map(Node::to_value).enumerate();
            acp.each("acp.session", sessions, |(prompt_idx, fields)| {
                TimelineCheck::AcpSession { prompt_idx, fields }
            });
        }
        Section::of(whole, "", &mut found).each(
            "exitCode",
            self.exit_code,
            TimelineCheck::ExitCode,
        );
        Section::of(whole, "", &mut found).each("screen", self.screen, |it| {
            TimelineCheck::Screenshot {
                label: it.label,
                contains: it.contains,
            }
        });
        if let Some(request) = self.request {
            request.add(Section::of(whole, "request", &mut found));
        }
        found
    }
}

impl FileContents {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let given = ["substring", "regex"].map(|key| reader.get(object, key).is_some());
        let problem = match given {
            [true, true] => "both `substring` and `regex`",
            [false, false] => "neither `substring` nor `regex`",
            _ => {
                let text = object.get("substring");
                if let Some(text) = text.filter(|text| text.as_str() == Some("")) {
                    let at = object.child_pointer("substring");
                    invalid(reader, text.span, &at, "`substring` is empty");
                }
                return;
            }
        };
        let message = format!("`fs.contains` has {problem}");
        invalid(reader, object.node.span, object.pointer, message);
    }
}

impl FileChecks {
    fn add(self, mut files: Section<'_>) {
        files.each("fs.exists", self.exists, TimelineCheck::FileExists);
        files.each("fs.notExists", self.not_exists, TimelineCheck::FileAbsent);
        files.each("fs.contains", self.contains, |it| {
            let part = || FileText::Substring(it.substring.unwrap_or_default());
            TimelineCheck::FileContains {
                path: it.path,
                test: it.regex.map_or_else(part, FileText::Regex),
            }
        });
    }
}

impl Git {
    fn add(self, mut git: Section<'_>, reader: &mut Reader<'_>, pointer: &str) {
        let (name, exists) = match self.branch {
            Some(Name::String(name)) => (Some(name), None),
            Some(Name::Object(branch)) => (Some(branch.name), branch.exists),
            None => (None, None),
        };
        let of_branch = ["exists", "remoteExists"].map(|key| (key, git.node.get(key)));
        for (key, node) in of_branch {
            if let (None, Some(node)) = (&name, node.filter(|node| node.as_bool().is_some())) {
                let message = format!("`git.{key}` requires `branch`");
                let code = codes::TIMELINE_ASSERT_UNKNOWN;
                reader.warning_at(code, node.span, &format!("{pointer}/{key}"), message);
            }
        }
        let exists = exists.or(self.exists).unwrap_or(true);
        let branch = |name| TimelineCheck::GitBranch { name, exists };
        git.each("git.branch", name.clone(), branch);
        let remote = match self.remote_exists {
            Some(RemoteExists::Boolean(exists)) => {
                let check = |name| TimelineCheck::GitRemoteBranch { name, exists };
                name.clone().map(check)
            }
            Some(RemoteExists::String(name)) => Some(TimelineCheck::GitRemoteExists(name)),
            Some(RemoteExists::Object(it)) => Some(TimelineCheck::GitRemoteExists(it.name)),
            None => None,
        };
        git.each("git.remoteExists", remote, |check| check);
        let tip = name.unwrap_or_else(|| "HEAD".to_owned());
        let ahead = match (&self.commits_ahead_of, self.commit_count) {
            (Some(_), _) => Some("git.commitsAheadOf"),
            (None, count) => count.map(|_| "git.commitCount"),
        };
        if let Some(key) = ahead {
            let check = TimelineCheck::GitCommitsAhead {
                base: self.commits_ahead_of.unwrap_or_else(|| "main".to_owned()),
                branch: tip.clone(),
                count: self.commit_count,
            };
            git.each(key, [check], |check| check);
        }
        git.each("git.commit", self.commit, |it| TimelineCheck::GitCommit {
            reference: it.reference.unwrap_or_else(|| "HEAD".to_owned()),
            message_contains: it.message_contains,
        });
        let head = |message_contains| TimelineCheck::GitCommit {
            reference: tip.clone(),
            message_contains,
        };
        git.each("git.headMessageContains", self.head_message_contains, head);
    }
}

impl RequestForm {
    fn add(self, mut request: Section<'_>) {
        let check = TimelineCheck::Request;
        let (model, system) = (
            self.model.map(RequestCheck::Model),
            self.system.map(RequestCheck::System),
        );
        request.each("request.model", model, check);
        request.each("request.system", system, check);
        let json = self.json.into_iter().map(RequestCheck::from);
        request.each("request.json", json, check);
        if let (Some(tools), Some(node)) = (self.tools, request.node.get("tools")) {
            let mut section = Section {
                node,
                checks: request.checks,
            };
            let tool = |is_there| move |name| check(RequestCheck::Tool { name, is_there });
            section.each("request.tools.has", tools.has, tool(true));
            section.each("request.tools.hasNot", tools.has_not, tool(false));
        }
    }
}

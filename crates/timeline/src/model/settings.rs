//! What stands beside the timeline in its file: the program, the stand-ins, what is expected in the end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::terminal::TerminalConfig;
use crate::format::{
    absolute_path, capabilities, commit, contents, filled, headers, included_path, inline_terminal,
    object, objects, pairs, pattern, workspace_path,
};
use cuecard_source::Span;
use cuecard_source::decode::Spanned;
use cuecard_source::value::Json;

/// `terminalRef`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename = "$Kind")]
pub enum TerminalChoice {
    /// A file, relative to the scenario's folder.
    #[serde(rename = "string")]
    File(#[serde(deserialize_with = "included_path")] PathBuf),
    /// The configuration itself.
    #[serde(rename = "object")]
    Inline(#[serde(deserialize_with = "inline_terminal")] Box<TerminalConfig>),
}

/// Older forms that need no warning.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Compat {
    /// Whether `terminalRef` may be a mapping.
    #[serde(rename = "allowInlineTerminal")]
    pub inline_terminal: bool,
    /// Whether events may be written with `type`.
    #[serde(rename = "allowTypeSteps")]
    pub type_steps: bool,
}

/// The program under test.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Program {
    /// Primary command.
    #[serde(rename = "cmd", deserialize_with = "filled")]
    pub command: Option<String>,
    /// Arguments, passed as they stand.
    pub flags: Vec<String>,
    /// Environment variables.
    #[serde(deserialize_with = "pairs")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub env: Vec<(String, String)>,
}

/// The workspace that the agent starts in.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Repository {
    /// Whether a new repository is made.
    #[serde(default)]
    pub init: bool,
    /// Branch to start on or to create.
    #[serde(default, deserialize_with = "filled")]
    pub branch: Option<String>,
    /// Directory next to the timeline whose tree is copied.
    #[serde(rename = "dir", default, deserialize_with = "included_path")]
    pub folder: Option<PathBuf>,
    /// Files that are written after `dir`.
    #[serde(default)]
    pub files: Vec<SeedFile>,
    /// Whether, or with which message, the files are committed.
    #[serde(default, deserialize_with = "commit")]
    #[schemars(with = "crate::format::Commit")]
    pub commit: Option<String>,
    /// Start from a clone, or from nothing.
    pub mode: Option<RepositoryMode>,
    /// What is cloned; there is one if the mode is `git`.
    #[serde(default, deserialize_with = "filled")]
    pub url: Option<String>,
    /// What is checked out of the clone.
    #[serde(rename = "rev", default, deserialize_with = "filled")]
    pub revision: Option<String>,
}

/// Where the workspace comes from. Without one it is a new folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepositoryMode {
    /// A clone.
    Git,
    /// Nothing.
    None,
}

/// A file that is written into the workspace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct SeedFile {
    /// Path in the workspace.
    #[serde(deserialize_with = "workspace_path")]
    pub path: PathBuf,
    /// Text, or bytes as `{base64: …}`.
    #[serde(deserialize_with = "contents")]
    #[schemars(with = "crate::format::Contents")]
    pub contents: Vec<u8>,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

/// How the stand-ins for services behave.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct ServerSettings {
    /// What stands in for services.
    pub mode: Option<ServerMode>,
    /// The model API that the timeline was written for.
    #[serde(rename = "llmApiStyle")]
    pub api_style: Option<Spanned<ApiStyle>>,
    /// Whether thinking and calls come in one answer (default: true).
    #[serde(rename = "coalesceThinkingWithToolUse")]
    pub coalesce_thinking: bool,
    /// Name of a model; it is the first of `models`.
    #[serde(deserialize_with = "filled")]
    pub(crate) model: Option<String>,
    /// Names of models.
    pub models: Vec<String>,
    /// Requests beside the conversation, and their answers; an empty list: none is beside it.
    #[serde(rename = "sideCalls")]
    pub side_calls: Vec<SideCall>,
    /// Whether no request is beside the conversation.
    #[serde(skip)]
    pub has_no_side: bool,
    /// Whether a client may say nothing beside a prompt (default: false).
    #[serde(rename = "exactPrompts")]
    pub exact_prompts: bool,
    /// Whether the first turn takes any prompt (default: false).
    #[serde(rename = "anyPrompt")]
    pub any_prompt: bool,
    /// Whether its name chooses it, or its session id, and never its prompt (default: false).
    #[serde(rename = "byName")]
    pub is_by_name: bool,
    /// Globs of paths whose 404 does not fail the run.
    #[serde(rename = "ignore")]
    pub ignored_paths: Vec<Spanned<String>>,
    /// When thinking is sent: if the request asks for it (default), or always.
    pub thinking: SendThinking,
    /// Whether Chat answers have thinking in `reasoning_content` (default: false).
    #[serde(rename = "reasoningContent")]
    pub sends_reasoning: bool,
    /// Headers of every answer, errors too.
    #[serde(deserialize_with = "headers")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub headers: Vec<(String, String)>,
    /// What an equal request gets: the same answer (default), or the next turn.
    #[serde(rename = "onRepeat")]
    pub on_repeat: OnRepeat,
    /// What the service answers on its lists; null if nothing is said.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub seed: Json,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            mode: None,
            api_style: None,
            coalesce_thinking: true,
            model: None,
            models: Vec::new(),
            side_calls: Vec::new(),
            has_no_side: false,
            exact_prompts: false,
            any_prompt: false,
            is_by_name: false,
            ignored_paths: Vec::new(),
            thinking: SendThinking::default(),
            sends_reasoning: false,
            headers: Vec::new(),
            on_repeat: OnRepeat::default(),
            seed: Json::Null,
        }
    }
}

/// What stands in for services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerMode {
    /// Nothing.
    None,
    /// A mock.
    Mock,
    /// The service itself.
    Real,
}

/// A family of model APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApiStyle {
    /// Chat Completions and Responses.
    OpenAi,
    /// Messages.
    Anthropic,
    /// generateContent.
    Gemini,
}

/// When thinking is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SendThinking {
    /// If the request asks for it.
    #[default]
    Asked,
    /// Always.
    Always,
}

/// What an equal request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnRepeat {
    /// The same answer.
    #[default]
    Same,
    /// The next turn.
    Next,
}

/// A request beside the conversation, such as one for a title, and its answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct SideCall {
    /// Regular expression that the request's system text or last user text fits.
    #[serde(rename = "match", deserialize_with = "pattern")]
    #[schemars(with = "String")]
    pub pattern: Regex,
    /// Only requests for this model.
    #[serde(default, deserialize_with = "filled")]
    pub model: Option<String>,
    /// The answer: text, or JSON that is sent as text.
    pub reply: Json,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

/// How the stand-in for an ACP agent behaves.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct AcpSettings {
    /// What the agent says that it can do, as written; null if absent.
    #[serde(deserialize_with = "capabilities")]
    #[schemars(with = "crate::format::Capabilities")]
    pub capabilities: Json,
    /// Working directory of the session, absolute.
    #[serde(deserialize_with = "absolute_path")]
    pub cwd: Option<PathBuf>,
    /// MCP servers of the session.
    #[serde(rename = "mcpServers")]
    #[schemars(with = "Vec<crate::format::McpServerForm>")]
    pub mcp_servers: Vec<McpServer>,
    /// Modes that are advertised; without them, those that the timeline uses.
    #[serde(deserialize_with = "objects")]
    #[schemars(with = "Vec<BTreeMap<String, Json>>")]
    pub modes: Option<Vec<Json>>,
    /// Models that are advertised; without them, those that the timeline uses.
    #[serde(deserialize_with = "objects")]
    #[schemars(with = "Vec<BTreeMap<String, Json>>")]
    pub models: Option<Vec<Json>>,
    /// Ways to authenticate that are advertised; without them, those that the timeline uses.
    #[serde(rename = "authMethods", deserialize_with = "objects")]
    #[schemars(with = "Vec<BTreeMap<String, Json>>")]
    pub auth_methods: Option<Vec<Json>>,
    /// Whether parts of the protocol that may change are used.
    #[serde(rename = "unstable")]
    pub is_unstable: bool,
    /// Where `acp` stands.
    #[serde(skip)]
    pub span: Option<Span>,
}

impl AcpSettings {
    /// Whether a capability is on: `["promptCapabilities", "image"]`.
    pub fn has_capability(&self, path: &[&str]) -> bool {
        let mut json = &self.capabilities;
        for key in path {
            json = &json[*key];
        }
        json.as_bool().unwrap_or(false)
    }

    /// What servers are given that nobody else may see: values of `env` and `headers` that are long enough to be secret,
    /// also without the word before a token.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        const SHORTEST: usize = 8;
        let given = self
            .mcp_servers
            .iter()
            .flat_map(|server| match &server.transport {
                McpTransport::Stdio { env, .. } => env,
                McpTransport::Url { headers, .. } => headers,
            });
        let values = given.flat_map(|(_, value)| {
            let token = value.split_once(' ').map(|(_, token)| token.to_owned());
            [Some(value.clone()), token].into_iter().flatten()
        });
        values.filter(|value| value.len() >= SHORTEST)
    }
}

/// An MCP server of the session.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// Where it stands.
    pub span: Span,
}

/// How a server of the session is reached.
#[derive(Debug, Clone)]
pub enum McpTransport {
    /// A process.
    Stdio {
        /// `command`.
        command: String,
        /// `args`.
        args: Vec<String>,
        /// `env`.
        env: Vec<(String, String)>,
    },
    /// `http` or `sse`.
    Url {
        /// `url`.
        url: String,
        /// `headers`.
        headers: Vec<(String, String)>,
        /// Whether it is the older transport, `sse`.
        is_sse: bool,
    },
}

/// What holds after the run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct TimelineExpectations {
    /// Exit code of the program under test.
    #[serde(rename = "exitCode")]
    pub exit_code: Option<i64>,
    /// Files that must be there: each matches at least one path.
    pub artifacts: Vec<ArtifactPattern>,
    /// Where `expect` stands.
    #[serde(skip)]
    pub span: Option<Span>,
}

/// A file that must be there.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct ArtifactPattern {
    /// What it is, for people.
    #[serde(rename = "type")]
    pub(crate) kind: Option<ArtifactKind>,
    /// Glob that matches at least one path, relative to the workspace.
    #[serde(deserialize_with = "filled")]
    pub pattern: String,
    /// Where the pattern stands.
    #[serde(skip)]
    pub span: Span,
}

/// What a file is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ArtifactKind {
    /// A task.
    TaskFile,
    /// Any file.
    File,
}

//! What stands beside the timeline in its file: the program, the stand-ins, what is expected in the end.

use std::path::PathBuf;

use regex::Regex;

use super::terminal::TerminalConfig;
use cuecard_source::Span;
use cuecard_source::value::Json;

/// `terminalRef`.
#[derive(Debug, Clone)]
pub enum TerminalChoice {
    /// A file, relative to the scenario's folder.
    File(PathBuf),
    /// The configuration itself.
    Inline(Box<TerminalConfig>),
}

/// `repo`: the workspace the agent starts in.
#[derive(Debug, Clone)]
pub struct Repository {
    /// `init`: whether a new repository is made.
    pub init: bool,
    /// `branch` to start on or to create.
    pub branch: Option<String>,
    /// `dir`: a folder whose tree is copied.
    pub folder: Option<PathBuf>,
    /// `files`, applied after `dir`.
    pub files: Vec<SeedFile>,
    /// `commit`: whether the files are committed, and with which message.
    pub commit: Option<String>,
    /// `mode`.
    pub mode: RepositoryMode,
}

/// `repo.mode`: where the workspace comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositoryMode {
    /// A new folder.
    Fresh,
    /// `git`: a clone.
    Clone {
        /// `url`.
        url: String,
        /// `rev`.
        revision: Option<String>,
    },
    /// `none`: nothing.
    Nothing,
}

/// A file of `repo.files`.
#[derive(Debug, Clone)]
pub struct SeedFile {
    /// `path`, relative to the workspace.
    pub path: PathBuf,
    /// `contents`: the bytes as they are.
    pub contents: Vec<u8>,
    /// Where it stands.
    pub span: Span,
}

/// `server`.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// `mode`, if it is given.
    pub mode: Option<ServerMode>,
    /// `llmApiStyle`, if it is given, and where.
    pub api_style: Option<(ApiStyle, Span)>,
    /// `coalesceThinkingWithToolUse`: true unless it says otherwise.
    pub coalesce_thinking: bool,
    /// `model`, `models`: names that the scenario gives to models.
    pub models: Vec<String>,
    /// `sideCalls`: requests beside the conversation.
    pub side_calls: Vec<SideCall>,
    /// `sideCalls: []`: whether no request is beside the conversation.
    pub has_no_side: bool,
    /// `exactPrompts`: whether a client may say nothing beside any prompt.
    pub exact_prompts: bool,
    /// `anyPrompt`: whether the first segment takes any prompt.
    pub any_prompt: bool,
    /// `byName`: whether its prompt does not choose it.
    pub is_by_name: bool,
    /// `ignore`: globs of paths whose 404 does not fail the run, and where they stand.
    pub ignored_paths: Vec<(String, Span)>,
    /// `thinking: always`: whether thinking is sent though nobody asks for it.
    pub always_thinks: bool,
    /// `reasoningContent`: whether Chat answers have thinking in a field of their own.
    pub sends_reasoning: bool,
    /// `headers`: added to every answer, errors too.
    pub headers: Vec<(String, String)>,
    /// `onRepeat: next`: whether an equal request takes the next turn.
    pub repeats_go_on: bool,
    /// `seed`: what the service answers on its lists; null if nothing is said.
    pub seed: Json,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            mode: None,
            api_style: None,
            coalesce_thinking: true,
            models: Vec::new(),
            side_calls: Vec::new(),
            has_no_side: false,
            exact_prompts: false,
            any_prompt: false,
            is_by_name: false,
            ignored_paths: Vec::new(),
            always_thinks: false,
            sends_reasoning: false,
            headers: Vec::new(),
            repeats_go_on: false,
            seed: Json::Null,
        }
    }
}

/// `server.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerMode {
    /// `none`.
    None,
    /// `mock`.
    Mock,
    /// `real`.
    Real,
}

/// A family of model APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiStyle {
    /// `openai`: Chat Completions and Responses.
    OpenAi,
    /// `anthropic`: Messages.
    Anthropic,
    /// `gemini`: generateContent.
    Gemini,
}

/// A request beside the conversation, such as one for a title, and its answer.
#[derive(Debug, Clone)]
pub struct SideCall {
    /// `match`: what its system text or last user text fits.
    pub pattern: Regex,
    /// `model`: only requests for this one.
    pub model: Option<String>,
    /// `reply`: text, or JSON that is sent as text.
    pub reply: Json,
    /// Where it stands.
    pub span: Span,
}

/// `acp`.
#[derive(Debug, Clone, Default)]
pub struct AcpSettings {
    /// `capabilities`, as written; null if absent.
    pub capabilities: Json,
    /// `cwd`, absolute.
    pub cwd: Option<PathBuf>,
    /// `mcpServers`.
    pub mcp_servers: Vec<McpServer>,
    /// `modes`; `None` if the ids that the timeline uses are to be advertised.
    pub modes: Option<Vec<Json>>,
    /// `models`; `None` if the ids that the timeline uses are to be advertised.
    pub models: Option<Vec<Json>>,
    /// `authMethods`; `None` if the ids that the timeline uses are to be advertised.
    pub auth_methods: Option<Vec<Json>>,
    /// `unstable`: whether parts of the protocol that may change are used.
    pub is_unstable: bool,
    /// Where `acp` stands.
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

/// An entry of `acp.mcpServers`.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// `name`.
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

/// `expect`: what holds after the run.
#[derive(Debug, Clone, Default)]
pub struct TimelineExpectations {
    /// `exitCode`.
    pub exit_code: Option<i64>,
    /// `artifacts`: each matches at least one path.
    pub artifacts: Vec<ArtifactPattern>,
    /// Where `expect` stands.
    pub span: Option<Span>,
}

/// An entry of `expect.artifacts`.
#[derive(Debug, Clone)]
pub struct ArtifactPattern {
    /// `pattern`: a glob, relative to the workspace.
    pub pattern: String,
    /// Where it stands.
    pub span: Span,
}

//! What stands beside the timeline: terminal, workspace, program, stand-ins, expectations.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::content::is_absolute;
use super::fields;
use super::loader::{Compat, Loader, alias};
use crate::diagnostic::codes;
use crate::formats::reader::Object;
use crate::scenario::timeline::{
    AcpSettings, ApiStyle, ArtifactPattern, IncludePurpose, McpServer, McpTransport, Repository,
    RepositoryMode, SeedFile, ServerMode, ServerSettings, SideCall, TerminalChoice,
    TimelineExpectations,
};
use crate::source::json::{Node, NodeKind};
use crate::value::{Json, cut};

/// A mapping under a key, under canonical keys, with its pointer.
macro_rules! section {
    ($loader:expr, $root:expr, $key:literal, $fields:expr, $aliases:expr, $object:ident, $otherwise:expr) => {
        let Some(node) = $loader.reader.get($root, $key) else {
            return $otherwise;
        };
        let pointer = $root.child_pointer($key);
        let whose = concat!("`", $key, "`");
        let Some(node) = $loader.mapping(node, &pointer, whose, $fields, $aliases) else {
            return $otherwise;
        };
        let $object = Object {
            node: &node,
            pointer: &pointer,
        };
    };
}

pub(super) fn compat(loader: &mut Loader<'_>, root: Object<'_>) -> Compat {
    section!(
        loader,
        root,
        "compat",
        fields::COMPAT,
        &[],
        object,
        Compat::default()
    );
    Compat {
        inline_terminal: loader.flag(object, "allowInlineTerminal").unwrap_or(false),
        type_steps: loader.flag(object, "allowTypeSteps").unwrap_or(false),
    }
}

pub(super) fn terminal(loader: &mut Loader<'_>, root: Object<'_>) -> Option<TerminalChoice> {
    let node = loader.reader.get(root, "terminalRef")?;
    let pointer = root.child_pointer("terminalRef");
    match &node.kind {
        NodeKind::String(text) => {
            let purpose = IncludePurpose::Terminal;
            let path = loader.include(text, node.span, &pointer, purpose)?;
            Some(TerminalChoice::File(path))
        }
        NodeKind::Object(_) => {
            if !loader.compat.inline_terminal {
                let code = codes::TIMELINE_FORM;
                let message = "a terminal configuration stands here instead of its path";
                let modern = "write it into a file, or set compat.allowInlineTerminal";
                loader.legacy(code, node.span, &pointer, message, modern);
            }
            Some(TerminalChoice::Inline(node.to_value()))
        }
        _ => {
            loader
                .reader
                .wrong_type(node, &pointer, "`terminalRef`", "a path");
            None
        }
    }
}

pub(super) fn repository(loader: &mut Loader<'_>, root: Object<'_>) -> Option<Repository> {
    section!(loader, root, "repo", fields::REPO, &[], object, None);
    let init = loader.flag(object, "init").unwrap_or(false);
    let branch = loader.filled(object, "branch");
    let folder = loader.reader.get(object, "dir").and_then(|node| {
        let at = object.child_pointer("dir");
        let text = loader.reader.text_of(node, &at, "`dir`")?;
        loader.include(text, node.span, &at, IncludePurpose::SeedFolder)
    });
    let files = loader
        .list(object, "files")
        .into_iter()
        .filter_map(|(item, pointer)| seed_file(loader, item, &pointer))
        .collect();
    let commit = commit(loader, object);
    let url = loader.filled(object, "url");
    let revision = loader.filled(object, "rev");
    let words = [("git", true), ("none", false)];
    let mode = match loader.reader.one_of(object, "mode", "`repo.mode`", &words) {
        Some(true) => {
            if url.is_none() {
                let example = "url: https://…";
                loader
                    .reader
                    .required(object, "url", "`repo` with `mode: git`", example);
            }
            RepositoryMode::Clone {
                url: url.unwrap_or_default(),
                revision,
            }
        }
        chosen => {
            for key in ["url", "rev"] {
                if let Some(node) = loader.reader.get(object, key) {
                    let at = object.child_pointer(key);
                    let message = format!("`{key}` has no meaning without `mode: git`");
                    loader.warning(codes::TIMELINE_UNKNOWN, node.span, &at, message);
                }
            }
            match chosen {
                Some(_) => RepositoryMode::Nothing,
                None => RepositoryMode::Fresh,
            }
        }
    };
    Some(Repository {
        init,
        branch,
        folder,
        files,
        commit,
        mode,
    })
}

/// `commit: true` or a message.
fn commit(loader: &mut Loader<'_>, object: Object<'_>) -> Option<String> {
    let node = loader.reader.get(object, "commit")?;
    match &node.kind {
        NodeKind::Bool(flag) => flag.then(|| "Initial commit".to_owned()),
        NodeKind::String(_) => loader.filled(object, "commit"),
        _ => {
            let at = object.child_pointer("commit");
            loader
                .reader
                .wrong_type(node, &at, "`repo.commit`", "true, false or a message");
            None
        }
    }
}

fn seed_file(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<SeedFile> {
    let what = "an entry of `files`";
    let aliases = [alias("content", "contents")];
    let node = loader.mapping(item, pointer, what, fields::SEED_FILE, &aliases)?;
    let object = Object {
        node: &node,
        pointer,
    };
    let path = loader
        .reader
        .required(object, "path", what, "path: README.md");
    let path = path.and_then(|node| {
        let at = object.child_pointer("path");
        let text = loader.reader.text_of(node, &at, "`path`")?;
        loader.inner_path(text, node.span, &at, "the workspace")
    });
    let contents = loader
        .reader
        .required(object, "contents", what, "contents: \"…\"")?;
    let at = object.child_pointer("contents");
    let contents = match &contents.kind {
        NodeKind::Object(_) => {
            let whose = "`contents`";
            let inner = loader.mapping(contents, &at, whose, fields::BASE64, &[])?;
            let object = Object {
                node: &inner,
                pointer: &at,
            };
            let example = "base64: …";
            let node = loader.reader.required(object, "base64", whose, example)?;
            let at = object.child_pointer("base64");
            let text = loader.reader.text_of(node, &at, "`base64`")?;
            let compact: String = text.split_ascii_whitespace().collect();
            let bytes = STANDARD.decode(compact);
            if bytes.is_err() {
                loader.invalid(node.span, &at, "this is no base64, padding included");
            }
            bytes.ok()?
        }
        _ => loader
            .reader
            .text_of(contents, &at, "`contents`")?
            .as_bytes()
            .to_vec(),
    };
    Some(SeedFile {
        path: path?,
        contents,
        span: node.span,
    })
}

/// `ah`: command, arguments, environment.
pub(super) type Program = (Option<String>, Vec<String>, Vec<(String, String)>);

pub(super) fn program(loader: &mut Loader<'_>, root: Object<'_>) -> Program {
    section!(
        loader,
        root,
        "ah",
        fields::AH,
        &[],
        object,
        Program::default()
    );
    (
        loader.filled(object, "cmd"),
        loader.texts(object, "flags"),
        loader.pairs(object, "env"),
    )
}

pub(super) fn server(loader: &mut Loader<'_>, root: Object<'_>) -> ServerSettings {
    let absent = ServerSettings::default();
    section!(loader, root, "server", fields::SERVER, &[], object, absent);
    let modes = [
        ("none", ServerMode::None),
        ("mock", ServerMode::Mock),
        ("real", ServerMode::Real),
    ];
    let styles = [
        ("openai", ApiStyle::OpenAi),
        ("anthropic", ApiStyle::Anthropic),
        ("gemini", ApiStyle::Gemini),
    ];
    let mode = loader
        .reader
        .one_of(object, "mode", "`server.mode`", &modes);
    let style = loader
        .reader
        .one_of(object, "llmApiStyle", "`llmApiStyle`", &styles);
    let span = node_span(object, "llmApiStyle");
    let mut models: Vec<String> = loader.filled(object, "model").into_iter().collect();
    models.extend(loader.texts(object, "models"));
    let side_calls = loader
        .list(object, "sideCalls")
        .into_iter()
        .filter_map(|(item, pointer)| side_call(loader, item, &pointer))
        .collect();
    ServerSettings {
        mode,
        api_style: style.map(|style| (style, span)),
        coalesce_thinking: loader
            .flag(object, "coalesceThinkingWithToolUse")
            .unwrap_or(true),
        models,
        side_calls,
        seed: loader.object(object, "seed"),
    }
}

fn node_span(object: Object<'_>, key: &str) -> crate::source::Span {
    object.get(key).map_or(object.node.span, |node| node.span)
}

fn side_call(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<SideCall> {
    let what = "an entry of `sideCalls`";
    let node = loader.mapping(item, pointer, what, fields::SIDE_CALL, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let pattern = loader
        .reader
        .required(object, "match", what, "match: title");
    let pattern = pattern.and_then(|node| {
        super::tool::regex(loader, node, &object.child_pointer("match"), "`match`")
    });
    let model = loader.filled(object, "model");
    let reply = loader.reader.required(object, "reply", what, "reply: …")?;
    Some(SideCall {
        pattern: pattern?,
        model,
        reply: reply.to_value(),
        span: node.span,
    })
}

pub(super) fn acp(loader: &mut Loader<'_>, root: Object<'_>) -> AcpSettings {
    let absent = AcpSettings::default();
    section!(loader, root, "acp", fields::ACP, &[], object, absent);
    let capabilities = capabilities(loader, object);
    let cwd = absolute(loader, object);
    let mcp_servers = loader
        .list(object, "mcpServers")
        .into_iter()
        .filter_map(|(item, pointer)| mcp_server(loader, item, &pointer, &capabilities))
        .collect();
    let mut advertised = |key: &str| {
        let items = object.get(key).filter(|node| !node.is_null())?;
        let _ = items;
        Some(
            loader
                .list(object, key)
                .into_iter()
                .filter_map(|(item, pointer)| {
                    let what = format!("an entry of `{key}`");
                    loader
                        .is_mapping(item, &pointer, &what)
                        .then(|| item.to_value())
                })
                .collect(),
        )
    };
    let modes = advertised("modes");
    let models = advertised("models");
    let auth_methods = advertised("authMethods");
    AcpSettings {
        capabilities,
        cwd,
        mcp_servers,
        modes,
        models,
        auth_methods,
        is_unstable: loader.flag(object, "unstable").unwrap_or(false),
        span: Some(object.node.span),
    }
}

/// `acp.cwd`, which the protocol wants absolute.
fn absolute(loader: &mut Loader<'_>, object: Object<'_>) -> Option<PathBuf> {
    let text = loader.filled(object, "cwd")?;
    if !is_absolute(&text) {
        let at = object.child_pointer("cwd");
        let message = format!(
            "the protocol asks for an absolute directory, and `{}` is none",
            cut(&text, 60)
        );
        let span = node_span(object, "cwd");
        loader.error(codes::TIMELINE_ACP_PATH, span, &at, message);
        return None;
    }
    Some(PathBuf::from(text))
}

fn capabilities(loader: &mut Loader<'_>, acp: Object<'_>) -> Json {
    section!(
        loader,
        acp,
        "capabilities",
        fields::CAPABILITIES,
        &[],
        object,
        Json::Null
    );
    loader.flag(object, "loadSession");
    for (key, known) in [
        ("promptCapabilities", fields::PROMPT_CAPABILITIES),
        ("mcpCapabilities", fields::MCP_CAPABILITIES),
    ] {
        let Some(node) = loader.reader.get(object, key) else {
            continue;
        };
        let at = object.child_pointer(key);
        let whose = format!("`{key}`");
        if let Some(node) = loader.mapping(node, &at, &whose, known, &[]) {
            let inner = Object {
                node: &node,
                pointer: &at,
            };
            for field in known {
                loader.flag(inner, field.name);
            }
        }
    }
    object.node.to_value()
}

fn mcp_server(
    loader: &mut Loader<'_>,
    item: &Node,
    pointer: &str,
    capabilities: &Json,
) -> Option<McpServer> {
    let what = "an MCP server";
    let code = codes::TIMELINE_ACP_SERVER;
    let node = loader.mapping(item, pointer, what, fields::MCP_SERVER, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let name = loader
        .text(object, "name")
        .filter(|name| !name.trim().is_empty());
    let command = loader.filled(object, "command");
    let url = loader.filled(object, "url");
    let args = loader.texts(object, "args");
    let env = names_and_values(loader, object, "env");
    let headers = names_and_values(loader, object, "headers");
    let words = ["stdio", "http", "sse"].map(|word| (word, word));
    let kind = loader
        .reader
        .one_of(object, "type", "`type` of a server", &words);
    let kind_is_wrong = kind.is_none() && loader.reader.get(object, "type").is_some();
    let problem = match (&name, &command, &url, kind) {
        (None, ..) => Some("an MCP server has no `name`".to_owned()),
        (_, Some(_), Some(_), _) => Some("an MCP server has both `command` and `url`".to_owned()),
        (_, None, None, _) => Some("an MCP server has neither `command` nor `url`".to_owned()),
        (_, Some(_), None, Some(kind @ ("http" | "sse"))) => Some(format!(
            "a server of type `{kind}` has a `url`, not a `command`"
        )),
        (_, None, Some(_), Some("stdio")) => {
            Some("a server of type `stdio` has a `command`, not a `url`".to_owned())
        }
        _ => None,
    };
    if let Some(problem) = problem {
        loader.error(code, node.span, pointer, problem);
        return None;
    }
    if kind_is_wrong {
        return None;
    }
    for (key, _) in &env {
        if key.is_empty() || key.contains(['=', '\0']) {
            let at = object.child_pointer("env");
            let message = format!(
                "`{}` can't name a variable",
                cut(&key.replace('\0', "\\0"), 40)
            );
            loader.error(code, node_span(object, "env"), &at, message);
            return None;
        }
    }
    let transport = match (command, url) {
        (Some(command), _) => McpTransport::Stdio { command, args, env },
        (None, url) => {
            let is_sse = kind == Some("sse");
            transport(loader, object, is_sse, capabilities);
            McpTransport::Url {
                url: url?,
                headers,
                is_sse,
            }
        }
    };
    Some(McpServer {
        name: name?,
        transport,
        span: node.span,
    })
}

/// Whether the agent says that it can reach servers so.
fn transport(loader: &mut Loader<'_>, object: Object<'_>, is_sse: bool, capabilities: &Json) {
    let key = if is_sse { "sse" } else { "http" };
    let span = node_span(object, "url");
    let pointer = object.child_pointer("url");
    if is_sse {
        let message = "the protocol gives up servers over SSE";
        loader
            .warning(codes::TIMELINE_ACP_SSE, span, &pointer, message)
            .help = Some("write type: http".to_owned());
    }
    if capabilities["mcpCapabilities"][key] != true {
        let message = format!("the agent doesn't say that it reaches servers over {key}");
        let code = codes::TIMELINE_ACP_TRANSPORT;
        loader.error(code, span, &pointer, message).help = Some(format!(
            "set capabilities.mcpCapabilities.{key}: true, or remove the server"
        ));
    }
}

/// A list of `{name, value}`; a mapping is read the same way.
fn names_and_values(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    key: &str,
) -> Vec<(String, String)> {
    let Some(node) = loader.reader.get(object, key) else {
        return Vec::new();
    };
    let pointer = object.child_pointer(key);
    if let NodeKind::Object(members) = &node.kind {
        if !members.is_empty() {
            let code = codes::TIMELINE_FORM;
            let message = format!("`{key}` is a mapping");
            let modern = "write a list: `[{name: …, value: …}]`";
            loader.legacy(code, node.span, &pointer, message, modern);
        }
        let pairs = loader.pairs(object, key);
        super::convert::names_and_values(loader, node, &pairs);
        return pairs;
    }
    loader
        .list(object, key)
        .into_iter()
        .filter_map(|(item, pointer)| {
            let what = format!("an entry of `{key}`");
            let node = loader.mapping(item, &pointer, &what, fields::NAME_VALUE, &[])?;
            let object = Object {
                node: &node,
                pointer: &pointer,
            };
            let name = loader.needed(object, "name", &what, "name: …");
            let value = loader
                .reader
                .required(object, "value", &what, "value: \"…\"")?;
            let value = loader.scalar(value, &object.child_pointer("value"), "`value`");
            Some((name?, value?))
        })
        .collect()
}

pub(super) fn expectations(loader: &mut Loader<'_>, root: Object<'_>) -> TimelineExpectations {
    let absent = TimelineExpectations::default();
    let aliases = [alias("exit_code", "exitCode")];
    section!(
        loader,
        root,
        "expect",
        fields::EXPECT,
        &aliases,
        object,
        absent
    );
    let exit_code = loader.integer(object, "exitCode");
    let artifacts = loader
        .list(object, "artifacts")
        .into_iter()
        .filter_map(|(item, pointer)| {
            let what = "an entry of `artifacts`";
            let node = loader.mapping(item, &pointer, what, fields::ARTIFACT, &[])?;
            let object = Object {
                node: &node,
                pointer: &pointer,
            };
            let words = [("taskFile", ()), ("file", ())];
            loader
                .reader
                .one_of(object, "type", "`type` of an artifact", &words);
            let pattern = loader.needed(object, "pattern", what, "pattern: \"*.md\"")?;
            Some(ArtifactPattern {
                pattern,
                span: node_span(object, "pattern"),
            })
        })
        .collect();
    TimelineExpectations {
        exit_code,
        artifacts,
        span: Some(object.node.span),
    }
}

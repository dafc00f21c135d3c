//! `acp`: what the agent says that it can do, and the servers of its session.

use std::path::PathBuf;

use super::content::is_absolute;
use super::fields;
use super::loader::Loader;
use super::settings::{node_span, section};
use crate::model::{AcpSettings, McpServer, McpTransport};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::{Json, cut};

pub(super) fn acp(loader: &mut Loader<'_>, root: Object<'_>) -> AcpSettings {
    section(loader, root, "acp", fields::ACP, &[], |loader, object| {
        let capabilities = capabilities(loader, object);
        let cwd = absolute(loader, object);
        let mcp_servers = loader
            .list(object, "mcpServers")
            .into_iter()
            .filter_map(|(item, pointer)| mcp_server(loader, item, &pointer, &capabilities))
            .collect();
        let mut advertised = |key: &str| {
            object.get(key).filter(|node| !node.is_null())?;
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
    })
    .unwrap_or_default()
}

/// `acp.cwd`, which the protocol wants absolute.
fn absolute(loader: &mut Loader<'_>, object: Object<'_>) -> Option<PathBuf> {
    let text = loader.filled(object, "cwd")?;
    if !is_absolute(&text) {
        let at = object.child_pointer("cwd");
        let message = format!(
            "the protocol requires an absolute path, and `{}` is relative",
            cut(&text, 60)
        );
        let span = node_span(object, "cwd");
        loader.error(codes::TIMELINE_ACP_PATH, span, &at, message);
        return None;
    }
    Some(PathBuf::from(text))
}

fn capabilities(loader: &mut Loader<'_>, acp: Object<'_>) -> Json {
    section(
        loader,
        acp,
        "capabilities",
        fields::CAPABILITIES,
        &[],
        |loader, object| {
            loader.flag(object, "loadSession");
            for (key, known) in [
                ("promptCapabilities", fields::PROMPT_CAPABILITIES),
                ("mcpCapabilities", fields::MCP_CAPABILITIES),
                ("sessionCapabilities", fields::SESSION_CAPABILITIES),
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
        },
    )
    .unwrap_or_default()
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
                "`{}` is not a valid variable name",
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
        let message = "SSE servers are deprecated in the protocol";
        loader
            .warning(codes::TIMELINE_ACP_SSE, span, &pointer, message)
            .help = Some("write type: http".to_owned());
    }
    if capabilities["mcpCapabilities"][key] != true {
        let message = format!("the agent does not advertise support for servers over {key}");
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
            let message = format!("`{key}` must be a list, not a mapping");
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
            let name = loader.required(object, "name", &what, "name: …");
            let value = loader
                .reader
                .required(object, "value", &what, "value: \"…\"")?;
            let value = loader.scalar(value, &object.child_pointer("value"), "`value`");
            Some((name?, value?))
        })
        .collect()
}

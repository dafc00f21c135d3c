//! `acp`: what the agent says that it can do, and the servers of its session.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::pieces::{filled, item_pointer, scalar};
use super::settings::node_span;
use crate::model::{AcpSettings, McpServer, McpTransport};
use cuecard_source::checked;
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::{Json, cut};

checked!(AcpSettings);

/// What the agent says that it can do.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(rename = "capabilities")]
#[allow(
    dead_code,
    reason = "it is a form to check by; the agent sends what is written"
)]
pub(crate) struct Capabilities {
    /// Whether sessions can be loaded.
    load_session: bool,
    /// What a prompt may hold.
    prompt_capabilities: PromptCapabilities,
    /// How MCP servers may be reached.
    mcp_capabilities: McpCapabilities,
    /// What may be done with sessions.
    session_capabilities: SessionCapabilities,
}

/// Flags, each off unless it is given.
macro_rules! flags {
    ($($name:ident { $($(#[$doc:meta])* $flag:ident)+ })+) => {$(
        #[derive(Default, Deserialize, JsonSchema)]
        #[serde(default, rename_all = "camelCase")]
        #[allow(dead_code, reason = "it is a form to check by; the agent sends what is written")]
        struct $name { $($(#[$doc])* $flag: bool,)+ }
    )+};
}

flags! {
    PromptCapabilities {
        /// Images.
        image
        /// Audio.
        audio
        /// Embedded resources.
        embedded_context
    }
    McpCapabilities {
        /// Over HTTP.
        http
        /// Over the older transport with SSE.
        sse
    }
    SessionCapabilities {
        /// They can be listed.
        list
        /// They can be resumed, without their history.
        resume
        /// They can be closed.
        close
    }
}

/// Reads capabilities, as written.
pub(crate) fn capabilities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    by_hand(deserializer, Some(Json::Null), |reader, node, pointer| {
        reader.decode::<Capabilities>(node, pointer, "`capabilities`")?;
        Some(node.to_value())
    })
}

/// Reads a list of objects, as written.
pub(crate) fn objects<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Json>>, D::Error> {
    #[derive(Deserialize)]
    struct Members(#[serde(deserialize_with = "super::pieces::object")] Json);
    let objects = Vec::<Members>::deserialize(deserializer)?;
    Ok(Some(objects.into_iter().map(|object| object.0).collect()))
}

/// An MCP server of the session.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "mcp_server")]
pub(crate) struct McpServerForm {
    /// Name of the server.
    #[schemars(required)]
    name: Option<String>,
    /// How it is reached.
    #[serde(rename = "type")]
    kind: Option<TransportKind>,
    /// Program to start.
    #[serde(default, deserialize_with = "filled")]
    command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Its environment: a list of `{name, value}`.
    #[serde(default)]
    #[schemars(with = "NamesAndValues")]
    env: Vec<NameAndValue>,
    /// Address of the server.
    #[serde(default, deserialize_with = "filled")]
    url: Option<String>,
    /// Headers to send: a list of `{name, value}`.
    #[serde(default)]
    #[schemars(with = "NamesAndValues")]
    headers: Vec<NameAndValue>,
}

words! {
    /// How a server is reached.
    enum TransportKind {
        /// A process.
        Stdio = "stdio",
        /// Over HTTP.
        Http = "http",
        /// The older transport.
        Sse = "sse",
    }
}

/// A list, or an older form.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "the older form is a list before it is read")]
enum NamesAndValues {
    Array(Vec<NameAndValue>),
    Object(std::collections::BTreeMap<String, Json>),
}

#[derive(Deserialize, JsonSchema)]
struct NameAndValue {
    /// Name.
    #[serde(deserialize_with = "filled")]
    name: String,
    /// Value.
    #[serde(deserialize_with = "scalar")]
    #[schemars(extend("type" = ["string", "number", "boolean"]))]
    value: String,
}

fn pairs(entries: Vec<NameAndValue>) -> Vec<(String, String)> {
    let entries = entries.into_iter();
    entries.map(|entry| (entry.name, entry.value)).collect()
}

impl<'de> Deserialize<'de> for McpServer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, mcp_server)
    }
}

fn mcp_server(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<McpServer> {
    let form: McpServerForm = reader.decode(node, pointer, "an MCP server")?;
    let kind = form.kind.map(TransportKind::as_str);
    let name = form.name.filter(|name| !name.trim().is_empty());
    let has = |key: &str| node.get(key).is_some_and(|node| !node.is_null());
    let problem = match (&name, has("command"), has("url"), kind) {
        (None, ..) => "an MCP server has no `name`".to_owned(),
        (_, true, true, _) => "an MCP server has both `command` and `url`".to_owned(),
        (_, false, false, _) => "an MCP server has neither `command` nor `url`".to_owned(),
        (_, true, false, Some(kind @ ("http" | "sse"))) => {
            format!("a server of type `{kind}` has a `url`, not a `command`")
        }
        (_, false, true, Some("stdio")) => {
            "a server of type `stdio` has a `command`, not a `url`".to_owned()
        }
        _ => String::new(),
    };
    let code = codes::TIMELINE_ACP_SERVER;
    if !problem.is_empty() {
        reader.error_at(code, node.span, pointer, problem);
        return None;
    }
    let (env, headers) = (pairs(form.env), pairs(form.headers));
    let is_bad = |(name, _): &&(String, String)| name.contains(['=', '\0']);
    if let Some((name, _)) = env.iter().find(is_bad) {
        let name = name.replace('\0', "\\0");
        let message = format!("`{}` is not a valid variable name", cut(&name, 40));
        let object = Object { node, pointer };
        let at = object.child_pointer("env");
        reader.error_at(code, node_span(object, "env"), &at, message);
        return None;
    }
    let transport = match (form.command, form.url) {
        (Some(command), _) => McpTransport::Stdio {
            command,
            args: form.args,
            env,
        },
        (None, url) => McpTransport::Url {
            url: url?,
            headers,
            is_sse: form.kind == Some(TransportKind::Sse),
        },
    };
    Some(McpServer {
        name: name?,
        transport,
        span: node.span,
    })
}

impl AcpSettings {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        self.span = Some(object.node.span);
        let items = object.get("mcpServers").and_then(Node::as_array);
        let pointer = object.child_pointer("mcpServers");
        for (idx, node) in items.unwrap_or_default().iter().enumerate() {
            let server = self.mcp_servers.iter().find(|it| it.span == node.span);
            let Some(McpTransport::Url { is_sse, .. }) = server.map(|it| &it.transport) else {
                continue;
            };
            let pointer = &item_pointer(reader, node, &pointer, idx);
            let server = Object { node, pointer };
            self.check_transport(reader, server, *is_sse);
        }
    }

    /// Whether the agent says that it can reach a server so.
    fn check_transport(&self, reader: &mut Reader<'_>, server: Object<'_>, is_sse: bool) {
        let key = if is_sse { "sse" } else { "http" };
        let (span, pointer) = (node_span(server, "url"), server.child_pointer("url"));
        if is_sse {
            let message = "SSE servers are deprecated in the protocol";
            let found = reader.warning_at(codes::TIMELINE_ACP_SSE, span, &pointer, message);
            found.help = Some("write type: http".to_owned());
        }
        if !self.has_capability(&["mcpCapabilities", key]) {
            let message = format!("the agent does not advertise support for servers over {key}");
            let code = codes::TIMELINE_ACP_TRANSPORT;
            reader.error_at(code, span, &pointer, message).help = Some(format!(
                "set capabilities.mcpCapabilities.{key}: true, or remove the server"
            ));
        }
    }
}

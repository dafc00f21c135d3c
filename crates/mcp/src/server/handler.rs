//! What a server of ours implements, and how the protocol's library is given it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use cuecard_source::json::{Limits, Node, parse};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomNotification, CustomRequest,
    CustomResult, ErrorCode, Implementation, InputRequiredResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, ServerNotification,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::stdio::OpenRequests;

/// How long answers may take after the end of the input, if a server doesn't know better.
pub const GRACE: Duration = Duration::from_secs(5);

/// A server: what it says of itself, its tools, and what they answer.
pub trait Handler: Send + Sync + 'static {
    /// Returns what clients are told first.
    fn introduction(&self) -> Introduction;

    /// Returns the entries of `tools/list`, as the protocol writes them.
    fn tools(&self) -> Vec<Value>;

    /// Calls `tool` and returns the result as the protocol writes it (`content`, `structuredContent`, `isError`), as JSON
    /// text, or an error of the protocol. Calls may run at the same time.
    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> impl Future<Output = Result<String, RpcError>> + Send;

    /// Returns how long answers may still take after a client on stdio has ended its input.
    fn grace(&self) -> Duration {
        GRACE
    }

    /// A call came that names no tool, or whose arguments are not an object. It is refused.
    fn on_malformed_call(&self) {}
}

/// What clients are told first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Introduction {
    /// The name, for programs.
    pub name: String,
    /// The name, for people.
    pub title: Option<String>,
    /// The version.
    pub version: String,
    /// How a model should use the server.
    pub instructions: Option<String>,
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// The data, or null.
    pub data: Value,
}

impl RpcError {
    /// An error that says that the parameters are wrong, also the name of the tool.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::INVALID_PARAMS.0.into(),
            message: message.into(),
            data: Value::Null,
        }
    }
}

/// The client that called, while its call is answered.
#[derive(Debug)]
pub struct Client {
    context: RequestContext<RoleServer>,
}

impl Client {
    /// Returns the id of the request, a number or a text.
    pub fn request_id(&self) -> Value {
        json!(self.context.id)
    }

    /// Returns the token under which the client wants to hear of progress.
    pub fn progress_token(&self) -> Option<Value> {
        let token = self.context.meta.get_progress_token();
        token.map(|token| json!(token))
    }

    /// Sends a notification. A client that has gone is noticed by the server, not here.
    pub async fn notify(&self, method: &str, params: Option<Value>) {
        let notification = CustomNotification::new(method, params);
        let notification = ServerNotification::CustomNotification(notification);
        let _ = self.context.peer.send_notification(notification).await;
    }

    /// Completes when nobody waits for the answer any more.
    pub async fn cancelled(&self) {
        self.context.ct.cancelled().await;
    }

    /// The call gets no answer: a server on stdio that is about to end doesn't wait for it.
    pub fn leave_unanswered(&self) {
        if let Some(open) = self.context.extensions.get::<OpenRequests>() {
            open.close(&self.context.id);
        }
    }
}

/// Returns a result with one text, as JSON text.
pub fn text_result(text: &str, is_error: bool) -> String {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }).to_string()
}

/// A handler as the protocol's library wants it. What the protocol does not define in a tool is left out.
pub(crate) struct Adapter<H>(Arc<H>);

impl<H> Adapter<H> {
    pub(crate) fn new(handler: H) -> Self {
        Self(Arc::new(handler))
    }

    /// How many clones there are, this one included.
    pub(crate) fn clones(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl<H> Clone for Adapter<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<H: Handler> ServerHandler for Adapter<H> {
    fn get_info(&self) -> ServerConfig {
        let Introduction {
            name,
            title,
            version,
            instructions,
        } = self.0.introduction();
        let mut implementation = Implementation::new(name, version);
        implementation.title = title;
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities).with_server_info(implementation);
        info.instructions = instructions;
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.tools().into_iter().map(|mut tool| {
            if let Some(tool) = tool.as_object_mut() {
                let anything = || json!({ "type": "object" });
                tool.entry("inputSchema").or_insert_with(anything);
            }
            let shown = tool["name"].to_string();
            serde_json::from_value(tool)
                .map_err(|error| unfit(&format!("the description of the tool {shown}"), &error))
        });
        Ok(ListToolsResult::with_all_items(
            tools.collect::<Result<_, _>>()?,
        ))
    }

    /// What the SDK can't read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            let code = ErrorCode::METHOD_NOT_FOUND;
            return Err(ErrorData::new(code, request.method, None));
        }
        self.0.on_malformed_call();
        let message = "a call needs a `name`, and its `arguments` are an object";
        Err(ErrorData::invalid_params(message, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let client = Client { context };
        let result = self.0.call(&request.name, arguments, &client).await;
        let result = result.map_err(|error| {
            let code = i32::try_from(error.code).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
            let data = Some(error.data).filter(|data| !data.is_null());
            ErrorData::new(code, error.message, data)
        })?;
        response(&result).map_err(|error| unfit("the result", &error))
    }
}

/// Begins the text as which a result passes through the SDK: its own types don't hold every number.
const CARRIED: &str = "cuecard/result:";

/// What stands before and after that text in the messages of the SDK.
const CARRIERS: [(&str, &str); 2] = [
    (r#""content":[{"type":"text","text":"#, "}]"),
    (r#""requestState":"#, ""),
];

/// A result as the SDK sends it, to be made whole by [`with_result`].
fn response(result: &str) -> serde_json::Result<CallToolResponse> {
    let mut value: Value = serde_json::from_str(result)?;
    let root = parse(result, &Limits::default()).root;
    let members = root.iter().flat_map(Node::members);
    // The SDK knows whether the client wants to hear of its type.
    let members = members.filter(|member| member.key != "resultType");
    let written = members.map(|member| format!("{}:{}", json!(member.key), member.value));
    let mut written: Vec<String> = written.collect();
    let carried = |written: Vec<String>| format!("{CARRIED}{}", written.join(","));
    if value["resultType"] == "input_required" {
        serde_json::from_value::<InputRequiredResult>(value)?;
        return Ok(InputRequiredResult::from_request_state(carried(written)).into());
    }
    if let Some(value) = value.as_object_mut()
        && !value.contains_key("content")
    {
        value.insert("content".to_owned(), json!([]));
        written.insert(0, r#""content":[]"#.to_owned());
    }
    serde_json::from_value::<CallToolResult>(value)?;
    let content = json!([{ "type": "text", "text": carried(written) }]);
    let result = json!({ "resultType": "complete", "content": content });
    serde_json::from_value::<CallToolResult>(result).map(Into::into)
}

/// A message of the SDK, as a line, an event or a body, with the result that it carries as the handler gave it.
pub(super) fn with_result(message: Bytes) -> Bytes {
    let text = str::from_utf8(&message).unwrap_or_default();
    let found = CARRIERS.iter().find_map(|(before, after)| {
        let start = text.find(&format!("{before}\"{CARRIED}"))?;
        let written = start + before.len();
        let mut texts = serde_json::Deserializer::from_str(&text[written..]).into_iter();
        let carried: String = texts.next()?.ok()?;
        let end = written + texts.byte_offset() + after.len();
        Some([&text[..start], &carried[CARRIED.len()..], text.get(end..)?].concat())
    });
    found.map_or(message.clone(), Bytes::from)
}

/// Returns why a result of a tool, as JSON text, is not one of the protocol, so that no client gets it.
pub fn unfit_result(result: &str) -> Option<String> {
    Some(response(result).err()?.to_string())
}

/// Something that the protocol does not know.
fn unfit(what: &str, error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("{what} is not one of the protocol: {error}"), None)
}

//! What a server of ours implements, and how the protocol's library is given it.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientNotification, ClientRequest,
    CustomNotification, CustomRequest, CustomResult, ErrorCode, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, ServerNotification, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, Service};
use serde_json::{Map, Value, json};

use super::stdio::OpenRequests;
use crate::link::lock;

/// How long answers may take after the end of the input, if a server doesn't know better.
pub const GRACE: Duration = Duration::from_secs(5);

/// A server: what it says of itself, its tools, and what they answer.
pub trait Handler: Send + Sync + 'static {
    /// Returns what clients are told first.
    fn introduction(&self) -> Introduction;

    /// Returns the entries of `tools/list`, as the protocol writes them.
    fn tools(&self) -> Vec<Value>;

    /// Calls `tool` and returns the result as the protocol writes it (`content`, `structuredContent`, `isError`), or
    /// an error of the protocol. Calls may run at the same time.
    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send;

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

/// Returns a result with one text.
pub fn text_result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// A handler over standard streams, whose results keep their numbers as they are: the types of the protocol's library, in
/// which HTTP gets them, have some as `f32`.
pub(crate) struct Adapter<H>(Typed<H>);

pub(crate) fn adapter<H>(handler: H) -> Adapter<H> {
    Adapter(Typed::new(handler))
}

/// A handler as the protocol's library wants it. What the protocol does not define in a result or a tool is left out.
pub(crate) struct Typed<H>(Arc<H>);

impl<H> Typed<H> {
    pub(crate) fn new(handler: H) -> Self {
        Self(Arc::new(handler))
    }

    /// How many clones there are, this one included.
    pub(crate) fn clones(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl<H> Clone for Typed<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// The result of a call as the handler gave it.
type Original = Arc<Mutex<Option<Value>>>;

impl<H: Handler> Service<RoleServer> for Adapter<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let original = Original::default();
        context.extensions.insert(original.clone());
        let result = Service::handle_request(&self.0, request, context).await?;
        let Some(original) = lock(&original).take() else {
            return Ok(result);
        };
        let mut written = serde_json::to_value(result).map_err(|it| unfit("the result", &it))?;
        restore_numbers(&original, &mut written);
        Ok(ServerResult::CustomResult(CustomResult(written)))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }
}

/// Writes the numbers of `original` in the places of those of `written`.
fn restore_numbers(original: &Value, written: &mut Value) {
    match (original, written) {
        (Value::Number(original), Value::Number(written)) => written.clone_from(original),
        (Value::Array(items), Value::Array(written)) => {
            let pairs = items.iter().zip(written);
            pairs.for_each(|(item, written)| restore_numbers(item, written));
        }
        (Value::Object(members), Value::Object(written)) => {
            for (key, written) in written {
                restore_numbers(members.get(key).unwrap_or(&Value::Null), written);
            }
        }
        _ => {}
    }
}

impl<H: Handler> ServerHandler for Typed<H> {
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
        let original = context.extensions.get::<Original>().cloned();
        let client = Client { context };
        let result = self.0.call(&request.name, arguments, &client).await;
        let result = result.map_err(|error| {
            let code = i32::try_from(error.code).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
            let data = Some(error.data).filter(|data| !data.is_null());
            ErrorData::new(code, error.message, data)
        })?;
        if let Some(original) = original {
            *lock(&original) = Some(result.clone());
        }
        response(result).map_err(|error| unfit("the result", &error))
    }
}

/// A result as the SDK sends it.
fn response(mut result: Value) -> serde_json::Result<CallToolResponse> {
    if result["resultType"] == "input_required" {
        return serde_json::from_value(result).map(CallToolResponse::InputRequired);
    }
    if let Some(result) = result.as_object_mut() {
        result.entry("content").or_insert_with(|| json!([]));
        result
            .entry("resultType")
            .or_insert_with(|| "complete".into());
    }
    serde_json::from_value::<CallToolResult>(result).map(Into::into)
}

/// Returns why a result of a tool is not one of the protocol, so that no client gets it.
pub fn unfit_result(result: &Value) -> Option<String> {
    Some(response(result.clone()).err()?.to_string())
}

/// Something that the protocol does not know.
fn unfit(what: &str, error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("{what} is not one of the protocol: {error}"), None)
}

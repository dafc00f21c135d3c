//! What a server of ours implements, and how the protocol's library is given it.

use std::borrow::Cow;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientNotification, ClientRequest,
    CustomNotification, CustomResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, ServerNotification, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, Service};
use serde_json::{Map, Value, json};

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
            code: rmcp::model::ErrorCode::INVALID_PARAMS.0.into(),
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
}

/// Returns a result with one text.
pub fn text_result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// Where the answer to a request is left as JSON: the library's own types would lose what they don't know.
type Answer = Arc<Mutex<Option<Value>>>;

/// Answers requests as the library's server does, but those for tools with the handler's JSON.
pub(crate) struct Adapter<H>(Inner<H>);

struct Inner<H> {
    handler: Arc<H>,
}

impl<H: Handler> Adapter<H> {
    pub(crate) fn new(handler: H) -> Self {
        let handler = Arc::new(handler);
        Self(Inner { handler })
    }
}

impl<H> Clone for Adapter<H> {
    fn clone(&self) -> Self {
        let handler = Arc::clone(&self.0.handler);
        Self(Inner { handler })
    }
}

impl<H: Handler> Service<RoleServer> for Adapter<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let answer = Answer::default();
        context.extensions.insert(Arc::clone(&answer));
        let version = context.protocol_version();
        let is_modern = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let result = Service::handle_request(&self.0, request, context).await?;
        let given = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        match given {
            Some(given) => in_era(given, &result, is_modern),
            None => Ok(result),
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}

/// The handler's answer with what the era of the client asks for around it; `placeholder` is what the library made.
fn in_era(
    mut given: Value,
    placeholder: &ServerResult,
    is_modern: bool,
) -> Result<ServerResult, ErrorData> {
    const OF_THE_ERA: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
    if let Value::Object(given) = &mut given {
        if is_modern {
            let placeholder = json!(placeholder);
            for key in OF_THE_ERA {
                if let Some(value) = placeholder.get(key) {
                    given.entry(key).or_insert_with(|| value.clone());
                }
            }
            given
                .entry("resultType")
                .or_insert_with(|| "complete".into());
        } else {
            let kind = given.get("resultType").and_then(Value::as_str);
            if let Some(kind) = kind.filter(|kind| *kind != "complete") {
                let message = format!(
                    "the answer is a result of type `{kind}`, which clients know from protocol version 2026-07-28 on"
                );
                return Err(ErrorData::invalid_request(message, None));
            }
            given.retain(|key, _| !OF_THE_ERA.contains(&key.as_str()));
        }
    }
    Ok(ServerResult::CustomResult(CustomResult(given)))
}

impl<H: Handler> ServerHandler for Inner<H> {
    fn get_info(&self) -> ServerConfig {
        let Introduction {
            name,
            title,
            version,
            instructions,
        } = self.handler.introduction();
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
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        leave(&context, json!({ "tools": self.handler.tools() }));
        Ok(ListToolsResult::default())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let client = Client { context };
        let result = self.handler.call(&request.name, arguments, &client).await;
        match result {
            Ok(result) => leave(&client.context, result),
            Err(error) => {
                let code = i32::try_from(error.code).map_or(
                    rmcp::model::ErrorCode::INTERNAL_ERROR,
                    rmcp::model::ErrorCode,
                );
                let data = Some(error.data).filter(|data| !data.is_null());
                return Err(ErrorData::new(code, error.message, data));
            }
        }
        Ok(CallToolResult::default().into())
    }
}

fn leave(context: &RequestContext<RoleServer>, result: Value) {
    if let Some(answer) = context.extensions.get::<Answer>() {
        *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }
}

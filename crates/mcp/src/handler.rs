//! Our side of the protocol: notifications become notices, requests are answered or refused.

#![expect(
    deprecated,
    reason = "servers of earlier protocol versions still send these"
)]

use std::sync::Arc;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    CustomNotification, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult,
    ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde::Serialize;
use serde_json::Value;

use super::link::Link;
use super::notice::Notice;
use super::questions::{ELICITATION, Questions};

/// Receives what the server sends unasked.
#[derive(Clone)]
pub(super) struct Handler {
    link: Arc<Link>,
    questions: Arc<Questions>,
}

impl Handler {
    pub(super) fn new(link: Arc<Link>, questions: Arc<Questions>) -> Self {
        Self { link, questions }
    }

    fn answer(&self, method: &str, params: Value) -> Result<Value, ErrorData> {
        self.questions
            .answer(method, params, &self.link)
            .map_err(|refused| {
                let code = match refused.is_known {
                    true => ErrorCode::INVALID_PARAMS,
                    false => ErrorCode::METHOD_NOT_FOUND,
                };
                ErrorData::new(code, refused.message, None)
            })
    }

    /// Refuses a request that has no answer, whatever it asks.
    fn refuse(&self, method: &str, params: impl Serialize) -> ErrorData {
        let params = serde_json::to_value(params).unwrap_or_default();
        match self.answer(method, params) {
            Err(error) => error,
            Ok(_) => ErrorData::internal_error("the answer has no form", None),
        }
    }

    fn other(&self, method: &str) {
        self.link.notice(Notice::Other {
            method: method.to_owned(),
        });
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("cuecard", env!("CARGO_PKG_VERSION"));
        // Only what the scenario answers: a server must not count on the rest.
        let mut capabilities = ClientCapabilities::default();
        if self.questions.offers().elicitation {
            let form = FormElicitationCapability::default();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        }
        ClientConfig::new(capabilities, us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(self.refuse("sampling/createMessage", params))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Err(self.refuse("roots/list", ()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let internal =
            |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
        let params = serde_json::to_value(request).map_err(internal)?;
        let result = self.answer(ELICITATION, params)?;
        serde_json::from_value(result).map_err(internal)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        // A question whose schema the SDK can't read gets here too.
        let params = request.params.unwrap_or_default();
        self.answer(&request.method, params).map(CustomResult::new)
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.link.notice(Notice::Progress {
            progress: params.progress,
            total: params.total,
            message: params.message,
        });
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.link.notice(Notice::Log {
            level: format!("{:?}", params.level).to_lowercase(),
            logger: params.logger,
            data: params.data,
        });
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.link.note_tools_changed();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.other("notifications/prompts/list_changed");
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.other("notifications/resources/list_changed");
    }

    async fn on_resource_updated(
        &self,
        _params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.other("notifications/resources/updated");
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        self.other(&notification.method);
    }
}

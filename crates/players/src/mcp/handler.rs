//! Our side of the protocol: notifications become notices, requests are refused.

#![expect(
    deprecated,
    reason = "servers of earlier protocol versions still send these"
)]

use std::sync::Arc;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    CustomNotification, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ErrorCode,
    ErrorData, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};

use super::link::Link;
use super::notice::Notice;

/// Receives what the server sends unasked.
#[derive(Clone)]
pub(super) struct Handler {
    link: Arc<Link>,
}

impl Handler {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self { link }
    }

    fn refuse(&self, method: &str) -> ErrorData {
        self.link.notice(Notice::Refused {
            method: method.to_owned(),
        });
        let message = format!("cuecard has no answer to `{method}`: nobody sits at this client");
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
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
        // No capabilities: we answer nothing of what a server may ask.
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(self.refuse("sampling/createMessage"))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Err(self.refuse("roots/list"))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(self.refuse("elicitation/create"))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        Err(self.refuse(&request.method))
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

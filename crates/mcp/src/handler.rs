//! Our side of the protocol: notifications become notices, requests are answered or refused.

#![expect(
    deprecated,
    reason = "servers of earlier protocol versions still send these"
)]

use std::sync::Arc;

use cuecard_tool_call::model::QuestionKind;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientResult, CustomResult, ElicitationCapability, ErrorCode,
    ErrorData, FormElicitationCapability, Implementation, ProtocolVersion, RootsCapabilities,
    SamplingCapability, ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, Service};
use serde_json::Value;

use super::link::Link;
use super::notice::Notice;
use super::questions::Questions;

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

    fn other(&self, method: &str) {
        self.link.notice(Notice::Other {
            method: method.to_owned(),
        });
    }
}

// Not by the SDK's handler: an answer is sent as it is written, whatever the SDK knows of its parts.
impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        if matches!(request, ServerRequest::PingRequest(_)) {
            return Ok(ClientResult::empty(()));
        }
        let mut request = serde_json::to_value(request)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let params = request["params"].take();
        let method = request["method"].as_str().unwrap_or_default();
        let result = self.answer(method, params)?;
        Ok(ClientResult::CustomResult(CustomResult::new(result)))
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        match notification {
            ServerNotification::ProgressNotification(progress) => {
                self.link.notice(Notice::Progress {
                    progress: progress.params.progress,
                    total: progress.params.total,
                    message: progress.params.message,
                });
            }
            ServerNotification::LoggingMessageNotification(log) => self.link.notice(Notice::Log {
                level: format!("{:?}", log.params.level).to_lowercase(),
                logger: log.params.logger,
                data: log.params.data,
            }),
            ServerNotification::ToolListChangedNotification(_) => self.link.note_tools_changed(),
            ServerNotification::PromptListChangedNotification(_) => {
                self.other("notifications/prompts/list_changed");
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                self.other("notifications/resources/list_changed");
            }
            ServerNotification::ResourceUpdatedNotification(_) => {
                self.other("notifications/resources/updated");
            }
            ServerNotification::CustomNotification(custom) => self.other(&custom.method),
            _ => {}
        }
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("cuecard", env!("CARGO_PKG_VERSION"));
        // Only what the scenario answers: a server must not count on the rest.
        let offers = |kind| self.questions.offers(kind);
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = offers(QuestionKind::Roots).then(RootsCapabilities::default);
        if offers(QuestionKind::Sampling) {
            let mut sampling = SamplingCapability::default();
            // A reply may use tools.
            sampling.tools = Some(serde_json::Map::new());
            capabilities.sampling = Some(sampling);
        }
        if offers(QuestionKind::Elicitation) {
            let form = FormElicitationCapability::default();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        }
        ClientConfig::new(capabilities, us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

//! The tool that asks: a question to the user of the client, in the way of either protocol era.

use rmcp::handler::server::tool::{InputResponses, schema_for_output};
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ErrorData, InputRequest, InputRequiredResult, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};

use super::arguments::Confirmed;

/// The question's name among those of one call.
const KEY: &str = "confirm";

pub(super) type OutputSchema = std::sync::Arc<rmcp::model::JsonObject>;

pub(super) fn output_schema() -> OutputSchema {
    schema_for_output::<Confirmed>()
}

/// Asks `question`, or reads the answer if this call brings it.
pub(super) async fn confirm(
    question: &str,
    InputResponses(given): InputResponses,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if let Some(answer) = given.and_then(|mut given| given.remove(KEY)) {
        return answered(&answer);
    }
    let request = ElicitRequest::new(form(question)?);
    let is_stateless = context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize());
    if is_stateless {
        let requests = [(KEY.to_owned(), InputRequest::Elicitation(request))];
        return Ok(InputRequiredResult::from_input_requests(requests.into()).into());
    }
    answered(&ask(&context.peer, request).await?)
}

async fn ask(peer: &Peer<RoleServer>, request: ElicitRequest) -> Result<Value, ErrorData> {
    let result = peer
        .send_request(ServerRequest::ElicitRequest(request))
        .await;
    match result {
        Ok(ClientResult::ElicitResult(answer)) => Ok(json!(answer)),
        Ok(_) => Err(ErrorData::internal_error(
            "the client answered another question",
            None,
        )),
        Err(error) => Err(ErrorData::internal_error(
            format!("the client did not answer the question: {error}"),
            None,
        )),
    }
}

fn form(question: &str) -> Result<ElicitRequestParams, ErrorData> {
    serde_json::from_value(json!({
        "mode": "form",
        "message": question,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "sure": { "type": "boolean", "title": "Are you sure?", "default": true },
                "reason": { "type": "string", "title": "Why?", "maxLength": 1_000 },
            },
            "required": ["sure"],
        },
    }))
    .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn answered(answer: &Value) -> Result<CallToolResponse, ErrorData> {
    let content = &answer["content"];
    let confirmed = Confirmed {
        action: answer["action"].as_str().unwrap_or_default().to_owned(),
        sure: answer["action"] == "accept" && content["sure"] == true,
        reason: content["reason"].as_str().unwrap_or_default().to_owned(),
    };
    let sentence = match confirmed.sure {
        true => "confirmed",
        false => "not confirmed",
    };
    let mut result = CallToolResult::structured(json!(confirmed));
    result.content = vec![ContentBlock::text(sentence)];
    Ok(result.into())
}

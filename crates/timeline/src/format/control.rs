//! The client's calls, the session's boundary, and what the test itself does.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::pieces::object;
use crate::model::Initialize;
use cuecard_source::decode::by_hand;
use cuecard_source::value::Json;

/// The client opens the connection.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[allow(
    dead_code,
    reason = "it is a form to check by; the client sends what is written"
)]
pub(crate) struct InitializeForm {
    /// Version of the protocol.
    protocol_version: Json,
    /// What the client can do.
    client_capabilities: Json,
    /// What the client is.
    client_info: Json,
    /// What it is answered with.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "BTreeMap<String, Json>")]
    expected_response: Json,
}

impl<'de> Deserialize<'de> for Initialize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, |reader, node, pointer| {
            let form: InitializeForm = reader.decode(node, pointer, "`initialize`")?;
            let mut request = node.to_value();
            if let Json::Object(members) = &mut request {
                members.shift_remove("expectedResponse");
                members.shift_remove("_meta");
            }
            Some(Self {
                request,
                expected_response: form.expected_response,
            })
        })
    }
}

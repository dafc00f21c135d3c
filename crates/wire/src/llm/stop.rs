//! Why an answer stops, in the words of each dialect. A scenario may say it, so that the words stand with the model of
//! scenarios.

use cuecard_timeline::model::StopReasons;
use cuecard_timeline::script::Endpoint;

pub use cuecard_timeline::model::StopReason;

/// What a script says for this API.
pub fn scripted(reasons: StopReasons, endpoint: Endpoint) -> Option<StopReason> {
    match endpoint {
        Endpoint::Messages => reasons.anthropic,
        Endpoint::Chat | Endpoint::Responses => reasons.openai,
        Endpoint::Gemini => reasons.gemini,
    }
}

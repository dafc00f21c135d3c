//! Writes steps: keys in a fixed order, what is absent left out, never null.

use serde_json::{Map, json};

use crate::model::{Observed, ParseStatus, STEPS_VERSION, StepsFile};
use cuecard_source::value::Json;

impl StepsFile {
    /// The file as JSON.
    pub fn to_json(&self) -> Json {
        let text = self.extracted_content.as_ref().map(|text| json!(text));
        let observed = Some(&self.observed).filter(|seen| **seen != Observed::default());
        let errors = Some(&self.errors).filter(|errors| !errors.is_empty());
        let secrets = Some(&self.secrets).filter(|secrets| !secrets.is_empty());
        let is_success = self.status == ParseStatus::Success;
        let members = [
            ("success", Some(is_success.into())),
            ("executionTimeMs", self.execution_time_ms.map(Json::from)),
            ("extractedContent", text),
            ("testSteps", Some(json!(self.test_steps))),
            ("status", Some(json!(self.status))),
            ("errors", errors.map(|errors| json!(errors))),
            ("version", Some(STEPS_VERSION.into())),
            ("url", Some(json!(self.url))),
            ("observed", observed.map(|seen| json!(seen))),
            ("options", Some(self.options.clone())),
            ("variables", Some(json!(self.variables))),
            ("secrets", secrets.map(|secrets| json!(secrets))),
        ];
        let present = members.into_iter();
        let present = present.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Json::Object(present.collect::<Map<String, Json>>())
    }

    /// The file as it is written: indented, with a line end.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_json())
    }
}

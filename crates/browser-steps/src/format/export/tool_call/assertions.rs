//! Steps that assert something, as calls whose result must be as expected.

use serde_json::{Map, json};

use super::super::pages::{has_foreign_inner_frame, is_in_part};
use super::Writer;
use super::checks::{Check, check};
use super::retries::retry;
use crate::model::{ActionKind, AssertKind, TestStep, TextMatch};
use cuecard_source::value::Json;

impl Writer<'_> {
    pub(super) fn assertion(&mut self, place: usize, step: &TestStep) {
        let Some(assertion) = &step.assertion else {
            return;
        };
        if self.warnings.leave_out_unsaid(place, step) {
            return;
        }
        let element = match step.selectors.is_empty() {
            true => None,
            false => match self.element(place, step) {
                None => return,
                element => element,
            },
        };
        let is_of_all = matches!(assertion.kind, AssertKind::Text | AssertKind::Count);
        if self.is_devtools() && is_of_all && !is_in_part(step) && has_foreign_inner_frame(step) {
            self.warnings.warn(
                place,
                step,
                "chrome-devtools-mcp does not see what is in a frame of another site that is in a frame",
                "what is asserted may be there",
            );
        }
        let has_parts = self.parts.are_several(step);
        let check = match check(assertion, element.as_ref(), &self.names, has_parts) {
            Ok(check) => check,
            Err(what) => {
                let help = "judge it in a test case, or in the steps themselves";
                return self.warnings.leave_out(place, step, what, help);
            }
        };
        let limit = step.timeout_ms.unwrap_or(match step.action {
            ActionKind::Wait => self.settings.action_timeout_ms,
            _ => self.settings.assert_timeout_ms,
        });
        let mut more = Map::new();
        let (function, on_element) = match &check {
            Check::Holds {
                function,
                on_element,
            }
            | Check::Text {
                function,
                on_element,
                ..
            } => (Some(function.clone()), *on_element),
            Check::Snapshot(_) => (None, false),
        };
        if let (Some(element), true) = (&element, on_element) {
            more.insert("target".to_owned(), element.target(&self.names));
        }
        more.insert("expect".to_owned(), expectation(check));
        more.extend(retry(limit, step.optional));
        match function {
            Some(function) => self.evaluate(step, &function, more),
            None => {
                let tool = match self.is_devtools() {
                    true => "take_snapshot",
                    false => "browser_snapshot",
                };
                self.call(tool, json!({}), &step.description, more);
            }
        }
    }
}

/// What must hold of the result of a call.
fn expectation(check: Check) -> Json {
    match check {
        Check::Snapshot(expect) => expect,
        Check::Holds { .. } => returns_true(),
        Check::Text {
            expected,
            matching: TextMatch::Equals,
            ..
        } => json!({"equals": expected}),
        Check::Text { expected, .. } => json!({"contains": expected}),
    }
}

/// That a script returned true.
pub(super) fn returns_true() -> Json {
    json!({"equals": true})
}

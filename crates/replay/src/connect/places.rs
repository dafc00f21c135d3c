//! Where the parameters of a step stand in the file.

use cuecard_source::Span;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::json::{self, Limits, Node};
use cuecard_source::value::{pointer_steps, push_pointer};
use cuecard_tool_call::model::{Step, ToolCallScenario};

/// The parameters of one step as they are written.
pub(super) struct Places<'s> {
    scenario: &'s ToolCallScenario,
    step: &'s Step,
    written: Option<Node>,
}

impl<'s> Places<'s> {
    pub(super) fn of(scenario: &'s ToolCallScenario, step: &'s Step) -> Self {
        let text = scenario.source.slice(step.params_span);
        Self {
            scenario,
            step,
            written: json::parse(text, &Limits::default()).root,
        }
    }

    /// Says that `diagnostic` is about what stands at `pointer` of the parameters, or about the key `key` there.
    /// What the file doesn't hold, be it that a reference makes it, is told at what is around it.
    pub(super) fn put(
        &self,
        diagnostic: Diagnostic,
        pointer: &str,
        key: Option<&str>,
    ) -> Diagnostic {
        let mut node = self.written.as_ref();
        let mut span = self.step.params_span;
        for step in pointer_steps(pointer) {
            node = node.and_then(|node| node.part(&step));
            match node {
                Some(node) => span = self.absolute(node.span),
                None => break,
            }
        }
        let mut pointer = pointer.to_owned();
        if let Some(key) = key {
            let members = node.map(Node::members).unwrap_or_default();
            if let Some(member) = members.iter().find(|member| member.key == key) {
                span = self.absolute(member.key_span);
            }
            push_pointer(&mut pointer, key);
        }
        let step = self.scenario.steps.iter();
        let step = step.take_while(|step| step.number != self.step.number);
        let pointer = format!("/steps/{}/params{pointer}", step.count());
        diagnostic
            .at(&self.scenario.source, span)
            .with_pointer(pointer)
    }

    fn absolute(&self, span: Span) -> Span {
        let start = self.step.params_span.start as usize;
        Span::new(start + span.start as usize, start + span.end as usize)
    }
}

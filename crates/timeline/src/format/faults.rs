//! A file of faults that are laid over timelines: a list of `{match, fault}`.

use serde_json::json;

use super::parse;
use super::pieces::invalid;
use crate::model::vocabulary::AbstractTool;
use crate::model::{FaultMatch, FaultRule, FaultRules};
use crate::script::EVENTS;
use cuecard_source::decode::{Items, schema_document, schema_of};
use cuecard_source::diagnostic::{Diagnostic, any_error};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, checked};

checked!(FaultMatch, FaultRule);

/// The most rules of one file.
const MAX_RULES: usize = 10_000;

/// The schema (JSON Schema 2020-12) of a file of faults.
pub fn faults_schema() -> Json {
    let mut schema = schema_of::<Items<FaultRule>>();
    schema["maxItems"] = json!(MAX_RULES);
    schema_document(
        "faults",
        "1",
        "Faults",
        "Faults to inject into timelines, and where.",
        schema,
    )
}

/// Reads a file of faults, with what is doubtful about it.
///
/// # Errors
/// All that is wrong with it.
pub fn read_faults(source: &SourceFile) -> Result<(FaultRules, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (root, doubts) = parse::parse(source)?;
    let mut reader = Reader::new(source, &super::FORMAT);
    reader.set_yaml(doubts);
    if root.as_array().is_some_and(|rules| rules.len() > MAX_RULES) {
        let message = format!("a fault file can have at most {MAX_RULES} entries");
        invalid(&mut reader, root.span, "", message);
        return Err(reader.diagnostics);
    }
    let rules = reader.decode::<Items<FaultRule>>(&root, "", "a file of faults");
    let mut diagnostics = reader.diagnostics;
    parse::name_places(&mut diagnostics);
    if any_error(&diagnostics) {
        return Err(diagnostics);
    }
    let rules = FaultRules {
        source: source.clone(),
        rules: rules.unwrap_or_default().0,
    };
    Ok((rules, diagnostics))
}

impl FaultRule {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
    }
}

impl FaultMatch {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let keys = || EVENTS.iter().map(|spec| spec.key);
        if let (Some(event), Some(node)) = (&self.event, object.get("event"))
            && !keys().any(|key| key == event)
        {
            let message = format!("`event` is no event of timelines: `{}`", cut(event, 40));
            let pointer = object.child_pointer("event");
            let found = reader.error_at(super::FORMAT.value, node.span, &pointer, message);
            found.suggest(event, keys());
        }
        // A tool may be written with an agent's own name.
        let tool = self.tool.as_deref().and_then(AbstractTool::meant_by);
        if let Some(tool) = tool {
            self.tool = Some(tool.name.to_owned());
        }
        let mut keys = ["event", "tool", "index"].into_iter();
        if keys.all(|key| object.get(key).is_none()) {
            invalid(reader, object.node.span, object.pointer, "`match` is empty");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Symbols, read};
    use super::*;

    const TIMELINE: &str = "name: a
timeline:
  - llmResponse: []
  - agentActions:
      - Bash: {command: ls}
      - grep: {pattern: x}
  - llmResponse: []
    fault: {kind: stall}
";

    fn laid(faults: &str) -> (Vec<Option<&'static str>>, Vec<usize>) {
        let source = SourceFile::new("faults.yaml", faults);
        let (rules, found) = read_faults(&source).expect("rules");
        assert!(found.is_empty(), "{found:?}");
        let source = SourceFile::new("a.yaml", TIMELINE);
        let read = read(&source, &Symbols::new());
        let mut timeline = read.timeline.expect("a timeline");
        let fitting = rules.lay_over(&mut timeline);
        let kinds = timeline
            .events
            .iter()
            .map(|event| event.fault.map(|fault| fault.kind.as_str()));
        (kinds.collect(), fitting)
    }

    #[test]
    fn faults_are_laid_over_events_by_name_tool_and_place() {
        let stall = Some("stall");
        let (kinds, fitting) = laid("- {match: {tool: run_cmd}, fault: {kind: cut}}");
        assert_eq!(
            (kinds, fitting),
            (vec![None, Some("cut"), None, stall], vec![0])
        );
        let (kinds, _) = laid("- {match: {index: 1}, fault: {kind: cut}}");
        assert_eq!(kinds, [None, Some("cut"), Some("cut"), stall]);
        let (kinds, fitting) = laid(
            "- {match: {event: llmResponse}, fault: {kind: wrong_id}}\n- {match: {event: llmResponse, index: 2}, fault: {kind: crash, at: 5}}\n- {match: {event: llmResponse, index: 1}, fault: {kind: cut}}",
        );
        assert_eq!(kinds, [Some("wrong_id"), None, None, Some("crash")]);
        assert_eq!(fitting, [0, 1]);
    }

    #[test]
    fn what_is_wrong_with_a_file_of_faults_is_told_at_once() {
        let codes = |text: &str| -> Vec<String> {
            let source = SourceFile::new("faults.yaml", text);
            let found = read_faults(&source).expect_err(text);
            found
                .iter()
                .map(|found| format!("{} {}", found.code, found.message))
                .collect()
        };
        assert_eq!(
            codes("- {match: {event: runCdm}, fault: {kind: cutt}}\n- {match: {}, fault: {kind: cut}}\n- 3").len(),
            4
        );
        assert!(codes("a: b")[0].contains("a file of faults must be an array"));
        assert!(codes("- [")[0].starts_with("T-LOAD-01"));
        assert_eq!(codes("- {match: {index: -1}, fault: {kind: cut}}").len(), 1);
    }
}

//! A file of faults that are laid over timelines: a list of `{match, fault}`.

use std::collections::HashMap;

use serde_json::json;

use super::event_table::EVENTS;
use super::fields::FAULT;
use super::loader::Loader;
use super::{events, parse};
use crate::model::vocabulary::AbstractTool;
use crate::model::{FaultMatch, FaultRule, FaultRules};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, any_error};
use cuecard_source::json::Node;
use cuecard_source::reader::Object;
use cuecard_source::value::Json;
use cuecard_source::value::fields::{COUNT, Field, TEXT, field, object, required, schema_document};

/// The most rules of one file.
const MAX_RULES: usize = 10_000;

/// An entry of a file of faults.
const RULE: &[Field] = &[
    required(
        "match",
        "{\"$ref\": \"#/$defs/fault_match\"}",
        "Which events.",
    ),
    required("fault", "{\"$ref\": \"#/$defs/fault\"}", "What goes wrong."),
];

/// Which events a fault is for: all that is said must hold.
const MATCH: &[Field] = &[
    field("event", TEXT, "The name of the event."),
    field("tool", TEXT, "The tool of a call."),
    field("index", COUNT, "The item of `timeline`, counted from 0."),
];

/// The schema (JSON Schema 2020-12) of a file of faults.
pub fn faults_schema() -> Json {
    let mut fits = object(MATCH);
    fits["minProperties"] = json!(1);
    let definitions = json!({
        "rule": object(RULE),
        "fault_match": fits,
        "fault": object(FAULT),
        "time": {"type": "integer", "minimum": 0},
    });
    schema_document(
        "faults",
        "1",
        "Faults",
        "Faults to inject into timelines, and where.",
        json!({
            "type": "array",
            "maxItems": MAX_RULES,
            "items": {"$ref": "#/$defs/rule"},
            "$defs": definitions,
        }),
    )
}

/// Reads a file of faults, with what is doubtful about it.
///
/// # Errors
/// All that is wrong with it.
pub fn read_faults(source: &SourceFile) -> Result<(FaultRules, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (root, doubts) = parse::parse(source)?;
    let written = HashMap::new();
    let mut loader = Loader::new(source, &written);
    loader.reader.set_yaml(doubts);
    let mut rules = Vec::new();
    match root.as_array() {
        None => {
            loader
                .reader
                .wrong_type(&root, "", "a file of faults", "a list of `{match, fault}`");
        }
        Some(items) if items.len() > MAX_RULES => {
            let message = format!("a fault file can have at most {MAX_RULES} entries");
            loader.invalid(root.span, "", message);
        }
        Some(items) => {
            for (item, pointer) in loader.items(items, "") {
                rules.extend(rule(&mut loader, item, &pointer));
            }
        }
    }
    let mut diagnostics = loader.reader.diagnostics;
    parse::name_places(&mut diagnostics);
    if any_error(&diagnostics) {
        return Err(diagnostics);
    }
    let rules = FaultRules {
        source: source.clone(),
        rules,
    };
    Ok((rules, diagnostics))
}

fn rule(loader: &mut Loader<'_>, item: &Node, pointer: &str) -> Option<FaultRule> {
    let what = "an entry of faults";
    let node = loader.mapping(item, pointer, what, RULE, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let example = "match: {tool: runCmd}";
    let fits = loader.reader.required(object, "match", what, example);
    let fits = fits.and_then(|node| fault_match(loader, node, &object.child_pointer("match")));
    let example = "fault: {kind: cut}";
    loader.reader.required(object, "fault", what, example)?;
    let fault = events::fault(loader, object)?;
    Some(FaultRule {
        fits: fits?,
        fault,
        span: node.span,
    })
}

fn fault_match(loader: &mut Loader<'_>, node: &Node, pointer: &str) -> Option<FaultMatch> {
    let node = loader.mapping(node, pointer, "`match`", MATCH, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let names: Vec<(&str, &str)> = EVENTS.iter().map(|spec| (spec.key, spec.key)).collect();
    let event = loader
        .reader
        .one_of(object, "event", "`event`", &names)
        .map(str::to_owned);
    let tool = loader.filled(object, "tool").map(canonical);
    let index = loader.count(object, "index");
    let has_any = MATCH.iter().any(|field| object.get(field.name).is_some());
    if !has_any {
        let message = "`match` is empty";
        loader.invalid(node.span, pointer, message);
        return None;
    }
    Some(FaultMatch { event, tool, index })
}

/// The abstract name of a tool that has one.
fn canonical(tool: String) -> String {
    match AbstractTool::meant_by(&tool) {
        Some(known) => known.name.to_owned(),
        None => tool,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, Symbols, read};
    use super::*;
    use crate::model::FaultKind;

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
        let read = read(&source, &Symbols::new(), &ReadOptions::default());
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
        assert!(codes("a: b")[0].contains("a list of `{match, fault}`"));
        assert!(codes("- [")[0].starts_with("T-LOAD-01"));
        assert_eq!(codes("- {match: {index: -1}, fault: {kind: cut}}").len(), 1);
    }

    #[test]
    fn every_kind_has_a_word() {
        for (word, kind) in FaultKind::NAMED {
            assert_eq!(kind.as_str(), *word);
        }
    }
}

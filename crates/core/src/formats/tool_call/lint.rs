//! What is valid but won't last: literal element ids, coordinates, outputs that nobody uses.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, codes};
use crate::scenario::{PathSegment, Template, ToolCallScenario};
use crate::value::Json;

/// Warnings about a valid scenario.
pub fn lint(scenario: &ToolCallScenario) -> Vec<Diagnostic> {
    let mut diagnostics = unused_outputs(scenario);
    for (idx, step) in scenario.steps.iter().enumerate() {
        let Some((server, _)) = step.tool.server_and_tool(|_| false) else {
            continue;
        };
        if !is_browser(server) {
            continue;
        }
        let found = Literals::of(&step.params);
        if let Some(uid) = found.uid {
            diagnostics.push(
                Diagnostic::warning(codes::UID_LITERAL, format!("`uid` \"{uid}\" lives for one snapshot only"))
                    .at(&scenario.source, step.params_span)
                    .with_pointer(format!("/steps/{idx}/params"))
                    .with_help("find the element in the run itself: by its text or a CSS selector in evaluate_script"),
            );
        }
        if found.coordinates {
            diagnostics.push(
                Diagnostic::warning(
                    codes::COORDINATES,
                    "coordinates miss as soon as the page changes",
                )
                .at(&scenario.source, step.params_span)
                .with_pointer(format!("/steps/{idx}/params"))
                .with_help(
                    "name the element instead: by its text or a CSS selector in evaluate_script",
                ),
            );
        }
    }
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic
            .place
            .as_ref()
            .map_or(0, |place| place.span.start)
    });
    diagnostics
}

/// Whether a server is a browser's, by its name.
fn is_browser(server: &str) -> bool {
    [
        "chrome",
        "browser",
        "playwright",
        "puppeteer",
        "firefox",
        "devtools",
    ]
    .iter()
    .any(|word| server.contains(word))
}

fn unused_outputs(scenario: &ToolCallScenario) -> Vec<Diagnostic> {
    let mut used: HashSet<(&str, &str)> = HashSet::new();
    for step in &scenario.steps {
        step.for_each_placeholder(&mut |placeholder| {
            if let Some(PathSegment::Key(output)) = placeholder.reference.path.first() {
                used.insert((&placeholder.reference.name, output));
            }
        });
    }
    let mut diagnostics = Vec::new();
    for step in &scenario.steps {
        let Some(id) = step.id.as_deref() else {
            continue;
        };
        for rule in step
            .outputs
            .iter()
            .filter(|rule| !used.contains(&(id, rule.name.as_str())))
        {
            diagnostics.push(
                Diagnostic::warning(
                    codes::OUTPUT_UNUSED,
                    format!("no step uses the output `{id}.{}`", rule.name),
                )
                .at(&scenario.source, rule.name_span)
                .with_help(
                    "it still stands in the run's result; remove it if nobody reads it there",
                ),
            );
        }
    }
    diagnostics
}

#[derive(Default)]
struct Literals {
    uid: Option<String>,
    coordinates: bool,
}

impl Literals {
    fn of(params: &Template) -> Self {
        let mut found = Self::default();
        found.template(params);
        found
    }

    fn template(&mut self, template: &Template) {
        match template {
            Template::Literal(json) => self.json(json),
            Template::Array(items) => items.iter().for_each(|item| self.template(item)),
            Template::Object(members) => {
                for (key, value) in members {
                    if let (Template::Literal(Json::String(key)), Template::Literal(value)) =
                        (key, value)
                    {
                        self.member(key, value);
                    }
                    self.template(value);
                }
            }
            Template::Reference(_) | Template::Text(_) => {}
        }
    }

    fn json(&mut self, json: &Json) {
        match json {
            Json::Array(items) => items.iter().for_each(|item| self.json(item)),
            Json::Object(members) => {
                for (key, value) in members {
                    self.member(key, value);
                    self.json(value);
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, key: &str, value: &Json) {
        match (key, value) {
            ("uid" | "from_uid" | "to_uid", Json::String(uid)) => {
                self.uid.get_or_insert_with(|| uid.clone());
            }
            ("coordinates" | "coordinate", _) | ("x" | "y", Json::Number(_)) => {
                self.coordinates = true;
            }
            _ => {}
        }
    }
}
